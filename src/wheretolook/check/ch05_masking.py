"""Chapter 5, Masking: its exercises, their solutions and the mistakes that people make."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .exercise import SINGLE, Case, Exercise, Mistake
from .marks import Marks

__all__ = ["both_masks", "future_cells", "padding_columns", "safe_weights"]


# --- what several exercises share -------------------------------------------------------------

_VOCABULARY = 6  # few, so that token 1 is often among them
_FRONT = "padding in front"


def _sentences(case: Case, seed: int) -> Tensor:
    """Draw sentences: numbers from 1 on, and 0 behind (or before) the shorter ones."""
    random = torch.Generator().manual_seed(seed)
    length = next(n for letter, n in case.sizes.items() if letter in "LS")
    ids = torch.randint(1, _VOCABULARY, (*case.batch, length), generator=random)
    # From 2 to all but 1, others in every trial: at least one pad, and at least two words.
    places = torch.arange(math.prod(case.batch)).view(*case.batch, 1)
    ids = ids.masked_fill(torch.arange(length) >= 2 + (places + seed // 4) % (length - 2), 0)
    return ids.flip(-1) if case.name == _FRONT else ids


class _Mask(Exercise):
    """An exercise whose inputs are token numbers and whose result is a mask."""

    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.int64) -> dict[str, Tensor]:
        """Make sentences of token numbers, which are whole whatever dtype is asked for."""
        return {"ids": _sentences(case, seed)}


_BOOL = (
    torch.bool,
    "The mask comes out as {}. True and False, torch.bool, is what attention takes; for anything "
    "else torch would add it to the scores, or refuse.",
)


def _real(ids: Tensor) -> Tensor:
    return ids != 0


def _past(ids: Tensor, diagonal: int = 0) -> Tensor:
    return torch.ones(ids.shape[-1], ids.shape[-1], dtype=torch.bool).tril(diagonal)


def _added(mask: Tensor) -> Tensor:
    """Turn a mask into what is added to scores."""
    return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)


_POLARITY = (
    "This is the other polarity: True where nothing may be seen. In this book, and in "
    "scaled_dot_product_attention, True = may attend. (nn.MultiheadAttention wants it your way.)"
)
_ADDITIVE = (
    "This is what is added to the scores: 0 and -inf. It says the same, but a boolean mask is "
    "asked for; it can be combined with &."
)
_ONE_MORE = (
    "Token 1 is hidden as well. Only the number that is reserved for padding, 0, is no token."
)

_ONE_SENTENCE = (
    (
        SINGLE,
        "This is right for one sentence only. In a batch the axis of length 1, for the queries, "
        "stands between B and the keys: unsqueeze(1), or [:, None].",
    ),
)

# --- 1: which keys are real? ------------------------------------------------------------------


def _columns(ids: Tensor) -> Tensor:
    return _real(ids).unsqueeze(-2)


_NO_AXIS = (
    "The right cells, but no axis for the queries: (B, S) would be taken for (L, S) if B happened "
    "to be L. Put an axis of length 1 between the two: (B, 1, S)."
)
_REPEATED = (
    "The right cells, one copy for every query. That works; but (B, 1, S) says the same once, and "
    "broadcasting serves all queries."
)
_HEAD_AXIS = (
    "There are four axes, as for scores with heads (B, H, L, S). The scores here are (B, L, S), "
    "and four axes over three would give (B, B, L, S) without a word of warning."
)

_PADDING_COLUMNS = _Mask(
    returns="mask",
    shape="B 1 S",
    inputs={"ids": "B S"},
    solution=_columns,
    always=_BOOL,
    trains=False,
    elsewhere=_ONE_SENTENCE,
    cases=(
        Case("a batch of sentences", (3,), {"S": 7, "1": 1}),
        Case("one sentence (B = 1)", (1,), {"S": 9, "1": 1}),
        Case(_FRONT, (4,), {"S": 6, "1": 1}),
    ),
    mistakes=(
        Mistake(lambda ids: ~_columns(ids), _POLARITY),
        Mistake(lambda ids: ~_real(ids), _POLARITY),
        Mistake(_real, _NO_AXIS),
        Mistake(
            lambda ids: _real(ids).unsqueeze(-1),
            "These are rows: (B, S, 1) hides what a pad *asks*. What must not be seen is a pad as "
            "a key, and keys are columns: the axis of length 1 comes before S.",
        ),
        Mistake(
            lambda ids: _real(ids).unsqueeze(-1) & _columns(ids),
            "Rows and columns are hidden both. The rows of pads then see nothing at all, and plain "
            "softmax gives NaN there. Hide the columns only, (B, 1, S).",
        ),
        Mistake(lambda ids: _columns(ids).expand(-1, ids.shape[-1], -1), _REPEATED),
        Mistake(
            lambda ids: _columns(ids).expand(-1, ids.shape[-1], -1).unsqueeze(1),
            "This is document A's form, (B, 1, L, L), for scores that have an axis for heads. Here "
            "the scores are (B, L, S), and one row for all queries is enough: (B, 1, S).",
        ),
        Mistake(lambda ids: _columns(ids).unsqueeze(1), _HEAD_AXIS),
        Mistake(lambda ids: (ids > 1).unsqueeze(-2), _ONE_MORE),
        Mistake(lambda ids: ids.unsqueeze(-2), "These are still the numbers. Compare them with 0."),
        Mistake(lambda ids: _added(_columns(ids)), _ADDITIVE),
        Mistake(lambda ids: _added(~_columns(ids)), _ADDITIVE + " And its polarity is reversed."),
        Mistake(
            lambda ids: _columns(ids) & _past(ids),
            "The future is hidden as well. That is for a model that writes; here only the padding "
            "is asked for.",
        ),
        Mistake(
            lambda ids: _columns(ids[:1]).expand(len(ids), -1, -1),
            "The padding of the first sentence is taken for all. Each has its own length.",
        ),
    ),
)


def padding_columns(answer: Any, points: float = 2) -> Marks:
    """Check a function that says which keys are real.

    Parameters
    ----------
    answer : callable
        ``answer(ids)``: whole numbers (B, S), 0 where nothing stands → bool (B, 1, S), True = may
        attend.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(padding_columns(lambda ids: (ids == 0).unsqueeze(1)).feedback)
    Not right yet: 0 of 2 points
    ✗ This is the other polarity: ...
    """
    return _PADDING_COLUMNS.mark(answer, points)


# --- 2: padding and future together -----------------------------------------------------------


def _both(
    ids: Tensor,
    *,
    real: Callable[[Tensor], Tensor] = _columns,
    past: Callable[[Tensor], Tensor] = _past,
    combine: Callable[[Tensor, Tensor], Tensor] = torch.logical_and,
) -> Tensor:
    return combine(real(ids), past(ids))


def _together(**changes: Callable) -> Callable[..., Tensor]:
    return partial(_both, **changes)


def _for_each(ids: Tensor, mask: Tensor) -> Tensor:
    return mask.expand(*ids.shape, ids.shape[-1])


_PADS_SEEN = "The future is hidden, but the pads can still be seen."
_FUTURE_SEEN = "The pads are hidden, but the future can still be seen."
_ROWS = (
    "The rows of pads are hidden: what a pad asks. Such a row then sees nothing at all, and nobody "
    "reads it anyway. Hide pads as columns, and as columns only: as keys, with (B, 1, L)."
)

_BOTH_MASKS = _Mask(
    returns="mask",
    shape="B L L",
    inputs={"ids": "B L"},
    solution=_both,
    always=_BOOL,
    trains=False,
    elsewhere=_ONE_SENTENCE,
    cases=(
        Case("a batch of sentences", (3,), {"L": 7}),
        Case("one sentence (B = 1)", (1,), {"L": 9}),
        Case(_FRONT, (4,), {"L": 6}),
    ),
    mistakes=(
        Mistake(lambda ids: _for_each(ids, _past(ids)), _PADS_SEEN),
        Mistake(_past, _PADS_SEEN),
        Mistake(lambda ids: _for_each(ids, _columns(ids)), _FUTURE_SEEN),
        Mistake(_columns, _FUTURE_SEEN),
        Mistake(
            _together(combine=torch.logical_or),
            "The two are combined by *or*: a cell is open if either allows it. A key is seen if "
            "every mask allows it: *and*, that is &.",
        ),
        Mistake(
            _together(combine=torch.logical_xor),
            "A cell is open where exactly one of the two allows it. A key is seen if both do: &.",
        ),
        Mistake(lambda ids: ~_both(ids), _POLARITY),
        Mistake(
            _together(real=lambda ids: ~_columns(ids)),
            "The padding has the other polarity: only pads can be seen. True = may attend, in both "
            "masks, before they are combined.",
        ),
        Mistake(
            _together(past=lambda ids: ~_past(ids)),
            "The causal part has the other polarity: each position sees what comes after it, and "
            "nothing else. True = may attend.",
        ),
        Mistake(
            _together(past=lambda ids: _past(ids).mT),
            "The triangle is turned over: position i sees itself and what comes *after* it. Rows "
            "are queries, so what is allowed lies below the diagonal.",
        ),
        Mistake(
            _together(past=partial(_past, diagonal=-1)),
            "A position does not see itself. It may: its own token is known; so the diagonal is "
            "open.",
        ),
        Mistake(
            _together(past=partial(_past, diagonal=1)),
            "Off by one: position i sees position i + 1, and that is the answer it should predict.",
        ),
        Mistake(_together(real=lambda ids: _real(ids).unsqueeze(-1)), _ROWS),
        # With padding at the end the two are the same: no real position sees so far.
        Mistake(lambda ids: _both(ids) & _real(ids).unsqueeze(-1), _ROWS),
        Mistake(lambda ids: _both(ids).unsqueeze(1), _HEAD_AXIS),
        Mistake(lambda ids: _added(_both(ids)), _ADDITIVE),
        Mistake(_together(real=lambda ids: (ids > 1).unsqueeze(-2)), _ONE_MORE),
        Mistake(
            lambda ids: _both(ids[:1]).expand(len(ids), -1, -1),
            "The padding of the first sentence is taken for all. Each has its own length.",
        ),
    ),
)


def both_masks(answer: Any, points: float = 2) -> Marks:
    """Check a function that hides padding and future.

    Parameters
    ----------
    answer : callable
        ``answer(ids)``: whole numbers (B, L), 0 where nothing stands → bool (B, L, L), True = may
        attend: query i sees key j if j is not after i and is no pad.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(both_masks(lambda ids: (ids != 0).unsqueeze(1)).feedback)
    Not right yet: 0 of 2 points
    ✗ The pads are hidden, but the future can still be seen.
    """
    return _BOTH_MASKS.mark(answer, points)


# --- 3: how many cells leak? ------------------------------------------------------------------


def _leaks(attn_mask: Tensor) -> Tensor:
    return attn_mask.triu(1)


def _future_cells(attn_mask: Tensor) -> Tensor:
    return _leaks(attn_mask).sum()


class _Given(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.bool) -> dict[str, Tensor]:
        """Make masks with many open cells, more of them below the diagonal."""
        random = torch.Generator().manual_seed(seed)
        shape = case.shape("B L L")
        open_below = torch.rand(shape, generator=random) < 0.8
        open_above = torch.rand(shape, generator=random) < 0.4
        return {"attn_mask": open_below.tril() | open_above.triu(1)}


_FUTURE_CELLS = _Given(
    returns="count",
    shape="",
    inputs={"attn_mask": "B L L"},
    solution=_future_cells,
    cases=(
        Case("several masks", (4,), {"L": 11}),
        Case("one mask (B = 1)", (1,), {"L": 13}),
    ),
    mistakes=(
        Mistake(
            lambda m: m.triu().sum(),
            "The diagonal is counted too. A position may see itself; the future begins one to the "
            "right of it.",
        ),
        Mistake(
            lambda m: m.triu(2).sum(),
            "One place is left out: position i + 1 is the future of position i, and the worst of "
            "it, because it is the answer.",
        ),
        Mistake(
            lambda m: m.tril(-1).sum(),
            "This counts the past. Rows are queries and columns are keys, so the future lies above "
            "the diagonal.",
        ),
        Mistake(
            lambda m: m.tril().sum(),
            "This counts the cells that may be open: past and present. Asked for are those that "
            "should not be.",
        ),
        Mistake(
            lambda m: (~m).triu(1).sum(),
            "This counts the cells that are hidden, as they should be. True = may attend.",
        ),
        Mistake(
            lambda m: (~m).tril().sum(),
            "This counts what is hidden of the past and present: a mask that is too strict. Asked "
            "for is what is open of the future.",
        ),
        Mistake(lambda m: m.sum(), "This counts all open cells. Only those of the future leak."),
        Mistake(
            lambda m: m.diagonal(1, -2, -1).sum(),
            "Only the cell next to the diagonal is counted, the answer itself. All that comes "
            "later is the future too.",
        ),
        Mistake(
            lambda m: _leaks(m).any(-1).sum(),
            "This counts the queries that see some future. Asked for is how many cells.",
        ),
        Mistake(
            lambda m: _leaks(m).any(-2).sum(),
            "This counts the keys that are seen too early. Asked for is how many cells.",
        ),
        Mistake(lambda m: _leaks(m).any(), "This says whether there is a leak. Count the cells."),
        Mistake(
            lambda m: _leaks(m).any(-1).any(-1).sum(),
            "This counts the masks that leak. Asked for is how many cells do.",
        ),
        Mistake(
            lambda m: _leaks(m).sum((-2, -1)),
            "This is a count for each mask. Return one number for all of them.",
        ),
        Mistake(lambda m: _leaks(m).sum(-1), "This is a count for each query. Sum them all."),
        Mistake(_leaks, "These are the cells. Count them: one number."),
        Mistake(
            lambda m: _leaks(m).double().mean(),
            "This is a share of all cells. Asked for is how many.",
        ),
        Mistake(
            lambda m: _leaks(m).sum() / m.sum(),
            "This is a share of the open cells. Asked for is how many.",
        ),
        Mistake(
            lambda m: _leaks(m).sum() / len(m),
            "This is the mean over the masks. Asked for is how many in all of them.",
        ),
        Mistake(
            lambda m: _leaks(m[0]).sum(),
            "Only the first mask of the batch is counted. Is [0] written somewhere?",
        ),
    ),
)


def future_cells(answer: Any, points: float = 2) -> Marks:
    """Check a function that counts the cells through which the future can be seen.

    Parameters
    ----------
    answer : callable
        ``answer(attn_mask)``: bool (B, L, L), True = may attend → how many cells let a query see a
        key that comes after it, in all masks together.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(future_cells(lambda attn_mask: attn_mask.sum()).feedback)
    Not right yet: 0 of 2 points
    ✗ This counts all open cells. ...
    """
    return _FUTURE_CELLS.mark(answer, points)


# --- 4: weights of a row that may see nothing -------------------------------------------------


def _blind(attn_mask: Tensor) -> Tensor:
    return ~attn_mask.any(-1, keepdim=True)


def _hidden(scores: Tensor, attn_mask: Tensor) -> Tensor:
    return scores.masked_fill(~attn_mask, -torch.inf)


def _safe(scores: Tensor, attn_mask: Tensor, axis: int = -1) -> Tensor:
    blind = ~attn_mask.any(axis, keepdim=True)
    filled = scores.masked_fill(~attn_mask & ~blind, -torch.inf)
    return filled.softmax(axis).masked_fill(~attn_mask, 0.0)


class _Masked(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Make scores, and masks in which some rows are open, some half, some closed."""
        made = super().draw(case, seed, dtype)
        random = torch.Generator().manual_seed(seed + 1000)
        mask = torch.rand(made["scores"].shape, generator=random) < 0.6
        mask[..., 0] |= ~mask.any(-1)
        mask[..., 1, :] = True
        mask[..., 2, :] = False
        return {**made, "attn_mask": mask}

    def _difference(self, got: Tensor, right: Tensor, case: Case) -> str:
        if got.shape == right.shape and torch.equal(got.isnan().all(-1), right.sum(-1) == 0):
            return (
                "A row that may see nothing is NaN, all others are right. There every score is "
                "-inf, and softmax is 0 / 0. Such a row should be zeros."
            )
        return super()._difference(got, right, case)

    def _gradients(self, asked: Any, case: Case) -> str:
        inputs = self.draw(case, 4, torch.float64)
        scores = inputs["scores"].requires_grad_()
        try:
            with torch.enable_grad():
                result = asked(inputs)
                (gradient,) = torch.autograd.grad((result * scores.detach()).sum(), [scores])
        except Exception:
            return super()._gradients(asked, case)
        if gradient.isnan().any():
            return (
                "They are NaN. A NaN that is replaced after softmax is gone from the result, but "
                "not from the way back: don't let it come about, or cut that way with masked_fill."
            )
        return super()._gradients(asked, case)


_FINITE = (
    "Hidden scores are a large negative number instead of -inf. In a row that may see nothing they "
    "are all equal, so softmax shares the row out among the very keys that are hidden. Such a row "
    "should be zeros."
)
_NOT_RENORMALISED = (
    "The hidden weights are set to 0 after softmax, so a row no longer sums to 1: the hidden keys "
    "have taken their share with them. Hide the scores, before softmax."
)

_SAFE_WEIGHTS = _Masked(
    returns="weights",
    shape="B L S",
    inputs={"scores": "B L S", "attn_mask": "B L S"},
    solution=_safe,
    dtypes=(torch.float32, torch.float64, torch.float16),
    cases=(
        Case("a batch of sequences", (3,), {"L": 6, "S": 8}),
        Case("one sequence (B = 1)", (1,), {"L": 5, "S": 7}),
    ),
    mistakes=(
        Mistake(lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1), _FINITE),
        Mistake(lambda scores, mask: scores.softmax(-1) * mask, _NOT_RENORMALISED),
        Mistake(
            lambda scores, mask: (scores * mask).softmax(-1),
            "Hidden scores are set to 0. A score of 0 is not nothing: exp(0) = 1, more than any "
            "negative score gets. Set it to -inf.",
        ),
        Mistake(
            lambda scores, mask: (scores * mask).softmax(-1) * mask,
            "Hidden scores are set to 0, and their weights taken away after softmax, so the rows "
            "do not sum to 1. Set the scores to -inf.",
        ),
        Mistake(lambda scores, mask: scores.softmax(-1), "The mask is not used."),
        Mistake(
            lambda scores, mask: _safe(scores, ~mask),
            "The polarity is reversed: what may be seen is hidden, and what is hidden is seen. "
            "True = may attend, so it is ~attn_mask that is filled with -inf.",
        ),
        Mistake(
            lambda scores, mask: scores.masked_fill(mask, -1e9).softmax(-1),
            "The polarity is reversed: what may be seen is hidden. True = may attend, so it is "
            "~attn_mask that is filled.",
        ),
        Mistake(
            lambda scores, mask: _safe(scores, mask, axis=-2),
            "The softmax runs over the queries. Each query shares its attention among the keys: "
            "rows sum to 1, the last axis.",
        ),
        Mistake(
            lambda scores, mask: mask / mask.sum(-1, keepdim=True).clamp(min=1),
            "All open keys get the same share: the scores have no part in it.",
        ),
        Mistake(
            lambda scores, mask: (scores + mask).softmax(-1),
            "The mask is added as it is, True as 1: open keys get e times more, and hidden ones "
            "are not hidden.",
        ),
        Mistake(
            lambda scores, mask: scores.exp() * mask,
            "exp is taken, but the rows are not divided by their sums.",
        ),
        Mistake(_hidden, "These are the masked scores. Softmax makes weights of them."),
        Mistake(
            lambda scores, mask: _hidden(scores, mask | _blind(mask)).softmax(-1),
            "A row that may see nothing is treated as if it might see everything. Its weights "
            "should be zeros.",
        ),
        Mistake(
            lambda scores, mask: torch.where(_blind(mask), 1 / mask.shape[-1], _safe(scores, mask)),
            _FINITE,
        ),
        Mistake(
            lambda scores, mask: _safe(scores, mask).log(),
            "These are the logarithms of the weights.",
        ),
        Mistake(
            lambda scores, mask: _safe(scores, mask[:1].expand_as(mask)),
            "The mask of the first sequence is used for all. Each has its own.",
        ),
    ),
)


def safe_weights(answer: Any, points: float = 3) -> Marks:
    """Check a masked softmax that survives a row in which everything is hidden.

    Parameters
    ----------
    answer : callable
        ``answer(scores, attn_mask)``: scores (B, L, S) and bool (B, L, S), True = may attend →
        weights (B, L, S). A row that may see nothing is zeros, and gradients are finite.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(safe_weights(lambda scores, attn_mask: scores.softmax(-1)).feedback)
    Not right yet: 0 of 3 points
    ✗ The mask is not used.
    """
    return _SAFE_WEIGHTS.mark(answer, points)

"""Chapter 7, Multi-head attention: its exercises, their solutions and the mistakes people make."""

from typing import Any

import torch
from einops import rearrange
from torch import Tensor

from .exercise import Case, Exercise, Mistake
from .marks import Marks

__all__ = ["head_removed", "heads_merged", "heads_split", "layer_cost"]


# --- what several exercises share -------------------------------------------------------------

_CASES = (
    # the length is divisible by H, so that a cut of the wrong axis gives something, too
    Case("a batch of sequences", (4,), {"L": 6, "H": 3, "E": 5, "K": 15, "D": 7}),
    Case("one sequence (B = 1)", (1,), {"L": 8, "H": 4, "E": 3, "K": 12, "D": 5}),
)
_VIEW = (
    "This is a view: the right shape, with the numbers in the order in which they lie in memory. "
    "So tokens get mixed up. Two axes, heads and length, must really change places: transpose."
)


def _width(x: Tensor, heads: int) -> int:
    return x.shape[-1] // heads


# --- 1: cut into heads ------------------------------------------------------------------------


def _split(x: Tensor, heads: int) -> Tensor:
    return rearrange(x, "b l (h e) -> b h l e", h=heads)


class _Counted(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        """Make tokens, and say how many heads."""
        return {**super().draw(case, seed, dtype), "heads": case.sizes["H"]}


_HEADS_SPLIT = _Counted(
    returns="heads",
    shape="B H L E",
    inputs={"x": "B L K", "heads": ""},
    solution=_split,
    elsewhere=(),
    cases=_CASES,
    mistakes=(
        Mistake(lambda x, h: x.reshape(len(x), h, x.shape[1], _width(x, h)), _VIEW),
        Mistake(
            lambda x, h: x.unflatten(-1, (h, _width(x, h))),
            "The last axis is opened, but the heads still stand behind the length: (B, L, H, E). "
            "Let the two change places, so that attention finds (L, E) at the end.",
        ),
        Mistake(
            lambda x, h: rearrange(x, "b l (e h) -> b h l e", h=h),
            "Each head gets every H-th number of a token. A head is a run of neighbours: open the "
            "last axis as (H, E), not as (E, H).",
        ),
        Mistake(
            lambda x, h: rearrange(x, "b l (e h) -> b e l h", h=h),
            "Heads and width are taken for each other: there are as many heads as a head should be "
            "wide.",
        ),
        Mistake(
            lambda x, h: rearrange(x, "b l (h e) -> b h e l", h=h),
            "Length and width have changed places, too. Rows are tokens in each head: (L, E).",
        ),
        Mistake(
            lambda x, h: rearrange(x, "b l (h e) -> h b l e", h=h),
            "The heads come first. The batch does: (B, H, L, E).",
        ),
        Mistake(
            lambda x, h: rearrange(x, "b l (h e) -> (b h) l e", h=h),
            "Batch and heads are one axis. Some programs do so, nn.MultiheadAttention among them; "
            "here each has an axis of its own.",
        ),
        Mistake(
            lambda x, h: rearrange(x, "b (h l) k -> b h l k", h=h),
            "The sequence is cut, not the tokens: each head has some tokens, whole. It should have "
            "all tokens, and of each a part.",
        ),
        Mistake(
            lambda x, h: x.unsqueeze(1).expand(-1, h, -1, -1),
            "Each head gets the whole tokens. It should get a part, E = D / H numbers of each.",
        ),
        Mistake(
            lambda x, h: x[..., : _width(x, h)],
            "This is the first head only.",
        ),
        Mistake(
            lambda x, h: x[..., : _width(x, h)].unsqueeze(1).expand(-1, h, -1, -1),
            "All heads get the same numbers, those of the first.",
        ),
        Mistake(
            lambda x, h: _split(x, h).flip(1),
            "The heads are in the wrong order: head 1 has the first numbers of each token.",
        ),
    ),
)


def heads_split(answer: Any, points: float = 2) -> Marks:
    """Check a function that cuts tokens into heads.

    Parameters
    ----------
    answer : callable
        ``answer(x, heads)``: tokens (B, L, D) and a whole number that divides D → (B, H, L, E).
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(heads_split(lambda x, heads: x.view(len(x), heads, x.shape[1], -1)).feedback)
    Not right yet: 0 of 2 points
    ✗ This is a view: ...
    """
    return _HEADS_SPLIT.mark(answer, points)


# --- 2: put heads back ------------------------------------------------------------------------


def _merge(x: Tensor) -> Tensor:
    return rearrange(x, "b h l e -> b l (h e)")


_HEADS_MERGED = Exercise(
    returns="tokens",
    shape="B L K",
    inputs={"x": "B H L E"},
    solution=_merge,
    elsewhere=(),
    cases=_CASES,
    mistakes=(
        Mistake(lambda x: x.reshape(len(x), x.shape[2], -1), _VIEW),
        Mistake(
            lambda x: x.transpose(1, 2),
            "Heads and length have changed places; one step is left: close the last two axes.",
        ),
        Mistake(
            lambda x: x.flatten(1, 2),
            "The heads lie below each other: (B, H·L, E). They should lie side by side, in the "
            "same token: (B, L, H·E).",
        ),
        Mistake(
            lambda x: rearrange(x, "b h l e -> b l (e h)"),
            "The heads' numbers are shuffled like cards: one of each in turn. All of head 1 come "
            "first, then all of head 2: (H, E), not (E, H).",
        ),
        Mistake(
            lambda x: x.sum(1),
            "The heads are summed. They are laid end to end; it is the output map, later, that "
            "sums.",
        ),
        Mistake(
            lambda x: x.mean(1),
            "The heads are averaged. They are laid end to end, so that nothing is lost.",
        ),
        Mistake(lambda x: x[:, 0], "This is the first head only."),
        Mistake(
            lambda x: rearrange(x, "b h l e -> b (h e) l"),
            "Rows and columns have changed places. Rows are tokens: (B, L, H·E).",
        ),
        Mistake(
            lambda x: _merge(x.flip(1)),
            "The heads are in the wrong order: the first numbers of a token belong to head 1.",
        ),
        Mistake(
            lambda x: torch.cat(list(x), -1),
            "The sequences of the batch are laid end to end, not the heads: those are the second "
            "axis.",
        ),
        Mistake(
            lambda x: x.transpose(1, 2).flatten(1, 2),
            "The heads lie below each other, token by token: (B, L·H, E). Close the last two axes.",
        ),
    ),
)


def heads_merged(answer: Any, points: float = 2) -> Marks:
    """Check a function that puts heads back into tokens.

    Parameters
    ----------
    answer : callable
        ``answer(x)``: heads (B, H, L, E) → tokens (B, L, H·E).
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(heads_merged(lambda x: x.sum(1)).feedback)
    Not right yet: 0 of 2 points
    ✗ The heads are summed. ...
    """
    return _HEADS_MERGED.mark(answer, points)


# --- 3: take a head out -----------------------------------------------------------------------


def _kept(outputs: Tensor, head: int) -> Tensor:
    others = torch.arange(outputs.shape[1]) != head
    return outputs * others.view(-1, 1, 1)


def _removed(outputs: Tensor, w_output: Tensor, head: int) -> Tensor:
    return _merge(_kept(outputs, head)) @ w_output


def _whole(outputs: Tensor, w_output: Tensor) -> Tensor:
    return _merge(outputs) @ w_output


def _without_place(x: Tensor, axis: int, place: int) -> Tensor:
    """Put zeros at one place of an axis."""
    return x.index_fill(axis, torch.tensor(place), 0)


def _striped(outputs: Tensor, head: int) -> Tensor:
    merged = _merge(outputs)
    stripes = torch.arange(merged.shape[-1]) % outputs.shape[1] == head
    return merged.masked_fill(stripes, 0)


def _shorter(outputs: Tensor, w_output: Tensor, head: int) -> Tensor:
    others = [h for h in range(outputs.shape[1]) if h != head]
    merged = _merge(outputs[:, others])
    return merged @ w_output[: merged.shape[-1]]


class _Removal(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        """Make outputs and a matrix, and choose a head."""
        return {**super().draw(case, seed, dtype), "head": (seed // 2) % case.sizes["H"]}


_HEAD_REMOVED = _Removal(
    returns="output",
    shape="B L D",
    inputs={"outputs": "B H L E", "w_output": "K D", "head": ""},
    solution=_removed,
    elsewhere=(),
    cases=_CASES,
    mistakes=(
        Mistake(lambda x, w, head: _whole(x, w), "No head is removed: `head` is unused."),
        Mistake(
            lambda x, w, head: _whole(x, w) - _removed(x, w, head),
            "This is what the one head brings, alone. Asked for is what the others bring.",
        ),
        Mistake(
            lambda x, w, head: _removed(x, w, head - 1 if head else x.shape[1] - 1),
            "The head before it is removed. Heads are counted from 0 here.",
        ),
        Mistake(
            lambda x, w, head: _removed(x, w, (head + 1) % x.shape[1]),
            "The head after it is removed. Heads are counted from 0 here.",
        ),
        Mistake(
            lambda x, w, head: _whole(_without_place(x, 2, head), w),
            "A token is removed, not a head. The heads are the second axis: (B, H, L, E).",
        ),
        Mistake(
            lambda x, w, head: _whole(_without_place(x, 0, head), w),
            "A sequence is removed, not a head. The heads are the second axis: (B, H, L, E).",
        ),
        Mistake(
            lambda x, w, head: _whole(_without_place(x, 3, head), w),
            "One number of every head is removed. The heads are the second axis: (B, H, L, E).",
        ),
        Mistake(
            lambda x, w, head: _striped(x, head) @ w,
            "Every H-th number is removed. A head is a run of E neighbours.",
        ),
        Mistake(
            lambda x, w, head: _kept(x, head).reshape(len(x), x.shape[2], -1) @ w,
            "The right head is removed, but the heads are put back by a view, so tokens get mixed "
            "up. Heads and length must change places first.",
        ),
        Mistake(
            _shorter,
            "The other heads move up, and meet rows of w_output that are not theirs. Head h has "
            "the rows from h·E on, whoever else is there.",
        ),
        Mistake(
            lambda x, w, head: _removed(x, w, head) * x.shape[1] / (x.shape[1] - 1),
            "The other heads are made larger to make up for it, as dropout does. Only leave the "
            "head out.",
        ),
        Mistake(
            lambda x, w, head: _removed(
                torch.where(
                    (torch.arange(x.shape[1]) == head).view(-1, 1, 1), x.mean(2, keepdim=True), x
                ),
                w,
                -1,
            ),
            "The head is replaced by its mean over the tokens. That is done, too, and has its "
            "merits; here zeros are asked for.",
        ),
        Mistake(
            lambda x, w, head: _merge(_kept(x, head)),
            "The head is removed and the rest put back; the output map w_output is still to come.",
        ),
        Mistake(
            lambda x, w, head: _kept(x, head),
            "The head is removed. Put the heads back into tokens, then map them by w_output.",
        ),
        Mistake(
            lambda x, w, head: _removed(x, w, 0),
            "It is always the first head that is removed: `head` is unused.",
        ),
    ),
)


def head_removed(answer: Any, points: float = 3) -> Marks:
    """Check a function that computes a layer's output without one of its heads.

    Parameters
    ----------
    answer : callable
        ``answer(outputs, w_output, head)``: heads (B, H, L, E), matrix (H·E, D), which head → the
        output (B, L, D) with zeros in that head's stead.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> head_removed(lambda outputs, w_output, head: outputs)
    0.0
    """
    return _HEAD_REMOVED.mark(answer, points)


# --- 4: what does a layer cost? ---------------------------------------------------------------


def _maps(length: int, width: int) -> int:
    return length * width**2


def _tables(length: int, width: int) -> int:
    return length**2 * width


def _cost(length: int, width: int, heads: int, maps: float = 4, tables: float = 2) -> Tensor:
    total = maps * _maps(length, width) + tables * _tables(length, width)
    return torch.tensor(float(total), dtype=torch.float64)


class _Sizes(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        """Choose sizes, others in every trial."""
        heads = case.sizes["H"] + seed % 3
        width = heads * (case.sizes["E"] + seed % 5)
        return {"length": case.sizes["L"] + seed, "width": width, "heads": heads}


_ONE_HEAD = (
    "The tables of one head only are counted. Each head has scores and sums of its own, E = D / H "
    "numbers each; all H of them together take as much as one of width D."
)

_LAYER_COST = _Sizes(
    returns="number",
    shape="",
    inputs={"length": "", "width": "", "heads": ""},
    solution=_cost,
    elsewhere=(),
    cases=(
        Case("a short sequence of wide tokens", (1,), {"L": 7, "E": 30, "H": 4}),
        Case("a long sequence of narrow tokens", (1,), {"L": 300, "E": 5, "H": 2}),
    ),
    mistakes=(
        Mistake(
            lambda n, d, h: _cost(n, d, h) / h,
            "The number is divided by H. A head is narrower, but there are H of them.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h) * h,
            "The number is multiplied by H. There are H heads, but each has only E = D / H "
            "numbers.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h, tables=2 * h),
            "Each head's scores and sums are counted at full width D. A head is E = D / H wide.",
        ),
        Mistake(lambda n, d, h: _cost(n, d, h, tables=2 / h), _ONE_HEAD),
        Mistake(
            lambda n, d, h: _cost(n, d, h, maps=4 / h),
            "The maps of one head only are counted. All heads have maps: together they are D × D.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h, maps=3 + 1 / h),
            "The output map is counted as if it took one head. It takes all of them, laid end to "
            "end: D numbers.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h, maps=1 + 3 / h),
            "The maps to query, key and value are counted for one head only. Together, each of "
            "them is D × D.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h, maps=3),
            "Three maps are counted. There are four: query, key, value, and the output map.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h, tables=1),
            "The scores or the weighted sums are missing: each takes L · L · D multiplications.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h, tables=0),
            "These are the maps. Scores and weighted sums are missing.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h, maps=0),
            "These are the scores and weighted sums. The four maps are missing.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h) * 2,
            "Multiplications and additions are counted apart, as in FLOPs. Here the two are one.",
        ),
        Mistake(
            lambda n, d, h: _cost(d, n, h),
            "Length and width have changed places: the maps take L · D · D, the scores L · L · D.",
        ),
        Mistake(
            lambda n, d, h: _cost(n, d, h) + h * n**2,
            "The cells of the maps are counted as well, for the scale or for softmax. Only the "
            "matrix products are asked for.",
        ),
        Mistake(
            lambda n, d, h: torch.tensor(4.0 * d**2),
            "This is how many parameters there are. Each is used once for every token, and the "
            "scores have none.",
        ),
    ),
)


def layer_cost(answer: Any, points: float = 2) -> Marks:
    """Check a function that counts the multiplications of a multi-head layer.

    Parameters
    ----------
    answer : callable
        ``answer(length, width, heads)``: three whole numbers → how many multiplications the matrix
        products take, for one sequence.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(layer_cost(lambda length, width, heads: 4 * length * width**2).feedback)
    Not right yet: 0 of 2 points
    ✗ These are the maps. ...
    """
    return _LAYER_COST.mark(answer, points)

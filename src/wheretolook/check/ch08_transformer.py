"""Chapter 8, the Transformer: its exercises, their solutions and the mistakes that people make."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .exercise import Case, Exercise, Mistake
from .marks import Marks

__all__ = ["cross_weights", "feed_forward", "next_words", "pre_norm"]


# --- what several exercises share -------------------------------------------------------------

# Only to understand a wrong answer: here all lengths and widths are one number.
_EQUAL = Case("equal sizes", (5,), dict.fromkeys(("L", "S", "D", "E", "F", "V"), 5))
_EQUAL_TEXT = (
    "This is right only where all sizes are equal. Two axes are taken for each other: a transpose "
    "too many or too few, or a size read from the wrong axis."
)
_NO_BATCH = Case("no batch axis at all", (), {"L": 6, "S": 4, "D": 5, "E": 3, "F": 8, "V": 7})
_NO_BATCH_TEXT = (
    "This is right without a batch axis only. .T turns all axes, and dim=0 or dim=1 counts from "
    "the front, where the batch now stands: count axes from the end."
)
_ELSEWHERE = ((_NO_BATCH, _NO_BATCH_TEXT), (_EQUAL, _EQUAL_TEXT))
_MANY = Case("a batch of sentences", (3,), {"L": 7, "S": 9, "D": 6, "E": 4, "F": 10, "V": 8})
_ONE = Case("one sentence (B = 1)", (1,), {"L": 5, "S": 8, "D": 4, "E": 6, "F": 9, "V": 7})


def _mT(x: Tensor) -> Tensor:
    return x.transpose(-2, -1)


# --- 1: the feed-forward layer ----------------------------------------------------------------


def _feed_forward(x: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return (x @ first).relu() @ second


_OTHER_BEND = "The bend between the two layers is another one. A ReLU is asked for: max(0, number)."

_FEED_FORWARD = Exercise(
    returns="tokens",
    shape="B L D",
    inputs={"x": "B L D", "first": "D F", "second": "F D"},
    solution=_feed_forward,
    cases=(_MANY, _ONE),
    elsewhere=_ELSEWHERE,
    mistakes=(
        Mistake(
            lambda x, first, second: x @ first @ second,
            "There is no ReLU. Two matrix products in a row are one matrix product: without the "
            "bend between them the second layer adds nothing.",
        ),
        Mistake(
            lambda x, first, second: (x @ first @ second).relu(),
            "The ReLU stands at the end. It belongs between the two layers; what comes out may be "
            "negative.",
        ),
        Mistake(
            lambda x, first, second: _feed_forward(x, first, second).relu(),
            "There is a second ReLU, at the end. What is added to a token may be negative, so the "
            "last layer has none.",
        ),
        Mistake(
            lambda x, first, second: x.relu() @ first @ second,
            "The ReLU stands before the first layer. It belongs between the two.",
        ),
        Mistake(
            lambda x, first, second: x + _feed_forward(x, first, second),
            "x is added at the end. That is the frame around the layer, and it comes in a later "
            "exercise; here the layer alone is asked for.",
        ),
        Mistake(
            lambda x, first, second: _feed_forward(x.mean(-2, keepdim=True), first, second).expand(
                *x.shape
            ),
            "All tokens get the same: their mean went in. This layer takes each token alone.",
        ),
        Mistake(
            lambda x, first, second: _feed_forward(x, first, second).mean(-2),
            "The tokens are averaged into one vector. Every token has its own result.",
        ),
        Mistake(
            lambda x, first, second: (x @ first).relu(),
            "This is what stands between the layers, F numbers a token. The second matrix brings "
            "it back to D.",
        ),
        Mistake(
            lambda x, first, second: (x @ first).softmax(-1) @ second,
            "There is a softmax between the layers. Nothing is shared out here: a ReLU is asked "
            "for.",
        ),
        *(
            Mistake(lambda x, first, second, f=f: f(x @ first) @ second, _OTHER_BEND)
            for f in (torch.tanh, torch.sigmoid, F.gelu, F.silu, torch.abs, F.leaky_relu)
        ),
        Mistake(
            lambda x, first, second: -(-(x @ first)).relu() @ second,
            "The negative numbers are kept and the positive ones dropped. It is the other way.",
        ),
        Mistake(
            lambda x, first, second: (x @ _mT(second)).relu() @ _mT(first),
            "The two matrices have changed places. `first` is (D, F) and comes first.",
        ),
    ),
)


def feed_forward(answer: Any, points: float = 2) -> Marks:
    """Check a function that is the feed-forward layer, without biases.

    Parameters
    ----------
    answer : callable
        ``answer(x, first, second)``: tokens (B, L, D), matrices (D, F) and (F, D) → tokens
        (B, L, D).
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(feed_forward(lambda x, first, second: x @ first @ second).feedback)
    Not right yet: 0 of 2 points
    ✗ There is no ReLU. ...
    """
    return _FEED_FORWARD.mark(answer, points)


# --- 2: a part in its frame -------------------------------------------------------------------


def _norm(x: Tensor, axis: int = -1, *, unbiased: bool = False) -> Tensor:
    centred = x - x.mean(axis, keepdim=True)
    return centred / (x.var(axis, unbiased=unbiased, keepdim=True) + 1e-5).sqrt()


def _pre_norm(x: Tensor, weight: Tensor) -> Tensor:
    return x + _norm(x) @ weight


_PRE_NORM = Exercise(
    returns="tokens",
    shape="B L D",
    inputs={"x": "B L D", "weight": "D D"},
    solution=_pre_norm,
    cases=(_MANY, _ONE),
    elsewhere=_ELSEWHERE,
    mistakes=(
        Mistake(
            lambda x, weight: _norm(x + x @ weight),
            "This is post-norm, as the paper has it: the sum is normalised. In pre-norm only what "
            "the part gets is normalised, and the sum is left as it is.",
        ),
        Mistake(
            lambda x, weight: x + _norm(x @ weight),
            "The norm stands behind the part. It belongs before: a part gets normalised tokens.",
        ),
        Mistake(
            lambda x, weight: _norm(x) @ weight,
            "What came in is not added. Without the residual connection the tokens themselves are "
            "lost.",
        ),
        Mistake(
            lambda x, weight: _norm(x) + _norm(x) @ weight,
            "The *normalised* tokens are added. In pre-norm x itself goes past the part, "
            "untouched.",
        ),
        Mistake(
            lambda x, weight: x + x @ weight,
            "There is no norm at all.",
        ),
        Mistake(
            lambda x, weight: _norm(x + _norm(x) @ weight),
            "There are two norms: one before the part, and one more behind the sum. Pre-norm has "
            "the first.",
        ),
        Mistake(
            lambda x, weight: _norm(x + _norm(x @ weight)),
            "There are two norms, and none of them stands before the part. Pre-norm has one, "
            "there.",
        ),
        Mistake(
            lambda x, weight: _norm(x) + x @ weight,
            "The norm is on the wrong path: x goes past the part as it is, and the part gets the "
            "normalised tokens.",
        ),
        Mistake(
            lambda x, weight: x + _norm(x, -2) @ weight,
            "The norm runs over the tokens. Layer norm takes each token alone, over its D "
            "features: the last axis.",
        ),
        Mistake(
            lambda x, weight: x + _norm(x, 0) @ weight,
            "The norm runs over the first axis, the batch. Layer norm takes each token alone, over "
            "its D features: the last axis.",
        ),
        Mistake(
            lambda x, weight: x + _norm(x, unbiased=True) @ weight,
            "The variance is the unbiased one, divided by D - 1 (torch's var and std do that "
            "unless told otherwise). Layer norm divides by D.",
        ),
        Mistake(
            lambda x, weight: x + F.normalize(x, dim=-1) @ weight,
            "Each token is divided by its length. Layer norm takes the mean off, and divides by "
            "the standard deviation.",
        ),
        Mistake(
            lambda x, weight: x + _norm(x) @ weight.T,
            "The matrix is transposed. Rows are tokens here: the part is x @ weight.",
        ),
        Mistake(
            lambda x, weight: x * (_norm(x) @ weight),
            "The two paths are multiplied. A residual connection adds.",
        ),
        Mistake(
            lambda x, weight: x - _norm(x) @ weight,
            "The part is taken away. A residual connection adds.",
        ),
    ),
)


def pre_norm(answer: Any, points: float = 2) -> Marks:
    """Check a function that puts a matrix, as a part, into a pre-norm frame.

    Parameters
    ----------
    answer : callable
        ``answer(x, weight)``: tokens (B, L, D) and a matrix (D, D) → tokens (B, L, D). The part is
        the product with the matrix; the layer norm has no parameters and eps 1e-5.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(pre_norm(lambda x, weight: x + x @ weight).feedback)
    Not right yet: 0 of 2 points
    ✗ There is no norm at all.
    """
    return _PRE_NORM.mark(answer, points)


# --- 3: who asks whom -------------------------------------------------------------------------


def _softmax(words: Tensor, source: Tensor, attn_mask: Tensor, factor: float) -> Tensor:
    scores = words @ _mT(source) * factor
    return scores.masked_fill(~attn_mask.unsqueeze(-2), -torch.inf).softmax(-1)


def _scale(x: Tensor) -> float:
    return x.shape[-1] ** -0.5


def _cross(words: Tensor, source: Tensor, attn_mask: Tensor) -> Tensor:
    return _softmax(words, source, attn_mask, _scale(words))


def _cross_scores(words: Tensor, source: Tensor) -> Tensor:
    return words @ _mT(source) * _scale(words)


def _causal(scores: Tensor) -> Tensor:
    past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return scores.masked_fill(~past, -torch.inf)


class _Source(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Make masks that show two tokens at least, and hide one."""
        made = super().draw(case, seed, dtype)
        length = made["attn_mask"].shape[-1]
        sentences = torch.arange(math.prod(case.batch)).view(*case.batch, 1)
        real = 2 + (sentences + seed) % (length - 2)
        return {**made, "attn_mask": torch.arange(length) < real}


_CROSS_WEIGHTS = _Source(
    returns="weights",
    shape="B L S",
    inputs={"words": "B L E", "source": "B S E", "attn_mask": "B S"},
    solution=_cross,
    cases=(_MANY, _ONE),
    elsewhere=_ELSEWHERE,
    mistakes=(
        Mistake(
            lambda words, source, attn_mask: _cross_scores(words, source).softmax(-1),
            "The mask is not used: padding of the Source gets weight.",
        ),
        Mistake(
            lambda words, source, attn_mask: _cross(words, source, ~attn_mask),
            "The mask is turned around: only the padding is seen. True = may attend.",
        ),
        Mistake(
            lambda words, source, attn_mask: _softmax(words, source, attn_mask, 1),
            "The scale is missing: the scores are divided by √E before softmax.",
        ),
        Mistake(
            lambda words, source, attn_mask: _softmax(words, source, attn_mask, _scale(words) ** 2),
            "The scores are divided by E. The factor is 1/√E.",
        ),
        Mistake(
            lambda words, source, attn_mask: _softmax(
                words, source, attn_mask, source.shape[-2] ** -0.5
            ),
            "The scores are divided by the root of a length. E is the width of a query, its last "
            "axis.",
        ),
        Mistake(
            lambda words, source, attn_mask: _cross_scores(source, words).softmax(-1),
            "The Source asks and the words answer. In cross-attention the words are the queries; "
            "the keys are the Source's. (And the mask is not used.)",
        ),
        Mistake(
            lambda words, source, attn_mask: _mT(_cross(words, source, attn_mask)),
            "The table is turned: rows are queries, the words.",
        ),
        Mistake(
            lambda words, source, attn_mask: (
                _cross_scores(words, source)
                .masked_fill(~attn_mask.unsqueeze(-2), -torch.inf)
                .softmax(-2)
                .nan_to_num()
            ),
            "Softmax runs over the words. Each word shares out its own look: over the keys, the "
            "last axis.",
        ),
        Mistake(
            lambda words, source, attn_mask: (
                _cross_scores(words, source).softmax(-1) * attn_mask.unsqueeze(-2)
            ),
            "The mask comes after softmax, so the padding has taken its share with it, and rows do "
            "not sum to 1. Hide scores, not weights.",
        ),
        Mistake(
            lambda words, source, attn_mask: (
                _cross_scores(words, source) * attn_mask.unsqueeze(-2)
            ).softmax(-1),
            "Hidden scores are set to 0, and exp(0) = 1 is not nothing. A hidden score is -inf.",
        ),
        Mistake(
            lambda words, source, attn_mask: (
                _causal(_cross_scores(words, source))
                .masked_fill(~attn_mask.unsqueeze(-2), -torch.inf)
                .softmax(-1)
            ),
            "There is a causal mask as well. It belongs to the words among themselves; of the "
            "Source every word may see all, since it is known from the start.",
        ),
        Mistake(
            lambda words, source, attn_mask: _causal(_cross_scores(words, source)).softmax(-1),
            "This is a causal mask. It belongs to the words among themselves; of the Source a word "
            "may see everything but the padding.",
        ),
        Mistake(
            lambda words, source, attn_mask: _cross_scores(words, source).masked_fill(
                ~attn_mask.unsqueeze(-2), -torch.inf
            ),
            "These are the scores. Softmax makes weights of them.",
        ),
        Mistake(
            lambda words, source, attn_mask: _cross(words, source, attn_mask) @ source,
            "This is one step too far: the output. The weights are asked for.",
        ),
        Mistake(
            lambda words, source, attn_mask: _cross_scores(words, words).softmax(-1),
            "The words look at themselves. In cross-attention the keys come from the Source.",
        ),
        Mistake(
            lambda words, source, attn_mask: _cross_scores(source, source).softmax(-1),
            "The Source looks at itself. In cross-attention the queries come from the words.",
        ),
        Mistake(
            lambda words, source, attn_mask: _cross(source, source, attn_mask),
            "The Source looks at itself. In cross-attention the queries come from the words.",
        ),
        Mistake(
            lambda words, source, attn_mask: _cross(words, source, attn_mask).log(),
            "These are logarithms of the weights: log_softmax. Softmax is asked for.",
        ),
    ),
)


def cross_weights(answer: Any, points: float = 3) -> Marks:
    """Check a function that makes the weights of one head of cross-attention.

    Parameters
    ----------
    answer : callable
        ``answer(words, source, attn_mask)``: queries (B, L, E), keys (B, S, E), and (B, S) bool,
        True = a real token of the Source → weights (B, L, S).
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> def unmasked(words, source, attn_mask):
    ...     return (words @ source.mT / words.shape[-1] ** 0.5).softmax(-1)
    >>> print(cross_weights(unmasked).feedback)
    Not right yet: 0 of 3 points
    ✗ The mask is not used: padding of the Source gets weight.
    """
    return _CROSS_WEIGHTS.mark(answer, points)


# --- 4: the greedy step -----------------------------------------------------------------------


def _chosen(logits: Tensor) -> Tensor:
    return logits[..., -1, :].argmax(-1)


def _next_words(logits: Tensor, ended: Tensor) -> Tensor:
    return _chosen(logits).masked_fill(ended, 0)


class _Step(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Let some sentences be at their end, others in every trial; alone, in one of three."""
        made = super().draw(case, seed, dtype)
        # never the highest score and never the lowest: so 0 can only come from a sentence's end
        made["logits"][..., 0] = made["logits"][..., 1:].mean(-1)
        sentences = torch.arange(math.prod(case.batch)).view(case.batch)
        return {**made, "ended": (sentences + seed) % 3 == 0}


_NEXT_WORDS = _Step(
    returns="words",
    shape="B",
    inputs={"logits": "B L V", "ended": "B"},
    always=(
        torch.int64,
        "The words come out as {}. A word's number is whole: torch.int64, as argmax gives it.",
    ),
    solution=_next_words,
    cases=(_MANY, _ONE),
    elsewhere=(
        (
            _NO_BATCH,
            "This is right for one sentence without a batch axis only: the first axis counts "
            "sentences.",
        ),
        (_EQUAL, _EQUAL_TEXT),
    ),
    trains=False,
    mistakes=(
        Mistake(
            lambda logits, ended: _chosen(logits),
            "Sentences that have ended go on. Their next word is padding, 0.",
        ),
        Mistake(
            lambda logits, ended: _chosen(logits).masked_fill(ended, 2),
            "A sentence that has ended gets another end token, 2. It has one already; behind it "
            "stands padding, 0.",
        ),
        Mistake(
            lambda logits, ended: _chosen(logits).masked_fill(ended, 1),
            "A sentence that has ended gets a start token, 1. Behind the end stands padding, 0.",
        ),
        Mistake(
            lambda logits, ended: _chosen(logits).masked_fill(~ended, 0),
            "It is the other way: sentences that go on get padding, and ended ones go on. ended is "
            "True where the end token was written.",
        ),
        Mistake(
            lambda logits, ended: logits[..., 0, :].argmax(-1).masked_fill(ended, 0),
            "This is the first word again. The next word is named at the last of the L places.",
        ),
        Mistake(
            lambda logits, ended: logits[..., -2, :].argmax(-1).masked_fill(ended, 0),
            "This is the word before: it was named at the last place but one. The next word is "
            "named at the last.",
        ),
        Mistake(
            lambda logits, ended: logits.mean(-2).argmax(-1).masked_fill(ended, 0),
            "The scores of all places are averaged. Each place names its own word; the next one is "
            "named at the last place.",
        ),
        Mistake(
            lambda logits, ended: logits.sum(-2).argmax(-1),
            "The scores of all places are added. Each place names its own word; the next one is "
            "named at the last place. And ended sentences get padding.",
        ),
        Mistake(
            lambda logits, ended: logits.argmax(-1),
            "These are words for all L places. They were chosen in earlier steps; only the last "
            "place names a new one.",
        ),
        Mistake(
            lambda logits, ended: logits.argmax(-1).masked_fill(ended.unsqueeze(-1), 0),
            "These are words for all L places. They were chosen in earlier steps; only the last "
            "place names a new one.",
        ),
        Mistake(
            lambda logits, ended: logits[..., -1, :].amax(-1).masked_fill(ended, 0),
            "This is the highest score itself. The number of the word that has it is asked for.",
        ),
        Mistake(
            lambda logits, ended: logits[..., -1, :].argmin(-1).masked_fill(ended, 0),
            "This is the word that scores lowest. Greedy takes the likeliest.",
        ),
        Mistake(
            lambda logits, ended: logits.argmax(-2)[..., -1].masked_fill(ended, 0),
            "This is a place and not a word: argmax ran along L. Words lie along the last axis.",
        ),
        Mistake(
            lambda logits, ended: logits[..., -1, 1:].argmax(-1).masked_fill(ended, 0),
            "Every word is one too low: a column was cut off before argmax, and so all are "
            "renumbered.",
        ),
    ),
)


def next_words(answer: Any, points: float = 2) -> Marks:
    """Check a function that is one step of greedy decoding.

    Parameters
    ----------
    answer : callable
        ``answer(logits, ended)``: scores (B, L, V) for the words behind each of the L words so
        far, and (B,) bool, True = the end token was written → the next words (B,), 0 where the
        sentence has ended.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(next_words(lambda logits, ended: logits[:, -1].argmax(-1)).feedback)
    Not right yet: 0 of 2 points
    ✗ Sentences that have ended go on. Their next word is padding, 0.
    """
    return _NEXT_WORDS.mark(answer, points)

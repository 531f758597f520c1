"""Chapter 2, Encoder-Decoder: its exercises, their solutions and the mistakes that people make."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .exercise import SINGLE, Case, Exercise, Mistake
from .marks import Marks

__all__ = ["pooled_context", "sequence_loss", "shifted_target"]


# --- what several exercises share -------------------------------------------------------------

PAD, START, END = 0, 1, 2
# Only to understand a wrong answer: here even the batch is no longer than the rest.
EQUAL = Case("equal sizes", (6,), dict.fromkeys(("L", "S", "D", "V"), 6))


def _lengths(case: Case, seed: int, most: int, *, full: bool = False) -> Tensor:
    """Draw how many words each sentence has: as different as can be, and from 2 to most - 1.

    With `full`, one of them has as many words as there are places.
    """
    random = torch.Generator().manual_seed(seed)
    sentences = math.prod(case.batch)
    shuffles = torch.rand(-(-sentences // (most - 2)), most - 2, generator=random).argsort(-1)
    lengths = shuffles.flatten()[:sentences] + 2
    if full:
        lengths[int(torch.randint(sentences, (), generator=random))] = most
    return lengths.view(case.batch)


def _sentences(case: Case, seed: int, vocabulary: int) -> Tensor:
    """Draw sentences (B, L): words from 3 on, the end, and padding after it."""
    random = torch.Generator().manual_seed(seed)
    shape = case.shape("B L")
    words = torch.randint(END + 1, vocabulary, shape, generator=random)
    # A batch is as long as its longest sentence.
    lengths = _lengths(case, seed, shape[-1], full=math.prod(case.batch) > 1)
    after = torch.arange(shape[-1]) - (lengths[..., None] - 1)
    return words.masked_fill(after == 0, END).masked_fill(after > 0, PAD)


# --- 1: what the decoder reads ----------------------------------------------------------------

VOCABULARY = 30


def _led(first: int, rest: Tensor) -> Tensor:
    """Put one number before every sentence."""
    return torch.cat([torch.full_like(rest[..., :1], first), rest], -1)


def _shifted(target: Tensor) -> Tensor:
    return _led(START, target[..., :-1])


class _Words(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.int64) -> dict[str, Tensor]:
        """Make sentences of word numbers, which are whole whatever dtype is asked for."""
        return {"target": _sentences(case, seed, VOCABULARY)}


_LEFT = (
    "The words have moved to the left, so each step reads the word that comes after. It should "
    "read the word that came before: one place to the right, behind the start."
)
_WRAPPED = (
    "What falls out at the end comes in again at the front. At the front stands the start, 1, "
    "whatever the sentence."
)
_RENUMBERED = (
    "The numbers of the words are changed, and so they are other words. Shifting moves each word "
    "one place on and leaves its number as it is."
)

_SHIFTED_TARGET = _Words(
    returns="inputs",
    shape="B L",
    inputs={"target": "B L"},
    solution=_shifted,
    dtypes=(torch.int64,),
    trains=False,
    cases=(
        Case("several sentences", (4,), {"L": 7}),
        Case("one sentence (B = 1)", (1,), {"L": 9}),
    ),
    elsewhere=(
        (
            SINGLE,
            "This is right for one sentence without a batch axis only. The words of a sentence "
            "lie along the last axis; the first counts sentences.",
        ),
    ),
    mistakes=(
        Mistake(
            lambda target: target,
            "This is the target as it is: each step would read the very word that it should "
            "write. It reads the word before.",
        ),
        *(
            Mistake(lambda target, last=n: F.pad(target[..., 1:], (0, 1), value=last), _LEFT)
            for n in (PAD, START, END)
        ),
        Mistake(lambda target: target.roll(-1, -1), _LEFT),
        Mistake(lambda target: target.roll(-1), _LEFT),
        Mistake(lambda target: target[..., 1:], _LEFT),
        Mistake(
            lambda target: _led(START, target[..., 1:]),
            "The start stands where the first word stood, and no word has moved. Every word moves "
            "one place to the right; the one that falls out is the last.",
        ),
        Mistake(lambda target: target.roll(1, -1), _WRAPPED),
        Mistake(lambda target: target.roll(1), _WRAPPED),
        Mistake(
            lambda target: _led(START, target),
            "This is one place too long. L words are written, so L are read; nothing is written "
            "after the last, so nobody reads it.",
        ),
        Mistake(
            lambda target: target[..., :-1],
            "The last word is gone, but no start has come to the front: this is one place too "
            "short, and the first step has nothing to read.",
        ),
        Mistake(
            lambda target: _led(PAD, target[..., :-1]),
            "The first input is 0, and 0 is padding. A sentence begins with the start, 1.",
        ),
        Mistake(
            lambda target: _led(END, target[..., :-1]),
            "The first input is 2, the end. A sentence begins with the start, 1.",
        ),
        Mistake(
            lambda target: torch.cat([torch.ones_like(target[:1]), target[:-1]]),
            "The sentences have moved, not their words: each row stands where the next one was. "
            "Words lie along the last axis.",
        ),
        Mistake(
            lambda target: _led(START, _led(START, target[..., :-2])),
            "The words have moved by two places. One is enough: each step reads the word just "
            "before its own.",
        ),
        Mistake(
            lambda target: _shifted(target).masked_fill(_shifted(target) == END, PAD),
            "The end is taken out. Move it like any other word: what is written after it is "
            "padding, and the loss leaves that out.",
        ),
        Mistake(
            lambda target: _shifted(target.flip(-1)),
            "The sentence stands backwards. The decoder reads its own words in their order.",
        ),
        Mistake(lambda target: target + 1, _RENUMBERED),
        Mistake(lambda target: target - 1, _RENUMBERED),
    ),
)


def shifted_target(answer: Any, points: float = 2) -> Marks:
    """Check a function that makes what a decoder reads out of what it should write.

    Parameters
    ----------
    answer : callable
        ``answer(target)``: whole numbers (B, L), each row the words of a sentence, the end 2, then
        padding 0 → inputs (B, L) for teacher forcing: the start 1, then all but the last.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(shifted_target(lambda target: target[:, :-1]).feedback)
    Not right yet: 0 of 2 points
    ✗ The last word is gone, but no start has come to the front: ...
    """
    return _SHIFTED_TARGET.mark(answer, points)


# --- 2: one vector for a sentence -------------------------------------------------------------

FULL = Case("a sentence without padding among others", (4,), {"S": 6, "D": 5})


def _count(attn_mask: Tensor) -> Tensor:
    return attn_mask.sum(-1, keepdim=True)


def _real(states: Tensor, attn_mask: Tensor) -> Tensor:
    """Put zeros where there is no word."""
    return states * attn_mask[..., None]


def _sum(states: Tensor, attn_mask: Tensor) -> Tensor:
    return _real(states, attn_mask).sum(-2)


def _pooled(states: Tensor, attn_mask: Tensor) -> Tensor:
    return _sum(states, attn_mask) / _count(attn_mask)


def _all_in_one(states: Tensor, attn_mask: Tensor) -> Tensor:
    return _sum(states, attn_mask).sum(0) / attn_mask.sum()


def _last(states: Tensor, attn_mask: Tensor) -> Tensor:
    place = (_count(attn_mask) - 1)[..., None].expand(*states.shape[:-2], 1, states.shape[-1])
    return states.gather(-2, place).squeeze(-2)


class _Padded(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Make states, and masks that show at least two words."""
        made = super().draw(case, seed, dtype)
        places = made["attn_mask"].shape[-1]
        lengths = _lengths(case, seed, places, full=case is FULL)
        return {**made, "attn_mask": torch.arange(places) < lengths[..., None]}


_FEATURES = (
    "The mean runs over the features: one number for each word. The context has all D features, "
    "each of them a mean over the words of the sentence."
)
_SENTENCES = (
    "The mean runs over the batch, so sentences that have nothing to do with each other are "
    "mixed. Count axes from the end."
)
_LARGEST = (
    "This is the largest value of each feature. A mean is asked for: every real word has the same "
    "share in it."
)
_ONE_FOR_ALL = (
    "All sentences of the batch are put into one mean. Each has a context of its own: one row for "
    "each sentence."
)
_TWO_AXES = (
    "The mask (B, S) meets the last two axes of the states, (S, D). Give it a third axis, of "
    "length 1, for the features."
)

_POOLED_CONTEXT = _Padded(
    returns="context",
    shape="B D",
    inputs={"states": "B S D", "attn_mask": "B S"},
    solution=_pooled,
    cases=(
        Case("several sentences", (3,), {"S": 9, "D": 5}),
        Case("one sentence (B = 1)", (1,), {"S": 7, "D": 4}),
        FULL,
    ),
    elsewhere=(
        (
            EQUAL,
            "This is right only where B, S and D are equal. Two axes are taken for each other: "
            "states are (B, S, D), the mask is (B, S).",
        ),
        (
            SINGLE,
            "This is right for one sentence without a batch axis only. The first axis counts "
            "sentences now; words lie along the last but one of the states, and along the last of "
            "the mask.",
        ),
    ),
    mistakes=(
        Mistake(
            lambda states, attn_mask: states.mean(-2),
            "Padding is counted as words: the mean runs over all S places. Only where the mask "
            "says True stands a word.",
        ),
        Mistake(
            lambda states, attn_mask: _real(states, attn_mask).mean(-2),
            "Padding is left out of the sum, but still counted: the sum is divided by S. Divide "
            "by the number of real words.",
        ),
        Mistake(
            lambda states, attn_mask: states.sum(-2) / _count(attn_mask),
            "The number is right, the sum is not: the states of the padding are in it.",
        ),
        Mistake(
            _sum,
            "This is a sum: long sentences get larger contexts than short ones. Divide by the "
            "number of real words.",
        ),
        Mistake(
            lambda states, attn_mask: states.sum(-2),
            "This is the sum over all places, padding included. Leave the padding out, then "
            "divide by the number of real words.",
        ),
        Mistake(
            lambda states, attn_mask: _pooled(states, ~attn_mask),
            "This is the mean of the padding. The mask says True where a word stands.",
        ),
        Mistake(
            lambda states, attn_mask: _sum(states, attn_mask) / attn_mask.sum(),
            "One number divides all sums: that of the words in the whole batch. Each sentence has "
            "its own number of words.",
        ),
        Mistake(
            lambda states, attn_mask: _sum(states, attn_mask) / _count(attn_mask[:1]),
            "The words of the first sentence are counted for all. Each has its own number.",
        ),
        Mistake(
            lambda states, attn_mask: _pooled(states, attn_mask[:1].expand_as(attn_mask)),
            "The mask of the first sentence is used for all. Each has its own.",
        ),
        Mistake(
            lambda states, attn_mask: _sum(states, attn_mask) / _count(~attn_mask),
            "The sum is divided by the number of pads. Divide by the number of real words.",
        ),
        Mistake(lambda states, attn_mask: states.mean(-1), _FEATURES),
        Mistake(lambda states, attn_mask: _real(states, attn_mask).mean(-1), _FEATURES),
        Mistake(lambda states, attn_mask: states.mean(0), _SENTENCES),
        Mistake(lambda states, attn_mask: _real(states, attn_mask).mean(0), _SENTENCES),
        Mistake(_all_in_one, _ONE_FOR_ALL),
        Mistake(lambda *x: _all_in_one(*x).expand(len(x[0]), -1), _ONE_FOR_ALL),
        Mistake(
            lambda states, attn_mask: states[..., -1, :],
            "This is the state in the last place, and there stands padding as a rule. The mean of "
            "all real words is asked for.",
        ),
        Mistake(
            _last,
            "This is the state of the last word alone. It is a context too, another one: here the "
            "mean of all real words is asked for.",
        ),
        Mistake(
            lambda states, attn_mask: states[..., 0, :],
            "This is the state of the first word alone. The mean of all real words is asked for.",
        ),
        Mistake(lambda states, attn_mask: states.amax(-2), _LARGEST),
        Mistake(lambda states, attn_mask: _real(states, attn_mask).amax(-2), _LARGEST),
        Mistake(
            lambda states, attn_mask: states.masked_fill(~attn_mask[..., None], -torch.inf).amax(
                -2
            ),
            _LARGEST,
        ),
        Mistake(
            _real,
            "The padding is zero, as it should be, but each word still has a vector of its own. "
            "Take their mean.",
        ),
        # These need S = D or B = D: unequal sizes raise, equal ones let them through.
        *(
            Mistake(lambda *x, count=n: (x[0] * x[1]).sum(-2) / count(x[1]), _TWO_AXES)
            for n in (_count, lambda attn_mask: attn_mask.sum(-1))
        ),
        Mistake(lambda states, attn_mask: (states * attn_mask).mean(-2), _TWO_AXES),
        Mistake(lambda states, attn_mask: (states * attn_mask).sum(-2), _TWO_AXES),
        Mistake(
            lambda states, attn_mask: (
                (states * attn_mask[..., None, :]).sum(-2) / _count(attn_mask)
            ),
            "The mask lies along the features: whole features are hidden, not words. It is the "
            "last axis of the states that it lacks.",
        ),
        Mistake(
            lambda states, attn_mask: _sum(states, attn_mask) / attn_mask.sum(-1),
            "The numbers of words lie along the features, so a sum is divided by what belongs to "
            "another sentence. Give them an axis of length 1 for the features: (B, 1).",
        ),
    ),
)


def pooled_context(answer: Any, points: float = 2) -> Marks:
    """Check a function that makes one vector of a sentence: the mean of its words' states.

    Parameters
    ----------
    answer : callable
        ``answer(states, attn_mask)``: states (B, S, D) and a boolean mask (B, S), True where a
        real word stands → context (B, D).
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(pooled_context(lambda states, attn_mask: states.mean(1)).feedback)
    Not right yet: 0 of 2 points
    ✗ Padding is counted as words: ...
    """
    return _POOLED_CONTEXT.mark(answer, points)


# --- 3: the loss of a sentence ----------------------------------------------------------------


def _surprise(logits: Tensor, target: Tensor) -> Tensor:
    """Return -log p of every word that should be written, pads included."""
    return -_of_target(logits.log_softmax(-1), target)


def _of_target(values: Tensor, target: Tensor) -> Tensor:
    return values.gather(-1, target[..., None]).squeeze(-1)


def _probability(logits: Tensor, target: Tensor) -> Tensor:
    return _of_target(logits.softmax(-1), target)


def _over(values: Tensor, counted: Tensor) -> Tensor:
    return (values * counted).sum() / counted.sum()


def _loss(logits: Tensor, target: Tensor) -> Tensor:
    return _over(_surprise(logits, target), target != PAD)


def _summed(logits: Tensor, target: Tensor) -> Tensor:
    """Return the sum of each sentence."""
    return (_surprise(logits, target) * (target != PAD)).sum(-1)


def _each(logits: Tensor, target: Tensor) -> Tensor:
    """Return the mean of each sentence."""
    return _summed(logits, target) / (target != PAD).sum(-1)


def _right(logits: Tensor, target: Tensor) -> Tensor:
    return logits.argmax(-1) == target


class _Loss(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Make logits for each place, and the words that should stand there."""
        made = super().draw(case, seed, dtype)
        return {**made, "target": _sentences(case, seed, made["logits"].shape[-1])}


_POSITIONS = (
    "The probabilities are shared out among the L places of a sentence. At each place the words "
    "of the vocabulary compete: softmax runs over the last axis."
)
_NO_LOG = (
    "There is no logarithm: this averages the probability of the right word. Cross-entropy is the "
    "mean of -log p."
)
_PER_PLACE = (
    "This is a loss for each word. Return their mean as one number, and leave the padding out."
)
_PER_SENTENCE = "This is a loss for each sentence. Put all real words of the batch into one mean."
_ACCURACY = (
    "This counts how often the likeliest word is the right one. Cross-entropy asks what "
    "probability the right word had, and can be trained."
)

_SEQUENCE_LOSS = _Loss(
    returns="loss",
    shape="",
    inputs={"logits": "B L V", "target": "B L"},
    solution=_loss,
    trains=True,
    cases=(
        Case("several sentences", (3,), {"L": 7, "V": 11}),
        Case("one sentence (B = 1)", (1,), {"L": 9, "V": 8}),
    ),
    elsewhere=(
        (
            EQUAL,
            "This is right only where B, L and V are equal. Two axes are taken for each other: "
            "logits are (B, L, V), the target is (B, L).",
        ),
    ),
    mistakes=(
        Mistake(
            lambda *x: _surprise(*x).mean(),
            "Padding is counted as words: the mean runs over all B × L places. Where the target "
            "is 0, nothing is to be written.",
        ),
        Mistake(
            lambda *x: _summed(*x).sum() / x[1].numel(),
            "The losses of the padding are zero, but still counted: the sum is divided by all "
            "B × L places. Divide by the number of real words.",
        ),
        Mistake(
            lambda *x: _summed(*x).sum(),
            "This is a sum. It grows with the batch and with the sentences: divide by the number "
            "of real words.",
        ),
        Mistake(
            lambda *x: _surprise(*x).sum(),
            "This is the sum over all places, padding included. Leave the padding out, then "
            "divide by the number of real words.",
        ),
        Mistake(
            lambda *x: _each(*x).mean(),
            "This is the mean of the sentences' means: a word of a short sentence counts for "
            "more. Divide the sum over the batch by all its real words.",
        ),
        Mistake(
            lambda *x: _summed(*x).mean(),
            "The sum is divided by the number of sentences. Divide by the number of real words.",
        ),
        Mistake(
            lambda *x: _summed(*x).sum() / x[1].shape[-1],
            "The sum is divided by the length L. Divide by the number of real words in the batch.",
        ),
        Mistake(
            lambda logits, target: _over(_surprise(logits, target), target == PAD),
            "This is the loss of the padding alone. Where the target is 0, nothing is to be "
            "written.",
        ),
        Mistake(
            lambda logits, target: _over(_surprise(logits, target), target > END),
            "The end is left out with the padding. It is a word like others: who never learns to "
            "write it never stops.",
        ),
        Mistake(
            lambda logits, target: _loss(logits[:1], target[:1]),
            "This is the loss of the first sentence. Take all of the batch.",
        ),
        Mistake(
            lambda logits, target: _over(
                -_of_target(logits.log_softmax(-2), target), target != PAD
            ),
            _POSITIONS,
        ),
        Mistake(
            lambda logits, target: _over(-_of_target(logits.log_softmax(0), target), target != PAD),
            "The probabilities are shared out among the sentences of the batch. At each place the "
            "words of the vocabulary compete: softmax runs over the last axis.",
        ),
        Mistake(
            lambda logits, target: _over(
                -_of_target(logits.flatten().log_softmax(0).view_as(logits), target), target != PAD
            ),
            "One softmax runs over the whole batch at once. At each place the words of the "
            "vocabulary compete for themselves: softmax runs over the last axis.",
        ),
        Mistake(
            lambda logits, target: _loss(logits.softmax(-1), target),
            "Softmax is taken twice. Cross-entropy, as torch has it, wants the logits as they "
            "are: it takes softmax itself.",
        ),
        Mistake(
            lambda logits, target: _over(-_of_target(logits, target), target != PAD),
            "The logits are averaged as they are: softmax is missing, and then the logarithm.",
        ),
        Mistake(lambda *x: _over(_probability(*x), x[1] != PAD), _NO_LOG),
        Mistake(lambda *x: -_over(_probability(*x), x[1] != PAD), _NO_LOG),
        Mistake(lambda *x: 1 - _over(_probability(*x), x[1] != PAD), _NO_LOG),
        Mistake(
            lambda *x: -_over(_probability(*x), x[1] != PAD).log(),
            "The logarithm comes too late: it is taken of the mean probability. Take it of each "
            "word's probability, then the mean.",
        ),
        Mistake(
            lambda *x: -_loss(*x),
            "The minus sign is missing. A logarithm of a probability is below 0; a loss should "
            "fall when the probability rises.",
        ),
        Mistake(
            lambda *x: _loss(*x) / math.log(2),
            "The logarithm has base 2, so this is in bits. The natural logarithm is asked for.",
        ),
        Mistake(
            lambda *x: _loss(*x) / math.log(10),
            "The logarithm has base 10. The natural logarithm is asked for.",
        ),
        Mistake(
            lambda *x: _loss(*x).exp(),
            "This is the perplexity, exp of the loss. Return the loss itself.",
        ),
        Mistake(
            lambda logits, target: _loss(logits[..., :-1, :], target[..., 1:]),
            "Logits and target are shifted against each other. Both are at the same place "
            "already: the decoder's inputs were shifted before.",
        ),
        Mistake(lambda *x: _over(_right(*x), x[1] != PAD), _ACCURACY),
        Mistake(lambda *x: _right(*x).double().mean(), _ACCURACY),
        Mistake(lambda *x: _surprise(*x), _PER_PLACE),
        Mistake(lambda logits, target: _surprise(logits, target) * (target != PAD), _PER_PLACE),
        Mistake(_summed, _PER_SENTENCE),
        Mistake(_each, _PER_SENTENCE),
        # These need V = L: unequal sizes raise, equal ones let them through. There the next one
        # computes the same.
        *(
            Mistake(
                lambda logits, target, left_out=n: F.cross_entropy(
                    logits, target, ignore_index=left_out
                ),
                "torch's cross-entropy looks for the vocabulary on the second axis, and there lie "
                "the places of the sentence. Let the two change places, or make one long list of "
                "all places of the batch.",
            )
            for n in (PAD, -100)
        ),
        Mistake(
            lambda logits, target: F.cross_entropy(
                logits.reshape(logits.mT.shape), target, ignore_index=PAD
            ),
            "The logits are reshaped where two axes should change places. view and reshape keep "
            "the order of the numbers and only cut it anew, so words and places get mixed.",
        ),
    ),
)


def sequence_loss(answer: Any, points: float = 3) -> Marks:
    """Check a function that averages the cross-entropy over all real words of a batch.

    Parameters
    ----------
    answer : callable
        ``answer(logits, target)``: logits (B, L, V) and whole numbers (B, L), 0 where there is
        padding → loss, a single number through which gradients flow.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> from torch.nn.functional import cross_entropy
    >>> sequence_loss(lambda logits, target: cross_entropy(logits.mT, target, ignore_index=0))
    3.0
    """
    return _SEQUENCE_LOSS.mark(answer, points)

"""What readers of chapter 2 answer, and what its checkers must say to it."""

import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F
from bench import Answers, bench
from einops import einsum, reduce, repeat
from torch.distributions import Categorical
from torch.nn.utils.rnn import pack_padded_sequence

from wheretolook import check
from wheretolook.check import ch02_encoder_decoder as chapter
from wheretolook.masks import padding_mask

# --- 1: what the decoder reads ----------------------------------------------------------------


def start(target, number=1):
    return torch.full((len(target), 1), number)


def shifted_by_loops(target):
    inputs = target.clone()
    for b, sentence in enumerate(target.tolist()):
        previous = 1
        for i, word in enumerate(sentence):
            inputs[b, i] = previous
            previous = word
    return inputs


def shifted_in_place(target):
    inputs = torch.zeros_like(target)
    inputs[:, 0] = 1
    inputs[:, 1:] = target[:, :-1]
    return inputs


def rolled(target):
    inputs = torch.roll(target, 1)  # the rows run into each other, but only at the front
    inputs[:, 0] = 1
    return inputs


def overwritten(target):
    inputs = target.clone()
    inputs[:, 0] = 1
    return inputs


def without_end(target):
    inputs = shifted_in_place(target)
    inputs[inputs == 2] = 0
    return inputs


def in_the_input(target):
    target[:, 1:] = target[:, :-1].clone()
    target[:, 0] = 1
    return target


RIGHT_SHIFT = [
    shifted_by_loops,
    shifted_in_place,
    rolled,
    lambda y: torch.cat([start(y), y[:, :-1]], 1),
    lambda y: torch.cat((torch.ones_like(y[..., :1]), y), -1)[..., :-1],
    lambda y: F.pad(y, (1, -1), value=1),
    lambda y: torch.roll(y, 1, 1).index_fill(1, torch.tensor([0]), 1),
    lambda y: torch.tensor([[1, *row[:-1]] for row in y.tolist()]),
    lambda y: torch.hstack([repeat(torch.tensor([1]), "one -> batch one", batch=len(y)), y])[
        :, :-1
    ],
    lambda y: torch.where(torch.arange(y.shape[1]) == 0, 1, y.roll(1, dims=1)),
    lambda y: torch.from_numpy(np.insert(y.numpy(), 0, 1, axis=1)[:, :-1]),
]
WRONG_SHIFT = [
    (lambda y: y, "the target as it is"),
    (lambda y: torch.cat([y[:, 1:], start(y, 0)], 1), "moved to the left"),
    (lambda y: torch.cat([y[:, 1:], start(y)], 1), "moved to the left"),
    (lambda y: torch.roll(y, -1, 1), "moved to the left"),
    (lambda y: y[:, 1:], "moved to the left"),
    (overwritten, "no word has moved"),
    (lambda y: torch.roll(y, 1, dims=1), "comes in again at the front"),
    (lambda y: torch.roll(y, 1), "comes in again at the front"),
    (lambda y: torch.cat([start(y), y], 1), "one place too long"),
    (lambda y: y[:, :-1], "no start has come"),
    (lambda y: F.pad(y, (1, 0))[:, :-1], "0 is padding"),
    (lambda y: torch.cat([start(y, 2), y[:, :-1]], 1), "2, the end"),
    (lambda y: torch.cat([torch.ones(1, y.shape[1], dtype=int), y[:-1]]), "sentences have moved"),
    (lambda y: torch.cat([start(y), start(y), y[:, :-2]], 1), "two places"),
    (without_end, "The end is taken out"),
    (lambda y: shifted_in_place(y.flip(1)), "backwards"),
    (lambda y: y + 1, "other words"),
    (lambda y: torch.cat([torch.tensor([1]), y[:-1]]), "without a batch axis only"),
    (lambda y: torch.ones_like(y), "whatever goes in"),
    (lambda y: [1, 5, 6, 7], "whatever goes in"),
    (lambda y: torch.cat([start(y), y[:, :-1]], 0), "RuntimeError.*torch.cat"),
    (lambda y: (shifted_in_place(y), y), "a tuple of 2"),
    (lambda y: "1", "type str"),
    (lambda y: shifted_in_place(y) * padding_mask(y)[:, 0], "package wheretolook"),
    (lambda target, inputs: inputs, r"should take \(target\)"),
]
PARTLY_SHIFT = [
    (lambda y: torch.cat([torch.ones(len(y), 1), y[:, :-1]], 1), "int64 goes in, and float32"),
    (lambda y: shifted_in_place(y).tolist(), "a list of 4"),
    (lambda y: shifted_in_place(y).numpy(), "NumPy"),
    (in_the_input, r"changes its input \(target\)"),
    (lambda y: torch.cat([torch.tensor([[1]]), y[:1, :-1]], 1), "several sentences: .*shape"),
    (lambda y: torch.cat([torch.ones(4, 1).long(), y[:4, :-1]], 1), "one sentence.*RuntimeError"),
]


# --- 2: one vector for a sentence -------------------------------------------------------------


def context_by_loops(states, attn_mask):
    out = []
    for sentence, real in zip(states, attn_mask, strict=True):
        words = [state for state, r in zip(sentence, real.tolist(), strict=True) if r]
        out.append(sum(words) / len(words))
    return torch.stack(out)


def context_by_einops(states, attn_mask):
    real = attn_mask.to(states.dtype)
    return einsum(states, real, "b s d, b s -> b d") / reduce(real, "b s -> b 1", "sum")


def context_by_nan(states, attn_mask):
    return states.masked_fill(~attn_mask.unsqueeze(-1), math.nan).nanmean(1)


def masked(states, attn_mask):
    return states * attn_mask.unsqueeze(-1)


def one_too_few(states, attn_mask):
    """Take the first False for the length: wrong where there is none."""
    n = attn_mask.int().argmin(1)
    return torch.stack([s[:k].sum(0) / max(k, 1) for s, k in zip(states, n.tolist(), strict=True)])


RIGHT_CONTEXT = [
    context_by_loops,
    context_by_einops,
    context_by_nan,
    lambda h, m: masked(h, m).sum(1) / m.sum(1, keepdim=True),
    lambda h, m: torch.stack([one[keep].mean(0) for one, keep in zip(h, m, strict=True)]),
    lambda h, m: (m[:, None].to(h) @ h).squeeze(1) / m.sum(-1)[:, None],
    lambda h, m: h.where(m[..., None], 0).sum(-2).div(torch.count_nonzero(m, -1)[..., None]),
    lambda h, m: (F.normalize(m.to(h), p=1, dim=1).unsqueeze(2) * h).sum(1),
    lambda h, m: (h * h.new_zeros(m.shape).masked_fill(~m, -torch.inf).softmax(1)[..., None]).sum(
        1
    ),
]
WRONG_CONTEXT = [
    (lambda h, m: h.mean(1), "counted as words"),
    (lambda h, m: masked(h, m).mean(1), "still counted"),
    (lambda h, m: masked(h, m).sum(1) / h.shape[1], "still counted"),
    (lambda h, m: h.sum(1) / m.sum(1, keepdim=True), "the sum is not"),
    (lambda h, m: masked(h, m).sum(1), "This is a sum"),
    (lambda h, m: h.sum(1), "padding included"),
    (lambda h, m: masked(h, ~m).sum(1) / (~m).sum(1, keepdim=True), "mean of the padding"),
    (lambda h, m: masked(h, m).sum(1) / (~m).sum(1, keepdim=True), "number of pads"),
    (lambda h, m: h.mean(-1), "over the features"),
    (lambda h, m: masked(h, m).mean(2), "over the features"),
    (lambda h, m: h.mean(0), "over the batch"),
    (lambda h, m: h[m].mean(0), "one mean"),
    (lambda h, m: h[:, -1], "last place"),
    (lambda h, m: h[torch.arange(len(h)), m.sum(1) - 1], "last word alone"),
    (lambda h, m: h[:, 0], "first word alone"),
    (lambda h, m: h.max(1).values, "largest value"),
    (lambda h, m: h.masked_fill(~m[:, :, None], -1e9).amax(1), "largest value"),
    (masked, "a vector of its own"),
    (lambda h, m: (h * m[:, None]).sum(1) / m.sum(1)[:, None], "lies along the features"),
    (lambda h, m: (h * m).sum(1) / m.sum(1, keepdim=True), r"last two axes .*\(S, D\)"),
    (lambda h, m: (h * m).sum(1) / m.sum(-1), r"last two axes .*\(S, D\)"),
    (lambda h, m: (h * m).mean(1), r"last two axes .*\(S, D\)"),
    (lambda h, m: torch.sum(h * m, 1), r"last two axes .*\(S, D\)"),
    (lambda h, m: h[m].mean(), "An axis is lost|one mean"),
    (lambda h, m: h[m], "shape"),
    (lambda h, m: masked(h, m).sum(1, keepdim=True) / m.sum(1)[:, None, None], r"\(B, D\) = "),
    (lambda h, m: (h * m[:, None]).sum(0) / m.sum(), "without a batch axis only"),
    (lambda h, m: (h @ m.float()).mean(1), "RuntimeError"),
    (lambda h, m: torch.zeros(len(h), h.shape[2]), "whatever goes in"),
    (lambda h, m: h * math.nan, "shape|NaN"),
    (lambda h, m: masked(h, padding_mask(m.int())[:, 0]).mean(1), "package wheretolook"),
    (
        lambda h, m: pack_padded_sequence(h, m.sum(1), True, False),
        "PackedSequence|a tuple of 4|of 4",
    ),
]
PARTLY_CONTEXT = [
    (lambda h, m: masked(h, m).sum(1) / m.sum(), "One number divides all"),
    (lambda h, m: masked(h, m).sum(1) / m[0].sum(), "first sentence are counted for all"),
    (lambda h, m: masked(h, m[:1]).sum(1) / m[0].sum(), "mask of the first sentence"),
    (lambda h, m: h[m].mean(0).repeat(len(h), 1), "one mean"),
    (lambda h, m: masked(h, m).sum(1) / m.sum(1), "numbers of words lie along"),
    (lambda h, m: masked(h, m).sum(-2) / m.sum(-1), "numbers of words lie along"),
    (one_too_few, "without padding among others: "),
    (lambda h, m: (masked(h, m).sum(1) / m.sum(1, keepdim=True)).float(), "and float32 comes out"),
    (lambda h, m: masked(h, m.float()).sum(1) / m.sum(1).double()[:, None], "float64 comes out"),
    (lambda h, m: context_by_einops(h.detach(), m), "do not reach states"),
    (lambda h, m: torch.tensor(context_by_einops(h, m).tolist()), "and float32 comes out"),
    (
        lambda h, m: h.masked_fill_(~m[..., None], 0).sum(1) / m.sum(1, keepdim=True),
        r"changes its input \(states\)|gradients",
    ),
]


# --- 3: the loss of a sentence ----------------------------------------------------------------


def loss_by_loops(logits, target):
    losses = []
    for sentence, words in zip(logits, target, strict=True):
        for scores, word in zip(sentence, words, strict=True):
            if word != 0:
                losses.append(-torch.log(scores.exp()[word] / scores.exp().sum()))
    return sum(losses) / len(losses)


def loss_by_hand(logits, target):
    log_p = F.log_softmax(logits, dim=2).gather(2, target.unsqueeze(2)).squeeze(2)
    real = target != 0
    return -(log_p * real).sum() / real.sum()


def loss_by_one_hot(logits, target):
    wanted = F.one_hot(target, logits.shape[-1]).to(logits)
    wanted[..., 0] = 0
    return -einsum(wanted, logits.log_softmax(-1), "b l v, b l v ->") / wanted.sum()


def ce(logits, target, **how):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), **how)


def nll(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target, reduction="none")


def mean(values, target):
    return values[target > 0].mean()


RIGHT_LOSS = [
    loss_by_loops,
    loss_by_hand,
    loss_by_one_hot,
    lambda x, y: ce(x, y, ignore_index=0),
    lambda x, y: F.cross_entropy(x.mT, y, ignore_index=0),
    lambda x, y: F.cross_entropy(x[y != 0], y[y != 0]),
    lambda x, y: torch.nn.CrossEntropyLoss(ignore_index=0)(x.permute(0, 2, 1), y),
    lambda x, y: F.nll_loss(x.log_softmax(-1).flatten(0, 1), y.flatten(), ignore_index=0),
    lambda x, y: mean(nll(x, y), y),
    lambda x, y: mean(x.logsumexp(-1) - x.take_along_dim(y[..., None], -1)[..., 0], y),
    lambda x, y: -(Categorical(logits=x).log_prob(y) * y.bool()).sum() / y.count_nonzero(),
    lambda x, y: ce(x.log_softmax(-1), y, ignore_index=0),
    lambda x, y: sum(a @ (b > 0).to(a) for a, b in zip(nll(x, y), y, strict=True)) / (y > 0).sum(),
]
WRONG_LOSS = [
    (lambda x, y: ce(x, y), "counted as words"),
    (lambda x, y: ce(x, y).item(), "counted as words"),
    (lambda x, y: (nll(x, y) * (y != 0)).mean(), "still counted"),
    (lambda x, y: ce(x, y, ignore_index=0, reduction="sum"), "This is a sum"),
    (lambda x, y: ce(x, y, reduction="sum"), "padding included"),
    (lambda x, y: ce(x, y, ignore_index=0, reduction="sum") / len(x), "number of sentences"),
    (lambda x, y: ce(x, y, ignore_index=0, reduction="sum") / y.shape[1], "by the length L"),
    (lambda x, y: nll(x, y)[y == 0].mean(), "padding alone"),
    (lambda x, y: nll(x, y)[y > 2].mean(), "The end is left out"),
    (lambda x, y: mean(-x.log_softmax(1).gather(2, y[..., None])[..., 0], y), "among the L places"),
    (lambda x, y: mean(-x.log_softmax(0).gather(2, y[..., None])[..., 0], y), "sentences of the"),
    (lambda x, y: F.cross_entropy(x, y, ignore_index=0), "on the second axis"),
    (lambda x, y: F.cross_entropy(x, y), "on the second axis"),
    (
        lambda x, y: F.cross_entropy(x.view(len(x), x.shape[2], -1), y, ignore_index=0),
        "reshaped where",
    ),
    (lambda x, y: ce(x.softmax(-1), y, ignore_index=0), "twice"),
    (lambda x, y: F.nll_loss(x.flatten(0, 1), y.flatten(), ignore_index=0), "softmax is missing"),
    (lambda x, y: F.nll_loss(x.softmax(-1).mT, y, ignore_index=0), "no logarithm"),
    (lambda x, y: mean((-nll(x, y)).exp(), y), "no logarithm"),
    (lambda x, y: -mean((-nll(x, y)).exp(), y).log(), "comes too late"),
    (lambda x, y: -ce(x, y, ignore_index=0), "minus sign"),
    (lambda x, y: ce(x, y, ignore_index=0) / np.log(2), "base 2"),
    (lambda x, y: ce(x, y, ignore_index=0).exp(), "perplexity"),
    (lambda x, y: ce(x[:, :-1], y[:, 1:], ignore_index=0), "shifted against each other"),
    (lambda x, y: mean((x.argmax(-1) == y).float(), y), "can be trained"),
    (nll, "loss for each word"),
    (lambda x, y: F.cross_entropy(x.mT, y, ignore_index=0, reduction="none"), "for each word"),
    (lambda x, y: (nll(x, y) * (y > 0)).sum(1) / (y > 0).sum(1), "loss for each sentence"),
    (lambda x, y: F.cross_entropy(x.flatten(0, 1), y, ignore_index=0), "RuntimeError|ValueError"),
    (lambda x, y: torch.tensor(2.3), "whatever goes in"),
    (lambda x, y: ce(x, y, ignore_index=0) * math.nan, "NaN"),
    (lambda x, y: ce(x, y, ignore_index=0) + 1, "The number is not right"),
    (lambda x, y: ce(x, y, ignore_index=0) + y[0, 0].lt(5), "The number is not right"),
    (lambda x, y: nll(x, y)[y > 0], "a single number"),
    (lambda x, y: mean(nll(x, y), padding_mask(y)[:, 0]), "package wheretolook"),
    (torch.nn.CrossEntropyLoss, "This is a class"),
    (loss_by_hand(torch.zeros(1, 2, 3), torch.ones(1, 2).long()), "Hand over the function itself"),
]
PARTLY_LOSS = [
    (lambda x, y: sum(mean(nll(x[[i]], y[[i]]), y[[i]]) for i in range(len(x))) / len(x), "short"),
    (lambda x, y: ce(x[:1], y[:1], ignore_index=0), "loss of the first sentence"),
    (lambda x, y: ce(x, y, ignore_index=0).item(), "do not reach logits"),
    (lambda x, y: ce(x, y, ignore_index=0).item(), "Stay with torch"),
    (lambda x, y: ce(x, y, ignore_index=0).detach(), "do not reach logits"),
    (lambda x, y: ce(x.float(), y, ignore_index=0), "and float32 comes out"),
    (lambda x, y: loss_by_hand(x.sub_(x.mean()), y), r"changes its input \(logits\)|gradients"),
]


# --- the bench --------------------------------------------------------------------------------

TestBench = bench(
    {
        check.shifted_target: Answers(RIGHT_SHIFT, WRONG_SHIFT, PARTLY_SHIFT),
        check.pooled_context: Answers(RIGHT_CONTEXT, WRONG_CONTEXT, PARTLY_CONTEXT),
        check.sequence_loss: Answers(RIGHT_LOSS, WRONG_LOSS, PARTLY_LOSS),
    }
)


# --- the inputs and the solutions -------------------------------------------------------------


def test_sentences_are_as_the_chapter_has_them():
    for case, seed in itertools.product(chapter._SHIFTED_TARGET.cases, range(20)):
        target = chapter._SHIFTED_TARGET.draw(case, seed)["target"]
        lengths = (target != 0).sum(1)
        assert target.dtype == torch.int64 and not (target == 1).any()
        for sentence, n in zip(target, lengths, strict=True):
            assert (sentence[: n - 1] > 2).all() and sentence[n - 1] == 2
            assert not sentence[n:].any()
        if len(target) > 1:
            assert lengths.max() == target.shape[1] > lengths.min(), "padded to the longest"


def test_a_decoder_reads_each_word_one_step_after_it_was_due():
    target = torch.tensor([[7, 5, 2], [8, 2, 0]])
    assert chapter._shifted(target).tolist() == [[1, 7, 5], [1, 8, 2]]


def test_the_context_does_not_depend_on_the_padding():
    inputs = chapter._POOLED_CONTEXT.draw(chapter.FULL, 0)
    states, attn_mask = inputs.values()
    assert attn_mask.all(1).sum() == 1
    changed = states.where(attn_mask[..., None], 100.0)
    torch.testing.assert_close(
        chapter._pooled(changed, attn_mask), chapter._pooled(*inputs.values())
    )


def test_the_loss_is_that_of_torch():
    for seed in range(5):
        logits, target = chapter._SEQUENCE_LOSS.draw(chapter.EQUAL, seed).values()
        torch.testing.assert_close(
            chapter._loss(logits, target), F.cross_entropy(logits.mT, target, ignore_index=0)
        )

"""What readers of chapter 8 answer, and what its checkers must say to it."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from bench import Answers, bench
from einops import einsum
from torch import nn

from wheretolook import check
from wheretolook.attention import attention_weights
from wheretolook.check import ch08_transformer as chapter
from wheretolook.norms import layer_norm

# --- 1: the feed-forward layer ----------------------------------------------------------------


def forward_by_loops(x, first, second):
    out = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            hidden = x[b, i] @ first
            hidden = torch.where(hidden > 0, hidden, torch.zeros_like(hidden))
            out[b, i] = hidden @ second
    return out


class Forward(nn.Module):
    def forward(self, x, first, second):
        return F.linear(nn.ReLU()(F.linear(x, first.T)), second.T)


RIGHT_FORWARD = [
    forward_by_loops,
    Forward(),
    lambda x, a, b: torch.relu(x @ a) @ b,
    lambda x, a, b: F.relu(torch.matmul(x, a)).matmul(b),
    lambda x, a, b: (x @ a).clamp(min=0) @ b,
    lambda x, a, b: torch.maximum(x @ a, torch.zeros(1, dtype=x.dtype)) @ b,
    lambda x, a, b: einsum(einsum(x, a, "b l d, d f -> b l f").relu(), b, "b l f, f d -> b l d"),
]
WRONG_FORWARD = [
    (lambda x, a, b: x @ a @ b, "no ReLU"),
    (lambda x, a, b: F.relu(x @ a @ b), "stands at the end"),
    (lambda x, a, b: F.relu(F.relu(x @ a) @ b), "second ReLU"),
    (lambda x, a, b: F.relu(x) @ a @ b, "before the first"),
    (lambda x, a, b: x + F.relu(x @ a) @ b, "x is added"),
    (lambda x, a, b: (F.relu(x @ a) @ b).mean(1), "averaged into one"),
    (lambda x, a, b: F.relu(x @ a), "between the layers, F"),
    (lambda x, a, b: torch.tanh(x @ a) @ b, "another one"),
    (lambda x, a, b: F.gelu(x @ a) @ b, "another one"),
    (lambda x, a, b: (x @ a).softmax(-1) @ b, "softmax between"),
    (lambda x, a, b: F.relu(x @ b.T) @ a.T, "changed places"),
    (lambda x, a, b: F.relu(x @ a.T) @ b.T, "RuntimeError"),
    (lambda x, a, b: torch.ones_like(x), "whatever goes in"),
    (lambda x, a: x @ a, r"should take \(x, first, second\)"),
    (lambda x, a, b: layer_norm(x, x.shape[-1]) @ a @ b, "package wheretolook"),
]
PARTLY_FORWARD = [
    (lambda x, a, b: (F.relu(x @ a) @ b).float(), "float64 goes in, and float32"),
    (lambda x, a, b: (F.relu(x @ a) @ b).detach(), "do not reach"),
    (lambda x, a, b: (F.relu(x @ a) @ b).squeeze(), "axis is lost"),
]


# --- 2: a part in its frame -------------------------------------------------------------------


def norm_by_hand(x):
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    variance = ((x - mean) ** 2).sum(-1, keepdim=True) / x.shape[-1]
    return (x - mean) / torch.sqrt(variance + 1e-5)


def frame_by_loops(x, weight):
    rows = [[t + norm_by_hand(t) @ weight for t in sentence] for sentence in x]
    return torch.stack([torch.stack(row) for row in rows])


class Frame(nn.Module):
    def forward(self, x, weight):
        return x + F.linear(nn.LayerNorm(x.shape[-1], elementwise_affine=False)(x), weight.T)


def ln(x):
    return F.layer_norm(x, x.shape[-1:])


RIGHT_FRAME = [
    frame_by_loops,
    Frame(),
    lambda x, w: x + ln(x) @ w,
    lambda x, w: norm_by_hand(x) @ w + x,
    lambda x, w: torch.add(x, torch.einsum("bld,de->ble", ln(x), w)),
    lambda x, w: x + ((x - x.mean(-1, True)) / (x.var(-1, False, True) + 1e-5).sqrt()) @ w,
]
WRONG_FRAME = [
    (lambda x, w: ln(x + x @ w), "post-norm"),
    (lambda x, w: x + ln(x @ w), "behind the part"),
    (lambda x, w: ln(x) @ w, "not added"),
    (lambda x, w: ln(x) + ln(x) @ w, "normalised.* tokens are added"),
    (lambda x, w: x + x @ w, "no norm at all"),
    (lambda x, w: ln(x + ln(x) @ w), "two norms"),
    (lambda x, w: ln(x) + x @ w, "wrong path"),
    (lambda x, w: x + ln(x.mT).mT @ w, "over the tokens"),
    (
        lambda x, w: x + (x - x.mean(-1, True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt() @ w,
        "unbiased",
    ),
    (lambda x, w: x + F.normalize(x, dim=-1) @ w, "by its length"),
    (lambda x, w: x + ln(x) @ w.T, "transposed"),
    (lambda x, w: x * (ln(x) @ w), "multiplied"),
    (lambda x, w: x - ln(x) @ w, "taken away"),
    (lambda x, w: x + layer_norm(x, x.shape[-1]) @ w, "package wheretolook"),
    (lambda x, w: torch.zeros_like(x), "whatever goes in"),
]
PARTLY_FRAME = [
    (lambda x, w: (x + ln(x) @ w).float(), "float64 goes in"),
    (lambda x, w: x + ln(x.detach()) @ w.detach(), "do not reach"),
    (lambda x, w: x.add_(ln(x) @ w), "changes its input"),
]


# --- 3: who asks whom -------------------------------------------------------------------------


def cross_by_loops(words, source, attn_mask):
    out = words.new_zeros(len(words), words.shape[1], source.shape[1])
    for b, real in enumerate(attn_mask):
        keys = source[b][real]
        for i, query in enumerate(words[b]):
            out[b, i, real] = (keys @ query / math.sqrt(len(query))).softmax(0)
    return out


def crossed(words, source):
    return words @ source.mT / words.shape[-1] ** 0.5


RIGHT_CROSS = [
    cross_by_loops,
    lambda q, k, m: crossed(q, k).masked_fill(~m[:, None], -torch.inf).softmax(-1),
    lambda q, k, m: F.softmax(torch.where(m.unsqueeze(1), crossed(q, k), -torch.inf), -1),
    lambda q, k, m: (
        crossed(q, k) + torch.zeros(m.shape, dtype=q.dtype).masked_fill(~m, -math.inf)[:, None]
    ).softmax(-1),
    lambda q, k, m: F.normalize(crossed(q, k).exp() * m[:, None], p=1, dim=-1),
    lambda q, k, m: F.scaled_dot_product_attention(
        q, k, torch.eye(k.shape[1], dtype=q.dtype).expand(len(q), -1, -1), m[:, None]
    ),
]
WRONG_CROSS = [
    (lambda q, k, m: crossed(q, k).softmax(-1), "mask is not used"),
    (lambda q, k, m: crossed(q, k).masked_fill(m[:, None], -torch.inf).softmax(-1), "around"),
    (lambda q, k, m: (q @ k.mT).masked_fill(~m[:, None], -torch.inf).softmax(-1), "scale is"),
    (
        lambda q, k, m: (q @ k.mT / q.shape[-1]).masked_fill(~m[:, None], -torch.inf).softmax(-1),
        "divided by E",
    ),
    (lambda q, k, m: crossed(k, q).softmax(-1), "Source asks"),
    (
        lambda q, k, m: crossed(q, k).masked_fill(~m[:, None], -torch.inf).softmax(-1).mT,
        "turned: rows",
    ),
    (lambda q, k, m: crossed(q, k).softmax(-1) * m[:, None], "comes after softmax"),
    (lambda q, k, m: crossed(q, k).masked_fill(~m[:, None], 0).softmax(-1), "is not nothing"),
    (
        lambda q, k, m: (
            crossed(q, k)
            .masked_fill(
                ~(m[:, None] & torch.ones(q.shape[1], k.shape[1]).tril().bool()), -torch.inf
            )
            .softmax(-1)
        ),
        "causal mask as well",
    ),
    (
        lambda q, k, m: (
            crossed(q, k)
            .masked_fill(torch.ones(q.shape[1], k.shape[1]).tril() == 0, -torch.inf)
            .softmax(-1)
        ),
        "This is a causal mask",
    ),
    (lambda q, k, m: crossed(q, k).masked_fill(~m[:, None], -torch.inf), "These are the scores"),
    (lambda q, k, m: crossed(q, q).softmax(-1), "look at themselves"),
    (lambda q, k, m: crossed(k, k).softmax(-1), "looks at itself"),
    (lambda q, k, m: attention_weights(crossed(q, k), m[:, None]), "package wheretolook"),
]
PARTLY_CROSS = [
    (
        lambda q, k, m: crossed(q, k).masked_fill(~m, -torch.inf).softmax(-1),
        "without a batch axis only",
    ),
    (
        lambda q, k, m: crossed(q, k).masked_fill(~m[:1, None], -torch.inf).softmax(-1),
        "a batch of sentences",
    ),
    (
        lambda q, k, m: crossed(q, k).masked_fill(~m[:, None], -torch.inf).softmax(-1).float(),
        "float64 goes in",
    ),
    (
        lambda q, k, m: crossed(q, k.detach()).masked_fill(~m[:, None], -torch.inf).softmax(-1),
        "do not reach source",
    ),
]


# --- 4: the greedy step -----------------------------------------------------------------------


def step_by_loops(logits, ended):
    out = []
    for scores, done in zip(logits, ended, strict=True):
        out.append(0 if done else int(scores[-1].argmax()))
    return torch.tensor(out)


RIGHT_STEP = [
    step_by_loops,
    lambda x, ended: x[:, -1].argmax(-1).masked_fill(ended, 0),
    lambda x, ended: torch.where(ended, 0, x[:, -1, :].argmax(dim=-1)),
    lambda x, ended: x[:, -1].softmax(-1).max(-1).indices * ~ended,
    lambda x, ended: x.argmax(-1)[:, -1] * (1 - ended.long()),
    lambda x, ended: torch.topk(x[:, -1], 1).indices.squeeze(1).where(~ended, 0),
]
WRONG_STEP = [
    (lambda x, ended: x[:, -1].argmax(-1), "go on"),
    (lambda x, ended: x[:, -1].argmax(-1).masked_fill(ended, 2), "another end token"),
    (lambda x, ended: x[:, -1].argmax(-1).masked_fill(ended, 1), "start token"),
    (lambda x, ended: x[:, -1].argmax(-1) * ended, "the other way"),
    (lambda x, ended: x[:, 0].argmax(-1) * ~ended, "first word again"),
    (lambda x, ended: x[:, -2].argmax(-1) * ~ended, "the word before"),
    (lambda x, ended: x.mean(1).argmax(-1) * ~ended, "averaged"),
    (lambda x, ended: x.argmax(-1), "all L places"),
    (lambda x, ended: x[:, -1].max(-1).values * ~ended, "highest score itself"),
    (lambda x, ended: x[:, -1].argmin(-1) * ~ended, "lowest"),
    (lambda x, ended: x[:, -1, 1:].argmax(-1) * ~ended, "one too low"),
    (lambda x, ended: torch.zeros(len(x)).long(), "whatever goes in"),
    (lambda x, ended: x[-1].argmax(-1) * ~ended, "RuntimeError|without a batch|not right"),
    (lambda x: x, r"should take \(logits, ended\)"),
]
PARTLY_STEP = [
    (lambda x, ended: (x[:, -1].argmax(-1) * ~ended).float(), "come out as float32"),
    (lambda x, ended: (x[:, -1].argmax(-1) * ~ended).tolist(), "come out as list"),
    (lambda x, ended: np.array(x[:, -1].argmax(-1) * ~ended), "come out as ndarray"),
]


TestBench = bench(
    {
        check.feed_forward: Answers(RIGHT_FORWARD, WRONG_FORWARD, PARTLY_FORWARD),
        check.pre_norm: Answers(RIGHT_FRAME, WRONG_FRAME, PARTLY_FRAME),
        check.cross_weights: Answers(RIGHT_CROSS, WRONG_CROSS, PARTLY_CROSS),
        check.next_words: Answers(RIGHT_STEP, WRONG_STEP, PARTLY_STEP),
    }
)


# --- the inputs and the solutions -------------------------------------------------------------


def test_the_norm_is_torchs():
    x = torch.randn(3, 5, 7)
    torch.testing.assert_close(chapter._norm(x), F.layer_norm(x, (7,)))


def test_the_source_is_padded_in_every_trial_and_never_empty():
    for seed in range(20):
        mask = chapter._CROSS_WEIGHTS.draw(chapter._MANY, seed)["attn_mask"]
        assert mask[:, :2].all() and not mask[:, -1].any()


def test_a_greedy_step_is_that_of_the_package():
    torch.manual_seed(0)
    logits, ended = torch.randn(4, 3, 6), torch.tensor([True, False, False, True])
    got = chapter._next_words(logits, ended)
    assert got.tolist() == [0, int(logits[1, 2].argmax()), int(logits[2, 2].argmax()), 0]

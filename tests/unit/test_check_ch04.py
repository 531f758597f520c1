"""What readers of chapter 4 answer, and what its checkers must say to it."""

import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F
from bench import Answers, bench
from einops import einsum, rearrange
from torch import nn

from wheretolook import check
from wheretolook.attention import Additive, SelfAttention, attend
from wheretolook.check import ch04_self_attention as chapter


def lines(source):
    """Define the last function of some lines: for what a lambda can't say."""
    space = {"torch": torch, "math": math, "F": F, "np": np, "nn": nn, "attend": attend}
    exec(source, space)
    return [x for x in space.values() if callable(x)][-1]


# --- 1: attention weights ---------------------------------------------------------------------


def weights_by_loops(query, key):
    flat_q, flat_k = query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:])
    out = query.new_zeros(flat_q.shape[0], query.shape[-2], key.shape[-2])
    for b in range(len(flat_q)):
        for i in range(query.shape[-2]):
            scores = torch.stack([flat_q[b, i] @ k for k in flat_k[b]])
            out[b, i] = F.softmax(scores / math.sqrt(query.shape[-1]), dim=0)
    return out.reshape(*query.shape[:-1], key.shape[-2])


def weights_by_hand(query, key):
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / query.size(-1) ** 0.5
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


class Weights(nn.Module):
    def forward(self, query, key):
        return nn.Softmax(-1)(torch.matmul(query, key.transpose(-2, -1)) / np.sqrt(query.shape[-1]))


def scaled(query, key):
    return query @ key.mT / query.shape[-1] ** 0.5


RIGHT_WEIGHTS = [
    weights_by_loops,
    weights_by_hand,
    Weights(),
    Weights().forward,
    lambda q, k: torch.einsum("...le,...se->...ls", q / q.shape[-1] ** 0.5, k).softmax(-1),
    lambda q, k: F.softmax(einsum(q, k, "... l e, ... s e -> ... l s") * q.shape[-1] ** -0.5, -1),
    lambda q, k: (
        q @ rearrange(k, "... s e -> ... e s") / torch.tensor(q.shape[-1]).sqrt()
    ).softmax(-1),
    lambda q, k: F.scaled_dot_product_attention(
        q, k, torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], k.shape[-2])
    ),
    lambda query, key, scale=None: scaled(query, key).softmax(-1),
    lambda *both: scaled(*both).softmax(-1),
]

WRONG_WEIGHTS = [
    (lambda q, k: (q @ k.T / q.shape[-1] ** 0.5).softmax(-1), "without a batch axis only"),
    (lambda q, k: (q @ k.transpose(0, 1) / q.shape[-1] ** 0.5).softmax(-1), "count axes from"),
    (lambda q, k: (q @ k.T).softmax(-1), "The scale is missing"),
    (
        lambda q, k: (q @ k.view(len(k), k.shape[2], -1) / q.shape[-1] ** 0.5).softmax(-1),
        "reshaped",
    ),
    (
        lambda q, k: (
            scaled(q, k)
            .where(torch.ones(q.shape[-2], k.shape[-2]).tril() > 0, -torch.inf)
            .softmax(-1)
        ),
        "causal mask",
    ),
    (lambda q, k: scaled(q, k).softmax(-2), "over the queries"),
    (lambda q, k: F.softmax(scaled(q, k), dim=1), "over the queries"),
    (lambda q, k: F.softmax(scaled(q, k), dim=0), "over the first axis"),
    (
        lambda q, k: F.softmax(scaled(q, k).reshape(len(q), -1), -1).reshape(
            len(q), q.shape[1], -1
        ),
        "whole table",
    ),
    (lambda q, k: (q @ k.mT).softmax(-1), "The scale is missing"),
    (lambda q, k: (q @ k.mT / q.shape[-1]).softmax(-1), "divided by E"),
    (lambda q, k: (scaled(q, k) / q.shape[-1] ** 0.5).softmax(-1), "scale twice"),
    (lambda q, k: (q @ k.mT * math.sqrt(q.shape[-1])).softmax(-1), "multiplied by √E"),
    (lambda q, k: (q @ k.mT / math.sqrt(q.shape[1])).softmax(-1), "root of a length"),
    (lambda q, k: (q @ k.mT / math.sqrt(k.size(1))).softmax(-1), "root of a length"),
    (lambda q, k: (q @ k.mT / 8).softmax(-1), "fixed number"),
    (lambda q, k: (q @ k.mT).softmax(-1) / q.shape[-1] ** 0.5, "after the softmax"),
    (lambda q, k: (q @ k.mT).softmax(-1) / 7, "rows do not sum to 1"),
    (lambda q, k: scaled(q, k), "These are the scores. Softmax"),
    (lambda q, k: q @ k.mT, "not yet scaled"),
    (lambda q, k: scaled(k, q).softmax(-1), "changed places"),
    (lambda q, k: scaled(q, k).softmax(-1).mT, "turned"),
    (lambda q, k: scaled(q, k).softmax(-1) @ k, "one step too far"),
    (lambda q, k: F.scaled_dot_product_attention(q, k, k), "one step too far"),
    (lambda q, k: scaled(q, k) / scaled(q, k).sum(-1, keepdim=True), "no exp"),
    (lambda q, k: scaled(q, k).exp(), "not divided by their sums"),
    (lambda q, k: scaled(q, k).sigmoid(), "sigmoid"),
    (lambda q, k: scaled(q, k).log_softmax(-1), "logarithms"),
    (lambda q, k: F.softmin(scaled(q, k), -1), "sign"),
    (lambda q, k: (F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT).softmax(-1), "cosine"),
    (lambda q, k: torch.full((*q.shape[:-1], k.shape[-2]), 1 / k.shape[-2]), "whatever goes in"),
    (lambda q, k: torch.tensor([[0.9, 0.1], [0.2, 0.8]]), "whatever goes in"),
    (lambda q, k: [[0.9, 0.1], [0.2, 0.8]], "whatever goes in"),
    (lambda q, k: (q @ k).softmax(-1), r"RuntimeError.*line \d+.*\(q @ k\)"),
    (lambda q, k: scaled(q, k).softmax(-1)[0], "An axis is lost"),
    (lambda q, k: (scaled(q, k).softmax(-1), scaled(q, k)), "a tuple of 2"),
    (lambda q, k: "0.5", "an object of type str"),
    (lambda q, k: scaled(q, k).softmax(-1).fill_(math.nan), "NaN"),
    (lambda q: q, r"should take \(query, key\), in this order; it takes \(q\)"),
    (Weights, "This is a class"),
    (torch.zeros(2, 3), "This is a tensor. Hand over the function itself"),
    (3, "Hand over the function itself"),
    (attend, "calls a function of the package|should take"),
    (lambda q, k: attend(q, k, k).weights, "calls a function of the package"),
    (SelfAttention, "This is a class"),
    (lambda q, k: 1 / 0, "ZeroDivisionError.*division by zero"),
    (lambda q, k: exit(), "SystemExit"),
    (lambda q, k: (_ for _ in ()).throw(KeyboardInterrupt), "interrupted"),
]

# Wrong in one respect only: some of the points, and the reason for the rest.
PARTLY_WEIGHTS = [
    (lambda q, k: scaled(q, k).softmax(-1).squeeze(), "An axis is lost"),
    (
        lambda q, k: torch.einsum("ble,bse->bls", q, k).div(q.shape[-1] ** 0.5).softmax(-1),
        "no batch axis.*RuntimeError",
    ),
    (
        lambda q, k: (torch.bmm(q, k.transpose(1, 2)) / q.shape[-1] ** 0.5).softmax(-1),
        "several leading axes.*RuntimeError",
    ),
    (lambda q, k: (q @ k[:1].mT / q.shape[-1] ** 0.5).softmax(-1), "Only the first sequence"),
    (lambda q, k: (q @ k.mT / 3**0.5).softmax(-1), "a batch.*values are not"),
    (lambda q, k: scaled(q, k).softmax(-1).numpy(), "a NumPy array|gradients"),
    (lambda q, k: scaled(q, k).softmax(-1).tolist(), "a list of 3"),
    (lambda q, k: scaled(q, k).softmax(-1).float(), "float64 goes in, and float32 comes out"),
    (lambda q, k: scaled(q, k).softmax(-1).double(), "float32 goes in, and float64 comes out"),
    (lambda q, k: scaled(q, k.detach()).softmax(-1), "do not reach key"),
    (lambda q, k: scaled(q, k).softmax(-1).detach(), "do not reach query, key"),
    (
        lines(
            "def f(query, key):\n    with torch.no_grad():\n"
            "        return (query @ key.mT / query.shape[-1] ** .5).softmax(-1)"
        ),
        "do not reach query, key",
    ),
    (
        lines(
            "def f(query, key):\n    query /= query.shape[-1] ** .5\n"
            "    return (query @ key.mT).softmax(-1)"
        ),
        r"changes its input \(query\)",
    ),
    (
        lambda q, k: (q @ k.mul_(1 / k.shape[-1] ** 0.5).mT).softmax(-1),
        r"changes its input \(key\)",
    ),
]


# --- 2: self-attention ------------------------------------------------------------------------


def softmax_of(q, k, scale=None):
    return ((q @ k.mT) * (q.shape[-1] ** -0.5 if scale is None else scale)).softmax(-1)


def attention_by_loops(x, w_query, w_key, w_value):
    out = []
    for tokens in x:
        q, k, v = tokens @ w_query, tokens @ w_key, tokens @ w_value
        rows = []
        for i in range(len(tokens)):
            weights = torch.softmax((k * q[i]).sum(1) / len(q[i]) ** 0.5, 0)
            rows.append(sum(w * one for w, one in zip(weights, v, strict=True)))
        out.append(torch.stack(rows))
    return torch.stack(out)


def attention_by_bmm(x, w_query, w_key, w_value):
    q, k, v = (torch.einsum("bld,de->ble", x, w) for w in (w_query, w_key, w_value))
    return torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) / q.size(2) ** 0.5, 2), v)


class Layer(nn.Module):
    def forward(self, x, wq, wk, wv):
        return F.scaled_dot_product_attention(x @ wq, F.linear(x, wk.T), torch.matmul(x, wv))


RIGHT_ATTENTION = [
    attention_by_loops,
    attention_by_bmm,
    Layer(),
    lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk) @ x @ wv,
    lambda x, wq, wk, wv: softmax_of(x @ (wq @ wk.T), x, wq.shape[1] ** -0.5) @ (x @ wv),
    lambda x, wq, wk, wv: einsum(softmax_of(x @ wq, x @ wk), x, wv, "b i j, b j d, d e -> b i e"),
    lambda x, wq, wk, wv: (
        softmax_of(torch.tensordot(x, wq, 1), torch.tensordot(x, wk, 1)).unsqueeze(-1)
        * (x @ wv).unsqueeze(1)
    ).sum(2),
]

WRONG_ATTENTION = [
    (
        lambda x, wq, wk, wv: F.scaled_dot_product_attention(
            x @ wq, x @ wk, x @ wv, is_causal=True
        ),
        "causal mask",
    ),
    (
        lambda x, wq, wk, wv: F.scaled_dot_product_attention(x @ wq, x @ wk, x @ wv, scale=1.0),
        "The scale is missing",
    ),
    (
        lambda x, wq, wk, wv: (x @ wq @ (x @ wk).T / wq.shape[1] ** 0.5).softmax(-1) @ x @ wv,
        "without a batch axis only",
    ),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk, 1) @ x @ wv, "The scale is missing"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk, 1 / wq.shape[1]) @ x @ wv, "divided by E"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk, wq.shape[1] ** 0.5) @ x @ wv, "multiplied"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk, x.shape[-1] ** -0.5) @ x @ wv, "√D"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk, x.shape[1] ** -0.5) @ x @ wv, "a length"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk, wv.shape[1] ** -0.5) @ x @ wv, "Ev"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk, 1 / 8) @ x @ wv, "fixed number"),
    (
        lambda x, wq, wk, wv: (x @ wq @ (x @ wk).mT / wq.shape[1] ** 0.5).softmax(1) @ x @ wv,
        "over the queries",
    ),
    (
        lambda x, wq, wk, wv: (x @ wq @ (x @ wk).mT / wq.shape[1] ** 0.5).softmax(0) @ x @ wv,
        "over the first axis",
    ),
    (lambda x, wq, wk, wv: x @ wq @ (x @ wk).mT / wq.shape[1] ** 0.5 @ x @ wv, "no softmax"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk), "These are the weights"),
    (lambda x, wq, wk, wv: x @ wq @ (x @ wk).mT / wq.shape[1] ** 0.5, "These are the scores"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk) @ x, "value is not projected"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk) @ (x @ wk), "sum the keys"),
    (lambda x, wq, wk, wv: softmax_of(x @ wk, x @ wq) @ x @ wv, "changed places"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wq) @ x @ wv, "w_key is unused"),
    (lambda x, wq, wk, wv: softmax_of(x @ wk, x @ wk) @ x @ wv, "w_query is unused"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk).mT @ (x @ wv), "turned before the sum"),
    (lambda x, wq, wk, wv: x @ wv, "no token has looked"),
    (lambda x, wq, wk, wv: softmax_of(wq @ x, wk @ x) @ (wv @ x), "wrong side"),
    (
        lambda x, wq, wk, wv: softmax_of(F.linear(x, wq), F.linear(x, wk)) @ F.linear(x, wv),
        "transposed",
    ),
    (lambda x, wq, wk, wv: softmax_of(x, x @ wk) @ x @ wv, "query is not projected"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x) @ x @ wv, "key is not projected"),
    (lambda x, wq, wk, wv: softmax_of(x, x) @ x @ wv, "and key are not projected|w_query and"),
    (lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk) @ (x @ wv).mT.mT.mT, "RuntimeError"),
    (
        lambda x, wq, wk, wv: (
            torch.softmax(x @ wq @ (x @ wk).mT / wq.shape[1] ** 0.5, -1)
            @ (x @ wv.mT.reshape(wv.shape))
        ),
        "values are not|not right",
    ),
    (lambda x, wq, wk, wv: x.new_zeros(*x.shape[:2], wv.shape[1]), "whatever goes in"),
    (
        lambda x, wq, wk, wv: torch.cat(
            [(softmax_of(x @ wq, x @ wk) @ x @ wv)[:, :4], x[:, 4:, :1] * wv[0]], 1
        ),
        "12 of 21 rows are right",
    ),
    (lambda x, wq, wk, wv: attend(x @ wq, x @ wk, x @ wv).output, "package wheretolook"),
    (lambda x, wq, wk, wv: SelfAttention(x.shape[-1])(x).output, "package wheretolook"),
    (lambda x, wq, wk, wv: (softmax_of(x @ wq, x @ wk) @ x @ wv, None), "a tuple of 2"),
    (SelfAttention(6), r"takes \(|should take"),
]

PARTLY_ATTENTION = [
    (
        lambda x, wq, wk, wv: (softmax_of(x[0] @ wq, x[0] @ wk) @ x[0] @ wv).unsqueeze(0),
        "a batch of sequences: .*shape",
    ),
    (
        lambda x, wq, wk, wv: (
            softmax_of(*(x.flatten(0, 1) @ w for w in (wq, wk))) @ x.flatten(0, 1) @ wv
        ).view(*x.shape[:2], -1),
        "other sequences",
    ),
    (lambda x, wq, wk, wv: softmax_of(x[:1] @ wq, x[:1] @ wk) @ x @ wv, "Only the first sequence"),
    (
        lines(
            "def f(x, wq, wk, wv):\n    out = torch.zeros(*x.shape[:2], wv.shape[1])\n"
            "    for b in range(len(x)):\n"
            "        q, k, v = x[b] @ wq, x[b] @ wk, x[b] @ wv\n"
            "        out[b] = (q @ k.T / q.shape[1] ** .5).softmax(-1) @ v\n"
            "    return out\n"
        ),
        "float64 goes in, and float32 comes out",
    ),
    (
        lambda x, wq, wk, wv: softmax_of(x @ wq, x @ wk).detach() @ x @ wv,
        "reach x, w_query, w_key,",
    ),
    (lambda x, wq, wk, wv: np.asarray(softmax_of(x @ wq, x @ wk) @ x @ wv), "NumPy|gradients"),
    (
        lambda x, wq, wk, wv: softmax_of(x @ wq.div_(wq.shape[1] ** 0.5), x @ wk, 1) @ x @ wv,
        r"changes its input \(w_query\)",
    ),
]


# --- 3: additive scores -----------------------------------------------------------------------


def pairs(q, k):
    return q[..., :, None, :], k[..., None, :, :]


def hidden_of(q, k, wq, wk):
    return (q @ wq).unsqueeze(2) + (k @ wk).unsqueeze(1)


def additive_by_loops(query, key, w_query, w_key, v):
    out = torch.empty(len(query), query.shape[1], key.shape[1], dtype=query.dtype)
    for b, i, j in itertools.product(*map(range, out.shape)):
        out[b, i, j] = v.dot(torch.tanh(query[b, i] @ w_query + key[b, j] @ w_key))
    return out


def additive_by_concatenation(query, key, w_query, w_key, v):
    q, k = torch.broadcast_tensors(*pairs(query, key))
    return torch.cat([q, k], -1).matmul(torch.cat([w_query, w_key])).tanh().matmul(v)


RIGHT_ADDITIVE = [
    additive_by_loops,
    additive_by_concatenation,
    lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh() @ v,
    lambda q, k, wq, wk, v: (hidden_of(q, k, wq, wk).tanh() * v).sum(-1),
    lambda q, k, wq, wk, v: torch.einsum("blse,e->bls", hidden_of(q, k, wq, wk).tanh(), v),
    lambda q, k, wq, wk, v: (
        (rearrange(q @ wq, "b l e -> b l 1 e") + rearrange(k @ wk, "b s e -> b 1 s e")).tanh() @ v
    ),
    lambda q, k, wq, wk, v: F.linear(torch.tanh(hidden_of(q, k, wq, wk)), v[None]).squeeze(-1),
    lambda q, k, wq, wk, v: torch.stack(
        [((q @ wq)[:, [i]] + k @ wk).tanh() @ v for i in range(q.shape[1])], 1
    ),
]

WRONG_ADDITIVE = [
    (lambda q, k, wq, wk, v: (hidden_of(q, k, wq, wk).tanh() @ v).softmax(-1), "These are weights"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk) @ v, "The tanh is missing"),
    (lambda q, k, wq, wk, v: (hidden_of(q, k, wq, wk) @ v).tanh(), "tanh comes too late"),
    (
        lambda q, k, wq, wk, v: ((q @ wq).tanh().unsqueeze(2) + (k @ wk).tanh().unsqueeze(1)) @ v,
        "apart",
    ),
    (
        lambda q, k, wq, wk, v: ((q @ wq).unsqueeze(2) * (k @ wk).unsqueeze(1)).tanh() @ v,
        "additive",
    ),
    (
        lambda q, k, wq, wk, v: ((q @ wq).unsqueeze(2) - (k @ wk).unsqueeze(1)).tanh() @ v,
        "subtract",
    ),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).sigmoid() @ v, "sigmoid"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).relu() @ v, "ReLU"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh().sum(-1), "summed as they are"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh().mean(-1), "averaged"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh() * v, "Sum the last axis"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh(), "the hidden units of every pair"),
    (lambda q, k, wq, wk, v: hidden_of(k, q, wk, wq).tanh() @ v, "changed places"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wk, wq).tanh() @ v, "w_query belongs to the query"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh() @ v / len(v) ** 0.5, "divided by √E"),
    (lambda q, k, wq, wk, v: q @ wq @ (k @ wk).mT, "dot product"),
    (lambda q, k, wq, wk, v: (q @ wq + k @ wk).tanh() @ v, "Query i meets only key i"),
    (
        lambda q, k, wq, wk, v: ((wq @ q).unsqueeze(2) + (wk @ k).unsqueeze(1)).tanh() @ v,
        "wrong side",
    ),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq.T, wk.T).tanh() @ v, "transposed"),
    (lambda q, k, wq, wk, v: (q.unsqueeze(2) + k.unsqueeze(1)).tanh() @ v, "not projected"),
    (lambda q, k, wq, wk, v: torch.zeros(*q.shape[:2], k.shape[1]), "whatever goes in"),
    (
        lambda q, k, wq, wk, v: (
            attend(q, k, k, scorer=lambda a, b: hidden_of(a, b, wq, wk).tanh() @ v).scores
        ),
        "package wheretolook",
    ),
    (
        lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh() @ v.unsqueeze(-1),
        r"shape \(B, L, S\) = \(3, 7, 9\); yours has shape \(3, 7, 9, 1\)",
    ),
]

PARTLY_ADDITIVE = [
    (
        lambda q, k, wq, wk, v: ((q[0] @ wq)[:, None] + k[0] @ wk).tanh().matmul(v)[None],
        "a batch of sequences: .*shape",
    ),
    (lambda q, k, wq, wk, v: hidden_of(q, k[:1], wq, wk).tanh() @ v, "Only the first sequence"),
    (lambda q, k, wq, wk, v: (hidden_of(q, k, wq, wk).tanh() @ v).float(), "float32 comes out"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh() @ v.data, "do not reach v"),
    (
        lambda q, k, wq, wk, v: torch.tensor(
            [
                [[float(v @ (a @ wq + b @ wk).tanh()) for b in k[n]] for a in q[n]]
                for n in range(len(q))
            ]
        ),
        "float32 comes out",
    ),
]


# --- 4: does a token attend most to itself? ---------------------------------------------------


def own(w):
    return w.argmax(-1) == torch.arange(w.shape[-1])


def diagonal(w):
    return w.diagonal(dim1=-2, dim2=-1)


def share_by_loops(weights):
    count = 0
    for table in weights:
        for i, row in enumerate(table.tolist()):
            count += row.index(max(row)) == i
    return count / (weights.shape[0] * weights.shape[1])


RIGHT_SHARE = [
    share_by_loops,
    lambda w: own(w).float().mean().item(),
    lambda w: own(w).double().mean(),
    lambda w: (diagonal(w) == w.amax(-1)).sum() / w.shape[0] / w.shape[1],
    lambda w: np.mean(w.numpy().argmax(-1) == np.arange(w.shape[-1])),
    lambda w: 1 - torch.count_nonzero((w > diagonal(w)[..., None]).any(-1)) / w[..., 0].numel(),
    lambda w: float(torch.stack([own(one) for one in w]).sum()) / w.shape[:2].numel(),
]

WRONG_SHARE = [
    (lambda w: diagonal(w).mean(), "how much weight tokens give"),
    (lambda w: w.diagonal(dim1=1, dim2=2).mean().item(), "how much weight tokens give"),
    (lambda w: own(w).sum().item(), "how many tokens do so"),
    (lambda w: own(w).float().mean() * 100, "percentage"),
    (lambda w: (w.argmax(-1) != torch.arange(w.shape[-1])).float().mean(), "opposite"),
    (lambda w: (w.argmax(1) == torch.arange(w.shape[-1])).float().mean(), "in columns"),
    (lambda w: own(w).float().mean(-1), "for each sequence"),
    (lambda w: own(w), "yes or no"),
    (lambda w: own(w).float(), "yes or no"),
    (lambda w: own(w).sum() / w.shape[0], "number of sequences"),
    (lambda w: own(w).sum() / w.numel(), "number of weights"),
    (lambda w: (diagonal(w) > 0.5).float().mean(), "one half"),
    (lambda w: (diagonal(w) > w.mean(-1)).float().mean(), "above average"),
    (lambda w: (w > diagonal(w)[..., None]).sum(-1).float().mean(), "mean rank"),
    (lambda w: 1 + (w > diagonal(w)[..., None]).sum(-1).float().mean(), "rank is 1"),
    (lambda w: 0.25, "whatever goes in"),
    (lambda w: torch.tensor(0.31), "whatever goes in"),
    (lambda w: w.max(-1), "an object of type|a max of 2|of 2"),
    (lambda w: w.argmax(-1), "a single number; yours has shape"),
    (lambda w: own(w).mean(), r"RuntimeError.*own\(w\).mean"),
    (lambda w: w.sum() * math.nan, "NaN"),
    (lambda w: str(own(w).float().mean()), "type str"),
]

PARTLY_SHARE = [
    (lambda w: own(w).sum() / w.shape[1], "length of one sequence"),
    (lambda w: own(w)[0].float().mean(), "first sequence"),
    (lambda w: own(w.mean(0)).float().mean(), "averaged over the batch"),
    (lambda w: (w[0].argmax(-1) == torch.arange(w.shape[-1])).double().mean(), "first sequence"),
    (lambda w: own(w).float().sum() / 13, "a batch.*not right"),
    (
        lines(
            "def f(w):\n    own = w.argmax(-1) == torch.arange(w.shape[-1])\n    w *= 0\n"
            "    return own.float().mean()"
        ),
        r"changes its input \(weights\)",
    ),
]


# --- the bench --------------------------------------------------------------------------------

TestBench = bench(
    {
        check.attention_weights: Answers(RIGHT_WEIGHTS, WRONG_WEIGHTS, PARTLY_WEIGHTS),
        check.self_attention: Answers(RIGHT_ATTENTION, WRONG_ATTENTION, PARTLY_ATTENTION),
        check.additive_scores: Answers(RIGHT_ADDITIVE, WRONG_ADDITIVE, PARTLY_ADDITIVE),
        check.own_rank: Answers(RIGHT_SHARE, WRONG_SHARE, PARTLY_SHARE),
    }
)


def test_the_solutions_are_those_of_the_package():
    random = torch.Generator().manual_seed(0)
    x, y = torch.randn(2, 5, 4, generator=random), torch.randn(2, 3, 4, generator=random)
    weights = attend(x, y, y).weights
    torch.testing.assert_close(chapter._weights(x, y), weights)
    w = [torch.randn(4, n, generator=random) for n in (3, 3, 6)]
    torch.testing.assert_close(chapter._output(x, *w), attend(*(x @ m for m in w)).output)
    scorer = Additive(4, 4, hidden=3)
    parts = scorer.query_layer.weight.T, scorer.key_layer.weight.T, scorer.vector
    torch.testing.assert_close(chapter._additive(x, y, *parts), scorer(x, y))

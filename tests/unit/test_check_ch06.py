"""What readers of chapter 6 answer, and what its checkers must say to it."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from bench import Answers, bench
from einops import rearrange, reduce
from torch import nn

from wheretolook import check
from wheretolook.check import ch06_layer_and_batch_norm as chapter
from wheretolook.norms import LayerNorm, Statistics, batch_norm, layer_norm, update_statistics


def lines(source):
    """Define the last function of some lines: for what a lambda can't say."""
    space = {"torch": torch, "math": math, "F": F, "np": np, "nn": nn}
    exec(source, space)
    return [x for x in space.values() if callable(x)][-1]


# --- 1: layer norm of every token -------------------------------------------------------------


def tokens_by_loops(x, weight, bias):
    out = torch.empty_like(x).reshape(-1, x.shape[-1])
    for i, token in enumerate(x.reshape(-1, x.shape[-1])):
        mean = sum(token) / len(token)
        variance = sum((n - mean) ** 2 for n in token) / len(token)
        out[i] = (token - mean) / torch.sqrt(variance + 1e-5) * weight + bias
    return out.reshape(x.shape)


class Tokens(nn.Module):
    def forward(self, x, weight, bias):
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
        return weight * (x - mean) * torch.rsqrt(variance + 1e-5) + bias


def normed(x, axes=-1, **options):
    options = {"unbiased": False} | options
    mean, variance = x.mean(axes, keepdim=True), x.var(axes, keepdim=True, **options)
    return (x - mean) / (variance + 1e-5).sqrt()


RIGHT_TOKENS = [
    tokens_by_loops,
    Tokens(),
    Tokens().forward,
    lambda x, weight, bias: F.layer_norm(x, x.shape[-1:], weight, bias),
    lambda x, w, b: torch.addcmul(b, normed(x), w),
    lambda x, w, b: (
        (x - x.mean(-1, keepdim=True))
        / ((x**2).mean(-1, keepdim=True) - x.mean(-1, keepdim=True) ** 2 + 1e-5) ** 0.5
        * w
        + b
    ),
    lambda x, w, b: w * (x - x.mean(-1)[..., None]) / x.std(-1, unbiased=False)[..., None] + b,
]

WRONG_TOKENS = [
    (lambda x, w, b: normed(x, unbiased=True) * w + b, "unbiased one"),
    (lambda x, w, b: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) * w + b, "unbiased"),
    (lambda x, w, b: normed(x, -2) * w + b, "over the positions"),
    (lambda x, w, b: normed(x, 1) * w + b, "over the positions"),
    (lambda x, w, b: normed(x, (1, 2)) * w + b, r"LayerNorm\(\[L, D\]\)"),
    (lambda x, w, b: normed(x, (1, 2), unbiased=True) * w + b, r"LayerNorm\(\[L, D\]\)"),
    (lambda x, w, b: normed(x, (0, 1)) * w + b, "that is batch norm"),
    (lambda x, w, b: F.batch_norm(x.mT, None, None, w, b, True).mT, "that is batch norm"),
    (lambda x, w, b: normed(x, 0) * w + b, "over the first axis"),
    (lambda x, w, b: (x - x.mean()) / (x.var(unbiased=False) + 1e-5).sqrt() * w + b, "all numbers"),
    (lambda x, w, b: (x - x.mean()) / x.std() * w + b, "all numbers"),
    (
        lambda x, w, b: (
            (x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True, unbiased=False) * w + b
        ),
        "divided by the variance",
    ),
    (
        lambda x, w, b: (
            (x - x.mean(-1, keepdim=True)) * x.std(-1, keepdim=True, unbiased=False) * w + b
        ),
        "multiplied by the standard deviation",
    ),
    (lambda x, w, b: (x - x.mean(-1, keepdim=True)) * w + b, "division by the standard deviation"),
    (lambda x, w, b: x / x.std(-1, keepdim=True, unbiased=False) * w + b, "not taken off first"),
    (lambda x, w, b: normed(x), "weight and bias are unused"),
    (lambda x, w, b: F.layer_norm(x, x.shape[-1:]), "weight and bias are unused"),
    (lambda x, w, b: normed(x) * w, "The bias is unused"),
    (lambda x, w, b: normed(x) + b, "The weight is unused"),
    (lambda x, w, b: (normed(x) + b) * w, "before the weight multiplies"),
    (lambda x, w, b: normed(x) * b + w, "changed places"),
    (lambda x, w, b: F.layer_norm(x, x.shape[-1:], b, w), "changed places"),
    (lambda x, w, b: normed(x * w + b), "before the normalisation"),
    (lambda x, w, b: x * w + b, "the normalisation is missing"),
    (lambda x, w, b: x.softmax(-1) * w + b, "softmax"),
    (lambda x, w, b: F.normalize(x, dim=-1) * w + b, "divided by its length"),
    (lambda x, w, b: layer_norm(x, x.shape[-1], w, b), "package wheretolook"),
    (lambda x, w, b: (x - x.mean(-1)) * w + b, "RuntimeError"),
    (lambda x, w, b: torch.zeros(3, 7, 6), "whatever goes in"),
    (lambda x: x, r"should take \(x, weight, bias\)"),
    (Tokens, "This is a class"),
    (LayerNorm(6), "should take"),
]

PARTLY_TOKENS = [
    (lambda x, w, b: F.layer_norm(x, (6,), w, b), "no batch axis"),
    (lambda x, w, b: (normed(x) * w + b).float(), "float64 goes in"),
    (lambda x, w, b: normed(x.detach()) * w + b, "do not reach x"),
    (
        lambda x, w, b: (x - x.mean(-1, keepdim=True).detach()) / normed_size(x).detach() * w + b,
        "do not reach x",
    ),
    (lambda x, w, b: normed(x) * w.data + b, "do not reach weight"),
    (lambda x, w, b: x.sub_(x.mean(-1, keepdim=True)) / normed_size(x) * w + b, "changes its"),
]


def normed_size(x):
    return (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()


# --- 2: batch norm of every feature -----------------------------------------------------------


def features_by_loops(x):
    columns = []
    for d in range(x.shape[2]):
        column = x[:, :, d]
        mean = column.sum() / column.numel()
        variance = ((column - mean) ** 2).sum() / column.numel()
        columns.append((column - mean) / torch.sqrt(variance + 1e-5))
    return torch.stack(columns, dim=2)


class Features(nn.Module):
    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        return normed(rows, 0).reshape(x.shape)


def features_by_einops(x):
    mean = reduce(x, "batch length width -> 1 1 width", "mean")
    variance = reduce((x - mean) ** 2, "batch length width -> 1 1 width", "mean")
    return (x - mean) / torch.sqrt(variance + 1e-5)


RIGHT_FEATURES = [
    features_by_loops,
    Features(),
    features_by_einops,
    lambda x: normed(x, (0, 1)),
    lambda x: F.batch_norm(x.transpose(1, 2), None, None, training=True).transpose(1, 2),
    lambda x: nn.BatchNorm1d(x.shape[2], dtype=x.dtype)(x.mT).mT,
    lambda x: rearrange(
        F.batch_norm(rearrange(x, "b l d -> (b l) d"), None, None, training=True),
        "(b l) d -> b l d",
        b=len(x),
    ),
]

WRONG_FEATURES = [
    (lambda x: normed(x), "that is layer norm"),
    (lambda x: F.layer_norm(x, x.shape[2:]), "that is layer norm"),
    (lambda x: normed(x, (0, 2)), r"BatchNorm1d\(80\)"),
    (lambda x: F.batch_norm(x, None, None, training=True), r"BatchNorm1d\(80\)"),
    (lambda x: normed(x, (1, 2)), r"LayerNorm\(\[L, D\]\)"),
    (lambda x: F.layer_norm(x, x.shape[1:]), r"LayerNorm\(\[L, D\]\)"),
    (lambda x: normed(x, 0), "each position keeps one"),
    (lambda x: (x - x.mean(0)) / x.std(0), "each position keeps one"),
    (lambda x: normed(x, 1), "each sequence keeps one"),
    (lambda x: F.instance_norm(x.mT).mT, "each sequence keeps one"),
    (lambda x: normed(x, (0, 1, 2)), "all numbers"),
    (lambda x: (x - x.mean()) / x.std(), "all numbers"),
    (lambda x: normed(x, (0, 1), unbiased=True), "unbiased one"),
    (lambda x: (x - x.mean((0, 1))) / x.std((0, 1)), "unbiased one"),
    (lambda x: (x - x.mean((0, 1))) / x.var((0, 1), unbiased=False), "divided by the variance"),
    (lambda x: x - x.mean((0, 1)), "division by the standard deviation is missing"),
    (lambda x: x / x.std((0, 1), unbiased=False), "not taken off first"),
    (lambda x: F.batch_norm(x.mT, None, None, training=True), "features stand second"),
    (lambda x: x.mean((0, 1)).expand_as(x), "the mean alone"),
    (lambda x: batch_norm(x.mT).mT, "package wheretolook"),
    (lambda x: nn.BatchNorm1d(x.shape[2])(x), r"BatchNorm1d\(80\)"),
    (lambda x: x.mean((0, 1)), "should have shape"),
    (lambda x: torch.zeros(3, 7, 6), "whatever goes in"),
    (lambda x: (normed(x, (0, 1)), 0), "a tuple of 2"),
    (lambda: 0, r"should take \(x\)"),
]

PARTLY_FEATURES = [
    (lambda x: nn.BatchNorm1d(x.shape[2])(x.mT.float()).mT, "float64 goes in, and float32"),
    (lambda x: normed(x, (0, 1)).detach(), "do not reach x"),
    (lambda x: normed(x.sub_(x.mean((0, 1))), (0, 1)), r"changes its input \(x\)"),
    (lambda x: (x - x.mean((0, 1))) / (x.var((0, 1)) * 20 / 21).sqrt(), "another batch"),
]


# --- 3: the running variance ------------------------------------------------------------------


def kept_by_loops(running, x):
    out = []
    for d in range(x.shape[1]):
        column = x[:, d]
        mean = sum(column) / len(column)
        new = sum((n - mean) ** 2 for n in column) / (len(column) - 1)
        out.append(0.9 * running[d] + 0.1 * new)
    return torch.stack(out)


def kept_by_torch(running, x):
    kept = running.clone()
    F.batch_norm(x, torch.zeros_like(running), kept, training=True)
    return kept


RIGHT_RUNNING = [
    kept_by_loops,
    kept_by_torch,
    lambda running, x: 0.9 * running + 0.1 * x.var(0),
    lambda running, x: running + 0.1 * (x.std(0) ** 2 - running),
    lambda running, x: running.lerp(torch.var(x, dim=0), 0.1),
    lambda running, x, momentum=0.1: running * (1 - momentum) + x.mT.cov().diagonal() * momentum,
    lambda running, x: (
        0.9 * running + 0.1 * x.var(0, unbiased=False) * len(x) / (len(x) - 1)
    ).detach(),
]

WRONG_RUNNING = [
    (lambda r, x: 0.9 * r + 0.1 * x.var(0, unbiased=False), "biased one"),
    (lambda r, x: 0.9 * r + 0.1 * (x - x.mean(0)).square().mean(0), "biased one"),
    (lambda r, x: 0.1 * r + 0.9 * x.var(0), "changed places"),
    (lambda r, x: r.lerp(x.var(0), 0.9), "changed places"),
    (lambda r, x: x.var(0), "forgotten"),
    (lambda r, x: x.var(0, correction=0), "forgotten"),
    (lambda r, x: r, "the old value, unchanged"),
    (lambda r, x: 0.9 * r, "nothing of the batch"),
    (lambda r, x: r + 0.1 * x.var(0), "grows for ever"),
    (lambda r, x: (r + x.var(0)) / 2, "half and half"),
    (lambda r, x: 0.9 * r + 0.1 * x.std(0), "standard deviation"),
    (lambda r, x: 0.9 * r + 0.1 * x.mean(0), "mean is mixed in"),
    (lambda r, x: 0.9 * r + 0.1 * (x**2).mean(0), "mean square"),
    (lambda r, x: 0.9 * r + 0.1 * x.var(), "over all numbers"),
    (lambda r, x: 0.9 * r + 0.1 * x.var(1).mean(), "along each example"),
    (lambda r, x: 0.9 * r + 0.1 * ((x - x.mean(0)) ** 2).sum(0), "not yet divided"),
    (lambda r, x: 0.9 * r + 0.1 * x.var(1), "RuntimeError"),
    (lambda r, x: update_statistics(Statistics(r, r), x).variance, "package wheretolook"),
    (lambda r, x: torch.ones(4), "whatever goes in"),
    (lambda r, x: (r, x), "a tuple of 2"),
    (lambda x: x, r"should take \(running, x\)"),
]

PARTLY_RUNNING = [
    (lambda r, x: (0.9 * r + 0.1 * x.var(0)).float(), "float64 goes in, and float32"),
    (lambda r, x: r.mul_(0.9) + 0.1 * x.var(0), r"changes its input \(running\)"),
    (lambda r, x: r.lerp_(x.var(0), 0.1), r"changes its input \(running\)"),
    (lambda r, x: 0.9 * r + 0.1 * x.var(0, unbiased=False) * 7 / 6, "a batch of three"),
]


# --- the bench --------------------------------------------------------------------------------

TestBench = bench(
    {
        check.token_norm: Answers(RIGHT_TOKENS, WRONG_TOKENS, PARTLY_TOKENS),
        check.feature_norm: Answers(RIGHT_FEATURES, WRONG_FEATURES, PARTLY_FEATURES),
        check.running_variance: Answers(RIGHT_RUNNING, WRONG_RUNNING, PARTLY_RUNNING),
    }
)


def test_the_solutions_are_those_of_the_package():
    random = torch.Generator().manual_seed(0)
    x = torch.randn(3, 5, 4, generator=random)
    weight, bias, running = torch.randn(3, 4, generator=random)
    torch.testing.assert_close(chapter._token(x, weight, bias), layer_norm(x, 4, weight, bias))
    torch.testing.assert_close(chapter._feature(x), batch_norm(x.mT).mT)
    kept = update_statistics(Statistics(running, running), x[0]).variance
    torch.testing.assert_close(chapter._running(running, x[0]), kept)

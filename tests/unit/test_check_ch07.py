"""What readers of chapter 7 answer, and what its checkers must say to it."""

import numpy as np
import torch
from bench import Answers, bench
from einops import einsum, rearrange
from torch.utils.flop_counter import FlopCounterMode

from wheretolook import check
from wheretolook.attention import MultiHeadAttention, merge_heads, split_heads
from wheretolook.check import ch07_multi_head as chapter
from wheretolook.offsets import viewed_heads

# --- 1: cut into heads ------------------------------------------------------------------------


def split_by_loops(x, heads):
    width = x.shape[2] // heads
    parts = [[s[:, h * width : (h + 1) * width] for h in range(heads)] for s in x]
    return torch.stack([torch.stack(p) for p in parts])


RIGHT_SPLIT = [
    split_by_loops,
    lambda x, heads: rearrange(x, "b l (h d) -> b h l d", h=heads),
    lambda x, heads: rearrange(
        x, "batch length (head width) -> batch head length width", head=heads
    ),
    lambda x, heads: rearrange(rearrange(x, "b l (h d) -> b l h d", h=heads), "b l h d -> b h l d"),
    lambda x, h: x.view(x.size(0), x.size(1), h, x.size(2) // h).transpose(1, 2),
    lambda x, h: x.unflatten(-1, (h, -1)).permute(0, 2, 1, 3),
    lambda x, h: torch.stack(x.chunk(h, dim=-1), dim=1),
    lambda x, h: torch.stack(x.tensor_split(h, -1), 1).contiguous(),
]
WRONG_SPLIT = [
    (lambda x, h: x.view(x.size(0), h, x.size(1), -1), "This is a view"),
    (lambda x, h: x.reshape(len(x), h, -1, x.shape[2] // h), "This is a view"),
    (lambda x, h: x.view(*x.shape[:2], h, -1), "still stand behind the length"),
    (lambda x, h: rearrange(x, "b l (h d) -> b l h d", h=h), "still stand behind the length"),
    (lambda x, h: rearrange(x, "b l (d h) -> b h l d", h=h), "every H-th number"),
    (lambda x, h: torch.stack([x[..., i::h] for i in range(h)], 1), "every H-th number"),
    (lambda x, h: x.unflatten(-1, (-1, h)).transpose(1, 2), "taken for each other"),
    (lambda x, h: x.unflatten(-1, (h, -1)).permute(0, 2, 3, 1), "Length and width"),
    (lambda x, h: torch.stack(x.chunk(h, -1)), "heads come first"),
    (lambda x, h: rearrange(x, "b l (h d) -> (b h) l d", h=h), "are one axis"),
    (lambda x, h: torch.stack(x.chunk(h, 1), 1), "sequence is cut, not the tokens"),
    (lambda x, h: x[:, None].repeat(1, h, 1, 1), "the whole tokens"),
    (lambda x, h: x[..., : x.shape[-1] // h], "first head only"),
    (lambda x, h: torch.stack(x.chunk(h, -1)[::-1], 1), "wrong order"),
    (lambda x, h: split_heads(x, h), "package wheretolook"),
    (lambda x, h: viewed_heads(x, h), "package wheretolook|This is a view"),
    (lambda x, h: x.chunk(h, -1), "a tuple of 3"),
    (lambda x, h: torch.zeros(4, h, 6, 5), "whatever goes in"),
    (lambda x: x, r"should take \(x, heads\)"),
]
PARTLY_SPLIT = [
    (lambda x, h: x.detach().unflatten(-1, (h, -1)).transpose(1, 2), "do not reach x"),
    (lambda x, h: x.float().unflatten(-1, (h, -1)).transpose(1, 2), "float64 goes in"),
    (lambda x, h: np.asarray(x.detach()).reshape(*x.shape[:2], h, -1).swapaxes(1, 2), "NumPy"),
    (lambda x, h: x.unflatten(-1, (3, -1)).transpose(1, 2), "one sequence .*:"),
    (lambda x, h: x.unflatten(-1, (h, 5)).transpose(1, 2), "one sequence .*RuntimeError"),
    (lambda x, h: x.mul_(1.5).div(1.5).unflatten(-1, (h, -1)).transpose(1, 2), "changes its input"),
]

# --- 2: put heads back ------------------------------------------------------------------------


def merge_by_loops(x):
    return torch.stack([torch.cat(list(heads), dim=-1) for heads in x])


RIGHT_MERGED = [
    merge_by_loops,
    lambda x: rearrange(x, "b h l d -> b l (h d)"),
    lambda x: x.transpose(1, 2).flatten(-2),
    lambda x: x.permute(0, 2, 1, 3).reshape(len(x), x.shape[2], -1),
    lambda x: x.transpose(1, 2).contiguous().view(x.size(0), -1, x.size(1) * x.size(3)),
    lambda x: torch.cat(x.unbind(1), dim=-1),
]
WRONG_MERGED = [
    (lambda x: x.reshape(x.size(0), x.size(2), -1), "This is a view"),
    (lambda x: x.view(len(x), -1, x.shape[1] * x.shape[3]), "This is a view"),
    (lambda x: x.transpose(1, 2), "one step is left"),
    (lambda x: x.flatten(1, 2), "below each other: .*H·L"),
    (lambda x: rearrange(x, "b h l d -> b l (d h)"), "shuffled like cards"),
    (lambda x: x.permute(0, 2, 3, 1).flatten(2), "shuffled like cards"),
    (lambda x: x.sum(1), "are summed"),
    (lambda x: x.mean(dim=1), "are averaged"),
    (lambda x: x[:, 0], "first head only"),
    (lambda x: rearrange(x, "b h l d -> b (h d) l"), "Rows and columns"),
    (lambda x: torch.cat(x.unbind(0), -1), "sequences of the batch"),
    (lambda x: torch.cat(x.unbind(1)[::-1], -1), "wrong order"),
    (lambda x: x.transpose(1, 2).flatten(1, 2), "token by token"),
    (lambda x: x.transpose(1, 2).view(len(x), x.shape[2], -1), "RuntimeError"),
    (lambda x: merge_heads(x), "package wheretolook"),
]
PARTLY_MERGED = [
    (lambda x: x.transpose(1, 2).flatten(-2).detach(), "do not reach x"),
    (lambda x: x.transpose(1, 2).flatten(-2).float(), "float64 goes in"),
    (lambda x: x.transpose(1, 2).reshape(-1, 6, x.shape[1] * x.shape[3]), "one sequence .*:"),
]

# --- 3: take a head out -----------------------------------------------------------------------


def merged(x):
    return x.transpose(1, 2).flatten(-2)


def terms(x, w):
    return [head @ rows for head, rows in zip(x.unbind(1), w.chunk(x.shape[1]), strict=True)]


def removed_by_clone(outputs, w_output, head):
    left = outputs.clone()
    left[:, head] = 0
    return merged(left) @ w_output


RIGHT_REMOVED = [
    removed_by_clone,
    lambda x, w, head: sum(t for h, t in enumerate(terms(x, w)) if h != head),
    lambda x, w, head: merged(x) @ w - terms(x, w)[head],
    lambda x, w, head: merged(x.index_fill(1, torch.tensor(head), 0)) @ w,
    lambda x, w, head: einsum(
        x * (torch.arange(x.shape[1]) != head)[:, None, None],
        w.unflatten(0, (x.shape[1], -1)),
        "b h l e, h e d -> b l d",
    ),
    lambda x, w, head: (
        merged(torch.cat([x[:, :head], x[:, head + 1 :]], 1))
        @ torch.cat([w[: head * x.shape[3]], w[(head + 1) * x.shape[3] :]])
    ),
]
WRONG_REMOVED = [
    (lambda x, w, head: merged(x) @ w, "No head is removed"),
    (lambda x, w, head: terms(x, w)[head], "what the one head brings"),
    (lambda x, w, head: removed_by_clone(x, w, head - 1), "head before it"),
    (lambda x, w, head: removed_by_clone(x, w, (head + 1) % x.shape[1]), "head after it"),
    (lambda x, w, head: merged(x.index_fill(2, torch.tensor(head), 0)) @ w, "A token is removed"),
    (
        lambda x, w, head: merged(x.index_fill(0, torch.tensor(head), 0)) @ w,
        "A sequence is removed",
    ),
    (lambda x, w, head: merged(x.index_fill(3, torch.tensor(head), 0)) @ w, "One number of every"),
    (
        lambda x, w, head: (
            merged(x) * (torch.arange(w.shape[0]) % x.shape[1] != head).to(x.dtype) @ w
        ),
        "Every H-th number",
    ),
    (
        lambda x, w, head: (
            x.index_fill(1, torch.tensor(head), 0).reshape(len(x), x.shape[2], -1) @ w
        ),
        "by a view",
    ),
    (
        lambda x, w, head: (
            merged(torch.cat([x[:, :head], x[:, head + 1 :]], 1)) @ w[: w.shape[0] - x.shape[3]]
        ),
        "rows of w_output that are not theirs",
    ),
    (lambda x, w, head: removed_by_clone(x, w, head) * x.shape[1] / (x.shape[1] - 1), "dropout"),
    (lambda x, w, head: merged(x.index_fill(1, torch.tensor(head), 0)), "still to come"),
    (lambda x, w, head: x.index_fill(1, torch.tensor(head), 0), "Put the heads back"),
    (lambda x, w, head: removed_by_clone(x, w, 0), "always the first head"),
    (lambda x, w, head: merge_heads(x) @ w, "package wheretolook"),
    (lambda x, w: merged(x) @ w, r"should take \(outputs, w_output, head\)"),
]


def removed_in_place(outputs, w_output, head):
    outputs[:, head] = 0
    return merged(outputs) @ w_output


PARTLY_REMOVED = [
    (removed_in_place, r"changes its input \(outputs\)"),
    (lambda x, w, head: removed_by_clone(x, w.detach(), head), "do not reach w_output"),
    (lambda x, w, head: removed_by_clone(x.float(), w.float(), head), "float64 goes in"),
]

# --- 4: what does a layer cost? ---------------------------------------------------------------


def counted(length, width, heads):
    e, count = width // heads, 0
    for _ in range(heads):
        count += 3 * length * width * e + 2 * length * length * e
    return count + length * width * width


RIGHT_COST = [
    counted,
    lambda n, d, h: 4 * n * d * d + 2 * n * n * d,
    lambda n, d, h: 2 * n * d * (2 * d + n),
    lambda length, width, heads: torch.tensor(2.0 * length * width * (2 * width + length)),
    lambda n, d, h: float(4 * n * d**2 + h * 2 * n**2 * (d / h)),
]
WRONG_COST = [
    (lambda n, d, h: (4 * n * d * d + 2 * n * n * d) / h, "divided by H"),
    (lambda n, d, h: h * (4 * n * d * d + 2 * n * n * d), "multiplied by H"),
    (lambda n, d, h: 4 * n * d * d + 2 * h * n * n * d, "at full width D"),
    (lambda n, d, h: 4 * n * d * d + 2 * n * n * (d // h), "one head only"),
    (lambda n, d, h: 4 * n * d * (d // h) + 2 * n * n * d, "maps of one head only"),
    (lambda n, d, h: 3 * n * d * d + n * d * (d // h) + 2 * n * n * d, "output map is counted as"),
    (lambda n, d, h: 3 * n * d * (d // h) + n * d * d + 2 * n * n * d, "query, key and value are"),
    (lambda n, d, h: 3 * n * d * d + 2 * n * n * d, "There are four"),
    (lambda n, d, h: 4 * n * d * d + n * n * d, "weighted sums are missing"),
    (lambda n, d, h: 4 * n * d * d, "These are the maps"),
    (lambda n, d, h: 2 * n * n * d, "four maps are missing"),
    (lambda n, d, h: 8 * n * d * d + 4 * n * n * d, "FLOPs"),
    (lambda n, d, h: 4 * d * n * n + 2 * d * d * n, "have changed places"),
    (lambda n, d, h: 4 * n * d * d + 2 * n * n * d + h * n * n, "cells of the maps"),
    (lambda n, d, h: 4 * d * d, "how many parameters"),
    (lambda n, d, h: 536_870_912, "whatever goes in"),
    (lambda n, d, h: f"{n * d}", "type str"),
]
PARTLY_COST = [
    (lambda n, d, h: 4 * n * d * d + 2 * n * n * d if n < 100 else 0, "a long sequence"),
]

# --- the bench --------------------------------------------------------------------------------

TestBench = bench(
    {
        check.heads_split: Answers(RIGHT_SPLIT, WRONG_SPLIT, PARTLY_SPLIT),
        check.heads_merged: Answers(RIGHT_MERGED, WRONG_MERGED, PARTLY_MERGED),
        check.head_removed: Answers(RIGHT_REMOVED, WRONG_REMOVED, PARTLY_REMOVED),
        check.layer_cost: Answers(RIGHT_COST, WRONG_COST, PARTLY_COST),
    }
)


def test_the_solutions_are_those_of_the_package():
    x = torch.randn(2, 5, 6)
    assert torch.equal(chapter._split(x, 3), split_heads(x, 3))
    assert torch.equal(chapter._merge(split_heads(x, 3)), x)


def test_a_layer_costs_what_torch_counts():
    layer, x = MultiHeadAttention(12, heads=3), torch.randn(1, 7, 12)
    with FlopCounterMode(display=False) as counter:
        layer(x, x, x)
    assert counter.get_total_flops() == 2 * chapter._cost(7, 12, 3)

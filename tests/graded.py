"""A right answer to each exercise in its graded form, written without the checkers.

For each checker, one choice of the form's parameter and an answer. The file stands alone: a test
lays the whole of it into a student's notebook.
"""

import math

import torch
import torch.nn.functional as F
from einops import rearrange


def dot(query, key, scale):
    return (query @ key.mT * scale).softmax(-1)


def cut(canvas, gaze):
    free = torch.tensor(canvas.shape[1:]) - 4
    first = ((gaze.flip(-1) + 1) / 2 * free).round().long().tolist()
    return torch.stack([c[r : r + 4, k : k + 4] for c, (r, k) in zip(canvas, first, strict=True)])


def among(weights, gold):
    place = weights.argmax(-2, keepdim=True)
    return gold.gather(-2, place).squeeze(-2)[gold.any(-2)].double().mean()


def hidden(scores, mask):
    blind = mask.all(-1, keepdim=True)
    return scores.masked_fill(mask & ~blind, -torch.inf).softmax(-1).masked_fill(mask, 0)


def future(ids):
    length = ids.shape[1]
    return torch.ones(length, length, dtype=torch.bool).triu(1) | (ids == 0)[:, None]


def past(words, source, mask):
    scores = words @ source.mT / (2 * words.shape[-1] ** 0.5)
    return scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)


RIGHT = {
    "map_shares": (2, lambda a: a**2 / (a**2).sum((-2, -1), keepdim=True)),
    "glimpse_cut": ("column, row", cut),
    "reward_push": ("cost", lambda m, g, r, b: 25 * (b - r)[:, None] * (g - m)),
    "shifted_target": (7, lambda y: F.pad(y, (1, -1), value=7)),
    "pooled_context": ("True hides", lambda h, m: h.masked_fill(m[..., None], 0).sum(1)
                       / (~m).sum(1, keepdim=True)),
    "sequence_loss": ("bits", lambda x, y: F.cross_entropy(x.flatten(0, 1), y.flatten(),
                      ignore_index=0) / math.log(2)),
    "step_weights": (2.5, lambda q, k, a, b, v:
                     (((q @ a)[:, None] + k @ b).tanh() @ v / 2.5).softmax(-1)),
    "weighted_context": ("columns", lambda w, h: torch.einsum("bsl,bsd->bld", w, h)),
    "gold_agreement": ("columns", among),
    "choice_push": ("cost", lambda s, c, r, b: (b - r)[:, None]
                    * (F.one_hot(c, s.shape[1]).to(s) - s.softmax(1))),
    "attention_weights": ("1/E", lambda q, k: dot(q, k, 1 / q.shape[-1])),
    "self_attention": ("1/(E+1)", lambda x, a, b, c: dot(x @ a, x @ b, 1 / (a.shape[1] + 1))
                       @ x @ c),
    "additive_scores": ("subtracted", lambda q, k, a, b, v:
                        ((q @ a)[:, :, None] - (k @ b)[:, None]).tanh() @ v),
    "own_rank": ("columns", lambda w: (w.argmax(-2) == torch.arange(w.shape[-1])).double().mean()),
    "padding_columns": ("True hides", lambda ids: (ids == 0)[:, None]),
    "both_masks": ("True hides", future),
    "future_cells": ("True hides", lambda m: (~m).triu(1).sum()),
    "safe_weights": ("True hides", hidden),
    "token_norm": ("1 + weight", lambda x, w, b: F.layer_norm(x, x.shape[-1:], 1 + w, b)),
    "feature_norm": (3, lambda x: 3 * (x - x.mean((0, 1)))
                     / (x.var((0, 1), correction=0) + 1e-5).sqrt()),
    "running_variance": (0.3, lambda running, x: torch.lerp(running, x.var(0), 0.3)),
    "heads_split": ("stripes", lambda x, h: rearrange(x, "b l (e h) -> b h l e", h=h)),
    "heads_merged": ("stripes", lambda x: rearrange(x, "b h l e -> b l (e h)")),
    "head_removed": ("alone", lambda x, w, h: x[:, h] @ w.unflatten(0, (x.shape[1], -1))[h]),
    "layer_cost": ("operations", lambda n, d, h: 8 * n * d * d + 4 * n * n * d),
    "feed_forward": ("added", lambda x, a, b: x + (x @ a).relu() @ b),
    "pre_norm": (0.5, lambda x, w: x + 0.5 * F.layer_norm(x, x.shape[-1:]) @ w),
    "cross_weights": ("1/(2√E)", past),
    "next_words": ("False", lambda logits, on: logits[:, -1].argmax(-1) * on),
}  # fmt: skip

"""Graded forms: what is right changes, what is said of mistakes stays, and a copy earns nothing."""

import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import nn

from wheretolook import check
from wheretolook.check.variants import VARIANTS
from wheretolook.classroom.chapter import chapters, joined

BOOK = chapters(Path(__file__).parents[2] / "notebooks")
TASKS = [(chapter, task) for chapter in BOOK for task in chapter.tasks]


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


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


# One choice and a right answer for each, written without the checkers.
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


def test_every_code_exercise_has_a_graded_form():
    assert {task.checker for _, task in TASKS} == set(VARIANTS) == set(RIGHT)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_to_the_graded_form_earns_all(name):
    value, answer = RIGHT[name]
    marks = check.varied(name, answer, 2, **{VARIANTS[name].parameter: value})
    assert (marks, marks.status) == (2, "right"), marks.feedback


@pytest.mark.parametrize("name", RIGHT)
def test_and_nothing_as_practice(name):
    value, answer = RIGHT[name]
    assert getattr(check, name)(answer) == 0


def choices(name):
    """List what a teacher may choose; of a range, its ends."""
    accepted = VARIANTS[name].accepts
    return [int(x) if name == "shifted_target" else x for x in accepted]


@pytest.mark.parametrize(
    ("chapter", "task"), [pytest.param(*pair, id=pair[1].checker) for pair in TASKS]
)
def test_the_public_solution_earns_nothing_and_hears_why(chapter, task):
    cells = {cell["id"]: joined(cell) for cell in chapter.notebook["cells"]}
    space = {"torch": torch, "nn": nn, "check": check}
    exec(cells[f"sol-{task.id.removeprefix('ex-')}"], space)
    for value in choices(task.checker):
        given = {VARIANTS[task.checker].parameter: value}
        marks = check.varied(task.checker, space[task.answer], 2, **given)
        assert (marks, marks.status) == (0, "wrong")
        assert "answer to the practice exercise" in marks.feedback


def test_known_mistakes_are_known_in_the_graded_form_too():
    def turned(query, key):
        return (query @ key.mT / query.shape[-1]).softmax(-2)

    assert "over the queries" in check.varied("attention_weights", turned, 2, scale="1/E").feedback


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("nothing", {}, "'nothing' is none of"),
        ("attention_weights", {}, r"nothing; accepted: scale = '1/E' or"),
        ("attention_weights", {"scale": "1/D"}, "scale = '1/D'; accepted"),
        ("attention_weights", {"factor": "1/E"}, "factor = '1/E'; accepted"),
        ("running_variance", {"momentum": 0.9}, "momentum = 0.9; accepted: momentum = 0.15 to 0.5"),
    ],
)
def test_what_is_not_accepted_is_named(name, given, message):
    with pytest.raises(ValueError, match=message):
        check.varied(name, lambda: None, 2, **given)

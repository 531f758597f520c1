"""What readers of chapter 1 answer, and what its checkers must say to it."""

import numpy as np
import torch
import torch.nn.functional as F
from bench import Answers, bench
from torch.distributions import Normal

from wheretolook import check
from wheretolook.check import ch01_human_attention as chapter
from wheretolook.saliency import shares

# --- 1: a glimpse -----------------------------------------------------------------------------


def place(canvas, gaze, axis):
    return ((gaze[:, axis - 1] + 1) / 2 * (canvas.shape[axis] - 4)).round().long()


def by_loop(canvas, gaze):
    rows, columns = place(canvas, gaze, 1), place(canvas, gaze, 2)
    return torch.stack(
        [c[r : r + 4, k : k + 4] for c, r, k in zip(canvas, rows, columns, strict=True)]
    )


def by_index(canvas, gaze):
    steps = torch.arange(4)
    rows = place(canvas, gaze, 1)[:, None, None] + steps[:, None]
    columns = place(canvas, gaze, 2)[:, None, None] + steps
    return canvas[torch.arange(len(canvas))[:, None, None], rows, columns]


def by_unfold(canvas, gaze):
    windows = canvas.unfold(1, 4, 1).unfold(2, 4, 1)
    return windows[torch.arange(len(canvas)), place(canvas, gaze, 1), place(canvas, gaze, 2)]


def by_products(canvas, gaze):
    def pick(axis):
        rows = place(canvas, gaze, axis)[:, None] + torch.arange(4)
        return F.one_hot(rows, canvas.shape[axis]).to(canvas)

    return pick(1) @ canvas @ pick(2).mT


def swapped(canvas, gaze):
    out = []
    for c, (x, y) in zip(canvas, gaze, strict=True):
        i = round(float((y + 1) / 2 * (c.shape[0] - 4)))
        j = round(float((x + 1) / 2 * (c.shape[1] - 4)))
        out.append(c[i : i + 4, j : j + 4])
    return torch.stack(out)


def cut_off(canvas, gaze):
    rows = ((gaze[:, 0] + 1) / 2 * (canvas.shape[1] - 4)).int()
    columns = ((gaze[:, 1] + 1) / 2 * (canvas.shape[2] - 4)).int()
    return torch.stack(
        [c[r : r + 4, k : k + 4] for c, r, k in zip(canvas, rows, columns, strict=True)]
    )


RIGHT_GLIMPSE = [by_loop, by_index, by_unfold, by_products]
WRONG_GLIMPSE = [
    (cut_off, "cut off, not rounded"),
    (swapped, "Row and column have changed places"),
    (lambda c, g: by_loop(c, g).mT, "rows stand as columns"),
    (lambda c, g: by_loop(c, -g), "sign is turned"),
    (lambda c, g: by_loop(c, g).flatten(1), "flattened"),
    (lambda c, g: by_loop(c, g) / 16, "divided by their number"),
    (lambda c, g: by_loop(c, g)[:, :3, :3], r"\(B, G, G\) = \(3, 4, 4\)"),
    (lambda c, g: c[:, :4, :4], "values are not|rows are right"),
    (lambda c, g: torch.zeros(len(c), 4, 4), "whatever goes in"),
]
PARTLY_GLIMPSE = [
    (lambda c, g: by_loop(c[[0] * len(c)], g), "out of the first picture"),
    (lambda c, g: by_loop(c, g[[0] * len(g)]), "gaze of the first one"),
    (lambda c, g: by_loop(c, g).float(), "float32 comes out"),
    (lambda c, g: by_loop(c.detach(), g), "do not reach canvas"),
    (lambda c, g: torch.tensor(by_loop(c, g).tolist()), "float32 comes out"),
]


# --- 2: shares --------------------------------------------------------------------------------

RIGHT_SHARES = [
    lambda a: a / a.sum((-2, -1), keepdim=True),
    lambda a: a / a.sum(2, keepdim=True).sum(1, keepdim=True),
    lambda a: F.normalize(a.flatten(1), p=1, dim=1).view(a.shape),
    lambda a: torch.stack([one / one.sum() for one in a]),
    lambda a: torch.einsum("bls,b->bls", a, 1 / torch.einsum("bls->b", a)),
    lambda a: a.flatten(1).log().softmax(1).unflatten(1, a.shape[1:]),
]
WRONG_SHARES = [
    (lambda a: a / a.sum(-1, keepdim=True), "Each row sums"),
    (lambda a: a / a.sum(1, keepdim=True), "Each column sums"),
    (lambda a: a / a.amax((1, 2), keepdim=True), "a scale, not a share"),
    (lambda a: a / a.max(), "largest amount of all"),
    (lambda a: a / a.mean((1, 2), keepdim=True), "their mean"),
    (lambda a: torch.softmax(a.flatten(1), 1).reshape(a.shape), "This is a softmax. "),
    (lambda a: F.softmax(a, -1), "softmax along each row"),
    (lambda a: F.normalize(a.flatten(1), dim=1).view_as(a), "sum of squares"),
    (lambda a: a.flatten(1).sum(1), "the sum of each map"),
    (lambda a: 100 * a / a.sum((1, 2), keepdim=True), "percentages"),
    (lambda a: torch.stack([shares(one) for one in a]), "package wheretolook"),
    (lambda a: a, "rows do not sum|values are not"),
]
PARTLY_SHARES = [
    (lambda a: a / a.sum(), "divided by one sum"),
    (lambda a: (a / a.sum((1, 2), keepdim=True)).float(), "float32 comes out"),
    (lambda a: a / a.sum((1, 2), keepdim=True).detach(), "do not reach amounts"),
    (lambda a: a.div_(a.sum((1, 2), keepdim=True)), r"changes its input \(amounts\)|gradients"),
]


# --- 3: reward --------------------------------------------------------------------------------


def by_autograd(mean, gaze, reward, baseline):
    m = mean.detach().requires_grad_()
    with torch.enable_grad():
        log = Normal(m, 0.2).log_prob(gaze.detach()).sum()
        (slope,) = torch.autograd.grad(log, m)
    return slope * (reward - baseline)[:, None]


RIGHT_PUSH = [
    by_autograd,
    lambda m, g, r, b: (r - b)[:, None] * (g - m) / 0.04,
    lambda m, g, r, b: 25 * (r - b).unsqueeze(-1) * (g - m),
    lambda m, g, r, b: torch.einsum("b,bp->bp", r - b, (g - m) / 0.2**2),
    lambda m, g, r, b: torch.diag(r - b) @ (g - m) * 25,
    lambda m, g, r, b: torch.stack([(x - y) * 25 * (u - v) for x, y, u, v in zip(r, b, g, m)]),  # noqa: B905
]
WRONG_PUSH = [
    (lambda m, g, r, b: (r - b)[:, None] * (m - g) / 0.04, "sign is turned"),
    (lambda m, g, r, b: r[:, None] * (g - m) / 0.04, "baseline is missing"),
    (lambda m, g, r, b: (r + b)[:, None] * (g - m) / 0.04, "baseline is added"),
    (lambda m, g, r, b: (r - b)[:, None] * (g - m), "σ² is missing"),
    (lambda m, g, r, b: (r - b)[:, None] * (g - m) / 0.2, "divided by σ\\."),
    (lambda m, g, r, b: (r - b)[:, None] * (g - m) * 0.04, "multiplied by σ²"),
    (lambda m, g, r, b: (r - b)[:, None] * (g - m) * 50, "2 too many"),
    (lambda m, g, r, b: (g - m) / 0.04, "Weigh it"),
    (lambda m, g, r, b: (r - b)[:, None].repeat(1, 2), "In which direction"),
    (lambda m, g, r, b: ((r - b)[:, None] * (g - m) / 0.04).mean(0), "averaged"),
    (lambda m, g, r, b: (r - r.mean())[:, None] * (g - m) / 0.04, "mean of the batch"),
]
PARTLY_PUSH = [
    (lambda m, g, r, b: (r - b) * (g - m) / 0.04, "RuntimeError"),
    (lambda m, g, r, b: (r - b).abs()[:, None] * (g - m) / 0.04, "Without its sign"),
    (lambda m, g, r, b: ((r - b)[:, None] * (g - m) * 25).float(), "float32 comes out"),
    (lambda m, g, r, b: np.asarray((r - b)[:, None] * (g - m) * 25), "NumPy"),
    (lambda m, g, r, b: (r - b)[:, None] * g.sub_(m) * 25, r"changes its input \(gaze\)"),
]


# --- the bench --------------------------------------------------------------------------------

TestBench = bench(
    {
        check.glimpse_cut: Answers(RIGHT_GLIMPSE, WRONG_GLIMPSE, PARTLY_GLIMPSE),
        check.map_shares: Answers(RIGHT_SHARES, WRONG_SHARES, PARTLY_SHARES),
        check.reward_push: Answers(RIGHT_PUSH, WRONG_PUSH, PARTLY_PUSH),
    }
)


def test_the_solutions_are_those_of_the_package():
    amounts = torch.rand(5, 7)
    torch.testing.assert_close(chapter._shares(amounts), shares(amounts))
    m, g, r, b = (torch.randn(5, n) for n in (2, 2, 1, 1))
    torch.testing.assert_close(
        chapter._push(m, g, r[:, 0], b[:, 0]), by_autograd(m, g, r[:, 0], b[:, 0])
    )

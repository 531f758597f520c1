"""Chapter 1, Human attention: its exercises, their solutions and the mistakes that people make."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .exercise import Case, Exercise, Mistake
from .marks import Marks

__all__ = ["glimpse_cut", "map_shares", "reward_push"]


# --- 1: cut a glimpse -------------------------------------------------------------------------

SIDE = 4


def _corner(gaze: Tensor, canvas: Tensor, room: int = SIDE) -> Tensor:
    """Return row and column of the patch's first pixel, not yet whole numbers."""
    free = torch.tensor(canvas.shape[-2:], dtype=gaze.dtype) - room
    return (gaze + 1) / 2 * free


def _cut(canvas: Tensor, corner: Tensor) -> Tensor:
    """Cut one patch out of each picture; raise where it does not lie inside."""
    patches = []
    for picture, (row, column) in zip(canvas, corner.long().tolist(), strict=True):
        if min(row, column) < 0:
            raise IndexError("outside")
        patches.append(picture[row : row + SIDE, column : column + SIDE])
    return torch.stack(patches)


def _inside(corner: Tensor, canvas: Tensor) -> Tensor:
    most = torch.tensor(canvas.shape[-2:]) - SIDE
    return corner.clamp_min(0).minimum(most)


def _glimpse(canvas: Tensor, gaze: Tensor) -> Tensor:
    return _cut(canvas, _corner(gaze, canvas).round())


class _Glimpse(Exercise):
    """The gazes are drawn so that every patch is told from its neighbours, rounding included."""

    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Make canvases, and gazes between -1 and 1."""
        canvas = super().draw(case, seed, dtype)["canvas"]
        random = torch.Generator().manual_seed(seed)
        free = torch.tensor(canvas.shape[-2:], dtype=torch.float64) - SIDE
        shape = (*case.batch, 2)
        corner = (torch.rand(shape, generator=random, dtype=torch.float64) * (free + 1)).floor()
        off = 0.4 * (torch.rand(shape, generator=random, dtype=torch.float64) * 2 - 1)
        gaze = 2 * (corner + off).clamp_min(0).minimum(free) / free - 1
        return {"canvas": canvas, "gaze": gaze.to(dtype)}


_GLIMPSE_CUT = _Glimpse(
    returns="patch",
    shape="B G G",
    inputs={"canvas": "B L S", "gaze": "B P"},
    solution=_glimpse,
    cases=(
        Case("several pictures, each with its own gaze", (3,), {"L": 15, "S": 19, "P": 2, "G": 4}),
        Case("one picture (B = 1)", (1,), {"L": 13, "S": 11, "P": 2, "G": 4}),
    ),
    elsewhere=(),
    mistakes=(
        Mistake(
            lambda canvas, gaze: _cut(canvas, _corner(gaze, canvas).floor()),
            "The place is cut off, not rounded: int() and .long() drop what follows the point. "
            "Round first.",
        ),
        Mistake(
            lambda canvas, gaze: _cut(
                canvas, _inside(_corner(gaze.flip(-1), canvas).round(), canvas)
            ),
            "Row and column have changed places. A gaze is (row, column): down first, then across.",
        ),
        Mistake(
            lambda canvas, gaze: _glimpse(canvas, gaze).mT,
            "The patch is turned: its rows stand as columns.",
        ),
        Mistake(
            lambda canvas, gaze: _glimpse(canvas, -gaze),
            "The sign is turned around: -1 is the upper or left edge, 1 the lower or right one.",
        ),
        Mistake(
            lambda canvas, gaze: _glimpse(canvas, gaze[:1].expand_as(gaze)),
            "Every picture is cut at the gaze of the first one. Each has its own.",
        ),
        Mistake(
            lambda canvas, gaze: _glimpse(canvas[:1].expand_as(canvas), gaze),
            "All patches are cut out of the first picture. Each gaze has its own.",
        ),
        Mistake(
            lambda canvas, gaze: _cut(canvas, _inside(_corner(gaze, canvas, 0).round(), canvas)),
            "The gaze is spread over the whole side. The first pixel of a patch can only lie where "
            "the rest still fits: side - 4 steps from edge to edge.",
        ),
        Mistake(
            lambda canvas, gaze: _cut(
                canvas, _inside((_corner(gaze, canvas, 1) - SIDE / 2).round(), canvas)
            ),
            "The gaze is taken for the middle of the patch. Here -1 and 1 are the first and the "
            "last place where the whole patch fits.",
        ),
        Mistake(
            lambda canvas, gaze: _cut(
                canvas,
                _inside((gaze * (torch.tensor(canvas.shape[-2:]) - SIDE)).round(), canvas),
            ),
            "A gaze runs from -1 to 1, not from 0: add 1 and halve before you scale.",
        ),
        Mistake(
            lambda canvas, gaze: _glimpse(canvas, gaze) / SIDE**2,
            "The pixels are divided by their number. A glimpse is a piece of the picture as it is.",
        ),
        Mistake(
            lambda canvas, gaze: _glimpse(canvas, gaze).flatten(1),
            "The patch is flattened. Keep it a square: (B, 4, 4).",
        ),
    ),
)


def glimpse_cut(answer: Any, points: float = 3) -> Marks:
    """Check a function that cuts a patch out of each picture, where its gaze is.

    Parameters
    ----------
    answer : callable
        ``answer(canvas, gaze)``: canvas (B, L, S) and gaze (B, 2), row and column from -1 to 1 →
        patch (B, 4, 4). -1 and 1 are the first and the last place where the patch fits.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> glimpse_cut(lambda canvas, gaze: canvas[:, :4, :4])
    0.0
    """
    return _GLIMPSE_CUT.mark(answer, points)


# --- 2: shares --------------------------------------------------------------------------------


def _shares(amounts: Tensor) -> Tensor:
    return amounts / amounts.sum((-2, -1), keepdim=True)


def _of(largest: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda amounts: amounts / largest(amounts)


_MAP_SHARES = Exercise(
    returns="shares",
    shape="B L S",
    inputs={"amounts": "B L S"},
    solution=_shares,
    cases=(
        Case("several maps", (3,), {"L": 7, "S": 9}),
        Case("one map (B = 1)", (1,), {"L": 5, "S": 7}),
    ),
    prepare=lambda x: x.abs(),
    mistakes=(
        Mistake(
            _of(lambda a: a.sum(-1, keepdim=True)),
            "Each row sums to 1. A map is one whole: rows and columns are divided by one sum.",
        ),
        Mistake(
            _of(lambda a: a.sum(-2, keepdim=True)),
            "Each column sums to 1. A map is one whole: rows and columns are divided by one sum.",
        ),
        Mistake(
            _of(lambda a: a.sum()),
            "All maps of the batch are divided by one sum. Each map shares out its own whole.",
        ),
        Mistake(
            _of(lambda a: a.sum(0, keepdim=True)),
            "The sum runs over the batch, so maps that have nothing to do with each other share. "
            "Count axes from the end.",
        ),
        Mistake(
            _of(lambda a: a.amax((-2, -1), keepdim=True)),
            "The maps are divided by their largest amount: that is a scale, not a share. Shares "
            "sum to 1.",
        ),
        Mistake(
            _of(lambda a: a.max()),
            "All maps are divided by the largest amount of all. Shares of a map sum to 1.",
        ),
        Mistake(
            _of(lambda a: a.mean((-2, -1), keepdim=True)),
            "The maps are divided by their mean, so they sum to the number of places. Divide by "
            "the sum.",
        ),
        Mistake(
            lambda a: a.flatten(-2).softmax(-1).view_as(a),
            "This is a softmax. It turns any numbers into shares, by exp; amounts that are not "
            "negative need only be divided by their sum.",
        ),
        Mistake(
            lambda a: a.softmax(-1),
            "This is a softmax along each row. A map is one whole, and amounts that are not "
            "negative need no exp.",
        ),
        Mistake(
            lambda a: (
                (a - a.amin((-2, -1), keepdim=True))
                / (a.amax((-2, -1), keepdim=True) - a.amin((-2, -1), keepdim=True))
            ),
            "The maps are stretched from 0 to 1. Shares keep the proportions and sum to 1.",
        ),
        Mistake(
            _of(lambda a: a.square().sum((-2, -1), keepdim=True).sqrt()),
            "The maps are divided by the root of the sum of squares, which makes their length 1. "
            "Shares sum to 1.",
        ),
        Mistake(
            lambda a: a.sum((-2, -1)),
            "This is the sum of each map. Divide the map by it.",
        ),
        Mistake(
            lambda a: 100 * _shares(a),
            "These are percentages. Shares sum to 1.",
        ),
    ),
)


def map_shares(answer: Any, points: float = 2) -> Marks:
    """Check a function that turns maps of amounts into shares.

    Parameters
    ----------
    answer : callable
        ``answer(amounts)``: amounts (B, L, S), none below 0 → the same shape, each map summing
        to 1.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> map_shares(lambda amounts: amounts / amounts.sum((-2, -1), keepdim=True))
    2.0
    """
    return _MAP_SHARES.mark(answer, points)


# --- 3: which way reward pushes a gaze --------------------------------------------------------

SPREAD = 0.2


def _push(
    mean: Tensor,
    gaze: Tensor,
    reward: Tensor,
    baseline: Tensor,
    *,
    better: Callable[[Tensor, Tensor], Tensor] = torch.sub,
    scale: float = SPREAD**2,
) -> Tensor:
    return better(reward, baseline)[..., None] * (gaze - mean) / scale


_REWARD_PUSH = Exercise(
    returns="push",
    shape="B P",
    inputs={"mean": "B P", "gaze": "B P", "reward": "B", "baseline": "B"},
    solution=_push,
    # It is a gradient itself: autograd inside may well end there.
    trains=False,
    cases=(
        Case("several pictures", (5,), {"P": 2}),
        Case("one picture (B = 1)", (1,), {"P": 2}),
    ),
    elsewhere=(),
    mistakes=(
        Mistake(
            lambda *x: -_push(*x),
            "The sign is turned around: this makes good gazes rarer. (A loss would have that sign, "
            "because an optimiser goes downhill; the reward is to rise.)",
        ),
        Mistake(
            lambda *x: _push(*x, better=lambda r, b: r),
            "The baseline is missing. Without it every reward above 0 pulls, even one that is "
            "worse than usual.",
        ),
        Mistake(
            lambda *x: _push(*x, better=torch.add),
            "The baseline is added. What counts is how much better than expected: subtract it.",
        ),
        Mistake(
            lambda *x: _push(*x, better=lambda r, b: (r - b).sign()),
            "Only the sign of the surprise is used. How large it is counts too.",
        ),
        Mistake(
            lambda *x: _push(*x, better=lambda r, b: (r - b).abs()),
            "Without its sign the surprise always pulls. A bad one must push away.",
        ),
        Mistake(
            lambda *x: _push(*x, scale=1),
            "The division by σ² is missing.",
        ),
        Mistake(
            lambda *x: _push(*x, scale=SPREAD),
            "The step is divided by σ. The derivative of (g - μ)² / 2σ² has σ squared below.",
        ),
        Mistake(
            lambda *x: _push(*x, scale=1 / SPREAD**2),
            "The step is multiplied by σ², not divided.",
        ),
        Mistake(
            lambda *x: _push(*x, scale=2 * SPREAD**2),
            "There is a 2 left below. The derivative of the square brings a 2 that cancels it.",
        ),
        Mistake(
            lambda *x: _push(*x, scale=SPREAD**2 / 2),
            "There is a 2 too many. It is cancelled by the 2 below (g - μ)².",
        ),
        Mistake(
            lambda mean, gaze, reward, baseline: (gaze - mean) / SPREAD**2,
            "This is how the logarithm of the density changes with the mean. Weigh it by how much "
            "better than expected the gaze turned out.",
        ),
        Mistake(
            lambda mean, gaze, reward, baseline: (reward - baseline)[..., None].expand_as(mean),
            "This is how much better than expected it was. In which direction the mean should "
            "move, is missing.",
        ),
        Mistake(
            lambda mean, gaze, reward, baseline: (
                (reward - baseline)[..., None] * (gaze - mean).square() / (2 * SPREAD**2)
            ),
            "This is the exponent itself. Take its derivative with respect to the mean.",
        ),
        Mistake(
            lambda *x: _push(*x).mean(0),
            "The pushes of all pictures are averaged. Return one for each.",
        ),
        Mistake(
            lambda mean, gaze, reward, baseline: _push(mean, gaze, reward.mean()[None], baseline),
            "One mean reward is used for all pictures. Each gaze has its own.",
        ),
        Mistake(
            lambda mean, gaze, reward, baseline: _push(mean, gaze, reward, reward.mean()[None]),
            "The mean of the batch is subtracted; `baseline` is unused.",
        ),
    ),
)


def reward_push(answer: Any, points: float = 3) -> Marks:
    """Check a function that says which way a reward pushes the mean of a gaze: REINFORCE.

    Parameters
    ----------
    answer : callable
        ``answer(mean, gaze, reward, baseline)``: mean and gaze (B, 2), reward and baseline (B,) →
        push (B, 2): (reward - baseline) times the gradient of log N(gaze; mean, σ²) with respect
        to the mean, for σ = 0.2.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> reward_push(lambda mean, gaze, reward, baseline: gaze - mean)
    0.0
    """
    return _REWARD_PUSH.mark(answer, points)

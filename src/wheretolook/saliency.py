"""Where an eye might look, and what it would see there: two models, and never recorded gaze.

A *fovea*: the picture is sharp around the gaze and loses detail with eccentricity. A *priority
map*: what stands out (bottom-up), what is looked for (top-down), and any mixture of both.

A gaze is (row, column), each from -1 to 1, as everywhere in this package; lengths are shares of
the picture's side.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv1d, interpolate, pad

__all__ = [
    "blend",
    "colour_goal",
    "foveate",
    "peak",
    "place_goal",
    "priority",
    "pyramid",
    "radii",
    "saliency",
    "share_read",
    "shares",
]


def _check_picture(image: Tensor) -> None:
    if image.ndim != 3 or image.shape[0] != 3:
        raise ValueError(f"image: expected shape (3, rows, columns), got {tuple(image.shape)}")
    if not image.isfinite().all():
        raise ValueError("image: expected finite numbers, got NaN or infinity among its pixels")


def _check_gaze(gaze: Sequence[float]) -> tuple[float, float]:
    row, column = (float(x) for x in gaze)
    for name, place in (("row", row), ("column", column)):
        if not -1 <= place <= 1:
            raise ValueError(f"gaze: expected a {name} from -1 to 1 (the edges), got {place:g}")
    return row, column


# --- the fovea --------------------------------------------------------------------------------


def pyramid(image: Tensor, levels: int = 5) -> list[Tensor]:
    """Make copies of a picture that hold less and less detail.

    Level k keeps the mean of each square of 2^k × 2^k pixels: one number where there were 4^k.

    Parameters
    ----------
    image : Tensor
        (3, rows, columns), between 0 and 1.
    levels : int
        How many, the picture itself included.

    Returns
    -------
    list of Tensor
        (3, rows / 2^k, columns / 2^k) for level k.

    Raises
    ------
    ValueError
        If the picture's sides can't be halved that often, or a pixel is not finite.

    Examples
    --------
    >>> [tuple(level.shape) for level in pyramid(torch.rand(3, 16, 16), 3)]
    [(3, 16, 16), (3, 8, 8), (3, 4, 4)]
    """
    _check_picture(image)
    step = 2 ** (levels - 1)
    if image.shape[1] % step or image.shape[2] % step:
        raise ValueError(
            f"image: expected sides that are multiples of {step} for {levels} levels, got "
            f"{tuple(image.shape[1:])}"
        )
    return [avg_pool2d(image[None], 2**k)[0] for k in range(levels)]


def radii(levels: int = 5, *, fovea: float = 0.07, doubling: float = 0.06) -> list[float]:
    """Return how far from the gaze each level of a `pyramid` begins to be enough.

    The smallest visible detail grows in a straight line with the distance beyond the fovea, as it
    does in the eye (H. Strasburger, I. Rentschler and M. Jüttner, *Peripheral vision and pattern
    recognition*, Journal of Vision 11, 2011): it has doubled after `doubling`, doubled again after
    three times as much, and so on.

    Parameters
    ----------
    levels : int
        As for `pyramid`.
    fovea : float
        Up to here everything is sharp.
    doubling : float
        So much further out, details must be twice as large.

    Returns
    -------
    list of float
        One distance a level, growing.

    Examples
    --------
    >>> [round(r, 2) for r in radii(3)]
    [0.07, 0.13, 0.25]
    """
    return [fovea + doubling * (2**k - 1) for k in range(levels)]


def blend(size: tuple[int, int], gaze: Sequence[float], reach: Sequence[float]) -> Tensor:
    """Return how much of each level is seen at each place.

    Parameters
    ----------
    size : (rows, columns)
    gaze : (row, column)
        Each from -1 to 1.
    reach : sequence of float
        From `radii`.

    Returns
    -------
    Tensor
        (levels, rows, columns), summing to 1 over the levels.

    Raises
    ------
    ValueError
        If the gaze lies outside the picture.

    Examples
    --------
    >>> bool(torch.allclose(blend((8, 8), (0, 0), radii(3)).sum(0), torch.ones(8, 8)))
    True
    """
    row, column = _check_gaze(gaze)
    rows = (torch.arange(size[0]) + 0.5) / size[0] - (row + 1) / 2
    columns = (torch.arange(size[1]) + 0.5) / size[1] - (column + 1) / 2
    distance = torch.hypot(rows[:, None], columns[None, :])
    hidden = torch.ones(size)  # what finer levels leave to coarser ones
    parts = []
    for near, far in zip(reach, [*reach[1:], None], strict=True):
        cover = torch.ones(size) if far is None else ((far - distance) / (far - near)).clamp(0, 1)
        parts.append(hidden * cover)
        hidden = hidden * (1 - cover)
    return torch.stack(parts)


def foveate(levels: Sequence[Tensor], gaze: Sequence[float], reach: Sequence[float]) -> Tensor:
    """Compose what is seen at one gaze: sharp at the gaze, coarser with eccentricity.

    Parameters
    ----------
    levels : sequence of Tensor
        From `pyramid`.
    gaze : (row, column)
        Each from -1 to 1.
    reach : sequence of float
        From `radii`, one a level.

    Returns
    -------
    Tensor
        (3, rows, columns).

    Examples
    --------
    >>> grey = torch.full((3, 16, 16), 0.5)
    >>> bool(torch.allclose(foveate(pyramid(grey, 3), (0, 0), radii(3)), grey))
    True
    """
    size = tuple(levels[0].shape[1:])
    scaled = [interpolate(level[None], size, mode="bilinear")[0] for level in levels]
    return (torch.stack(scaled) * blend(size, gaze, reach)[:, None]).sum(0)


def share_read(size: tuple[int, int], gaze: Sequence[float], reach: Sequence[float]) -> float:
    """Return how much of the picture's detail is really read at one gaze.

    Where level k is seen, one number is read in place of 4^k.

    Parameters
    ----------
    size : (rows, columns)
    gaze : (row, column)
        Each from -1 to 1.
    reach : sequence of float
        From `radii`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> share_read((8, 8), (0, 0), [0.0])
    1.0
    """
    seen = blend(size, gaze, reach).mean((1, 2))
    return float((seen / 4.0 ** torch.arange(len(seen))).sum())


# --- the priority map -------------------------------------------------------------------------


def shares(amounts: Tensor) -> Tensor:
    """Divide a map of amounts by their sum: what is left says which share each place gets.

    Parameters
    ----------
    amounts : Tensor
        (rows, columns), none below 0.

    Returns
    -------
    Tensor
        The same shape, summing to 1.

    Raises
    ------
    ValueError
        If an amount is negative or not finite, or all are 0.

    Examples
    --------
    >>> shares(torch.tensor([[1.0, 3.0]]))
    tensor([[0.2500, 0.7500]])
    """
    if not amounts.isfinite().all() or (amounts < 0).any() or not amounts.sum() > 0:
        raise ValueError("amounts: expected finite numbers from 0 up, and not only zeros")
    return amounts / amounts.sum()


def saliency(image: Tensor, size: int = 48) -> Tensor:
    """Map what stands out from its surroundings: a bottom-up model, not recorded gaze.

    Three features (brightness, red against green, blue against yellow); for each, the difference
    between a small neighbourhood and a larger one; maps with few peaks count more than maps with
    many. A short form, without orientations, of L. Itti, C. Koch and E. Niebur, *A model of
    saliency-based visual attention for rapid scene analysis*, IEEE PAMI 20, 1998.

    Parameters
    ----------
    image : Tensor
        (3, rows, columns), between 0 and 1.
    size : int
        The side of the map.

    Returns
    -------
    Tensor
        (size, size) shares, summing to 1.

    Examples
    --------
    >>> dot = torch.zeros(3, 96, 96); dot[:, 40:44, 60:64] = 1
    >>> [round(x, 1) for x in peak(saliency(dot))]
    [-0.1, 0.3]
    """
    _check_picture(image)
    red, green, blue = interpolate(image[None], (96, 96), mode="bilinear", antialias=True)[0]
    features = [(red + green + blue) / 3, red - green, blue - (red + green) / 2]
    total = torch.zeros(96, 96)
    for feature in features:
        for centre, surround in ((1.0, 4.0), (1.0, 8.0), (2.0, 8.0), (2.0, 16.0)):
            contrast = (_blur(feature, centre) - _blur(feature, surround)).abs()
            contrast = contrast / contrast.max().clamp_min(1e-6)
            total = total + contrast * (1 - contrast.mean()) ** 2
    small = interpolate(_blur(total, 2.0)[None, None], (size, size), mode="area")[0, 0]
    return shares(small**2)


def colour_goal(image: Tensor, colour: Sequence[float], size: int = 48) -> Tensor:
    """Map how much each place has the colour that is looked for: a top-down model.

    Parameters
    ----------
    image : Tensor
        (3, rows, columns), between 0 and 1.
    colour : (red, green, blue)
        Each between 0 and 1.
    size : int
        The side of the map.

    Returns
    -------
    Tensor
        (size, size) shares, summing to 1.

    Examples
    --------
    >>> colour_goal(torch.rand(3, 64, 64), (1, 0, 0), size=8).shape
    torch.Size([8, 8])
    """
    _check_picture(image)
    pixels = interpolate(image[None], (size, size), mode="bilinear", antialias=True)[0]
    apart = (pixels - torch.tensor(colour, dtype=pixels.dtype)[:, None, None]).square().sum(0)
    return shares((-apart / (2 * 0.15**2)).exp())


def place_goal(where: Tensor) -> Tensor:
    """Map how near each place is to where the thing looked for is known to be.

    A person finds a face at once; this model does not: it is told where the face is.

    Parameters
    ----------
    where : Tensor
        (rows, columns) of bool.

    Returns
    -------
    Tensor
        The same shape, shares that sum to 1.

    Examples
    --------
    >>> round(float(place_goal(torch.eye(4) > 0).sum()), 4)
    1.0
    """
    return shares(_blur(where.float(), max(1.0, where.shape[0] / 24)))


def priority(bottom_up: Tensor, top_down: Tensor, goal: float) -> Tensor:
    """Mix what stands out with what is looked for: a model of priority, not recorded gaze.

    Parameters
    ----------
    bottom_up, top_down : Tensor
        Shares, of one shape.
    goal : float
        0: only what stands out; 1: only what is looked for.

    Returns
    -------
    Tensor
        Shares, summing to 1.

    Raises
    ------
    ValueError
        If `goal` is not between 0 and 1.

    Examples
    --------
    >>> priority(torch.tensor([1.0, 0]), torch.tensor([0, 1.0]), 0.25)
    tensor([0.7500, 0.2500])
    """
    if not 0 <= goal <= 1:
        raise ValueError(f"goal: expected a number between 0 and 1, got {goal:g}")
    return shares((1 - goal) * bottom_up + goal * top_down)


def peak(amounts: Tensor) -> tuple[float, float]:
    """Return the gaze that a map asks for: where its largest amount is.

    Parameters
    ----------
    amounts : Tensor
        (rows, columns).

    Returns
    -------
    (row, column)
        Each from -1 to 1.

    Examples
    --------
    >>> peak(torch.eye(3) * torch.tensor([1.0, 5.0, 1.0]))
    (0.0, 0.0)
    """
    row, column = divmod(int(amounts.argmax()), amounts.shape[1])
    return 2 * (row + 0.5) / amounts.shape[0] - 1, 2 * (column + 0.5) / amounts.shape[1] - 1


def _blur(values: Tensor, spread: float) -> Tensor:
    """Blur a map with a Gaussian."""
    reach = min(int(3 * spread + 0.5), min(values.shape) - 1)
    steps = torch.arange(-reach, reach + 1)
    kernel = (-steps.square() / (2 * spread**2)).exp()
    kernel = (kernel / kernel.sum())[None, None]
    for _ in range(2):  # along the rows, then along the columns
        padded = pad(values[:, None], (reach, reach), mode="reflect")
        values = conv1d(padded, kernel)[:, 0].mT
    return values

"""Scenes: a few handwritten digits in a grid of noise, and the caption that names them.

Each digit lies in a cell of its own. The caption goes from the smallest to the largest, so that a
reader has to search the picture, not to scan it; and it is known which cell each word comes from.
"""

from typing import NamedTuple

import torch
from einops import rearrange
from torch import Tensor

from ..recurrent import END
from .digits import DIGIT, checked, digits

__all__ = ["DIGITS", "FIRST", "NOISE", "WORDS", "Scenes", "arrange", "cells", "scenes"]

DIGITS = {3: 4, 4: 5}  # how many digits a grid of so many cells each way holds
NOISE = 0.25  # the brightest that an empty cell can be
FIRST = END + 1  # the number of the word for 0
WORDS = (
    *("<pad>", "<start>", "<end>"),
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
)


class Scenes(NamedTuple):
    """B pictures of a grid of S = side · side cells, with K digits each, and their captions.

    Attributes
    ----------
    images : (B, 8 side, 8 side)
        Pixels from 0 to 1.
    target : (B, K + 1) integers
        The caption, numbers of `WORDS`: the digits from the smallest to the largest, then the end.
    gold : (B, K) integers
        The cell that each word comes from, counted row by row; of two equal digits the earlier
        cell comes first.
    """

    images: Tensor
    target: Tensor
    gold: Tensor


def cells(images: Tensor, side: int) -> Tensor:
    """Cut pictures into their cells, row by row.

    Parameters
    ----------
    images : (B, 8 side, 8 side)
        Pixels from 0 to 1.
    side : {3, 4}
        How many cells each way.

    Returns
    -------
    (B, S, 8, 8)

    Raises
    ------
    ValueError
        If the side is another, an image has another size, or a pixel is not a number from 0 to 1.

    Examples
    --------
    >>> cells(torch.zeros(2, 24, 24), 3).shape
    torch.Size([2, 9, 8, 8])
    """
    _check_side(side)
    return rearrange(
        checked(images, side * DIGIT),
        "batch (row height) (column width) -> batch (row column) height width",
        row=side,
        column=side,
    )


def arrange(images: Tensor, labels: Tensor, generator: torch.Generator, side: int) -> Scenes:
    """Put digits into cells that are drawn for them, and name them.

    Parameters
    ----------
    images : (B, K, 8, 8)
        The digits of each scene, pixels from 0 to 1.
    labels : (B, K) integers
        What they are called, 0 to 9.
    generator : torch.Generator
        Where chance comes from.
    side : {3, 4}
        How many cells each way.

    Returns
    -------
    Scenes

    Raises
    ------
    ValueError
        If the side is another, or images and labels do not fit each other or the grid.

    Examples
    --------
    >>> made = torch.Generator().manual_seed(0)
    >>> scene = arrange(torch.ones(1, 3, 8, 8), torch.tensor([[7, 0, 2]]), made, side=3)
    >>> [WORDS[number] for number in scene.target[0]]
    ['zero', 'two', 'seven', '<end>']
    """
    _check_side(side)
    size = side * side
    if images.ndim != 4 or not 1 <= images.shape[1] <= size:
        raise ValueError(
            f"images: expected (B, K, {DIGIT}, {DIGIT}), K from 1 to {size}; "
            f"got {tuple(images.shape)}"
        )
    batch, count = images.shape[:2]
    if labels.shape != (batch, count) or labels.is_floating_point():
        raise ValueError(
            f"labels: expected integers {(batch, count)}, got {labels.dtype} {tuple(labels.shape)}"
        )
    if ((labels < 0) | (labels > 9)).any():
        wrong = labels[(labels < 0) | (labels > 9)][0].item()
        raise ValueError(f"labels: expected 0 to 9, got {wrong}")
    images = checked(images.flatten(0, 1), DIGIT).unflatten(0, (batch, count))
    places = torch.rand(batch, size, generator=generator).argsort(1)[:, :count]
    grid = NOISE * torch.rand(batch, size, DIGIT, DIGIT, generator=generator)
    rows = torch.arange(batch)[:, None]
    grid[rows, places] = torch.maximum(grid[rows, places], images)
    order = (labels * size + places).argsort(1)
    target = torch.nn.functional.pad(labels.gather(1, order) + FIRST, (0, 1), value=END)
    picture = rearrange(
        grid,
        "batch (row column) height width -> batch (row height) (column width)",
        row=side,
    )
    return Scenes(picture, target, places.gather(1, order))


def scenes(part: str, seed: int = 0, *, count: int = 2000, side: int = 4) -> Scenes:
    """Make scenes of the digits of one part.

    Parameters
    ----------
    part : {"training", "test"}
        Which digits; none is in both.
    seed : int
        Of the digits, their places and the noise.
    count : int
        How many scenes.
    side : {3, 4}
        How many cells each way: 3 × 3 with four digits, or 4 × 4 with five.

    Returns
    -------
    Scenes

    Raises
    ------
    ValueError
        If there is no such part, no such side, or no scene.

    Examples
    --------
    >>> scenes("test", count=10).images.shape
    torch.Size([10, 32, 32])
    """
    _check_side(side)
    if count < 1:
        raise ValueError(f"count: expected 1 or more, got {count}")
    images, labels = digits(part)
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randint(len(labels), (count, DIGITS[side]), generator=generator)
    return arrange(images[rows], labels[rows], generator, side)


def _check_side(side: int) -> None:
    if side not in DIGITS:
        raise ValueError(f"side: expected {' or '.join(map(str, DIGITS))}, got {side!r}")

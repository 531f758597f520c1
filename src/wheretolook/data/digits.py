"""Handwritten digits, each somewhere on a larger dark canvas.

The digits come inside scikit-learn: 1,797 images of 8×8 pixels in 17 shades, by E. Alpaydin and
C. Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine Learning Repository (1998). A
canvas is nine times as large as its digit, so one has to find it before one can read it.
"""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["CANVAS", "DIGIT", "Canvases", "canvases", "checked", "digits", "place"]

CANVAS = 24  # pixels each way
DIGIT = 8
_PARTS = {"training": slice(None, 1400), "test": slice(1400, None)}


class Canvases(NamedTuple):
    """B digits on canvases.

    Attributes
    ----------
    images : (B, 24, 24)
        Pixels from 0 (dark) to 1.
    labels : (B,) integers
        Which digit it is, 0 to 9.
    centres : (B, 2)
        Row and column of the digit's middle, as a gaze: from -1 (the middle of the first pixel)
        to 1 (the middle of the last).
    """

    images: Tensor
    labels: Tensor
    centres: Tensor


@lru_cache
def digits(part: str) -> tuple[Tensor, Tensor]:
    """Return the digits themselves.

    The split is the same for every seed: no model of the book was trained on a test digit.

    Parameters
    ----------
    part : {"training", "test"}
        1,400 or 397 digits.

    Returns
    -------
    images : (N, 8, 8)
        Pixels from 0 to 1.
    labels : (N,) integers

    Raises
    ------
    ValueError
        If there is no such part.

    Examples
    --------
    >>> [len(digits(part)[0]) for part in ("training", "test")]
    [1400, 397]
    """
    if part not in _PARTS:
        raise ValueError(f"part: expected 'training' or 'test', got {part!r}")
    from sklearn.datasets import load_digits  # here: it takes a second, and few modules need it

    found = load_digits()
    # The file goes from one writer to the next; shuffled, both parts have all of them.
    order = torch.randperm(len(found.target), generator=torch.Generator().manual_seed(0))
    rows = order[_PARTS[part]]
    images = torch.tensor(found.images, dtype=torch.float32) / 16  # shades 0 to 16
    return images[rows], torch.tensor(found.target)[rows]


def place(images: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Put each digit somewhere on a canvas of its own, every place as likely as any other.

    Parameters
    ----------
    images : (N, 8, 8)
        Digits, pixels from 0 to 1.
    generator : torch.Generator
        Where chance comes from.

    Returns
    -------
    canvas : (N, 24, 24)
    centres : (N, 2)
        As in `Canvases`.

    Raises
    ------
    ValueError
        If an image has another size, or a pixel is not a number from 0 to 1.

    Examples
    --------
    >>> canvas, centres = place(torch.ones(5, 8, 8), torch.Generator().manual_seed(0))
    >>> canvas.shape, canvas.sum((1, 2)).tolist()
    (torch.Size([5, 24, 24]), [64.0, 64.0, 64.0, 64.0, 64.0])
    """
    images = checked(images, DIGIT)
    corner = torch.randint(CANVAS - DIGIT + 1, (len(images), 2), generator=generator)
    each, pixel = torch.arange(len(images))[:, None, None], torch.arange(DIGIT)
    rows, columns = corner[:, 0, None] + pixel, corner[:, 1, None] + pixel
    canvas = images.new_zeros(len(images), CANVAS, CANVAS)
    canvas[each, rows[:, :, None], columns[:, None, :]] = images
    return canvas, (corner + (DIGIT - 1) / 2) / (CANVAS - 1) * 2 - 1


def canvases(part: str, seed: int = 0, *, copies: int = 1) -> Canvases:
    """Put every digit of a part on a canvas.

    Parameters
    ----------
    part : {"training", "test"}
        Which digits; none is in both.
    seed : int
        Of the places.
    copies : int
        How many canvases each digit gets.

    Returns
    -------
    Canvases

    Raises
    ------
    ValueError
        If there is no such part, or no copy.

    Examples
    --------
    >>> canvases("test", seed=0).images.shape
    torch.Size([397, 24, 24])
    """
    if copies < 1:
        raise ValueError(f"copies: expected 1 or more, got {copies}")
    images, labels = digits(part)
    placed, centres = place(images.repeat(copies, 1, 1), torch.Generator().manual_seed(seed))
    return Canvases(placed, labels.repeat(copies), centres)


def checked(images: Tensor, size: int) -> Tensor:
    """Return square images as float32, or say what is wrong with them.

    Parameters
    ----------
    images : (N, size, size)
        Pixels from 0 to 1.
    size : int
        What is accepted.

    Returns
    -------
    images : (N, size, size)

    Raises
    ------
    ValueError
        If the size is another, or a pixel is not a number from 0 to 1; names the first such.

    Examples
    --------
    >>> checked(torch.full((1, 2, 2), 255.0), 2)
    Traceback (most recent call last):
    ValueError: images: expected pixels from 0 to 1, got 255.0 in image 0, row 0, column 0
    """
    if images.ndim != 3 or images.shape[1:] != (size, size):
        raise ValueError(f"images: expected (N, {size}, {size}), got {tuple(images.shape)}")
    fine = (images >= 0) & (images <= 1)  # false for a NaN, too
    if not fine.all():
        image, row, column = (~fine).nonzero()[0].tolist()
        raise ValueError(
            f"images: expected pixels from 0 to 1, got {images[image, row, column].item()} "
            f"in image {image}, row {row}, column {column}"
        )
    return images.float()

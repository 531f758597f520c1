"""One real photograph, which ships inside a package: nothing is downloaded.

It is the portrait of the astronaut Eileen Collins by NASA that scikit-image carries as
``astronaut`` (512 × 512, from NASA's Great Images database, https://flic.kr/p/r9qvLn). NASA
released it into the public domain; there are no known copyright restrictions.
"""

from functools import cache
from importlib import resources
from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn.functional import interpolate

__all__ = ["ALT", "REGIONS", "portrait", "region"]

ALT = (
    "Portrait of an astronaut in an orange suit, smiling; on the left a flag, on the right a model "
    "of a space shuttle, in front her helmet"
)

# Marked by hand, in pixels of the original: top, left, bottom, right.
_SIDE = 512
REGIONS = MappingProxyType(
    {
        "face": (70, 176, 188, 276),
        "flag": (0, 0, 250, 98),
        "shuttle": (0, 352, 288, 472),
        "helmet": (342, 278, 512, 512),
        "suit": (215, 24, 512, 278),
        "badge": (345, 132, 426, 212),  # on the suit
    }
)


def portrait(size: int = 384) -> Tensor:
    """Read the photograph.

    Parameters
    ----------
    size : int
        How many pixels a side has, 16 to 512.

    Returns
    -------
    Tensor
        (3, size, size): red, green and blue between 0 and 1.

    Raises
    ------
    ValueError
        If the size is not within its bounds.
    ModuleNotFoundError
        If scikit-image is not installed; names the extra that brings it.

    Examples
    --------
    >>> portrait(64).shape
    torch.Size([3, 64, 64])
    """
    if not 16 <= size <= _SIDE:
        raise ValueError(f"size: expected 16 to {_SIDE} pixels, got {size}")
    whole = _original().clone()
    if size == _SIDE:
        return whole
    scaled = interpolate(whole[None], (size, size), mode="bicubic", antialias=True)
    return scaled[0].clamp(0, 1)


def region(name: str, size: int) -> Tensor:
    """Return where a thing is in the photograph, as marked by hand.

    Parameters
    ----------
    name : str
        One of `REGIONS`.
    size : int
        The side of the map.

    Returns
    -------
    Tensor
        (size, size) of bool: True inside the box.

    Raises
    ------
    ValueError
        If there is no such region.

    Examples
    --------
    >>> int(region("face", 64).sum())
    168
    """
    if name not in REGIONS:
        raise ValueError(f"name: expected one of {', '.join(REGIONS)}; got {name!r}")
    top, left, bottom, right = (edge / _SIDE for edge in REGIONS[name])
    middle = (torch.arange(size) + 0.5) / size
    rows, columns = (middle >= top) & (middle < bottom), (middle >= left) & (middle < right)
    return rows[:, None] & columns


@cache
def _original() -> Tensor:
    from matplotlib.image import imread

    try:
        path = resources.files("skimage") / "data" / "astronaut.png"
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "the photograph ships with scikit-image, which is not installed: "
            "pip install scikit-image, or wheretolook[data]"
        ) from error
    with path.open("rb") as file:
        pixels = imread(file, format="png")
    return torch.from_numpy(pixels[..., :3].copy()).permute(2, 0, 1).float()

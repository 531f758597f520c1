"""A photograph with light and shade on it: a map of weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from .. import figures
from .fovea import Stage, address
from .view import Numbers, numbers

__all__ = ["Overlay"]


class Overlay(Stage):
    """A photograph that is bright where a map is high, and dark where it is low.

    Parameters
    ----------
    image : Tensor
        (3, rows, columns), between 0 and 1; the same in all frames.
    weights : (rows, columns)
        None below 0; the largest is the brightest.
    alt : str
        What photograph and map show.
    title : str
    gaze : (row, column), optional
        Where the ring stands.
    width : float
        In rem.

    Examples
    --------
    >>> import torch
    >>> Overlay(torch.rand(3, 16, 16), torch.eye(4), alt="bright along the diagonal").describe()
    'bright along the diagonal'
    """

    def __init__(
        self,
        image: Tensor,
        weights: Numbers,
        *,
        alt: str,
        title: str = "",
        gaze: Sequence[float] | None = None,
        width: float = 20,
    ) -> None:
        super().__init__(alt, title=title, gaze=gaze, width=width)
        amounts = numbers("weights", weights, 2)
        if amounts.min() < 0 or amounts.max() <= 0:
            raise ValueError("weights: expected numbers from 0 up, and not only zeros")
        self.image, self.shade = image, 0.8 * (1 - (amounts / amounts.max()) ** 0.5)

    def layers(self) -> str:
        """Return the photograph."""
        source = _encoded(self.image)
        return f'<img class="dark-light" alt="" src="{source}">'

    def over(self) -> str:
        """Return the shade."""
        shade = (40 * self.shade).round() / 40  # as fine as an eye can see, and a third lighter
        return f"url({address(np.dstack([np.zeros_like(shade), shade]), 'png')})"

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw photograph and shade with matplotlib."""
        axes.set_title(self.title)
        shade = np.dstack([*[np.zeros_like(self.shade)] * 3, self.shade])
        figures.photograph(axes, self.image.permute(1, 2, 0).numpy(), self.gaze, shade)


_kept: tuple[Any, str] = (None, "")


def _encoded(image: Tensor) -> str:
    """Encode the photograph; all frames of an explorer share it, so the last one is kept."""
    global _kept
    if _kept[0] is not image:
        _kept = image, address(image.permute(1, 2, 0), "webp", quality=72, method=6)
    return _kept[1]

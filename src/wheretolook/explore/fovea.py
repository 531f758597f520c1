"""A photograph under a fovea, and what every picture with a gaze on it has in common.

The page holds each level of detail once; CSS masks compose them around the gaze. So a frame is
two numbers, and the gaze may follow a slider, a pointer or the arrow keys.
"""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from PIL import Image
from torch import Tensor

from .. import figures
from ..saliency import foveate
from .view import View

__all__ = ["Fovea", "Stage", "address", "percent"]


def address(pixels: Tensor | np.ndarray, form: str, **options: Any) -> str:
    """Return a picture with values between 0 and 1 as a data address.

    Parameters
    ----------
    pixels : Tensor or array
        (rows, columns) or (rows, columns, channels).
    form : str
        "jpeg" or "webp" (a third lighter, but its colours are coarse) for a photograph; "png" for a
        map.
    **options
        Of the encoder, such as ``quality``.
    """
    array = pixels.numpy() if isinstance(pixels, Tensor) else pixels
    buffer = BytesIO()
    Image.fromarray((array * 255).round().clip(0, 255).astype("uint8")).save(
        buffer, form, optimize=True, **options
    )
    return f"data:image/{form};base64,{b64encode(buffer.getvalue()).decode()}"


def percent(place: float) -> str:
    """Return a place between -1 and 1 as CSS says it."""
    return f"{50 * (place + 1):g}%"


class Stage(View):
    """A picture with a gaze on it; what is drawn comes from the classes below it.

    Parameters
    ----------
    alt : str
        What the picture shows, in words.
    title : str
    gaze : (row, column), optional
        Each from -1 to 1: where the ring stands.
    width : float
        In rem; on a narrow page it shrinks.
    """

    kind = "fovea"
    look = ""

    def __init__(
        self,
        alt: str,
        *,
        title: str = "",
        gaze: Sequence[float] | None = None,
        width: float = 24,
    ) -> None:
        super().__init__(title)
        if not alt.strip():
            raise ValueError("alt: expected words that say what the picture shows, got none")
        if gaze is not None and not all(-1 <= place <= 1 for place in gaze):
            raise ValueError(f"gaze: expected row and column from -1 to 1, got {tuple(gaze)}")
        self.alt, self.width = alt, width
        self.gaze = None if gaze is None else tuple(map(float, gaze))

    def over(self) -> str:
        """Return what lies over the picture in this frame, as a CSS image."""
        return ""

    def layers(self) -> str:
        """Return the markup of the layers that all frames share."""
        return ""

    def values(self, limit: float) -> list[Any]:
        """Return title, then the gaze, what lies over the picture, and its words."""
        down, across = map(percent, self.gaze or (0, 0))
        return [self.title, [across, down, self.over(), self.alt]]

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return the layers; gaze and overlay are custom properties of their holder."""
        title = words = place = ""
        if slots is not None:
            across, down, over, alt = slots[1]
            title, words = escape(str(slots[0])), f' aria-label="{escape(alt)}"'
            place = escape(f"--x:{across};--y:{down};" + (f"--m:{over};" if over else ""))
        ring = " wtl-ring" if self.gaze else ""
        return self.holder(
            f'<p class="wtl-title" data-v>{title}</p>'
            f'<div data-v class="wtl-stage wtl-focus{self.look}{ring}" role="img"{words}'
            f'{self.steering()} style="{place}width:{self.width:g}rem">{self.layers()}</div>'
        )

    def steering(self) -> str:
        """Return the attributes that let the reader move the gaze on the picture itself."""
        return ""

    def describe(self) -> str:
        """Return the words."""
        return f"{self.title}: {self.alt}" if self.title else self.alt


class Fovea(Stage):
    """A photograph as an eye sees it at one gaze: a model of the eye, not recorded gaze.

    Parameters
    ----------
    levels : sequence of Tensor
        From `wheretolook.saliency.pyramid`.
    reach : sequence of float
        From `wheretolook.saliency.radii`.
    gaze : (row, column)
        Each from -1 to 1.
    alt : str
        What the photograph shows.
    title : str
    steer : (str, str), optional
        The controls of the explorer that pointer and arrow keys move: across, down. Both must
        run from edge to edge.
    width : float
        In rem.

    Raises
    ------
    ValueError
        If the gaze lies outside the picture, or there are no words.

    Examples
    --------
    >>> import torch
    >>> from wheretolook.saliency import pyramid, radii
    >>> grey = pyramid(torch.full((3, 32, 32), 0.5), 3)
    >>> Fovea(grey, radii(3), (0, 0.5), alt="a grey square").describe()
    'a grey square; sharp at row 0.00, column 0.50'
    """

    def __init__(
        self,
        levels: Sequence[Tensor],
        reach: Sequence[float],
        gaze: Sequence[float],
        *,
        alt: str,
        title: str = "",
        steer: tuple[str, str] | None = None,
        width: float = 24,
    ) -> None:
        super().__init__(alt, title=title, gaze=gaze, width=width)
        if len(levels) != len(reach):
            raise ValueError(f"reach: expected {len(levels)} distances, got {len(reach)}")
        self.levels, self.reach, self.steer = levels, reach, steer

    def layers(self) -> str:
        """Return one image a level, the coarsest at the bottom, each fading at its distance."""
        pictures = _encoded(self.levels)
        drawn = f'<img class="dark-light" alt="" src="{pictures[-1]}">'
        for k in range(len(pictures) - 2, -1, -1):
            near, far = self.reach[k], self.reach[k + 1]
            drawn += (
                f'<img class="dark-light" alt="" src="{pictures[k]}" '
                f'style="--r:{100 * far:.4g}%;--n:{100 * near / far:.4g}%">'
            )
        return drawn

    def steering(self) -> str:
        """Return the names of the controls, and a place in the tab order."""
        if self.steer is None:
            return ""
        names = escape(" ".join(self.steer))
        return f' tabindex="0" data-pad="{names}" data-lm-suppress-shortcuts="true"'

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw what is seen, composed by torch."""
        seen = foveate(self.levels, self.gaze, self.reach)
        axes.set_title(self.title)
        figures.photograph(axes, seen.permute(1, 2, 0).numpy(), self.gaze)

    def describe(self) -> str:
        """Return the words, and where it is sharp."""
        row, column = self.gaze
        return f"{super().describe()}; sharp at row {row:.2f}, column {column:.2f}"


_kept: tuple[Any, list[str]] = (None, [])


def _encoded(levels: Sequence[Tensor]) -> list[str]:
    """Encode the levels; all frames of an explorer share them, so the last ones are kept."""
    global _kept
    if _kept[0] is not levels:
        _kept = (
            levels,
            [
                # coarse levels are small, and their pixels cover much: they keep all colours
                address(x.permute(1, 2, 0), "webp", quality=72 + 7 * k, method=6)
                if k < 2
                else address(x.permute(1, 2, 0), "jpeg", quality=72 + 6 * min(k, 3), subsampling=0)
                for k, x in enumerate(levels)
            ],
        )
    return _kept[1]

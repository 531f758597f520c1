"""Pictures that matplotlib has drawn."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from PIL import Image

from .. import figures
from .view import View

__all__ = ["Picture", "as_view"]


class Picture(View):
    """A matplotlib figure, one picture a frame.

    On a dark page a drawing is inverted, with its hues kept; a photograph is not.

    Parameters
    ----------
    figure : matplotlib Figure
        Closed once it is drawn.
    alt : str
        What the picture shows, in words.
    title : str
    photo : bool
        Whether it is a photograph.
    resizes : bool
        Whether the size may change between frames.

    Raises
    ------
    ValueError
        If `alt` is empty.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> Picture(plt.figure(), "an empty sheet").describe()
    'an empty sheet'
    """

    kind = "picture"

    def __init__(
        self,
        figure: Figure,
        alt: str,
        *,
        title: str = "",
        photo: bool = False,
        resizes: bool = False,
    ) -> None:
        super().__init__(title, resizes=resizes)
        if not alt.strip():
            raise ValueError("alt: expected words that say what the picture shows, got none")
        self.alt, self.photo = alt, photo
        self.size = [round(96 * inches) for inches in figure.get_size_inches()]  # CSS pixels
        self.png = figures.figure_png(figure, clear=not photo)

    def values(self, limit: float) -> list[Any]:
        """Return title, alternative text and the picture as a data address."""
        return [self.title, [_address(self.png), self.alt]]

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return an image whose source is the slot; on a narrow page it scrolls."""
        title = source = ""
        if slots is not None:
            title = escape(str(slots[0]))
            source = f' src="{slots[1][0]}" alt="{escape(slots[1][1])}"'
        width, height = self.size
        kind = "wtl-photo" if self.photo else "wtl-drawing"
        return self.holder(
            f'<p class="wtl-title" data-v>{title}</p><div class="wtl-scroll">'
            f'<img data-v class="wtl-picture {kind} dark-light" width="{width}" '
            f'height="{height}" style="min-width:{min(width, 560)}px"{source}></div>'
        )

    def plot(self, axes: Axes, limit: float) -> None:
        """Show the picture."""
        axes.imshow(imread(BytesIO(self.png)))
        axes.set_axis_off()

    def describe(self) -> str:
        """Return the alternative text."""
        return self.alt


def _address(png: bytes) -> str:
    """Return a picture as a data address, in WebP: the same pixels weigh half as much."""
    buffer = BytesIO()
    Image.open(BytesIO(png)).save(buffer, "webp", lossless=True)
    return f"data:image/webp;base64,{b64encode(buffer.getvalue()).decode()}"


def as_view(shown: Any) -> View:
    """Return `shown` as a view: a view stays, a matplotlib figure becomes a `Picture`.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if isinstance(shown, View):
        return shown
    if isinstance(shown, Figure):
        titles = [a.get_title(place) for a in shown.axes for place in ("left", "center", "right")]
        return Picture(shown, next(filter(None, [shown.get_suptitle(), *titles]), "figure"))
    raise ValueError(
        "draw: expected a view (Heatmap, Matrix, Tokens, Bars, Curves, Arrows), a matplotlib "
        f"figure, or a list of them, got {type(shown).__name__}"
    )

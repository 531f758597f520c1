"""A scan path: where a model looked, glimpse by glimpse."""

from urllib.parse import quote

import numpy as np
from matplotlib.axes import Axes

from .. import figures
from ..tokens import COLOURS
from .fovea import Stage, address
from .view import Numbers, numbers

__all__ = ["ScanPath"]


class ScanPath(Stage):
    """A small picture; on it, the patch that is read now and the way there.

    Parameters
    ----------
    image : (rows, columns)
        Between 0 (black) and 1 (white).
    path : (glimpses, 2), optional
        Row and column of each gaze so far, in pixels; 0 is the middle of the first pixel. Without
        one, only the picture is shown.
    side : int
        Pixels along a side of the patch.
    alt : str
        What happens, in words.
    title : str
    width : float
        In rem.

    Raises
    ------
    ValueError
        If a gaze lies outside the picture.

    Examples
    --------
    >>> import numpy as np
    >>> path = [[4.0, 4], [2, 6]]
    >>> ScanPath(np.zeros((9, 9)), path, 3, alt="from the middle to the right").describe()
    'from the middle to the right'
    """

    look = " wtl-scan"

    def __init__(
        self,
        image: Numbers,
        path: Numbers | None = None,
        side: int = 1,
        *,
        alt: str,
        title: str = "",
        width: float = 15,
    ) -> None:
        super().__init__(alt, title=title, width=width)
        self.image, self.path, self.side = (
            numbers("image", image, 2),
            numbers("path", np.empty((0, 2)) if path is None else path, 2),
            side,
        )
        last = np.array(self.image.shape) - 1
        if self.path.shape[1] != 2 or (self.path < -0.01).any() or (self.path > last + 0.01).any():
            raise ValueError(f"path: expected rows and columns from 0 to {last}, got {path}")

    def over(self) -> str:
        """Return the path as a drawing, and the picture below it."""
        picture = f"url({address(self.image, 'png')})"
        if not len(self.path):
            return picture
        rows, columns = self.image.shape
        places = [(x + 0.5, y + 0.5) for y, x in self.path]
        tint, half = COLOURS["focus"][1], self.side / 2
        x, y = places[-1]
        drawn = (
            f"<rect x='{x - half:.1f}' y='{y - half:.1f}' width='{self.side}' "
            f"height='{self.side}' fill='none' stroke='{tint}' stroke-width='.45'/>"
        )
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        drawn += f"<polyline points='{line}' fill='none' stroke='{tint}' stroke-width='.25'/>"
        drawn += "".join(
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='.6' fill='{tint}'/>" for x, y in places
        )
        head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {columns} {rows}'>"
        source = quote(f"{head}{drawn}</svg>", safe=" =:/,.-")
        return f'url("data:image/svg+xml,{source}"),{picture}'

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw picture and path with matplotlib."""
        axes.set_title(self.title)
        figures.scan(axes, self.image, self.path, self.side)

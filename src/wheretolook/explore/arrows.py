"""Arrows from the origin of a plane."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .. import figures
from .view import Numbers, View, fixed_point, like, names_for, numbers, printed

__all__ = ["Arrows"]


class Arrows(View):
    """Arrows from the origin of a plane, such as a query among keys.

    Parameters
    ----------
    ends : (n, 2)
        Where each arrow ends.
    names : sequence of str
    strengths : (n,), optional
        In [0, 1]: how bold an arrow is (its weight); 1 if None.
    special : int, optional
        Index of an arrow in the other colour: the query.
    title : str
    reach : float, optional
        Half the side of the plane; fits all frames if None.

    Examples
    --------
    >>> Arrows([[1.0, 0.0]], ["q"], title="plane").describe()
    'plane: q (1.00, 0.00)'
    """

    kind = "arrows"

    def __init__(
        self,
        ends: Numbers,
        names: Sequence[str],
        *,
        strengths: Numbers | None = None,
        special: int | None = None,
        title: str = "",
        reach: float | None = None,
        resizes: bool = False,
    ) -> None:
        super().__init__(title, resizes=resizes)
        self.ends = numbers("ends", ends, 2)
        if self.ends.shape[1] != 2:
            raise ValueError(f"ends: expected (arrows, 2), got {self.ends.shape}")
        self.names = names_for("names", names, len(self.ends))
        ones = np.ones(len(self.ends))
        self.strengths = ones
        if strengths is not None:
            self.strengths = like("strengths", numbers("strengths", strengths, 1), ones)
        self.special, self.reach = special, reach

    def limit(self) -> float:
        """Return how far the arrows reach."""
        return self.reach or 1.25 * float(np.abs(self.ends).max(initial=1e-9))

    def values(self, limit: float) -> list[Any]:
        """Return title, then tip, strength and label place of each arrow in SVG units."""
        slots: list[Any] = [self.title]
        for (x, y), strength in zip(self.ends, self.strengths, strict=True):
            tip = [round(100 * x / limit, 1), round(-100 * y / limit, 1), round(float(strength), 3)]
            slots += [tip, tip]
        return slots

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return an SVG plane; each arrow and its name are slots."""
        drawn = ""
        for i, name in enumerate(self.names):
            kind = ' class="wtl-query"' if i == self.special else ""
            line = label = ""
            if slots is not None:
                x, y, strength = slots[1 + 2 * i]
                line = f' d="{arrow_path(x, y)}" style="--w:{strength}"'
                label = label_place(x, y)
            drawn += f"<path data-v{kind}{line}/><text data-v{label}>{escape(name)}</text>"
        title = "" if slots is None else escape(str(slots[0]))
        return self.holder(
            f'<p class="wtl-title" data-v>{title}</p>'
            '<svg class="wtl-arrows" viewBox="-115 -115 230 230" role="img" '
            f'aria-label="{escape(", ".join(self.names))}: arrows from the origin">'
            f'<path class="wtl-axis" d="M-110 0H110M0 -110V110"/>{drawn}</svg>'
        )

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the plane with matplotlib."""
        axes.set_title(self.title)
        figures.arrows(axes, self.ends, self.names, self.strengths)

    def describe(self) -> str:
        """Return where each arrow ends."""
        tips = [[printed(fixed_point(v, 2), 2) for v in end] for end in self.ends]
        ends = ", ".join(f"{n} ({x}, {y})" for n, (x, y) in zip(self.names, tips, strict=True))
        return f"{self.title or 'arrows'}: {ends}"


def arrow_path(x: float, y: float) -> str:
    """Return the SVG path of an arrow from the origin to its tip, with a head."""
    length = max((x * x + y * y) ** 0.5, 1e-9)
    back_x, back_y = x * (1 - 9 / length), y * (1 - 9 / length)
    side_x, side_y = -y / length * 4, x / length * 4
    return (
        f"M0 0L{x:.1f} {y:.1f}M{back_x + side_x:.1f} {back_y + side_y:.1f}L{x:.1f} {y:.1f}"
        f"L{back_x - side_x:.1f} {back_y - side_y:.1f}"
    )


def label_place(x: float, y: float) -> str:
    """Return the SVG attributes of a name a little beyond an arrow's tip."""
    beyond = 1 + 12 / max((x * x + y * y) ** 0.5, 1e-9)
    return f' x="{x * beyond:.1f}" y="{y * beyond + 4:.1f}"'

"""Curves over one axis, read out by pointer or keyboard."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .. import figures
from .view import Numbers, View, fixed_point, like, numbers, printed, short, to_json

__all__ = ["Curves"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 360, 200, 44, 34  # a curve's canvas, in SVG units
_DIGITS = 6  # of a place on the x axis


class Curves(View):
    """Curves over one x axis; hover or arrow keys read them out.

    Parameters
    ----------
    x : (n,)
        At least two values, rising, the same in every frame.
    series : dict of name → (n,)
        At most four.
    x_name, y_name : str
        What the axes are.
    y_limits : (low, high), optional
        The y axis, for all frames; from 0 (or the lowest value) to the largest if None.
    title : str
    decimals : int

    Examples
    --------
    >>> Curves([0, 1], {"loss": [1.0, 0.5]}, x_name="step", y_name="loss").describe()
    'loss over step: loss ends at 0.50'
    """

    kind = "curves"

    def __init__(
        self,
        x: Numbers,
        series: dict[str, Numbers],
        *,
        x_name: str,
        y_name: str,
        y_limits: tuple[float, float] | None = None,
        title: str = "",
        decimals: int = 2,
        resizes: bool = False,
    ) -> None:
        super().__init__(title, resizes=resizes)
        self.x = numbers("x", x, 1)
        if len(self.x) < 2 or (np.diff(self.x) <= 0).any():
            raise ValueError(f"x: expected at least two rising values, got {self.x.tolist()}")
        if not 1 <= len(series) <= 4:
            raise ValueError(f"series: expected one to four curves, got {len(series)}")
        self.series = {}
        for name, y in series.items():
            what = f"series[{name!r}]"
            self.series[name] = like(what, numbers(what, y, 1), self.x)
        self.lowest = min(0.0, *(float(y.min()) for y in self.series.values()))
        self.x_name, self.y_name, self.decimals = x_name, y_name, decimals
        self.y_limits = y_limits

    def limit(self) -> float:
        """Return the largest value, at least 0, or the upper end that was asked for."""
        if self.y_limits is not None:
            return self.y_limits[1]
        return max(0.0, *(float(y.max()) for y in self.series.values()))

    def agree(self, frames: Sequence[View]) -> None:
        """Let every frame's axis start at the lowest value of all."""
        curves = [frame for frame in frames if isinstance(frame, Curves)]
        lowest = min(frame.lowest for frame in curves)
        for frame in curves:
            frame.lowest = lowest

    def _low(self) -> float:
        return self.lowest if self.y_limits is None else self.y_limits[0]

    def values(self, limit: float) -> list[Any]:
        """Return title, then the numbers of each curve."""
        series = [[fixed_point(v, self.decimals) for v in y] for y in self.series.values()]
        return [self.title, *series]

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return an SVG with axes; each curve is a slot."""
        low, high = self._low(), limit
        span = self.x[-1] - self.x[0]
        where = [round(_LEFT + (_WIDTH - _LEFT - 8) * (v - self.x[0]) / span, 1) for v in self.x]
        paths = legend = ""
        for i, name in enumerate(self.series):
            d = "" if slots is None else self._path(where, slots[1 + i], low, high)
            paths += f'<path data-v class="wtl-s{i + 1}" d="{d}"/>'
            legend += f'<span class="wtl-s{i + 1}"><i></i>{escape(name)}</span>'
        base = _HEIGHT - _BOTTOM
        ticks = "".join(
            f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{short(v)}</text>'
            for v, y in ((high, 8), (low, base))
        ) + "".join(
            f'<text x="{x}" y="{base + 16}" text-anchor="{a}">{short(v, _DIGITS)}</text>'
            for v, x, a in ((self.x[0], where[0], "start"), (self.x[-1], where[-1], "end"))
        )
        title = "" if slots is None else escape(str(slots[0]))
        name = escape(f"{self.y_name} over {self.x_name}")
        return self.holder(
            f'<p class="wtl-title" data-v>{title}</p>'
            f'<svg class="wtl-curves wtl-focus" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'tabindex="0" data-lm-suppress-shortcuts="true" aria-label="{name}">'
            f'<path class="wtl-axis" d="M{_LEFT} 8V{base}H{_WIDTH - 8}"/>'
            f'{ticks}<text x="{(_LEFT + _WIDTH) // 2}" y="{_HEIGHT - 2}" text-anchor="middle">'
            f'{escape(self.x_name)} →</text><path class="wtl-cursor" d=""/>{paths}</svg>'
            f'<p class="wtl-key">{escape(self.y_name)}: {legend}</p>'
            '<p class="wtl-read" aria-live="polite"></p>',
            decimals=self.decimals,
            low=f"{low:.6g}",
            limit=f"{high:.6g}",
            x=to_json(where),
            ticks=to_json([short(v, _DIGITS) for v in self.x]),
            column=self.x_name,
        )

    def _path(self, where: list[float], values: list[int], low: float, high: float) -> str:
        """Return the SVG path; curves.js draws the next frames with the same sums."""
        tall, unit = _HEIGHT - _BOTTOM - 8, 10**self.decimals
        points = [
            f"{x} {_HEIGHT - _BOTTOM - tall * (v / unit - low) / ((high - low) or 1):.1f}"
            for x, v in zip(where, values, strict=True)
        ]
        return "M" + "L".join(points)

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the curves with matplotlib."""
        axes.set_title(self.title)
        figures.curves(axes, self.x, self.series, x_name=self.x_name, y_name=self.y_name)
        low = self._low()
        axes.set_ylim(low, limit + 0.02 * (limit - low) or 1)

    def describe(self) -> str:
        """Return where each curve ends."""
        last = {n: fixed_point(y[-1], self.decimals) for n, y in self.series.items()}
        ends = ", ".join(f"{n} ends at {printed(v, self.decimals)}" for n, v in last.items())
        return f"{self.title or f'{self.y_name} over {self.x_name}'}: {ends}"

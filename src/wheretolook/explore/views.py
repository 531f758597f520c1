"""Views: what ``draw`` may return.

A view is markup with *slots*. Python writes the markup once, with the first frame's values in the
slots; the script only changes the values. A new view is a class with `markup`, `values` and
`plot` (its printed picture), and, only if a slot is of a new kind, one line in ``explorer.js``.
"""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from torch import Tensor

from .. import figures

__all__ = ["Arrows", "Bars", "Curves", "Heatmap", "Matrix", "Picture", "Tokens", "View", "as_view"]

Numbers = Tensor | np.ndarray | Sequence[Any]


class View:
    """Something an explorer can show.

    Parameters
    ----------
    title : str
        Heading; may change from frame to frame.
    resizes : bool
        Say True if the shape or the names may change from frame to frame.
    """

    def __init__(self, title: str = "", *, resizes: bool = False) -> None:
        self.title, self.resizes = title, resizes

    def limit(self) -> float:
        """Return the largest magnitude; the explorer uses one scale for all frames."""
        return 1.0

    def agree(self, frames: Sequence["View"]) -> None:
        """Give all frames what they must share beyond the limit; most views need nothing."""

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return the markup; with ``slots=None`` empty, which is what the script fills in."""
        raise NotImplementedError

    def values(self, limit: float) -> list[Any]:
        """Return what goes into the slots, in document order: ints, strings, None, lists."""
        raise NotImplementedError

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the printed picture."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return the view in words, for plain text."""
        return self.title or type(self).__name__


class Matrix(View):
    """A table of signed numbers, such as scores: every cell is coloured by its value.

    Parameters
    ----------
    values : (rows, columns)
        NaN raises; ``-inf`` is a hidden cell.
    rows, columns : sequences of str
        What stands along the axes; numbered from 1 if None.
    title : str
    row_name, column_name : str
        What a row and a column are.
    limit : float, optional
        Where the colours end; the largest magnitude over all frames if None.
    decimals : int
        Digits printed.
    marks : (rows, columns) of bool, optional
        Cells to outline: a known link.
    notes : (rows, columns) of str, optional
        What the reader is told on choosing a cell.
    resizes : bool
        Whether shape or names may change between frames.

    Raises
    ------
    ValueError
        If the values are no matrix, have NaN, or the names do not fit; names the argument.

    Examples
    --------
    >>> Matrix([[1.0, -2.0]], rows=["a"], columns=["x", "y"]).describe()
    '1 × 2 matrix: row a: x 1.00, y −2.00'
    """

    signed, sums = True, False

    def __init__(
        self,
        values: Numbers,
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        title: str = "",
        row_name: str = "row",
        column_name: str = "column",
        limit: float | None = None,
        decimals: int = 2,
        marks: Numbers | None = None,
        notes: Sequence[Sequence[str]] | None = None,
        resizes: bool = False,
    ) -> None:
        super().__init__(title, resizes=resizes)
        self.array = _array(self._argument, values, 2, hidden=True)
        if not self.array.size:
            raise ValueError(
                f"{self._argument}: expected a row and a column at least, got {self.array.shape}"
            )
        self.rows = _names("rows", rows, self.array.shape[0])
        self.columns = _names("columns", columns, self.array.shape[1])
        self.row_name, self.column_name = row_name, column_name
        self.fixed_limit, self.decimals = limit, decimals
        self.marks = None if marks is None else _like("marks", marks, self.array).astype(bool)
        self.notes = notes
        if notes is not None:
            _like("notes", np.array(notes, dtype=object), self.array)

    _argument = "values"

    def limit(self) -> float:
        """Return the fixed limit, or the largest finite magnitude."""
        if self.fixed_limit is not None:
            return self.fixed_limit
        finite = self.array[np.isfinite(self.array)]
        return float(np.abs(finite).max(initial=0.0))

    def values(self, limit: float) -> list[Any]:
        """Return title, then each row's cells (and sum), then all notes as one list."""
        cells = [[fixed_point(v, self.decimals) for v in row] for row in self.array]
        if self.sums:
            for row, total in zip(cells, self.array.sum(1), strict=True):
                row.append(fixed_point(total, self.decimals))
        slots: list[Any] = [self.title, *(cell for row in cells for cell in row)]
        if self.notes is not None:
            slots.append([str(note) for row in self.notes for note in row])
        return slots

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return a table with row and column headers; every cell is a slot."""
        slot = iter(slots) if slots is not None else None
        title = "" if slot is None else escape(str(next(slot)))
        corner = f"{escape(self.row_name)} ↓&ensp;{escape(self.column_name)} →"
        heads = "".join(f'<th scope="col">{escape(c)}</th>' for c in self.columns)
        heads += '<th scope="col" class="wtl-sum" title="sum of the row">Σ</th>' * self.sums
        body = ""
        for i, row in enumerate(self.rows):
            cells = ""
            for j in range(len(self.columns)):
                mark = ' class="wtl-mark"' if self.marks is not None and self.marks[i, j] else ""
                cells += f"<td data-v{mark}{self._cell(slot, limit)}</td>"
            if self.sums:
                cells += f'<td data-v class="wtl-sum">{self._text(slot)}</td>'
            body += f'<tr><th scope="row">{escape(row)}</th>{cells}</tr>'
        dense = " wtl-dense" if max(self.array.shape) > 24 else ""
        signed = " wtl-signed" if self.signed else ""
        noted, notes = " data-v" * (self.notes is not None), ""
        if noted and slots is not None:
            notes = f' data-notes="{escape(_json(slots[-1]))}"'
        low = f"−{limit:.3g}" if self.signed else "0"
        return (
            f'<div class="wtl-view" data-kind="matrix" data-decimals="{self.decimals}" '
            f'data-limit="{limit:.6g}" data-row="{escape(self.row_name)}" '
            f'data-column="{escape(self.column_name)}"{notes}>'
            f'<div class="wtl-scroll"><table class="wtl-map{dense}{signed}">'
            f'<caption><span data-v class="wtl-title">{title}</span>'
            f'<span class="wtl-axes">{corner}</span></caption>'
            f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
            f'<div class="wtl-legend{signed}" aria-hidden="true">{low}<i></i>{limit:.3g}</div>'
            f'<p class="wtl-read" aria-live="polite"{noted}></p></div>'
        )

    def _cell(self, slot: Any, limit: float) -> str:
        if slot is None:
            return ">"
        value = next(slot)
        if value is None:
            return ' data-hidden="">−∞' if self.signed else ' data-hidden="">0'
        strength = value / 10**self.decimals / limit if limit else 0
        return f' style="--w:{strength:.3g}">{printed(value, self.decimals)}'

    def _text(self, slot: Any) -> str:
        return "" if slot is None else printed(next(slot), self.decimals)

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the matrix with matplotlib."""
        axes.set_title(self.title)
        figures.matrix(
            axes,
            self.array,
            self.rows,
            self.columns,
            limit=limit or 1.0,
            signed=self.signed,
            decimals=self.decimals,
            row_name=self.row_name,
            column_name=self.column_name,
        )

    def describe(self) -> str:
        """Return every row in words."""
        lines = [
            f"{self.row_name} {row}: "
            + ", ".join(
                f"{column} {printed(fixed_point(v, self.decimals), self.decimals)}"
                for column, v in zip(self.columns, values, strict=True)
            )
            for row, values in zip(self.rows, self.array, strict=True)
        ]
        shape = f"{len(self.rows)} × {len(self.columns)} {type(self).__name__.lower()}"
        return f"{self.title or shape}: " + "; ".join(lines)


class Heatmap(Matrix):
    """Attention weights: rows are queries, columns keys, colours from 0 to 1, sums beside.

    Parameters
    ----------
    weights : (L, S)
        After softmax: between 0 and 1. For scores use `Matrix`.
    rows, columns : sequences of str
        The tokens of the queries and of the keys.
    attn_mask : (L, S) bool, optional
        True = may attend; hidden cells are hatched.
    title, row_name, column_name, decimals, marks, notes, resizes
        As in `Matrix`.

    Raises
    ------
    ValueError
        If a weight is NaN or outside 0-1, or the names or the mask do not fit.

    Examples
    --------
    >>> Heatmap([[0.25, 0.75]], rows=["爱"], columns=["我", "中"]).describe()
    '1 × 2 heatmap: query 爱: 我 0.25, 中 0.75'
    """

    signed, sums = False, True
    _argument = "weights"

    def __init__(
        self,
        weights: Numbers,
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        attn_mask: Numbers | None = None,
        title: str = "",
        row_name: str = "query",
        column_name: str = "key",
        decimals: int = 2,
        marks: Numbers | None = None,
        notes: Sequence[Sequence[str]] | None = None,
        resizes: bool = False,
    ) -> None:
        super().__init__(
            weights,
            rows,
            columns,
            title=title,
            row_name=row_name,
            column_name=column_name,
            limit=1.0,
            decimals=decimals,
            marks=marks,
            notes=notes,
            resizes=resizes,
        )
        _check_weights(self.array, "for scores use Matrix")
        self.hidden = None
        if attn_mask is not None:
            may_attend = _like("attn_mask", attn_mask, self.array)
            if may_attend.dtype != bool:  # ~1 is -2, which is true
                raise ValueError(f"attn_mask: expected bool values, got {may_attend.dtype}")
            self.hidden = ~may_attend

    def values(self, limit: float) -> list[Any]:
        """Return the slots, with None for a hidden cell."""
        slots = super().values(limit)
        if self.hidden is not None:
            step = len(self.columns) + 1  # a row's cells and its sum
            for i, j in np.argwhere(self.hidden):
                slots[1 + i * step + j] = None
        return slots


class Tokens(View):
    """A sentence in which every token is coloured by one query's weights: wraps on a narrow page.

    Parameters
    ----------
    weights : (S,)
        One row of attention weights, between 0 and 1.
    tokens : sequence of str
    query : int, optional
        Index of the token that asks.
    marks : sequence of int
        Indices of tokens to outline: a known link.
    title : str
    decimals : int
    resizes : bool
        Whether the sentence may change between frames.

    Examples
    --------
    >>> Tokens([0.1, 0.9], ["the", "law"], title="its").describe()
    'its: the 0.10, law 0.90'
    """

    def __init__(
        self,
        weights: Numbers,
        tokens: Sequence[str],
        *,
        query: int | None = None,
        marks: Sequence[int] = (),
        title: str = "",
        decimals: int = 2,
        resizes: bool = False,
    ) -> None:
        super().__init__(title, resizes=resizes)
        self.array = _array("weights", weights, 1)
        _check_weights(self.array, "for other numbers use Bars")
        self.tokens = _names("tokens", tokens, len(self.array))
        self.query, self.marks, self.decimals = query, set(marks), decimals

    def values(self, limit: float) -> list[Any]:
        """Return title, then one number a token."""
        return [self.title, *(fixed_point(v, self.decimals) for v in self.array)]

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return an ordered list: token above, weight below."""
        items = ""
        for i, token in enumerate(self.tokens):
            classes = ["wtl-mark"] * (i in self.marks) + ["wtl-query"] * (i == self.query)
            kind = f' class="{" ".join(classes)}"' if classes else ""
            style = text = ""
            if slots is not None:
                style = f' style="--w:{slots[1 + i] / 10**self.decimals:.3g}"'
                text = printed(slots[1 + i], self.decimals)
            items += f"<li{kind}><span>{escape(token)}</span><b data-v{style}>{text}</b></li>"
        title = "" if slots is None else escape(str(slots[0]))
        return (
            f'<div class="wtl-view" data-kind="tokens" data-decimals="{self.decimals}" '
            f'data-limit="1"><p class="wtl-title" data-v>{title}</p>'
            f'<ol class="wtl-tokens">{items}</ol>'
            '<div class="wtl-legend" aria-hidden="true">0<i></i>1</div></div>'
        )

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the row as bars."""
        axes.set_title(self.title)
        figures.bars(axes, self.array, self.tokens, limit=1.0)

    def describe(self) -> str:
        """Return each token with its weight."""
        return _listing(self.title, self.tokens, self.values(1.0)[1:], self.decimals)


class Bars(View):
    """A few named numbers as bars on one scale.

    Parameters
    ----------
    values : (n,)
    labels : sequence of str
    title : str
    limit : float, optional
        Where the scale ends; the largest magnitude over all frames if None.
    decimals : int
    resizes : bool

    Examples
    --------
    >>> Bars([0.5], ["accuracy"], title="model").describe()
    'model: accuracy 0.50'
    """

    def __init__(
        self,
        values: Numbers,
        labels: Sequence[str],
        *,
        title: str = "",
        limit: float | None = None,
        decimals: int = 2,
        resizes: bool = False,
    ) -> None:
        super().__init__(title, resizes=resizes)
        self.array = _array("values", values, 1)
        self.labels = _names("labels", labels, len(self.array))
        self.fixed_limit, self.decimals = limit, decimals

    def limit(self) -> float:
        """Return the fixed limit, or the largest magnitude."""
        if self.fixed_limit is not None:
            return self.fixed_limit
        return float(np.abs(self.array).max(initial=0.0))

    def values(self, limit: float) -> list[Any]:
        """Return title, then one number a bar."""
        return [self.title, *(fixed_point(v, self.decimals) for v in self.array)]

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return a table: label, bar with its number."""
        rows = ""
        for i, label in enumerate(self.labels):
            style = text = ""
            if slots is not None:
                strength = slots[1 + i] / 10**self.decimals / limit if limit else 0
                style = f' style="--w:{strength:.3g}"'
                text = printed(slots[1 + i], self.decimals)
            rows += f'<tr><th scope="row">{escape(label)}</th><td data-v{style}>{text}</td></tr>'
        title = "" if slots is None else escape(str(slots[0]))
        return (
            f'<div class="wtl-view" data-kind="bars" data-decimals="{self.decimals}" '
            f'data-limit="{limit:.6g}"><table class="wtl-bars">'
            f'<caption class="wtl-title" data-v>{title}</caption>'
            f"<tbody>{rows}</tbody></table></div>"
        )

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the bars with matplotlib."""
        axes.set_title(self.title)
        figures.bars(axes, self.array, self.labels, limit=limit or 1.0)

    def describe(self) -> str:
        """Return each label with its number."""
        return _listing(self.title, self.labels, self.values(1.0)[1:], self.decimals)


_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 360, 200, 44, 34  # a curve's canvas, in SVG units


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
        self.x = _array("x", x, 1)
        if len(self.x) < 2 or (np.diff(self.x) <= 0).any():
            raise ValueError(f"x: expected at least two rising values, got {self.x.tolist()}")
        if not 1 <= len(series) <= 4:
            raise ValueError(f"series: expected one to four curves, got {len(series)}")
        self.series = {}
        for name, y in series.items():
            what = f"series[{name!r}]"
            self.series[name] = _like(what, _array(what, y, 1), self.x)
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
            f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{_short(v)}</text>'
            for v, y in ((high, 8), (low, base))
        ) + "".join(
            f'<text x="{x}" y="{base + 16}" text-anchor="{a}">{v:g}</text>'
            for v, x, a in ((self.x[0], where[0], "start"), (self.x[-1], where[-1], "end"))
        )
        title = "" if slots is None else escape(str(slots[0]))
        name = escape(f"{self.y_name} over {self.x_name}")
        return (
            f'<div class="wtl-view" data-kind="curves" data-decimals="{self.decimals}" '
            f'data-low="{low:.6g}" data-limit="{high:.6g}" data-x="{escape(_json(where))}" '
            f'data-ticks="{escape(_json([f"{v:g}" for v in self.x]))}" '
            f'data-column="{escape(self.x_name)}">'
            f'<p class="wtl-title" data-v>{title}</p>'
            f'<svg class="wtl-curves" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" tabindex="0" '
            f'data-lm-suppress-shortcuts="true" aria-label="{name}">'
            f'<path class="wtl-axis" d="M{_LEFT} 8V{base}H{_WIDTH - 8}"/>'
            f'{ticks}<text x="{(_LEFT + _WIDTH) // 2}" y="{_HEIGHT - 2}" text-anchor="middle">'
            f'{escape(self.x_name)} →</text><path class="wtl-cursor" d=""/>{paths}</svg>'
            f'<p class="wtl-key">{escape(self.y_name)}: {legend}</p>'
            '<p class="wtl-read" aria-live="polite"></p></div>'
        )

    def _path(self, where: list[float], values: list[int], low: float, high: float) -> str:
        """Return the SVG path; explorer.js draws the next frames with the same sums."""
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
        self.ends = _array("ends", ends, 2)
        if self.ends.shape[1] != 2:
            raise ValueError(f"ends: expected (arrows, 2), got {self.ends.shape}")
        self.names = _names("names", names, len(self.ends))
        ones = np.ones(len(self.ends))
        self.strengths = ones
        if strengths is not None:
            self.strengths = _like("strengths", _array("strengths", strengths, 1), ones)
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
                label = f' x="{x * 1.12:.1f}" y="{y * 1.12 + 4:.1f}"'
            drawn += f"<path data-v{kind}{line}/><text data-v{label}>{escape(name)}</text>"
        title = "" if slots is None else escape(str(slots[0]))
        return (
            '<div class="wtl-view" data-kind="arrows" data-decimals="0" data-limit="1">'
            f'<p class="wtl-title" data-v>{title}</p>'
            '<svg class="wtl-arrows" viewBox="-115 -115 230 230" role="img" '
            f'aria-label="{escape(", ".join(self.names))}: arrows from the origin">'
            f'<path class="wtl-axis" d="M-110 0H110M0 -110V110"/>{drawn}</svg></div>'
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
        return [self.title, [f"data:image/png;base64,{b64encode(self.png).decode()}", self.alt]]

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return an image whose source is the slot; on a narrow page it scrolls."""
        title = source = ""
        if slots is not None:
            title = escape(str(slots[0]))
            source = f' src="{slots[1][0]}" alt="{escape(slots[1][1])}"'
        width, height = self.size
        kind = "wtl-photo" if self.photo else "wtl-drawing"
        return (
            '<div class="wtl-view" data-kind="picture" data-decimals="0" data-limit="1">'
            f'<p class="wtl-title" data-v>{title}</p><div class="wtl-scroll">'
            f'<img data-v class="wtl-picture {kind} dark-light" width="{width}" '
            f'height="{height}" style="min-width:{min(width, 560)}px"{source}></div></div>'
        )

    def plot(self, axes: Axes, limit: float) -> None:
        """Show the picture."""
        axes.imshow(imread(BytesIO(self.png)))
        axes.set_axis_off()

    def describe(self) -> str:
        """Return the alternative text."""
        return self.alt


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


# --- numbers as they are printed --------------------------------------------------------------


def fixed_point(value: float, decimals: int) -> int | None:
    """Return a number at its printed precision, as an integer: 0.41 → 41. ``-inf`` → None."""
    if np.isneginf(value):
        return None
    return int(f"{value:.{decimals}f}".replace(".", ""))


def printed(value: int | None, decimals: int) -> str:
    """Return what stands in a cell; explorer.js writes the same."""
    if value is None:
        return "−∞"
    return f"{value / 10**decimals:.{decimals}f}".replace("-", "−")


def arrow_path(x: float, y: float) -> str:
    """Return the SVG path of an arrow from the origin to its tip, with a head."""
    length = max((x * x + y * y) ** 0.5, 1e-9)
    back_x, back_y = x * (1 - 9 / length), y * (1 - 9 / length)
    side_x, side_y = -y / length * 4, x / length * 4
    return (
        f"M0 0L{x:.1f} {y:.1f}M{back_x + side_x:.1f} {back_y + side_y:.1f}L{x:.1f} {y:.1f}"
        f"L{back_x - side_x:.1f} {back_y - side_y:.1f}"
    )


def _listing(title: str, names: Sequence[str], values: Sequence[Any], decimals: int) -> str:
    words = ", ".join(f"{n} {printed(v, decimals)}" for n, v in zip(names, values, strict=True))
    return f"{title}: {words}" if title else words


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _array(name: str, values: Any, ndim: int, *, hidden: bool = False) -> np.ndarray:
    """Return float64 numbers with `ndim` axes; -inf passes only where it means a hidden cell."""
    if isinstance(values, Tensor):
        values = values.detach().to("cpu", torch.float64)
    array = np.asarray(values, dtype=np.float64).copy()  # draw may use its buffer again
    if array.ndim != ndim:
        shape = "(rows, columns)" if ndim == 2 else "(n,)"
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    bad = ~np.isfinite(array) & ~(np.isneginf(array) & hidden)
    if bad.any():
        place = tuple(np.argwhere(bad)[0].tolist())
        raise ValueError(f"{name}: expected numbers, got {array[bad][0]} at {place}")
    return array


def _check_weights(weights: np.ndarray, else_use: str) -> None:
    low, high = weights.min(initial=0.0), weights.max(initial=0.0)
    if low < -1e-6 or high > 1 + 1e-3:
        raise ValueError(
            f"weights: expected values between 0 and 1, got {low:.3g} to {high:.3g}; {else_use}"
        )


def _like(name: str, values: Any, array: np.ndarray) -> np.ndarray:
    if isinstance(values, Tensor):
        values = values.detach().cpu().numpy()
    values = np.asarray(values)
    if values.shape != array.shape:
        raise ValueError(f"{name}: expected shape {array.shape}, got {values.shape}")
    return values


def _names(name: str, names: Sequence[str] | None, count: int) -> list[str]:
    if names is None:
        return [str(i + 1) for i in range(count)]
    names = [str(n) for n in names]
    if len(names) != count:
        raise ValueError(f"{name}: expected {count} names, got {len(names)}: {names}")
    return names

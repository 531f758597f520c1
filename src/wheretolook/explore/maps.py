"""Maps: a matrix as a table in which every cell is coloured by its number."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .. import figures
from ..attention import Attention
from .arithmetic import working
from .view import (
    Numbers,
    View,
    check_weights,
    filled,
    fixed_point,
    like,
    names_for,
    numbers,
    printed,
    to_json,
)

__all__ = ["Heatmap", "Matrix"]


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
    link : (str, str), optional
        What rows and columns are, such as ("query", "key"); "" if nothing that others have. In
        all linked maps of an explorer a chosen row is lit, and so is a chosen column's row.
    lit : int, optional
        The row that is lit at first.
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

    kind = "maps"
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
        link: tuple[str, str] | None = None,
        lit: int | None = None,
        resizes: bool = False,
    ) -> None:
        super().__init__(title, resizes=resizes)
        self.array = numbers(self._argument, values, 2, hidden=True)
        if not self.array.size:
            raise ValueError(
                f"{self._argument}: expected a row and a column at least, got {self.array.shape}"
            )
        self.rows = names_for("rows", rows, self.array.shape[0])
        self.columns = names_for("columns", columns, self.array.shape[1])
        self.row_name, self.column_name = row_name, column_name
        self.fixed_limit, self.decimals = limit, decimals
        self.marks = None if marks is None else like("marks", marks, self.array).astype(bool)
        self.link, self.lit = link or ("", ""), lit
        self.notes = notes
        if notes is not None:
            like("notes", np.array(notes, dtype=object), self.array)

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
            lit = ' class="wtl-lit"' * (i == self.lit)
            body += f'<tr{lit}><th scope="row">{escape(row)}</th>{cells}</tr>'
        dense = " wtl-dense" if max(self.array.shape) > 24 else ""
        signed = " wtl-signed" if self.signed else ""
        noted = " data-v" * (self.notes is not None)
        low = f"−{limit:.3g}" if self.signed else "0"
        return self.holder(
            f'<div class="wtl-scroll"><table class="wtl-map{dense}{signed}">'
            f'<caption><span data-v class="wtl-title">{title}</span>'
            f'<span class="wtl-axes">{corner}</span></caption>'
            f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
            f'<div class="wtl-legend{signed}" aria-hidden="true">{low}<i></i>{limit:.3g}</div>'
            f'<p class="wtl-read" aria-live="polite"{noted}></p>{self._below(slots)}',
            decimals=self.decimals,
            limit=f"{limit:.6g}",
            row=self.row_name,
            column=self.column_name,
            rows=self.link[0] or None,
            across=self.link[1] or None,
            notes=to_json(slots[self._notes_at]) if noted and slots is not None else None,
        )

    _notes_at = -1

    def _below(self, slots: Sequence[Any] | None) -> str:
        return ""

    def _cell(self, slot: Any, limit: float) -> str:
        if slot is None:
            return ">"
        value = next(slot)
        if value is None:
            return ' data-hidden="">−∞' if self.signed else ' data-hidden="">0'
        style, text = filled(value, self.decimals, limit)
        return f"{style}>{text}"

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
    attention : Attention, optional
        What made the weights, of one sequence and head: query (L, E), key (S, E), value (S, Ev).
        Choosing a cell then opens its arithmetic. Hidden cells are known from it.
    title, row_name, column_name, decimals, marks, notes, link, lit, resizes
        As in `Matrix`.

    Raises
    ------
    ValueError
        If a weight is NaN or outside 0-1, if the names or the mask do not fit, or if the weights
        are not those of the attention.

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
        attention: Attention | None = None,
        title: str = "",
        row_name: str = "query",
        column_name: str = "key",
        decimals: int = 2,
        marks: Numbers | None = None,
        notes: Sequence[Sequence[str]] | None = None,
        link: tuple[str, str] | None = None,
        lit: int | None = None,
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
            link=link,
            lit=lit,
            resizes=resizes,
        )
        check_weights(self.array, "for scores use Matrix")
        self.hidden = None
        self.working = None if attention is None else working(attention)
        if attention is not None:
            made = like("weights", numbers("attention", attention.weights, 2), self.array)
            if not np.allclose(made, self.array, atol=1e-4):
                raise ValueError("weights: expected those of the attention, got others")
            if attn_mask is None and attention.attn_mask is not None:
                attn_mask = attention.attn_mask.expand_as(attention.weights)
        if attn_mask is not None:
            may_attend = like("attn_mask", attn_mask, self.array)
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
        if self.working is not None:
            slots.append(self.working)
        return slots

    def parts(self) -> tuple[str, ...]:
        """Return its own kind, and that of the arithmetic below it."""
        return (self.kind,) if self.working is None else (self.kind, "arithmetic")

    @property
    def _notes_at(self) -> int:
        return -1 if self.working is None else -2

    def _below(self, slots: Sequence[Any] | None) -> str:
        if self.working is None:
            return ""
        data = "" if slots is None else f' data-why="{escape(to_json(slots[-1]))}"'
        how = "Choose a cell: where its weight comes from opens here."
        return (
            f'<div class="wtl-why" data-v role="group" aria-label="arithmetic"{data}>'
            f'<p class="wtl-how">{how}</p></div>'
        )

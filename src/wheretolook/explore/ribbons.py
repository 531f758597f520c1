"""Alignment ribbons: a source and a target, joined by bands as wide as the weights."""

from collections.abc import Sequence
from html import escape
from typing import Any

from matplotlib.axes import Axes

from .maps import Heatmap
from .view import Numbers, printed

__all__ = ["Ribbons"]

WIDE = 20  # em: what any page has room for; wider rows of words stand as two columns
SMALL = 0.02


class Ribbons(Heatmap):
    """Source and target joined by ribbons: a heatmap that can also be read as an alignment.

    The table of the heatmap is always there: it is the picture without script and in print. The
    script draws its numbers as ribbons, and a button switches between the two. Weights below 0.02
    have no ribbon.

    Parameters
    ----------
    weights : (L, S)
        After softmax: between 0 and 1.
    rows, columns : sequences of str
        The target's words and the source's.
    marks : (L, S) of bool, optional
        The gold alignment: a dashed line over the ribbons, an outline in the heatmap.
    step : int, optional
        How many words are written: the last of them is chosen, later ones are not shown.
    mark_name, row_name, column_name : str
        What the marks, a row and a column are.
    **options
        As in `Heatmap`.

    Raises
    ------
    ValueError
        As in `Heatmap`; or if `step` is not between 1 and L.

    Examples
    --------
    >>> Ribbons([[0.25, 0.75], [0.5, 0.5]], ["I", "love"], ["我", "爱"], step=1).describe()
    '1 × 2 ribbons: word I: 我 0.25, 爱 0.75'
    """

    kind = "ribbons"

    def __init__(
        self,
        weights: Numbers,
        rows: Sequence[str],
        columns: Sequence[str],
        *,
        marks: Numbers | None = None,
        step: int | None = None,
        mark_name: str = "gold alignment",
        row_name: str = "word",
        column_name: str = "source",
        **options: Any,
    ) -> None:
        names = dict(row_name=row_name, column_name=column_name)
        super().__init__(weights, rows, columns, marks=marks, **names, **options)
        if step is not None and not 1 <= step <= len(self.rows):
            raise ValueError(f"step: expected 1 to {len(self.rows)} words, got {step}")
        self.step, self.mark_name, self._options = step, mark_name, names | options

    def parts(self) -> tuple[str, ...]:
        """Return the heatmap's kinds and its own."""
        return (*super().parts(), Heatmap.kind)

    def values(self, limit: float) -> list[Any]:
        """Return the heatmap's slots; words that are not written yet have no numbers and no sum."""
        slots = super().values(limit)
        later = [*[None] * len(self.columns), ""]
        if self.step is not None:
            end = 1 + len(self.rows) * len(later)
            slots[1 + self.step * len(later) : end] = later * (len(self.rows) - self.step)
        return slots

    def _text(self, slot: Any) -> str:
        value = "" if slot is None else next(slot)
        return "" if value == "" else printed(value, self.decimals)

    def holder(self, body: str, **data: Any) -> str:
        """Put the switch and the ribbons' place before the table."""
        marked = self.marks is not None
        key = f"<span>{escape(self.mark_name)}</span>" if marked else ""
        source = "".join(f"<span>{escape(name)}</span>" for name in self.columns)
        target = "".join(
            f'<button type="button" class="wtl-focus" data-i="{i}" '
            f'data-lm-suppress-shortcuts="true">{escape(name)}</button>'
            for i, name in enumerate(self.rows)
        )
        names = [*self.columns, *self.rows]
        count = max(len(self.rows), len(self.columns))
        wide = count * max(map(_width, names))
        columns = " wtl-columns" if wide > WIDE else ""
        return super().holder(
            '<p class="wtl-switch"><button type="button" class="wtl-focus">'
            f"ribbons</button>{key}</p>"
            f'<div class="wtl-ribbons{columns}" style="--n:{count};--wide:{wide:.3g}em" '
            f'role="group" aria-label="{escape(f"{self.column_name} → {self.row_name}")}">'
            f'<p>{source}</p><svg viewBox="0 0 100 100" preserveAspectRatio="none" '
            f'aria-hidden="true"><g></g></svg><p>{target}</p></div>{body}',
            small=SMALL,
            hint="Choose a word to read its weights.",
            gold=self.mark_name if marked else None,
            step=None if self.step is None else "",
            **data,
        )

    def _written(self) -> Heatmap:
        """Return what is shown so far, as a heatmap."""
        count = len(self.rows) if self.step is None else self.step
        options = {
            name: value[:count] if name in ("attn_mask", "notes") and value is not None else value
            for name, value in self._options.items()
            if name != "attention"
        }
        return Heatmap(self.array[:count], self.rows[:count], self.columns, **options)

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the heatmap of what is written."""
        self._written().plot(axes, limit)

    def describe(self) -> str:
        """Return every written row in words."""
        return self._written().describe().replace("heatmap", self.kind, not self.title)


def _width(word: str) -> float:
    """Guess how wide a word is, in em: a Chinese character is as wide as it is tall."""
    return 1 + sum(1.0 if character > "⺀" else 0.6 for character in word)

"""Rows of named numbers: a sentence with its weights, a few bars."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .. import figures
from .view import Numbers, View, check_weights, filled, fixed_point, listing, names_for, numbers

__all__ = ["Bars", "Tokens"]


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

    kind = "rows"

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
        self.array = numbers("weights", weights, 1)
        check_weights(self.array, "for other numbers use Bars")
        self.tokens = names_for("tokens", tokens, len(self.array))
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
                style, text = filled(slots[1 + i], self.decimals, 1.0)
            items += f"<li{kind}><span>{escape(token)}</span><b data-v{style}>{text}</b></li>"
        title = "" if slots is None else escape(str(slots[0]))
        return self.holder(
            f'<p class="wtl-title" data-v>{title}</p><ol class="wtl-tokens">{items}</ol>'
            '<div class="wtl-legend" aria-hidden="true">0<i></i>1</div>',
            decimals=self.decimals,
            limit=1,
        )

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the row as bars."""
        axes.set_title(self.title)
        figures.bars(axes, self.array, self.tokens, limit=1.0)

    def describe(self) -> str:
        """Return each token with its weight."""
        return listing(self.title, self.tokens, self.values(1.0)[1:], self.decimals)


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

    kind = "rows"

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
        self.array = numbers("values", values, 1)
        self.labels = names_for("labels", labels, len(self.array))
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
                style, text = filled(slots[1 + i], self.decimals, limit)
            rows += f'<tr><th scope="row">{escape(label)}</th><td data-v{style}>{text}</td></tr>'
        title = "" if slots is None else escape(str(slots[0]))
        return self.holder(
            f'<table class="wtl-bars"><caption class="wtl-title" data-v>{title}</caption>'
            f"<tbody>{rows}</tbody></table>",
            decimals=self.decimals,
            limit=f"{limit:.6g}",
        )

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the bars with matplotlib."""
        axes.set_title(self.title)
        figures.bars(axes, self.array, self.labels, limit=limit or 1.0)

    def describe(self) -> str:
        """Return each label with its number."""
        return listing(self.title, self.labels, self.values(1.0)[1:], self.decimals)

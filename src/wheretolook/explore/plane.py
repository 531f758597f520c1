"""A query to move among keys in the plane: weights and output follow it.

The one view whose numbers the page computes itself, because a place in the plane has no list of
values. `Plane.attention` says the same with torch; the browser tests hold the two equal.
"""

from collections.abc import Sequence
from html import escape
from math import atan2, degrees, hypot, inf
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from torch.nn.functional import normalize

from .. import figures
from ..attention import Attention, ScaledDot, attend
from .arrows import arrow_path, label_place
from .view import Numbers, View, fixed_point, names_for, numbers, printed, to_json

__all__ = ["Plane"]

STEEPEST = 1e12


class Plane(View):
    """A query arrow that the reader moves among key arrows, and what attention makes of it.

    Frames change the scale and how query and key are compared; the query stays where the reader
    put it.

    Parameters
    ----------
    keys, values : (n, 2)
        Where each key arrow and each value arrow ends.
    names : sequence of str
        Of the keys.
    value_names : sequence of str, optional
        Of the values; those of the keys if None.
    query : (x, y)
        Where the query starts.
    scale : float
        What the dot product is multiplied by: 1/√E, over the temperature if there is one.
    cosine : bool
        Compare directions only, as the cosine scorer does.
    title : str
    reach : float, optional
        Half the side of the plane; fits all arrows if None. The query can't leave the plane.
    resizes : bool
        Whether keys, names or values may change between frames.

    Raises
    ------
    ValueError
        If arrows are not in the plane or do not belong together, if the scale is below 0 or too
        large to compute with, if the reach is not above 0.

    Examples
    --------
    >>> Plane([[1, 0], [0, 1]], ["a", "b"], [[1, 0], [0, 2]], query=(0, 0)).describe()
    'q (0.00, 0.00): a 0.50, b 0.50; output (0.50, 1.00)'
    """

    kind = "plane"

    def __init__(
        self,
        keys: Numbers,
        names: Sequence[str],
        values: Numbers,
        *,
        value_names: Sequence[str] | None = None,
        query: Sequence[float] = (1.0, 1.0),
        scale: float = 1.0,
        cosine: bool = False,
        title: str = "",
        reach: float | None = None,
        resizes: bool = False,
    ) -> None:
        super().__init__(title, resizes=resizes)
        self.keys, self.vectors = numbers("keys", keys, 2), numbers("values", values, 2)
        self.query = numbers("query", query, 1)
        if self.query.shape != (2,):
            raise ValueError(f"query: expected (x, y), got {self.query.shape[0]} numbers")
        if self.keys.shape[1] != 2 or not len(self.keys):
            raise ValueError(f"keys: expected (keys, 2), at least one, got {self.keys.shape}")
        if self.vectors.shape != self.keys.shape:
            raise ValueError(f"values: expected {self.keys.shape}, got {self.vectors.shape}")
        if not 0 <= scale <= STEEPEST:
            raise ValueError(f"scale: expected a number from 0 to {STEEPEST:g}, got {scale}")
        if reach is not None and not 0 < reach < inf:
            raise ValueError(f"reach: expected a number above 0, got {reach}")
        self.names = names_for("names", names, len(self.keys))
        self.value_names = names_for("value_names", value_names or self.names, len(self.keys))
        self.scale, self.cosine, self.reach = float(scale), bool(cosine), reach

    def attention(self, scale: float | None = None, cosine: bool | None = None) -> Attention:
        """Attend from where the query starts; query (1, 2), key and value (n, 2).

        Parameters
        ----------
        scale, cosine
            Others than its own.
        """
        query, key, value = map(torch.from_numpy, (self.query[None], self.keys, self.vectors))
        if self.cosine if cosine is None else cosine:
            query, key = normalize(query), normalize(key)
        scorer = ScaledDot(self.scale if scale is None else scale)
        return attend(query, key, value, scorer=scorer)

    def parts(self) -> tuple[str, ...]:
        """Return its own kind, and that of still arrows, which draws one."""
        return ("arrows", self.kind)

    def limit(self) -> float:
        """Return how far the plane reaches."""
        ends = [self.keys, self.vectors, self.query[None]]
        return self.reach or 1.25 * float(np.abs(np.concatenate(ends)).max(initial=1e-9))

    def values(self, limit: float) -> list[Any]:
        """Return title, then what a frame changes: the scale, and whether lengths count."""
        return [self.title, [self.scale, int(self.cosine)]]

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return two planes and a table; the script writes again what depends on the query."""
        title, now = slots or ("", [0.0, 0])
        found = self.attention(*now)
        stages = (found.scores[0], found.weights[0], found.output[0])
        scores, weights, output = (stage.tolist() for stage in stages)
        arrows = [ends.tolist() for ends in (self.keys, self.vectors, self.query)]
        return self.holder(
            f'<p class="wtl-title" data-v>{escape(title)}</p><div class="wtl-planes" data-v>'
            f"{_svg('query and keys')}{_arrows(self.keys, self.names, weights, limit)}"
            f'<g class="wtl-asks" style="--w:.3">{_arrow(self.query, "q", limit)}'
            '<circle class="wtl-grip" r="20" tabindex="0" role="application" '
            'aria-label="q: drag it, or move it with the arrow keys; Shift: finer; Home: back" '
            'data-lm-suppress-shortcuts="true"/></g></svg>'
            f'<div class="wtl-mix">{_svg("values and output")}'
            f"{_arrows(self.vectors, self.value_names, weights, limit)}"
            f'<path class="wtl-chain" d="{_chain(self.vectors, weights, limit)}"/>'
            f'<g class="wtl-gets" style="--w:.3">{_arrow(output, "output", limit)}</g></svg>'
            f'<div class="wtl-words">{_words(self.query, output)}'
            f"{_table(self.names, scores, weights)}</div></div></div>"
            '<p class="wtl-said" aria-live="polite"></p>',
            now=to_json(now),
            reach=f"{limit:.6g}",
            given=to_json(arrows),
        )

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw query and keys with matplotlib; each key says its weight."""
        weights = self.attention().weights[0].numpy()
        named = [f"{n} {w:.2f}" for n, w in zip(self.names, weights, strict=True)]
        axes.set_title(self.title)
        ends = np.concatenate([self.query[None], self.keys])
        figures.arrows(axes, ends, ["q", *named], np.concatenate([[0.3], weights]))

    def describe(self) -> str:
        """Return query, weights and output."""
        found = self.attention()
        named = zip(self.names, found.weights[0].tolist(), strict=True)
        weights = ", ".join(f"{n} {_two(w)}" for n, w in named)
        query, output = (", ".join(map(_two, v)) for v in (self.query, found.output[0].tolist()))
        words = f"q ({query}): {weights}; output ({output})"
        return f"{self.title}: {words}" if self.title else words


# --- pieces of markup -------------------------------------------------------------------------


def _two(value: float) -> str:
    return printed(fixed_point(value, 2), 2)


def _place(end: Sequence[float], limit: float) -> tuple[float, float]:
    return round(100 * end[0] / limit, 1), round(-100 * end[1] / limit, 1)


def _svg(name: str) -> str:
    return (
        f'<svg class="wtl-arrows wtl-plane" viewBox="-115 -115 230 230" role="group" '
        f'aria-label="{name}"><path class="wtl-axis" d="M-110 0H110M0 -110V110"/>'
    )


def _arrow(end: Sequence[float], name: str, limit: float) -> str:
    x, y = _place(end, limit)
    return f'<path d="{arrow_path(x, y)}"/><text{label_place(x, y)}>{escape(name)}</text>'


def _arrows(ends: np.ndarray, names: Sequence[str], weights: Sequence[float], limit: float) -> str:
    """Draw arrows as bold as their weights."""
    drawn = (
        f'<g style="--w:{w:.3g}">{_arrow(end, name, limit)}</g>'
        for end, name, w in zip(ends, names, weights, strict=True)
    )
    return f"<g data-weights>{''.join(drawn)}</g>"


def _chain(values: np.ndarray, weights: Sequence[float], limit: float) -> str:
    """Lay the weighted values end to end: they lead from the origin to the output."""
    ends = np.cumsum(np.asarray(weights)[:, None] * values, 0)
    return "M0 0" + "".join("L{} {}".format(*_place(end, limit)) for end in ends)


def _words(query: Sequence[float], output: Sequence[float]) -> str:
    x, y = query
    angle = printed(fixed_point(degrees(atan2(y, x)), 0), 0)
    spots = "q ({}, {})<br>length {}<br>angle {}°<br>output ({}, {})"
    numbers = [*map(_two, (x, y, hypot(x, y))), angle, *map(_two, output)]
    return f"<p>{spots.format(*(f'<span>{n}</span>' for n in numbers))}</p>"


def _table(names: Sequence[str], scores: Sequence[float], weights: Sequence[float]) -> str:
    rows = "".join(
        f'<tr style="--w:{w:.3g}"><th scope="row">{escape(name)}</th>'
        f"<td>{_two(score)}</td><td>{_two(w)}</td></tr>"
        for name, score, w in zip(names, scores, weights, strict=True)
    )
    return (
        '<table><thead><tr><td></td><th scope="col">score</th><th scope="col">weight</th></tr>'
        f"</thead><tbody data-weights>{rows}</tbody></table>"
    )

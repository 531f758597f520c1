"""Who shares a mean? A block of numbers (B, L, D) under several norms."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes

from .. import figures
from .view import Numbers, View, filled, fixed_point, numbers, printed, to_json

__all__ = ["Block"]

_AXES = ("sentence", "token", "feature")


class Block(View):
    """Sentences of tokens of features: choose a number, and see its group under each norm.

    A table below the block says for every norm how many numbers share mean and deviation with the
    chosen one, what these are, and what the number becomes. The chosen norm's group is outlined.

    Parameters
    ----------
    values : (B, L, D)
    pooled : dict of name → axes
        Which axes each norm pools, such as `wheretolook.norms.POOLED`.
    norm : str
        Whose group is outlined.
    cell : (b, l, d)
        Which number is chosen at first, counted from 0.
    eps : float
        Added to the (biased) variance.
    title : str
    decimals : int
        Digits printed in the block; the statistics have two.

    Raises
    ------
    ValueError
        If the values are no block, or there is no such norm or cell; names the argument.

    Examples
    --------
    >>> block = Block([[[1.0, 3.0]]], {"LayerNorm(D)": (2,)}, "LayerNorm(D)")
    >>> block.describe()
    'sentence 1, token 1, feature 1: 1; LayerNorm(D): 2 numbers, μ 2.00, σ 1.00, becomes −1.00'
    """

    kind = "block"

    def __init__(
        self,
        values: Numbers,
        pooled: Mapping[str, tuple[int, ...]],
        norm: str,
        *,
        cell: Sequence[int] = (0, 0, 0),
        eps: float = 1e-5,
        title: str = "",
        decimals: int = 0,
    ) -> None:
        super().__init__(title)
        self.array = numbers("values", values, 3)
        if norm not in pooled:
            raise ValueError(f"norm: expected one of {', '.join(pooled)}; got {norm!r}")
        shape = self.array.shape
        if len(cell) != 3 or not all(0 <= i < n for i, n in zip(cell, shape, strict=True)):
            raise ValueError(f"cell: expected a place inside {shape}, got {tuple(cell)}")
        self.pooled, self.norm, self.cell, self.decimals = dict(pooled), norm, tuple(cell), decimals
        self.eps = eps

    def parts(self) -> tuple[str, ...]:
        """Return its own part, and that of maps: its cells look like theirs."""
        return ("maps", self.kind)

    def limit(self) -> float:
        """Return the largest magnitude."""
        return float(np.abs(self.array).max(initial=0.0))

    def statistics(self) -> list[list[Any]]:
        """Return for each norm its name, its axes, the groups' size, μ and σ, and what x becomes.

        μ and σ are given once a group, in the order of the axes that are not pooled.
        """
        x = torch.from_numpy(self.array)
        found = []
        for name, axes in self.pooled.items():
            mean = x.mean(axes, keepdim=True)
            variance = (x - mean).square().mean(axes, keepdim=True)  # biased, as both norms use it
            size = int(np.prod([x.shape[a] for a in axes]))
            given = (mean, variance.sqrt(), (x - mean) / (variance + self.eps).sqrt())
            counts = [[fixed_point(v, 2) for v in t.flatten().tolist()] for t in given]
            found.append([name, list(axes), size, *counts])
        return found

    def values(self, limit: float) -> list[Any]:
        """Return title, all numbers, the norms' statistics, and whose group is outlined."""
        cells = [fixed_point(v, self.decimals) for v in self.array.flatten()]
        return [self.title, *cells, [list(self.pooled).index(self.norm), self.statistics()]]

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return a table a sentence, and the table of norms."""
        batch, length, width = self.array.shape
        title = "" if slots is None else escape(str(slots[0]))
        slot = None if slots is None else iter(slots[1:])
        tables = ""
        for b in range(batch):
            heads = "".join(f'<th scope="col">{d + 1}</th>' for d in range(width))
            body = ""
            for token in range(length):
                cells = ""
                for d in range(width):
                    style = text = marked = ""
                    if slot is not None:
                        style, text = filled(next(slot), self.decimals, limit)
                        marked = ' class="wtl-mark"' if self._shares((b, token, d)) else ""
                    cells += f"<td data-v{marked}{style}>{text}</td>"
                body += f'<tr><th scope="row">{token + 1}</th>{cells}</tr>'
            tables += (
                f'<table class="wtl-map wtl-signed"><caption><span class="wtl-title">sentence '
                f'{b + 1}</span><span class="wtl-axes">token ↓&ensp;feature →</span></caption>'
                f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table>"
            )
        norms = "".join(
            f"<tr{' data-on' * (slots is not None and name == self.norm)}>"
            f'<th scope="row">{escape(name)}</th>'
            + "".join(f"<td>{text}</td>" for text in ([""] * 4 if slots is None else row))
            + "</tr>"
            for name, row in zip(self.pooled, self._rows(), strict=True)
        )
        return self.holder(
            f'<p class="wtl-title" data-v>{title}</p><div class="wtl-block">{tables}</div>'
            '<div class="wtl-scroll"><table class="wtl-norms" data-v><thead><tr><td></td>'
            '<th scope="col">numbers</th><th scope="col"><abbr title="mean">μ</abbr></th>'
            '<th scope="col"><abbr title="deviation">σ</abbr></th>'
            '<th scope="col">becomes</th></tr></thead>'
            f"<tbody>{norms}</tbody></table></div>"
            '<p class="wtl-read" aria-live="polite"></p>',
            decimals=self.decimals,
            limit=f"{limit:.6g}",
            shape=to_json(list(self.array.shape)),
            axes=to_json(list(_AXES)),
            cell=to_json(list(self.cell)),
            norms=None if slots is None else to_json(slots[-1]),
        )

    def _shares(self, other: tuple[int, ...]) -> bool:
        """Tell whether the outlined norm gives two cells the same mean and deviation."""
        kept = [a for a in range(3) if a not in self.pooled[self.norm]]
        return all(other[a] == self.cell[a] for a in kept)

    def _rows(self) -> list[list[str]]:
        """Return what the table of norms says about the chosen cell."""
        rows = []
        for _, axes, size, mean, deviation, becomes in self.statistics():
            kept = [1 if a in axes else n for a, n in enumerate(self.array.shape)]
            at = [0 if a in axes else i for a, i in enumerate(self.cell)]
            group = np.ravel_multi_index(at, kept)
            place = np.ravel_multi_index(self.cell, self.array.shape)
            texts = [printed(v, 2) for v in (mean[group], deviation[group], becomes[place])]
            rows.append([str(size), *texts])
        return rows

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the sentences below each other."""
        batch, length, width = self.array.shape
        rows = [f"{b + 1}.{token + 1}" for b in range(batch) for token in range(length)]
        axes.set_title(self.title)
        figures.matrix(
            axes,
            self.array.reshape(-1, width),
            rows,
            [str(d + 1) for d in range(width)],
            limit=limit or 1.0,
            signed=True,
            decimals=self.decimals,
            row_name="sentence.token",
            column_name="feature",
        )

    def describe(self) -> str:
        """Return the chosen cell, and its statistics under each norm."""
        place = ", ".join(f"{name} {i + 1}" for name, i in zip(_AXES, self.cell, strict=True))
        value = printed(fixed_point(self.array[self.cell], self.decimals), self.decimals)
        norms = "; ".join(
            f"{name}: {size} numbers, μ {mean}, σ {deviation}, becomes {becomes}"
            for name, (size, mean, deviation, becomes) in zip(
                self.pooled, self._rows(), strict=True
            )
        )
        return f"{self.title + ': ' if self.title else ''}{place}: {value}; {norms}"

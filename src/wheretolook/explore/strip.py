"""The stage strip: one attention from query, key and value to the output, with its arithmetic."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..attention import Attention
from .maps import Heatmap, Matrix
from .view import View

__all__ = ["product_notes", "score_notes", "stages", "weight_notes"]


def stages(
    attention: Attention,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    chosen: int | None = None,
    maps: tuple[Tensor, Tensor, Tensor, Tensor] | None = None,
) -> list[View]:
    """Lay the stages of one attention side by side; every cell's note is its own arithmetic.

    Parameters
    ----------
    attention : Attention
        Of one sequence without batch: query (L, E), key (S, E), value (S, Ev).
    rows, columns : sequences of str
        The L tokens that ask and the S tokens that are asked.
    chosen : int, optional
        A query whose row is outlined in every stage that has one.
    maps : four matrices, optional
        Tokens (L, D) and W_Q, W_K, W_V (D, width): query, key and value then tell how they were
        made, too.

    Returns
    -------
    list of View
        Query, key, value, scores, weights, output.

    Raises
    ------
    ValueError
        If the attention has a batch or head axis.

    Examples
    --------
    >>> from wheretolook.attention import attend
    >>> [v.title for v in stages(attend(*[torch.eye(2)] * 3), "ab", "ab")][-1]
    'output = weights · value'
    """
    if attention.scores.ndim != 2:
        shape = tuple(attention.scores.shape)
        raise ValueError(f"attention: expected scores of shape (L, S), got {shape}; choose one")

    def options(values: Tensor, first: Sequence[str], second: str, outlined: bool = True) -> dict:
        marks = torch.zeros(values.shape, dtype=torch.bool)
        if chosen is not None and outlined:
            marks[chosen] = True
        return dict(rows=first, marks=marks, column_name=second, resizes=True)

    query, key, value = attention.query, attention.key, attention.value
    hidden = attention.masked.isneginf()
    made = [None] * 3 if maps is None else [product_notes(maps[0], map) for map in maps[1:]]
    asked = [options(x, columns, "feature", False) for x in (key, value)]
    return [
        Matrix(
            query, title="query", row_name="query", notes=made[0], **options(query, rows, "feature")
        ),
        Matrix(key, title="key", row_name="key", notes=made[1], **asked[0]),
        Matrix(value, title="value", row_name="value", notes=made[2], **asked[1]),
        Matrix(
            attention.masked,
            columns=columns,
            title="scores",
            row_name="query",
            notes=score_notes(attention),
            **options(attention.scores, rows, "key"),
        ),
        Heatmap(
            attention.weights,
            columns=columns,
            title="weights = softmax(scores)",
            attn_mask=~hidden,
            notes=weight_notes(attention),
            **options(attention.weights, rows, "key"),
        ),
        Matrix(
            attention.output,
            title="output = weights · value",
            row_name="query",
            notes=product_notes(attention.weights, value),
            **options(attention.output, rows, "feature"),
        ),
    ]


def product_notes(left: Tensor, right: Tensor) -> list[list[str]]:
    """Write out every entry of the matrix product left @ right.

    Examples
    --------
    >>> product_notes(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    [['1.00×3.00 + 2.00×4.00 = 11.00']]
    """
    return [[_sum(row, column) for column in right.T] for row in left]


def score_notes(attention: Attention) -> list[list[str]]:
    """Write out every score: its terms, their sum, the scale, and the mask if it hides the key."""
    notes = []
    for i, query in enumerate(attention.query):
        notes.append([])
        for j, key in enumerate(attention.key):
            terms = attention.scorer.terms(query, key)
            note = _sum(terms.left, terms.right)
            if terms.factor != 1:
                note += f"; × {terms.factor:.2f} = {_number(terms.score)}"
            if attention.masked[i, j].isneginf():
                note += "; hidden by the mask: −∞"
            notes[-1].append(note)
    return notes


def weight_notes(attention: Attention) -> list[list[str]]:
    """Write out every weight: exp of its score over the sum of its row."""
    exps = attention.masked.exp()
    return [
        [
            f"exp({_number(s)}) / row sum = {e:.2f} / {row.sum():.2f} = {w:.2f}"
            for s, e, w in zip(scores, row, weights, strict=True)
        ]
        for scores, row, weights in zip(attention.masked, exps, attention.weights, strict=True)
    ]


def _sum(left: Tensor, right: Tensor) -> str:
    terms = (f"{_number(a)}×{_number(b)}" for a, b in zip(left, right, strict=True))
    return f"{' + '.join(terms)} = {_number(left @ right)}"


def _number(value: Tensor | float) -> str:
    text = f"{float(value):.2f}"
    return "−∞" if text == "-inf" else text.replace("-", "−")

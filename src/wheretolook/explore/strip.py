"""The stage strip: one attention from query, key and value to the output, every stage linked."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from ..attention import Attention
from .maps import Heatmap, Matrix
from .view import View

__all__ = ["product_notes", "stages"]


def stages(
    attention: Attention,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    chosen: int | None = None,
    maps: tuple[Tensor, Tensor, Tensor, Tensor] | None = None,
) -> list[View]:
    """Lay the stages of one attention side by side.

    They are linked: a row that the reader chooses, in any stage, is framed in all that have it; a
    cell of scores or weights frames its key, too, and opens its arithmetic below the weights.

    Parameters
    ----------
    attention : Attention
        Of one sequence without batch: query (L, E), key (S, E), value (S, Ev).
    rows, columns : sequences of str
        The L tokens that ask and the S tokens that are asked.
    chosen : int, optional
        A query whose row is framed at first.
    maps : four matrices, optional
        Tokens X (L, D) and W_Q, W_K, W_V (D, width), if all come from the same tokens: X is
        shown, too, and query, key and value tell how they were made.

    Returns
    -------
    list of View
        X if given, query, key, value, scores, scaled (if there is a scale), masked (if a mask was
        given), weights, output.

    Raises
    ------
    ValueError
        If the attention has a batch or head axis.

    Examples
    --------
    >>> import torch
    >>> from wheretolook.attention import attend
    >>> [v.title for v in stages(attend(*[torch.eye(2)] * 3), "ab", "ab")][3:5]
    ['scores', 'scaled: scores × 0.71']
    """
    if attention.scores.ndim != 2:
        shape = tuple(attention.scores.shape)
        raise ValueError(f"attention: expected scores of shape (L, S), got {shape}; choose one")
    asks: dict[str, Any] = dict(rows=rows, row_name="query", lit=chosen, resizes=True)
    pairs = dict(asks, columns=columns, column_name="key", link=("query", "key"))
    asks |= dict(column_name="feature", link=("query", ""))
    asked: dict[str, Any] = dict(rows=columns, row_name="key", column_name="feature", resizes=True)
    asked |= dict(link=("key", ""))
    made = [None] * 3 if maps is None else [product_notes(maps[0], map) for map in maps[1:]]
    views: list[View] = [
        Matrix(attention.query, title="query", notes=made[0], **asks),
        Matrix(attention.key, title="key", notes=made[1], **asked),
        Matrix(attention.value, title="value", notes=made[2], **dict(asked, row_name="value")),
        Matrix(attention.raw, title="scores", **pairs),
    ]
    if maps is not None:
        views.insert(0, Matrix(maps[0], title="X", **dict(asks, row_name="token")))
    scale = float(attention.scorer.scale(attention.query))
    if scale != 1:
        views.append(Matrix(attention.scores, title=f"scaled: scores × {scale:.2f}", **pairs))
    if attention.attn_mask is not None:
        views.append(Matrix(attention.masked, title="masked: −∞ where hidden", **pairs))
    return [
        *views,
        Heatmap(attention.weights, title="weights: softmax", attention=attention, **pairs),
        Matrix(attention.output, title="output", **asks),
    ]


def product_notes(left: Tensor, right: Tensor) -> list[list[str]]:
    """Write out every entry of the matrix product left @ right.

    Examples
    --------
    >>> import torch
    >>> product_notes(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    [['1.00×3.00 + 2.00×4.00 = 11.00']]
    """
    return [[_sum(row, column) for column in right.T] for row in left]


def _sum(left: Tensor, right: Tensor) -> str:
    terms = (f"{_number(a)}×{_number(b)}" for a, b in zip(left, right, strict=True))
    return f"{' + '.join(terms)} = {_number(left @ right)}"


def _number(value: Tensor) -> str:
    return f"{float(value):.2f}".replace("-", "−")

"""Arithmetic on demand: where a weight comes from, and what it adds to the output.

A `Heatmap` that is given its attention lets the reader open a cell. All numbers are torch's; the
page only multiplies two printed factors to show a term.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, log10
from typing import Any

import torch
from torch import Tensor

from ..attention import Additive, Attention, Bilinear, Cosine, Dot, ScaledDot, Scorer
from .view import fixed_point

__all__ = ["one_of", "working"]

_STAGES = ("query", "key", "value", "raw", "scores", "weights", "output")


def one_of(attention: Attention, *place: int) -> Attention:
    """Choose one sequence, and one head, of an attention with more axes.

    Parameters
    ----------
    attention : Attention
    *place : int
        Batch, or batch and head.

    Returns
    -------
    Attention
        With query (L, E), key (S, E) and value (S, Ev), and without gradients.

    Raises
    ------
    ValueError
        If `place` does not have one number for each axis before the last two.

    Examples
    --------
    >>> from wheretolook.attention import MultiHeadAttention
    >>> _, heads = MultiHeadAttention(8, heads=2)(*[torch.zeros(1, 3, 8)] * 3)
    >>> one_of(heads, 0, 1).query.shape
    torch.Size([3, 4])
    """
    axes = attention.weights.ndim - 2
    if len(place) != axes:
        raise ValueError(
            f"place: expected {axes} numbers for weights {tuple(attention.weights.shape)}, "
            f"got {place}"
        )
    chosen = {name: getattr(attention, name)[place].detach() for name in _STAGES}
    mask = attention.attn_mask
    if mask is not None:  # may be the same for all
        mask = mask.expand_as(attention.weights)[place]
    return replace(attention, **chosen, attn_mask=mask)


@torch.no_grad()
def working(attention: Attention) -> list[Any]:
    """Collect what it takes to derive any weight of one map, as integers of the last digit.

    Parameters
    ----------
    attention : Attention
        Of one sequence: query (L, E), key (S, E), value (S, Ev).

    Returns
    -------
    list
        Names of the two factors and of the scale; how to read the rest; then the numbers: both
        factors, raw, scores, each row's largest score, exp of what is left when that is
        subtracted, each row's sum of them, weights, value, output. A hidden key has None.

    Raises
    ------
    ValueError
        If the attention has a batch or head axis.

    Examples
    --------
    >>> from wheretolook.attention import attend
    >>> working(attend(*[torch.eye(2)] * 3, scorer=Dot()))[0]
    ['query {q}', 'key {k}', '']
    """
    if attention.weights.ndim != 2:
        shape = tuple(attention.weights.shape)
        raise ValueError(
            f"attention: expected weights of shape (L, S), got {shape}; choose one with "
            "one_of(attention, batch, head)"
        )
    scorer, shape = attention.scorer, attention.scores.shape
    masked = attention.masked
    hidden, top = masked.isneginf(), masked.amax(-1, keepdim=True)
    exps = (masked - top).exp().nan_to_num(0)  # a row that sees nothing has no largest
    left, right = _factors(attention)
    digits, weight_digits = _digits(left, right), _digits(attention.weights, attention.value)
    places = [_exact(left, digits), _exact(right, digits), max(3, weight_digits)]
    places.append(_exact(attention.value, weight_digits))
    width = torch.broadcast_shapes(left.shape, right.shape)[-1]
    steps = [s for x in (left, right) for s in x.expand(*shape, width).stride()[:2]]
    scale = torch.as_tensor(scorer.scale(attention.query), dtype=torch.float64)
    names = _names(scorer, attention.query.shape[-1])
    return [
        [*names[:2], "" if scale == 1 else names[2]],
        [width, *places, *steps, *_fixed(scale, 3)],
        _fixed(left, places[0]),
        _fixed(right, places[1]),
        _fixed(attention.raw, 2),
        _fixed(attention.scores, 2),
        _fixed(top, 2),
        _fixed(exps.masked_fill(hidden, -torch.inf), 3),
        _fixed(exps.sum(-1), 3),
        _fixed(attention.weights, places[2]),
        _fixed(attention.value, places[3]),
        _fixed(attention.output, 2),
    ]


def _factors(attention: Attention) -> tuple[Tensor, Tensor]:
    """Return the factors of all terms, each as small as it broadcasts; no terms for a function."""
    if type(attention.scorer).factors is Scorer.factors:
        return attention.raw.new_empty(0), attention.raw.new_empty(0)
    left, right = attention.scorer.factors(attention.query, attention.key)
    return left.contiguous(), right.contiguous()


def _names(scorer: Scorer, width: int) -> list[str]:
    """Name both factors of a term, and the scale."""
    if isinstance(scorer, Cosine):
        return ["direction of query {q}", "direction of key {k}", "1/temperature"]
    if isinstance(scorer, Additive):
        return ["v", "tanh(W_q query {q} + W_k key {k})", ""]
    if isinstance(scorer, Bilinear):
        return ["query {q}", "W key {k}", ""]
    if isinstance(scorer, Dot):
        scaled = isinstance(scorer, ScaledDot)
        scale = ("the scale" if scorer.factor is not None else f"1/√{width}") if scaled else ""
        return ["query {q}", "key {k}", scale]
    return ["left", "right", ""]


def _digits(left: Tensor, right: Tensor) -> int:
    """Return how many decimals two factors need for their product to be right to two."""
    reach = sum(float(x.abs().max()) if x.numel() else 0.0 for x in (left, right))
    return min(6, 2 + max(0, ceil(log10(max(reach, 1.0)))))


def _exact(values: Tensor, at_most: int) -> int:
    """Return the fewest decimals that print all values as they are."""
    for decimals in range(at_most):
        if torch.allclose(values, values.round(decimals=decimals), rtol=0, atol=1e-7):
            return decimals
    return at_most


def _fixed(values: Tensor | Sequence[float], decimals: int) -> list[int | None]:
    """Return all values, row by row, at their printed precision."""
    flat = torch.as_tensor(values).detach().to("cpu", torch.float64).flatten()
    return [fixed_point(value, decimals) for value in flat.tolist()]

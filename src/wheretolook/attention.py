"""Attention by hand: compare, normalise, sum.

``attend`` keeps every stage of the three: scores (before softmax), weights (after), output.
Rows are tokens everywhere: query (..., L, E), key (..., S, E), value (..., S, Ev).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from einops import rearrange
from torch import Tensor, nn
from torch.nn import functional as F

from .masks import check_mask

__all__ = [
    "Additive",
    "Attention",
    "Bilinear",
    "Cosine",
    "Dot",
    "MinimalSelfAttention",
    "MultiHeadAttention",
    "ScaledDot",
    "Scorer",
    "SelfAttention",
    "Terms",
    "attend",
    "attention_weights",
    "merge_heads",
    "split_heads",
]


# --- scorers: how well does this key answer this query? ---------------------------------------


@dataclass(frozen=True)
class Terms:
    """One score, term by term: ``score = factor * sum(left * right)``.

    Attributes
    ----------
    left, right : (E,) tensors
        The factors of each term: for the dot product, the entries of query and key.
    factor : float
        What the sum is multiplied by, such as 1/sqrt(E).
    raw, score : float
        The sum before and after the factor.
    """

    left: Tensor
    right: Tensor
    factor: float
    raw: float
    score: float


class Scorer(nn.Module):
    """Compare every query with every key.

    A subclass says what the two factors of each term are (`factors`); the score is the sum of
    their products times `scale`. So every scorer can show its working with `terms`.
    """

    def factors(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Return two tensors whose products, summed over the last axis, are the raw scores.

        Parameters
        ----------
        query : (..., L, E)
        key : (..., S, E)

        Returns
        -------
        two tensors that broadcast to (..., L, S, terms)
        """
        raise NotImplementedError

    def raw(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the raw scores (..., L, S), before the scale."""
        left, right = self.factors(query, key)
        return (left * right).sum(-1)

    def scale(self, query: Tensor) -> float | Tensor:
        """Return what the raw scores are multiplied by."""
        return 1.0

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the scores (..., L, S): raw times scale.

        Raises
        ------
        ValueError
            If query and key can't be compared; names both shapes.
        """
        self.check(query, key)
        return self.raw(query, key) * self.scale(query)

    def check(self, query: Tensor, key: Tensor) -> None:
        """Raise ValueError unless query (..., L, E) and key (..., S, E) can be compared."""
        _same_width("key", key, query.shape[-1], f"the query's width, query {tuple(query.shape)}")

    @torch.no_grad()
    def terms(self, query: Tensor, key: Tensor) -> Terms:
        """Open one score into its terms.

        Parameters
        ----------
        query, key : (E,)
            One query and one key.

        Returns
        -------
        Terms

        Raises
        ------
        ValueError
            If they are not two vectors that can be compared.

        Examples
        --------
        >>> ScaledDot().terms(torch.tensor([1., 2.]), torch.tensor([3., 4.])).raw
        11.0
        """
        for name, x in (("query", query), ("key", key)):
            if x.ndim != 1:
                raise ValueError(f"{name}: expected one vector (E,), got {tuple(x.shape)}")
        self.check(query[None], key[None])
        left, right = self.factors(query[None], key[None])
        left, right = torch.broadcast_tensors(left, right)
        factor = float(self.scale(query[None]))
        raw = float((left * right).sum())
        return Terms(left.flatten().detach(), right.flatten().detach(), factor, raw, raw * factor)


class Dot(Scorer):
    """Dot product: the score is q·k.

    Examples
    --------
    >>> Dot()(torch.tensor([[1., 2.]]), torch.tensor([[3., 4.]]))
    tensor([[11.]])

    References
    ----------
    Luong et al. (2015), equation 8, "dot".
    """

    def factors(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Return query and key with the axes laid out as (..., L, 1, E) and (..., 1, S, E)."""
        return query.unsqueeze(-2), key.unsqueeze(-3)

    def raw(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the raw scores (..., L, S) as one matrix product: the same sum, much faster."""
        return query @ key.transpose(-2, -1)


class ScaledDot(Dot):
    r"""Scaled dot product: the score is q·k / √E.

    For independent entries of unit variance, q·k has variance E; the factor brings it back to 1.

    Parameters
    ----------
    factor : float, optional
        Another scale; 1/√E if None.

    References
    ----------
    Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> ScaledDot()(torch.tensor([[1., 2., 0., 0.]]), torch.tensor([[3., 4., 0., 0.]]))
    tensor([[5.5000]])
    """

    def __init__(self, factor: float | None = None) -> None:
        super().__init__()
        self.factor = factor

    def scale(self, query: Tensor) -> float:
        """Return 1/√E, or the factor that was asked for."""
        # an empty query has no terms to scale: 1 keeps 0 · scale finite
        return max(query.shape[-1], 1) ** -0.5 if self.factor is None else self.factor


class Cosine(Dot):
    """Cosine: the dot product of the two directions, divided by a temperature.

    Without a temperature (1.0) a cosine lies in [-1, 1], and so no weight over n keys can pass
    e / (e + (n - 1) / e).

    Parameters
    ----------
    temperature : float
        Above 0; a small one sharpens the weights.
    learned : bool
        Whether the temperature is trained (as its logarithm, so that it stays above 0).

    Raises
    ------
    ValueError
        If `temperature` is not above 0.

    References
    ----------
    Graves et al. (2014), equation 6 (there with a sharpness, 1 / temperature).

    Examples
    --------
    >>> Cosine()(torch.tensor([[2., 0.]]), torch.tensor([[5., 0.], [0., 3.]]))
    tensor([[1., 0.]])
    """

    def __init__(self, temperature: float = 1.0, *, learned: bool = False) -> None:
        super().__init__()
        if not temperature > 0:
            raise ValueError(f"temperature: expected a number above 0, got {temperature}")
        log_temperature = torch.tensor(float(temperature)).log()
        self.log_temperature = nn.Parameter(log_temperature, requires_grad=learned)

    def factors(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Return the two directions, laid out as (..., L, 1, E) and (..., 1, S, E)."""
        return super().factors(_direction(query), _direction(key))

    def raw(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the cosines (..., L, S)."""
        return super().raw(_direction(query), _direction(key))

    def scale(self, query: Tensor) -> Tensor:
        """Return 1 / temperature."""
        return (-self.log_temperature).exp().to(query.dtype)


class Bilinear(Dot):
    """Bilinear: q W k, a learned matrix between query and key.

    Parameters
    ----------
    query_width, key_width : int
        E of the query and of the key; they may differ.

    References
    ----------
    Luong et al. (2015), equation 8, "general".

    Examples
    --------
    >>> Bilinear(3, 5)(torch.zeros(2, 3), torch.zeros(4, 5)).shape
    torch.Size([2, 4])
    """

    def __init__(self, query_width: int, key_width: int) -> None:
        super().__init__()
        self.query_width, self.key_width = query_width, key_width
        # variance 1 / (width · width): unit-variance entries then give scores of variance 1
        deviation = (query_width * key_width) ** -0.5
        self.weight = nn.Parameter(torch.randn(query_width, key_width) * deviation)

    def factors(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Return q and W k: the terms are the entries of q times those of W k."""
        return super().factors(query, key @ self.weight.T)

    def raw(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the scores (..., L, S)."""
        return super().raw(query, key @ self.weight.T)

    def check(self, query: Tensor, key: Tensor) -> None:
        """Raise ValueError unless the widths are those of the matrix."""
        _same_width("query", query, self.query_width, "this scorer's query_width")
        _same_width("key", key, self.key_width, "this scorer's key_width")


class Additive(Scorer):
    """Additive: v · tanh(W_q q + W_k k), a small network with one hidden layer.

    The "concatenation" scorer v · tanh(W [q; k]) is the same function: W [q; k] = W_q q + W_k k
    where W_q and W_k are the left and the right part of W.

    Parameters
    ----------
    query_width, key_width : int
        E of the query and of the key; they may differ.
    hidden : int
        How many tanh units, and so how many terms a score has.

    References
    ----------
    Bahdanau, Cho and Bengio (2015), appendix A.1.2.

    Examples
    --------
    >>> Additive(3, 5, hidden=8)(torch.zeros(2, 3), torch.zeros(4, 5)).shape
    torch.Size([2, 4])
    """

    def __init__(self, query_width: int, key_width: int, hidden: int) -> None:
        super().__init__()
        self.query_layer = nn.Linear(query_width, hidden, bias=False)
        self.key_layer = nn.Linear(key_width, hidden, bias=False)
        self.vector = nn.Parameter(torch.randn(hidden) * hidden**-0.5)

    def factors(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Return v and tanh(W_q q + W_k k), the hidden units (..., L, S, hidden)."""
        hidden = self.query_layer(query).unsqueeze(-2) + self.key_layer(key).unsqueeze(-3)
        return self.vector, hidden.tanh()

    def check(self, query: Tensor, key: Tensor) -> None:
        """Raise ValueError unless the widths are those of the two layers."""
        _same_width("query", query, self.query_layer.in_features, "this scorer's query_width")
        _same_width("key", key, self.key_layer.in_features, "this scorer's key_width")


class _Function(Scorer):
    """A plain function (query, key) → scores, as a scorer."""

    def __init__(self, function: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def raw(self, query: Tensor, key: Tensor) -> Tensor:
        """Call the function, and check what it returns."""
        scores = self.function(query, key)
        expected = (*query.shape[:-1], key.shape[-2])
        if not isinstance(scores, Tensor) or tuple(scores.shape) != expected:
            got = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
            raise ValueError(
                f"scorer: expected scores of shape (..., L, S) = {expected}, got {got}"
            )
        return scores

    def check(self, query: Tensor, key: Tensor) -> None:
        """Leave the widths to the function."""


# --- weights and output -----------------------------------------------------------------------


def attention_weights(scores: Tensor, attn_mask: Tensor | None = None) -> Tensor:
    """Turn each row of scores into weights that sum to 1.

    Parameters
    ----------
    scores : (..., L, S)
        Before softmax.
    attn_mask : bool, optional
        True = may attend; (L, S) or as many axes as the scores.

    Returns
    -------
    (..., L, S)
        Softmax over the keys. A hidden key has weight 0. A row that may see nothing is all zeros
        (as in torch's ``scaled_dot_product_attention``), with finite gradients.

    Raises
    ------
    ValueError
        If the mask is not boolean or does not fit.

    References
    ----------
    Bahdanau, Cho and Bengio (2015), equation 6.

    Examples
    --------
    >>> attention_weights(torch.tensor([[0., 0.]]), torch.tensor([[True, False]]))
    tensor([[1., 0.]])
    """
    if attn_mask is None:
        return scores.softmax(-1)
    check_mask(attn_mask, scores)
    sees = attn_mask.any(-1, keepdim=True)
    # A row of nothing but -inf is 0/0 in softmax, forward and backward. So a row that sees nothing
    # gets scores of 0 instead, and its equal weights are multiplied by 0.
    hidden = torch.where(sees, -torch.inf, 0.0).to(scores.dtype)
    return torch.where(attn_mask, scores, hidden).softmax(-1) * sees


@dataclass(frozen=True)
class Attention:
    """Every stage of one attention, in the order in which they are computed.

    Attributes
    ----------
    query, key, value : (..., L, E), (..., S, E), (..., S, Ev)
        What was compared and summed.
    raw : (..., L, S)
        Scores before the scale.
    scores : (..., L, S)
        Scores after the scale, before softmax.
    masked : (..., L, S)
        Scores with -inf where the mask hides a key; made when it is asked for.
    weights : (..., L, S)
        After softmax; each row sums to 1, or to 0 where everything is hidden.
    output : (..., L, Ev)
        The weighted sum of the values.
    scorer : Scorer
        What made the scores; its `terms` opens any one of them.
    attn_mask : bool or None
        The mask that came in; True = may attend.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    raw: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor
    scorer: Scorer
    attn_mask: Tensor | None = None

    @property
    def masked(self) -> Tensor:
        """The scores as softmax sees them: -inf where the mask hides a key."""
        if self.attn_mask is None:
            return self.scores
        return self.scores.masked_fill(~self.attn_mask, -torch.inf)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    attn_mask: Tensor | None = None,
    scorer: Scorer | Callable[[Tensor, Tensor], Tensor] | None = None,
) -> Attention:
    """Compare queries with keys, normalise, and sum the values.

    Parameters
    ----------
    query : (..., L, E)
    key : (..., S, E)
    value : (..., S, Ev)
    attn_mask : bool, optional
        True = may attend. (L, S), or as many axes as the scores, each equal or 1: a padding mask
        is (B, 1, S). With B = L a (B, S) mask can't be told from (L, S): write (B, 1, S).
    scorer : Scorer or function, optional
        How to compare; `ScaledDot()` if None. A plain function gets query and key and returns
        the scores (..., L, S).

    Returns
    -------
    Attention
        All stages.

    Raises
    ------
    ValueError
        If shapes do not fit; names the argument, its shape and what was expected.

    References
    ----------
    Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> x = torch.eye(2)
    >>> attend(x, x, x, scorer=Dot()).weights.sum(-1)
    tensor([1., 1.])
    """
    scorer = ScaledDot() if scorer is None else scorer
    if not isinstance(scorer, Scorer):
        scorer = _Function(scorer)
    _check_sequences(query, key, value)
    scorer.check(query, key)
    raw = scorer.raw(query, key)
    scores = raw * scorer.scale(query)
    weights = attention_weights(scores, attn_mask)
    output = weights @ value
    return Attention(query, key, value, raw, scores, weights, output, scorer, attn_mask)


# --- layers -----------------------------------------------------------------------------------


class MinimalSelfAttention(nn.Module):
    """The smallest self-attention: three dense layers, softmax(Q Kᵀ) V.

    No scale, no mask, no normalisation: document A's first version.

    Parameters
    ----------
    width : int
        D, the width of the tokens and of query, key and value.

    Examples
    --------
    >>> MinimalSelfAttention(4)(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query_layer = nn.Linear(width, width, bias=False)
        self.key_layer = nn.Linear(width, width, bias=False)
        self.value_layer = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map tokens (B, L, D) to outputs (B, L, D)."""
        query, key, value = self.query_layer(x), self.key_layer(x), self.value_layer(x)
        weights = (query @ key.transpose(-2, -1)).softmax(-1)
        return weights @ value


class SelfAttention(nn.Module):
    """Self-attention with everything: scale, mask, normalised input, every stage kept.

    Query, key and value are three linear maps of the *same* tokens: Q = X W_Q, rows are tokens.

    Parameters
    ----------
    width : int
        D, the width of the tokens.
    head_width : int, optional
        E, the width of query and key; D if None.
    value_width : int, optional
        Ev, the width of value and output; E if None.
    scorer : Scorer, optional
        How to compare; `ScaledDot()` if None.
    norm : bool
        Whether the tokens are layer-normalised first (chapter 6).

    Examples
    --------
    >>> SelfAttention(8, head_width=4)(torch.zeros(2, 3, 8)).output.shape
    torch.Size([2, 3, 4])
    """

    def __init__(
        self,
        width: int,
        head_width: int | None = None,
        value_width: int | None = None,
        *,
        scorer: Scorer | None = None,
        norm: bool = False,
    ) -> None:
        super().__init__()
        head_width = width if head_width is None else head_width
        value_width = head_width if value_width is None else value_width
        self.norm = nn.LayerNorm(width) if norm else nn.Identity()
        self.query_layer = nn.Linear(width, head_width, bias=False)
        self.key_layer = nn.Linear(width, head_width, bias=False)
        self.value_layer = nn.Linear(width, value_width, bias=False)
        self.scorer = ScaledDot() if scorer is None else scorer

    def forward(self, x: Tensor, attn_mask: Tensor | None = None) -> Attention:
        """Map tokens (B, L, D) to an `Attention` whose output is (B, L, Ev).

        Parameters
        ----------
        x : (B, L, D) or (L, D)
        attn_mask : bool, optional
            True = may attend; see `attend`.
        """
        _check_floats("x", x)
        _same_width("x", x, self.query_layer.in_features, "this layer's width")
        x = self.norm(x)
        query, key, value = self.query_layer(x), self.key_layer(x), self.value_layer(x)
        return attend(query, key, value, attn_mask=attn_mask, scorer=self.scorer)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut each token's features into `heads` equal parts.

    Parameters
    ----------
    x : (B, L, H·E)
    heads : int
        H; must divide the width.

    Returns
    -------
    (B, H, L, E)

    Raises
    ------
    ValueError
        If `x` has other axes, or the width is not divisible by `heads`.

    Examples
    --------
    >>> split_heads(torch.zeros(2, 5, 12), heads=3).shape
    torch.Size([2, 3, 5, 4])
    """
    if x.ndim != 3:
        raise ValueError(f"x: expected (B, L, H·E), got {tuple(x.shape)}")
    if heads < 1 or x.shape[-1] % heads:
        raise ValueError(f"heads: expected a divisor of the width {x.shape[-1]}, got {heads}")
    pattern = "batch length (head width) -> batch head length width"
    return rearrange(x, pattern, head=heads)


def merge_heads(x: Tensor) -> Tensor:
    """Lay the heads' outputs side by side again: the inverse of `split_heads`.

    Parameters
    ----------
    x : (B, H, L, E)

    Returns
    -------
    (B, L, H·E)

    Raises
    ------
    ValueError
        If `x` has other axes.

    Examples
    --------
    >>> merge_heads(torch.zeros(2, 3, 5, 4)).shape
    torch.Size([2, 5, 12])
    """
    if x.ndim != 4:
        raise ValueError(f"x: expected (B, H, L, E), got {tuple(x.shape)}")
    return rearrange(x, "batch head length width -> batch length (head width)")


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its own part of the features.

    Parameters
    ----------
    width : int
        D, the width of the tokens.
    heads : int
        H; must divide D. Each head has width E = D / H.

    Raises
    ------
    ValueError
        If `width` is not divisible by `heads`.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.

    Examples
    --------
    >>> output, attention = MultiHeadAttention(8, heads=2)(*[torch.zeros(1, 3, 8)] * 3)
    >>> output.shape, attention.weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise ValueError(f"heads: expected a divisor of the width {width}, got {heads}")
        self.width, self.heads = width, heads
        self.query_layer = nn.Linear(width, width)
        self.key_layer = nn.Linear(width, width)
        self.value_layer = nn.Linear(width, width)
        self.output_layer = nn.Linear(width, width)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        *,
        need_weights: bool = True,
        removed: Sequence[int] = (),
    ) -> tuple[Tensor, Attention | None]:
        """Map query (B, L, D), key and value (B, S, D) to the output and its heads.

        Parameters
        ----------
        query, key, value : (B, L, D), (B, S, D), (B, S, D)
        attn_mask : bool, optional
            True = may attend. (L, S); (B, L, S) or (B, 1, S), the same for all heads; or
            (B, H, L, S), each axis equal or 1, one for each head.
        need_weights : bool
            False computes the same output without keeping scores and weights, by torch's
            ``scaled_dot_product_attention``: faster, and with long sequences far smaller.
        removed : sequence of int
            Heads, counted from 0, whose output is replaced by zeros before the output layer.

        Returns
        -------
        output : (B, L, D)
        attention : Attention or None
            The heads, as they were before any was removed: weights (B, H, L, S), output
            (B, H, L, E). None if they are not needed.

        Raises
        ------
        ValueError
            If the shapes do not fit, or a removed head does not exist.
        """
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.ndim != 3:
                raise ValueError(f"{name}: expected (B, length, D), got {tuple(x.shape)}")
            _check_floats(name, x)
            _same_width(name, x, self.width, "this layer's width")
        if attn_mask is not None and attn_mask.ndim == 3:
            # checked here, so that an error speaks of the mask that came in
            check_mask(attn_mask, query.new_empty(len(query), query.shape[1], key.shape[1]))
            attn_mask = attn_mask.unsqueeze(1)
        layers = (self.query_layer, self.key_layer, self.value_layer)
        heads = [self._split(f(x)) for f, x in zip(layers, (query, key, value), strict=True)]
        if need_weights:
            attention = attend(*heads, attn_mask=attn_mask)
            output = attention.output
        else:
            attention, output = None, _fused(*heads, attn_mask)
        if removed:
            if not set(removed) <= set(range(self.heads)):
                known = f"0 to {self.heads - 1}"
                raise ValueError(f"removed: expected heads from {known}, got {list(removed)}")
            output = output.index_fill(1, torch.tensor(list(removed), device=output.device), 0.0)
        return self.output_layer(self._merge(output)), attention

    def _split(self, x: Tensor) -> Tensor:
        """Cut tokens (B, L, D) into heads (B, H, L, E)."""
        return split_heads(x, self.heads)

    def _merge(self, x: Tensor) -> Tensor:
        """Put heads (B, H, L, E) back together, (B, L, D)."""
        return merge_heads(x)


def _fused(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> Tensor:
    """Return the output of `attend` and nothing else, by torch's own kernel."""
    _check_sequences(query, key, value)
    if attn_mask is not None:
        # one number, spread out: a shape to check against that takes no memory
        check_mask(attn_mask, query.new_empty(()).expand(*query.shape[:-1], key.shape[-2]))
    return F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask)


# --- checks -----------------------------------------------------------------------------------


def _direction(x: Tensor) -> Tensor:
    """Divide each vector by its length; a vector of zeros stays zeros."""
    return nn.functional.normalize(x, dim=-1)


def _same_width(name: str, x: Tensor, width: int, source: str) -> None:
    if x.ndim < 2 or x.shape[-1] != width:
        raise ValueError(
            f"{name}: expected (..., length, {width}) ({source}), got {tuple(x.shape)}"
        )


def _check_floats(name: str, x: Tensor) -> None:
    if not x.is_floating_point():
        raise ValueError(f"{name}: expected floating-point numbers, got {x.dtype}")


def _check_sequences(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise unless query (..., L, E), key (..., S, E) and value (..., S, Ev) belong together."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim < 2:
            raise ValueError(f"{name}: expected (..., length, width), got {tuple(x.shape)}")
        _check_floats(name, x)
    for name, x in (("key", key), ("value", value)):
        if x.shape[:-2] != query.shape[:-2]:
            raise ValueError(
                f"{name}: expected the query's leading axes {tuple(query.shape[:-2])} "
                f"(query {tuple(query.shape)}), got {tuple(x.shape)}"
            )
    if value.shape[-2] != key.shape[-2]:
        raise ValueError(
            f"value: expected the key's length S = {key.shape[-2]} (key {tuple(key.shape)}), "
            f"got {tuple(value.shape)}"
        )

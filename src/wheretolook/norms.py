"""Layer norm and batch norm by hand: which numbers share a mean and a variance?

Both subtract a mean μ and divide by a standard deviation σ. They differ in nothing but the group
of numbers that μ and σ are taken over. Tokens are (B, L, D) in this book; torch's ``BatchNorm1d``
wants the features second, (N, C) or (N, C, L).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

__all__ = [
    "POOLED",
    "BatchNorm",
    "LayerNorm",
    "Statistics",
    "batch_norm",
    "batch_statistics",
    "layer_norm",
    "sharing",
    "update_statistics",
]

POOLED: dict[str, tuple[int, ...]] = {
    "LayerNorm(D)": (2,),
    "LayerNorm([L, D])": (1, 2),
    "BatchNorm1d(D)": (0, 1),
    "BatchNorm1d(L)": (0, 2),
}
"""Which axes of (B, L, D) each norm pools: numbers that differ in these axes only share μ and σ.

``BatchNorm1d(D)`` gets the tokens as (B, D, L), ``BatchNorm1d(L)`` as they are.
"""


class Statistics(NamedTuple):
    """A mean and a variance for each feature, (C,) each."""

    mean: Tensor
    variance: Tensor


def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    eps: float = 1e-5,
) -> Tensor:
    """Bring each group of numbers to mean 0 and variance 1; a group is what the last axes span.

    Parameters
    ----------
    x : (..., normalized_shape)
        Such as tokens (B, L, D).
    normalized_shape : int or sequence of int
        The lengths of the last axes, which are pooled: D takes each token alone, (L, D) each
        sequence as a whole.
    weight, bias : (normalized_shape), optional
        What the normalised numbers are multiplied by, and what is added then.
    eps : float
        Added to the variance, so that equal numbers do not divide by 0.

    Returns
    -------
    same shape as `x`
        The variance is the biased one: divided by the number of numbers, n, not by n - 1.

    Raises
    ------
    ValueError
        If the last axes of `x`, or `weight` or `bias`, do not have `normalized_shape`.

    References
    ----------
    Ba, Kiros and Hinton (2016), equation 3, there without eps.

    Examples
    --------
    >>> layer_norm(torch.tensor([[1., 3.], [10., 30.]]), 2)
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    shape = _shape(normalized_shape)
    _check_groups(x, shape)
    _check_affine(shape, weight=weight, bias=bias)
    axes = tuple(range(-len(shape), 0))
    mean = x.mean(axes, keepdim=True)
    variance = (x - mean).square().mean(axes, keepdim=True)
    return _affine((x - mean) / (variance + eps).sqrt(), weight, bias)


def batch_statistics(x: Tensor) -> Statistics:
    """Take mean and biased variance of each feature over everything else.

    Parameters
    ----------
    x : (N, C) or (N, C, L)
        Features second, as in ``nn.BatchNorm1d``. Tokens (B, L, D) come as (B, D, L).

    Returns
    -------
    Statistics
        (C,) each.

    Raises
    ------
    ValueError
        If `x` has other axes, or each feature has only one number: its variance would be 0.

    References
    ----------
    Ioffe and Szegedy (2015), algorithm 1.

    Examples
    --------
    >>> batch_statistics(torch.tensor([[1., 10.], [3., 30.]]))
    Statistics(mean=tensor([ 2., 20.]), variance=tensor([  1., 100.]))
    """
    _check_features(x)
    _pooled(x)
    mean = x.mean(_others(x))
    return Statistics(mean, (x - _column(mean, x)).square().mean(_others(x)))


def batch_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    statistics: Statistics | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Bring each feature to mean 0 and variance 1 over the batch, or by statistics from elsewhere.

    Parameters
    ----------
    x : (N, C) or (N, C, L)
        Features second.
    weight, bias : (C,), optional
        What the normalised numbers are multiplied by, and what is added then.
    statistics : Statistics, optional
        The running ones, for evaluation; those of `x` itself if None, as in training.
    eps : float
        Added to the variance.

    Returns
    -------
    same shape as `x`

    Raises
    ------
    ValueError
        If shapes do not fit, or there is only one number a feature to take statistics of.

    References
    ----------
    Ioffe and Szegedy (2015), algorithms 1 and 2.

    Examples
    --------
    >>> batch_norm(torch.tensor([[1., 10.], [3., 30.]]))
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    """
    _check_features(x)
    shape = (x.shape[1],)
    _check_affine(shape, weight=weight, bias=bias)
    if statistics is None:
        statistics = batch_statistics(x)
    else:
        _check_affine(shape, mean=statistics.mean, variance=statistics.variance)
    mean, variance = (_column(s, x) for s in statistics)
    weight, bias = (None if p is None else _column(p, x) for p in (weight, bias))
    return _affine((x - mean) / (variance + eps).sqrt(), weight, bias)


def update_statistics(running: Statistics, x: Tensor, *, momentum: float = 0.1) -> Statistics:
    """Move running statistics a step towards those of a batch.

    Parameters
    ----------
    running : Statistics
        As they were.
    x : (N, C) or (N, C, L)
        The batch, features second.
    momentum : float
        The *new* value's share, as torch means the word.

    Returns
    -------
    Statistics
        (1 - momentum) · running + momentum · new. The new variance is the unbiased one, divided
        by n - 1, while the normalisation itself uses the biased one.

    Raises
    ------
    ValueError
        If shapes do not fit, each feature has only one number, or `momentum` is not from 0 to 1.

    Examples
    --------
    >>> zero, one = torch.zeros(1), torch.ones(1)
    >>> update_statistics(Statistics(zero, one), torch.tensor([[1.], [3.]]), momentum=0.5)
    Statistics(mean=tensor([1.]), variance=tensor([1.5000]))
    """
    if not 0 <= momentum <= 1:
        raise ValueError(f"momentum: expected a share from 0 to 1, got {momentum}")
    new = batch_statistics(x.detach())
    _check_affine((x.shape[1],), mean=running.mean, variance=running.variance)
    n = _pooled(x)
    unbiased = new.variance * n / (n - 1)
    return Statistics(
        running.mean.lerp(new.mean.to(running.mean.dtype), momentum),
        running.variance.lerp(unbiased.to(running.variance.dtype), momentum),
    )


class LayerNorm(nn.Module):
    """Layer norm with a learned weight and bias for each number of a group.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        As in `layer_norm`.
    eps : float
        Added to the variance.
    elementwise_affine : bool
        Whether there are weight and bias.
    fused : bool
        Whether torch's kernel computes it, in one step instead of eight: the same function,
        faster. For training.

    Examples
    --------
    >>> layer = LayerNorm([80, 768])
    >>> sum(p.numel() for p in layer.parameters())
    122880
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        *,
        fused: bool = False,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.fused = _shape(normalized_shape), eps, fused
        self.weight = self.bias = None
        if elementwise_affine:
            self.weight = nn.Parameter(torch.ones(self.normalized_shape))
            self.bias = nn.Parameter(torch.zeros(self.normalized_shape))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., normalized_shape); the same in training and evaluation."""
        if not self.fused:
            return layer_norm(x, self.normalized_shape, self.weight, self.bias, eps=self.eps)
        _check_groups(x, self.normalized_shape)
        return nn.functional.layer_norm(
            x, self.normalized_shape, self.weight, self.bias, eps=self.eps
        )


class BatchNorm(nn.Module):
    """Batch norm: the batch's statistics in training, running ones in evaluation.

    Parameters
    ----------
    features : int
        C, the length of the second axis.
    eps : float
        Added to the variance.
    momentum : float
        The new batch's share in the running statistics.
    affine : bool
        Whether there are a weight and a bias for each feature.

    Notes
    -----
    As ``nn.BatchNorm1d``, with the same names of parameters and buffers. In training it *changes
    state*: each call moves the running statistics.

    Examples
    --------
    >>> BatchNorm(768)(torch.randn(5, 768, 80)).shape
    torch.Size([5, 768, 80])
    """

    def __init__(
        self, features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True
    ) -> None:
        super().__init__()
        self.features, self.eps, self.momentum = features, eps, momentum
        self.weight = nn.Parameter(torch.ones(features)) if affine else None
        self.bias = nn.Parameter(torch.zeros(features)) if affine else None
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (N, C) or (N, C, L), C = features.

        Raises
        ------
        ValueError
            If `x` has other axes; in training also if each feature has only one number.
        """
        _check_features(x)
        if x.shape[1] != self.features:
            raise ValueError(
                f"x: expected (N, {self.features}) or (N, {self.features}, L) (this layer's "
                f"features come second), got {tuple(x.shape)}"
            )
        running = Statistics(self.running_mean, self.running_var)
        statistics = running
        if self.training:
            statistics = None
            made = update_statistics(running, x, momentum=self.momentum)
            self.running_mean.copy_(made.mean)
            self.running_var.copy_(made.variance)
            self.num_batches_tracked += 1
        return batch_norm(x, self.weight, self.bias, statistics=statistics, eps=self.eps)


def sharing(shape: tuple[int, int, int], cell: tuple[int, int, int], norm: str) -> Tensor:
    """Find all cells of a block that share their mean and variance with one cell.

    Parameters
    ----------
    shape : (B, L, D)
        Of the block.
    cell : (b, l, d)
        Which number.
    norm : str
        A name in `POOLED`.

    Returns
    -------
    (B, L, D) bool
        True = shares μ and σ with the cell, itself included.

    Raises
    ------
    ValueError
        If there is no such norm, or the cell lies outside the block.

    Examples
    --------
    >>> sharing((2, 3, 4), (0, 1, 2), "LayerNorm(D)").sum((1, 2))
    tensor([4, 0])
    """
    if norm not in POOLED:
        raise ValueError(f"norm: expected one of {', '.join(POOLED)}; got {norm!r}")
    if len(shape) != 3 or len(cell) != 3:
        raise ValueError(
            f"shape, cell: expected (B, L, D) and (b, l, d), got {tuple(shape)} and {tuple(cell)}"
        )
    if not all(0 <= i < n for i, n in zip(cell, shape, strict=True)):
        raise ValueError(f"cell: expected a place inside {tuple(shape)}, got {tuple(cell)}")
    pooled = POOLED[norm]
    block = torch.zeros(shape, dtype=torch.bool)
    block[tuple(slice(None) if a in pooled else cell[a] for a in range(3))] = True
    return block


# --- checks and small steps -------------------------------------------------------------------


def _shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    given = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not given or any(n < 1 for n in given):
        raise ValueError(
            f"normalized_shape: expected one length or several, each 1 or more, got {given}"
        )
    return given


def _last(shape: tuple[int, ...]) -> str:
    return f"(..., {', '.join(map(str, shape))})"


def _check_floats(x: Tensor) -> None:
    if not x.is_floating_point():
        raise ValueError(f"x: expected floating-point numbers, got {x.dtype}")


def _check_groups(x: Tensor, shape: tuple[int, ...]) -> None:
    _check_floats(x)
    if tuple(x.shape[x.ndim - len(shape) :]) != shape or x.ndim < len(shape):
        raise ValueError(
            f"x: expected {_last(shape)} (normalized_shape {shape}), got {tuple(x.shape)}"
        )


def _check_features(x: Tensor) -> None:
    _check_floats(x)
    if x.ndim not in (2, 3):
        raise ValueError(f"x: expected (N, C) or (N, C, L), features second, got {tuple(x.shape)}")


def _check_affine(shape: tuple[int, ...], **parameters: Tensor | None) -> None:
    for name, parameter in parameters.items():
        if parameter is not None and tuple(parameter.shape) != shape:
            raise ValueError(f"{name}: expected {shape}, got {tuple(parameter.shape)}")


def _others(x: Tensor) -> tuple[int, ...]:
    """Return all axes but the second."""
    return (0, *range(2, x.ndim))


def _pooled(x: Tensor) -> int:
    """Return how many numbers each feature has, or say that one is not enough."""
    n = x.shape[0] * (x.shape[2] if x.ndim == 3 else 1)
    if n < 2:
        raise ValueError(
            "x: expected more than one number for each feature in training (with one, the mean is "
            f"the number itself and the variance 0), got {tuple(x.shape)}"
        )
    return n


def _column(per_feature: Tensor, x: Tensor) -> Tensor:
    """Lay (C,) along the second axis of x."""
    return per_feature.view(-1, *[1] * (x.ndim - 2))


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias

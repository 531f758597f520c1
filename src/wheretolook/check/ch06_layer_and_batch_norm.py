"""Chapter 6, LayerNorm against BatchNorm: its exercises, solutions and mistakes people make."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .exercise import BATCH, LEADING, ONE, SINGLE, SQUARE, Case, Exercise, Mistake
from .marks import Marks

__all__ = ["feature_norm", "running_variance", "token_norm"]


# --- what several exercises share -------------------------------------------------------------

_EPS = 1e-5


def _larger(x: Tensor) -> Tensor:
    """Make variances so large that it does not matter whether eps is added before the root."""
    return 4 * x


def _root(variance: Tensor) -> Tensor:
    return (variance + _EPS).sqrt()


def _normalise(
    x: Tensor,
    *,
    axes: tuple[int, ...],
    unbiased: bool = False,
    centre: bool = True,
    spread: Callable[[Tensor], Tensor] = _root,
) -> Tensor:
    mean = x.mean(axes, keepdim=True)
    variance = x.var(axes, unbiased=unbiased, keepdim=True)
    return (x - mean if centre else x) / spread(variance)


def _steps(make: Callable[..., Callable[..., Tensor]]) -> tuple[Mistake, ...]:
    """Return the mistakes of the steps themselves, for any exercise that normalises."""
    return (
        Mistake(
            make(unbiased=True),
            "The variance is the unbiased one, divided by n - 1 (torch's var and std do that "
            "unless told otherwise). Norms divide by n: the group is all there is, not a sample.",
        ),
        Mistake(
            make(spread=lambda variance: variance + _EPS),
            "The numbers are divided by the variance. Divide by its root, the standard deviation: "
            "only then is the new variance 1.",
        ),
        Mistake(
            make(spread=lambda variance: 1 / _root(variance)),
            "The numbers are multiplied by the standard deviation. Divide by it.",
        ),
        Mistake(
            make(spread=torch.ones_like),
            "The mean is taken off, and then the division by the standard deviation is missing.",
        ),
        Mistake(
            make(centre=False),
            "The numbers are divided, but their mean is not taken off first.",
        ),
    )


def _over(
    make: Callable[..., Callable[..., Tensor]], *axes: tuple[tuple[int, ...], str]
) -> tuple[Mistake, ...]:
    """Return the mistakes of pooling the wrong axes, also where the variance is unbiased."""
    return tuple(
        Mistake(make(axes=pooled, unbiased=unbiased), message)
        for pooled, message in axes
        for unbiased in (False, True)
    )


# --- 1: layer norm of every token -------------------------------------------------------------


def _affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x * weight + bias


def _token(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    axes: tuple[int, ...] = (-1,),
    affine: Callable[[Tensor, Tensor, Tensor], Tensor] = _affine,
    **steps: Any,
) -> Tensor:
    return affine(_normalise(x, axes=axes, **steps), weight, bias)


def _tokens(**changes: Any) -> Callable[..., Tensor]:
    return partial(_token, **changes)


_TOKEN_NORM = Exercise(
    returns="normalised tokens",
    shape="B L D",
    inputs={"x": "B L D", "weight": "D", "bias": "D"},
    solution=_token,
    cases=(BATCH, ONE, SINGLE, LEADING),
    prepare=_larger,
    elsewhere=(
        (
            SQUARE,
            "This is right only where length and width are equal. Look for an axis that you take "
            "for another one.",
        ),
    ),
    mistakes=(
        *_over(
            _tokens,
            (
                (-2,),
                "The mean runs over the positions. LayerNorm(D) takes each token alone: over its "
                "features, the last axis.",
            ),
            (
                (-2, -1),
                "The mean runs over positions and features: that is LayerNorm([L, D]). Each token "
                "should have a mean and a variance of its own.",
            ),
        ),
        *_over(
            _tokens,
            (
                (0, -2),
                "The mean runs over batch and positions: that is batch norm. LayerNorm(D) takes "
                "each token alone.",
            ),
            ((0,), "The mean runs over the first axis. LayerNorm(D) takes each token alone."),
            (
                (0, -2, -1),
                "One mean is taken over all numbers. Each token should have one of its own.",
            ),
        ),
        *_steps(_tokens),
        Mistake(
            _tokens(affine=lambda x, weight, bias: x),
            "The numbers are normalised, and weight and bias are unused: multiply by the one, then "
            "add the other.",
        ),
        Mistake(_tokens(affine=lambda x, weight, bias: x * weight), "The bias is unused: add it."),
        Mistake(_tokens(affine=lambda x, weight, bias: x + bias), "The weight is unused."),
        Mistake(
            _tokens(affine=lambda x, weight, bias: (x + bias) * weight),
            "The bias is added before the weight multiplies. First times weight, then plus bias.",
        ),
        Mistake(
            _tokens(affine=lambda x, weight, bias: x * bias + weight),
            "Weight and bias have changed places.",
        ),
        Mistake(
            lambda x, weight, bias: _token(x * weight + bias, 1, 0),
            "Weight and bias come before the normalisation, which takes part of them out again. "
            "They belong after it.",
        ),
        Mistake(
            lambda x, weight, bias: x * weight + bias,
            "Weight and bias are there; the normalisation is missing.",
        ),
        Mistake(
            lambda x, weight, bias: x.softmax(-1) * weight + bias,
            "This is a softmax. It makes shares; a norm takes off the mean and divides by the "
            "standard deviation.",
        ),
        Mistake(
            lambda x, weight, bias: x / x.norm(dim=-1, keepdim=True) * weight + bias,
            "Each token is divided by its length. Take off its mean and divide by its standard "
            "deviation.",
        ),
    ),
)


def token_norm(answer: Any, points: float = 3) -> Marks:
    """Check a function that normalises each token over its features, as LayerNorm(D).

    Parameters
    ----------
    answer : callable
        ``answer(x, weight, bias)``: tokens (B, L, D), weight and bias (D,) → (B, L, D), with the
        biased variance and 1e-5 added to it.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> token_norm(lambda x, weight, bias: x * weight + bias)
    0.0
    """
    return _TOKEN_NORM.mark(answer, points)


# --- 2: batch norm of every feature -----------------------------------------------------------


def _feature(x: Tensor, *, axes: tuple[int, ...] = (0, 1), **steps: Any) -> Tensor:
    return _normalise(x, axes=axes, **steps)


def _features(**changes: Any) -> Callable[..., Tensor]:
    return partial(_feature, **changes)


_FEATURE_NORM = Exercise(
    returns="normalised tokens",
    shape="B L D",
    inputs={"x": "B L D"},
    solution=_feature,
    # With one sequence, pooling positions alone would be right.
    cases=(BATCH, Case("another batch", (4,), {"L": 5, "D": 8})),
    prepare=_larger,
    elsewhere=(
        (
            SQUARE,
            "This is right only where length and width are equal. Look for an axis that you take "
            "for another one.",
        ),
    ),
    mistakes=(
        *_over(
            _features,
            (
                (2,),
                "The mean runs over the features of each token: that is layer norm. Batch norm has "
                "one mean for each feature.",
            ),
            (
                (0, 2),
                "The mean runs over batch and features, one for each position: that is document "
                "A's BatchNorm1d(80). The usual one has a mean for each feature.",
            ),
            (
                (1, 2),
                "The mean runs over positions and features, one for each sequence: that is "
                "LayerNorm([L, D]). Batch norm has one mean for each feature.",
            ),
            (
                (0,),
                "The mean runs over the batch, and each position keeps one of its own. All "
                "positions of all sequences belong together.",
            ),
            (
                (1,),
                "The mean runs over the positions, and each sequence keeps one of its own. All "
                "sequences of the batch belong together.",
            ),
            ((0, 1, 2), "One mean is taken over all numbers. Each feature should have its own."),
        ),
        *_steps(_features),
        Mistake(
            lambda x: _feature(x).transpose(1, 2),
            "The values are right, but the features stand second. Turn the result back.",
        ),
        Mistake(
            lambda x: x.mean((0, 1)).expand_as(x),
            "This is the mean alone. Take it off, and divide by the standard deviation.",
        ),
    ),
)


def feature_norm(answer: Any, points: float = 2) -> Marks:
    """Check a function that normalises each feature over batch and positions.

    Parameters
    ----------
    answer : callable
        ``answer(x)``: tokens (B, L, D) → (B, L, D), as batch norm in training with no weight and
        no bias: the biased variance, 1e-5 added to it.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> feature_norm(lambda x: x)
    0.0
    """
    return _FEATURE_NORM.mark(answer, points)


# --- 3: the running variance ------------------------------------------------------------------


def _running(
    running: Tensor,
    x: Tensor,
    *,
    old: float = 0.9,
    share: float = 0.1,
    new: Callable[[Tensor], Tensor] = lambda x: x.var(0),
) -> Tensor:
    return old * running + share * new(x)


def _kept(**changes: Any) -> Callable[..., Tensor]:
    return partial(_running, **changes)


_BIASED = (
    "The new variance is the biased one, divided by n. For the *running* variance torch divides by "
    "n - 1: here the batch is a sample, and what is sought is the variance of everything."
)
_MOMENTUM = (
    "Old and new have changed places: momentum = 0.1 is the share of the *new* value, and 0.9 of "
    "the old one is kept. (In optimisers the word means the opposite.)"
)

_RUNNING_VARIANCE = Exercise(
    returns="running variance",
    shape="D",
    inputs={"running": "D", "x": "B D"},
    solution=_running,
    cases=(
        Case("a batch of seven", (7,), {"D": 4}),
        Case("a batch of three", (3,), {"D": 5}),
    ),
    # Positive, as a variance is.
    prepare=torch.exp,
    elsewhere=(),
    trains=False,
    mistakes=(
        Mistake(_kept(new=lambda x: x.var(0, unbiased=False)), _BIASED),
        Mistake(_kept(old=0.1, share=0.9), _MOMENTUM),
        Mistake(_kept(old=0.1, share=0.9, new=lambda x: x.var(0, unbiased=False)), _MOMENTUM),
        *(
            Mistake(
                _kept(old=0.0, share=1.0, new=lambda x, u=u: x.var(0, unbiased=u)),
                "This is the variance of the batch alone: what was known before is forgotten. Keep "
                "0.9 of it.",
            )
            for u in (True, False)
        ),
        Mistake(
            _kept(share=0.0),
            "The old value is shrunk, and nothing of the batch is added.",
        ),
        Mistake(
            lambda running, x: running.clone(),
            "This is the old value, unchanged. Move it a tenth of the way to the new one.",
        ),
        *(
            Mistake(
                _kept(old=1.0, new=lambda x, u=u: x.var(0, unbiased=u)),
                "A tenth of the new variance is added, but all of the old one is kept, so it grows "
                "for ever. The two shares must sum to 1.",
            )
            for u in (True, False)
        ),
        *(
            Mistake(
                _kept(old=0.5, share=0.5, new=lambda x, u=u: x.var(0, unbiased=u)),
                "Old and new are averaged half and half. The new one's share is 0.1.",
            )
            for u in (True, False)
        ),
        *(
            Mistake(
                _kept(new=lambda x, u=u: x.std(0, unbiased=u)),
                "The standard deviation is mixed with a variance. Leave out the root.",
            )
            for u in (True, False)
        ),
        Mistake(
            _kept(new=lambda x: x.mean(0)),
            "The batch's mean is mixed in. This is the running variance.",
        ),
        Mistake(
            _kept(new=lambda x: x.square().mean(0)),
            "The mean square is mixed in, without taking off the mean first.",
        ),
        *(
            Mistake(
                _kept(new=lambda x, u=u: x.var(unbiased=u)),
                "One variance is taken over all numbers of the batch. Each feature has its own.",
            )
            for u in (True, False)
        ),
        *(
            Mistake(
                _kept(new=lambda x, u=u: x.var(1, unbiased=u).mean()),
                "The variance runs along each example, over its features. It should run down the "
                "batch, for each feature.",
            )
            for u in (True, False)
        ),
        Mistake(
            _kept(new=lambda x: (x - x.mean(0)).square().sum(0)),
            "The squares are summed, and not yet divided by n - 1.",
        ),
    ),
)


def running_variance(answer: Any, points: float = 2) -> Marks:
    """Check a function that moves a running variance towards a batch's.

    Parameters
    ----------
    answer : callable
        ``answer(running, x)``: running variance (D,) and a batch (B, D) → the new running
        variance (D,), with momentum 0.1 and the unbiased variance of the batch.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> running_variance(lambda running, x: x.var(0))
    0.0
    """
    return _RUNNING_VARIANCE.mark(answer, points)

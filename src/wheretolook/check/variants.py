"""Graded forms of the exercises: the same skill, another right answer.

A practice exercise is public, and so is its solution. A graded one is a variant of it, of which a
teacher chooses the parameter: another scale, another polarity, another layout. A variant is made
out of its exercise by what it does to the inputs before, and to the result after: so it knows the
same misconceptions, and the public solution is one more of them.
"""

import dataclasses
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .exercise import Case, Exercise, Mistake
from .marks import Marks

__all__ = ["VARIANTS", "Variant", "varied"]

_PRACTICE = (
    "This is the answer to the practice exercise. The graded one asks for something else: read its "
    "last paragraph again."
)


class Change(NamedTuple):
    """What makes a variant of an exercise.

    Attributes
    ----------
    before : callable
        Turns the variant's inputs into those of the practice exercise: a tuple for a tuple.
    after : callable
        Turns the practice exercise's result into the variant's, knowing the variant's inputs.
    drawn : callable
        Turns inputs that were drawn for the practice exercise into the variant's.
    """

    before: Callable[..., tuple] = lambda *x: x
    after: Callable[..., Any] = lambda result, *x: result
    drawn: Callable[..., tuple] = lambda *x: x


class Variant(NamedTuple):
    """A family of graded forms of one exercise.

    Attributes
    ----------
    parameter : str
        What a teacher chooses.
    accepts : tuple
        The values to choose from; or the least and the greatest of any number in between.
    statement : str
        What the graded exercise says besides; ``{value}`` stands for the choice.
    change : callable
        Takes the value and returns the `Change`.
    """

    parameter: str
    accepts: tuple
    statement: str
    change: Callable[[Any], Change]

    def says(self, value: Any) -> str:
        """Return what the graded exercise says besides, with the value in its place."""
        return self.statement.format(value=f"{value:g}" if isinstance(value, float) else value)

    def checked(self, name: str, given: Mapping[str, Any]) -> Any:
        """Return the chosen value.

        Parameters
        ----------
        name : str
            Of the checker.
        given : mapping
            What was chosen, by the name of the parameter.

        Raises
        ------
        ValueError
            If that is not one parameter with a value that is accepted.
        """
        value = given.get(self.parameter)
        number = isinstance(self.accepts[0], float)
        listed = " or ".join(map(repr, self.accepts))
        accepted = f"{self.accepts[0]:g} to {self.accepts[1]:g}" if number else listed
        fits = (
            isinstance(value, int | float) and self.accepts[0] <= value <= self.accepts[1]
            if number
            else value in self.accepts
        )
        if set(given) != {self.parameter} or not fits:
            came = ", ".join(f"{key} = {x!r}" for key, x in given.items()) or "nothing"
            raise ValueError(f"{name}: {came}; accepted: {self.parameter} = {accepted}")
        return value


def _mirror(change: Callable[..., tuple]) -> Change:
    """Make a change that undoes itself: the inputs are drawn as before, and handed over changed."""
    return Change(before=change, drawn=change)


_SCALES: dict[str, Callable[[int], float]] = {
    "1/E": lambda width: 1 / width,
    "1/(2√E)": lambda width: 0.5 / width**0.5,
    "1/(E+1)": lambda width: 1 / (width + 1),
}
_SCALE = "the scale is ${value}$ instead of $1/\\sqrt{{E}}$"


def _rescaled(place: int) -> Callable[[str], Change]:
    """Rescale one input by a factor that changes 1/√E into another scale."""

    def change(value: str) -> Change:
        def before(*x: Tensor) -> tuple:
            width = x[place].shape[-1]
            return *x[:place], x[place] * (_SCALES[value](width) * width**0.5), *x[place + 1 :]

        return Change(before=before)

    return change


def _hides(place: int) -> Callable[[str], Change]:
    return lambda _: _mirror(lambda *x: (*x[:place], ~x[place], *x[place + 1 :]))


_HIDES = (
    "the mask has the other polarity, as `nn.MultiheadAttention` wants it: "
    "**{value}**, and False lets it be seen"
)
_COST = (
    "`reward` is a **{value}**: the less the better, and `baseline` is the cost that was expected. "
    "Less cost than expected should pull, more should push away"
)


def _stripes(x: Tensor, heads: int) -> Tensor:
    """Turn numbers that lie head by head into stripes: each head has every H-th."""
    return x.unflatten(-1, (heads, -1)).transpose(-1, -2).flatten(-2)


def _runs(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (-1, heads)).transpose(-1, -2).flatten(-2)


def _alone(result: Tensor, outputs: Tensor, w_output: Tensor, _: int) -> Tensor:
    return outputs.transpose(1, 2).flatten(-2) @ w_output - result


def _momentum(value: float) -> Change:
    """Turn a momentum of 0.1 into another: a variance goes with the square of its numbers."""
    return Change(
        before=lambda running, x: (running * (1 - value) / 0.9, x * math.sqrt(value / 0.1))
    )


def _started(value: int) -> Change:
    return Change(
        after=lambda y, target: torch.cat([torch.full_like(y[..., :1], value), y[..., 1:]], -1)
    )


VARIANTS = {
    # chapter 1
    "map_shares": Variant(
        "power",
        (1.5, 4.0),
        "the shares are those of the amounts to the power of {value}: each amount counts as "
        "$a^{{{value}}}$",
        lambda power: Change(before=lambda amounts: (amounts**power,)),
    ),
    "glimpse_cut": Variant(
        "gaze",
        ("column, row",),
        "a gaze is (**{value}**): across first, then down",
        lambda _: _mirror(lambda canvas, gaze: (canvas, gaze.flip(-1))),
    ),
    "reward_push": Variant(
        "reward",
        ("cost",),
        _COST,
        lambda _: Change(before=lambda mean, gaze, r, b: (mean, gaze, -r, -b)),
    ),
    # chapter 2
    "shifted_target": Variant("start", (3.0, 10_000.0), "the start is {value}, not 1", _started),
    "pooled_context": Variant("mask", ("True hides",), _HIDES, _hides(1)),
    "sequence_loss": Variant(
        "unit",
        ("bits",),
        "the loss is in **{value}**: the mean of $-\\log_2 p$",
        lambda _: Change(after=lambda loss, *x: loss / math.log(2)),
    ),
    # chapter 3
    "step_weights": Variant(
        "temperature",
        (1.5, 5.0),
        "the scores are divided by a temperature of {value} before softmax",
        lambda t: Change(before=lambda q, k, w_query, w_key, v: (q, k, w_query, w_key, v / t)),
    ),
    "weighted_context": Variant(
        "weights",
        ("columns",),
        "`weights` is (B, S, L): each word's weights are one of its **{value}**, which sum to 1",
        lambda _: _mirror(lambda weights, states: (weights.mT, states)),
    ),
    "gold_agreement": Variant(
        "words",
        ("columns",),
        "`weights` and `gold` are (B, S, L): words are **{value}**, and characters are rows",
        lambda _: _mirror(lambda weights, gold: (weights.mT, gold.mT)),
    ),
    "choice_push": Variant(
        "reward",
        ("cost",),
        _COST,
        lambda _: Change(before=lambda scores, choice, r, b: (scores, choice, -r, -b)),
    ),
    # chapter 4
    "attention_weights": Variant("scale", tuple(_SCALES), _SCALE, _rescaled(0)),
    "self_attention": Variant("scale", tuple(_SCALES), _SCALE, _rescaled(1)),
    "additive_scores": Variant(
        "key",
        ("subtracted",),
        "the key is **{value}**: $v \\cdot \\tanh(q A - k B)$",
        lambda _: Change(before=lambda q, k, w_query, w_key, v: (q, k, w_query, -w_key, v)),
    ),
    "own_rank": Variant(
        "queries",
        ("columns",),
        "queries are **{value}** and keys are rows: each column of `weights` sums to 1",
        lambda _: _mirror(lambda weights: (weights.mT,)),
    ),
    # chapter 5
    "padding_columns": Variant(
        "mask", ("True hides",), _HIDES, lambda _: Change(after=lambda mask, *x: ~mask)
    ),
    "both_masks": Variant(
        "mask", ("True hides",), _HIDES, lambda _: Change(after=lambda mask, *x: ~mask)
    ),
    "future_cells": Variant("mask", ("True hides",), _HIDES, _hides(0)),
    "safe_weights": Variant("mask", ("True hides",), _HIDES, _hides(1)),
    # chapter 6
    "token_norm": Variant(
        "weight",
        ("1 + weight",),
        "the factor is **{value}** instead of `weight`, so that a weight of 0 changes nothing",
        lambda _: Change(before=lambda x, weight, bias: (x, 1 + weight, bias)),
    ),
    "feature_norm": Variant(
        "gain",
        (1.5, 5.0),
        "every result is multiplied by {value} at the end",
        lambda gain: Change(after=lambda y, *x: y * gain),
    ),
    "running_variance": Variant(
        "momentum", (0.15, 0.5), "the momentum is {value}, not 0.1", _momentum
    ),
    # chapter 7
    "heads_split": Variant(
        "heads",
        ("stripes",),
        "heads are **{value}** of a token: of H heads, head $h$ has numbers $h$, $h + H$, "
        "$h + 2H$, …, counted from 0, in this order",
        lambda _: Change(before=lambda x, heads: (_runs(x, heads), heads)),
    ),
    "heads_merged": Variant(
        "heads",
        ("stripes",),
        "heads are **{value}** of a token: the numbers of head $h$ go to the places $h$, $h + H$, "
        "$h + 2H$, …, counted from 0, in this order",
        lambda _: Change(after=lambda y, x: _stripes(y, x.shape[1])),
    ),
    "head_removed": Variant(
        "head",
        ("alone",),
        "the output is that of this one head **{value}**: all *other* heads are taken out",
        lambda _: Change(after=_alone),
    ),
    "layer_cost": Variant(
        "count",
        ("operations",),
        "**{value}** are counted: a multiplication and its addition are two",
        lambda _: Change(after=lambda cost, *x: 2 * cost),
    ),
    # chapter 8
    "feed_forward": Variant(
        "residual",
        ("added",),
        "x goes past the two layers as well, and is **{value}** at the end",
        lambda _: Change(after=lambda y, x, *w: x + y),
    ),
    "pre_norm": Variant(
        "factor",
        (0.1, 0.9),
        "what the part makes is multiplied by {value} before it is added",
        lambda factor: Change(before=lambda x, weight: (x, weight * factor)),
    ),
    "cross_weights": Variant("scale", tuple(_SCALES), _SCALE, _rescaled(0)),
    "next_words": Variant(
        "ended",
        ("False",),
        "the second argument says which sentences go *on*: a sentence has ended where it is "
        "**{value}**",
        lambda _: _mirror(lambda logits, ended: (logits, ~ended)),
    ),
}


def varied(name: str, answer: Any, points: float, **given: Any) -> Marks:
    """Check the answer to a graded form of an exercise.

    Parameters
    ----------
    name : str
        Of the practice exercise's checker, such as "attention_weights".
    answer : callable
        The reader's function.
    points : float
        What a right answer earns.
    **given
        The parameter and its value, as the exercise says.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Raises
    ------
    ValueError
        If there is no such exercise, or the parameter is not one that it accepts.

    Examples
    --------
    >>> def practice(query, key):
    ...     return (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
    >>> print(varied("attention_weights", practice, 2, scale="1/E").feedback)
    Not right yet: 0 of 2 points
    ✗ This is the answer to the practice exercise. ...
    """
    if name not in VARIANTS:
        raise ValueError(f"name: {name!r} is none of {', '.join(VARIANTS)}")
    variant = VARIANTS[name]
    exercise = _exercise(name)
    return _changed(exercise, variant.change(variant.checked(name, given))).mark(answer, points)


def _exercise(name: str) -> Exercise:
    checker = getattr(sys.modules[__package__], name)
    return checker.__globals__[f"_{name.upper()}"]


def _changed(exercise: Exercise, change: Change) -> Exercise:
    """Make the variant of an exercise."""

    def turned(function: Callable) -> Callable:
        return lambda *x: change.after(function(*change.before(*x)), *x)

    def draw(
        _: Exercise, case: Case, seed: int, dtype: torch.dtype | None = None
    ) -> dict[str, Any]:
        given = exercise.draw(case, seed, *([dtype] if dtype else []))
        return dict(zip(given, change.drawn(*given.values()), strict=True))

    kind = type("Varied", (type(exercise),), {"draw": draw})
    parts = {f.name: getattr(exercise, f.name) for f in dataclasses.fields(exercise)}
    return kind(**{
        **parts,
        "solution": turned(exercise.solution),
        "mistakes": (
            Mistake(exercise.solution, _PRACTICE),
            *(Mistake(turned(m.function), m.message) for m in exercise.mistakes),
        ),
    })  # fmt: skip

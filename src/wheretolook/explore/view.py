"""What every view has in common, and the numbers and names that views are made of.

A view is markup with *slots*. Python writes the markup once, with the first frame's values in the
slots; the script only changes the values. A new view is a class with a `kind`, `markup`, `values`
and `plot` (its printed picture), and, if plain numbers in slots are not enough, a script and a
style of that kind beside it: ``kind.js`` and ``kind.css``.
"""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from .assets import has_script

__all__ = [
    "Numbers",
    "View",
    "check_weights",
    "filled",
    "fixed_point",
    "like",
    "listing",
    "names_for",
    "numbers",
    "printed",
    "short",
    "to_json",
]

Numbers = Tensor | np.ndarray | Sequence[Any]


class View:
    """Something an explorer can show.

    Parameters
    ----------
    title : str
        Heading; may change from frame to frame.
    resizes : bool
        Say True if the shape or the names may change from frame to frame.

    Attributes
    ----------
    kind : str
        Which script and style draw it, see `wheretolook.explore.assets`.
    """

    kind = ""

    def __init__(self, title: str = "", *, resizes: bool = False) -> None:
        self.title, self.resizes = title, resizes

    def limit(self) -> float:
        """Return the largest magnitude; the explorer uses one scale for all frames."""
        return 1.0

    def agree(self, frames: Sequence["View"]) -> None:
        """Give all frames what they must share beyond the limit; most views need nothing."""

    def markup(self, limit: float, slots: Sequence[Any] | None) -> str:
        """Return the markup; with ``slots=None`` empty, which is what the script fills in."""
        raise NotImplementedError

    def values(self, limit: float) -> list[Any]:
        """Return what goes into the slots, in document order: ints, strings, None, lists."""
        raise NotImplementedError

    def parts(self) -> tuple[str, ...]:
        """Return the kinds whose scripts and styles it needs: mostly just its own."""
        return (self.kind,)

    def holder(self, body: str, **data: Any) -> str:
        """Put the body of the markup into the view's element.

        Parameters
        ----------
        body : str
            Markup.
        **data
            What the script reads from ``view.dataset``; None is left out. ``decimals`` (digits
            printed) and ``limit`` (where the scale ends) are what plain slots need.
        """
        kept = {"kind": self.kind, "script": "" if has_script(self.kind) else None, **data}
        named = "".join(
            f' data-{name}="{escape(str(value))}"'
            for name, value in kept.items()
            if value is not None
        )
        return f'<div class="wtl-view"{named}>{body}</div>'

    def plot(self, axes: Axes, limit: float) -> None:
        """Draw the printed picture."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return the view in words, for plain text."""
        return self.title or type(self).__name__


# --- numbers as they are printed --------------------------------------------------------------


def fixed_point(value: float, decimals: int) -> int | None:
    """Return a number at its printed precision, as an integer: 0.41 → 41. ``-inf`` → None."""
    if np.isneginf(value):
        return None
    return int(f"{value:.{decimals}f}".replace(".", ""))


def printed(value: int | None, decimals: int) -> str:
    """Return what stands in a cell; the script writes the same."""
    if value is None:
        return "−∞"
    return f"{value / 10**decimals:.{decimals}f}".replace("-", "−")


def short(value: float, digits: int = 3) -> str:
    """Return a number as an axis says it: so many digits at most, a proper minus."""
    return f"{value:.{digits}g}".replace("-", "−")


def filled(value: int, decimals: int, limit: float) -> tuple[str, str]:
    """Return what a slot for one number holds: its style, where ``--w`` is the share, and text."""
    share = value / 10**decimals / limit if limit else 0
    return f' style="--w:{share:.3g}"', printed(value, decimals)


def listing(title: str, names: Sequence[str], values: Sequence[Any], decimals: int) -> str:
    """Return named numbers in words."""
    words = ", ".join(f"{n} {printed(v, decimals)}" for n, v in zip(names, values, strict=True))
    return f"{title}: {words}" if title else words


def to_json(value: Any) -> str:
    """Return a value as short JSON, for a data attribute."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- what comes in ----------------------------------------------------------------------------


def numbers(name: str, values: Any, ndim: int, *, hidden: bool = False) -> np.ndarray:
    """Return float64 numbers with `ndim` axes; -inf passes only where it means a hidden cell."""
    if isinstance(values, Tensor):
        values = values.detach().to("cpu", torch.float64)
    try:
        array = np.asarray(values, dtype=np.float64).copy()  # draw may use its buffer again
    except ValueError as error:
        raise ValueError(f"{name}: expected numbers in rows of one length; {error}") from error
    if array.ndim != ndim:
        shape = ("(n,)", "(rows, columns)", "(B, L, D)")[ndim - 1]
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    bad = ~np.isfinite(array) & ~(np.isneginf(array) & hidden)
    if bad.any():
        place = tuple(np.argwhere(bad)[0].tolist())
        raise ValueError(f"{name}: expected numbers, got {array[bad][0]} at {place}")
    return array


def like(name: str, values: Any, array: np.ndarray) -> np.ndarray:
    """Return `values` as an array; raise ValueError unless its shape is that of `array`."""
    if isinstance(values, Tensor):
        values = values.detach().cpu().numpy()
    values = np.asarray(values)
    if values.shape != array.shape:
        raise ValueError(f"{name}: expected shape {array.shape}, got {values.shape}")
    return values


def check_weights(weights: np.ndarray, else_use: str) -> None:
    """Raise ValueError unless all weights lie between 0 and 1."""
    low, high = weights.min(initial=0.0), weights.max(initial=0.0)
    if low < -1e-6 or high > 1 + 1e-3:
        raise ValueError(
            f"weights: expected values between 0 and 1, got {low:.3g} to {high:.3g}; {else_use}"
        )


def names_for(name: str, names: Sequence[str] | None, count: int) -> list[str]:
    """Return `count` names (1, 2, … if there are none); raise ValueError if they do not fit."""
    if names is None:
        return [str(i + 1) for i in range(count)]
    names = [str(n) for n in names]
    if len(names) != count:
        raise ValueError(f"{name}: expected {count} names, got {len(names)}: {names}")
    return names

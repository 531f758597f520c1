"""Marks that are a number to a machine and an answer to a reader.

nbgrader reads the marks from the cell's plain text, so that must be a bare float. What was right
and what was not goes into the HTML beside it.
"""

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

__all__ = ["Finding", "Marks"]

# Mixing with the page's own text colour keeps the contrast in light and dark alike.
_COLOURS = {
    "right": "var(--wtl-good, color-mix(in srgb, currentColor 45%, #0a9a4a))",
    "partly": "var(--wtl-bad, color-mix(in srgb, currentColor 45%, #e0303a))",
    "wrong": "var(--wtl-bad, color-mix(in srgb, currentColor 45%, #e0303a))",
    "blank": "currentColor",
}

# A sign as well as a colour, and a word for those who hear the page.
_SIGNS = {True: ("✓", "right"), False: ("✗", "not right"), None: ("○", "open")}


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes
    ----------
    good : bool or None
        Whether it was as it should be; None where there is nothing to judge yet.
    text : str
        What was found, as one or two sentences.
    """

    good: bool | None
    text: str


class Marks(float):
    """A number of points, with the reasons for it.

    Parameters
    ----------
    value : float
        The points earned.
    points : float
        The points that could be earned.
    status : str
        "right", "partly", "wrong" or "blank" (not answered yet).
    findings : iterable of Finding
        What was looked at, in that order.

    Attributes
    ----------
    feedback : str
        All of it as plain text; a notebook shows the same as HTML.

    Examples
    --------
    >>> Marks(1, 2, "partly", [Finding(True, "one sequence"), Finding(False, "a batch")])
    1.0
    """

    def __new__(
        cls,
        value: float = 0.0,
        points: float = 0.0,
        status: str = "blank",
        findings: Iterable[Finding] = (),
    ) -> "Marks":
        """Make the float, and give it its reasons."""
        marks = super().__new__(cls, value)
        marks.points, marks.status, marks.findings = float(points), status, tuple(findings)
        return marks

    @property
    def headline(self) -> str:
        """What to read first: the state in words, and the points."""
        words = {"right": "All right", "partly": "Partly right", "wrong": "Not right yet"}
        return f"{words.get(self.status, 'Not answered yet')}: {self:g} of {self.points:g} points"

    @property
    def feedback(self) -> str:
        """Everything as plain text."""
        return "\n".join([self.headline, *(f"{_SIGNS[f.good][0]} {f.text}" for f in self.findings)])

    def _repr_html_(self) -> str:
        items = "".join(
            f'<li style="list-style: none"><span role="img" aria-label="{word}">{sign}</span> '
            f"{escape(text)}</li>"
            for good, text in self.findings
            for sign, word in [_SIGNS[good]]
        )
        colour = _COLOURS[self.status]
        return (
            f'<div class="wtl-feedback" role="status" style="border-left: 3px solid {colour}; '
            f'padding-left: .7rem"><strong style="color: {colour}">{escape(self.headline)}</strong>'
            f'<ul style="margin: .3rem 0; padding: 0">{items}</ul></div>'
        )

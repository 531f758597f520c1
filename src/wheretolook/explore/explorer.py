"""``explore``: sliders that are alive everywhere, with no kernel and no network.

``draw`` is called once for every combination of control values, by Python; the page gets the
numbers of all frames and a small script that puts the chosen frame's numbers into the markup.
"""

import inspect
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from .. import figures
from .assets import scripts, styles
from .controls import Control, check_names, read_controls
from .picture import as_view
from .view import View

__all__ = ["Explorer", "explore", "show"]

FRAMES_AT_MOST = 2_000
NUMBERS_AT_MOST = 150_000


def explore(draw: Callable[..., Any], /, **controls: Any) -> "Explorer":
    """Let the reader move the parameters of `draw`, without a kernel.

    Reads like ``ipywidgets.interact`` and takes the same abbreviations and controls. Every frame
    is computed here and now.

    Parameters
    ----------
    draw : callable
        Gets one value of each control by name; returns a view (`Heatmap`, `Matrix`, `Tokens`,
        `Bars`, `Curves`, `Arrows`), a matplotlib figure, or a list of them. The first line of its
        docstring names the explorer, also for a screen reader; a default value is where its
        control starts.
    **controls
        ``(min, max[, step])``, a list, a dict, a bool, ``fixed(…)``, or an ipywidgets control
        whose values can be listed.

    Returns
    -------
    Explorer
        Shows itself in a notebook and on the site.

    Raises
    ------
    ValueError
        If a control is unknown, missing or without a list of values; if the grid is too large
        (names the control to thin out); if the shape of a view changes and does not say so.

    Examples
    --------
    >>> from wheretolook.explore import Bars
    >>> explore(lambda x: Bars([x], ["x"]), x=(0.0, 1.0, 0.5)).frames
    3
    """
    check_names(draw, controls)
    listed = read_controls(controls, draw)
    _check_grid(listed)
    values = [[c.values[i] for c, i in zip(listed, at, strict=True)] for at in _grid(listed)]
    names = [c.name for c in listed]
    with figures.style():
        drawn = [_draw(draw, dict(zip(names, frame, strict=True))) for frame in values]
    label = inspect.getdoc(draw) or f"{getattr(draw, '__name__', 'view')} by {', '.join(names)}"
    return Explorer(label.splitlines()[0], listed, drawn)


def show(*views: Any, label: str = "") -> "Explorer":
    """Show views that have nothing to move, in the same dress.

    Parameters
    ----------
    *views
        Views or matplotlib figures, side by side.
    label : str
        What is shown, in words; the first view's title if empty.

    Returns
    -------
    Explorer
        Without controls.

    Examples
    --------
    >>> from wheretolook.explore import Bars
    >>> show(Bars([0.5], ["x"]), label="a bar").frames
    1
    """
    if not views:
        raise ValueError("views: expected at least one view, got none")
    shown = [as_view(view) for view in views]
    return Explorer(label or shown[0].title or shown[0].describe(), [], [shown])


@dataclass(frozen=True)
class _Track:
    """One view through all frames: its markup without values, and the values of each frame."""

    limit: float
    skeletons: list[str]
    frames: list[tuple[int, list[Any]]]


class Explorer:
    """All frames of a drawing, with their controls.

    Made by `explore`.

    Attributes
    ----------
    label : str
        What the explorer shows, in words.
    controls : list of Control
    frames : int
        How many frames there are.
    parts : list of str
        The kinds of views whose scripts and styles it needs.
    """

    def __init__(self, label: str, controls: list[Control], drawn: list[list[View]]) -> None:
        self.label, self.controls, self.frames = label, controls, len(drawn)
        self._drawn = drawn
        used = {part for views in drawn for view in views for part in view.parts()}
        self.parts = sorted(used | {"save"})
        self._start = sum(
            c.start * step for c, step in zip(controls, _steps(controls), strict=True)
        )
        count = len(drawn[0])
        if not count:
            raise ValueError("draw: expected a view, or a list of them, got an empty list")
        for views, at in zip(drawn, _grid(controls), strict=True):
            if len(views) != count:
                raise ValueError(
                    f"draw: returned {len(views)} views at {_place(controls, at)}, {count} before"
                )
        self._tracks = [_track([views[i] for views in drawn], controls) for i in range(count)]
        numbers = sum(_size(slots) for track in self._tracks for _, slots in track.frames)
        numbers += sum(_size(track.skeletons) for track in self._tracks)
        if numbers > NUMBERS_AT_MOST:
            raise ValueError(
                f"{_longest(controls)}: {self.frames:,} frames weigh as much as {numbers:,} "
                f"numbers; at most {NUMBERS_AT_MOST:,} fit a page. Give this control fewer values"
            )

    def views(self, **values: Any) -> list[View]:
        """Return what `draw` returned for these control values.

        Parameters
        ----------
        **values
            A value of each control; the starting value where left out.

        Raises
        ------
        ValueError
            If a control or a value does not exist.
        """
        at = 0
        for control, step in zip(self.controls, _steps(self.controls), strict=True):
            value = values.pop(control.name, control.values[control.start])
            if value not in control.values:
                raise ValueError(f"{control.name}: expected one of {control.values}, got {value!r}")
            at += control.values.index(value) * step
        for name in values:
            raise ValueError(f"{name}: no such control")
        return self._drawn[at]

    def html(self, assets: bool = True) -> str:
        """Return the self-contained markup.

        Parameters
        ----------
        assets : bool
            Whether style and script come with it; the site build leaves them out.
        """
        shown = "".join(
            view.markup(track.limit, track.frames[self._start][1])
            for view, track in zip(self._drawn[self._start], self._tracks, strict=True)
        )
        data = {
            "names": [c.name for c in self.controls],
            "counts": [len(c.values) for c in self.controls],
            "texts": [[] if c.kind == "fixed" else list(c.texts) for c in self.controls],
            "views": [
                {
                    "skeletons": track.skeletons if len(track.skeletons) > 1 else [],
                    "frames": [[at, *slots] for at, slots in self._light(track)],
                }
                for track in self._tracks
            ],
        }
        source = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        source = source.replace("<", "\\u003c")  # no token can end the script element
        head, tail = (styles(self.parts), scripts(self.parts)) if assets else ("", "")
        moved = [c for c in self.controls if c.kind != "fixed"]
        now = ", ".join(f"{c.label} {c.texts[c.start]}" for c in moved)
        name = escape(self.label)
        controls = (
            f'<div class="wtl-controls">{"".join(map(_control, self.controls))}</div>'
            f'<p class="wtl-now">Shown: {escape(now)}</p>'
            if now
            else ""
        )
        return (
            f'{head}<wtl-explorer role="group" aria-label="{name}">'
            f'<p class="wtl-label">{name}</p>'
            f"{controls}"
            f'<div class="wtl-views">{shown}</div>{_foot(bool(now))}'
            f'<script type="application/json">{source}</script></wtl-explorer>{tail}'
        )

    def _light(self, track: _Track) -> list[tuple[int, list[Any]]]:
        """Leave out the picture that stands in the markup: it may weigh more than all numbers."""
        if len(track.skeletons) > 1:  # the markup may be replaced
            return track.frames
        _, shown = track.frames[self._start]
        return [
            (at, [_known(s) if s == t else s for s, t in zip(slots, shown, strict=True)])
            for at, slots in track.frames
        ]

    def png(self) -> bytes:
        """Return the first frame as a picture, for print."""
        views = self._drawn[self._start]

        def draw(axes: list[Any]) -> None:
            for view, track, ax in zip(views, self._tracks, axes, strict=True):
                view.plot(ax, track.limit)

        return figures.png(draw, panels=len(views))

    def __repr__(self) -> str:
        return f"{self.label}: {'; '.join(v.describe() for v in self._drawn[self._start])}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/html": self.html(), "image/png": self.png(), "text/plain": repr(self)}


# --- frames -----------------------------------------------------------------------------------


def _draw(draw: Callable[..., Any], values: dict[str, Any]) -> list[View]:
    try:
        shown = draw(**values)
        return [as_view(v) for v in (shown if isinstance(shown, list | tuple) else [shown])]
    except Exception as error:
        if hasattr(error, "add_note"):  # Python 3.11
            error.add_note(f"while drawing {values}")
        raise


def _track(views: list[View], controls: list[Control]) -> _Track:
    """Collect one view's frames: the same scale for all, each skeleton once."""
    limit = max(view.limit() for view in views)
    views[0].agree(views)
    skeletons: dict[str, int] = {}
    frames = []
    for view, at in zip(views, _grid(controls), strict=True):
        skeleton = view.markup(limit, None)
        if skeletons and skeleton not in skeletons and not view.resizes:
            raise ValueError(
                f"draw: the shape or the names of {type(view).__name__} change at "
                f"{_place(controls, at)}. If they are meant to, say so: "
                f"{type(view).__name__}(…, resizes=True)"
            )
        frames.append((skeletons.setdefault(skeleton, len(skeletons)), view.values(limit)))
    return _Track(limit, list(skeletons), frames)


def _grid(controls: list[Control]) -> list[tuple[int, ...]]:
    """List the combinations; the first control changes slowest."""
    grid: list[tuple[int, ...]] = [()]
    for control in controls:
        grid = [(*at, i) for at in grid for i in range(len(control.values))]
    return grid


def _steps(controls: list[Control]) -> list[int]:
    """Return how many frames one move of each control skips."""
    return [math.prod(len(c.values) for c in controls[i + 1 :]) for i in range(len(controls))]


def _check_grid(controls: list[Control]) -> None:
    count = math.prod(len(c.values) for c in controls)
    if count > FRAMES_AT_MOST:
        counts = " × ".join(f"{c.name} {len(c.values)}" for c in controls)
        raise ValueError(
            f"{_longest(controls)}: the grid has {count:,} frames ({counts}), at most "
            f"{FRAMES_AT_MOST:,} are drawn. Give this control a larger step or fewer values, "
            "or use live(…), which draws on demand with a kernel"
        )


def _longest(controls: list[Control]) -> str:
    return max(controls, key=lambda c: len(c.values)).name if controls else "draw"


def _place(controls: list[Control], at: tuple[int, ...]) -> str:
    return ", ".join(f"{c.name} = {c.texts[i]}" for c, i in zip(controls, at, strict=True))


def _size(slots: list[Any]) -> int:
    """Count numbers; twenty characters of a picture or of markup weigh as one."""
    return sum(
        _size(s) if isinstance(s, list) else len(s) // 20 if isinstance(s, str) else 1
        for s in slots
    )


def _known(slot: Any) -> Any:
    """Return the slot of a picture without its source, any other slot as it is."""
    match slot:
        case [str(source), words] if source.startswith("data:image/"):
            return ["", words]
    return slot


def _foot(moves: bool) -> str:
    """Return the buttons below the views; a link says where the controls stand."""
    link = '<button type="button" data-do="link">Copy link</button>' if moves else ""
    save = '<button type="button" data-do="save">Save picture</button>'
    return f'<p class="wtl-foot">{link}{save}</p>'


def _control(control: Control) -> str:
    """Return a label around a native control: no id that could clash."""
    if control.kind == "fixed":
        return ""
    name, start, last = escape(control.label), control.start, len(control.values) - 1
    text = escape(control.texts[start])
    # Jupyter takes the arrow keys from any input that does not say otherwise itself
    keep = 'data-lm-suppress-shortcuts="true"'
    if control.kind == "range":
        field = (
            f'<input type="range" min="0" max="{last}" value="{start}" {keep} '
            f'aria-valuetext="{text}"><output aria-live="polite">{text}</output>'
        )
    elif control.kind == "checkbox":
        checked = " checked" if start else ""
        field = f'<input type="checkbox" {keep}{checked}><output aria-live="polite">{text}</output>'
    else:
        options = "".join(
            f"<option{' selected' if i == start else ''}>{escape(t)}</option>"
            for i, t in enumerate(control.texts)
        )
        field = f"<select {keep}>{options}</select>"
    play = ""
    if control.interval:
        play = f'<button type="button" data-play="{control.interval}">Play {name}</button>'
    return f'<label data-name="{escape(control.name)}"><span>{name}</span>{field}</label>{play}'

"""Controls: what the reader can move, read from the abbreviations of ``ipywidgets.interact``."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import ipywidgets
from ipywidgets import interactive

__all__ = ["Control", "check_names", "read_controls", "widgets_for"]


@dataclass(frozen=True)
class Control:
    """One control: its values in order, how each reads, and where it starts.

    Attributes
    ----------
    name : str
        The parameter of ``draw``.
    label : str
        What the reader sees.
    kind : {"range", "select", "checkbox", "fixed"}
        Which native control it becomes.
    values : tuple
        What ``draw`` is called with.
    texts : tuple of str
        How each value reads.
    start : int
        Index of the first value shown.
    interval : int, optional
        Milliseconds a value, where the control can also run by itself (``ipywidgets.Play``).
    """

    name: str
    label: str
    kind: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: int = 0
    interval: int | None = None


def check_names(draw: Callable[..., Any], names: Iterable[str]) -> None:
    """Raise ValueError unless `names` are parameters of `draw` and none is missing."""
    parameters = dict(inspect.signature(draw).parameters)
    starred = {
        n: p.kind for n, p in parameters.items() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    for name in starred:
        del parameters[name]
    names = list(names)
    for name in names:
        if name not in parameters and inspect.Parameter.VAR_KEYWORD not in starred.values():
            takes = ", ".join(parameters) or "none"
            raise ValueError(f"{name}: draw has no such parameter; it takes {takes}")
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and name not in names:
            raise ValueError(f"{name}: draw needs this parameter, but it got no control")


def widgets_for(controls: dict[str, Any], draw: Callable[..., Any] | None = None) -> dict[str, Any]:
    """Make a widget of each abbreviation, as ``ipywidgets.interact`` would.

    A default value of `draw`'s parameter is where its control starts.

    Raises
    ------
    ValueError
        If an abbreviation has no widget; names the control.
    """
    widgets = {}
    parameters = inspect.signature(draw).parameters if draw else {}
    for name, abbreviation in controls.items():
        start = parameters[name].default if name in parameters else inspect.Parameter.empty
        try:
            widgets[name] = interactive.widget_from_abbrev(abbreviation, start)
        except ValueError as error:  # (min, max) with min > max, and the like
            raise ValueError(f"{name}: {error}, got {abbreviation!r}") from error
        if widgets[name] is None:
            raise ValueError(
                f"{name}: expected (min, max[, step]), a list, a dict, a bool, a number, "
                f"fixed(…) or a widget, got {abbreviation!r}"
            )
    return widgets


def read_controls(
    controls: dict[str, Any], draw: Callable[..., Any] | None = None
) -> list[Control]:
    """List the values that each control can take.

    Parameters
    ----------
    controls : dict
        Name → abbreviation or ipywidgets control.
    draw : callable, optional
        Its defaults are where the controls start.

    Returns
    -------
    list of Control

    Raises
    ------
    ValueError
        If a control's values can't be listed (free text, a number without bounds).

    Examples
    --------
    >>> read_controls({"heads": [1, 2, 4]})[0].values
    (1, 2, 4)
    >>> read_controls({"scale": (0.5, 1.0, 0.25)})[0].texts
    ('0.50', '0.75', '1.00')
    """
    listed = []
    for name, widget in widgets_for(controls, draw).items():
        listed.append(_listed(name, widget))
        if widget is not controls[name] and hasattr(widget, "close"):
            widget.close()  # made here only to read the abbreviation
    return listed


def _listed(name: str, widget: Any) -> Control:
    label = getattr(widget, "description", "") or name.replace("_", " ")
    if isinstance(widget, ipywidgets.fixed):
        return Control(name, label, "fixed", (widget.value,), (str(widget.value),))
    if isinstance(widget, ipywidgets.Checkbox | ipywidgets.ToggleButton):
        return Control(name, label, "checkbox", (False, True), ("no", "yes"), int(widget.value))
    if hasattr(widget, "_options_labels") and not isinstance(widget.index, tuple):  # one choice
        if not widget.options:
            raise ValueError(f"{name}: expected at least one option, got none")
        texts, values = tuple(widget._options_labels), tuple(widget._options_values)
        kind = "range" if isinstance(widget, ipywidgets.SelectionSlider) else "select"
        return Control(name, label, kind, values, texts, widget.index or 0)
    if isinstance(widget, ipywidgets.IntSlider | ipywidgets.FloatSlider):
        return _range(name, label, _steps(name, widget), widget.value, widget.readout_format)
    if isinstance(widget, ipywidgets.Play):
        listed = _range(name, label, _steps(name, widget), widget.value, "d")
        return replace(listed, interval=max(widget.interval, 100))
    if isinstance(widget, ipywidgets.FloatLogSlider):
        values = [widget.base**exponent for exponent in _steps(name, widget)]
        return _range(name, label, values, widget.value, widget.readout_format)
    raise ValueError(
        f"{name}: the values of a {type(widget).__name__} can't be listed beforehand; "
        "use a slider, a list or a checkbox here, or live(…), which runs with a kernel"
    )


def _steps(name: str, widget: Any) -> list[Any]:
    """List where a slider can stand, from its min to its max."""
    if not widget.step or widget.step < 0:
        raise ValueError(f"{name}: expected a step above 0, got {widget.step}")
    count = int((widget.max - widget.min) / widget.step + 1e-9) + 1
    # rounding hides 0.1 + 0.2 = 0.30000000000000004
    return [round(widget.min + i * widget.step, 10) for i in range(count)]


def _range(name: str, label: str, values: list[Any], value: Any, form: str) -> Control:
    start = min(range(len(values)), key=lambda i: abs(values[i] - value))
    try:
        texts = tuple(format(v, form).replace("-", "−") for v in values)
    except ValueError as error:  # d3 and Python share most formats, not all
        raise ValueError(
            f"{name}: expected a Python format, got readout_format {form!r}"
        ) from error
    if len(set(texts)) < len(texts):  # the readout's digits can't tell two values apart
        texts = tuple(f"{v:g}".replace("-", "−") for v in values)
    return Control(name, label, "range", tuple(values), texts, start)

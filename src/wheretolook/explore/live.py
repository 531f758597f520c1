"""``live``: real widgets with a kernel, for what can't be listed beforehand.

The reader's own sentence, own numbers, own function. Only what ipywidgets 7.7 and 8.1 share.
"""

import inspect
from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets
from IPython.display import display

from .. import figures
from .assets import scripts, styles
from .controls import check_names, widgets_for
from .picture import as_view

__all__ = ["Live", "live"]

HOW_TO_RUN = (
    "Shown is the first result. To change it, run this chapter live: the launch button at the top "
    "of the page opens it in Colab or Binder, and the download button gives you the notebook."
)


def live(draw: Callable[..., Any], /, **controls: Any) -> "Live":
    """Call `draw` again, in the kernel, whenever the reader changes a control.

    Parameters
    ----------
    draw : callable
        As for `explore`: gets control values by name, returns views or a matplotlib figure. If
        it raises, the reader sees the error's message, not a traceback.
    **controls
        As for `explore`, and also free text (a str), numbers without bounds, any widget with a
        ``value``.

    Returns
    -------
    Live
        Shows widgets in a running notebook, and its first result on the site.

    Raises
    ------
    ValueError
        If a control is unknown, missing, or no widget can be made of it.

    Examples
    --------
    >>> from wheretolook.explore import Bars
    >>> panel = live(lambda word: Bars([len(word)], [word]), word="law")
    >>> "law" in panel.result()
    True
    """
    check_names(draw, controls)
    return Live(draw, widgets_for(controls, draw))


class Live:
    """Widgets and the view they redraw; made by `live`.

    Attributes
    ----------
    label : str
        What is shown, in words.
    widgets : dict of name → widget
    """

    def __init__(self, draw: Callable[..., Any], widgets: dict[str, Any]) -> None:
        self.label = (inspect.getdoc(draw) or getattr(draw, "__name__", "view")).splitlines()[0]
        self.widgets, self._draw = widgets, draw
        self._parts: list[str] = []
        shown = [w for w in widgets.values() if isinstance(w, ipywidgets.Widget)]
        for name, widget in widgets.items():
            if not isinstance(widget, ipywidgets.Widget):  # fixed(…)
                continue
            if not getattr(widget, "description", "a widget without one"):
                widget.description = name.replace("_", " ")
            if hasattr(getattr(widget, "style", None), "description_width"):
                widget.style.description_width = "initial"
            if isinstance(widget, ipywidgets.Text | ipywidgets.Textarea):
                widget.continuous_update = False  # wait for the end of the sentence
                widget.layout.width = "100%"
            widget.observe(self._update, "value")
        self._out = ipywidgets.HTML(self.result())
        self.box = ipywidgets.VBox([*shown, self._out])

    def result(self) -> str:
        """Draw once with the widgets' present values, and return the markup."""
        try:
            with figures.style():
                shown = self._draw(**{name: widget.value for name, widget in self.widgets.items()})
                shown = shown if isinstance(shown, list | tuple) else [shown]
                views = [as_view(v) for v in shown]
            self._parts = sorted({part for view in views for part in view.parts()})
            limits = [view.limit() for view in views]
            body = "".join(
                v.markup(limit, v.values(limit)) for v, limit in zip(views, limits, strict=True)
            )
        except Exception as error:  # the reader's own input: say what is wrong with it
            words = (
                str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            )
            body = f'<p class="wtl-error" role="alert">{escape(words)}</p>'
        return self._frame(f'<div class="wtl-views">{body}</div>')

    def _frame(self, body: str) -> str:
        name = escape(self.label)
        return (
            f"{styles(self._parts)}"
            f'<wtl-explorer role="group" aria-label="{name}">'
            f'<p class="wtl-label">{name}</p>{body}</wtl-explorer>'
        )

    def _update(self, _: Any) -> None:
        self._out.value = self.result()

    def _ipython_display_(self) -> None:
        # first the scripts, as an output of their own: where widgets are alive the second output
        # is a widget, which runs none
        display({"text/html": scripts(self._parts), "text/plain": ""}, raw=True)
        display(self._bundle(), raw=True)

    def _bundle(self) -> dict[str, Any]:
        now = ", ".join(
            f"{getattr(w, 'description', '') or name}: {w.value}"
            for name, w in self.widgets.items()
            if isinstance(w, ipywidgets.Widget)  # a fixed value may be a whole table
        )
        first = self.result().replace(
            '<div class="wtl-views">',
            f'<p class="wtl-how">{escape(now)}</p><div class="wtl-views">',
            1,
        )
        how = f'<p class="wtl-how">{HOW_TO_RUN}</p></wtl-explorer>'
        first = first.replace("</wtl-explorer>", how)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        return {
            "application/vnd.jupyter.widget-view+json": view,
            "text/html": first,
            "text/plain": f"{self.label} ({now})",
        }

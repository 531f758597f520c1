"""Static figures with matplotlib, in the book's one style.

The explorers draw their printed picture with these, too, so a figure and an explorer look alike.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import resources
from io import BytesIO
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from .tokens import COLOURS

__all__ = [
    "arcs",
    "arrows",
    "bars",
    "curves",
    "matrix",
    "photograph",
    "png",
    "scan",
    "style",
]

# Looked for in this order, after the package that the book's own build installs.
_CHINESE_FONTS = ("Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", "SimHei")


def colour(name: str) -> str:
    """Return a token's colour on a light page."""
    return COLOURS[name][0]


@cache
def chinese_font() -> str | None:
    """Return the name of a font that can draw Chinese, or None.

    Looks for the package that the book installs (extra ``book``), then for a font of the system.
    """
    try:
        path = resources.files("pylopdf_fonts_zh_cn") / "NotoSansSC-Regular.otf"
        font_manager.fontManager.addfont(str(path))
        return font_manager.FontProperties(fname=str(path)).get_name()
    except (ModuleNotFoundError, FileNotFoundError):
        installed = {font.name for font in font_manager.fontManager.ttflist}
        return next((name for name in _CHINESE_FONTS if name in installed), None)


@contextmanager
def style() -> Iterator[None]:
    """Draw in the book's style inside a ``with`` block.

    Examples
    --------
    >>> with style():
    ...     figure, axes = plt.subplots()
    >>> plt.close(figure)
    """
    chinese = chinese_font()
    ink, line = colour("ink"), colour("line")
    parameters = {
        "font.family": ["DejaVu Sans", *([chinese] if chinese else [])],
        "font.size": 10,
        "text.parse_math": False,  # a token may be a $
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": line,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": mpl.cycler(
            color=[colour(f"series{i}") for i in range(1, 5)], linestyle=["-", "--", "-.", ":"]
        ),
        "xtick.color": ink,
        "ytick.color": ink,
        "figure.dpi": 110,
        "figure.facecolor": colour("surface"),
        "savefig.facecolor": colour("surface"),
    }
    with mpl.rc_context(parameters), warnings.catch_warnings():
        # without a Chinese font the boxes speak for themselves; a warning a glyph would not help
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        yield


def ramp(signed: bool = False) -> LinearSegmentedColormap:
    """Return the weights' colour ramp, or the signed one."""
    ends = [colour("negative")] * signed + [colour("lo"), colour("hi")]
    return LinearSegmentedColormap.from_list("wheretolook", ends)


def matrix(
    axes: Axes,
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limit: float = 1.0,
    signed: bool = False,
    decimals: int = 2,
    row_name: str = "query",
    column_name: str = "key",
) -> None:
    """Draw a matrix with its numbers in the cells.

    Parameters
    ----------
    axes : matplotlib Axes
    values : (rows, columns) array
        NaN is not drawn; ``-inf`` is a hidden cell.
    rows, columns : sequences of str
        The tokens along each axis.
    limit : float
        Where the ramp ends, for all panels that are to be compared.
    signed : bool
        Whether the ramp starts at ``-limit`` (scores) or at 0 (weights).
    decimals : int
        Digits in the cells; maps over 24 tokens go without numbers.
    row_name, column_name : str
        What the axes are.

    Examples
    --------
    >>> figure, axes = plt.subplots()
    >>> matrix(axes, np.eye(2), ["a", "b"], ["a", "b"]); plt.close(figure)
    """
    shown = np.ma.masked_invalid(values)
    axes.imshow(shown, cmap=ramp(signed), vmin=-limit if signed else 0, vmax=limit)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"{column_name} →")
    axes.set_ylabel(f"← {row_name}")
    if max(values.shape) > 24:
        return
    for (i, j), value in np.ndenumerate(values):
        strong = np.isfinite(value) and abs(value) > 0.55 * limit
        text = "−∞" if np.isneginf(value) else f"{value:.{decimals}f}".replace("-", "−")
        tint = colour("surface" if strong else "ink")
        axes.text(j, i, text, ha="center", va="center", fontsize=9, color=tint)


def bars(axes: Axes, values: np.ndarray, labels: Sequence[str], *, limit: float) -> None:
    """Draw named numbers as horizontal bars on a scale from 0 (or -limit) to limit."""
    axes.barh(range(len(labels)), values, color=colour("hi"))
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlim(-limit if values.min(initial=0) < 0 else 0, limit)


def curves(
    axes: Axes, x: np.ndarray, series: dict[str, np.ndarray], *, x_name: str, y_name: str
) -> None:
    """Draw curves over one x axis, each named at its end."""
    for name, y in series.items():
        axes.plot(x, y, label=name)
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    if len(series) > 1:
        axes.legend(frameon=False)


def arrows(axes: Axes, ends: np.ndarray, names: Sequence[str], strengths: np.ndarray) -> None:
    """Draw arrows from the origin; a strength in [0, 1] is an arrow's width."""
    reach = 1.3 * float(np.abs(ends).max(initial=1e-9))
    for (x, y), name, strength in zip(ends, names, strengths, strict=True):
        beyond = 1 + 0.1 * reach / max(float(np.hypot(x, y)), 1e-9)
        arrow = {"arrowstyle": "-|>", "lw": 1 + 4 * strength, "color": colour("hi")}
        axes.annotate("", (x, y), (0, 0), arrowprops=arrow)
        axes.annotate(name, (x * beyond, y * beyond), ha="center", va="center")
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")


def arcs(
    axes: Axes, tokens: Sequence[str], strengths: np.ndarray, start: int, mark: int | None = None
) -> None:
    """Draw a sentence, and from one token an arc to every other, as wide as its weight.

    Parameters
    ----------
    axes : matplotlib Axes
    tokens : sequence of str
    strengths : (S,) array
        Weights between 0 and 1.
    start : int
        The token that looks.
    mark : int, optional
        A token to write in gold: the known link.
    """
    places, at = [], 0.0
    for token in tokens:  # a Chinese character is about twice as wide as a Latin letter
        width = sum(2 if ord(c) > 0x2E7F else 1 for c in token) + 1.2
        places.append(at + width / 2)
        at += width
    for j, (token, place) in enumerate(zip(tokens, places, strict=True)):
        role = "focus" if j == start else "gold" if j == mark else "ink"
        axes.text(place, 0, token, ha="center", va="top", color=colour(role))
        if j == start:
            continue
        middle, radius = (place + places[start]) / 2, abs(place - places[start]) / 2
        angle = np.linspace(0, np.pi, 60)
        x, y = middle + radius * np.cos(angle), 0.35 + radius * 0.35 * np.sin(angle)
        width, faint = 0.4 + 7 * strengths[j], 0.25 + 0.75 * float(strengths[j])
        axes.plot(x, y, "-", lw=width, color=colour("hi"), alpha=faint, solid_capstyle="round")
    axes.set(xlim=(0, at), ylim=(-1.6, at * 0.2))
    axes.set_axis_off()


def photograph(
    axes: Axes,
    pixels: np.ndarray,
    gaze: tuple[float, float] | None = None,
    shade: np.ndarray | None = None,
) -> None:
    """Draw a photograph, a shade of (rows, columns, 4) over it, and a ring at the gaze."""
    axes.imshow(pixels, extent=(-1, 1, 1, -1))
    if shade is not None:
        axes.imshow(shade, extent=(-1, 1, 1, -1), interpolation="bilinear")
    if gaze is not None:
        for tint, width in (("black", 3), ("white", 1.5)):
            axes.plot(gaze[1], gaze[0], "o", ms=16, mfc="none", mec=tint, mew=width)
    axes.set_axis_off()


def scan(axes: Axes, image: np.ndarray, path: np.ndarray, side: int) -> None:
    """Draw a small picture, a path of (row, column) in pixels, and the patch at its end."""
    tint = COLOURS["focus"][1]
    axes.imshow(image, cmap="gray", vmin=0, vmax=1)
    axes.plot(path[:, 1], path[:, 0], "o-", color=tint, ms=4)
    for row, column in path[-1:]:
        corner = (column - side / 2, row - side / 2)
        axes.add_patch(plt.Rectangle(corner, side, side, fill=False, ec=tint, lw=2))
    axes.set(xlim=(-0.5, image.shape[1] - 0.5), ylim=(image.shape[0] - 0.5, -0.5))
    axes.set_axis_off()


def png(draw: Callable[..., Any], panels: int = 1, size: tuple[float, float] = (4.2, 3.6)) -> bytes:
    """Make a picture: call ``draw(axes_of_each_panel)`` in the book's style, return PNG bytes.

    Parameters
    ----------
    draw : callable
        Gets the list of Axes.
    panels : int
        How many panels stand side by side.
    size : (width, height)
        Inches a panel.
    """
    with style():
        width, height = size
        figure, axes = plt.subplots(
            1, panels, figsize=(width * panels, height), squeeze=False, layout="constrained"
        )
        draw(list(axes[0]))
        return figure_png(figure)


def figure_png(figure: Figure, *, clear: bool = False) -> bytes:
    """Return a figure as PNG bytes and close it; with `clear` the page shines through."""
    buffer = BytesIO()
    quiet = {"Software": None}  # the same bytes from every version
    with style():  # for its silence about glyphs
        figure.savefig(buffer, format="png", dpi=160, metadata=quiet, transparent=clear)
    plt.close(figure)
    return buffer.getvalue()

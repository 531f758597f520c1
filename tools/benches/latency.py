"""From an input to the finished layout, for every view; beside it, a slider with a kernel.

Time is taken in the page: an input is dispatched, the layout forced, the clock read. Then two
animation frames are awaited. When the second begins, the first is painted with the new numbers;
how long that took in all says whether a frame was missed.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from wheretolook.explore import Explorer

from .kernel import Compared, compare
from .specimen import explorers, gallery

__all__ = ["Row", "TARGET", "measure", "quantile", "report", "run"]

TARGET = 8.0  # milliseconds, 95 of 100 inputs
TWO_FRAMES = 2 * 1000 / 60
INPUTS = 200
SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8")


class Row(NamedTuple):
    """One way to act on one explorer, and what each input took, in milliseconds."""

    label: str
    input: str  # "controls", or the kind of view that was pointed at
    layout: list[float]
    frames: list[float]


def run() -> str:
    """Measure all views of the specimen page, and a stock slider in JupyterLab."""
    made = explorers()
    with browser() as chromium, TemporaryDirectory() as folder:
        file = Path(folder, "gallery.html")
        file.write_text(gallery(made), "utf-8")
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_function("!document.querySelector('wtl-explorer:not([data-alive])')")
        rows = measure(page, made)
        page.close()
        stock = compare(chromium)
    return report(rows, stock)


@contextmanager
def browser() -> Iterator[Browser]:
    """Start the browser that the tests drive, too."""
    from tools.browser import find

    with sync_playwright() as playwright:
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        chromium = playwright.chromium.launch(executable_path=find(), args=flags)
        yield chromium
        chromium.close()


def measure(page: Page, made: Sequence[Explorer], inputs: int = INPUTS) -> list[Row]:
    """Measure every explorer of a gallery: its controls, then each view that answers itself."""
    rows = []
    for i, explorer in enumerate(made):
        kinds = [view.kind for view in explorer.views()]
        sources = [(None, "controls"), *enumerate(kinds)] if explorer.controls else enumerate(kinds)
        seen = set()
        for view, source in sources:
            if source in seen:  # the same script on the same page
                continue
            seen.add(source)
            given = {"explorer": i, "view": view, "inputs": inputs}
            found = page.evaluate(SCRIPT, given)
            if found["times"]:
                rows.append(Row(explorer.label, source, found["times"], found["frames"]))
    return rows


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that `share` of all values do not pass."""
    ranked = sorted(values)
    return ranked[max(0, -int(-share * len(ranked) // 1) - 1)]


def report(rows: list[Row], stock: Compared | None = None) -> str:
    """Write what was measured as Markdown, with the target and whether it is met."""
    lines = [
        "Milliseconds from an input to the finished layout; headless Chromium, 1280 pixels, all "
        "explorers of the specimen page on one page. *Painted* is the share of inputs whose "
        "frame was there when the second frame began, with none missed. Load of the machine: "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.",
        "",
        f"| explorer | input | inputs | median | p95 | p95 ≤ {TARGET:g} ms | painted |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        slow = quantile(row.layout, 0.95)
        painted = sum(time <= TWO_FRAMES + 1 for time in row.frames) / len(row.frames)
        lines.append(
            f"| {row.label} | {row.input} | {len(row.layout)} | {quantile(row.layout, 0.5):.1f} | "
            f"{slow:.1f} | {'yes' if slow <= TARGET else 'no'} | {painted:.0%} |"
        )
    met = sum(quantile(row.layout, 0.95) <= TARGET for row in rows)
    lines += ["", f"p95 ≤ {TARGET:g} ms: {met} of {len(rows)}."]
    if stock is not None:
        lines += ["", *_beside(stock)]
    return "\n".join(lines)


def _beside(stock: Compared) -> list[str]:
    lines = [
        "The same map in one JupyterLab, from a key on the slider: the book's explorer to its "
        "finished layout, `ipywidgets.interact` with matplotlib and a kernel to its new image.",
        "",
        "| | explorer | interact | interact / explorer |",
        "|---|---|---|---|",
    ]
    for name, share in (("median", 0.5), ("p95", 0.95)):
        ours, theirs = (quantile(times, share) for times in stock)
        lines.append(f"| {name} | {ours:.1f} ms | {theirs:.0f} ms | {theirs / ours:.0f} |")
    return lines

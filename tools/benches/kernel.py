"""The same map twice in a really started JupyterLab: the book's explorer, a stock slider."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from playwright.sync_api import Browser, Page

__all__ = ["Compared", "compare"]

PREPARED = """
import matplotlib.pyplot as plt
import torch
from ipywidgets import interact
from wheretolook.attention import ScaledDot, attend
from wheretolook.explore import Heatmap, explore

tokens = list("abcd")
query, key = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0)).unbind()


def weights(scale):
    return attend(query, key, key, scorer=ScaledDot(scale)).weights
"""
OURS = "explore(lambda scale: Heatmap(weights(scale), tokens, tokens), scale=(0.0, 2.0, 0.05))"
STOCK = """
def draw(scale):
    figure, axes = plt.subplots(figsize=(3, 3))
    axes.imshow(weights(scale), vmin=0, vmax=1, cmap="Blues")
    axes.set(xticks=range(4), xticklabels=tokens, yticks=range(4), yticklabels=tokens)
    for i, row in enumerate(weights(scale)):
        for j, weight in enumerate(row):
            axes.text(j, i, f"{weight:.2f}", ha="center", va="center")
    plt.show()


interact(draw, scale=(0.0, 2.0, 0.05));
"""
# from the key to the layout that the explorer's own listener has finished
OURS_TIMED = """cell => {
  window.ours = [];
  let start;
  cell.addEventListener('keydown', () => { start = performance.now(); }, { capture: true });
  cell.addEventListener('input', () => {
    cell.querySelector('wtl-explorer').getBoundingClientRect();
    window.ours.push(performance.now() - start);
  });
}"""
# from the key to an image that is new and decoded
STOCK_TIMED = """cell => {
  window.stock = [];
  let start, old;
  const image = () => cell.querySelector('.jp-OutputArea-output img[src^="data:"]');
  const begin = () => { start = performance.now(); old = image()?.src; };
  cell.addEventListener('keydown', begin, { capture: true });
  new MutationObserver(async () => {
    const now = image();
    if (start === undefined || !now || now.src === old) return;
    const began = start;
    start = undefined;
    await now.decode();
    now.getBoundingClientRect();
    window.stock.push(performance.now() - began);
  }).observe(cell, { subtree: true, childList: true, attributes: true, attributeFilter: ['src'] });
}"""


class Compared(NamedTuple):
    """Milliseconds of each move of the slider."""

    explorer: list[float]
    interact: list[float]


def compare(chromium: Browser, moves: int = 40) -> Compared:
    """Move both sliders in turn, one step a time."""
    from tools.notebook_server import notebook_server

    cells = (PREPARED, OURS, STOCK)
    with (
        TemporaryDirectory() as folder,
        notebook_server(Path(folder), "map.ipynb", cells, seconds=90) as address,
    ):
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{address}/lab/tree/map.ipynb?reset")
        _run_all(page)
        shown = [page.locator(".jp-Notebook .jp-CodeCell").nth(n) for n in (1, 2)]
        handles = shown[0].locator("input[type=range]"), shown[1].locator(".noUi-handle")
        for cell, script in zip(shown, (OURS_TIMED, STOCK_TIMED), strict=True):
            cell.evaluate(script)
        for move in range(moves):
            key = "ArrowLeft" if move // 15 % 2 else "ArrowRight"
            for name, handle in zip(("ours", "stock"), handles, strict=True):
                handle.focus()
                handle.press(key)
                page.wait_for_function(f"window.{name}.length > {move}", timeout=60_000)
            page.wait_for_timeout(50)
        found = Compared(page.evaluate("window.ours"), page.evaluate("window.stock"))
        page.close()
    return found


def _run_all(page: Page) -> None:
    """Run the notebook as a reader does; keys that come too early are lost, so again."""
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(timeout=120_000)
    for _ in range(6):
        with suppress(Exception):
            dialog = page.locator(".jp-Dialog .jp-mod-accept")
            if dialog.count():
                dialog.first.click(timeout=3_000)
            page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click(timeout=5_000)
            for _ in range(3):
                page.keyboard.press("Shift+Enter")
            page.locator(".jp-OutputArea-output img").first.wait_for(timeout=60_000)
            page.locator(".noUi-handle").wait_for(timeout=10_000)
            page.locator("wtl-explorer[data-alive]").wait_for(timeout=10_000)
            return
    raise RuntimeError("JupyterLab did not show the two maps")

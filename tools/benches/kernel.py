"""The same map twice in a really started JupyterLab: the book's explorer, a stock slider."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import nbformat
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
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}
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
    with jupyterlab() as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{address}/lab/tree/map.ipynb?reset")
        _run_all(page)
        cells = [page.locator(".jp-Notebook .jp-CodeCell").nth(n) for n in (1, 2)]
        handles = cells[0].locator("input[type=range]"), cells[1].locator(".noUi-handle")
        for cell, script in zip(cells, (OURS_TIMED, STOCK_TIMED), strict=True):
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


@contextmanager
def jupyterlab() -> Iterator[str]:
    """Start a JupyterLab in a folder of its own, with the notebook; yield its address."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "book").mkdir()
        cells = [nbformat.v4.new_code_cell(code.strip()) for code in (PREPARED, OURS, STOCK)]
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, home / "book" / "map.ipynb")
        for name, values in SETTINGS.items():
            file = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        places = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "IPYTHONDIR": "ipython",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        }
        environment = os.environ | {name: str(home / place) for name, place in places.items()}
        environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            *(sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={home / 'book'}"),
            *(f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0"),
            *("--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.password="),
            "--ServerApp.disable_check_xsrf=True",
        ]
        log = home / "log.txt"
        with log.open("w") as out:
            server = subprocess.Popen(
                command, env=environment, stdout=out, stderr=out, start_new_session=True
            )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status", server, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()  # it stops its kernels first
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait_for(address: str, server: subprocess.Popen, log: Path, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=2).read()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")

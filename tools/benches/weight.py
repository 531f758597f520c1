"""What a chapter brings along, and when it is alive: as built, and with stock widgets instead.

The stock page is the same page. Each explorer is replaced by ipywidgets that hold its frames, shown
by html-manager and require.js from the same server; the theme's scripts that the book leaves out
are back. It comes twice: *linked*, with every frame in a ``Stack`` that a slider moves without a
kernel; and *dead*, with the first frame only, which is what ``interact`` leaves on a page.
"""

import gzip
import json
import re
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from .latency import browser

__all__ = ["FAST_4G", "TARGET", "Visit", "compressed", "report", "run", "serve", "visit"]

TARGET = 5.0  # times lighter than stock
BUILD = Path(__file__).parents[2] / "_build"
HTML, STOCK = BUILD / "html", BUILD / "stock"
PACKAGES = {"html-manager": "@jupyter-widgets/html-manager@1.0.15", "requirejs": "requirejs@2.3.8"}
# DevTools' preset: 9 Mbit/s down and 1.5 up, of which it gives 90 %; 60 ms × 2.75.
FAST_4G = {
    "offline": False,
    "latency": 165,
    "downloadThroughput": 9e6 / 8 * 0.9,
    "uploadThroughput": 1.5e6 / 8 * 0.9,
}
EXPLORER = re.compile(r"<wtl-explorer.*?</wtl-explorer>", re.DOTALL)
OURS_ALIVE = "!document.querySelector('wtl-explorer:not([data-alive])')"
STOCK_ALIVE = "document.querySelectorAll('.widget-slider').length >= {}"
# every frame of every explorer, as markup; the result of a live panel has one, and no data
FRAMES = """() => [...document.querySelectorAll('wtl-explorer')].map(e => {
  const count = e.data?.views[0].frames.length ?? 1;
  const views = e.querySelector('.wtl-views');
  return [e.label, Array.from({ length: count }, (_, frame) => {
    e.data?.views.forEach((view, v) => e.show(v, view, view.frames[frame]));
    return views.outerHTML;
  })];
})"""


class Visit(NamedTuple):
    """A first visit: bytes on the wire, requests, milliseconds to load and until all is alive."""

    bytes: int
    requests: int
    load: float
    alive: float


def run() -> str:
    """Visit every chapter that has explorers, built and stock."""
    fetch_packages()
    found = {}
    with browser() as chromium, serve(HTML, STOCK) as site:
        for file in sorted((HTML / "notebooks").glob("*.html")):
            name = f"notebooks/{file.name}"
            count = len(EXPLORER.findall(file.read_text("utf-8")))
            if not count:
                continue
            linked, dead = write_stock(chromium, site, name)
            found[file.stem] = (
                visit(chromium, site + name, OURS_ALIVE),
                visit(chromium, site + linked, STOCK_ALIVE.format(count)),
                visit(chromium, site + dead, STOCK_ALIVE.format(count)),
            )
    return report(found)


# --- a server that compresses -----------------------------------------------------------------


@cache
def compressed(file: Path) -> bytes:
    """Return a file as a server would send it."""
    return gzip.compress(file.read_bytes(), 9)


class Handler(SimpleHTTPRequestHandler):
    """Serve the first of some folders that has the file, compressed."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *args: object, roots: Sequence[Path]) -> None:
        self.roots = roots
        super().__init__(*args)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].lstrip("/")
        file = next((root / path for root in self.roots if (root / path).is_file()), None)
        body = compressed(file) if file else b""
        self.send_response(200 if file else 404)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(body)))
        if file:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serve(*roots: Path) -> Iterator[str]:
    """Serve folders on localhost; the address ends with a slash."""
    handler = partial(Handler, roots=roots)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


# --- the stock page ---------------------------------------------------------------------------


def fetch_packages() -> None:
    """Put html-manager, require.js and the theme's icon script beside the site."""
    if not which("npm"):
        raise RuntimeError("npm: not found; it fetches the stock page's html-manager")
    for folder, package in PACKAGES.items():
        target = STOCK / folder
        if target.exists():
            continue
        STOCK.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            ["npm", "pack", "--silent", package],
            cwd=STOCK,
            check=True,
            capture_output=True,
            text=True,
        )
        with tarfile.open(STOCK / packed.stdout.strip()) as archive:
            archive.extractall(target, filter="data")
    theme = Path(find_spec("pydata_sphinx_theme").origin).parent
    script = theme / "theme/pydata_sphinx_theme/static/scripts/fontawesome.js"
    (STOCK / script.name).write_bytes(script.read_bytes())


def write_stock(chromium: Browser, site: str, name: str) -> tuple[str, str]:
    """Write a chapter's stock pages, with all frames and with one; return their names."""
    page = chromium.new_page()
    page.goto(site + name)
    page.wait_for_function(OURS_ALIVE)
    explorers = page.evaluate(FRAMES)
    page.close()
    source, names = (HTML / name).read_text("utf-8"), []
    for kind, most in (("linked", None), ("dead", 1)):
        names.append(name.replace(".html", f".{kind}.html"))
        target = STOCK / names[-1]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(stock(source, [(label, f[:most]) for label, f in explorers]), "utf-8")
    return names[0], names[1]


def stock(source: str, explorers: list[tuple[str, list[str]]]) -> str:
    """Replace the explorers of a page by stock widgets, embedded as ipywidgets does."""
    from ipywidgets import HTML as Markup
    from ipywidgets import IntSlider, Stack, VBox, jslink
    from ipywidgets.embed import dependency_state, embed_data

    boxes = []
    for label, frames in explorers:
        slider = IntSlider(max=max(1, len(frames) - 1), description="frame")
        stack = Stack([Markup(frame) for frame in frames], selected_index=0)
        if len(frames) > 1:
            jslink((slider, "value"), (stack, "selected_index"))
        boxes.append(VBox([Markup(label), slider, stack]))
    data = embed_data(boxes, state=dependency_state(boxes))
    views = iter(data["view_specs"])
    page = EXPLORER.sub(lambda _: _script("view", next(views)), source)
    page = re.sub(r"<script[^>]*/explorer[\w-]*\.js[^>]*></script>", "", page)
    scripts = "".join(
        f'<script defer src="../{address}"></script>'  # behind the theme's, on which they lean
        for address in (
            "fontawesome.js",
            "_static/searchtools.js",
            "_static/language_data.js",
            "searchindex.js",
            "requirejs/package/require.js",
            "html-manager/package/dist/embed-amd.js",
        )
    )
    state = _script("state", data["manager_state"])
    return page.replace("</head>", f"{scripts}</head>").replace("</body>", f"{state}</body>")


def _script(kind: str, value: object) -> str:
    text = json.dumps(value).replace("<", "\\u003c")
    return f'<script type="application/vnd.jupyter.widget-{kind}+json">{text}</script>'


# --- a visit ----------------------------------------------------------------------------------


def visit(chromium: Browser, address: str, alive: str) -> Visit:
    """Open a page in a fresh profile under "Fast 4G" and wait until `alive` is true."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    received = _throttle(page)
    page.add_init_script(
        f"(() => {{ const look = () => document.readyState !== 'loading' && {alive}"
        " ? window.aliveAt = performance.now() : setTimeout(look, 5); look(); })()"
    )
    page.goto(address, timeout=120_000)
    page.wait_for_function("window.aliveAt", timeout=120_000)
    page.wait_for_load_state("networkidle")
    load, at = page.evaluate(
        "[performance.getEntriesByType('navigation')[0].loadEventEnd, window.aliveAt]"
    )
    context.close()
    return Visit(sum(received), len(received), load, at)


def _throttle(page: Page) -> list[float]:
    """Slow a page's network down; the list grows by the bytes of every answer."""
    received: list[float] = []
    tools = page.context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.send("Network.emulateNetworkConditions", FAST_4G)
    tools.on("Network.loadingFinished", lambda e: received.append(e["encodedDataLength"]))
    return received


def report(found: dict[str, tuple[Visit, Visit, Visit]]) -> str:
    """Write the visits as Markdown, with the ratios and the target."""
    lines = [
        'First visits under Chromium\'s "Fast 4G" (8.1 Mbit/s, 165 ms), every file gzipped. '
        "*Stock* is the same page with ipywidgets in the explorers' places, html-manager and "
        "require.js from the same server, and the theme's own icon script and search index; "
        "*linked* holds every frame in a Stack, *dead* only the first, as `interact` leaves it. "
        "Its mathematics stays MathML, its styles and fonts cut down, as ours.",
        "",
        "| chapter | | KB | requests | load | alive | KB / ours | requests / ours | alive / ours |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for chapter, visits in found.items():
        ours = visits[0]
        for name, one in zip(("book", "stock, linked", "stock, dead"), visits, strict=True):
            lines.append(
                f"| {chapter} | {name} | {one.bytes / 1024:.0f} | {one.requests} | "
                f"{one.load / 1000:.1f} s | {one.alive / 1000:.1f} s | "
                f"{one.bytes / ours.bytes:.1f} | {one.requests / ours.requests:.1f} | "
                f"{one.alive / ours.alive:.1f} |"
            )
    for at, name in ((1, "linked"), (2, "dead")):
        least = min(visits[at].bytes / visits[0].bytes for visits in found.values())
        word = "met" if least >= TARGET else "missed"
        lines.append(f"\n≥ {TARGET:g} × lighter than {name}: {word}, at least {least:.1f} ×.")
    return "\n".join(lines)

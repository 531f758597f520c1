"""Shared fixtures: a browser, the built site, and pages that watch themselves.

For a test of something in a page::

    def test_slider(open_page):
        page = open_page("notebooks/04-self-attention.html")   # over localhost, no other host
        page.locator("wtl-explorer input").first.press("ArrowRight")
        assert page.problems == []

`open_page(path, width=1280, dark=False, script=True, files=False)` gives a Playwright
page. Whatever it asks of another host is aborted. `page.problems` lists what went
wrong (console errors and warnings, exceptions, foreign or failed requests),
`page.requests` the addresses it asked for. `files=True` opens it from file:// instead.

For a page of your own, `page_factory(html)` writes it to a file and opens that.
"""

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import find
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured: `record_property("note", "…")`."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties:
            if name == "note" and report.when == "call":
                terminalreporter.write_line(value)


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built site; tests never build it themselves."""
    if not (HTML / "index.html").exists():
        pytest.fail("The site isn't built: run `make book` first.", pytrace=False)
    return HTML


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve without a line for each request."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def site(html: Path) -> Iterator[str]:
    """The address of the built site on localhost, with a slash at its end."""
    handler = functools.partial(Quiet, directory=str(html))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium or Chrome for the session."""
    path = find()
    if path is None:
        pytest.fail("No Chrome or Chromium: install one with `make browser`.", pytrace=False)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open any address in a fresh profile: `visit(url, width=, dark=, script=)`."""
    contexts = []

    def go(url: str, *, width: int = 1280, dark: bool = False, script: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        page = context.new_page()
        page.problems, page.requests = [], []
        here = url.split("/")[:3]  # scheme and host

        def guard(route) -> None:
            address = route.request.url
            page.requests.append(address)
            if address.split("/")[:3] == here:
                route.continue_()
            else:
                page.problems.append(f"foreign: {address}")
                route.abort()

        def hear(message) -> None:
            if message.type in ("error", "warning"):
                page.problems.append(f"{message.type}: {message.text}")

        page.route(lambda address: not address.startswith(("data:", "blob:")), guard)
        page.on("console", hear)
        page.on("pageerror", lambda error: page.problems.append(f"exception: {error}"))

        def missed(request) -> None:
            if request.failure != "net::ERR_ABORTED":  # left behind by who goes to another page
                page.problems.append(f"failed: {request.url}")

        page.on("requestfailed", missed)
        page.on(
            "response",
            lambda answer: (
                answer.status >= 400 and page.problems.append(f"{answer.status}: {answer.url}")
            ),
        )
        page.goto(url)
        page.evaluate("document.fonts.ready.then(() => true)") if script else None
        return page

    yield go
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(visit: Callable[..., Page], site: str, html: Path) -> Callable[..., Page]:
    """Open a page of the book by its path."""

    def go(path: str, *, files: bool = False, **options) -> Page:
        return visit((f"{html.as_uri()}/" if files else site) + path, **options)

    return go


@pytest.fixture
def page_factory(visit: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """Open a page made of a piece of HTML, from a file and with no site around it."""

    def go(body: str, **options) -> Page:
        file = tmp_path / "page.html"
        file.write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>Test</title>'
            f'<link rel="icon" href="data:,"><body>{body}</body></html>',
            encoding="utf-8",
        )
        return visit(file.as_uri(), **options)

    return go

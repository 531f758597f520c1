"""Let any browser try every page of the site, and say what did not work there.

``make test-browser BROWSER="firefox --headless"`` starts the command with the address of a page
that opens all others in a frame and tries what a reader would (any_browser.js); no driver is
needed, so it works with every browser that can be started with an address, by hand as well.
"""

import json
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

HTML = Path(__file__).parents[1] / "_build" / "html"
SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8")
START = "/any-browser.html"
PATIENCE = 180  # seconds for one page
# What goes wrong before a page has loaded is written down, too.
EARS = """<head><script>
  window.faults = [];
  const missing = ({ src, href }) => `${src ?? href} is missing`;
  addEventListener('error', e => faults.push(e.message ?? missing(e.target)), true);
  addEventListener('unhandledrejection', e => faults.push(`${e.reason}`));
</script>"""


class Handler(SimpleHTTPRequestHandler):
    """Serve the site, each page with ears; pass on what the browser reports."""

    def __init__(
        self, *args: object, pages: list[str], reports: queue.Queue, **options: str
    ) -> None:
        self.pages, self.reports = pages, reports
        super().__init__(*args, **options)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        file = Path(self.translate_path(path))
        if path == START:
            data = json.dumps(self.pages)
            script = f"<script>const PAGES = {data};{SCRIPT}</script>"
            self.answer(f"<!doctype html><title>Try every page</title><body>{script}")
        elif path.endswith(".html") and file.is_file():
            self.answer(file.read_text("utf-8").replace("<head>", EARS, 1))
        else:
            super().do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.reports.put(json.loads(body))
        self.answer("")

    def answer(self, text: str) -> None:
        """Send HTML."""
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def hear(reports: queue.Queue, browser: subprocess.Popen) -> dict:
    """Wait for a report, as long as one can come: what only hands the address on ends with 0."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            return reports.get(timeout=1)
        except queue.Empty:
            if browser.poll():
                raise ChildProcessError(
                    f"{browser.args[0]} ended with {browser.returncode}"
                ) from None
    raise TimeoutError(f"{browser.args[0]} reported nothing for {PATIENCE} s")


def close(browser: subprocess.Popen) -> None:
    """End a browser and all that it has started; by force what will not."""
    if browser.poll() is not None:
        return
    parent = psutil.Process(browser.pid)
    family = [*parent.children(recursive=True), parent]
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for process in family:
            with suppress(psutil.NoSuchProcess):
                end(process)
        family = psutil.wait_procs(family, timeout=5)[1]


def visit(command: list[str], pages: list[str], html: Path = HTML) -> list[dict]:
    """Start a browser, let it visit the pages, and return its report of each.

    Parameters
    ----------
    command : list of str
        What starts the browser; the address is added at its end, and ``{folder}`` in it becomes an
        empty folder, for a fresh profile.
    pages : list of str
        Paths in the site.
    html : Path
        The site's folder.

    Returns
    -------
    list of dict
        For each page ``path``, ``explorers``, ``controls`` (how many were tried), ``faults``.

    Raises
    ------
    TimeoutError
        If the browser reports nothing for three minutes.
    ChildProcessError
        If it fails before it has reported.
    """
    reports: queue.Queue = queue.Queue()
    handler = partial(Handler, pages=pages, reports=reports, directory=str(html))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}{START}"
        started = [word.replace("{folder}", folder) for word in command]
        with subprocess.Popen([*started, address]) as browser:
            try:
                found = [hear(reports, browser) for _ in pages]
            finally:
                close(browser)
                server.shutdown()
    return found


def main() -> int:
    """Visit all pages; print a table of what was tried, and every fault."""
    if len(sys.argv) == 1:
        print('Say which: make test-browser BROWSER="firefox --headless"', file=sys.stderr)
        return 2
    pages = sorted(path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))
    pages.remove("404.html")  # it knows where the site is published, and asks there
    faults = 0
    try:
        reports = visit(sys.argv[1:], pages)
    except OSError as error:  # no such program, or one of those above
        print(error, file=sys.stderr)
        return 2
    for report in reports:
        faults += len(report["faults"])
        print(f"{report['path']}: {report['explorers']} explorers, {report['controls']} controls")
        print("".join(f"  {fault}\n" for fault in report["faults"]), end="", flush=True)
    print(f"{len(pages)} pages, {faults} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

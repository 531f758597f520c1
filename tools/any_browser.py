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
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

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
                found = [reports.get(timeout=PATIENCE) for _ in pages]
            except queue.Empty:
                raise TimeoutError(f"{command[0]} reported nothing for {PATIENCE} s") from None
            finally:
                browser.terminate()
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
    for report in visit(sys.argv[1:], pages):
        faults += len(report["faults"])
        print(f"{report['path']}: {report['explorers']} explorers, {report['controls']} controls")
        print("".join(f"  {fault}\n" for fault in report["faults"]), end="", flush=True)
    print(f"{len(pages)} pages, {faults} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

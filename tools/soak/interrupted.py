"""Builds that are broken off: does the next one make the whole site, the same as ever?"""

import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from .copies import Copy, line, stop, table
from .same import read, unexplained

__all__ = ["run"]

NOTEBOOK = "notebooks/06-layer-and-batch-norm.ipynb"  # it shows nothing that a clock has measured


@dataclass(frozen=True)
class Moment:
    """When a build is broken off: some seconds after it has said something so many times."""

    name: str
    told: str
    number: int = 1
    seconds: float = 0.0


MOMENTS = (
    Moment("a notebook runs", "Executing notebook", seconds=6),
    Moment("pages are read", "reading sources", 12),
    Moment("pages are written", "writing output", 10),
    Moment("the search is written", "dumping search index"),
    Moment("the written site is finished", "dumping object inventory", seconds=0.5),
    Moment("the written site is finished, a little later", "dumping object inventory", seconds=2),
)
SIGNALS = (signal.SIGINT, signal.SIGKILL)


def survivors(copy: Copy, patience: float = 20) -> int:
    """Count the processes that a build has left, once they have had time to notice its end."""
    own, deadline = str(copy.root / "src"), time.monotonic() + patience
    while True:
        left = 0
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                left += process.environ().get("PYTHONPATH") == own
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(1)


def run(work: Path) -> tuple[str, int]:
    """Break off builds, build again, compare with the whole site, and report."""
    copy = Copy(work / "broken off")
    built = copy.build_first()
    if built.code:
        return f"**The build failed**: {built.said[-2000:]}", 1
    whole, rows, faults = read(copy.html), [], 0
    for moment in MOMENTS:
        for how in SIGNALS:
            copy.forget_pages()
            copy.forget_run(NOTEBOOK) if moment is MOMENTS[0] else None
            code = stop(copy.build_until(moment.told, moment.number, moment.seconds), how)
            left = survivors(copy)
            again = copy.build()
            unknown = unexplained(whole, read(copy.html))
            bad = not code or bool(left) or again.code or bool(unknown)
            faults += bool(bad)
            next_one = f"failed: {again.said[-500:]}" if again.code else "the whole site"
            rows.append([moment.name, how.name, code, left, next_one, ", ".join(unknown) or "none"])
            print(line(rows[-1]), flush=True)
    head = ("while", "signal", "exit code", "processes left", "the next build", "files that differ")
    return table(head, rows), faults

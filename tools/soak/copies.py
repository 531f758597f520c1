"""A copy of the book to build, and to build again."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jupyter_cache import get_cache

from wheretolook.cache import cache_folder

__all__ = ["Built", "Copy", "line", "stop", "table"]

ROOT = Path(__file__).parents[2]
VENV = Path(sys.prefix)


@dataclass(frozen=True)
class Built:
    """How a build went: its exit code, what it said, and how long it took."""

    code: int
    said: str
    seconds: float


class Copy:
    """What is committed, in a folder of its own, made with the set-up of this one.

    Parameters
    ----------
    root : Path
        Where it is to lie; whatever is there is removed.
    of : Copy, optional
        Another one, taken over with all that it has built.
    """

    def __init__(self, root: Path, of: "Copy | None" = None) -> None:
        self.root = root
        shutil.rmtree(root, ignore_errors=True)
        if of:
            shutil.copytree(of.root, root, symlinks=True)
        else:
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(root)], check=True)

    @property
    def html(self) -> Path:
        """The site."""
        return self.root / "_build/html"

    def make(self, *target: str) -> list[str]:
        """Return the command; `-o` says that the set-up is up to date, whatever its date."""
        return ["make", "-o", str(VENV / ".ready"), f"VENV={VENV}", *target]

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the environment: the copy's own package, and the weights of this user's cache."""
        own = {"PYTHONPATH": str(self.root / "src"), "WHERETOLOOK_CACHE": str(cache_folder())}
        return os.environ | own | given

    def run(self, command: list[str], umask: int = -1, **given: str) -> Built:
        """Run a command in the copy."""
        start = time.monotonic()
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment(given),
            umask=umask,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        return Built(done.returncode, done.stdout, time.monotonic() - start)

    def build(self, umask: int = -1, **given: str) -> Built:
        """Build the site."""
        return self.run(self.make("book"), umask, **given)

    def build_first(self) -> Built:
        """Build the site; the notebooks that this tree has run need not be run again."""
        ran = "_build/.jupyter_cache"
        with suppress(FileNotFoundError):
            shutil.copytree(ROOT / ran, self.root / ran)
        return self.build()

    def forget_pages(self) -> None:
        """Let the next build read every page again, from the executed notebooks."""
        (self.root / "_build/.doctrees/whole").unlink(missing_ok=True)

    def forget_run(self, notebook: str) -> None:
        """Let the next build run a notebook again."""
        (folder,) = (self.root / "_build/.jupyter_cache").iterdir()
        cache = get_cache(folder)
        for record in cache.list_cache_records():
            if record.uri.endswith(notebook):
                cache.remove_cache(record.pk)

    def build_until(self, told: str, number: int, later: float) -> subprocess.Popen:
        """Start to build; return some time after it has told something so many times."""
        building = subprocess.Popen(
            self.make("book"),
            cwd=self.root,
            env=self.environment({"PYTHONUNBUFFERED": "1"}),
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        for line in building.stdout:
            number -= told in line
            if number == 0:
                break
        time.sleep(later)
        return building


def stop(building: subprocess.Popen, how: signal.Signals) -> int:
    """Send a signal to a build and all that it has started; return the exit code."""
    os.killpg(building.pid, how)
    building.stdout.read()
    return building.wait()


def line(cells: Iterable[object]) -> str:
    """Write a line of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a table in Markdown."""
    return "\n".join(map(line, [head, ["---"] * len(head), *rows]))

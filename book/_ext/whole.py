"""Begin anew after a build that did not come to its end, and say in a sentence why it could not.

Sphinx takes what it finds for finished: a page that was half written when the power went stays so,
and a warning is told only when its page is read. So a mark is set at the end of a good build. The
next one goes on from there only if the mark is there; else it keeps the executed notebooks alone.

If it goes on, and a page has changed, all are written: each shows the titles of the others, and of
a page that is not written the search forgets the entries in the index.
"""

import errno
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import SphinxError

UNWRITABLE = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is full",
    errno.EFBIG: "no file may be as large as this one",
    errno.EROFS: "the folder is read-only",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
}
SQL = {"disk is full": errno.ENOSPC, "readonly database": errno.EROFS}


class CannotWrite(SphinxError):
    """The site, or what is kept beside it, can't be written."""

    category = "The book could not be written"


def mark(app: Sphinx) -> Path:
    """Name the file that is there after a good build."""
    return Path(app.doctreedir) / "whole"


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """List an error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def reason(error: BaseException) -> str:
    """Tell why something could not be written, or nothing if it is another error."""
    if isinstance(error, OSError):
        return UNWRITABLE.get(error.errno, "")
    if isinstance(error, sqlite3.OperationalError):  # of the cache of executed notebooks
        return next((UNWRITABLE[n] for words, n in SQL.items() if words in str(error)), "")
    return ""


def explain(app: Sphinx, error: Exception) -> None:
    """Raise one clear sentence, if nothing can be written; else do nothing."""
    for cause in causes(error):
        if why := reason(cause):
            sys.tracebacklimit = 0  # our own and Sphinx's frames would bury the sentence
            named = getattr(cause, "filename2", None) or getattr(cause, "filename", None)
            raise CannotWrite(
                f"{named or Path(app.outdir).parent}: {why}. Mend that and build again: "
                "notebooks that have been run are not run again."
            ) from None


def begin(app: Sphinx, config: Config) -> None:
    """Remove what an unfinished build has left, and the mark of a finished one."""
    out, trees = Path(app.outdir), Path(app.doctreedir)
    try:
        if not mark(app).exists():
            for folder in (out, trees, out.parent / "jupyter_execute"):
                shutil.rmtree(folder, ignore_errors=True)
            out.mkdir(parents=True, exist_ok=True)
            trees.mkdir(parents=True, exist_ok=True)
        mark(app).unlink(missing_ok=True)
    except OSError as error:
        explain(app, error)
        raise


def note(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Remember whether any page is read this time."""
    app.is_changed = bool(pages)


def write_all(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Have all pages written if one was read."""
    return sorted(env.found_docs) if app.is_changed else []


def end(app: Sphinx, error: Exception | None) -> None:
    """Set the mark if all went well; if nothing can be written, say so."""
    if error is not None:
        explain(app, error)
    elif app.builder.format == "html" and not app._warncount:
        mark(app).touch()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", begin, priority=0)
    app.connect("env-before-read-docs", note)
    app.connect("env-updated", write_all)
    app.connect("build-finished", end, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

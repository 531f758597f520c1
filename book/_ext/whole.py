"""Begin anew after a build that did not come to its end, and say in a sentence why it could not.

Sphinx takes what it finds for finished: a page that was half written when the power went stays so,
and a warning is told only when its page is read. So a mark is set at the end of a good build. The
next one goes on from there only if the mark is there; else it keeps the executed notebooks alone.
"""

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import SphinxError

UNWRITABLE = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is full",
    errno.EFBIG: "no file may be as large as this one",
    errno.EROFS: "the folder is read-only",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
}


class CannotWrite(SphinxError):
    """The site, or what is kept beside it, can't be written."""

    category = "The book could not be written"


def mark(app: Sphinx) -> Path:
    """Name the file that is there after a good build."""
    return Path(app.doctreedir) / "whole"


def begin(app: Sphinx, config: Config) -> None:
    """Remove what an unfinished build has left, and the mark of a finished one."""
    out, trees = Path(app.outdir), Path(app.doctreedir)
    if not mark(app).exists():
        for folder in (out, trees, out.parent / "jupyter_execute"):
            shutil.rmtree(folder, ignore_errors=True)
        out.mkdir(parents=True, exist_ok=True)
        trees.mkdir(parents=True, exist_ok=True)
    mark(app).unlink(missing_ok=True)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """List an error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def end(app: Sphinx, error: Exception | None) -> None:
    """Set the mark if all went well; if nothing can be written, say so."""
    if error is None:
        if app.builder.format == "html" and not app._warncount:
            mark(app).touch()
        return
    for cause in causes(error):
        if isinstance(cause, OSError) and cause.errno in UNWRITABLE:
            where = cause.filename or app.outdir
            raise CannotWrite(
                f"{where}: {UNWRITABLE[cause.errno]}. Mend that and build again: "
                "notebooks that have been run are not run again."
            ) from error


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", begin, priority=0)
    app.connect("build-finished", end, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Are two sites the same? What must differ, and why, stands in `MEASURED` and nowhere else."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MEASURED", "Difference", "differences", "read", "unexplained"]

Site = dict[str, bytes]


@dataclass(frozen=True)
class Measured:
    """A place where a page shows what a clock said while it was made."""

    page: str
    place: re.Pattern[str]
    why: str


MEASURED = (
    Measured(
        "book/status",
        re.compile(r"<td><p>(?:<strong>)?\d+:\d\d(?:</strong>)?</p></td>"),
        "how long each notebook took",
    ),
    Measured(
        "notebooks/04-self-attention",
        re.compile(r'<wtl-explorer role="group" aria-label="Wall time.*?</wtl-explorer>', re.S),
        "the wall time of a layer, measured in its cell",
    ),
    Measured(
        "notebooks/07-multi-head",
        re.compile(
            r"(?m:^ +\d+(?: +\d+(?:,\d{3})+){3} +[\d.]+ +[\d.]+$)|"
            r'<wtl-explorer role="group" aria-label="What heads cost.*?</wtl-explorer>',
            re.S,
        ),
        "the time that more heads take, measured in its cells",
    ),
)
INDEX = "searchindex.js"
IN_INDEX = "it lists the measured numbers, of pages " + ", ".join(m.page for m in MEASURED)


@dataclass(frozen=True)
class Difference:
    """A file that is not the same in two sites; without a reason it is a fault."""

    file: str
    why: str = ""


def read(html: Path) -> Site:
    """Read all files of a site."""
    files = (path for path in html.rglob("*") if path.is_file())
    return {path.relative_to(html).as_posix(): path.read_bytes() for path in files}


def without_measured(page: bytes, place: re.Pattern[str]) -> bytes:
    """Take the measured numbers out of a page."""
    return place.sub("", page.decode()).encode()


def index_without_measured(index: bytes) -> object:
    """Take the words of the pages with measured numbers out of the search's index."""
    told = json.loads(index.decode().removeprefix("Search.setIndex(").removesuffix(")"))
    measured = {told["docnames"].index(m.page) for m in MEASURED if m.page in told["docnames"]}
    words = {
        word: set([pages] if isinstance(pages, int) else pages) - measured
        for word, pages in told["terms"].items()
    }
    return told | {"terms": {word: pages for word, pages in words.items() if pages}}


def reasons() -> dict[str, tuple[Callable[[bytes], object], str]]:
    """Tell, by file, what makes two of them comparable, and why that is needed."""
    known = {INDEX: (index_without_measured, IN_INDEX)}
    for m in MEASURED:
        known[f"{m.page}.html"] = (lambda page, m=m: without_measured(page, m.place), m.why)
    return known


def differences(first: Site, second: Site) -> list[Difference]:
    """Compare two sites, byte by byte.

    Parameters
    ----------
    first, second : dict of bytes
        Both sites' files by name, from `read`.

    Returns
    -------
    list of Difference
        Files that differ or that only one of them has.
    """
    known, found = reasons(), []
    for file in sorted(first.keys() | second.keys()):
        one, other = first.get(file), second.get(file)
        if one == other:
            continue
        clean, why = known.get(file, (None, ""))
        explained = clean and one and other and clean(one) == clean(other)
        found.append(Difference(file, why if explained else ""))
    return found


def unexplained(first: Site, second: Site) -> list[str]:
    """Name the files that differ for no known reason."""
    return [d.file for d in differences(first, second) if not d.why]

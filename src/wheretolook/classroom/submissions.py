"""Find out who handed in what: folders and zips, as learning platforms and people name them.

Who somebody is, is read from the names that the platform gave, never from inside a notebook: there
anybody could write another's name.
"""

import re
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

__all__ = ["Submission", "collect", "whose"]

MOST = 100 << 20  # bytes of one notebook

_MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_[a-z]+(_|$)")
_CANVAS = re.compile(r"^(?P<name>[^_]+)_(LATE_)?(?P<id>\d+)_\d+_")
_COPY = re.compile(r"^(Copy of|Kopie von|Copie de|Copia de|副本)[\s_-]*|^[\s_-]*(的)?副本", re.I)
_AGAIN = re.compile(r"[\s_-]*\(\d+\)|[\s_-]*(-\d{1,2}|的?副本|_?copy\d*|- copy)$", re.I)


@dataclass(frozen=True)
class Submission:
    """What one student handed in.

    Attributes
    ----------
    student : str
        The name.
    id : str
        The number that Moodle or Canvas gave, or "".
    file : str
        Where it was found.
    content : bytes
        The notebook.
    time : float
        When it was saved, in seconds.
    earlier : int
        How many others of the same student are older.
    """

    student: str
    id: str
    file: str
    content: bytes
    time: float
    earlier: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Who it is: two of the same name have different numbers."""
        return self.student, self.id


def collect(place: Path, titles: list[str]) -> list[Submission]:
    """Find all submissions, the latest one of each student.

    Parameters
    ----------
    place : Path
        A folder or a zip file; zip files inside of a folder are looked into.
    titles : list of str
        What notebooks of the book are called, so that a file's name is not taken for a student's.

    Returns
    -------
    list of Submission
        In the order of the names.

    Raises
    ------
    ValueError
        If there is nothing.
    """
    latest: dict[tuple[str, str], Submission] = {}
    files = list(_files(place))
    names = _names([path for path, *_ in files], titles)
    for (path, content, time), (student, number) in zip(files, names, strict=True):
        one = Submission(student, number, str(path), content, time)
        other = latest.get(one.key)
        if other is None:
            latest[one.key] = one
            continue
        newer = max(other, one, key=lambda s: (s.time, _attempt(s.file), s.file))
        latest[one.key] = Submission(
            newer.student, newer.id, newer.file, newer.content, newer.time, other.earlier + 1
        )
    if not latest:
        raise ValueError(f"no notebooks (.ipynb) in {place}")
    return sorted(latest.values(), key=lambda s: (s.student.casefold(), s.id))


def whose(path: PurePosixPath, titles: list[str]) -> tuple[str, str]:
    """Read a student's name, and the platform's number for them, from where a file lies.

    Parameters
    ----------
    path : PurePosixPath
        Of the file, inside the folder that was handed over.
    titles : list of str
        What the book's notebooks are called.

    Returns
    -------
    str, str
        The number is "" if there is none.

    Examples
    --------
    >>> whose(PurePosixPath("Li Na_1042_assignsubmission_file_/05-masking.ipynb"), ["05-masking"])
    ('Li Na', '1042')
    >>> whose(PurePosixPath("lina_LATE_77_905_05-masking-1.ipynb"), ["05-masking"])
    ('lina', '77')
    >>> whose(PurePosixPath("王小明/Copy of 05-masking (2).ipynb"), ["05-masking"])
    ('王小明', '')
    """
    path = PurePosixPath(unicodedata.normalize("NFC", str(path)))
    for part in reversed(path.parts):
        for pattern in (_MOODLE, _CANVAS):
            if found := pattern.match(part):
                return _tidy(found["name"]), found["id"]
    for part in (path.stem, *reversed(path.parent.parts)):
        if name := _tidy(_without(part, titles)):
            return name, ""
    return path.name, ""


def _names(paths: list[PurePosixPath], titles: list[str]) -> list[tuple[str, str]]:
    """Name all of them: where files of one name lie in many folders, the folders are students."""
    names = [whose(path, titles) for path in paths]
    folders: dict[tuple[str, str], set[PurePosixPath]] = {}
    for path, name in zip(paths, names, strict=True):
        folders.setdefault(name, set()).add(path.parent)
    return [
        whose(path.parent, titles) if not name[1] and len(folders[name]) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]


def _without(name: str, titles: list[str]) -> str:
    """Take the title of a notebook, and what copying adds, out of a name."""
    before = None
    while name != before:
        before = name
        name = _AGAIN.sub("", _COPY.sub("", name)).strip(" _-–,.")
        for title in titles:
            for form in {title, title.replace("-", "_"), title.replace("-", " ")}:
                at = name.casefold().find(form.casefold())
                if at >= 0:
                    name = f"{name[:at]} {name[at + len(form) :]}".strip(" _-–,.")
    return "" if name.casefold() in {"notebook", "untitled", "submission", "submissions"} else name


def _tidy(name: str) -> str:
    printable = "".join(c for c in name if c.isprintable())
    return re.sub(r"\s+", " ", printable.replace("_", " ")).strip()[:80]


def _attempt(file: str) -> int:
    found = re.search(r"(?:-|\()(\d{1,2})\)?\.ipynb$", file)
    return int(found[1]) if found else 0


def _files(place: Path) -> Iterator[tuple[PurePosixPath, bytes, float]]:
    if place.is_file() and zipfile.is_zipfile(place):
        yield from _zipped(place, PurePosixPath())
        return
    if not place.is_dir():
        raise ValueError(f"{place} is neither a folder nor a zip file")
    for file in sorted(place.rglob("*")):
        inside = PurePosixPath(file.relative_to(place).as_posix())
        if file.is_symlink() or not file.is_file() or _skipped(inside):
            continue
        if file.suffix.lower() == ".zip" and zipfile.is_zipfile(file):
            yield from _zipped(file, inside.with_suffix(""))
        elif file.suffix.lower() == ".ipynb":
            with file.open("rb") as stream:
                yield inside, stream.read(MOST + 1), file.stat().st_mtime


def _zipped(file: Path, folder: PurePosixPath) -> Iterator[tuple[PurePosixPath, bytes, float]]:
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            inside = PurePosixPath(entry.filename.replace("\\", "/"))
            if entry.filename.lower().endswith(".ipynb") and not _skipped(inside):
                try:
                    with archive.open(entry) as stream:
                        content = stream.read(MOST + 1)
                    time = datetime(*entry.date_time).timestamp()
                except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
                    content, time = b"", 0.0  # damaged or locked: it counts as an empty one
                yield folder / inside, content, time


def _skipped(path: PurePosixPath) -> bool:
    return any(p == "__MACOSX" or (p.startswith(".") and p != "..") for p in path.parts)

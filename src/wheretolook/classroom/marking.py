"""Mark one notebook: whatever is in it, and whatever it does, there is a result."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from wheretolook import check
from wheretolook.check import Finding, Marks

from .chapter import Chapter, Task, joined, plain
from .proxy import Answer, Gone, Limits, Room, Stranger, built
from .submissions import MOST

__all__ = ["Result", "Unreadable", "mark", "own_cells", "read"]

_RESTARTS = 6
_STOPPED = "stopped"


class Unreadable(Exception):
    """What was handed in is no notebook of the chapter; the text says why."""


@dataclass
class Result:
    """What a submission earned.

    Attributes
    ----------
    marks : dict
        For each exercise by its id: "points" (None if it could not be tried), "of", "status" and
        "findings".
    why : str
        Why nothing was marked; "" if something was.
    notes : list of str
        What a teacher should know.
    guards : list of str
        What the student's process was shut in by.
    """

    marks: dict[str, dict[str, Any]] = field(default_factory=dict)
    why: str = ""
    notes: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)

    @property
    def total(self) -> float | None:
        """The sum of all points, or None if nothing could be tried."""
        earned = [m["points"] for m in self.marks.values() if m["points"] is not None]
        return round(sum(earned), 2) if earned else None

    @property
    def status(self) -> str:
        """In words: "marked", "partly run: …" or "not run: …"."""
        if self.why:
            return f"not run: {self.why}"
        stopped = [
            f"{name}: {m['findings'][0][1]}"
            for name, m in self.marks.items()
            if m["points"] is None
        ]
        if not stopped:
            return "marked"
        some = len(stopped) < len(self.marks)
        return f"{'partly run' if some else 'not run'}: {'; '.join(stopped)}"

    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read(content: bytes) -> dict[str, Any]:
    """Read a notebook that may be anything.

    Parameters
    ----------
    content : bytes
        Of the file.

    Returns
    -------
    dict
        With a list of "cells", of which each is a dict; of any format version.

    Raises
    ------
    Unreadable
        If it is no notebook.
    """
    if not content.strip():
        raise Unreadable("the file is empty")
    if len(content) > MOST:
        raise Unreadable(f"the file is larger than {MOST >> 20} MB")
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unreadable("the file is not a notebook (no valid JSON)") from error
    if not isinstance(notebook, dict):
        raise Unreadable("the file is not a notebook")
    sheets = notebook.get("worksheets")  # before format 4
    pages = [notebook, *(sheets if isinstance(sheets, list) else [])]
    cells = [
        cell
        for page in pages
        if isinstance(page, dict) and isinstance(page.get("cells"), list)
        for cell in page["cells"]
        if isinstance(cell, dict)
    ]
    if not cells:
        raise Unreadable("the notebook has no cells")
    metadata = notebook.get("metadata")
    return {"cells": cells, "metadata": metadata if isinstance(metadata, dict) else {}}


def own_cells(notebook: dict[str, Any], chapter: Chapter) -> list[tuple[int, str]]:
    """Return number and source of the code cells that are not the book's.

    Parameters
    ----------
    notebook : dict
        As `read` returns it.
    chapter : Chapter
        Whose cells are left out.

    Returns
    -------
    list of (int, str)
        In order, counted from 1 over all cells.
    """
    return [
        (number, source)
        for number, cell in enumerate(notebook["cells"], 1)
        if cell.get("cell_type") == "code"
        for source in [joined(cell)]
        if source.strip() and plain(source) not in chapter.book
    ]


def belongs(notebook: dict[str, Any], all_chapters: Iterable[Chapter]) -> Chapter | None:
    """Find the chapter that a notebook comes from, by its cells.

    Parameters
    ----------
    notebook : dict
        As `read` returns it.
    all_chapters : iterable of Chapter
        Of the book.

    Returns
    -------
    Chapter or None
        The one that it shares most with, if it shares anything of its own.
    """
    sources = {plain(joined(c)) for c in notebook["cells"] if c.get("cell_type") == "code"}
    listed = list(all_chapters)
    text = "\n".join(sources)
    common = frozenset.intersection(*(c.book for c in listed))
    shared = {
        c.name: len(sources & (c.book - common)) + sum(f" {t.answer}(" in text for t in c.tasks)
        for c in listed
    }
    best = max(listed, key=lambda c: shared[c.name])
    return best if shared[best.name] else None


def mark(content: bytes, chapter: Chapter, book: list[Chapter], limits: Limits, uid: int) -> Result:
    """Mark one submission.

    Parameters
    ----------
    content : bytes
        Of the file.
    chapter : Chapter
        What was set.
    book : list of Chapter
        All of them, to know a wrong one.
    limits : Limits
        What the student's process may take.
    uid : int
        The user it becomes, if this one is root.

    Returns
    -------
    Result
        Always.
    """
    try:
        notebook = read(content)
        found = belongs(notebook, book)
        if found is not None and found.name != chapter.name:
            raise Unreadable(f"this is another chapter, {found.name}")
        if found is None:
            raise Unreadable("nothing in it is from this chapter")
    except Unreadable as why:
        return Result(why=str(why))
    visit = _Visit(chapter, own_cells(notebook, chapter), limits, uid)
    return visit.result()


class _Visit:
    """One student's notebook, in as many processes as it takes."""

    def __init__(
        self, chapter: Chapter, cells: list[tuple[int, str]], limits: Limits, uid: int
    ) -> None:
        self.chapter, self.cells, self.limits, self.uid = chapter, cells, limits, uid
        self.spent = 0.0
        self.left = list(chapter.tasks)
        self.skipped: dict[int, str] = {}
        self.at: int | Task | None = None
        self.marked = Result()

    def result(self) -> Result:
        for _ in range(_RESTARTS):
            if not self.left or self.spent > self.limits.whole:
                break
            self.at = None
            try:
                with Room(self.limits, self.uid) as room, self._counted(room):
                    self.marked.guards = room.guards
                    self._run(room)
                    while self.left:
                        self._try(room, self.left[0])
                        self.left.pop(0)
            except Gone as why:
                self._note(str(why))
        for task in self.left:
            self._put(task, None, _STOPPED, [Finding(False, "the notebook takes too long in all")])
        return self._sorted()

    @contextlib.contextmanager
    def _counted(self, room: Room) -> Iterator[None]:
        try:
            yield
        finally:
            self.spent += room.used()

    def _note(self, why: str) -> None:
        """Remember what ended the process, so that it is not tried again."""
        if isinstance(self.at, Task):
            self._put(self.at, None, _STOPPED, [Finding(False, why)])
            self.left.remove(self.at)
        elif self.at is not None:
            self.skipped[self.at] = f"{why}, in cell {self.at}"
            self.marked.notes.append(f"cell {self.at} was left out: {why}")
        else:
            self.marked.notes.append(why)

    def _run(self, room: Room) -> None:
        cells = [(n, source) for n, source in self.cells if n not in self.skipped]
        room.say({
            "do": "run",
            "preamble": self.chapter.preamble,
            "answers": [task.answer for task in self.chapter.tasks],
            "cells": cells,
            "skipped": [(source, self.skipped[n]) for n, source in self.cells if n in self.skipped],
            "seconds": self.limits.cell,
        })  # fmt: skip
        for number in [*(n for n, _ in cells), None]:
            message, _ = room.hear(max(self.limits.cell + 2, 30 if self.at is None else 0))
            if message.get("cell") != number:
                room._end("an answer in no known form")
            self.at = number
            if self.spent + room.used() > self.limits.whole:
                room._end("the notebook takes too long in all")

    def _try(self, room: Room, task: Task) -> None:
        self.at = task
        reply, tensors = room.ask({"do": "look", "name": task.answer})
        if reply.get("is") == "failed":
            self._put(task, None, _STOPPED, [Finding(False, str(reply.get("why"))[:300])])
            return
        answer = self._answer(room, task, reply, tensors)
        if task.variant:
            marks = check.varied(task.checker, answer, task.points, **task.variant)
        else:
            marks = getattr(check, task.checker)(answer, points=task.points)
        if room.gone:
            raise Gone(room.gone)
        self._put(task, float(marks), marks.status, marks.findings)

    def _answer(self, room: Room, task: Task, reply: dict, tensors: list) -> Any:
        word = reply.get("is")
        if word == "missing":
            return None
        if word == "borrowed":
            return Stranger()
        if word == "function":
            return Answer(room, task.answer, reply.get("signature"))
        try:
            return built(reply, tensors)
        except Exception:
            room._end("an answer in no known form")

    def _put(
        self, task: Task, points: float | None, status: str, findings: Iterable[Finding]
    ) -> None:
        self.marked.marks[task.id] = {
            "title": task.title,
            "points": points,
            "of": task.points,
            "status": status,
            "findings": [[f.good, f.text[:1000]] for f in findings],
        }

    def _sorted(self) -> Result:
        order = [task.id for task in self.chapter.tasks]
        self.marked.marks = {name: self.marked.marks[name] for name in order}
        return self.marked


def shown(entry: dict[str, Any]) -> Marks:
    """Build the marks of one exercise again, to be shown.

    Parameters
    ----------
    entry : dict
        A value of `Result.marks`.

    Returns
    -------
    Marks
        As the checker gave them.
    """
    findings = [Finding(good, text) for good, text in entry["findings"]]
    status = "wrong" if entry["status"] == _STOPPED else entry["status"]
    return Marks(entry["points"] or 0, entry["of"], status, findings)

"""Mark a class: from a folder of submissions to marks, feedback, and forms for Moodle and Canvas.

Each result is kept as soon as it is known. So a run that was interrupted goes on where it was, and
a submission that came in again replaces its own result and no other.
"""

import contextlib
import ctypes
import hashlib
import json
import multiprocessing
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm import tqdm

from . import forms
from .chapter import Chapter
from .feedback import moodle, page
from .marking import Result, Unreadable, belongs, mark, read
from .proxy import Limits
from .submissions import Submission

__all__ = ["Class", "grade", "set_chapter"]


@dataclass(frozen=True)
class Class:
    """What is marked, and where the results go.

    Attributes
    ----------
    chapter : Chapter
        What was set.
    book : list of Chapter
        All of them.
    out : Path
        A folder for marks and feedback.
    limits : Limits
        What a student's process may take.
    workers : int
        How many are marked at the same time.
    """

    chapter: Chapter
    book: list[Chapter]
    out: Path
    limits: Limits = Limits()
    workers: int = os.cpu_count() or 1

    def digest(self, submission: Submission) -> str:
        """Return what a result depends on, as one short text: it need not be found twice."""
        told = hashlib.sha256(submission.content)
        told.update(json.dumps(self.chapter.notebook, sort_keys=True).encode())
        told.update(repr((self.limits, self.chapter.choices)).encode())
        package = Path(__file__).parents[1]
        for file in sorted([*package.glob("check/*.py"), *package.glob("classroom/**/*.py")]):
            told.update(file.read_bytes())
        return told.hexdigest()


def set_chapter(submissions: list[Submission], book: list[Chapter], name: str = "") -> Chapter:
    """Find out which chapter was set.

    Parameters
    ----------
    submissions : list of Submission
        What came in.
    book : list of Chapter
        All chapters.
    name : str
        A number or a name, such as "05" or "05-masking"; "" for that of most submissions.

    Returns
    -------
    Chapter
        It.

    Raises
    ------
    ValueError
        If there is no such chapter, or none that most submissions come from.
    """
    if name:
        fitting = [c for c in book if c.name.startswith(name.zfill(2))]
        if len(fitting) != 1:
            known = ", ".join(c.name for c in book)
            raise ValueError(f"chapter: {name!r} is none of {known}")
        return fitting[0]
    votes: Counter[str] = Counter()
    for submission in submissions:
        with contextlib.suppress(Unreadable):
            if found := belongs(read(submission.content), book):
                votes[found.name] += 1
    if not votes:
        raise ValueError("none of these notebooks comes from the book")
    (first, most), *rest = votes.most_common()
    if rest and rest[0][1] == most:
        raise ValueError(f"chapter: as many come from {first} as from {rest[0][0]}; say which")
    return next(c for c in book if c.name == first)


def grade(submissions: list[Submission], course: Class, again: bool = False) -> list[forms.Row]:
    """Mark all submissions, and write everything that a teacher needs.

    Parameters
    ----------
    submissions : list of Submission
        What came in.
    course : Class
        What is marked, and where to.
    again : bool
        Mark also what has been marked already.

    Returns
    -------
    list of Row
        One for each student, also for those of earlier runs.
    """
    kept = course.out / "results"
    kept.mkdir(parents=True, exist_ok=True)
    todo = [s for s in submissions if again or not _is_done(kept, s, course.digest(s))]
    bar = tqdm(total=len(submissions), initial=len(submissions) - len(todo), unit=" notebooks")
    try:
        with bar:
            for submission, result in _marked(todo, course):
                _keep(kept, submission, result, course.digest(submission))
                bar.set_postfix_str(submission.student[:20])
                bar.update()
    finally:  # also when it was interrupted
        rows = write(course)
    return rows


def write(course: Class) -> list[forms.Row]:
    """Write marks and feedback from the results that are kept.

    Parameters
    ----------
    course : Class
        What was marked, and where to.

    Returns
    -------
    list of Row
        One for each student.
    """
    pages = []
    folder = course.out / "feedback"
    folder.mkdir(exist_ok=True)
    for file in sorted((course.out / "results").glob("*.json")):
        told = json.loads(file.read_text(encoding="utf-8"))
        row = forms.Row(told["student"], told["id"], Result(**told["result"]))
        pages.append((row, page(row, course.chapter, told["earlier"])))
        _replace(folder / f"{file.stem}.html", pages[-1][1].encode())
    rows = sorted((row for row, _ in pages), key=lambda row: (row.student.casefold(), row.id))
    for name, table in forms.tables(rows, course.chapter).items():
        # A spreadsheet needs to be told that it is UTF-8, a platform must not be.
        _replace(course.out / name, table.encode("utf-8-sig" if name == "marks.csv" else "utf-8"))
    if any(row.id for row in rows):
        _replace(course.out / "feedback-moodle.zip", moodle(pages))
    return rows


def _marked(todo: list[Submission], course: Class) -> Iterator[tuple[Submission, Result]]:
    """Mark them side by side; a marker that breaks takes nobody with it."""
    waiting, broken = list(todo), False
    while waiting:
        group = waiting[:1] if broken else waiting
        done: set[int] = set()
        for i, result in _side_by_side(group, course, 1 if broken else course.workers):
            done.add(i)
            yield group[i], result
        if broken and not done:
            yield group[0], Result(why="the grader itself failed on it; please look")
            done.add(0)
        waiting = [s for i, s in enumerate(waiting) if i not in done]
        broken = True  # whatever is left was there when a marker broke: one by one


def _side_by_side(
    group: list[Submission], course: Class, workers: int
) -> Iterator[tuple[int, Result]]:
    context = multiprocessing.get_context("spawn")
    number = context.Value("i", 0)
    pool = ProcessPoolExecutor(workers, context, _begin, (number,))
    try:
        jobs: dict[Future, int] = {
            pool.submit(_mark, s.content, course): i for i, s in enumerate(group)
        }
        for job in as_completed(jobs):
            try:
                yield jobs[job], job.result()
            except BrokenProcessPool:
                return
            except Exception as error:
                yield jobs[job], Result(why=f"the grader itself failed on it: {error!r:.200}")
    finally:
        pool.shutdown(cancel_futures=True)


_uid = 60000


def _begin(number: "multiprocessing.Value") -> None:
    """Prepare a marker: it leaves Ctrl-C to the grader, dies with it, and has a user to give."""
    global _uid
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    torch.set_num_threads(1)
    with number.get_lock():
        number.value += 1
        _uid += number.value


def _mark(content: bytes, course: Class) -> Result:
    return mark(content, course.chapter, course.book, course.limits, _uid)


def _is_done(kept: Path, submission: Submission, digest: str) -> bool:
    try:
        told = json.loads(_place(kept, submission).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return told.get("digest") == digest


def _keep(kept: Path, submission: Submission, result: Result, digest: str) -> None:
    told = {
        "student": submission.student,
        "id": submission.id,
        "file": submission.file,
        "earlier": submission.earlier,
        "digest": digest,
        "result": json.loads(result.text()),
    }
    _replace(_place(kept, submission), json.dumps(told, ensure_ascii=False, indent=1).encode())


def _place(kept: Path, submission: Submission) -> Path:
    """Return a file of one's own for every student, with a name that every system allows."""
    readable = re.sub(r"\W+", "-", submission.student)[:40].strip("-")
    own = hashlib.sha256(json.dumps(submission.key).encode()).hexdigest()[:8]
    return kept / f"{readable}-{own}.json"


def _replace(file: Path, content: bytes) -> None:
    """Write a file at once or not at all."""
    part = file.with_name(file.name + ".part")
    part.write_bytes(content)
    part.replace(file)

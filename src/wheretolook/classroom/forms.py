"""Marks as tables: for a teacher, for Moodle and for Canvas."""

import csv
import io
from dataclasses import dataclass

from .chapter import Chapter
from .marking import Result

__all__ = ["Row", "tables"]


@dataclass(frozen=True)
class Row:
    """A student and what was earned.

    Attributes
    ----------
    student : str
        The name.
    id : str
        The platform's number, or "".
    result : Result
        The marks.
    """

    student: str
    id: str
    result: Result


def tables(rows: list[Row], chapter: Chapter) -> dict[str, str]:
    """Write the tables.

    Parameters
    ----------
    rows : list of Row
        All students.
    chapter : Chapter
        What was set.

    Returns
    -------
    dict
        The text of each file, by its name. An exercise that could not be tried has an empty cell,
        so that it does not look like an earned 0; the status says why.
    """
    most = sum(task.points for task in chapter.tasks)
    marks = [["student", "total", "max", "status", *(t.id for t in chapter.tasks), "id"]]
    moodle = [["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)"]]
    canvas = [
        [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            f"Where to Look {chapter.name}",
        ],
        ["    Points Possible", "", "", "", "", _number(most)],
    ]
    for row in rows:
        name, total = _safe(row.student), _number(row.result.total)
        earned = [
            _number(row.result.marks.get(t.id, {"points": None})["points"]) for t in chapter.tasks
        ]
        marks.append([name, total, _number(most), row.result.status, *earned, row.id])
        participant = f"Participant {row.id}" if row.id else ""
        moodle.append([participant, name, total, _number(most), "-"])
        canvas.append([name, row.id, "", "", "", total])
    listed = {"marks.csv": marks, "moodle.csv": moodle, "canvas.csv": canvas}
    return {name: _csv(table) for name, table in listed.items()}


def _number(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def _safe(name: str) -> str:
    """Keep a spreadsheet from taking a name for a formula."""
    return f"'{name}" if name[:1] in "=+-@" else name


def _csv(table: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue()

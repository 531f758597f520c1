"""The classroom from a terminal: ``python -m wheretolook.classroom student`` and ``… grade``."""

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from .chapter import Chapter, chapters, chosen
from .grade import Class, grade, set_chapter
from .release import release
from .submissions import collect

_GUARDS = {
    "files": "its own files only",
    "network": "no network",
    "processes": "its own processes only",
    "user": "a user of its own",
    "limits": "limits of time, memory and processes",
}


def main(arguments: list[str] | None = None) -> int:
    """Do what was asked for.

    Parameters
    ----------
    arguments : list of str, optional
        Of the command; those of this process if left out.

    Returns
    -------
    int
        0, or 2 if something was missing, or 130 if it was interrupted.
    """
    parser = argparse.ArgumentParser(prog="python -m wheretolook.classroom", description=__doc__)
    jobs = parser.add_subparsers(dest="job", required=True)
    job = jobs.add_parser("grade", help="mark a folder or zip of notebooks")
    job.add_argument("submissions", type=Path)
    job.add_argument("--chapter", default="", help="such as 05; else that of most notebooks")
    job.add_argument("--out", type=Path, help="else _build/grades/ and the chapter")
    job.add_argument("--again", action="store_true", help="mark also what is marked already")
    job.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    job = jobs.add_parser("student", help="make the notebooks for students")
    job.add_argument("--references", type=Path, default=Path("book/references.bib"))
    job.add_argument("--out", type=Path, default=Path("_build/student"))
    for each in jobs.choices.values():
        each.add_argument("--variant", type=Path, help="which exercises are graded, and how: TOML")
        each.add_argument("--notebooks", type=Path, default=Path("notebooks"), help="of the book")
    given = parser.parse_args(arguments)
    try:
        return _grade(given) if given.job == "grade" else _student(given)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        # a full disk does not say which file it was
        where = error.filename or given.out or Path("_build")
        print(
            f"{where}: {error.strerror}. Mend that and give the same command again.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        return 130


def _book(given: argparse.Namespace) -> list[Chapter]:
    return chapters(given.notebooks, chosen(given.variant) if given.variant else None)


def _grade(given: argparse.Namespace) -> int:
    if not hasattr(os, "fork"):
        raise ValueError("marking needs Linux or macOS: on Windows use WSL or a container")
    book = _book(given)
    submissions = collect(given.submissions, [c.name for c in book])
    chapter = set_chapter(submissions, book, given.chapter)
    out = given.out or Path("_build") / "grades" / chapter.name
    print(f"{len(submissions)} students, chapter {chapter.name}")
    rows = grade(submissions, Class(chapter, book, out, workers=given.workers), given.again)
    print(f"marks.csv, moodle.csv, canvas.csv and feedback/ are in {out}")
    states = Counter(row.result.status.partition(":")[0] for row in rows)
    print(", ".join(f"{n} {state}" for state, n in states.most_common()))
    held = [set(row.result.guards) for row in rows if row.result.guards]
    both = set.intersection(*held) if held else set()
    print("Each student's process had:", ", ".join(t for g, t in _GUARDS.items() if g in both))
    if missing := [t for g, t in _GUARDS.items() if g not in both]:
        print("It did NOT have:", ", ".join(missing), "(see teaching.md, What guards what)")
    return 0


def _student(given: argparse.Namespace) -> int:
    files = release(_book(given), given.references, given.out)
    print(f"{len(files)} notebooks for students are in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

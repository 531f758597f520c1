"""A chapter as a teacher has it: what it asks, and which of its lines are the book's own.

Everything that decides about marks is read from here, and nothing from a submission: which
exercises there are, what the answer is called, who checks it, and for how many points.
"""

import ast
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from wheretolook.check.variants import VARIANTS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Chapter", "Task", "chapters", "chosen", "joined", "plain", "tags"]


@dataclass(frozen=True)
class Task:
    """A code exercise.

    Attributes
    ----------
    id : str
        Of its cell, such as "ex-shares".
    title : str
        As the page names it.
    answer : str
        What the student's function is called.
    checker : str
        The name of its checker in `wheretolook.check`.
    points : float
        What a right answer earns.
    variant : mapping
        The parameter of its graded form and the value; empty for the practice form.
    """

    id: str
    title: str
    answer: str
    checker: str
    points: float
    variant: Mapping[str, Any] = field(default_factory=dict)

    @property
    def call(self) -> str:
        """The line that checks it."""
        if not self.variant:
            return f"check.{self.checker}({self.answer}, points={self.points:g})"
        ((name, value),) = self.variant.items()
        value = f'"{value}"' if isinstance(value, str) else value
        return (
            f'check.varied("{self.checker}", {self.answer}, points={self.points:g}, {name}={value})'
        )


@dataclass(frozen=True)
class Chapter:
    """A chapter's notebook, as the book has it, with its solutions.

    Attributes
    ----------
    name : str
        Such as "05-masking".
    notebook : dict
        The notebook's JSON.
    choices : mapping
        For each checker whose exercise is graded, the parameter and its value.
    """

    name: str
    notebook: dict[str, Any]
    choices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """Those that a student gets: no solution, no gate around it, no assertion of the build."""
        left_out = {"book-only", "remove-cell"}
        calls = {f"{task.id}-check": task.call for task in self.tasks if task.variant}
        return [
            {**c, "source": calls[c["id"]]} if c["id"] in calls else c
            for c in self.notebook["cells"]
            if not left_out & set(tags(c))
        ]

    @property
    def title(self) -> str:
        """Its first heading."""
        return joined(self.notebook["cells"][0]).splitlines()[0].lstrip("# ")

    @cached_property
    def tasks(self) -> list[Task]:
        """The code exercises, in order."""
        titles = dict(self.titles)
        found = []
        for cell in self.notebook["cells"]:
            if cell["cell_type"] == "code" and cell["id"].endswith("-check"):
                call = ast.parse(joined(cell)).body[0].value
                given = {k.arg: ast.literal_eval(k.value) for k in call.keywords}
                name = cell["id"].removesuffix("-check")
                answer, checker = call.args[0].id, call.func.attr
                variant = self.choices.get(checker, {})
                found.append(Task(name, titles[name], answer, checker, given["points"], variant))
        return found

    @cached_property
    def book(self) -> frozenset[str]:
        """The sources of its code cells, so that a student's own can be told from them."""
        return frozenset(plain(joined(c)) for c in self.cells if c["cell_type"] == "code")

    @cached_property
    def preamble(self) -> list[str]:
        """What answers may lean on: its imports, functions, classes and literal constants.

        So a student's answers work whatever became of the other cells, and no model is trained
        while they are tried.
        """
        kept = []
        for cell in self.cells:
            if cell["cell_type"] == "code":
                kept += [ast.unparse(node) for node in ast.parse(joined(cell)).body if _lasts(node)]
        return kept

    @property
    def titles(self) -> Iterator[tuple[str, str]]:
        """The id of each exercise's cell, and its title, which the site's gate has."""
        for cell in self.notebook["cells"]:
            if cell["id"].endswith("-start") and "{exercise-start}" in joined(cell):
                first = joined(cell).splitlines()[0]
                yield cell["id"].removesuffix("-start"), first.partition("}")[2].strip()


def chapters(folder: Path, choices: Mapping[str, Mapping[str, Any]] | None = None) -> list[Chapter]:
    """Read all chapters of the book.

    Parameters
    ----------
    folder : Path
        Where the notebooks are.
    choices : mapping, optional
        For each checker whose exercise is graded, the parameter and its value.

    Returns
    -------
    list of Chapter
        In order.

    Raises
    ------
    ValueError
        If there are none.
    """
    files = sorted(folder.glob("[0-9][0-9]-*.ipynb"))
    if not files:
        raise ValueError(f"no chapters in {folder}: give the folder notebooks/ of the book")
    return [
        Chapter(f.stem, json.loads(f.read_text(encoding="utf-8")), choices or {}) for f in files
    ]


def chosen(file: Path) -> dict[str, dict[str, Any]]:
    """Read which exercises are graded, and how.

    Parameters
    ----------
    file : Path
        In TOML, with a line such as ``attention_weights.scale = "1/E"`` for each.

    Returns
    -------
    dict
        The parameter and its value, by the name of the checker.

    Raises
    ------
    ValueError
        If it is no TOML, or a name or a value is not known.
    """
    choices = tomllib.loads(file.read_text(encoding="utf-8"))
    for name, given in choices.items():
        if name not in VARIANTS or not isinstance(given, dict):
            raise ValueError(f"{file}: {name!r} is none of {', '.join(VARIANTS)}")
        VARIANTS[name].checked(f"{file}: {name}", given)
    return choices


def joined(cell: dict[str, Any]) -> str:
    """Return a cell's source as one text, however it is stored."""
    source = cell.get("source", cell.get("input", ""))
    return source if isinstance(source, str) else "".join(map(str, source))


def plain(source: str) -> str:
    """Return a source without what does not matter: blank ends of lines and of the cell."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def tags(cell: dict[str, Any]) -> Iterable[str]:
    """Return a cell's tags."""
    return cell.get("metadata", {}).get("tags", [])


def _lasts(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        try:
            ast.literal_eval(node.value)
        except ValueError:
            return False
        return True
    return isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)

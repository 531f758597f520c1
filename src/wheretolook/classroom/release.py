"""Make the students' notebooks: one a chapter, for any Jupyter, without solutions."""

import copy
import json
from pathlib import Path
from typing import Any

from wheretolook.check.variants import VARIANTS

from .chapter import Chapter, Task, joined, tags
from .plain import Book, plain_text

__all__ = ["release"]

_FOLDED = "Hints and solutions are folded."


def release(book: list[Chapter], references: Path, out: Path) -> list[Path]:
    """Write the notebooks.

    Parameters
    ----------
    book : list of Chapter
        All chapters, as the book has them.
    references : Path
        The works that they cite, a .bib file.
    out : Path
        The folder to write to. Notebooks that are there already are replaced.

    Returns
    -------
    list of Path
        One for each chapter.
    """
    out.mkdir(parents=True, exist_ok=True)
    texts = {c.name: "\n\n".join(joined(x) for x in c.cells if _is_text(x)) for c in book}
    told = Book(references, texts)
    files = []
    for chapter in book:
        file = out / f"{chapter.name}.ipynb"
        text = json.dumps(_student(chapter, told), ensure_ascii=False, indent=1)
        file.write_text(f"{text}\n", encoding="utf-8")
        files.append(file)
    return files


def _student(chapter: Chapter, book: Book) -> dict[str, Any]:
    notebook = {key: copy.deepcopy(v) for key, v in chapter.notebook.items() if key != "cells"}
    notebook["metadata"]["wheretolook"] = {"chapter": chapter.name}
    tasks = {task.id: task for task in chapter.tasks}
    titles = dict(chapter.titles)
    notebook["cells"] = [_cell(c, chapter, book, tasks, titles) for c in chapter.cells]
    return notebook


def _cell(
    cell: dict[str, Any],
    chapter: Chapter,
    book: Book,
    tasks: dict[str, Task],
    titles: dict[str, str],
) -> dict[str, Any]:
    """Return a cell without the site's markup, and with what nbgrader looks for."""
    own = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": {}, "source": []}
    source = joined(cell)
    if _is_text(cell):
        source = plain_text(source, chapter.name, book).replace(_FOLDED, "Hints are folded.")
        if title := titles.get(cell["id"]):
            task = tasks.get(cell["id"])
            points = f" ({task.points:g} points)" if task else ""
            source = f"### {title}{points}\n\n{source}{_graded(task)}"
    else:
        own |= {"execution_count": None, "outputs": []}
        name, _, part = cell["id"].rpartition("-")
        if name in tasks and part in ("answer", "check"):
            own["metadata"]["nbgrader"] = _nbgrader(cell["id"], tasks[name], part)
        if "hide-input" in tags(cell):
            own["metadata"]["jupyter"] = {"source_hidden": True}
    own["source"] = source.splitlines(keepends=True)
    return own


def _graded(task: Task | None) -> str:
    """Say what is different in the graded form, where it can't be overlooked: at the end."""
    if task is None or not task.variant:
        return ""
    says = VARIANTS[task.checker].says(next(iter(task.variant.values())))
    return (
        f"\n\n**This one is graded, and one thing is different from the text above:** {says}. "
        "Where the text or the hint says otherwise, this counts."
    )


def _nbgrader(cell_id: str, task: Task, part: str) -> dict[str, Any]:
    graded = part == "check"
    told = {"grade": graded, "grade_id": cell_id, "locked": graded, "schema_version": 3}
    points = {"points": task.points} if graded else {}
    return {**told, "solution": not graded, "task": False, **points}


def _is_text(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "markdown"

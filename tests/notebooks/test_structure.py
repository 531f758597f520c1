"""What every notebook has in common, so that each runs wherever it is opened."""

import ast
import re
import statistics
from pathlib import Path

import nbformat
import pytest

import wheretolook

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# Only the site's build and the tests have these.
BUILD_ONLY = {
    "sphinx",
    "myst_nb",
    "jupyter_book",
    "latex2mathml",
    "fontTools",
    "pytest",
    "hypothesis",
}


def code(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """List the code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def lines(cell: nbformat.NotebookNode) -> int:
    """Count the lines that have something on them."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def imports(source: str) -> set[str]:
    """Name the top-level packages that a cell imports."""
    plain = "\n".join(
        line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))
    )
    names = set()
    for node in ast.walk(ast.parse(plain)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request) -> nbformat.NotebookNode:
    """One notebook after the other."""
    return nbformat.read(request.param, as_version=nbformat.NO_CONVERT)


def test_there_are_notebooks():
    assert NOTEBOOKS


def test_is_valid_and_stores_no_outputs(notebook):
    assert (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)  # cells have ids
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in code(notebook))
    assert "widgets" not in notebook.metadata
    assert notebook.metadata.kernelspec.name == "python3"


def test_ids_are_unique_and_chosen(notebook):
    """A random id changes with every save by some editors; a chosen one can be cited."""
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", cell_id) for cell_id in ids)
    assert not any(re.fullmatch(r"[0-9a-f]{8}", cell_id) for cell_id in ids)


def test_links_have_words(notebook):
    """The site fills an empty link with the target's title; Jupyter and Colab show nothing."""
    assert not any("[](" in cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_solutions_are_folded_in_a_notebook_too(notebook):
    solutions = [
        c for c in code(notebook) if {"hide-input", "book-only"} <= set(c.metadata.get("tags", []))
    ]
    assert solutions
    assert all(
        c.metadata.jupyter.source_hidden and c.metadata.cellView == "form" for c in solutions
    )


def test_cells_are_short(notebook):
    sizes = [lines(cell) for cell in code(notebook)[1:]]
    assert max(sizes) <= 20
    assert statistics.median(sizes) <= 5


def test_every_chapter_can_be_played_with_by_a_reader_who_has_a_kernel(notebook):
    live = [cell for cell in code(notebook) if re.search(r"^live\(", cell.source, re.MULTILINE)]
    assert live
    assert all("hide-input" in cell.metadata.tags for cell in live)


def test_nothing_is_imported_that_only_the_build_has(notebook):
    assert not BUILD_ONLY & set().union(*(imports(cell.source) for cell in code(notebook)))


def test_all_begin_with_the_same_set_up():
    firsts = {code(nbformat.read(path, as_version=4))[0].source for path in NOTEBOOKS}
    assert len(firsts) == 1


def test_set_up_installs_the_release_of_this_very_version():
    source = code(nbformat.read(NOTEBOOKS[0], as_version=4))[0].source
    assert f'@v{wheretolook.__version__}"' in source


def test_set_up_is_idempotent_and_quiet_where_the_package_is(capsys):
    source = code(nbformat.read(NOTEBOOKS[0], as_version=4))[0].source
    for _ in range(2):
        exec(compile(source, "set-up", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().err == ""

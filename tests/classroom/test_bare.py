"""The students' notebooks, solved where a student solves them.

A Python of its own has the package, what the package asks for, and a kernel: no nbgrader, no
browser, nothing else of the book's, and no network.
"""

import os
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import graded
import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from packaging.requirements import Requirement

from wheretolook.check.variants import VARIANTS
from wheretolook.classroom.chapter import Chapter, chapters, joined
from wheretolook.classroom.release import release

ROOT = Path(__file__).parents[2]
CHOICES = {name: {VARIANTS[name].parameter: value} for name, (value, _) in graded.RIGHT.items()}
BOOK, GRADED = chapters(ROOT / "notebooks"), chapters(ROOT / "notebooks", CHOICES)
NO_NETWORK = ["unshare", "--net"]


def needed(*names: str) -> set[str]:
    """Name these distributions and all that they ask for, with the extras that are asked for."""
    known, waiting = set(), [Requirement(name) for name in names]
    while waiting:
        asked = waiting.pop()
        if (asked.name, key := frozenset(asked.extras)) in known:
            continue
        known.add((asked.name, key))
        for line in metadata.requires(asked.name) or ():
            more = Requirement(line)
            extras = [{"extra": extra} for extra in ("", *asked.extras)]
            if more.marker is None or any(map(more.marker.evaluate, extras)):
                waiting.append(more)
    return {name for name, _ in known}


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """A Python with what `pip install "wheretolook[data]" ipykernel` brings, and no more.

    The package is built and installed; what it needs is linked from where the tests find it.
    """
    home = tmp_path_factory.mktemp("bare")
    venv.create(home / "venv")
    (site,) = (home / "venv").glob("lib/python*/site-packages")
    for name in needed("wheretolook[data]", "ipykernel") - {"wheretolook"}:
        found = metadata.distribution(name)
        for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            if not (site / top).exists():  # some share a folder
                (site / top).symlink_to(found.locate_file(top))
    source = home / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--target", site, source], check=True)
    return home / "venv" / "bin" / "python"


@pytest.fixture(scope="module")
def start(python) -> list[str]:
    """The command of the bare Python; without a network, where the system lets us take it away."""
    allowed = shutil.which("unshare") and not subprocess.run([*NO_NETWORK, "true"]).returncode
    return [*(NO_NETWORK if allowed else ()), str(python)]


@pytest.fixture
def outside() -> dict[str, str]:
    """An environment that leads nowhere else."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}


def test_it_is_bare(start, outside):
    asks = (
        "import socket; from importlib.util import find_spec\n"
        "print([name for name in %r if find_spec(name)])\n"
        "print([name for _, name in socket.if_nameindex()])\n"
        "import wheretolook; print(wheretolook.__file__)\n"
    )
    foreign = ("nbgrader", "sphinx", "jupyter_book", "playwright", "pytest", "notebook")
    told = subprocess.run(
        [*start, "-c", asks % (foreign,)], env=outside, capture_output=True, text=True, check=True
    )
    found, links, place = told.stdout.splitlines()
    assert found == "[]"
    assert links == "['lo']" or start[0] != NO_NETWORK[0]
    assert str(ROOT) not in place


def solved(folder: Path, chapter: Chapter, answers: dict[str, str]) -> list[nbformat.NotebookNode]:
    """Fill answers into a student's notebook; return the cells that answer and check."""
    notebook = nbformat.read(folder / f"{chapter.name}.ipynb", 4)
    cells = {cell.id: cell for cell in notebook.cells}
    for task in chapter.tasks:
        cells[f"{task.id}-answer"].source = answers[task.id]
    return [cells[f"{task.id}-{part}"] for task in chapter.tasks for part in ("answer", "check")]


class Kernel(AsyncKernelManager):
    """A kernel of the bare Python, which is reached by files: it has no network."""

    transport = "ipc"
    start = ()

    @property
    def kernel_spec(self) -> KernelSpec:
        command = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=[*self.start, *command])


@pytest.mark.parametrize(
    ("chapter", "form"),
    [pytest.param(*pair, id=pair[0].name) for pair in zip(BOOK, GRADED, strict=True)],
)
def test_a_notebook_runs_and_is_solved_there(chapter, form, start, outside, tmp_path):
    """All of it as it was handed out, then its practice exercises, then their graded forms."""
    references = ROOT / "book" / "references.bib"
    release(BOOK, references, tmp_path / "practice")
    release(GRADED, references, tmp_path / "graded")
    notebook = nbformat.read(tmp_path / "practice" / f"{chapter.name}.ipynb", 4)
    source = {cell["id"]: joined(cell) for cell in chapter.notebook["cells"]}
    public = {task.id: source[f"sol-{task.id.removeprefix('ex-')}"] for task in chapter.tasks}
    bench = Path(graded.__file__).read_text(encoding="utf-8")
    other = {t.id: f'{bench}\n{t.answer} = RIGHT["{t.checker}"][1]' for t in form.tasks}
    passes = [notebook.cells, solved(tmp_path / "practice", chapter, public),
              solved(tmp_path / "graded", form, other)]  # fmt: skip
    cells = []
    for number, each in enumerate(passes):  # an exercise stands in each of them
        for cell in each:
            cell.id = f"{number}-{cell.id}"
            cells.append(cell)
    manager = Kernel()
    manager.start = start
    manager.ip = str(tmp_path / "kernel")
    client = NotebookClient(
        nbformat.v4.new_notebook(cells=cells),
        km=manager,
        timeout=300,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute(env=outside)
    said = [
        [next(o.data["text/html"] for o in cell.outputs if "data" in o) for cell in each
         if cell.id.endswith("-check")] for each in passes
    ]  # fmt: skip
    assert all("Not answered yet: 0 of" in words for words in said[0])
    for task, practice, counted in zip(chapter.tasks, *said[1:], strict=True):
        full = f"All right: {task.points:g} of {task.points:g} points"
        assert full in practice, practice
        assert full in counted, counted
    assert len(said[0]) == len(chapter.tasks)

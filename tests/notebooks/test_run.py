"""The tool that runs notebooks elsewhere names the cell that fails, and finds its Python."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path):
    """Run a notebook of these cells, as `make test-colab` does."""

    def run(*cells: str, python: str = sys.executable) -> subprocess.CompletedProcess:
        path = tmp_path / "a.ipynb"
        nbformat.write(
            nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)]), path
        )
        tool = [sys.executable, "tools/run_notebooks.py", "--python", python, str(path)]
        return subprocess.run(tool, cwd=ROOT, capture_output=True, text=True, check=False)

    return run


def test_a_python_may_be_given_from_where_one_stands(run):
    done = run("assert 1 + 1 == 2", python=os.path.relpath(sys.executable, ROOT))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a.ipynb: holds (")


def test_the_cell_that_fails_is_named_and_the_next_ones_are_run(run):
    done = run("1 / 0", "print(2)", "assert False, 'so it is'")
    assert done.returncode == 1
    assert "2 cells fail" in done.stdout
    assert "cell 0" in done.stdout and "ZeroDivisionError" in done.stdout
    assert "cell 2" in done.stdout and "so it is" in done.stdout


def test_a_python_that_is_not_there_is_named(run):
    done = run(python="no-such-python")
    assert done.returncode == 2
    assert "'no-such-python' is not found" in done.stderr

"""The build itself, on a tiny book that uses the real extensions and settings."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).parents[2]


class Tiny:
    """A book of two pages and one module, in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("src/tiny", "notebooks", "book"):
            (root / folder).mkdir(parents=True)
        config = yaml.safe_load((ROOT / "_config.yml").read_text())
        extensions = config["sphinx"]["local_extensions"]
        config["sphinx"]["local_extensions"] = dict.fromkeys(extensions, str(ROOT / "book"))
        config["sphinx"]["config"]["html_static_path"] = [str(ROOT / "book/_static")]
        config.pop("bibtex_bibfiles")
        for name in [n for n in config["sphinx"]["config"] if n.startswith("bibtex")]:
            config["sphinx"]["config"].pop(name)
        (root / "_config.yml").write_text(yaml.safe_dump(config))
        chapters = [{"file": "notebooks/one"}]
        toc = {"format": "jb-book", "root": "book/intro", "chapters": chapters}
        (root / "_toc.yml").write_text(yaml.safe_dump(toc))
        (root / "book/intro.md").write_text("# Tiny\n\nText.\n")
        (root / "requirements.txt").write_text("")
        self.module("1")
        self.cells("from tiny import answer", "print('answer', answer)")

    def module(self, value: str) -> None:
        """Write the package."""
        (self.root / "src/tiny/__init__.py").write_text(f"answer = {value}\n")

    def cells(self, *sources: str) -> None:
        """Write the notebook."""
        path = f"import sys; sys.path.insert(0, {str(self.root / 'src')!r})"
        code = [nbformat.v4.new_code_cell(source) for source in (path, *sources)]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# One"), *code])
        for index, cell in enumerate(book.cells):
            cell.id = f"cell-{index}"
        book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(book, self.root / "notebooks/one.ipynb")

    def build(self) -> tuple[int, str]:
        """Build as the Makefile does; return the exit code and what was said."""
        program = str(Path(sys.executable).with_name("jupyter-book"))
        command = [program, "build", ".", "-W", "-n", "--keep-going"]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=240)
        return done.returncode, re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)

    @property
    def page(self) -> Path:
        """The notebook's page."""
        return self.root / "_build/html/notebooks/one.html"


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    """A tiny book."""
    return Tiny(tmp_path)


def test_changed_package_runs_the_notebooks_again_and_a_failing_cell_is_named(tiny):
    code, said = tiny.build()
    assert code == 0, said
    assert "answer 1" in tiny.page.read_text()

    (tiny.root / "book/intro.md").write_text("# Tiny\n\nOther prose.\n")
    code, said = tiny.build()
    assert code == 0 and "Executing" not in said

    tiny.module("2")
    code, said = tiny.build()
    assert code == 0 and "answer 2" in tiny.page.read_text()
    assert len(list((tiny.root / "_build/.jupyter_cache").iterdir())) == 1

    tiny.cells("from tiny import answer", "print('before')", "raise RuntimeError('injected')")
    code, said = tiny.build()
    assert code != 0
    assert f"{tiny.root}/notebooks/one.ipynb: cell 4, id cell-4" in said
    assert "injected" in said
    assert not tiny.page.exists()


FAULTS = {
    "[nowhere](missing.md)": "missing.md",
    r"$\foo$": r"no MathML for \foo",
    "{func}`wheretolook.attention.nothing`": "reference target not found",
}


def test_every_fault_is_told_and_the_next_build_fails_too(tiny):
    tiny.cells("import sys; print('a warning', file=sys.stderr)")
    (tiny.root / "book/intro.md").write_text("# Tiny\n\n" + "\n\n".join(FAULTS))
    toc = yaml.safe_load((tiny.root / "_toc.yml").read_text())
    toc["chapters"].append({"file": "notebooks/two"})
    (tiny.root / "_toc.yml").write_text(yaml.safe_dump(toc))
    for _ in range(2):
        code, said = tiny.build()
        assert code != 0
        assert all(complaint in said for complaint in FAULTS.values())
        assert "intro.md" in said and "notebooks/two" in said and "stderr" in said

"""A book of two pages and one module, with the real extensions and settings: `Tiny(folder)`."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).parents[1]


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
        code = [nbformat.v4.new_code_cell(source) for source in sources]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# One"), *code])
        for index, cell in enumerate(book.cells):
            cell.id = f"cell-{index}"
        book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(book, self.root / "notebooks/one.ipynb")

    def begin(self, within: Sequence[str] = (), **given: str) -> subprocess.Popen:
        """Begin to build as the Makefile does, within another command if need be."""
        program = str(Path(sys.executable).with_name("jupyter-book"))
        return subprocess.Popen(
            [*within, program, "build", ".", "-W", "-n", "--keep-going"],
            cwd=self.root,
            env=os.environ
            | {"PYTHONPATH": str(self.root / "src"), "PYTHONUNBUFFERED": "1"}
            | given,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def build(self, within: Sequence[str] = (), **given: str) -> tuple[int, str]:
        """Build; return the exit code and what was said."""
        building = self.begin(within, **given)
        said, _ = building.communicate(timeout=240)
        return building.returncode, re.sub(r"\x1b\[[\d;]*m", "", said)

    @property
    def page(self) -> Path:
        """The notebook's page."""
        return self.root / "_build/html/notebooks/one.html"

"""The repository's address, the launch buttons and the pins: each said once, or held together."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[2]
REPOSITORY = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]
ADDRESS, BRANCH = REPOSITORY["url"], REPOSITORY["branch"]
NAME = ADDRESS.removeprefix("https://github.com/")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


def tracked() -> list[Path]:
    """List the files of the repository."""
    answer = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in answer.stdout.decode().splitlines()]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_launch_buttons_lead_to_the_notebook(html, notebook):
    page = html / "notebooks" / f"{notebook.stem}.html"
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    links = [a["href"] for a in soup.select(".article-header-buttons a[href]")]
    path = f"notebooks/{notebook.name}"
    assert f"https://colab.research.google.com/github/{NAME}/blob/{BRANCH}/{path}" in links
    assert f"https://mybinder.org/v2/gh/{NAME}/{BRANCH}?urlpath=lab/tree/{path}" in links
    download = next(link for link in links if link.endswith(f"_sources/{path}"))
    assert (page.parent / download).resolve().read_bytes() == notebook.read_bytes()


def test_only_notebooks_can_be_launched(html):
    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert ("colab.research.google.com/github" in text) == (page.parent.name == "notebooks")


def test_no_other_address_is_named():
    """Whatever a file installs from or links to as the book's repository is _config.yml's."""
    named = 0
    for file in tracked():
        if file.suffix in {".md", ".ipynb", ".py", ".toml", ".yml", ".css", ".js"}:
            for found in re.findall(
                r"github\.com/([\w-]+/where-to-look)\b", file.read_text("utf-8")
            ):
                named += 1
                assert found == NAME, file
    assert named


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_set_up_cell_installs_from_this_repository(notebook):
    assert f"git+{ADDRESS}@v" in notebook.read_text("utf-8")


def pins(text: str) -> dict[str, str]:
    """Read name and version of each pin."""
    return {
        name.lower().replace("_", "-"): version
        for name, version in re.findall(r"^\s*(?:- )?([\w.-]+)={1,2}([\w.]+)\s*$", text, re.M)
    }


def test_everything_is_pinned_exactly():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert "torch==2.13.0" in lines  # no local version: each platform finds its own build


def test_binder_has_the_same_pins():
    """Conda names the CPU build of torch differently; all else is the same."""
    wanted = pins((ROOT / "requirements.txt").read_text())
    environment = yaml.safe_load((ROOT / ".binder/environment.yml").read_text())
    conda = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    given = pins("\n".join([*conda, *pip]))
    assert given.pop("python") == "3.11"
    assert given.pop("pytorch-cpu") == wanted["torch"]
    assert given.items() <= wanted.items()
    assert {"numpy", "matplotlib", "einops", "ipywidgets", "jupyterlab"} <= set(given)
    assert not any(entry.startswith("torch") for entry in pip)

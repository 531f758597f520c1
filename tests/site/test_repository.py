"""The repository's address, the launch buttons and the pins: each said once, or held together."""

import re
import shutil
import subprocess

import pytest
import yaml
from bs4 import BeautifulSoup
from repository import ROOT, Repository, current, move, moved, published

BOOK, SITE = current(), published()
BRANCH = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["branch"]
NAME = f"{BOOK.owner}/{BOOK.name}"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
# Where the address is repeated, and as what.
REPEATED = {
    "notebooks/*.ipynb": [f"git+{BOOK.url}@v"],
    "README.md": [
        f"{BOOK.url}/actions/workflows/",
        f"mybinder.org/v2/gh/{NAME}/{BRANCH}?",
        f"colab.research.google.com/github/{NAME}/blob/{BRANCH}/",
        f"[Read the book]({SITE})",
        f"{BOOK.url}/releases/latest",
    ],
    "CITATION.cff": [f"repository-code: {BOOK.url}\n", f"url: {SITE}\n"],
    "CHANGELOG.md": [f"{BOOK.url}/compare/", f"{BOOK.url}/releases/tag/"],
    "pyproject.toml": [f'Repository = "{BOOK.url}"', f'Book = "{SITE}"'],
}


def tracked() -> list[str]:
    """Name the text files of the repository."""
    answer = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    names = answer.stdout.decode().splitlines()
    return [n for n in names if (ROOT / n).exists() and not n.endswith((".png", ".jpg"))]


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


@pytest.mark.parametrize("pattern", REPEATED)
def test_what_repeats_the_address_repeats_this_one(pattern):
    files = sorted(ROOT.glob(pattern))
    assert files
    for file in files:
        missing = [x for x in REPEATED[pattern] if x not in file.read_text(encoding="utf-8")]
        assert not missing, file


def test_no_other_address_is_named():
    """Whatever has the book's name, or is installed from or badged, is _config.yml's."""
    host = r"(?:github\.com|colab\.research\.google\.com/github|mybinder\.org/v2/gh)"
    one = rf"{host}/([\w.-]+/{re.escape(BOOK.name)})(?![\w-])"
    found = {name: re.findall(one, (ROOT / name).read_text("utf-8")) for name in tracked()}
    wrong = {name: there for name, there in found.items() if set(there) - {NAME}}
    assert not wrong
    assert sum(map(len, found.values())) > len(NOTEBOOKS)


NEW = Repository("New-Owner", "another.book")


def test_the_book_moves_as_a_whole_and_back(tmp_path):
    """`make repository`, on a copy: nothing old is left, and the way back is exact."""
    files = tracked()
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)

    changed = move(tmp_path, NEW)
    expected = {"_config.yml"} | {n for n in REPEATED if "*" not in n}
    assert expected | {f"notebooks/{n.name}" for n in NOTEBOOKS} <= set(changed)
    assert current(tmp_path) == NEW
    for name in files:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert BOOK.url not in text and f"/{NAME}/" not in text and SITE not in text, name
    assert move(tmp_path, NEW) == []

    move(tmp_path, BOOK)
    assert all((tmp_path / n).read_bytes() == (ROOT / n).read_bytes() for n in files)


def test_only_the_book_itself_is_moved():
    text = "github.com/a/b a/b github.com/a/b-c https://a.github.io/b/x github.com/z/b"
    there = moved(text, Repository("a", "b"), NEW)
    new = f"{NEW.owner}/{NEW.name}"
    assert there == (f"github.com/{new} a/b github.com/a/b-c {NEW.site}x github.com/z/b")


@pytest.mark.parametrize("url", ["https://github.com/a/b/", "https://github.com/a/b.git"])
def test_an_address_may_end_as_git_writes_it(url):
    assert Repository.of(url) == ("a", "b")


@pytest.mark.parametrize(
    "url", ["github.com/a/b", "https://example.org/a/b", "", "https://github.com/a"]
)
def test_any_other_address_is_refused(url):
    with pytest.raises(ValueError, match="accepted is https://github.com/owner/name"):
        Repository.of(url)


def test_pages_serves_a_repository_in_a_folder_unless_it_is_named_like_the_host():
    assert NEW.site == "https://new-owner." + "github.io/another.book/"
    assert Repository("Ann", "ann.github.io").site == "https://ann.github.io/"


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

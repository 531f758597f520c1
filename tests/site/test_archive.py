"""The archive of the book: it opens from any folder, without a network, and answers there."""

import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import archive
import pytest

NAMES = ("notebooks/a.ipynb", "src/p/__init__.py", "pyproject.toml", "LICENSE")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A repository with a site, as small as can be."""
    root = tmp_path / "book"
    config = "repository:\n  url: https://github.com/x/y\n"
    files = dict.fromkeys(NAMES, "1") | {"_config.yml": config, "src/p/untracked.py": "2"}
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    (root / "_build/html/notebooks").mkdir(parents=True)
    for name in ("index.html", "notebooks/a.html", "404.html", ".buildinfo"):
        (root / "_build/html" / name).write_text("<p>")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", *NAMES], cwd=root, check=True)
    return root


def test_it_holds_the_site_the_notebooks_and_the_package(book):
    with zipfile.ZipFile(archive.make(book)) as packed:
        names = packed.namelist()
        folder = names[0].split("/")[0]
        expected = [*NAMES, "README.md", "index.html", "notebooks/a.html"]
        assert names == sorted(f"{folder}/{name}" for name in expected)
        assert folder == f"where-to-look-{archive.wheretolook.__version__}"
        said = packed.read(f"{folder}/README.md").decode()
        assert "index.html" in said and "notebooks" in said and "https://github.com/x/y" in said


def test_the_same_book_gives_the_same_bytes(book, tmp_path):
    first = archive.make(book).read_bytes()
    for file in book.rglob("*"):
        if file.is_file() and ".git" not in file.parts:
            file.chmod(0o755)
            (content := file.read_bytes(), file.unlink(), file.write_bytes(content))
    assert archive.make(book, out=tmp_path).read_bytes() == first


def test_without_a_site_it_says_what_to_do(book):
    (book / "_build/html/index.html").unlink()
    with pytest.raises(FileNotFoundError, match="make book"):
        archive.make(book)


def test_short_of_disk_there_is_no_archive_rather_than_half_of_one(book):
    allowed, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, most))
    try:
        with pytest.raises(OSError):
            archive.make(book)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, most))
    assert not list((book / "_build").glob("*.zip"))


# --- the real one, in a browser ---------------------------------------------------------------


@pytest.fixture(scope="module")
def unpacked(html: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive, unpacked into a folder whose name is awkward."""
    where = tmp_path_factory.mktemp("archive") / "my books 书"
    with zipfile.ZipFile(archive.make(html=html, out=tmp_path_factory.getbasetemp())) as packed:
        packed.extractall(where)
    (folder,) = where.iterdir()
    return folder


def every_page(html: Path) -> list[str]:
    """List the pages by their paths; the first is index.html, which leads to the front page."""
    pages = (page.relative_to(html).as_posix() for page in html.rglob("*.html"))
    return sorted(pages, key=lambda page: (page != "index.html", page))


def test_every_page_is_alive_and_asks_nobody(unpacked, html, visit):
    assert every_page(unpacked) == [page for page in every_page(html) if page != "404.html"]
    alive = 0
    for path in every_page(unpacked)[1:]:
        page = visit((unpacked / path).as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('wtl-explorer')].every(e => 'alive' in e.dataset)"
        )
        alive += page.locator("wtl-explorer").count()
        assert page.problems == [], path
        assert all(address.startswith("file:") for address in page.requests), path
        page.context.close()
    assert alive > 8


def test_the_file_to_open_leads_to_a_front_page_that_answers(unpacked, browser):
    page = browser.new_page()
    page.goto((unpacked / "index.html").as_uri())
    page.wait_for_url("**/book/intro.html")
    explorer = page.locator("wtl-explorer").first
    before = explorer.locator("table").inner_text()
    explorer.locator("input[type=range]").press("End")
    assert explorer.locator("table").inner_text() != before
    page.close()


@pytest.mark.parametrize("words", ["softmax", "注意力"])
def test_search_finds_there(unpacked, visit, words):
    page = visit(f"{(unpacked / 'search.html').as_uri()}?q={words}")
    page.wait_for_selector("#search-results li a")
    links = page.locator("#search-results li a")
    assert any("glossary" in links.nth(i).get_attribute("href") for i in range(links.count()))
    page.wait_for_timeout(500)  # the summaries that a server would be asked for
    assert page.problems == []


def test_notebooks_run_with_the_package_that_lies_beside_them(unpacked):
    done = subprocess.run(
        [sys.executable, "-c", "import wheretolook; print(wheretolook.__file__)"],
        cwd=unpacked / "src",
        capture_output=True,
        text=True,
        env={"PATH": "", "PYTHONPATH": str(unpacked / "src"), "PYTHONIOENCODING": "utf-8"},
        check=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(unpacked)
    assert len(list((unpacked / "notebooks").glob("*.ipynb"))) == 8

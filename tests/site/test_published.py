"""What the site has beside its pages: icon, cards, index, status, and a page for the lost."""

import doctest
import functools
import http.server
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from _ext import cards, contents, lost, offline, purge, times
from bs4 import BeautifulSoup
from docutils.core import publish_doctree
from matplotlib.image import imread
from repository import ROOT, current, published

from wheretolook.tokens import COLOURS

BASE = published()
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]


def soup(file: Path) -> BeautifulSoup:
    """Read a page."""
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


# --- icon and cards ---------------------------------------------------------------------------


def test_the_icon_has_the_colours_of_the_tokens():
    assert all(colour in cards.favicon() for colour in COLOURS["hi"])
    drawn = BeautifulSoup(cards.favicon(), "html.parser").select("rect")
    assert len(drawn) == 9
    assert all(float(r["x"]) + float(r["width"]) <= 32 for r in drawn)


def test_a_card_has_the_size_that_networks_ask_for_and_its_title_fits(tmp_path):
    for title in ("Masking", "LayerNorm against BatchNorm: who shares a mean with whom?"):
        (tmp_path / "card.png").write_bytes(cards.card(title, "Where to Look"))
        pixels = imread(tmp_path / "card.png")
        assert pixels.shape[:2] == cards.SIZE[::-1]
        for edge in (pixels[:30], pixels[-30:], pixels[:, :30], pixels[:, -30:]):
            assert (edge == pixels[0, 0]).all(), f"{title} touches an edge"
    assert cards.card("Masking", "x") == cards.card("Masking", "x") != cards.card("Norms", "x")


def test_a_description_is_the_first_words_of_the_prose():
    page = publish_doctree(
        "Title\n=====\n\nShort.\n\nAnd\nmore.\n\n* a list\n\n" + "word " * 99,
        settings_overrides={"doctitle_xform": False},
    )
    said = cards.describe(page)
    assert said.startswith("Short. And more. word word") and said.endswith("word …")
    assert len(said) <= 222


@pytest.mark.parametrize("page", PAGES)
def test_a_shared_page_shows_its_title_its_words_and_a_picture_with_an_alternative(html, page):
    written = soup(html / f"{page}.html")
    said = {m["property"]: m["content"] for m in written.select("meta[property^='og:']")}
    title = written.select_one("article h1").get_text().rstrip("#").strip()
    assert said["og:title"] == title and title in said["og:image:alt"]
    assert len(said["og:description"]) > 60
    assert written.select_one("meta[name=description]")["content"] == said["og:description"]
    assert said["og:url"] == written.select_one("link[rel=canonical]")["href"]
    for address in (said["og:url"], said["og:image"]):
        assert address.startswith(BASE) and (html / address.removeprefix(BASE)).exists()
    icon = written.select_one("link[rel=icon]")["href"]
    assert (html / f"{page}.html").parent.joinpath(icon).resolve() == html / "_static/favicon.svg"
    feed = written.select_one("link[type='application/atom+xml']")["href"]
    assert feed == f"{current().url}/releases.atom"


def test_only_pages_that_are_there_have_a_card(html):
    drawn = {file.name for file in (html / "_static/cards").iterdir()}
    assert drawn == {Path(cards.name(page)).name for page in PAGES}


# --- the page for what is not there -----------------------------------------------------------


def test_what_is_relative_becomes_absolute_and_nothing_else():
    page = '<a href="a.html"><a href="#b"><a href="https://c.org/"><a href="/d"><img src="./e">'
    assert lost.anchor(page, "https://x.org/y/") == (
        '<a href="/y/a.html"><a href="#b"><a href="https://c.org/"><a href="/d"><img src="/y/e">'
    )
    assert lost.anchor('<html data-content_root="./">', "https://x.org/") == (
        '<html data-content_root="/">'
    )


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serve the site in its folder, and 404.html for all else, as GitHub Pages does."""

    folder = urlsplit(BASE).path

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def translate_path(self, path: str) -> str:
        """Take away the folder."""
        return super().translate_path("/" + path.removeprefix(self.folder))

    def list_directory(self, path: str) -> None:
        """List none."""
        self.send_error(404)

    def send_error(self, code: int, *args: object) -> None:
        """Show the page for what is not there."""
        body = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.mark.parametrize("missing", ["nothing.html", "notebooks/deep/er/nothing", "notebooks/"])
def test_a_lost_reader_finds_back_from_any_depth(html, visit, missing):
    handler = functools.partial(Pages, directory=str(html))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}{Pages.folder}"
        page = visit(root + missing)
        # the page itself, and what the browser says about its status; everything it needs was found
        wrong = [p for p in page.problems if "404" not in p or "_static" in p]
        assert wrong == [] and page.problems.count(f"404: {root}{missing}") == 1
        assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith('"WTL CJK"')
        page.locator("article a", has_text="front page").click()
        assert page.locator("article h1").inner_text().startswith("Where to Look")
        assert page.url == f"{root}{TOC['root']}.html"
        server.shutdown()


def test_every_link_of_the_lost_page_leads_somewhere(html):
    folder = urlsplit(BASE).path
    for link in soup(html / "404.html").select("[href], [src]"):
        address = link.get("href") or link.get("src")
        if address.startswith(("#", "https:", "data:")):
            continue
        assert address.startswith(folder), address
        assert (html / unquote(urlsplit(address).path).removeprefix(folder)).exists(), address


# --- index, search, status --------------------------------------------------------------------


def test_the_index_has_all_terms_and_names_and_is_in_the_contents(html):
    index = soup(html / "genindex.html")
    entries = {li.get_text(" ", strip=True).split("\n")[0] for li in index.select("article li")}
    for word in ("softmax", "注意力", "attention weight"):
        assert word in entries
    assert any(entry.startswith("attend()") for entry in entries)
    headings = [h.get_text().rstrip("#") for h in index.select("article h2")]
    assert headings[-1] == contents.CHINESE and headings.count(contents.CHINESE) == 1
    assert all(len(h) == 1 or h in ("Symbols", contents.CHINESE) for h in headings)
    for page in PAGES:
        nav = soup(html / f"{page}.html").select(".bd-sidebar-primary nav a[href$='genindex.html']")
        assert len(nav) == 1, page


@pytest.mark.parametrize("path", ["genindex.html", "search.html", "404.html"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_without_a_source_is_a_page_like_the_others(open_page, html, path, dark):
    assert soup(html / path).title.get_text(strip=True)
    if path == "404.html":
        pytest.skip("it is at home in its own folder: see above")
    page = open_page(path, width=390, dark=dark)
    assert page.problems == []
    assert page.locator("h1:visible").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_options_of_a_copy_in_a_folder_are_written_once(tmp_path):
    options = tmp_path / "documentation_options.js"
    options.write_text("const DOCUMENTATION_OPTIONS = {};\n")
    offline.search_quietly(options)
    once = options.read_text()
    offline.search_quietly(options)
    assert options.read_text() == once and once.count("SHOW_SEARCH_SUMMARY = false") == 1


@pytest.mark.parametrize(
    "module", [contents, lost, purge, times], ids=lambda module: module.__name__
)
def test_what_an_extension_shows_as_an_example_holds(module):
    done = doctest.testmod(module)
    assert done.attempted and not done.failed


def test_status_has_the_time_of_every_notebook_and_what_built_them(html):
    page = soup(html / "book/status.html")
    rows = [[td.get_text(strip=True) for td in tr.select("td")] for tr in page.select("tbody tr")]
    links = {a["href"].split("/")[-1] for a in page.select("tbody a")}
    assert {f"{Path(p).name}.html" for p in PAGES if p.startswith("notebooks/")} <= links

    def seconds(text: str) -> int:
        minutes, rest = text.split(":")
        return 60 * int(minutes) + int(rest)

    *each, (name, total) = rows
    assert name == "together"
    assert abs(sum(seconds(time) for _, time in each) - seconds(total)) <= len(each) / 2 + 1
    assert seconds(total) > 0
    import torch

    assert f"torch {torch.__version__}" in page.select_one("article").get_text()

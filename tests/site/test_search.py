"""The site's search, typed into as a reader does."""

import pytest
from _ext.search import EnglishAndChinese

GLOSSARY = "book/glossary.html"


def test_chinese_is_indexed_by_characters_and_pairs():
    found = EnglishAndChinese({}).split("self-attention 注意力, x_1 图")
    assert found == ["self", "attention", *"注意力", "注意", "意力", "x_1", "图"]


@pytest.mark.parametrize("files", [False, True], ids=["localhost", "file"])
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("注意力", GLOSSARY),
        ("掩码", GLOSSARY),
        ("意力权", GLOSSARY),  # a piece of a longer word
        ("causal mask", GLOSSARY),
        ("layer and batch norm", "notebooks/06-layer-and-batch-norm.html"),
        ("causal_mask", "book/api.html"),
    ],
)
def test_search_finds(open_page, words, page, files):
    shown = open_page("search.html", files=files)
    field = shown.locator("#search-input, .bd-search-container input[name=q]").first
    field.fill(words)
    field.press("Enter")
    shown.locator(".search-summary", has_text="found").wait_for()
    links = shown.locator("#search-results ul.search > li > a")
    found = [link.get_attribute("href").split("#")[0] for link in links.all()]
    assert found[0] == page
    assert shown.problems == []


@pytest.mark.parametrize("words", ["掩码", "多头", "层归一化", "编码器"])
def test_a_chinese_term_leads_to_its_place_in_the_glossary(open_page, words):
    shown = open_page(f"search.html?q={words}")
    shown.locator(".search-summary", has_text="found").wait_for()
    first = shown.locator("#search-results ul.search > li > a").first.get_attribute("href")
    assert first.startswith(f"{GLOSSARY}#term-")
    shown.goto(shown.url.split("search.html")[0] + first)
    assert words in shown.locator("dt:target").inner_text()


def test_search_says_that_nothing_was_found(open_page):
    shown = open_page("search.html?q=图图图")
    shown.locator(".search-summary", has_text="did not match").wait_for()


def test_search_is_opened_from_a_chapter_by_keyboard(open_page):
    shown = open_page("notebooks/05-masking.html")
    shown.keyboard.press("Control+k")
    shown.keyboard.type("掩码")
    shown.keyboard.press("Enter")
    shown.wait_for_url("**/search.html?q=*")
    shown.locator("#search-results a", has_text="").first.wait_for()
    assert shown.problems == []


def test_only_the_search_page_loads_the_index(html):
    with_index = [p.name for p in html.rglob("*.html") if "searchindex.js" in p.read_text("utf-8")]
    assert with_index == ["search.html"]

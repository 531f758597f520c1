"""Every page, as a reader's browser sees it."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from contents import CHAPTERS, PAGES, ROOT
from playwright.sync_api import expect

from wheretolook.explore import assets

# What a reader reads, with the colours that lie behind it. Contrast by WCAG 2.
CONTRAST = """() => {
  const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] > 200) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  const texts = "article :is(p, li, td, th, h1, h2, h3, dt, label, output, pre, a, caption)";
  for (const e of document.querySelectorAll(texts)) {
    if (!e.checkVisibility() || !e.innerText.trim()) continue;
    const [a, b] = [light(rgba(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) weak.push([e.tagName, e.innerText.slice(0, 30), +ratio.toFixed(2)]);
  }
  return weak;
}"""

# Whether a list would be wider if it might.
CUT = """field => {
  const free = field.cloneNode(true);
  free.style.cssText = "position: absolute; max-width: none; width: max-content";
  field.after(free);
  const cut = free.offsetWidth > field.offsetWidth;
  free.remove();
  return cut;
}"""

BOXES = """() => {
  const chinese = /[\\u3400-\\u9fff]/;
  return [...document.querySelectorAll("article :is(p, li, td, th, pre, span)")]
    .filter(e => chinese.test(e.textContent)).length;
}"""


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("files", [False, True], ids=["localhost", "file"])
def test_page_is_quiet_and_asks_nobody_else(open_page, path, files):
    page = open_page(path, files=files)
    assert page.problems == []
    assert page.locator("article h1").count() == 1


def test_a_page_works_where_nothing_may_be_kept(open_page, site):
    """A learning platform may show it in a frame that is shut off."""
    frame = f'<iframe sandbox="allow-scripts" src="{site}{CHAPTERS[3]}" width=1200 height=800>'
    page = open_page("404.html")
    page.set_content(frame)
    inside = page.frame_locator("iframe")
    inside.locator(".btn-projector").click()
    expect(inside.locator(".btn-projector")).to_have_attribute("aria-pressed", "true")
    expect(inside.locator("button.copybtn").first).to_be_attached()
    assert [problem for problem in page.problems if problem.startswith("exception")] == []


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_page_fits_a_telephone_and_can_be_read(open_page, path, dark):
    page = open_page(path, width=390, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    page.add_style_tag(content="* { transition: none !important }")  # final colours only
    assert page.evaluate(CONTRAST) == []


# Words and numbers of tables that stand on two lines.
BROKEN = """() => {
  const cells = document.querySelectorAll(".bd-article :is(td, th)");
  const range = document.createRange(), broken = [];
  for (const cell of [...cells].filter(cell => cell.checkVisibility())) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentNode.closest("code, math, cite")) continue;
      for (const { 0: word, index } of text.data.matchAll(/[A-Za-z]+|−?\\d+\\.\\d+/g)) {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (range.getClientRects().length > 1) broken.push(word);
      }
    }
  }
  return broken;
}"""


@pytest.mark.parametrize("path", PAGES)
def test_a_tables_words_stay_whole_on_a_telephone(open_page, path):
    assert open_page(path, width=390).evaluate(BROKEN) == []


def test_where_an_evidence_table_scrolls_its_caption_and_the_names_of_its_rows_stay(open_page):
    page = open_page(CHAPTERS[6], width=390)
    table = page.locator(".wtl-table").first
    box = table.bounding_box()
    table.evaluate("table => table.scrollLeft = table.scrollWidth")
    for part in ("caption", "th[scope=row]"):
        seen = table.locator(part).first.bounding_box()
        assert box["x"] <= seen["x"] and seen["x"] + seen["width"] <= box["x"] + box["width"]
    row = table.locator("th[scope=row]").first.bounding_box()
    assert row["width"] < box["width"] / 2


def test_on_a_telephone_a_list_is_as_wide_as_its_words_or_as_the_screen_allows(open_page):
    page = open_page(CHAPTERS[2], width=390)
    for field in page.locator("wtl-explorer select").all():
        cut = field.evaluate(CUT)
        room = field.evaluate("f => f.closest('label').getBoundingClientRect().right") - 1
        assert not cut or field.evaluate("f => f.getBoundingClientRect().right") > room


@pytest.mark.parametrize("path", PAGES)
def test_chinese_is_drawn_by_the_font_that_the_site_brings(open_page, path):
    page = open_page(path)
    if not page.evaluate(BOXES):
        pytest.skip("no Chinese on this page")
    page.wait_for_function(
        "[...document.fonts].some(f => /WTL CJK/.test(f.family) && f.status === 'loaded')"
    )
    tools = page.context.new_cdp_session(page)
    tools.send("DOM.enable")
    tools.send("CSS.enable")
    root = tools.send("DOM.getDocument")["root"]["nodeId"]
    article = tools.send("DOM.querySelector", {"nodeId": root, "selector": "article"})
    page.evaluate("""() => {  // leave the Chinese alone, so that its fonts can be told apart
      const article = document.querySelector("article");
      const walk = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
      while (walk.nextNode())
        walk.currentNode.data = walk.currentNode.data.replace(/[^\\u3400-\\u9fff]/g, "");
    }""")
    fonts = tools.send("CSS.getPlatformFontsForNode", {"nodeId": article["nodeId"]})["fonts"]
    assert {font["familyName"] for font in fonts if font["glyphCount"]} <= {"Noto Sans SC"}


@pytest.mark.parametrize("path", PAGES)
def test_links_lead_somewhere(html, path):
    from bs4 import BeautifulSoup

    def soup(file: Path) -> BeautifulSoup:
        return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")

    page = soup(html / path)
    broken = []
    for link in page.select("a[href], img[src], script[src], link[href]"):
        address = urlsplit(link.get("href") or link.get("src"))
        if address.scheme or address.netloc:
            continue
        target = (html / path).parent / unquote(address.path) if address.path else html / path
        if not target.exists():
            broken.append(address.geturl())
        elif address.fragment and target.suffix == ".html":
            there = page if not address.path else soup(target)
            if not there.find(id=unquote(address.fragment)):
                broken.append(address.geturl())
    assert broken == []


@pytest.mark.parametrize("path", PAGES)
def test_no_formula_is_left_as_source(html, path):
    from bs4 import BeautifulSoup

    page = BeautifulSoup((html / path).read_text(encoding="utf-8"), "html.parser")
    assert all(node.find("math") for node in page.select(".math"))
    for code in page(["script", "style", "pre", "code"]):
        code.decompose()
    assert "\\frac" not in page.text and "$$" not in page.text


def test_some_page_has_mathematics(html):
    assert any("<math" in (html / page).read_text(encoding="utf-8") for page in PAGES)


@pytest.mark.parametrize("path", PAGES)
def test_explorers_leave_their_parts_to_the_files_that_pages_share(html, path):
    text = (html / path).read_text(encoding="utf-8")
    assert "<style data-wtl" not in text and "<script data-wtl" not in text


def test_the_specimen_pages_script_holds_every_part(html):
    text = (html / "book/specimen.html").read_text(encoding="utf-8")
    (name,) = re.findall(r"_static/(explorer[\w-]*\.js)", text)
    shared = (html / "_static" / name).read_text(encoding="utf-8")
    assert all(assets.part(name, "js") in shared for name in assets.parts())


@pytest.mark.parametrize("path", PAGES)
def test_icons_are_drawn(open_page, path):
    """Every icon has a glyph in the font that was cut down to the icons in use."""
    from fontTools.ttLib import TTFont

    page = open_page(path)
    used = page.evaluate("""() => [...document.querySelectorAll("*")].flatMap(e =>
      ["::before", "::after"].map(part => getComputedStyle(e, part)).filter(style =>
        /Awesome/.test(style.fontFamily) && style.content.length === 3).map(style =>
        [style.fontFamily, style.fontWeight, style.content[1]]))""")
    assert used
    static = ROOT / "_build/html/_static/vendor/fontawesome/webfonts"
    maps = {file.stem: TTFont(file).getBestCmap() for file in static.glob("*.woff2")}
    for family, weight, char in used:
        solid = "fa-solid-900" if int(weight) >= 600 else "fa-regular-400"
        name = "fa-brands-400" if "Brands" in family else solid
        assert ord(char) in maps[name], (family, weight, hex(ord(char)))


def test_print_has_no_navigation(open_page):
    page = open_page(PAGES[0])
    page.emulate_media(media="print")
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert page.locator("article p").first.is_visible()

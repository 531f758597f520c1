"""The book for readers who see, hear or move otherwise."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from contents import CHAPTERS, PAGES

EVERY = [*PAGES, "search.html", "genindex.html", "py-modindex.html"]


@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize(
    ("width", "dark"),
    [(1280, False), (1280, True), (390, False)],
    ids=["light", "dark", "telephone"],
)
def test_axe_finds_nothing(open_page, path, width, dark):
    page = open_page(path, width=width, dark=dark)
    page.add_style_tag(content="* { transition: none !important }")  # final colours only
    found = Axe().run(page).response["violations"]
    told = [(v["id"], [node["target"] for node in v["nodes"][:5]]) for v in found]
    assert told == []


@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize("width", [640, 320], ids=["200 %", "400 %"])
def test_page_is_enlarged_without_sideways_scrolling(open_page, path, width):
    page = open_page(path, width=width)
    wide = page.evaluate("""() => document.documentElement.scrollWidth <= innerWidth ? [] :
      [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right >
        innerWidth && e.checkVisibility()).slice(0, 5).map(e => e.outerHTML.slice(0, 80))""")
    assert wide == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_link_begins_with_its_first_word(open_page, path):
    page = open_page(path)
    early = page.locator("article p a").evaluate_all(
        "links => links.map(a => a.textContent).filter(text => text.startsWith(' '))"
    )
    assert early == []
    assert page.locator(".solution .admonition-title", has_text="Solution to Exercise").count() > 0


@pytest.mark.parametrize("path", EVERY)
def test_nothing_moves_by_itself_for_a_reader_who_asks_for_calm(open_page, path):
    page = open_page(path)
    page.emulate_media(reduced_motion="reduce")
    moving = page.evaluate("""() => [...document.querySelectorAll('*')].filter(e => {
      const style = getComputedStyle(e);
      return style.animationName !== 'none' || style.scrollBehavior === 'smooth' ||
        style.transitionDuration.split(', ').some(time => parseFloat(time) > 0.01);
    }).map(e => e.tagName + '.' + e.className)""")
    assert moving == []


# Each stop of the Tab key: what it is, whether it can be seen, and whether it shows.
STOP = """() => {
  const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
  if (e === document.body) return null;
  const number = [...document.querySelectorAll('*')].indexOf(e);
  const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight;
  const ring = [style.outlineStyle, style.boxShadow, style.stroke].some(drawn => drawn !== 'none');
  return { number, seen, ring, html: e.outerHTML.slice(0, 90),
    field: e.matches('.wtl-controls :is(input, select)'), cell: e.matches('.wtl-map td') };
}"""


def test_a_chapter_is_walked_by_keyboard_alone(open_page):
    page = open_page(CHAPTERS[3])
    page.emulate_media(reduced_motion="reduce")  # a stop is reached at once
    stops = []
    while len(stops) < 1500:
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        if stop is None or any(stop["number"] == s["number"] for s in stops):
            break
        stops.append(stop)
    assert len(stops) < 1500
    assert [s["html"] for s in stops if not (s["seen"] and s["ring"])] == []
    controls = page.locator("wtl-explorer .wtl-controls :is(input, select)")
    maps = page.locator("wtl-explorer .wtl-map")
    assert sum(s["field"] for s in stops) == controls.count()
    assert sum(s["cell"] for s in stops) == maps.count()  # one stop each, arrows within
    assert "nav-link" in stops[-1]["html"]  # the last of the page's contents: nothing is a trap

"""What a page brings along, what its explorers wait for, and whether it stays in place."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from benches.weight import compressed
from bs4 import BeautifulSoup
from contents import PAGES

FIRST, SECOND = 300, 150  # KB, each file compressed as a server would
SHIFT = 0.05
JSON = "application/json"
GALLERY = "book/specimen.html"  # for authors: it loads every view there is, in one page

# By how much each explorer grows at the moment when its script takes it over.
GROWTH = """(() => {
  const define = customElements.define;
  customElements.define = function (...given) {
    const all = [...document.querySelectorAll('wtl-explorer')];
    const heights = () => all.map(e => e.getBoundingClientRect().height);
    const before = heights();
    define.apply(customElements, given);
    window.growth = heights().map((height, i) => [all[i].ariaLabel, height - before[i]]);
  };
})()"""
SHIFTS = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => list.getEntries().forEach(e => { sum += e.value; }))
    .observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(sum), 300);
})"""


@pytest.fixture(scope="module")
def loaded():
    """What each page was seen to load."""
    return {}


@pytest.fixture
def files(open_page, html, loaded):
    """Name the files that a page loads on a first visit, and their kilobytes."""

    def visit(path: str) -> dict[str, float]:
        if path not in loaded:
            asked = {urlsplit(address).path.lstrip("/") for address in open_page(path).requests}
            loaded[path] = {name: len(compressed(html / name)) / 1024 for name in asked}
        return loaded[path]

    return visit


@pytest.mark.parametrize("path", PAGES)
def test_a_first_visit_is_light(files, path, record_property):
    sizes = files(path)
    total = sum(sizes.values())
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:6]
    most = ", ".join(f"{Path(name).name} {size:.0f}" for name, size in largest)
    record_property("note", f"{path}: {total:.0f} KB gzipped, {len(sizes)} requests ({most}, …)")
    assert total <= FIRST


@pytest.mark.parametrize("path", PAGES)
def test_an_explorer_waits_for_its_page_a_style_sheet_and_a_script(html, path):
    """Each file more may cost a round trip, 165 ms of "Fast 4G", and so may a file within a file.

    A script that does not say `defer` holds the page up, and lines of script behind a style sheet
    wait for it, and the page for them.
    """
    page = BeautifulSoup((html / path).read_text(encoding="utf-8"), "html.parser")
    (sheet,) = page.select('link[rel="stylesheet"]')
    assert "@import" not in (html / path).parent.joinpath(urlsplit(sheet["href"]).path).read_text()
    scripts = page.select("script[src]")
    assert all(script.has_attr("defer") for script in scripts)
    first, *_ = (Path(urlsplit(script["src"]).path).name for script in scripts)
    assert first.startswith("explorer" if page.select("wtl-explorer") else "site.js")
    assert not sheet.find_all_next("script", src=None, type=lambda kind: kind != JSON)


@pytest.mark.parametrize("path", [path for path in PAGES[1:] if path != GALLERY])
def test_a_second_page_is_light(files, path, record_property):
    """The page after the one before it in the book."""
    before = files(PAGES[PAGES.index(path) - 1])
    total = sum(size for name, size in files(path).items() if name not in before)
    record_property("note", f"{path}: {total:.0f} KB gzipped as a second page")
    assert total <= SECOND


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_when_explorers_come_alive(browser, site, path, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.add_init_script(GROWTH)
    page.goto(site + path)
    growth, shift = page.evaluate("window.growth ?? []"), page.evaluate(SHIFTS)
    context.close()
    assert [(label, by) for label, by in growth if abs(by) > 0.5] == []
    assert shift < (SHIFT if growth else 2 * SHIFT)  # elsewhere a font moves a word

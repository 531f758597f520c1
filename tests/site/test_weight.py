"""How much a page brings along, and whether it stays in place when its explorers come alive."""

from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import pytest
from benches.weight import compressed
from contents import PAGES

FIRST, MOST, SECOND = 450, 300, 150  # KB, each file compressed as a server would
SHIFT = 0.05
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


def test_most_first_visits_are_lighter_still(files):
    assert median(sum(files(path).values()) for path in PAGES) <= MOST


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

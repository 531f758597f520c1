"""A chapter on paper: what moves stands still, nothing is cut, solutions come by choice."""

import re

import pytest
from contents import CHAPTERS, PAGES

PAPER = 718  # A4 less 1 cm on each side, in CSS pixels
CUT = """() => [...document.querySelectorAll(
  'article :is(table, pre, .math, img, svg, wtl-explorer)')]
  .filter(e => e.checkVisibility() && !e.closest('svg *'))
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1 ||
    (e.matches('pre, wtl-explorer') && e.scrollWidth > e.clientWidth + 1))
  .map(e => e.outerHTML.slice(0, 80))"""


@pytest.fixture
def paper(open_page):
    """Open a page as it is printed."""

    def go(path: str):
        page = open_page(path, width=PAPER)
        page.emulate_media(media="print")
        return page

    return go


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_cut(paper, path):
    assert paper(path).evaluate(CUT) == []


@pytest.mark.parametrize("path", CHAPTERS)
def test_an_explorer_shows_its_frame_and_no_control(paper, path):
    page = paper(path)
    for explorer in page.locator("wtl-explorer").all():
        assert explorer.locator(".wtl-view").first.is_visible()
        assert explorer.locator(".wtl-controls:visible, button:visible").count() == 0
        if explorer.locator(".wtl-controls").count():
            assert re.match("Shown: .+", explorer.locator(".wtl-now").inner_text())


def test_solutions_are_left_out_or_folded_out_by_choice(paper):
    without, with_them = paper(CHAPTERS[3]), paper(CHAPTERS[3] + "?print=solutions")
    assert without.locator(".solution").count() > 0
    assert without.locator(".solution:visible").count() == 0
    assert with_them.locator(".solution:visible").count() == with_them.locator(".solution").count()
    folded = with_them.locator(":is(.exercise, .solution) details:not([open])")
    assert folded.count() == 0


def test_a_solution_that_was_opened_is_printed(open_page):
    page = open_page(CHAPTERS[3], width=PAPER)
    page.locator(".solution summary").first.click()
    page.emulate_media(media="print")
    assert page.locator(".solution:visible").count() == 1


def test_a_chapter_becomes_a_pdf(open_page, record_property):
    page = open_page(CHAPTERS[3])
    pdf = page.pdf(format="A4")
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    record_property("note", f"{CHAPTERS[3]}: a PDF of {sheets} sheets, {len(pdf) / 1024:.0f} KB")
    assert 5 <= sheets <= 60

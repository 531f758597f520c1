"""Projector mode: a page for the last row, and an explorer that fills the screen."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from contents import CHAPTERS
from playwright.sync_api import expect

REFUSED = "delete Element.prototype.requestFullscreen"
GALLERY = "book/specimen.html"
ON = "document.documentElement.hasAttribute('data-projector')"
BUTTON = ".btn-projector"
SIDES = ".bd-sidebar-primary, .bd-sidebar-secondary"
# What is cut off: to the side never; below only of what scrolls, and is then as small as it may be.
FIT = """one => ({
  aside: one.scrollWidth - one.clientWidth,
  below: one.scrollHeight - one.clientHeight,
  fills: one.clientWidth === innerWidth && one.clientHeight === innerHeight,
  lines: innerHeight / parseFloat(getComputedStyle(one.querySelector('.wtl-views')).fontSize)
    / one.style.getPropertyValue('--scale'),
})"""


@pytest.fixture
def present(open_page):
    """Open a page in the mode, on a screen as projectors have it."""

    def go(path: str, *, wide: int = 1280, **options):
        page = open_page(f"{path}?projector", width=wide, **options)
        page.set_viewport_size({"width": wide, "height": wide * 9 // 16})
        return page

    return go


def size(page) -> float:
    return page.locator("article p").first.evaluate("p => parseFloat(getComputedStyle(p).fontSize)")


def test_type_grows_and_side_bars_go(open_page):
    page = open_page(CHAPTERS[3])
    plain, wide = size(page), page.locator("article").bounding_box()["width"]
    assert page.locator(SIDES).filter(visible=True).count() == 2
    page.locator(BUTTON).click()
    assert size(page) >= 1.5 * plain
    assert page.locator("article").bounding_box()["width"] > 1.3 * wide
    assert page.locator(SIDES).filter(visible=True).count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator(BUTTON)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Alt+p")
    assert size(page) == plain
    expect(page.locator(BUTTON)).to_have_attribute("aria-pressed", "false")
    assert page.problems == []


@pytest.mark.parametrize("files", [False, True], ids=["localhost", "file"])
def test_it_lasts_from_page_to_page_until_it_is_left(open_page, files):
    page = open_page(CHAPTERS[3] + "?projector", files=files)
    page.locator(".right-next .prev-next-title").click()
    page.wait_for_url("**/05-masking.html")
    assert page.evaluate(ON)
    page.locator(BUTTON).click()
    page.locator(".left-prev .prev-next-title").click()
    page.wait_for_url("**/04-self-attention.html")
    assert not page.evaluate(ON)
    assert page.problems == []


@pytest.mark.parametrize("files", [False, True], ids=["localhost", "file"])
def test_an_address_begins_in_it_until_it_is_left(open_page, files):
    page = open_page(CHAPTERS[3] + "?print=solutions&projector#see-it", files=files)
    assert page.evaluate(ON)
    page.locator(BUTTON).click()
    assert page.url.endswith("?print=solutions#see-it")
    page.reload()
    assert not page.evaluate(ON)


def test_a_page_that_comes_back_as_it_was_left_follows_what_was_chosen_since(open_page):
    page = open_page(CHAPTERS[3])
    page.locator(BUTTON).click()
    page.locator(".wtl-fill").first.click()
    page.evaluate("""() => {
        sessionStorage.setItem('projector', '');
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    }""")
    assert not page.evaluate(ON)
    assert page.locator("[data-fills]").count() == 0
    expect(page.locator(BUTTON)).to_have_attribute("aria-pressed", "false")


def test_a_letter_that_is_written_with_both_keys_is_no_command(open_page):
    page = open_page(CHAPTERS[3])
    page.keyboard.press("Control+Alt+p")  # as AltGr arrives
    assert not page.evaluate(ON)


@pytest.mark.parametrize("wide", [1280, 1920])
def test_every_explorer_fills_the_screen_and_nothing_is_cut_off(present, wide):
    page = present(GALLERY, wide=wide)
    explorers = page.locator("wtl-explorer")
    for place in range(explorers.count()):
        one = explorers.nth(place)
        one.get_by_role("button", name="Full screen", exact=True).click()
        page.wait_for_function("document.fullscreenElement")
        found = one.evaluate(FIT)
        assert found["fills"] and found["aside"] <= 0, found
        assert found["lines"] <= 46, found
        assert found["below"] <= 0 or found["lines"] > 40, found
        page.keyboard.press("Escape")
        expect(one).not_to_have_attribute("data-fills", "")
        expect(one.locator(".wtl-fill")).to_be_focused()
    assert page.problems == []


@pytest.mark.parametrize("wide", [1280, 1920])
def test_curves_are_not_shrunk_until_they_fit_beside_large_letters(present, wide):
    page = present(CHAPTERS[5], wide=wide)
    explorers = page.locator("wtl-explorer:has(.wtl-curves)")
    for place in range(explorers.count()):
        one = explorers.nth(place)
        one.get_by_role("button", name="Full screen", exact=True).click()
        page.wait_for_function("document.fullscreenElement")
        letters = one.locator(".wtl-key").evaluate(
            "key => key.currentCSSZoom * parseFloat(getComputedStyle(key).fontSize)"
        )
        assert one.locator(".wtl-curves").bounding_box()["width"] > 25 * letters
        page.keyboard.press("Escape")


@pytest.mark.parametrize("allowed", [True, False], ids=["full screen", "window"])
def test_button_and_escape_leave_it_and_controls_work_in_it(present, allowed):
    """Where there is no full screen to be had, the explorer covers the window."""
    page = present(CHAPTERS[3])
    if not allowed:
        page.evaluate(REFUSED)
    one = page.locator("wtl-explorer:has(.wtl-grip)").first
    fill, field = one.locator(".wtl-fill"), one.locator("input[type=range]").first
    before, above = field.input_value(), one.bounding_box()
    ways = (
        fill.click,
        lambda: field.press("Escape"),
        lambda: one.locator(".wtl-grip").press("Escape"),
    )
    for leave in ways:
        fill.focus()
        page.keyboard.press("Enter")
        expect(fill).to_have_text("Leave full screen")
        assert bool(page.evaluate("document.fullscreenElement")) == allowed
        assert one.bounding_box() == {"x": 0, "y": 0, "width": 1280, "height": 720}
        page.keyboard.press("Tab")
        expect(field).to_be_focused()
        page.keyboard.press("ArrowRight")
        assert field.input_value() != before
        page.keyboard.press("ArrowLeft")
        leave()
        expect(fill).to_have_text("Full screen")
        assert page.evaluate("document.fullscreenElement") is None
        assert one.bounding_box()["height"] == above["height"]
        expect(fill).to_be_in_viewport()
    assert page.problems == []


def test_where_a_weight_comes_from_comes_into_view(present):
    page = present(CHAPTERS[3])
    one = page.locator("wtl-explorer:has(.wtl-why)").first
    one.locator(".wtl-fill").click()
    one.locator(".wtl-view:has(.wtl-why) td[data-v]").nth(2).click()
    expect(one.locator(".wtl-why .wtl-from").first).to_be_in_viewport()
    assert one.evaluate(FIT)["aside"] <= 0


def test_the_keyboard_stays_in_a_window_that_is_filled(present):
    """In a full screen browsers see to it themselves."""
    page = present(CHAPTERS[4])
    page.evaluate(REFUSED)
    page.locator(".wtl-fill").first.click()
    for key in ["Tab"] * 12 + ["Shift+Tab"] * 12:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.closest('[data-fills]') !== null")


@pytest.mark.parametrize(
    ("path", "dark"), [(CHAPTERS[4], False), (CHAPTERS[4], True), (GALLERY, False)]
)
def test_axe_finds_nothing(present, path, dark):
    page = present(path, dark=dark)
    assert Axe().run(page).response["violations"] == []
    page.locator(".wtl-fill").nth(1).click()
    page.wait_for_function("document.fullscreenElement")
    assert Axe().run(page).response["violations"] == []


def test_paper_knows_nothing_of_it(present, open_page):
    for page in (shown := present(CHAPTERS[4])), (plain := open_page(CHAPTERS[4])):
        page.emulate_media(media="print")
    assert size(shown) == size(plain)
    assert shown.locator(".wtl-fill").filter(visible=True).count() == 0


def test_without_a_script_there_is_no_button(open_page):
    page = open_page(CHAPTERS[4], script=False)
    assert page.locator(".wtl-fill").count() == 0
    assert not page.locator(BUTTON).is_visible()

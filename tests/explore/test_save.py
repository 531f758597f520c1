"""A link to an explorer's state, and its picture as a file."""

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import matplotlib
import numpy as np
import pytest
import torch
from PIL import Image
from PIL.ImageFilter import GaussianBlur
from playwright.sync_api import Page, expect

from wheretolook.explore import Bars, Block, Heatmap, Plane, Ribbons, explore, show
from wheretolook.norms import POOLED

SITE = "<script>document.documentElement.dataset.content_root = './'</script>"


def draw(scale, causal, words="<b>&\"'"):
    """Where each token looks & why"""
    weights = np.array([[1, 0], [0.5 - scale / 4, 0.5 + scale / 4]])
    return [Heatmap(weights, title=words if causal else "all"), Bars([scale], ["x"], limit=1)]


CONTROLS = {"scale": (0.0, 1.0, 0.25), "causal": False, "words": ["爱 & <b>", "= ?#"]}


@pytest.fixture
def page(page_factory) -> Page:
    first = explore(lambda other: Bars([other], ["y"]), other=(0, 3)).html()
    return page_factory(SITE + first + explore(draw, **CONTROLS).html())


def second(page: Page):
    return page.locator("wtl-explorer").nth(1)


def test_a_link_brings_back_the_explorer_as_it_stood(page):
    explorer = second(page)
    explorer.locator("input[type=range]").press("End")
    explorer.locator("input[type=checkbox]").check()
    explorer.locator("select").select_option("= ?#")
    explorer.get_by_role("button", name="Copy link").click()
    fragment = parse_qs(urlsplit(page.url).fragment)
    assert fragment == {"explorer": ["Where each token looks & why"], "scale": ["1.00"],
                        "causal": ["yes"], "words": ["= ?#"]}  # fmt: skip
    address, numbers = page.url, explorer.locator("td[data-v]").all_text_contents()
    page.goto("about:blank")
    page.goto(address)
    assert second(page).locator("td[data-v]").all_text_contents() == numbers
    assert second(page).locator(".wtl-title").first.inner_text() == "= ?#"
    assert page.locator("wtl-explorer").first.locator("output").inner_text() == "1"  # as it starts
    assert page.problems == []


@pytest.mark.parametrize(
    "fragment", ["#explorer=nobody&scale=1.00", "#scale=1.00", "#explorer=%", "#a-section"]
)
def test_another_fragment_changes_nothing(page, fragment):
    numbers = second(page).locator("td[data-v]").all_text_contents()
    page.evaluate("f => { location.hash = f; }", fragment)
    page.wait_for_timeout(50)
    assert second(page).locator("td[data-v]").all_text_contents() == numbers
    assert page.problems == []


def test_a_value_that_is_no_more_leaves_its_control_where_it_starts(page):
    known = "#explorer=Where each token looks %26 why&scale=7&causal=yes"
    page.evaluate("f => { location.hash = f; }", known)
    expect(second(page).locator("input[type=checkbox]")).to_be_checked()
    assert second(page).locator("output").first.inner_text() == "0.50"


def picture(page: Page) -> Image.Image:
    with page.expect_download() as download:
        page.locator("[data-do=save]").last.click()
    assert download.value.suggested_filename.endswith(".png")
    return Image.open(BytesIO(Path(download.value.path()).read_bytes())).convert("RGBA")


def strong(image: Image.Image) -> int:
    """How many pixels have the strong end of the colour scale (saturated blue)."""
    r, g, b, a = np.asarray(image, dtype=int).transpose(2, 0, 1)
    return int(((b - r > 90) & (a > 200)).sum())


def test_the_picture_is_what_is_shown(page):
    explorer = second(page)
    explorer.locator("input[type=range]").press("Home")
    before = picture(page)
    box = explorer.bounding_box()
    assert before.width == pytest.approx(2 * box["width"], abs=2)
    assert 0.6 * 2 * box["height"] < before.height < 1.2 * 2 * box["height"]
    explorer.locator("input[type=range]").press("End")
    after = picture(page)
    assert strong(after) > 1.3 * strong(before) > 0  # larger weights, a longer bar
    expect(explorer.get_by_role("button", name="Saved")).to_be_visible()
    assert page.problems == []


WIDE = np.full((3, 4), 0.1) + 0.6 * np.eye(3, 4)
LONG = ["a word", "of many", "letters", "each"]
PLANE = [[1.0, 0.2], [-0.5, 1.0]], ["a", "b"], [[1.0, 1.0], [0.0, -1.0]]
BLOCK = torch.arange(24.0).reshape(2, 3, 4) - 9
VIEWS = {
    "map": (lambda: Heatmap(WIDE), ".wtl-map"),
    "ribbons": (lambda: Ribbons(WIDE, LONG[:3], LONG), ".wtl-ribbons"),
    "ribbons in columns": (lambda: Ribbons(np.eye(12), LONG * 3, LONG * 3), ".wtl-ribbons"),
    "plane": (lambda: Plane(*PLANE), ".wtl-grip"),
    "block": (lambda: Block(BLOCK, POOLED, "LayerNorm(D)"), ".wtl-block"),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_each_view_is_drawn_as_on_the_screen(page_factory, kind):
    make, part = VIEWS[kind]
    page = page_factory(show(make(), label="a view").html())
    found = page.locator(part)
    screen = soft(Image.open(BytesIO(found.screenshot())))
    height, width = screen.shape[:2]
    left = round(found.bounding_box()["x"] - page.locator("wtl-explorer").bounding_box()["x"])
    saved = soft(picture(page).reduce(2))[:, left : left + width]
    # no button is in the picture, so the view may stand higher
    tops = range(len(saved) - height + 1)
    assert min(np.abs(saved[top : top + height] - screen).mean() for top in tops) < 4  # of 255


def soft(image: Image.Image) -> np.ndarray:
    """Forget half a pixel here or there."""
    return np.asarray(image.convert("RGB").filter(GaussianBlur(3)), dtype=float)


def test_the_pages_own_font_is_in_the_picture(page_factory):
    """A drawn image loads no file; a reader without a Chinese font would see boxes."""
    file = Path(matplotlib.get_data_path(), "fonts/ttf/cmtt10.ttf")
    source = f"data:font/ttf;base64,{b64encode(file.read_bytes()).decode()}"
    face = f"<style>@font-face {{ font-family: 'WTL CJK'; src: url({source}) }}</style>"
    body = show(Heatmap(WIDE, title="a title in some font"), label="a label").html()
    plain, own = (picture(page_factory(before + body)) for before in ("", face))
    first, other = (np.asarray(i.crop((0, 0, 600, 160)), dtype=int) for i in (plain, own))
    assert np.abs(first - other).mean() > 3  # the names are drawn otherwise


def test_what_scrolls_is_all_in_the_picture(page_factory):
    body = show(Heatmap(np.eye(16)), label="a wide map").html()
    page = page_factory(body, width=390)
    image = np.asarray(picture(page).reduce(2).convert("RGB"), dtype=int)
    table = page.locator(".wtl-map").bounding_box()["width"]
    assert table > 500  # it has to scroll
    assert image.shape[1] == pytest.approx(table + 22, abs=4)  # and its margins
    assert strong(picture(page)) > 15 * 40 * 40  # each of the sixteen squares is there
    names = [f"{i}" for i in range(16)]
    page = page_factory(show(Ribbons(np.eye(16), names, names)).html(), width=390)
    own = page.locator("wtl-explorer").bounding_box()["width"]
    assert picture(page).width == pytest.approx(2 * own, abs=2)  # its table, hidden, is not


def test_no_button_is_in_the_picture(page_factory):
    page = page_factory(show(Ribbons(WIDE, LONG[:3], LONG), label="a view").html())
    with_button = picture(page)
    page.locator(".wtl-switch button").evaluate("button => button.remove()")
    assert np.array_equal(np.asarray(with_button), np.asarray(picture(page)))


def test_a_notebook_offers_no_link_to_itself(page_factory):
    page = page_factory(explore(draw, **CONTROLS).html())
    assert not page.get_by_role("button", name="Copy link").is_visible()
    assert page.get_by_role("button", name="Save picture").is_visible()


def test_without_script_there_is_no_dead_button(page_factory):
    page = page_factory(SITE + explore(draw, **CONTROLS).html(), script=False)
    assert not page.locator(".wtl-foot").is_visible()

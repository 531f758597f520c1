"""Pictures with a gaze, in a real browser: the gaze follows slider, pointer, touch and keys."""

import re
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from wheretolook.explore import Fovea, Overlay, ScanPath, explore, show
from wheretolook.saliency import foveate, pyramid, radii

SIDE = 320  # pixels on the page: 20 rem
GREY = torch.linspace(0, 120, 320).sin().mul(0.4).add(0.5)
PHOTO = torch.stack([GREY[:, None].expand(320, 320), GREY.expand(320, 320), GREY.outer(GREY)])
LEVELS, REACH = pyramid(PHOTO), radii()


def look(across=0.0, down=-0.5):
    """A photograph to look around in"""
    steer = ("across", "down")
    return Fovea(LEVELS, REACH, (down, across), alt="stripes", steer=steer, width=20)


@pytest.fixture(scope="module")
def made():
    return explore(look, across=(-1.0, 1.0, 0.25), down=(-1.0, 1.0, 0.25))


@pytest.fixture
def page(page_factory, made) -> Page:
    return page_factory(made.html())


def stage(page: Page) -> Locator:
    return page.locator(".wtl-stage")


def place(page: Page) -> tuple[float, float]:
    """Where the gaze is on the page, (row, column), and that the sliders say the same."""
    found = re.search(r"--x: ?([\d.]+)%; ?--y: ?([\d.]+)%", stage(page).get_attribute("style"))
    column, row = (float(x) / 50 - 1 for x in found.groups())
    said = [o.replace("−", "-") for o in page.locator("output").all_text_contents()]
    assert [column, row] == pytest.approx([float(x) for x in said])
    return row, column


def test_sliders_move_the_gaze(page):
    assert place(page) == (-0.5, 0)
    across, down = page.locator("input").all()
    across.press("ArrowRight")
    down.press("End")
    assert place(page) == (1, 0.25)
    assert page.problems == []


def test_the_gaze_follows_the_pointer(page):
    stage(page).hover(position={"x": 0.75 * SIDE + 3, "y": 0.25 * SIDE - 2})
    assert place(page) == (-0.5, 0.5)
    stage(page).hover(position={"x": 8, "y": SIDE - 8})
    assert place(page) == (1, -1)


def test_the_gaze_follows_a_finger(browser, made, tmp_path):
    file = tmp_path / "touch.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{made.html()}", "utf-8")
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(file.as_uri())
    box = stage(page).bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.5)
    assert place(page) == (0, 0.5)
    context.close()


def test_the_gaze_follows_the_arrow_keys(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(stage(page)).to_be_focused()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
    assert place(page) == (-0.25, -0.5)
    for key in ("End", "ArrowRight", "ArrowUp"):  # it stops at the edge
        page.keyboard.press(key)
    assert place(page) == (-0.5, 1)


@pytest.mark.parametrize("gaze", [(-0.5, 0), (0.25, -0.75)])
def test_the_page_shows_what_torch_composes(page_factory, gaze):
    view = Fovea(LEVELS, REACH, gaze, alt="stripes", width=20)
    page = page_factory(show(view).html())
    page.add_style_tag(
        content=".wtl-stage { position: fixed !important; left: 0; top: 0 }"
        ".wtl-ring::before { display: none !important }"
    )
    page.wait_for_timeout(100)
    shot = Image.open(BytesIO(stage(page).screenshot())).convert("RGB")
    seen = foveate(LEVELS, gaze, REACH).permute(1, 2, 0).numpy()
    whole = PHOTO.permute(1, 2, 0).numpy()
    assert shot.size == (SIDE, SIDE)
    inner = np.s_[8:-8, 8:-8]  # the corners are round
    apart = np.abs(np.asarray(shot)[inner] / 255 - seen[inner]).mean()
    assert apart < 0.02 < np.abs(seen - whole)[inner].mean()


def test_the_first_frame_stands_without_script(page_factory, made):
    page = page_factory(made.html(), script=False)
    expect(stage(page)).to_have_attribute("aria-label", "stripes")
    assert "--x:50%;--y:25%" in stage(page).get_attribute("style")


def test_other_frames_change_overlay_and_words(page_factory):
    maps = torch.eye(4).unbind()

    def lit(row):
        """A map on a photograph"""
        weights = maps[row].expand(4, 4)
        return Overlay(PHOTO, weights, alt=f"column {row} is bright", gaze=(0, row / 2 - 0.75))

    page = page_factory(explore(lit, row=(0, 3)).html())
    before = stage(page).get_attribute("style")
    page.locator("input").press("End")
    expect(stage(page)).to_have_attribute("aria-label", "column 3 is bright")
    assert stage(page).get_attribute("style") != before
    shot = np.asarray(Image.open(BytesIO(stage(page).screenshot())).convert("L")).astype(float)
    assert shot[:, -60:-20].mean() > 1.5 * shot[:, 20:160].mean()


def test_a_scan_path_is_drawn(page_factory):
    path = np.array([[3.5, 3.5], [1.0, 6.0]])

    def walk(glimpse):
        """A scan path"""
        return ScanPath(np.zeros((8, 8)), path[:glimpse], 2, alt=f"glimpse {glimpse}", width=10)

    page = page_factory(explore(walk, glimpse=(1, 2)).html())
    first = stage(page).screenshot()
    page.locator("input").press("End")
    expect(stage(page)).to_have_attribute("aria-label", "glimpse 2")
    shot = np.asarray(Image.open(BytesIO(stage(page).screenshot())).convert("RGB")).astype(int)
    assert stage(page).screenshot() != first
    orange = (shot[..., 0] > 200) & (shot[..., 2] < 150)
    assert orange[20:40, 120:140].any() and not orange[100:, :].any()  # at row 1, column 6
    assert page.problems == []

"""A control that runs by itself: it starts, ends, and stops when the reader takes over."""

import ipywidgets as w
from playwright.sync_api import expect

from wheretolook.explore import Bars, explore


def explorer(interval=100):
    def draw(glimpse):
        """A path, glimpse by glimpse"""
        return Bars([glimpse / 4], ["x"], limit=1)

    return explore(draw, glimpse=w.Play(min=1, max=4, value=1, interval=interval))


def test_it_plays_to_its_end_and_again_from_its_start(page_factory):
    page = page_factory(explorer().html())
    button, number = page.get_by_role("button", name="Play glimpse"), page.locator("output")
    for _ in range(2):
        button.click()
        expect(number).to_have_text("4")
        expect(button).to_have_text("Play glimpse")
    assert page.locator("td[data-v]").inner_text() == "1.00" and page.problems == []


def test_a_reader_who_moves_the_slider_stops_it(page_factory):
    page = page_factory(explorer(interval=700).html())
    page.locator("[data-play]").press("Enter")
    expect(page.locator("[data-play]")).to_have_text("Pause")
    page.locator("input").press("ArrowRight")
    expect(page.locator("[data-play]")).to_have_text("Play glimpse")
    page.wait_for_timeout(1500)
    assert page.locator("output").inner_text() == "2"


def test_without_script_there_is_no_dead_button(page_factory):
    page = page_factory(explorer().html(), script=False)
    assert not page.locator("[data-play]").is_visible()

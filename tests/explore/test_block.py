"""The block of numbers in a real browser: pointer, touch, keyboard, words, themes, no script."""

import pytest
import torch
from playwright.sync_api import Browser

from wheretolook.explore import Block, explore
from wheretolook.norms import POOLED, sharing

BLOCK = (3 * torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(6))).round()


def draw(norm):
    """Who shares a mean?"""
    return Block(BLOCK, POOLED, norm, cell=(1, 1, 2))


def expected(cell: tuple[int, int, int]) -> list[list[str]]:
    """What torch says about a cell, a row a norm."""
    rows = []
    for norm in POOLED:
        group = BLOCK[sharing(BLOCK.shape, cell, norm)].double()
        mean, variance = group.mean(), group.var(unbiased=False)
        becomes = (BLOCK[cell] - mean) / (variance + 1e-5).sqrt()
        texts = [f"{float(v):.2f}" for v in (mean, variance.sqrt(), becomes)]
        texts = ["0.00" if text == "-0.00" else text.replace("-", "−") for text in texts]
        rows.append([norm, str(len(group)), *texts])
    return rows


def shown(page) -> list[list[str]]:
    return page.locator(".wtl-norms tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )


def outlined(page) -> list[bool]:
    return page.locator(".wtl-block td[data-v]").evaluate_all(
        "cells => cells.map(cell => cell.matches('.wtl-mark'))"
    )


def group(cell, norm) -> list[bool]:
    return sharing(BLOCK.shape, cell, norm).flatten().tolist()


@pytest.fixture
def block(page_factory):
    return lambda **options: page_factory(explore(draw, norm=list(POOLED)).html(), **options)


def test_every_number_tells_its_group_and_what_each_norm_makes_of_it(block):
    page = block()
    cells = page.locator(".wtl-block td[data-v]")
    for n, cell in enumerate(torch.ones(3, 3, 4).nonzero().tolist()):
        cells.nth(n).click()
        assert shown(page) == expected(tuple(cell))
        assert outlined(page) == group(tuple(cell), "LayerNorm(D)")
    assert page.problems == []


def test_the_chosen_number_stays_while_the_norm_changes(block):
    page = block()
    for norm in POOLED:
        page.locator("select").select_option(norm)
        assert outlined(page) == group((1, 1, 2), norm)
        assert page.locator(".wtl-norms tr[data-on] th").inner_text() == norm
        assert f"Under {norm} it shares" in page.locator(".wtl-read").inner_text()


def test_arrow_keys_go_through_tokens_features_and_sentences(block):
    page = block()
    page.locator("select").focus()
    page.keyboard.press("Tab")
    at = [1, 1, 2]
    for key, axis, step in [("ArrowDown", 1, 1), ("ArrowRight", 2, 1), ("ArrowUp", 1, -1)]:
        page.keyboard.press(key)
        at[axis] += step
        assert outlined(page) == group(tuple(at), "LayerNorm(D)")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")  # the next sentence's first token
    words = page.locator(".wtl-read")
    assert words.inner_text().startswith("sentence 3, token 1, feature 4: ")
    assert words.get_attribute("aria-live") == "polite"
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert words.inner_text().startswith("sentence 3, token 3, feature 4: ")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_finger_chooses(browser: Browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text("<!doctype html><meta charset=utf-8>" + explore(draw, norm=list(POOLED)).html())
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator(".wtl-block td[data-v]").nth(35).tap()
    assert outlined(page) == group((2, 2, 3), "LayerNorm(D)")
    context.close()


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_nothing_scrolls_sideways(block, dark):
    page = block(width=390, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".wtl-norms").evaluate("t => t.scrollWidth <= t.parentNode.clientWidth + 1")


def test_without_script_the_first_cell_is_told(block):
    page = block(script=False)
    assert shown(page) == expected((1, 1, 2))
    assert outlined(page) == group((1, 1, 2), "LayerNorm(D)")


def test_hostile_names_stay_text(page_factory):
    name = "</script><img src=x onerror=hacked=1>"
    explorer = explore(lambda norm: Block(BLOCK, {name: (2,)}, norm), norm=[name])
    page = page_factory(explorer.html())
    page.locator(".wtl-block td[data-v]").first.click()
    assert name in page.locator(".wtl-read").inner_text()
    assert page.evaluate("typeof hacked") == "undefined" and page.problems == []

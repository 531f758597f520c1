"""Explorers in a JupyterLab and a Notebook 7 that were really started."""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
import torch
from notebook_server import notebook_server
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLate

EXPLORED = """
import torch
from wheretolook.attention import ScaledDot, attend
from wheretolook.explore import Curves, Heatmap, explore, live

tokens = list("我爱中国")
query, key = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0)).unbind()


def draw(scale):
    "Where each token looks"
    return Heatmap(attend(query, key, key, scorer=ScaledDot(scale)).weights, tokens, tokens)


explore(draw, scale=(0.0, 2.0, 0.25))
"""

CURVE = """
def curve(power):
    "A power"
    x = torch.linspace(0, 1, 5)
    return Curves(x, {"y": x**power}, x_name="x", y_name="y")


explore(curve, power=(1, 3))
"""

LIVE = """
def words(sentence, sharpness):
    "The reader's own sentence"
    tokens = sentence.split()
    if len(tokens) > 4:
        raise ValueError(f"at most <4> words, got {len(tokens)}")
    n = len(tokens)
    return Heatmap((torch.eye(n) * sharpness).softmax(-1), tokens, tokens)


live(words, sentence="law its", sharpness=(0.0, 4.0, 0.5))
"""

BLOCK = """
from wheretolook.explore import Block
from wheretolook.norms import POOLED


def block(numbers):
    "A kind of view that no other cell shows"
    return Block([[[float(x) for x in numbers.split()]]], POOLED, "LayerNorm(D)")


live(block, numbers="1 3")
"""

QUERY, KEY = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0)).unbind()


def weights(scale: float) -> list[str]:
    return [f"{v:.2f}" for v in (QUERY @ KEY.T * scale).softmax(-1).flatten().tolist()]


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own with one notebook, its settings and kernels in a folder of their own."""
    home, cells = tmp_path_factory.mktemp("jupyter"), (EXPLORED, CURVE, LIVE, BLOCK)
    with notebook_server(home, "explorers.ipynb", cells) as url:
        session = {"path": "explorers.ipynb", "name": "", "type": "notebook"}
        body = json.dumps(session | {"kernel": {"name": "python3"}}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{url}/api/sessions", body), timeout=30)
        yield url


@pytest.fixture(scope="module")
def open_notebook(browser: Browser, jupyter: str) -> Iterator[Callable[[str], Page]]:
    """Open the notebook in one of the two applications; each page stays open for its tests."""
    pages: dict[str, Page] = {}
    context = browser.new_context(viewport={"width": 1280, "height": 1000})

    def go(app: str) -> Page:
        if app not in pages:
            path = {
                "lab": "/lab/tree/explorers.ipynb?reset",
                "notebook": "/notebooks/explorers.ipynb",
            }
            page = pages[app] = context.new_page()
            page.goto(jupyter + path[app])
            page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=40_000)
        return pages[app]

    yield go
    context.close()


@pytest.fixture(scope="module", params=["lab", "notebook"])
def page(request: pytest.FixtureRequest, open_notebook: Callable[[str], Page]) -> Page:
    """The notebook, run in its kernel as a reader runs it."""
    page = open_notebook(request.param)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(timeout=30_000)
    prompt, text = (cell(page, 3).locator(c) for c in (".jp-InputPrompt", ".widget-text input"))
    # keys that come before the notebook is ready are lost (or answered by a dialog), a widget that
    # comes before Jupyter's own part for widgets is not shown: a reader runs the cells again
    for _ in range(6):
        with suppress(TooLate):
            dialog = page.locator(".jp-Dialog .jp-mod-accept")
            if dialog.count():
                dialog.first.click(timeout=3_000)
            cell(page, 0).locator(".cm-content").click(timeout=5_000)
            for _ in range(4):
                page.keyboard.press("Shift+Enter")
            prompt.filter(has_text=re.compile(r"[*\d]")).wait_for(timeout=3_000)
            prompt.filter(has_text=re.compile(r"\d")).wait_for(timeout=30_000)
            text.wait_for(timeout=4_000)
            break
    text.wait_for()
    page.locator("wtl-explorer[data-alive]").first.wait_for()
    return page


def cell(page: Page, n: int) -> Locator:
    return page.locator(".jp-Notebook .jp-CodeCell").nth(n)


def test_the_numbers_are_torchs(page):
    numbers = cell(page, 0).locator("td[data-v]:not(.wtl-sum)")
    assert numbers.all_text_contents() == weights(1.0)


def test_arrow_keys_on_a_slider_move_the_slider(page):
    explorer = cell(page, 0)
    slider = explorer.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    for key, scale in [("ArrowRight", 0.25), ("ArrowUp", 0.5), ("ArrowDown", 0.25), ("End", 2.0)]:
        page.keyboard.press(key)
        expect(explorer.locator("output")).to_have_text(f"{scale:.2f}")
        assert explorer.locator("td[data-v]:not(.wtl-sum)").all_text_contents() == weights(scale)
        assert slider.evaluate("s => s === document.activeElement")


def test_arrow_keys_in_a_map_move_from_cell_to_cell(page):
    explorer = cell(page, 0)
    explorer.get_by_role("slider").focus()
    page.keyboard.press("Tab")
    words = explorer.locator(".wtl-read")
    for key, place in [
        ("ArrowDown", "query 爱, key 我"), ("ArrowRight", "query 爱, key 爱"),
        ("ArrowDown", "query 中, key 爱"), ("End", "query 中, key 国"),
        ("ArrowUp", "query 爱, key 国"), ("Home", "query 爱, key 我"),
        ("ArrowUp", "query 我, key 我"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        expect(words).to_contain_text(place)


def test_arrow_keys_on_a_curve_read_it(page):
    explorer = cell(page, 1)
    explorer.locator("svg.wtl-curves").focus()
    for key, place in [("Home", "x 0: "), ("ArrowRight", "x 0.25: "), ("ArrowUp", "x 0.5: "),
                       ("ArrowDown", "x 0.25: "), ("ArrowLeft", "x 0: ")]:  # fmt: skip
        page.keyboard.press(key)
        expect(explorer.locator(".wtl-read")).to_contain_text(place)


def test_letters_in_a_map_are_no_commands(page):
    """In command mode "d d" deletes a cell, "b" adds one."""
    count = page.locator(".jp-Notebook .jp-Cell").count()
    cell(page, 0).locator("td[data-v]").first.focus()
    for key in ("b", "d", "d", "x"):
        page.keyboard.press(key)
    assert page.locator(".jp-Notebook .jp-Cell").count() == count


def test_the_readers_own_text_reaches_the_kernel(page):
    panel = cell(page, 2)
    box = panel.locator(".widget-text input")
    box.fill("爱 <b>x</b> z")
    box.press("Enter")
    heads = panel.locator("thead th:not(.wtl-sum)")
    expect(heads).to_have_text(["爱", "<b>x</b>", "z"], timeout=20_000)
    assert panel.locator("th b").count() == 0
    box.fill("a b c d e")
    box.press("Enter")
    expect(panel.locator(".wtl-error")).to_have_text("at most <4> words, got 5", timeout=20_000)
    box.fill("law its")
    box.press("Enter")
    expect(heads).to_have_text(["law", "its"], timeout=20_000)


def test_a_live_slider_gives_torchs_numbers(page):
    panel = cell(page, 2)
    readout = panel.locator(".widget-readout")  # type a number beside the slider
    readout.fill("3.5")
    readout.press("Enter")
    row = torch.tensor([3.5, 0.0]).softmax(0).tolist()
    numbers = [f"{row[i]:.2f}" for i in (0, 1, 1, 0)]
    expect(panel.locator("td[data-v]:not(.wtl-sum)")).to_have_text(numbers, timeout=20_000)


def test_a_live_map_can_be_read(page):
    panel = cell(page, 2)
    panel.locator("td[data-v]").first.hover()
    expect(panel.locator(".wtl-read")).to_have_text(re.compile("^query law, key law: 0"))


def test_a_live_view_of_a_kind_of_its_own_is_alive(page):
    panel = cell(page, 3)
    panel.locator(".wtl-block td[data-v]").nth(1).click()
    expect(panel.locator(".wtl-read")).to_have_text(
        re.compile("^sentence 1, token 1, feature 2: 3")
    )


def test_a_map_looks_like_on_the_site(page):
    """Jupyter dresses tables, too: stripes, a line under the head, no space between cells."""
    style = (
        cell(page, 0)
        .locator(".wtl-map")
        .evaluate(
            """map => {
          const css = e => getComputedStyle(e), [head, row] = [map.tHead, map.tBodies[0].rows[1]];
          return [css(map).borderCollapse, css(map).borderSpacing, css(head).borderBottomWidth,
                  css(head.rows[0].cells[1]).textAlign, css(row).backgroundColor];
        }"""
        )
    )
    assert style == ["separate", "3px", "0px", "center", "rgba(0, 0, 0, 0)"]
    margins = page.locator("wtl-explorer :is(.wtl-title, .wtl-key, .wtl-read)").evaluate_all(
        "lines => lines.map(line => getComputedStyle(line).marginBottom)"
    )
    assert set(margins) == {"0px"}


def test_an_explorer_keeps_to_the_notebooks_width(page):
    for explorer in page.locator("wtl-explorer").all():
        assert explorer.evaluate("e => e.scrollWidth <= e.clientWidth + 1")

"""Ribbons in a real browser: drawn from the table's numbers, by pointer, touch and keyboard."""

import re

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect

from wheretolook.explore import Bars, Heatmap, Ribbons, explore

SIGNS = list("我爱中国")
WORDS = ["I", "love", "China", "<end>"]
GOLD = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]).bool()
SCORES = torch.randn(4, 4, generator=torch.Generator().manual_seed(0)) + 2 * GOLD
LONG = torch.randn(9, 12, generator=torch.Generator().manual_seed(1))
HOSTILE = ["</script><script>hacked=1</script>", "<img src=x onerror=hacked=1>", "שלום", "'\"`&lt;"]


def weights(sharpness: float) -> torch.Tensor:
    return (SCORES * sharpness).softmax(-1)


def alignment(sharpness=1.0):
    """Source and target"""
    return Ribbons(weights(sharpness), WORDS, SIGNS, marks=GOLD, column_name="character")


def decoding(step=2):
    """Word by word"""
    return Ribbons(weights(1.0), WORDS, SIGNS, title=f"step {step}", step=step)


def sentences(count=2):
    """Sentences of several lengths, beside bars"""
    long = LONG[:count, :count].softmax(-1)
    names = [f"word{i}" for i in range(count)]
    return [Ribbons(long, names, names, resizes=True), Bars([count], ["words"])]


MADE = {
    "alignment": (alignment, {"sharpness": (0.0, 3.0, 0.5)}),
    "decoding": (decoding, {"step": (1, 4)}),
    "sentences": (sentences, {"count": (1, 9)}),
}


@pytest.fixture
def show(page_factory):
    """Open one of them."""

    def go(name: str = "alignment", before: str = "", **options) -> Page:
        draw, controls = MADE[name]
        return page_factory(before + explore(draw, **controls).html(), **options)

    return go


def words(page: Page) -> Locator:
    return page.locator(".wtl-ribbons button")


def switch(page: Page) -> Locator:
    return page.get_by_role("button", name="ribbons", exact=True)


BANDS = """area => [
  area.querySelectorAll('span').length, area.querySelectorAll('button').length,
  [...area.querySelectorAll('path:not(.wtl-gold)')].map(p => [+p.dataset.i, p.getAttribute('d')]),
]"""


def bands(page: Page) -> dict[tuple[int, int], float]:
    """Each band's width at both ends, as a share of the widest that a word can have."""
    page.wait_for_selector("wtl-explorer[data-alive]")
    sources, targets, paths = page.locator(".wtl-ribbons").evaluate(BANDS)
    unit, found = 80 / max(sources, targets), {}
    for i, drawn in paths:
        numbers = [float(x) for x in re.findall(r"-?\d[\d.e-]*", drawn)]
        top, far = numbers[-2] - numbers[0], numbers[8] - numbers[6]
        assert top == pytest.approx(far)
        place = round((numbers[0] + top / 2) / 100 * sources - 0.5, 3)
        assert place == int(place)
        found[i, int(place)] = far / unit
    return found


def expected(table: torch.Tensor) -> dict[tuple[int, int], float]:
    """Torch's weights, at the precision that the table prints; the small ones have no band."""
    printed = {(i, j): float(f"{w:.2f}") for (i, j), w in _cells(table)}
    return {place: w for place, w in printed.items() if w >= 0.02}


def _cells(table: torch.Tensor):
    return (((i, j), w) for i, row in enumerate(table.tolist()) for j, w in enumerate(row))


def read(table: torch.Tensor, i: int, gold: bool = True) -> str:
    """What the page says about one word."""
    looks = sorted(((float(f"{w:.2f}"), -j) for j, w in enumerate(table[i].tolist())), reverse=True)
    said = ", ".join(f"{SIGNS[-j]} {w:.2f}" for w, j in looks if w >= 0.02)
    own = ", ".join(s for s, g in zip(SIGNS, GOLD[i], strict=True) if g) or "–"
    return f"word {WORDS[i]}: {said}" + (f". gold alignment: {own}" if gold else "")


# --- numbers ----------------------------------------------------------------------------------


def test_bands_are_as_wide_as_torchs_weights_in_every_frame(show):
    page = show()
    page.get_by_role("slider").press("Home")
    for step in range(7):
        assert bands(page) == pytest.approx(expected(weights(step / 2)))
        page.get_by_role("slider").press("ArrowRight")
    assert page.problems == []


def test_a_bands_colour_is_that_of_the_heatmaps_cell(show):
    page = show()
    path = page.locator(".wtl-ribbons path").first
    cell = page.locator(".wtl-map td[data-v]").first
    fill = path.evaluate("p => getComputedStyle(p).fill")
    numbers = [
        [float(x) for x in re.findall(r"[\d.]+", colour)]
        for colour in (fill, cell.evaluate("c => getComputedStyle(c).backgroundColor"))
    ]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.002)


def test_the_gold_alignment_joins_each_word_with_its_own_signs(show):
    page = show()
    lines = page.locator(".wtl-ribbons path.wtl-gold")
    found = lines.evaluate_all("l => l.map(p => [+p.dataset.i, p.getAttribute('d')])")
    assert [i for i, _ in found] == [i for i, _ in GOLD.nonzero().tolist()]
    ends = [(float(d.split()[0][1:]), float(d.split()[-2])) for _, d in found]
    assert ends == [((j + 0.5) * 25, (i + 0.5) * 25) for i, j in GOLD.nonzero().tolist()]
    dashes = lines.first.evaluate("p => getComputedStyle(p).strokeDasharray")
    assert dashes != "none"  # told apart without colour


# --- ribbons or table -------------------------------------------------------------------------


def test_the_switch_changes_the_picture_and_keeps_the_numbers(show):
    page = show()
    ribbons, table = page.locator(".wtl-ribbons"), page.locator(".wtl-map thead")
    expect(switch(page)).to_have_attribute("aria-pressed", "true")
    expect(ribbons).to_be_visible()
    expect(table).to_be_hidden()
    page.get_by_role("slider").press("End")
    switch(page).press("Enter")
    expect(switch(page)).to_have_attribute("aria-pressed", "false")
    expect(ribbons).to_be_hidden()
    cells = page.locator(".wtl-map td[data-v]:not(.wtl-sum)").all_inner_texts()
    assert cells == [f"{w:.2f}" for w in weights(3.0).flatten().tolist()]
    page.get_by_role("slider").press("Home")
    expect(table).to_be_visible()  # a new frame is no reason to change the picture
    switch(page).press("Space")
    assert bands(page) == pytest.approx(expected(weights(0.0)))


def test_the_table_is_read_as_any_heatmap(show):
    page = show()
    switch(page).click()
    page.locator(".wtl-map td[data-v]").first.click()
    page.keyboard.press("ArrowDown")
    text = f"word love, character 我: {weights(1.0)[1, 0]:.2f}"
    expect(page.locator(".wtl-read")).to_have_text(text)


def test_the_hidden_picture_is_not_in_the_tab_order(show):
    page = show()
    stops = []
    for _ in range(2):
        page.get_by_role("slider").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.tagName"))
        switch(page).press("Enter")
    assert stops == ["BUTTON", "TD"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", MADE)
def test_nothing_jumps(show, name, width):
    """Neither when the page comes alive, nor on a switch, a step or a choice."""
    size = "v => [v.offsetWidth, v.offsetHeight]"
    still = show(name, script=False, width=width).locator(".wtl-view").first.evaluate(size)
    page = show(name, width=width)
    view = page.locator(".wtl-view").first
    assert view.evaluate(size) == still
    words(page).first.click()
    assert view.evaluate(size) == still
    switch(page).click()
    assert view.evaluate(size) == still
    if name != "sentences":
        page.get_by_role("slider").press("End")
        assert view.evaluate(size) == still


def test_the_choice_of_picture_outlives_a_new_sentence(show):
    page = show("sentences")
    switch(page).click()
    page.get_by_role("slider").press("End")
    expect(page.locator(".wtl-ribbons")).to_be_hidden()
    expect(switch(page)).to_have_attribute("aria-pressed", "false")
    switch(page).click()
    assert bands(page) == pytest.approx(expected(LONG[:9, :9].softmax(-1)))
    page.get_by_role("slider").press("Home")
    expect(page.locator(".wtl-ribbons")).to_be_visible()
    assert bands(page) == {(0, 0): pytest.approx(1)}
    assert page.problems == []


# --- one word ---------------------------------------------------------------------------------


def alone(page: Page) -> list[int]:
    """The words whose ribbons stand out."""
    paths = page.locator(".wtl-ribbons path")
    strong = "p => p.filter(x => getComputedStyle(x).opacity === '1').map(x => +x.dataset.i)"
    return sorted(set(paths.evaluate_all(strong)))


def test_at_first_all_words_are_alike_and_the_page_says_what_to_do(show):
    page = show()
    assert alone(page) == [0, 1, 2, 3]
    expect(page.locator(".wtl-read")).to_have_text("Choose a word to read its weights.")


def test_hovering_a_word_shows_its_ribbons_alone_and_reads_them(show):
    page = show()
    words(page).nth(2).hover()
    assert alone(page) == [2]
    expect(page.locator(".wtl-read")).to_have_text(read(weights(1.0), 2))
    page.locator(".wtl-ribbons span").first.hover()
    assert alone(page) == [0, 1, 2, 3]


def test_a_click_keeps_a_word_through_other_frames_and_a_second_one_lets_it_go(show):
    page = show()
    words(page).nth(1).click()
    page.locator(".wtl-ribbons span").first.hover()
    page.get_by_role("slider").press("End")
    assert alone(page) == [1]
    expect(page.locator(".wtl-read")).to_have_text(read(weights(3.0), 1))
    expect(words(page).nth(1)).to_have_attribute("aria-pressed", "true")
    words(page).nth(1).click()
    assert alone(page) == [0, 1, 2, 3]


def test_a_tap_chooses_a_word(browser: Browser, tmp_path):
    file = tmp_path / "touch.html"
    file.write_text(
        f"<!doctype html><meta charset=utf-8>{explore(alignment, **MADE['alignment'][1]).html()}",
        "utf-8",
    )
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(file.as_uri())
    words(page).nth(2).tap()
    assert alone(page) == [2]
    expect(page.locator(".wtl-read")).to_have_text(read(weights(1.0), 2))
    assert min(w.bounding_box()["height"] for w in words(page).all()) >= 24
    context.close()


def test_arrow_keys_go_from_word_to_word(show):
    page = show()
    switch(page).focus()
    page.keyboard.press("Tab")  # one stop for all words
    for key, i in [("ArrowRight", 1), ("End", 3), ("ArrowDown", 3), ("ArrowUp", 2), ("Home", 0)]:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == WORDS[i]
        assert alone(page) == [i]
        expect(page.locator(".wtl-read")).to_have_text(read(weights(1.0), i))
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.wtl-view')") is None


def test_jupyter_leaves_the_arrow_keys_alone(show):
    keep = [w.get_attribute("data-lm-suppress-shortcuts") for w in words(show()).all()]
    assert keep == ["true"] * 4


def test_a_screen_reader_hears_names_and_states(show):
    page = show()
    group = page.get_by_role("group", name="character → word")
    expect(group.get_by_role("button")).to_have_text(WORDS)
    expect(page.locator(".wtl-read")).to_have_attribute("aria-live", "polite")
    expect(page.locator(".wtl-ribbons svg")).to_have_attribute("aria-hidden", "true")


# --- step by step -----------------------------------------------------------------------------


def test_later_words_are_not_shown_and_the_last_one_stands_out(show):
    page = show("decoding")
    page.get_by_role("slider").press("Home")
    for step in range(1, 5):
        assert bands(page) == pytest.approx(expected(weights(1.0)[:step]))
        assert [w.is_visible() for w in words(page).all()] == [i < step for i in range(4)]
        assert alone(page) == [step - 1]
        expect(page.locator(".wtl-read")).to_have_text(read(weights(1.0), step - 1, gold=False))
        expect(page.locator(".wtl-title")).to_have_text(f"step {step}")
        page.get_by_role("slider").press("ArrowRight")


def test_later_rows_of_the_table_are_out_of_reach(show):
    page = show("decoding")
    switch(page).click()
    rows = page.locator(".wtl-map tbody th")
    assert [r.is_visible() for r in rows.all()] == [True, True, False, False]
    page.locator(".wtl-map td[data-v]").first.click()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".wtl-read")).to_contain_text("word love, source 我")
    page.get_by_role("slider").press("Home")  # the row that was read is gone
    expect(page.locator(".wtl-read")).to_contain_text("word I, source 我")
    assert page.problems == []


# --- without script, on paper, with any token -------------------------------------------------


@pytest.mark.parametrize("name", MADE)
def test_without_script_the_table_stands(show, name):
    page = show(name, script=False)
    expect(page.locator(".wtl-map thead")).to_be_visible()
    expect(page.locator(".wtl-ribbons")).to_be_hidden()
    expect(page.locator(".wtl-switch button")).to_be_hidden()


def test_without_script_later_words_are_not_shown(show):
    rows = show("decoding", script=False).locator(".wtl-map tbody th")
    assert [r.is_visible() for r in rows.all()] == [True, True, False, False]


def test_paper_shows_the_table(show):
    page = show()
    page.emulate_media(media="print")
    expect(page.locator(".wtl-map thead")).to_be_visible()
    expect(page.locator(".wtl-ribbons")).to_be_hidden()
    expect(page.locator(".wtl-switch button")).to_be_hidden()


def test_any_token_shows_as_text_and_nothing_runs(page_factory):
    n = len(HOSTILE)
    view = Ribbons(torch.full((n, n), 1 / n), HOSTILE, HOSTILE, marks=torch.eye(n) > 0)
    page = page_factory(explore(lambda word: view, word=HOSTILE).html(), width=390)
    assert words(page).all_text_contents() == HOSTILE
    assert page.locator(".wtl-ribbons span").all_text_contents() == HOSTILE
    for i, word in enumerate(HOSTILE):
        words(page).nth(i).click()
        said = page.locator(".wtl-read").text_content()
        assert said.startswith(f"word {word}: {HOSTILE[0]} 0.25, ")
        assert said.endswith(f"gold alignment: {word}")
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("wtl-explorer img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.problems == []


# --- looks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("name", MADE)
def test_words_are_whole_and_nothing_scrolls_sideways(show, name, width):
    page = show(name, width=width)
    page.get_by_role("slider").press("End")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = "w => w.filter(x => x.scrollWidth > x.clientWidth).map(x => x.textContent)"
    assert page.locator(".wtl-ribbons p > *").evaluate_all(cut) == []


@pytest.mark.parametrize("name, across", [("alignment", True), ("sentences", False)])
def test_short_sentences_are_rows_and_long_ones_columns(show, name, across):
    page = show(name)
    page.get_by_role("slider").press("End")
    first, last = (page.locator(".wtl-ribbons span").nth(i).bounding_box() for i in (0, -1))
    assert (abs(first["y"] - last["y"]) < 1) is across
    assert (abs(first["x"] - last["x"]) < 1) is not across


@pytest.mark.parametrize("name", ["alignment", "sentences"])
def test_bands_end_at_their_words(show, name):
    """The middle of a word is where its line of gold, or its share of all ends, stands."""
    page = show(name)
    page.get_by_role("slider").press("End")
    rows = name == "alignment"
    for i, word in enumerate(words(page).all()):
        box = word.bounding_box()
        ends = [p.bounding_box() for p in page.locator(f".wtl-ribbons path[data-i='{i}']").all()]
        middle = box["x"] + box["width"] / 2 if rows else box["y"] + box["height"] / 2
        low = min(e["x"] if rows else e["y"] for e in ends)
        high = max(e["x"] + e["width"] if rows else e["y"] + e["height"] for e in ends)
        assert low - 1 <= middle <= high + 1


@pytest.mark.parametrize("dark", [False, True])
def test_the_switch_and_a_chosen_word_can_be_read(show, dark):
    scheme = "dark" if dark else "light"
    page = show(before=f"<style>html {{ color-scheme: {scheme} }}</style>", dark=dark)
    words(page).nth(1).click()
    ratio = """e => {
      const pen = document.createElement('canvas').getContext('2d');
      const light = colour => {
        pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map(v => v / 255)
          .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
      };
      const ground = e.closest('.wtl-switch') ? e : e.closest('wtl-explorer');
      const [low, high] = [light(getComputedStyle(e).color),
        light(getComputedStyle(ground).backgroundColor)].sort((a, b) => a - b);
      return (high + .05) / (low + .05);
    }"""
    assert switch(page).evaluate(ratio) >= 4.5
    assert words(page).nth(0).evaluate(ratio) >= 4.5
    assert words(page).nth(1).evaluate(ratio) >= 4.5


def test_a_heatmap_and_ribbons_may_take_turns(page_factory):
    def draw(kind):
        """Either"""
        made = Heatmap if kind == "map" else Ribbons
        return made(weights(1.0), WORDS, SIGNS, resizes=True)

    page = page_factory(explore(draw, kind=["map", "ribbons"]).html())
    for _ in range(2):
        page.get_by_role("combobox").select_option(index=1)
        assert bands(page) == pytest.approx(expected(weights(1.0)))
        page.get_by_role("combobox").select_option(index=0)
        expect(page.locator(".wtl-ribbons")).to_have_count(0)
        page.locator(".wtl-map td[data-v]").first.click()
    assert page.problems == []

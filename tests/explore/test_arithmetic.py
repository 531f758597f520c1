"""Arithmetic on demand and the linked strip, in a real browser, held against torch."""

import re
from itertools import product
from math import inf

import pytest
import torch
from contrast import contrast
from playwright.sync_api import Browser, Locator, Page, expect

from wheretolook.attention import Additive, Attention, Bilinear, Cosine, Dot, ScaledDot, attend
from wheretolook.explore import Heatmap, explore, show, stages
from wheretolook.masks import causal_mask

TOKENS = list("我爱中国")
HOSTILE = ["<img src=x onerror=hacked=1>", "</script><script>hacked=1</script>", "{k}", "\"'&amp;"]
NUMBER = r"−?\d+(?:\.\d+)?"


def vectors(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def made(scorer=None, mask=None, *, seed: int = 0, width: int = 3) -> Attention:
    query, key, value = (vectors(4, width, seed=3 * seed + n) for n in range(3))
    with torch.no_grad():
        return attend(query, key, value, attn_mask=mask, scorer=scorer)


def one_map(attention: Attention, names=TOKENS) -> str:
    return show(Heatmap(attention.weights, names, names, attention=attention), label="a map").html()


def cell(view: Locator, i: int, j: int) -> Locator:
    return view.locator(f".wtl-map tbody tr:nth-child({i + 1}) td:nth-of-type({j + 1})")


# --- every number is torch's --------------------------------------------------------------------


def near(text: str, value: float) -> bool:
    """A printed number is the right one, to one unit of its last digit."""
    places = len(text.partition(".")[2])
    return abs(float(text.replace("−", "-")) - float(value)) <= 1.001 * 10**-places


def check(panel: dict, attention: Attention, i: int, j: int) -> None:
    """Hold every number in the panel against torch."""
    weight, may = attention.weights[i, j], not attention.masked[i, j].isneginf()
    told: list[tuple[str, float]] = []  # printed, expected
    lines = iter(panel["lines"])
    told.append((re.search(rf": ({NUMBER})$", next(lines))[1], weight))

    compare = next(lines)
    score, scale = attention.scores[i, j], float(attention.scorer.scale(attention.query))
    groups = panel["terms"]
    if panel["open"]:
        terms = attention.scorer.terms(attention.query[i], attention.key[j])
        group = groups.pop(0)
        assert len(group) == len(terms.left)
        for shown, a, b in zip(group, terms.left, terms.right, strict=True):
            told += zip(shown, (a, b, a * b), strict=True)
        compare = next(lines)
    found = re.findall(NUMBER, compare.partition(":")[2] or compare)
    factors = [terms.raw, scale, score] if scale != 1 else [score]
    told += zip(found, factors, strict=True)

    normalise = next(lines)
    if may:
        top = attention.masked[i].max()
        exps = (attention.masked[i] - top).exp()
        shown = re.findall(NUMBER, normalise)
        told += zip(shown, (score, top, exps[j], top), strict=True)
        shown = re.findall(NUMBER, next(lines))
        addends = exps.tolist() if len(exps) <= 8 else []
        told += zip(shown, (*addends, exps[j], exps.sum(), weight), strict=True)
        assert next(lines).startswith("sum value ")
        group = groups.pop(0)
        assert len(group) == attention.value.shape[-1]
        for shown, v, out in zip(group, attention.value[j], attention.output[i], strict=True):
            told += zip(shown, (v, weight, weight * v, out), strict=True)
    else:
        blind = attention.masked[i].isneginf().all()
        assert normalise.startswith("mask Every key" if blind else "mask This key is hidden")
        assert weight == 0 and "adds nothing" in next(lines)
    assert groups == [] and list(lines) == []
    wrong = [(text, float(value)) for text, value in told if not near(text, value)]
    assert wrong == []


READ = r"""panel => ({
  lines: [...panel.querySelectorAll('p')].map(p => p.textContent.trim()),
  open: panel.textContent.includes('term by term'),
  terms: [...panel.querySelectorAll('.wtl-terms')].map(box => [...box.children].map(term =>
    [...term.children].map(part => part.textContent.replace(/^(×|=|of) /, '')))),
})"""

# every cell of every map, clicked in the page: what is then open
CELL = "td[data-v]:not(.wtl-sum)"
ALL = f"""views => views.map(view => [...view.querySelectorAll('{CELL}')].map(cell => {{
  cell.click();
  return ({READ})(view.querySelector('.wtl-why'));
}}))"""

SCORERS = {
    "dot": lambda: Dot(),
    "scaled": lambda: ScaledDot(),
    "another scale": lambda: ScaledDot(0.3),
    "cosine": lambda: Cosine(0.2),
    "bilinear": lambda: Bilinear(3, 3),
    "additive": lambda: Additive(3, 3, hidden=12),
    "function": lambda: lambda query, key: -torch.cdist(query, key),
}
MASKS = {
    "no mask": None,
    "causal": causal_mask(4),
    "a row that sees nothing": torch.ones(4, 4, dtype=torch.bool).tril(-1),
}


@pytest.mark.parametrize("scorer", SCORERS)
def test_every_number_in_every_cells_arithmetic_is_torchs(page_factory, scorer):
    torch.manual_seed(0)
    attentions = [
        made(SCORERS[scorer](), mask, seed=seed) for mask in MASKS.values() for seed in range(3)
    ]
    page = page_factory("".join(map(one_map, attentions)))
    panels = page.locator(".wtl-view").evaluate_all(ALL)
    for attention, cells in zip(attentions, panels, strict=True):
        for n, panel in enumerate(cells):
            check(panel, attention, *divmod(n, 4))
    assert page.problems == []


def test_long_and_large_vectors_keep_their_digits(page_factory):
    query, key, value = (20 * vectors(10, 40, seed=n) for n in range(3))
    attention = attend(query, key, value, scorer=ScaledDot(0.002))
    page = page_factory(one_map(attention, list("abcdefghij")))
    [panels] = page.locator(".wtl-view").evaluate_all(ALL)
    for n, panel in enumerate(panels):
        check(panel, attention, *divmod(n, 10))


def test_the_terms_say_which_of_them_is_largest(page_factory):
    attention = made(width=12)
    page = page_factory(one_map(attention))
    view = page.locator(".wtl-view")
    cell(view, 1, 2).click()
    shares = view.locator(".wtl-terms").first.locator("b").evaluate_all(
        "all => all.map(b => +b.style.getPropertyValue('--w'))"
    )  # fmt: skip
    terms = attention.query[1] * attention.key[2]
    assert shares == pytest.approx((terms / terms.abs().max()).tolist(), abs=0.02)


# --- opening, moving, leaving -------------------------------------------------------------------


def by_temperature(temperature, mask):
    """Weights by temperature"""
    attention = made(Cosine(temperature), MASKS[mask])
    return Heatmap(attention.weights, TOKENS, TOKENS, attention=attention, resizes=True)


@pytest.fixture
def moving(page_factory) -> Page:
    return page_factory(
        explore(by_temperature, temperature=[0.1, 0.5, 1.0], mask=list(MASKS)[:2]).html()
    )


HEAD = ".wtl-why .wtl-from"


def test_click_opens_and_hovering_does_not(moving):
    view = moving.locator(".wtl-view")
    cell(view, 1, 2).hover()
    expect(moving.locator(".wtl-why")).to_have_text(re.compile("^Choose a cell"))
    cell(view, 1, 2).click()
    expect(moving.locator(HEAD)).to_have_text(re.compile("^爱 → 中: "))
    cell(view, 0, 0).hover()
    expect(moving.locator(HEAD)).to_have_text(re.compile("^爱 → 中: "))


def test_enter_opens_and_arrow_keys_go_on(moving):
    first = cell(moving.locator(".wtl-view"), 0, 0)
    first.focus()
    expect(moving.locator(HEAD)).to_have_count(0)
    first.press("Enter")
    expect(moving.locator(HEAD)).to_have_text(re.compile("^我 → 我: "))
    moving.keyboard.press("ArrowRight")
    moving.keyboard.press("ArrowDown")
    expect(moving.locator(HEAD)).to_have_text(re.compile("^爱 → 爱: "))
    expect(moving.locator(".wtl-read")).to_contain_text("Worked out below")


@pytest.mark.parametrize("how", ["button", "key"])
def test_it_closes_again_and_the_keyboard_is_back_at_its_cell(moving, how):
    view = moving.locator(".wtl-view")
    cell(view, 1, 2).click()
    cell(view, 1, 2).focus()
    if how == "button":
        moving.get_by_role("button", name="Close").press("Enter")
    else:
        moving.keyboard.press("Escape")
    expect(moving.locator(".wtl-why")).to_have_text(re.compile("^Choose a cell"))
    expect(cell(view, 1, 2)).to_be_focused()
    expect(moving.locator(".wtl-read")).not_to_contain_text("Worked out")
    moving.locator("select").first.select_option(index=0)
    expect(moving.locator(HEAD)).to_have_count(0)  # a control opens nothing
    cell(view, 1, 2).press("Enter")
    expect(moving.locator(HEAD)).to_have_text(re.compile("^爱 → 中: "))


def test_tap_opens(browser: Browser, tmp_path):
    file = tmp_path / "touch.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{one_map(made())}", "utf-8")
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(file.as_uri())
    cell(page.locator(".wtl-view"), 3, 1).tap()
    expect(page.locator(HEAD)).to_have_text(re.compile("^国 → 爱: "))
    context.close()


def test_what_is_open_follows_the_controls(moving):
    view = moving.locator(".wtl-view")
    cell(view, 1, 0).click()
    for at, temperature in enumerate((0.1, 0.5, 1.0)):
        moving.locator("select").first.select_option(index=at)
        for to, mask in enumerate(list(MASKS)[:2]):
            moving.locator("select").last.select_option(index=to)
            attention = made(Cosine(temperature), MASKS[mask])
            check(view.locator(".wtl-why").evaluate(READ), attention, 1, 0)


def test_what_stands_below_stays_where_it_is_when_another_cell_is_opened(page_factory):
    page = page_factory(one_map(made(mask=causal_mask(4))) + "<p id=below>below</p>")
    view, tops = page.locator(".wtl-view"), set()
    cell(view, 3, 0).click()
    for j in (1, 2, 3):
        cell(view, 2, j).click()
        tops.add(page.locator("#below").bounding_box()["y"])
    assert len(tops) == 1


def test_opening_moves_nothing_beside_the_map(page_factory):
    attention = made()
    views = [
        Heatmap(attention.weights, TOKENS, TOKENS, attention=attention),
        Heatmap(attention.weights, TOKENS, TOKENS),
    ]
    page = page_factory(show(*views, label="two maps").html())
    before = [v.bounding_box() for v in page.locator(".wtl-map").all()]
    cell(page.locator(".wtl-view").first, 1, 1).click()
    page.mouse.move(0, 0)
    assert [v.bounding_box() for v in page.locator(".wtl-map").all()] == before


def test_a_live_panels_result_opens_too(page_factory):
    """It has markup and no frames."""
    attention = made()
    view = Heatmap(attention.weights, TOKENS, TOKENS, attention=attention)
    explorer = show(view, label="live")
    html = re.sub(r'<script type="application/json">.*?</script>', "", explorer.html())
    page = page_factory(html)
    cell(page.locator(".wtl-view"), 2, 1).click()
    check(page.locator(".wtl-why").evaluate(READ), attention, 2, 1)


def test_without_script_the_map_stands_and_promises_nothing(page_factory):
    page = page_factory(one_map(made()), script=False)
    expect(page.get_by_role("table")).to_be_visible()
    expect(page.locator(".wtl-how")).to_be_hidden()


def test_any_token_is_text_in_the_arithmetic(page_factory):
    attention = made(mask=torch.ones(4, 4, dtype=torch.bool).tril(-1))
    page = page_factory(one_map(attention, HOSTILE))
    found = page.locator(".wtl-view td[data-v]:not(.wtl-sum)").evaluate_all(
        "cells => cells.map(cell => { cell.click(); return ['.wtl-from', '.wtl-terms'].map(name =>"
        " document.querySelector(name)); }).map(([p, box]) =>"
        " [p.textContent, box.getAttribute('aria-label')])"
    )
    for (words, label), (name, other) in zip(found, product(HOSTILE, HOSTILE), strict=True):
        assert words.startswith(f"{name} → {other}: ")
        assert label == f"query {name} × key {other}"
    assert page.locator("wtl-explorer img").count() == 0
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.problems == []


def test_the_arithmetic_has_a_name_for_a_screen_reader_and_its_keys_for_itself(page_factory):
    page = page_factory(one_map(made(width=40)))
    cell(page.locator(".wtl-view"), 0, 0).click()
    assert page.get_by_role("group", name="arithmetic").count() == 1
    box = page.get_by_role("group", name="query 我 × key 我")
    assert box.get_attribute("tabindex") == "0"  # it scrolls: arrow keys must reach it
    assert box.get_attribute("data-lm-suppress-shortcuts") == "true"
    assert box.evaluate("b => b.scrollHeight > b.clientHeight")
    assert page.locator(".wtl-read").get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("long", [3, 40])
def test_the_page_does_not_scroll_sideways(page_factory, width, long):
    attention = made(width=long)
    strip = show(*stages(attention, TOKENS, TOKENS), label="strip").html()
    page = page_factory(one_map(attention) + strip, width=width)
    cell(page.locator(".wtl-view").first, 0, 0).click()
    cell(page.locator(".wtl-view").nth(4), 1, 1).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


COLOURS = """parts => {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = colour => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const ground = part => {
    const colour = getComputedStyle(part).backgroundColor;
    return colour === 'rgba(0, 0, 0, 0)' ? ground(part.parentNode) : colour;
  };
  return parts.map(p => [p.textContent, rgb(getComputedStyle(p).color), rgb(ground(p))]);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_and_number_stands_out(page_factory, scheme):
    style = f"<style>html {{ color-scheme: {scheme} }}</style>"
    page = page_factory(style + one_map(made(width=40)), dark=scheme == "dark")
    cell(page.locator(".wtl-view"), 0, 0).click()
    parts = page.locator(".wtl-why :is(p, b, span)").evaluate_all(COLOURS)
    assert len(parts) > 100
    assert [text for text, ink, ground in parts if contrast(ink, ground) < 4.5] == []


# --- the strip ----------------------------------------------------------------------------------


def strip(mask):
    """Every stage"""
    may = causal_mask(4) if mask == "causal" else torch.ones(4, 4, dtype=torch.bool)
    return stages(made(mask=may), TOKENS, TOKENS, chosen=2)


STAGES = ["query", "key", "value", "scores", "scaled", "masked", "weights", "output"]


@pytest.fixture
def staged(page_factory) -> Page:
    return page_factory(explore(strip, mask=["all", "causal"]).html())


def lit(page: Page) -> list[list[int]]:
    """Which rows are lit in each stage."""
    return page.locator(".wtl-map").evaluate_all(
        "maps => maps.map(m => [...m.tBodies[0].rows].flatMap((r, i) =>"
        " r.classList.contains('wtl-lit') ? [i] : []))"
    )


def expected(query: int | None, key: int | None) -> list[list[int]]:
    rows = [[key] if name in ("key", "value") else [query] for name in STAGES]
    return [[i for i in row if i is not None] for row in rows]


def test_the_first_query_is_lit_with_and_without_script(page_factory, staged):
    assert lit(staged) == expected(2, None)
    page = page_factory(explore(strip, mask=["all"]).html(), script=False)
    classes = [row.get_attribute("class") for row in page.locator("tbody tr").all()]
    assert classes == [("wtl-lit" if i == 2 and n not in (1, 2) else None)
                       for n in range(8) for i in range(4)]  # fmt: skip


@pytest.mark.parametrize("stage", [0, 3, 4, 5, 6, 7])
def test_a_query_chosen_in_any_stage_is_lit_in_all_that_have_it(staged, stage):
    view = staged.locator(".wtl-view").nth(stage)
    cell(view, 1, 0).click()
    both = STAGES[stage] in ("scores", "scaled", "masked", "weights")  # its columns are keys
    assert lit(staged) == expected(1, 0 if both else None)


@pytest.mark.parametrize("stage", [3, 4, 5, 6])
def test_a_chosen_cell_lights_its_key_and_opens_its_arithmetic(staged, stage):
    cell(staged.locator(".wtl-view").nth(stage), 1, 3).click()
    assert lit(staged) == expected(1, 3)
    heads = staged.locator("th[scope=col].wtl-lit").all_inner_texts()
    assert heads == ["国"] * 4
    check(staged.locator(".wtl-why").evaluate(READ), made(), 1, 3)


def test_a_key_chosen_alone_lights_keys_and_values_and_keeps_the_query(staged):
    cell(staged.locator(".wtl-view").nth(3), 1, 3).click()
    cell(staged.locator(".wtl-view").nth(1), 0, 0).click()
    assert lit(staged) == expected(1, 0)
    expect(staged.locator(HEAD)).to_have_text(re.compile("^爱 → 我: "))


def test_the_keyboard_walks_all_stages_at_once(staged):
    first = cell(staged.locator(".wtl-view").nth(6), 0, 0)
    first.focus()
    for key, i, j in [("Enter", 0, 0), ("ArrowDown", 1, 0), ("End", 1, 3), ("ArrowUp", 0, 3)]:
        staged.keyboard.press(key)
        assert lit(staged) == expected(i, j)
        check(staged.locator(".wtl-why").evaluate(READ), made(), i, j)
    assert staged.locator('td[tabindex="0"]').count() == len(STAGES)


def test_what_is_lit_and_open_stays_when_a_control_moves(staged):
    cell(staged.locator(".wtl-view").nth(6), 1, 3).click()
    staged.get_by_role("combobox").select_option("causal")
    assert lit(staged) == expected(1, 3)
    check(staged.locator(".wtl-why").evaluate(READ), made(mask=causal_mask(4)), 1, 3)
    assert made(mask=causal_mask(4)).masked[1, 3] == -inf


def test_one_line_speaks_at_a_time(staged):
    """Eight stages change at once; a screen reader hears the one that was asked."""
    cell(staged.locator(".wtl-view").nth(6), 1, 3).click()
    cell(staged.locator(".wtl-view").nth(3), 0, 1).click()
    words = [line for line in staged.locator(".wtl-read").all_inner_texts() if line]
    assert len(words) == 1 and words[0].startswith("query 我, key 爱: ")


def test_two_strips_on_a_page_do_not_know_each_other(page_factory):
    html = explore(strip, mask=["all"]).html()
    page = page_factory(html + html)
    cell(page.locator("wtl-explorer").first.locator(".wtl-view").nth(6), 0, 1).click()
    assert lit(page) == expected(0, 1) + expected(2, None)
    assert page.problems == []


def test_nothing_jumps_when_the_strip_comes_alive(page_factory):
    sizes = [
        page_factory(explore(strip, mask=["all"]).html(), script=script)
        .locator(".wtl-view")
        .evaluate_all("views => views.map(v => [v.offsetLeft, v.offsetWidth, v.offsetHeight])")
        for script in (False, True)
    ]
    assert sizes[0] == sizes[1]

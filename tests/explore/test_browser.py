"""Explorers in a real browser, on a page of their own, opened from a file.

The page is a small gallery with every view and every kind of control. After each move its numbers
are compared with those that torch gives Python, not with the page's own data.
"""

import re
from collections.abc import Callable
from io import BytesIO

import ipywidgets as w
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from contrast import contrast
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from wheretolook.attention import ScaledDot, attend, attention_weights
from wheretolook.explore import (
    Arrows,
    Bars,
    Curves,
    Explorer,
    Heatmap,
    Matrix,
    Picture,
    Tokens,
    View,
    explore,
)
from wheretolook.masks import causal_mask

TOKENS = list("我爱中国")
QUERY, KEY = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0)).unbind()
HOSTILE = [
    "</script><script>hacked=1</script>",
    "<img src=x onerror=hacked=1>",
    "\" onmouseover='hacked=1'",
    "'\"`&amp;",
    "שלום עולם",
    "👩‍🔬😀",
    "<!--",
    "\\u003c${hacked=1}",
]


# --- the gallery ------------------------------------------------------------------------------


def heatmap(scale, causal):
    """Where each token looks"""
    mask = causal_mask(4) if causal else torch.ones(4, 4, dtype=torch.bool)
    stages = attend(QUERY, KEY, KEY, scorer=ScaledDot(scale), attn_mask=mask)
    return Heatmap(stages.weights, TOKENS, TOKENS, attn_mask=causal_mask(4) if causal else None)


def scores(shift, hide):
    """Scores with notes, beside their weights"""
    values = QUERY @ KEY.T - shift
    masked = values.masked_fill(~causal_mask(4), -torch.inf) if hide == "later" else values
    notes = [[f"{v:.2f} less {shift}" for v in row] for row in (QUERY @ KEY.T).tolist()]
    return [
        Matrix(masked, TOKENS, TOKENS, title=f"less {shift}", notes=notes),
        Heatmap(attention_weights(masked), TOKENS, TOKENS, title="weights"),
    ]


def bars(name, step, size, steep):
    """Bars by four kinds of choice"""
    return Bars([step * size, -steep], [f"{name}", "b"], resizes=True)


def sentence(sharpness):
    """A sentence"""
    return Tokens((torch.arange(4.0) * sharpness).softmax(0), TOKENS, query=1, marks=[2])


def curves(phase):
    """Two curves"""
    x = torch.linspace(0, 6, 13)
    return Curves(x, {"sine": (x + phase).sin(), "cosine": x.cos()}, x_name="angle", y_name="value")


def arrows(angle):
    """A query among keys"""
    turned = torch.tensor([angle / 10]).cos().item(), torch.tensor([angle / 10]).sin().item()
    return Arrows([turned, (0.5, -0.5)], ["q", "k"], strengths=[1, angle / 15], special=0)


def picture(height):
    """A matplotlib figure"""
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.bar(["爱"], [height])
    return Picture(figure, f"a bar of height {height}")


def growing(length):
    """A map that grows"""
    tokens = [f"t{i}" for i in range(length)]
    weights = attention_weights(QUERY @ KEY.T)[:length, :length]
    return Heatmap(weights, tokens, tokens, resizes=True)


def dense(spread):
    """A large map"""
    place = torch.arange(26.0)
    return Heatmap((-(place[:, None] - place).abs() / spread).softmax(-1))


GALLERY: dict[str, tuple[Callable, dict]] = {
    "heatmap": (heatmap, {"scale": (0.0, 2.0, 0.25), "causal": False}),
    "scores": (scores, {"shift": (-1, 3), "hide": ["nothing", "later"]}),
    "bars": (
        bars,
        {
            "name": {"first": "a", "second": "z"},
            "step": w.SelectionSlider(options=[0.5, 1.0, 2.0], value=1.0),
            "size": w.FloatLogSlider(value=1, min=-1, max=1, step=0.5),
            "steep": w.ToggleButtons(options=[0.0, 1.5]),
        },
    ),
    "sentence": (sentence, {"sharpness": (0.0, 3.0, 0.5)}),
    "curves": (curves, {"phase": (0.0, 3.0, 0.5)}),
    "arrows": (arrows, {"angle": w.IntSlider(min=1, max=12, step=1, description="turn")}),
    "picture": (picture, {"height": w.Dropdown(options=[1, 2, 3])}),
    "growing": (growing, {"length": (1, 4)}),
    "dense": (dense, {"spread": [1.0, 4.0]}),
}
every_explorer = pytest.mark.parametrize("name", GALLERY)


@pytest.fixture(scope="module")
def explorers() -> dict[str, Explorer]:
    return {name: explore(draw, **controls) for name, (draw, controls) in GALLERY.items()}


@pytest.fixture
def gallery(page_factory, explorers) -> Callable[..., Page]:
    """Open the gallery, or some of it."""

    def go(*names: str, before: str = "", **options) -> Page:
        chosen = names or GALLERY
        return page_factory(before + "".join(explorers[n].html() for n in chosen), **options)

    return go


# --- what Python expects, what the page shows -------------------------------------------------


def text(value: float) -> str:
    return (
        "−∞" if value == -torch.inf else f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")
    )


def expected(view: View) -> list[str]:
    """The numbers in the cells of a view, row by row."""
    if isinstance(view, Heatmap):
        hidden = np.zeros(view.array.shape, bool) if view.hidden is None else view.hidden
        return [
            cell
            for row, dark in zip(view.array.tolist(), hidden, strict=True)
            for cell in [*("0" if d else text(v) for v, d in zip(row, dark, strict=True)),
                         text(sum(row))]
        ]  # fmt: skip
    if isinstance(view, Matrix | Tokens | Bars):
        return [text(v) for v in view.array.flatten().tolist()]
    return []


CELLS = "td[data-v], b[data-v]"


def shown(explorer: Locator) -> list[list[str]]:
    return explorer.locator(".wtl-view").evaluate_all(
        f"""views => views.map(v => [...v.querySelectorAll('{CELLS}')]
              .map(cell => cell.ariaLabel ?? cell.textContent))"""
    )


def drawn(explorer: Locator) -> str:
    """All that a move may change, in one string."""
    return explorer.locator(".wtl-views").inner_html()


def fields(explorer: Locator) -> list[Locator]:
    return explorer.locator(".wtl-controls :is(input, select)").all()


def index(field: Locator) -> int:
    return field.evaluate(
        "f => f.type === 'checkbox' ? +f.checked : f.selectedIndex ?? Number(f.value)"
    )


def state(explorer: Locator, made: Explorer) -> dict:
    """The control values that the page stands at, from the controls themselves."""
    moved = [c for c in made.controls if c.kind != "fixed"]
    return {c.name: c.values[index(f)] for c, f in zip(moved, fields(explorer), strict=True)}


def check(explorer: Locator, made: Explorer) -> None:
    """Hold everything that the page shows against Python's views."""
    views = made.views(**state(explorer, made))
    assert shown(explorer) == [expected(view) for view in views]
    for holder, view in zip(explorer.locator(".wtl-view").all(), views, strict=True):
        if view.title:
            assert holder.locator(".wtl-title").first.inner_text() == view.title
        if isinstance(view, Picture):
            image = holder.locator("img")
            assert [image.get_attribute("src"), image.get_attribute("alt")] == view.values(1)[1]
        if isinstance(view, Arrows):
            reach = max(made.views(angle=a)[0].limit() for a in made.controls[0].values)
            _check_arrows(holder, view, reach)
        if isinstance(view, Curves):
            _check_curves(holder, view)
    now = explorer.locator(".wtl-now").text_content()
    for control, field in zip(made.controls, fields(explorer), strict=True):
        assert f"{control.label} {control.texts[index(field)]}" in now
        output = field.locator("xpath=..").locator("output")
        if output.count():
            assert output.text_content() == control.texts[index(field)]
        if control.kind == "range":
            assert field.get_attribute("aria-valuetext") == control.texts[index(field)]


def _check_arrows(holder: Locator, view: Arrows, reach: float) -> None:
    """All frames share one scale; in the page y points down."""
    paths = holder.locator("path[data-v]").evaluate_all(
        "paths => paths.map(p => p.getAttribute('d').match(/L(\\S+) (\\S+?)M/).slice(1))"
    )
    tips = [[float(v) for v in tip] for tip in paths]
    assert tips == pytest.approx(np.array([100, -100]) * view.ends / reach, abs=0.06)


def _check_curves(holder: Locator, view: Curves) -> None:
    """Read each curve's ends with the keyboard."""
    svg, words = holder.locator("svg"), holder.locator(".wtl-read")
    svg.focus()
    for key, at in (("Home", 0), ("End", -1)):
        svg.press(key)
        numbers = ", ".join(f"{n} {text(y[at])}" for n, y in view.series.items())
        assert words.inner_text() == f"{view.x_name} {view.x[at]:g}: {numbers}"


# --- moving -----------------------------------------------------------------------------------


def move_by_keyboard(field: Locator) -> None:
    field.focus()
    last = int(field.get_attribute("max") or field.locator("option").count() - 1)
    if field.get_attribute("type") == "checkbox":
        field.press("Space")
    elif field.get_attribute("type") == "range":
        field.press("ArrowRight" if index(field) < last else "ArrowLeft")
    else:
        field.press("ArrowDown" if index(field) < last else "ArrowUp")


def move_by_pointer(field: Locator) -> None:
    if field.get_attribute("type") == "checkbox":
        field.locator("xpath=..").locator("span").click()  # its label
    elif field.get_attribute("type") == "range":
        box = field.bounding_box()
        far = index(field) < int(field.get_attribute("max")) / 2
        field.click(position={"x": box["width"] * (0.98 if far else 0.02), "y": box["height"] / 2})
    else:  # the open list belongs to the system, not to the page
        field.select_option(index=0 if index(field) else field.locator("option").count() - 1)


@every_explorer
@pytest.mark.parametrize("move", [move_by_keyboard, move_by_pointer])
def test_every_control_changes_the_view_to_torchs_numbers(gallery, explorers, name, move):
    page = gallery(name)
    explorer = page.locator("wtl-explorer")
    check(explorer, explorers[name])
    for field in fields(explorer):
        for _ in range(2):
            before, at = drawn(explorer), index(field)
            move(field)
            assert index(field) != at
            assert drawn(explorer) != before
            check(explorer, explorers[name])
    assert page.problems == []


def test_every_frame_of_a_slider_is_torchs(gallery):
    """Straight from the formula, with nothing of ``explore`` in between."""
    page = gallery("heatmap")
    slider, cells = page.get_by_role("slider"), page.locator("td[data-v]:not(.wtl-sum)")
    slider.press("Home")
    for step in range(9):
        weights = (QUERY @ KEY.T * (step * 0.25)).softmax(-1)
        assert cells.all_inner_texts() == [f"{v:.2f}" for v in weights.flatten().tolist()]
        slider.press("ArrowRight")
    sums = page.locator("td.wtl-sum").all_inner_texts()
    assert sums == ["1.00"] * 4


def test_home_and_end_reach_the_ends_of_a_slider(gallery):
    page = gallery("heatmap")
    slider, value = page.get_by_role("slider"), page.locator("output").first
    slider.press("End")
    expect(value).to_have_text("2.00")
    slider.press("Home")
    expect(value).to_have_text("0.00")


# --- without script, on paper -----------------------------------------------------------------


def test_the_first_frame_stands_without_script(gallery, explorers):
    page = gallery(script=False)
    for explorer, made in zip(page.locator("wtl-explorer").all(), explorers.values(), strict=True):
        assert shown(explorer) == [expected(view) for view in made.views()]
        expect(explorer.locator(".wtl-controls")).to_be_hidden()
        now = ", ".join(f"{c.label} {c.texts[c.start]}" for c in made.controls)
        expect(explorer.locator(".wtl-now")).to_be_visible()
        expect(explorer.locator(".wtl-now")).to_have_text(f"Shown: {now}")


def test_nothing_jumps_when_the_page_comes_alive(gallery):
    """The script's first frame is what Python wrote."""
    sizes = [
        page.locator(".wtl-view").evaluate_all(
            "views => views.map(v => [v.dataset.kind, v.offsetWidth, v.offsetHeight])"
        )
        for page in (gallery(script=False), gallery())
    ]
    assert sizes[0] == sizes[1]


def test_paper_shows_the_frame_and_its_values_but_no_control(gallery, explorers):
    page = gallery()
    for explorer, made in zip(page.locator("wtl-explorer").all(), explorers.values(), strict=True):
        move_by_keyboard(fields(explorer)[0])
        values = state(explorer, made)
        page.emulate_media(media="print")
        expect(explorer.locator(".wtl-controls")).to_be_hidden()
        expect(explorer.locator(".wtl-now")).to_be_visible()
        expect(explorer.locator(".wtl-view").first).to_be_visible()
        assert shown(explorer) == [expected(view) for view in made.views(**values)]
        page.emulate_media(media="screen")


# --- reading a value --------------------------------------------------------------------------

CELL = "tbody tr:nth-child({}) td:nth-of-type({})"


def weight(i: int, j: int, scale: float = 1.0) -> str:
    return f"{(QUERY @ KEY.T * scale).softmax(-1)[i, j].item():.2f}"


def test_hovering_reads_a_cell(gallery):
    page = gallery("heatmap")
    page.locator(CELL.format(2, 3)).hover()
    expect(page.locator(".wtl-read")).to_have_text(f"query 爱, key 中: {weight(1, 2)}")


def test_clicking_reads_a_cell_and_keeps_it(gallery):
    page = gallery("heatmap")
    page.locator(CELL.format(2, 3)).click()
    page.mouse.move(0, 0)
    expect(page.locator(".wtl-read")).to_have_text(f"query 爱, key 中: {weight(1, 2)}")
    expect(page.locator("td.wtl-chosen")).to_have_count(1)


def test_tapping_reads_a_cell(browser: Browser, explorers, tmp_path):
    file = tmp_path / "touch.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{explorers['heatmap'].html()}", "utf-8")
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator(CELL.format(4, 1)).tap()
    expect(page.locator(".wtl-read")).to_have_text(f"query 国, key 我: {weight(3, 0)}")
    context.close()


def test_the_keyboard_walks_through_a_map(gallery):
    page = gallery("heatmap")
    words = page.locator(".wtl-read")
    page.get_by_role("checkbox").focus()
    page.keyboard.press("Tab")  # into the map: one stop for all its cells
    expect(words).to_have_text(f"query 我, key 我: {weight(0, 0)}")
    for key, i, j in [
        ("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("End", 1, 3), ("ArrowRight", 1, 3),
        ("ArrowDown", 2, 3), ("Home", 2, 0), ("ArrowLeft", 2, 0), ("ArrowUp", 1, 0),
        ("ArrowUp", 0, 0), ("ArrowUp", 0, 0),
    ]:  # fmt: skip
        page.keyboard.press(key)
        expect(words).to_have_text(f"query {TOKENS[i]}, key {TOKENS[j]}: {weight(i, j)}")
        assert page.evaluate("document.activeElement.textContent") == weight(i, j)
    assert page.locator('td[tabindex="0"]').count() == 1


def test_tab_leaves_a_map_at_once_and_comes_back_to_the_same_cell(gallery):
    page = gallery("heatmap", "sentence")
    page.locator(CELL.format(1, 1)).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Save picture"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.textContent") == weight(0, 1)


@pytest.mark.parametrize("how", ["click", "hover", "focus"])
def test_what_is_read_stays_true_when_the_slider_moves(gallery, how):
    page = gallery("heatmap")
    getattr(page.locator(CELL.format(2, 3)), how)()
    page.get_by_role("slider").press("End")
    expect(page.locator(".wtl-read")).to_have_text(f"query 爱, key 中: {weight(1, 2, 2.0)}")


def test_what_is_read_stays_read_in_a_map_that_grows(gallery):
    page = gallery("growing")
    page.get_by_role("slider").press("End")
    page.locator(CELL.format(2, 2)).click()
    page.get_by_role("slider").press("ArrowLeft")
    expect(page.locator(".wtl-read")).to_contain_text("query t1, key t1: ")
    page.get_by_role("slider").press("Home")  # one cell only: what was read is gone
    expect(page.locator(".wtl-read")).to_have_text("")


def test_a_hidden_cell_is_read_as_hidden(gallery):
    page = gallery("heatmap")
    page.get_by_role("checkbox").check()
    page.locator(CELL.format(1, 4)).hover()
    expect(page.locator(".wtl-read")).to_have_text("query 我, key 国: 0 (hidden by the mask)")


def test_a_note_is_read_with_its_cell_and_follows_the_slider(gallery):
    page = gallery("scores")
    raw = QUERY @ KEY.T
    page.locator(CELL.format(2, 3)).first.click()
    for shift in (1, 2):
        number = text(raw[1, 2].item() - shift)
        words = f"row 爱, column 中: {number}. {raw[1, 2].item():.2f} less {shift}"
        expect(page.locator(".wtl-read").first).to_have_text(words)
        page.get_by_role("slider").press("ArrowRight")


def test_the_headers_of_a_cell_are_lit(gallery):
    page = gallery("heatmap")
    page.locator(CELL.format(2, 3)).hover()
    assert page.locator("th.wtl-on").all_inner_texts() == ["中", "爱"]


def test_a_curve_is_read_by_pointer_and_by_keyboard(gallery):
    page = gallery("curves")
    svg, words = page.locator("svg"), page.locator(".wtl-read")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 9, box["y"] + box["height"] / 2)
    expect(words).to_have_text(re.compile(r"^angle 6: sine −?\d\.\d\d, cosine 0\.96$"))
    svg.focus()
    page.keyboard.press("Home")
    expect(words).to_have_text(re.compile("^angle 0: .* cosine 1.00$"))
    page.keyboard.press("ArrowRight")
    expect(words).to_have_text(re.compile("^angle 0.5: .* cosine 0.88$"))


def test_the_browsers_own_keys_stay_its_own(gallery):
    """Alt and ← goes back in history, Ctrl and Home to the top of the page."""
    page = gallery("heatmap")
    page.evaluate("addEventListener('keydown', e => { window.kept = e.defaultPrevented })")
    page.locator(CELL.format(2, 2)).focus()
    for keys in ("Control+Home", "Alt+ArrowUp"):
        page.keyboard.press(keys)
        assert page.evaluate("window.kept") is False
    assert page.evaluate("document.activeElement.cellIndex") == 2


# --- for a screen reader ----------------------------------------------------------------------


def test_controls_are_found_by_their_names(gallery):
    page = gallery("heatmap", "bars", "arrows")
    for role, label in [
        ("slider", "scale"), ("checkbox", "causal"), ("combobox", "name"), ("slider", "step"),
        ("slider", "size"), ("combobox", "steep"), ("slider", "turn"),
    ]:  # fmt: skip
        assert page.get_by_role(role, name=label).count() == 1
    assert page.get_by_role("group", name="Where each token looks").count() == 1


def test_a_value_is_announced(gallery):
    page = gallery("heatmap")
    output = page.locator("output").first
    assert output.get_attribute("aria-live") == "polite"
    page.get_by_role("slider").press("Home")
    assert output.inner_text() == "0.00"
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "0.00"
    assert page.locator(".wtl-read").get_attribute("aria-live") == "polite"


def test_only_what_changes_is_announced(page_factory):
    def draw(scale, other):
        return Heatmap(np.eye(2) * scale, title=f"{other}")

    page = page_factory(explore(draw, scale=(0.0, 1.0, 0.25), other=(0, 3)).html())
    page.locator("td[data-v]").nth(1).focus()  # 0 at every scale
    page.evaluate(
        """() => { window.heard = []; new MutationObserver(all => all.forEach(({ target }) => {
             const line = target.closest('[aria-live]'); if (line) heard.push(line.textContent);
           })).observe(document.body, { subtree: true, childList: true }); }"""
    )
    page.get_by_role("slider", name="scale").press("Home")
    page.get_by_role("slider", name="scale").press("ArrowRight")
    expect(page.locator("output").first).to_have_text("0.25")
    assert page.evaluate("heard") == ["0.00", "0.25"]


def test_a_map_is_a_table_with_headers(gallery):
    page = gallery("heatmap")
    assert page.get_by_role("table").count() == 1
    assert page.get_by_role("columnheader", name="中", exact=True).count() == 1
    assert page.get_by_role("rowheader", name="中", exact=True).count() == 1
    assert "query" in page.locator("caption").inner_text()


def test_pictures_have_words(gallery):
    page = gallery("picture", "curves", "arrows")
    assert page.get_by_role("img", name="a bar of height 1").count() == 1
    assert page.get_by_role("img", name="value over angle").count() == 1
    assert page.get_by_role("img", name="q, k: arrows from the origin").count() == 1


# --- any text is text -------------------------------------------------------------------------


def hostile() -> Explorer:
    names = HOSTILE

    def draw(word, length):
        some, row = names[:length], torch.full((length,), 1 / length)
        notes = [[f"{a} {b}" for b in some] for a in some]
        return [
            Heatmap(row.expand(length, -1), some, some, title=word, notes=notes, resizes=True),
            Tokens(row, some, title=word, resizes=True),
            Bars(row, some, title=word, resizes=True),
            Curves([0, 1], {names[1]: [0, 1]}, x_name=names[1], y_name=names[0], title=word),
            Arrows([[1, 1]], [names[1]], title=word),
        ]

    draw.__doc__ = names[1]
    return explore(draw, word=names, length=(len(names) - 1, len(names)))


def test_any_token_shows_as_text_and_nothing_runs(page_factory):
    page = page_factory(hostile().html())
    explorer, title = page.locator("wtl-explorer"), page.locator(".wtl-title").first
    page.get_by_role("slider").press("End")
    for i, word in enumerate(HOSTILE):
        page.get_by_role("combobox").select_option(index=i)
        assert title.evaluate("t => t.textContent") == word
    heads = page.locator("thead th:not(.wtl-sum)").evaluate_all("h => h.map(x => x.textContent)")
    assert heads == HOSTILE
    rows = page.locator(".wtl-map tbody th").evaluate_all("h => h.map(x => x.textContent)")
    assert rows == HOSTILE
    for i, word in enumerate(HOSTILE, 1):
        page.locator(".wtl-map " + CELL.format(i, 1)).click()
        read = page.locator(".wtl-map ~ .wtl-read, .wtl-read").first.evaluate("p => p.textContent")
        assert read == f"query {word}, key {HOSTILE[0]}: 0.12. {word} {HOSTILE[0]}"
    assert explorer.locator("img").count() == 0
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.problems == []
    assert not [address for address in page.requests if address.endswith("/x")]


def test_any_token_is_text_without_script_too(page_factory):
    page = page_factory(hostile().html(), script=False)
    heads = page.locator("thead th:not(.wtl-sum)").evaluate_all("h => h.map(x => x.textContent)")
    assert heads == HOSTILE[:-1]
    assert page.locator("wtl-explorer img").count() == 0


# --- several on a page, and later ones --------------------------------------------------------


def test_two_of_the_same_explorer_do_not_know_each_other(gallery, explorers):
    page = gallery("heatmap", "heatmap")
    one, other = page.locator("wtl-explorer").all()
    before = drawn(other)
    fields(one)[0].press("End")
    one.locator("td[data-v]").first.click()
    assert drawn(one) != drawn(other) == before
    fields(other)[1].press("Space")
    check(one, explorers["heatmap"])
    check(other, explorers["heatmap"])
    assert page.problems == []


INSERT = """html => {
  const box = document.createElement('div');
  document.body.append(box);
  box.innerHTML = html;
  for (const old of box.querySelectorAll('script')) {  // as notebooks do: innerHTML runs none
    const script = document.createElement('script');
    for (const a of old.attributes) script.setAttribute(a.name, a.value);
    script.textContent = old.textContent;
    old.replaceWith(script);
  }
}"""


@pytest.mark.parametrize("before", [(), ("sentence",)])
def test_an_explorer_that_is_put_into_the_page_later_comes_alive(page_factory, explorers, before):
    page = page_factory("<p>A notebook.</p>" + "".join(explorers[n].html() for n in before))
    page.evaluate(INSERT, explorers["heatmap"].html())
    explorer = page.locator("wtl-explorer").last
    fields(explorer)[0].press("End")
    check(explorer, explorers["heatmap"])
    assert page.problems == []


def test_an_explorer_that_is_moved_or_copied_stays_alive(gallery, explorers):
    page = gallery("heatmap")
    page.evaluate(
        "() => { const e = document.querySelector('wtl-explorer');"
        "document.body.prepend(document.createElement('main'));"
        "document.querySelector('main').append(e.cloneNode(true), e); }"
    )
    for explorer in page.locator("wtl-explorer").all():
        fields(explorer)[0].press("Home")
        check(explorer, explorers["heatmap"])


def test_a_page_that_comes_back_shows_what_its_controls_say(gallery, explorers):
    """A browser may restore a slider's place but not the numbers."""
    page = gallery("heatmap")
    page.get_by_role("slider").press("End")
    page.goto("about:blank")
    page.go_back()
    check(page.locator("wtl-explorer"), explorers["heatmap"])


def test_nothing_in_the_page_has_an_id(gallery):
    assert gallery().locator("wtl-explorer [id]").count() == 0


# --- colours and widths -----------------------------------------------------------------------

COLOURS = """cells => {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = colour => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  return cells.map(cell => {
    const style = getComputedStyle(cell);
    return [cell.textContent, rgb(style.color), rgb(style.backgroundColor)];
  });
}"""


MIDDLES = """cells => cells.map(cell => {
  const { x, y, width, height } = cell.getBoundingClientRect();
  return [Math.floor(x + width / 2), Math.floor(y + height / 2)];
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_stand_out_from_their_cells_at_every_weight(page_factory, scheme):
    weights = torch.linspace(0, 1, 101)[: 17 * 5].view(5, 17), torch.linspace(0.8, 1, 20)[None]
    signed = torch.linspace(-1, 1, 100).view(5, 20)
    hidden = Heatmap(torch.zeros(1, 2), attn_mask=torch.zeros(1, 2, dtype=torch.bool))
    views = [*map(Heatmap, weights), Matrix(signed), Tokens(weights[0][2], "a" * 17), hidden]
    page = page_factory(
        f"<style>html {{ color-scheme: {scheme} }}</style>{explore(lambda: views).html()}",
        dark=scheme == "dark",
    )
    cells = page.locator("td[data-v]:not(.wtl-sum), b[data-v]").evaluate_all(COLOURS)
    assert len(cells) == 85 + 20 + 100 + 17 + 2
    pale = [(number, round(contrast(a, b), 2)) for number, a, b in cells if contrast(a, b) < 4.5]
    assert pale == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_larger_weight_is_a_stronger_colour(page_factory, scheme):
    view = Heatmap(torch.linspace(0, 1, 20)[None])
    page = page_factory(
        f"<style>html {{ color-scheme: {scheme} }}</style>{explore(lambda: view).html()}"
    )
    cells = page.locator("td[data-v]:not(.wtl-sum)").evaluate_all(COLOURS)
    ground = cells[0][2]
    steps = [contrast(ground, fill) for _, _, fill in cells]
    assert steps == sorted(steps)
    assert steps[-1] > 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "host", ['<div data-jp-theme-light="{}">', '<div class="vscode-{}">', "<html theme='{}'>"]
)
def test_the_hosts_theme_counts(page_factory, explorers, host, theme):
    """JupyterLab, VS Code and Colab each say in their own way which theme is on."""
    word = {"light": "true", "dark": "false"}[theme] if "jp-theme" in host else theme
    page = page_factory(host.format(word) + explorers["heatmap"].html())
    scheme = page.locator("wtl-explorer").evaluate("e => getComputedStyle(e).colorScheme")
    assert scheme == theme


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_page_does_not_scroll_sideways(gallery, width):
    page = gallery(width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.problems == []


def test_a_wide_map_scrolls_in_itself(page_factory):
    view = Heatmap(
        torch.eye(20), [f"token{i}" for i in range(20)], [f"token{i}" for i in range(20)]
    )
    page = page_factory(explore(lambda: view).html(), width=390)
    scroll = page.locator(".wtl-scroll").evaluate("s => s.scrollWidth > s.clientWidth")
    assert scroll
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [390, 1280])
def test_a_large_map_has_small_cells_at_any_width(gallery, width):
    page = gallery("dense", width=width)
    box = page.locator("td[data-v]").first.bounding_box()
    assert box["width"] == pytest.approx(box["height"], abs=0.5)
    assert box["width"] < 16


def shot(page: Page) -> np.ndarray:
    """Photograph the window: (height, width, RGB)."""
    return np.asarray(Image.open(BytesIO(page.screenshot())).convert("RGB"), dtype=int)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_a_large_map_has_the_colours_of_a_small_one(page_factory, dark, signed):
    """It is painted by rows; without the class its cells have their own colours."""
    low, limit = (-1.0, 1.0) if signed else (0.0, 1.0)
    mask = torch.ones(26, 25, dtype=torch.bool).tril(20)

    def draw(fold):
        values = torch.linspace(low, 1, 26 * 25).roll(fold).view(26, 25)
        return Matrix(values, limit=limit) if signed else Heatmap(values, attn_mask=mask)

    page = page_factory(explore(draw, fold=[0, 9]).html(), dark=dark)
    page.get_by_role("combobox").select_option(index=1)
    page.set_viewport_size({"width": 1280, "height": 1200})
    cells = page.locator("td[data-v]:not(.wtl-sum)")
    middles = cells.evaluate_all(MIDDLES)
    painted = shot(page)
    page.locator(".wtl-painted").evaluate("map => map.classList.remove('wtl-painted')")
    cells.evaluate_all("cells => cells.forEach(c => c.style.setProperty('--w', c.share))")
    single = shot(page)
    x, y = np.array(middles).T
    assert len(x) == 26 * 25
    assert np.abs(painted[y, x] - single[y, x]).max() <= 2
    assert len(np.unique(painted[y, x], axis=0)) > 60


@pytest.mark.parametrize("limit", [None, 0.5])
def test_every_row_of_a_large_map_is_painted_where_a_number_is_beyond_the_scale(
    page_factory, limit
):
    """Rounded, the largest may be: 0.126 is the end of the scale, and 0.13 is shown."""
    values = torch.full((26, 26), 0.126) * torch.tensor([1.0, -1.0]).repeat(13)
    view = Matrix(values if limit is None else 8 * values, limit=limit)
    page = page_factory(explore(lambda: view).html())
    row = "getComputedStyle(row.cells[1], '::before').backgroundImage"
    rows = page.locator(".wtl-painted tbody tr")
    assert rows.count() == 26
    painted = rows.evaluate_all(f"rows => rows.map(row => {row})")
    assert all(one.startswith("linear-gradient") for one in painted)


def test_a_large_map_is_painted_upon_its_cells_where_text_runs_from_the_right(page_factory):
    made = explore(lambda: Heatmap(torch.eye(26))).html()
    page = page_factory(f'<div dir="rtl">{made}</div>')
    places = page.locator("tr:last-child td[data-v]:not(.wtl-sum)").evaluate_all(MIDDLES)
    pixels = shot(page)
    brightness = [pixels[y, x].sum() for x, y in places]
    assert max(brightness[:-1]) - min(brightness[:-1]) <= 6 < min(brightness[:-1]) - brightness[-1]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_check_box_stands_before_its_word(gallery, width):
    page = gallery("heatmap", width=width)
    slider, box = (page.get_by_role(role).bounding_box() for role in ("slider", "checkbox"))
    word = page.locator("output").last.bounding_box()
    assert box["x"] == pytest.approx(slider["x"], abs=3)
    assert box["x"] + box["width"] <= word["x"] < box["x"] + 3 * box["width"]


def test_controls_are_large_enough_for_a_finger(gallery):
    page = gallery("heatmap", "scores", width=390)
    for label in page.locator(".wtl-controls label").all():
        assert label.bounding_box()["height"] >= 24


def test_the_whole_gallery_asks_for_nothing_and_complains_of_nothing(gallery):
    page = gallery()
    assert page.problems == []
    assert len(page.requests) <= 1  # the page itself


def test_the_first_picture_is_sent_once_and_comes_back(page_factory):
    made = explore(picture, height=[1, 2, 3])
    html = made.html()
    sources = set(re.findall(r"data:image/webp;base64,[\w+/=]+", html))
    assert len(sources) == 3 and all(html.count(source) == 1 for source in sources)
    page = page_factory(html)
    image, field = page.locator("img"), page.locator("select")
    first = image.get_attribute("src")
    field.select_option(index=1)
    assert image.get_attribute("src") != first
    field.select_option(index=0)
    assert image.get_attribute("src") == first
    assert image.get_attribute("alt") == "a bar of height 1"

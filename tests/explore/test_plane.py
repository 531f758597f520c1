"""A query dragged among keys in a real browser: its numbers are torch's wherever it is put."""

import math
import random
import re

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect
from torch.nn.functional import normalize

from wheretolook.attention import ScaledDot, attend
from wheretolook.explore import Explorer, Plane, explore, show

KEYS = torch.tensor([[1.5, 0.3], [0.4, 1.2], [-1.2, 0.6], [-0.3, -1.4]], dtype=torch.float64)
VALUES = torch.tensor([[0.5, 1.8], [2.0, 0.4], [-1.6, -1.0], [-1.0, 1.6]], dtype=torch.float64)
NAMES = ["k₁", "k₂", "k₃", "k₄"]
HOME, REACH, SIDE = (
    (1.0, 1.0),
    2.0,
    230,
)  # half the side; the drawing with its margin, in hundredths


def draw(temperature=1.0, scaled=True, compare="dot product"):
    """A query among keys"""
    scale = (2**-0.5 if scaled else 1) / temperature
    return Plane(
        KEYS, NAMES, VALUES, query=HOME, scale=scale, cosine=compare == "cosine", reach=REACH
    )


@pytest.fixture(scope="module")
def made() -> Explorer:
    return explore(
        draw, temperature=(0.25, 4.0, 0.25), scaled=True, compare=["dot product", "cosine"]
    )


@pytest.fixture
def page(page_factory, made) -> Page:
    return page_factory(made.html())


def grip(page: Page) -> Locator:
    return page.locator(".wtl-grip")


def shown(page: Page) -> dict:
    """All that the page shows, and the numbers behind it before they were rounded."""
    found = page.locator(".wtl-view").evaluate(
        """view => {
          const all = (css, get) => [...view.querySelectorAll(css)].map(get);
          const tip = css => all(css, p => p.getAttribute('d').match(/M0 0L(\\S+) (\\S+?)M/))[0];
          return {
            numbers: view.numbers,
            words: all('.wtl-words span, tbody td', e => e.textContent),
            bold: all('[data-weights] > *', e => +e.style.getPropertyValue('--w')),
            asks: tip('.wtl-asks path').slice(1).map(Number),
            gets: tip('.wtl-gets path').slice(1).map(Number),
          };
        }"""
    )
    numbers = found["numbers"]
    found |= {"query": numbers[:2], "polar": numbers[2:4], "output": numbers[4:6]}
    return found | {"scores": numbers[6::2], "weights": numbers[7::2]}


def check(page: Page, scale: float = 2**-0.5, cosine: bool = False) -> tuple[float, float]:
    """Hold all that is shown against torch, and return where the query is."""
    now = shown(page)
    x, y = now["query"]
    query = torch.tensor([[x, y]], dtype=torch.float64)
    sides = [normalize(side) if cosine else side for side in (query, KEYS)]
    found = attend(*sides, VALUES, scorer=ScaledDot(scale))
    for name in ("output", "scores", "weights"):
        expected = getattr(found, name)[0].tolist()
        assert now[name] == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert now["polar"] == pytest.approx([math.hypot(x, y), math.degrees(math.atan2(y, x))])
    read = [float(word.replace("−", "-")) for word in now["words"]]
    angle = read.pop(3), now["numbers"].pop(3)
    assert angle[0] == pytest.approx(angle[1], abs=0.5 + 1e-9)
    assert read == pytest.approx(now["numbers"], abs=0.005 + 1e-9)
    assert now["bold"] == pytest.approx(3 * now["weights"], abs=1e-6)
    for tip, end in ((now["asks"], (x, y)), (now["gets"], now["output"])):
        assert tip == pytest.approx([50 * end[0], -50 * end[1]], abs=0.051)
    return x, y


def on_page(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a place of the plane lies in the window."""
    box = page.locator(".wtl-plane").first.bounding_box()
    unit = box["width"] / SIDE
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    return middle[0] + 100 * x / REACH * unit, middle[1] - 100 * y / REACH * unit


def near(x: float, y: float) -> object:
    return pytest.approx((x, y), abs=0.02)


# --- the numbers ------------------------------------------------------------------------------


def test_its_numbers_are_torchs_wherever_it_is_dragged(page):
    """200 places, each with a temperature and a way to compare of its own."""
    dice = random.Random(0)
    temperature = page.get_by_role("slider", name="temperature")
    scaled, compare = page.get_by_role("checkbox"), page.get_by_role("combobox")
    for i in range(200):
        if i % 10 == 0:
            page.mouse.up()
            step, root, cosine = dice.randrange(16), dice.random() < 0.5, dice.random() < 0.5
            temperature.fill(str(step))
            scaled.set_checked(root)
            compare.select_option("cosine" if cosine else "dot product")
            check(page, (2**-0.5 if root else 1) / (0.25 * (step + 1)), cosine)
            page.mouse.move(*on_page(page, *shown(page)["query"]))
            page.mouse.down()
        x, y = dice.uniform(-2, 2), dice.uniform(-2, 2)
        page.mouse.move(*on_page(page, x, y))
        assert check(page, (2**-0.5 if root else 1) / (0.25 * (step + 1)), cosine) == near(x, y)
    assert page.problems == []


def attend_in(page: Page, cases: list[tuple]) -> list[dict]:
    """Let the page attend from each (query, scale, cosine)."""
    return page.evaluate(
        """([cases, keys, values]) => cases.map(([query, scale, cosine]) =>
             wtl.plane.attend(query, keys, values, scale, cosine))""",
        [cases, KEYS.tolist(), VALUES.tolist()],
    )


def hold_against_torch(page: Page, cases: list[tuple]) -> None:
    for (query, scale, cosine), here in zip(cases, attend_in(page, cases), strict=True):
        sides = [torch.tensor([query], dtype=torch.float64), KEYS]
        if cosine:
            sides = [normalize(side, eps=1e-300) for side in sides]
        found = attend(*sides, VALUES, scorer=ScaledDot(scale))
        for name, within in (("scores", 1e-9), ("weights", 0), ("output", 0)):
            expected = getattr(found, name)[0].tolist()
            assert here[name] == pytest.approx(expected, rel=within, abs=1e-6), (query, scale)
            assert all(map(math.isfinite, here[name]))
        assert sum(here["weights"]) == pytest.approx(1)


def test_its_attention_is_torchs_at_random_places_and_temperatures(page):
    dice = random.Random(1)
    hold_against_torch(
        page,
        [
            ([dice.gauss(0, 3), dice.gauss(0, 3)], math.exp(dice.uniform(-5, 5)), cosine)
            for _ in range(200)
            for cosine in (False, True)
        ],
    )


def test_extremes_are_torchs_and_never_no_number(page):
    """A query far away or nowhere, a temperature near 0 or without end."""
    queries = [[0.0, 0.0], [1e-30, 0.0], [1e6, -2e6], [-1e12, 1e12]]
    scales = [0.0, 1e-9, 1.0, 1e6, 1e12]
    hold_against_torch(page, [(q, s, c) for q in queries for s in scales for c in (False, True)])


def test_the_query_stays_where_it_was_put_when_a_control_moves(page):
    page.mouse.click(*on_page(page, -0.5, 0.75))
    assert check(page) == near(-0.5, 0.75)
    page.get_by_role("slider", name="temperature").press("Home")
    assert check(page, 2**-0.5 / 0.25) == near(-0.5, 0.75)
    page.get_by_role("combobox").select_option("cosine")
    assert check(page, 2**-0.5 / 0.25, cosine=True) == near(-0.5, 0.75)


def test_it_stays_when_a_control_brings_other_keys(page_factory):
    def some(count):
        """A query among some keys"""
        return Plane(KEYS[:count], NAMES[:count], VALUES[:count], reach=2, resizes=True)

    page = page_factory(explore(some, count=(1, 4)).html())
    page.mouse.click(*on_page(page, -1, 1))
    page.get_by_role("slider").press("End")
    assert page.locator("tbody tr").count() == 4
    assert shown(page)["query"] == pytest.approx([-1, 1], abs=0.02)


# --- pointer, touch, keyboard -----------------------------------------------------------------


def test_it_follows_the_pointer_only_while_it_is_dragged(page):
    page.mouse.move(*on_page(page, *HOME))
    page.mouse.move(*on_page(page, 0, 0))
    assert check(page) == HOME
    page.mouse.move(*on_page(page, *HOME))
    page.mouse.down()
    page.mouse.move(*on_page(page, -1, 0.5), steps=4)
    assert check(page) == near(-1, 0.5)
    page.mouse.move(5, 5)  # outside: it stops at the edge
    assert check(page) == (-REACH, REACH)
    page.mouse.up()
    page.mouse.move(*on_page(page, 0, 0))
    assert check(page) == (-REACH, REACH)


def test_a_click_sets_it(page):
    page.mouse.click(*on_page(page, 0.5, -1.5))
    assert check(page) == near(0.5, -1.5)


def test_a_click_on_the_values_or_the_table_does_not(page):
    page.locator(".wtl-plane").last.click()
    page.locator(".wtl-words").click()
    assert check(page) == HOME


def test_the_arrow_keys_move_it(page):
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(grip(page)).to_be_focused()
    assert grip(page).evaluate("g => getComputedStyle(g).stroke") != "none"
    for key, x, y in [
        ("ArrowRight", 1.1, 1), ("ArrowUp", 1.1, 1.1), ("Shift+ArrowLeft", 1.09, 1.1),
        ("Shift+ArrowDown", 1.09, 1.09), ("ArrowDown", 1.09, 0.99), ("ArrowLeft", 0.99, 0.99),
        ("Home", 1, 1),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert check(page) == pytest.approx((x, y))
    for _ in range(15):
        page.keyboard.press("ArrowUp")
    assert check(page) == pytest.approx((1, REACH))


def test_the_browsers_own_keys_stay_its_own(page):
    page.evaluate("addEventListener('keydown', e => { window.kept = e.defaultPrevented })")
    grip(page).focus()
    for keys in ("Control+Home", "Alt+ArrowUp", "a"):
        page.keyboard.press(keys)
        assert page.evaluate("window.kept") is False
    assert check(page) == HOME


@pytest.fixture
def touched(browser: Browser, made, tmp_path) -> Page:
    """A small touch screen with more page above and below."""
    file, room = tmp_path / "touch.html", '<p style="height: 900px">text</p>'
    file.write_text(
        "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"{made.html()}{room}",
        "utf-8",
    )
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 700})
    page = context.new_page()
    page.goto(file.as_uri())
    yield page
    context.close()


def swipe(page: Page, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Put a finger down, move it in twenty steps, lift it."""
    finger = page.context.new_cdp_session(page)
    for i in range(21):
        point = {"x": start[0] + by[0] * i / 20, "y": start[1] + by[1] * i / 20}
        kind = "touchMove" if i else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(300)  # a scroll comes to rest


def test_a_finger_drags_it_and_the_page_stays(touched):
    x, y = on_page(touched, *HOME)
    swipe(touched, (x, y), (-80, -50))
    assert touched.evaluate("scrollY") == 0
    per_pixel = REACH * SIDE / 100 / touched.locator(".wtl-plane").first.bounding_box()["width"]
    moved = HOME[0] - 80 * per_pixel, HOME[1] + 50 * per_pixel
    assert check(touched) == pytest.approx(moved, abs=per_pixel)


def test_a_finger_beside_it_scrolls_the_page_and_it_stays(touched):
    swipe(touched, on_page(touched, -1, 0), (0, -200))
    assert touched.evaluate("scrollY") > 100
    assert check(touched) == HOME


def test_a_tap_sets_it(touched):
    touched.touchscreen.tap(*on_page(touched, -1, -0.5))
    assert check(touched) == near(-1, -0.5)


def test_its_grip_is_large_enough_for_a_finger(touched):
    box = grip(touched).bounding_box()
    assert min(box["width"], box["height"]) >= 44


# --- for a screen reader ----------------------------------------------------------------------


def test_it_has_a_name_that_says_what_to_do(page):
    arrow = page.get_by_role("application", name="q: drag it, or move it with the arrow keys")
    assert arrow.count() == 1
    for name in ("query and keys", "values and output"):
        assert page.get_by_role("group", name=name).count() == 1


def test_it_says_where_it_came_to_rest_and_nothing_on_the_way(page):
    said = page.locator(".wtl-said")
    assert said.get_attribute("aria-live") == "polite"
    page.wait_for_timeout(700)
    assert said.text_content() == ""  # nobody moved it yet
    page.evaluate(
        """() => { window.times = 0; new MutationObserver(() => { window.times += 1; })
           .observe(document.querySelector('.wtl-said'), { childList: true }); }"""
    )
    grip(page).focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    expect(said).not_to_be_empty()
    assert page.evaluate("window.times") == 1
    words = " ".join(said.text_content().split())
    cells = page.locator("tbody td").all_text_contents()
    assert words.startswith("q (0.20, 1.00) length 1.02 angle 79° output (")
    assert words.endswith(f"k₄ {cells[-2]} {cells[-1]}")


def test_a_control_that_moves_is_heard_too(page):
    page.get_by_role("slider", name="temperature").press("Home")
    expect(page.locator(".wtl-said")).to_contain_text("q (1.00, 1.00)")


def test_its_table_has_headers(page):
    for role, names in (("columnheader", ["score", "weight"]), ("rowheader", NAMES)):
        for name in names:
            assert page.get_by_role(role, name=name, exact=True).count() == 1


# --- how it stands on a page ------------------------------------------------------------------


def drawn(page: Page) -> tuple[list[str], list[float]]:
    """All words, and all numbers of all paths."""
    texts = page.locator(".wtl-view :is(text, span, td)").all_text_contents()
    paths = page.locator(".wtl-view path:not(.wtl-axis)").evaluate_all(
        "paths => paths.map(path => path.getAttribute('d'))"
    )
    return texts, [float(n) for path in paths for n in re.findall(r"[-.\d]+", path)]


def test_the_first_frame_stands_without_script(page_factory, made):
    page = page_factory(made.html(), script=False)
    still = page.locator("tbody td").all_text_contents()
    found = attend(torch.tensor([HOME], dtype=torch.float64), KEYS, VALUES)
    pairs = zip(found.scores[0].tolist(), found.weights[0].tolist(), strict=True)
    assert still == [f"{n:.2f}".replace("-", "−") for pair in pairs for n in pair]
    expect(grip(page)).to_be_hidden()  # nothing to drag


def test_the_scripts_first_frame_is_pythons(page_factory, made):
    still, alive = page_factory(made.html(), script=False), page_factory(made.html())
    words, numbers = drawn(still)
    assert drawn(alive)[0] == words
    assert drawn(alive)[1] == pytest.approx(numbers, abs=0.2)
    sizes = [
        p.locator(".wtl-view").evaluate("v => [v.offsetWidth, v.offsetHeight]")
        for p in (still, alive)
    ]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_jumps_and_nothing_overflows_wherever_it_is(page_factory, made, width):
    page = page_factory(made.html(), width=width)
    page.get_by_role("slider", name="temperature").press("Home")  # long scores
    boxes = set()
    for x in (-2, -1, 0, 1.5, 2):
        for y in (-2, -0.1, 0, 2):
            page.mouse.click(*on_page(page, x, y))
            boxes.add(str([b.bounding_box() for b in page.locator(".wtl-plane, table").all()]))
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert len(boxes) == 1
    assert page.problems == []


def test_any_name_is_text(page_factory):
    hostile = ["</script><script>hacked=1</script>", "<img src=x onerror=hacked=1>", "'\"`&amp;"]

    def view(scale):
        """A hostile plane"""
        return Plane(KEYS[:3], hostile, VALUES[:3], scale=scale, title=hostile[0], reach=2)

    page = page_factory(explore(view, scale=[1.0, 2.0]).html())
    page.mouse.click(*on_page(page, -1, 1))
    page.get_by_role("combobox").select_option("2.0")
    assert page.locator("tbody th").all_text_contents() == hostile
    assert page.locator(".wtl-plane text").all_text_contents()[:3] == hostile
    expect(page.locator(".wtl-said")).to_contain_text(hostile[1])
    assert page.evaluate("window.hacked") is None
    assert page.problems == []


def test_it_moves_where_there_are_no_frames(page_factory, made):
    """As in a live panel's result: markup only."""
    view = show(draw()).html()
    page = page_factory(re.sub(r'<script type="application/json">.*?</script>', "", view))
    page.mouse.click(*on_page(page, -1, 0.5))
    assert check(page) == near(-1, 0.5)
    assert page.problems == []


@pytest.mark.parametrize("dark", [False, True])
def test_its_words_stand_out(page_factory, made, dark):
    scheme = "dark" if dark else "light"
    page = page_factory(f"<style>html {{ color-scheme: {scheme} }}</style>{made.html()}", dark=dark)
    colours = page.locator(".wtl-words *, .wtl-plane text").evaluate_all(
        """all => [...new Set(all.map(e =>
             getComputedStyle(e)[e.tagName === 'text' ? 'fill' : 'color']))]"""
    )
    ink = page.locator("wtl-explorer").evaluate("e => getComputedStyle(e).color")
    assert colours == [ink]


def test_paper_shows_where_it_was_put(page):
    page.mouse.click(*on_page(page, -1, 0.5))
    page.emulate_media(media="print")
    expect(page.locator(".wtl-words")).to_be_visible()
    assert check(page) == near(-1, 0.5)

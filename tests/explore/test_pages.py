"""The explorers of the built book: every control of every page answers to the keyboard."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from wheretolook.explore.assets import has_script, parts

PLACE = "f => f.type === 'checkbox' ? +f.checked : f.selectedIndex ?? Number(f.value)"
LAST = "f => f.type === 'checkbox' ? 1 : Number(f.max || f.options?.length - 1)"


def pages_with_explorers(html: Path) -> list[str]:
    pages = [p for p in html.rglob("*.html") if "<wtl-explorer" in p.read_text(encoding="utf-8")]
    return sorted(p.relative_to(html).as_posix() for p in pages)


def press(field: Locator, place: int, last: int) -> None:
    keys = {"checkbox": ("Space", "Space"), "range": ("ArrowRight", "ArrowLeft")}
    onward, back = keys.get(field.get_attribute("type"), ("ArrowDown", "ArrowUp"))
    field.focus()
    field.press(onward if place < last else back)


def everything(explorer: Locator) -> str:
    return explorer.locator(".wtl-views").evaluate("v => v.innerHTML")


def test_the_book_has_explorers(html):
    assert pages_with_explorers(html)


@pytest.mark.parametrize("files", [False, True], ids=["localhost", "file"])
def test_every_control_of_every_page_moves_its_view(html, open_page, files):
    still = []
    for path in pages_with_explorers(html):
        page = open_page(path, files=files)
        for explorer in page.locator("wtl-explorer").all():
            label = explorer.get_attribute("aria-label")
            for field in explorer.locator(".wtl-controls :is(input, select)").all():
                name = field.locator("xpath=..").get_attribute("data-name")
                seen, last = {everything(explorer)}, field.evaluate(LAST)
                for _ in range(min(last, 3)):  # a step may change nothing that is printed
                    place = field.evaluate(PLACE)
                    press(field, place, last)
                    assert field.evaluate(PLACE) != place, f"{path}: {label}: {name}"
                    seen.add(everything(explorer))
                if last and len(seen) == 1:
                    still.append(f"{path}: {label}: {name}")
        assert page.problems == [], path
        page.context.close()
    assert still == []


def test_every_control_of_every_page_has_a_label(html, open_page):
    for path in pages_with_explorers(html):
        page = open_page(path)
        names = page.locator("wtl-explorer .wtl-controls label").evaluate_all(
            "labels => labels.map(l => [l.control !== null, l.querySelector('span').textContent])"
        )
        assert all(labelled and name.strip() for labelled, name in names), path


def test_only_pages_with_an_explorer_load_its_script(html):
    with_script = {
        p.relative_to(html).as_posix()
        for p in html.rglob("*.html")
        if "_static/explorer-" in p.read_text(encoding="utf-8")
    }
    assert with_script == set(pages_with_explorers(html))


def test_a_page_loads_the_parts_of_its_views_and_no_others(html):
    for path in pages_with_explorers(html):
        text = (html / path).read_text(encoding="utf-8")
        (name,) = re.findall(r"_static/explorer-([\w-]+)\.js", text)
        loaded, shown = set(name.split("-")), set(re.findall(r'data-kind="(\w+)"', text))
        needed = shown & {part for part in parts() if has_script(part)}
        assert needed <= loaded, path  # more, where one leans on another: ribbons are a map, too
        alone = {"block", "curves", "fovea", "plane"}
        assert loaded & alone == shown & alone, path

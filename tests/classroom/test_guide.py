"""The teacher's guide says of times, points and limits what is so."""

import re
from pathlib import Path

import pytest

from wheretolook.check.variants import VARIANTS
from wheretolook.classroom.chapter import Chapter, chapters, joined
from wheretolook.classroom.proxy import Limits

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
BOOK = chapters(ROOT / "notebooks")


def table(*first: str) -> list[list[str]]:
    """Read the rows of the table whose headings begin with these."""
    (found,) = re.findall(rf"^\| {re.escape(' | '.join(first))} .*\n((?:\|.*\n)+)", GUIDE, re.M)
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines()[1:]
    ]


def time_of(chapter: Chapter) -> str:
    """Return what a chapter says of its own length."""
    (said,) = re.findall(r"\*\*Time:\*\* (.+)", "\n".join(map(joined, chapter.notebook["cells"])))
    return said


def form_of(checker: str) -> str:
    """Write what a teacher may choose, as the guide writes it."""
    variant = VARIANTS[checker]
    name = f"{checker}.{variant.parameter}"
    if isinstance(variant.accepts[0], float):
        return f"`{name}` ({variant.accepts[0]:g} to {variant.accepts[1]:g})"
    *others, last = (f'`"{value}"`' for value in variant.accepts)
    first = f"`{name} = {(others or [last])[0][1:]}"
    return f"{', '.join([first, *others[1:]])} or {last}" if others else first


def test_times_and_sums_of_points_are_the_chapters_own():
    for chapter, row in zip(BOOK, table("chapter", "reading and sliders"), strict=True):
        assert re.fullmatch(rf"\[{int(chapter.name[:2])} .+\]\(.+/{chapter.name}.ipynb\)", row[0])
        for part in row[1].replace(" min", " minutes").split(", "):
            assert part in time_of(chapter)
        assert row[2:4] == [str(len(chapter.tasks)), f"{sum(t.points for t in chapter.tasks):g}"]


def test_every_exercise_is_listed_with_its_points_and_its_graded_form():
    tasks = [(chapter, task) for chapter in BOOK for task in chapter.tasks]
    for (chapter, task), row in zip(tasks, table("chapter", "exercise"), strict=True):
        assert row[:3] == [str(int(chapter.name[:2])), task.title, f"{task.points:g}"]
        if like := re.fullmatch(r"`([\w.]+)`, (?:likewise|as in chapter 4)", row[4]):
            variant = VARIANTS[task.checker]
            assert like[1] == f"{task.checker}.{variant.parameter}"
            assert variant.accepts == VARIANTS["attention_weights"].accepts
        else:
            assert row[4] == form_of(task.checker)


@pytest.mark.parametrize("command", [row[1] for row in table("you want to", "type")])
def test_every_command_is_one_of_the_makefile(command):
    _, target, *given = command.strip("`").split()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.M)
    for word in given:
        assert f"$({word.partition('=')[0]})" in makefile


def test_limits_are_those_of_the_package():
    limits = Limits()
    assert (
        f"{limits.call:g} seconds of a processor for one call of an answer, {limits.cell:g} for a "
        f"cell, {limits.whole / 60:g} minutes for a notebook, {limits.memory >> 30} GB of memory"
    ) in GUIDE

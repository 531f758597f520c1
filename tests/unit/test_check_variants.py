"""Graded forms: what is right changes, what is said of mistakes stays, and a copy earns nothing."""

from pathlib import Path

import pytest
import torch
from graded import RIGHT
from torch import nn

from wheretolook import check
from wheretolook.check.variants import VARIANTS
from wheretolook.classroom.chapter import chapters, joined

BOOK = chapters(Path(__file__).parents[2] / "notebooks")
TASKS = [(chapter, task) for chapter in BOOK for task in chapter.tasks]


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_every_code_exercise_has_a_graded_form():
    assert {task.checker for _, task in TASKS} == set(VARIANTS) == set(RIGHT)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_to_the_graded_form_earns_all(name):
    value, answer = RIGHT[name]
    marks = check.varied(name, answer, 2, **{VARIANTS[name].parameter: value})
    assert (marks, marks.status) == (2, "right"), marks.feedback


@pytest.mark.parametrize("name", RIGHT)
def test_and_nothing_as_practice(name):
    value, answer = RIGHT[name]
    assert getattr(check, name)(answer) == 0


def choices(name):
    """List what a teacher may choose; of a range, its ends."""
    accepted = VARIANTS[name].accepts
    return [int(x) if name == "shifted_target" else x for x in accepted]


@pytest.mark.parametrize(
    ("chapter", "task"), [pytest.param(*pair, id=pair[1].checker) for pair in TASKS]
)
def test_the_public_solution_earns_nothing_and_hears_why(chapter, task):
    cells = {cell["id"]: joined(cell) for cell in chapter.notebook["cells"]}
    space = {"torch": torch, "nn": nn, "check": check}
    exec(cells[f"sol-{task.id.removeprefix('ex-')}"], space)
    for value in choices(task.checker):
        given = {VARIANTS[task.checker].parameter: value}
        marks = check.varied(task.checker, space[task.answer], 2, **given)
        assert (marks, marks.status) == (0, "wrong")
        assert "answer to the practice exercise" in marks.feedback


def test_known_mistakes_are_known_in_the_graded_form_too():
    def turned(query, key):
        return (query @ key.mT / query.shape[-1]).softmax(-2)

    assert "over the queries" in check.varied("attention_weights", turned, 2, scale="1/E").feedback


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("nothing", {}, "'nothing' is none of"),
        ("attention_weights", {}, r"nothing; accepted: scale = '1/E' or"),
        ("attention_weights", {"scale": "1/D"}, "scale = '1/D'; accepted"),
        ("attention_weights", {"factor": "1/E"}, "factor = '1/E'; accepted"),
        ("running_variance", {"momentum": 0.9}, "momentum = 0.9; accepted: momentum = 0.15 to 0.5"),
    ],
)
def test_what_is_not_accepted_is_named(name, given, message):
    with pytest.raises(ValueError, match=message):
        check.varied(name, lambda: None, 2, **given)

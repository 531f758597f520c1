"""The bench of a chapter's checkers: what readers answer, and what each answer must get.

Answers are written as readers write them, not taken from the checker's own list of mistakes. The
file of a chapter has them, and a table::

    TestBench = bench({check.own_rank: Answers(RIGHT, WRONG, PARTLY)})

A test's id names the checker and, by its place in the list, the answer. Assertions speak for
themselves here, since pytest looks into those of test files only.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest
import torch

from wheretolook.check import Exercise


def not_yet(*_: Any) -> None:
    raise NotImplementedError


BLANK = [None, ..., not_yet, lambda *_: None, lambda *_: ..., lambda *_: NotImplemented]


class Answers(NamedTuple):
    """What readers answer to one exercise; where something is wrong, with a pattern of what to say.

    Partly right is an answer with one fault, such as a lost dtype.
    """

    right: list[Any]
    wrong: list[tuple[Any, str]]
    partly: list[tuple[Any, str]]
    blank: list[Any] = BLANK


def bench(table: Mapping[Callable, Answers]) -> type:
    """Make the tests that all checkers of a chapter must pass: a class, to be called Test…"""

    def every(kind: str) -> list:
        """Lay out one kind of answer for all checkers."""
        return [
            pytest.param(
                checker, *(x if isinstance(x, tuple) else (x,)), id=f"{checker.__name__}-{i}"
            )
            for checker, answers in table.items()
            for i, x in enumerate(getattr(answers, kind))
        ]

    class Bench:
        @pytest.fixture(autouse=True)
        def one_thread(self) -> Iterator[None]:
            """Many tiny products: threads would only wait for each other."""
            threads = torch.get_num_threads()
            torch.set_num_threads(1)
            yield
            torch.set_num_threads(threads)

        @pytest.mark.parametrize(("checker", "answer"), every("right"))
        def test_every_right_way_of_writing_earns_all_points(self, checker, answer):
            marks = checker(answer, points=4)
            assert (marks, marks.status) == (4.0, "right"), marks.feedback
            assert "✗" not in marks.feedback, marks.feedback

        @pytest.mark.parametrize(("checker", "answer", "message"), every("wrong"))
        def test_a_wrong_answer_earns_nothing_but_its_message(self, checker, answer, message):
            marks = checker(answer)
            assert (marks, marks.status) == (0.0, "wrong"), marks.feedback
            assert re.search(message, marks.feedback), f"no “{message}” in: {marks.feedback}"
            shown = re.findall(r"\d\.\d\d", marks.feedback)
            assert not shown, f"no value of the result may be shown: {marks.feedback}"

        @pytest.mark.parametrize(("checker", "answer", "message"), every("partly"))
        def test_an_answer_with_one_fault_earns_some_points(self, checker, answer, message):
            marks = checker(answer, points=2)
            assert 1 <= marks < 2 and marks.status == "partly", marks.feedback
            assert re.search(message, marks.feedback), f"no “{message}” in: {marks.feedback}"
            assert "✓" in marks.feedback, marks.feedback

        @pytest.mark.parametrize(("checker", "answer"), every("blank"))
        def test_a_blank_answer_is_not_answered_yet(self, checker, answer):
            marks = checker(answer, points=2)
            assert (marks, marks.status) == (0.0, "blank"), marks.feedback
            assert marks.feedback.startswith("Not answered yet: 0 of 2 points"), marks.feedback

        @pytest.mark.parametrize(
            "exercise", [pytest.param(exercise_of(c), id=c.__name__) for c in table]
        )
        def test_each_mistake_can_be_seen_and_speaks_for_itself(self, exercise):
            """Two that give the same say the same, and none gives what is right."""
            first, seen, seen_first = exercise.cases[0], set(), set()
            for case in (first, *(case for case, _ in exercise.elsewhere)):
                draws = [exercise.draw(case, seed) for seed in (4, 9, 16)]
                right = results(exercise.solution, draws)
                # Other sizes are only tried on what the first can't show.
                tried = [m for m in exercise.mistakes if m not in seen_first]
                made = {m: results(m.function, draws) for m in tried}
                as_right = {m for m, r in made.items() if same(r, right)}
                assert not as_right or case is not first, f"right: {as_right}"
                made = {m: r for m, r in made.items() if r and m not in as_right}
                for a, b in itertools.combinations(made, 2):
                    alike = a.message != b.message and same(made[a], made[b])
                    assert not alike, f"the same, for {case.name}: {a}, {b}"
                seen |= set(made)
                seen_first = set(made) if case is first else seen_first
            unseen = set(exercise.mistakes) - seen
            assert not unseen, f"no case can show {unseen}"

    return Bench


def exercise_of(checker: Callable) -> Exercise:
    """Find what a checker marks: own_rank has _OWN_RANK beside it."""
    return checker.__globals__[f"_{checker.__name__.upper()}"]


def results(function: Callable[..., torch.Tensor], draws: list[dict]) -> list[torch.Tensor]:
    """Return what a function makes of some inputs, or nothing where their sizes don't allow it."""
    try:
        return [function(*draw.values()).double() for draw in draws]
    except (RuntimeError, IndexError):
        return []


def same(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    """Say whether two functions made the same of the same inputs."""
    return bool(some and others) and all(
        x.shape == y.shape and torch.allclose(x, y, 1e-3, 1e-4)
        for x, y in zip(some, others, strict=True)
    )

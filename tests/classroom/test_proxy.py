"""Through the proxy, every checker says what it says to a function in its own process."""

import contextlib
import importlib
import os
import socket

import pytest
import torch

from wheretolook.classroom.proxy import Answer, Limits, Room, Stranger, built
from wheretolook.classroom.room import dummy
from wheretolook.classroom.room.pupil import Pupil

BENCHES = [importlib.import_module(f"unit.test_check_ch{n:02}").TestBench for n in range(1, 9)]
KINDS = (
    "every_right_way_of_writing_earns_all_points",
    "a_wrong_answer_earns_nothing_but_its_message",
    "an_answer_with_one_fault_earns_some_points",
    "a_blank_answer_is_not_answered_yet",
)


# All of them take minutes; every seventh finds what breaks.
STEP = 1 if os.environ.get("WHERETOLOOK_ALL_ANSWERS") else 7


def answers() -> list:
    """List checker and answer of all benches."""
    every = [
        pytest.param(*given.values[:2], id=given.id)
        for bench in BENCHES
        for kind in KINDS
        for given in getattr(bench, f"test_{kind}").pytestmark[0].args[1]
        if not is_package(given.values[1])
    ]
    return every[::STEP]


def is_package(answer) -> bool:
    """Say whether an answer belongs to the package: there is no such thing in a room."""
    module = getattr(answer, "__module__", None) or type(answer).__module__
    return str(module).startswith("wheretolook")


class Forked(Room):
    """A room made by forking, so that it holds any function of a test as its answer."""

    def __init__(self, answer) -> None:
        self.limits, self.gone = Limits(call=20), ""
        self.link, other = socket.socketpair()
        self.child = os.fork()
        if not self.child:
            with contextlib.suppress(BaseException):
                self.link.close()
                torch.set_num_threads(1)
                _without_package(answer)
                Pupil(other, {"answer": answer}).serve()
            os._exit(0)
        other.close()

    def close(self) -> None:
        self.link.close()
        os.waitpid(self.child, 0)

    def used(self) -> float:
        return 0

    def _memory(self) -> int:
        return 0


def _without_package(answer) -> None:
    """Put a dummy in the place of each name of the package, as in a room."""
    names = getattr(answer, "__globals__", {})
    for name, thing in list(names.items()):
        if str(getattr(thing, "__module__", "")).startswith("wheretolook") and callable(thing):
            names[name] = dummy.Blank()


def through(checker, answer, **points):
    """Ask a checker about an answer in another process."""
    with Forked(answer) as room:
        reply, tensors = room.ask({"do": "look", "name": "answer"})
        if reply["is"] == "borrowed":
            return checker(Stranger(), **points)
        if reply["is"] == "function":
            far = Answer(room, "answer", reply["signature"])
            marks = checker(far, **points)
        else:
            marks = checker(built(reply, tensors), **points)
        assert not room.gone
    return marks


@pytest.mark.parametrize(("checker", "answer"), answers())
def test_the_same_is_said_through_the_proxy(checker, answer):
    here, there = checker(answer, points=2), through(checker, answer, points=2)
    assert (there, there.status) == (here, here.status)
    assert there.feedback == here.feedback

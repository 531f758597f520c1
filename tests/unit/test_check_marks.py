"""Marks are a bare number to a machine; whatever an answer does, nothing is raised or printed."""

import copy
import pickle
import sys
import warnings

import pytest
import torch

from wheretolook import check
from wheretolook.check import Finding, Marks


def good(query, key):
    return (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)


def test_text_is_that_of_the_plain_float():
    marks = Marks(1.5, 2, "partly", [Finding(True, "a"), Finding(False, "b")])
    assert isinstance(marks, float)
    assert repr(marks) == str(marks) == f"{marks}" == "1.5"
    assert float(marks) == 1.5
    assert marks.feedback == "Partly right: 1.5 of 2 points\n✓ a\n✗ b"


def test_notebook_shows_number_as_text_and_feedback_as_html():
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    data, _ = formatter.format(check.attention_weights(good, points=2))
    assert data["text/plain"] == "2.0"
    assert 'role="status"' in data["text/html"]
    assert "All right: 2 of 2 points" in data["text/html"]


def test_marks_can_be_copied_and_pickled():
    marks = check.attention_weights(good)
    for twin in (copy.deepcopy(marks), pickle.loads(pickle.dumps(marks))):
        assert twin == marks
        assert twin.feedback == marks.feedback


def test_a_blank_answer_is_not_a_wrong_one():
    html = check.attention_weights(lambda query, key: None)._repr_html_()
    assert "Not answered yet: 0 of 2 points" in html
    assert "○" in html
    assert "✗" not in html


def test_feedback_is_escaped():
    def hostile(query, key):
        raise ValueError("</div><script>alert(1)</script>")

    html = check.attention_weights(hostile)._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


class Fights:
    """A result that raises whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)

    __eq__ = __len__ = __float__ = __array__ = __iter__ = __getattribute__


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *_, **__):
        raise RuntimeError("no")


class Deep(BaseException):
    pass


def throw(error):
    raise error


def endless(query, key):
    return endless(query, key)


@pytest.mark.parametrize(
    "answer",
    [
        lambda q, k: Fights(),
        lambda q, k: throw(Unprintable()),
        lambda q, k: throw(Deep()),
        lambda q, k: throw(KeyboardInterrupt()),
        lambda q, k: throw(SystemExit(0)),
        lambda q, k: torch.zeros(3, 7, 9).as_subclass(Liar),
        lambda q, k: torch.zeros(3, 7, 9, device="meta"),
        lambda q, k: torch.zeros(3, 7, 9).to_sparse(),
        lambda q, k: torch.zeros(3, 7, 9, dtype=torch.complex64),
        lambda q, k: torch.zeros(3, 7, 9, dtype=torch.bool),
        lambda q, k: torch.tensor([]),
        lambda q, k: [q, [k, {}]],
        lambda q, k: q.resize_(0),
        lambda q, k: dict(a=q),
        lambda q, k: True,
        endless,
        "text",
        object(),
        dict,
    ],
)
def test_nothing_is_raised(answer):
    marks = check.attention_weights(answer)
    assert (marks, marks.status) == (0.0, "wrong")
    assert marks.feedback.count("✗") == 1
    assert marks._repr_html_()


def test_nothing_is_raised_by_an_object_that_fights():
    assert check.attention_weights(Fights()) == 0  # pytest can't carry it as a parameter


def test_nothing_is_printed(capfd):
    def talks(query, key):
        print("out")
        print("err", file=sys.stderr)
        warnings.warn("beware", stacklevel=1)
        return good(query, key)

    assert check.attention_weights(talks) == 2
    assert capfd.readouterr() == ("", "")


def test_readers_warnings_profiler_and_random_numbers_are_left_alone():
    seen = []
    torch.manual_seed(0)
    before = torch.get_rng_state()
    sys.setprofile(watch := lambda *_: seen.append(1))
    try:
        check.attention_weights(lambda q, k: 1 / 0)
        assert sys.getprofile() is watch
    finally:
        sys.setprofile(None)
    assert torch.equal(torch.get_rng_state(), before)
    with pytest.warns(UserWarning, match="still"):
        warnings.warn("still", stacklevel=1)


def test_a_check_works_where_gradients_are_off():
    with torch.no_grad():
        assert check.attention_weights(good) == 2


def test_error_names_the_readers_own_line():
    def answer(query, key):
        scores = query @ key.mT
        return torch.nn.functional.softmax(scores, dim=7)

    feedback = check.attention_weights(answer).feedback
    assert "IndexError" in feedback
    assert "return torch.nn.functional.softmax(scores, dim=7)" in feedback


def test_points_are_never_rounded_up():
    def partly(query, key):
        return good(query, key).detach()

    for points in (0.25, 1, 2, 3, 10):
        marks = check.attention_weights(partly, points)
        assert marks.status == "partly"
        assert marks < points
        assert check.attention_weights(good, points) == points

"""What CONTRIBUTING shows as an example works as it stands."""

import re
from pathlib import Path

import pytest

from wheretolook.explore import explore

TEXT = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")


def example(word: str) -> dict:
    """Run the example that has a word in it, as a reader would paste it."""
    (code,) = [c for c in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if word in c]
    exec(code, given := {})
    return given


def test_the_example_of_a_view_is_a_view():
    given = example("(View)")
    explorer = explore(lambda x: given["Level"](x, "height"), x=(0.0, 1.0, 0.5))
    assert explorer.frames == 3 and explorer.parts == ["level", "save"]
    assert '<b class="wtl-level" data-v style="--w:0.5">0.50</b>' in explorer.html()
    assert '<b class="wtl-level" data-v></b>' in explorer.views()[0].markup(1.0, None)
    assert explorer.png().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        (lambda counts: counts / counts.sum(-1, keepdim=True), "right", "✓"),
        (lambda counts: counts / counts.sum(-2, keepdim=True), "wrong", "queries are rows"),
        (lambda counts: counts / counts.sum((1, 2), keepdim=True), "wrong", "Each row should"),
        (lambda counts: counts.softmax(-1), "wrong", "divide them by their sum"),
        (lambda counts: ..., "blank", "Not answered yet"),
    ],
)
def test_the_example_of_an_exercise_answers_back(answer, status, message):
    marks = example("Exercise(")["row_shares"](answer, points=2)
    assert (marks.status, float(marks)) == (status, 2.0 if status == "right" else 0.0)
    assert message in marks.feedback


def test_what_contributing_names_is_there():
    """Files and make targets, so that the words can't outlive them."""
    root = Path(__file__).parents[2]
    for name in re.findall(
        r"`((?:src|book|tests|tools|notebooks|check|data|explore)/[\w./-]*)`", TEXT
    ):
        if "lines." in name:  # an invented one
            continue
        sources = [Path(name)]
        if name.endswith(".html"):  # a page of the site
            sources = [Path(name).with_suffix(ending) for ending in (".md", ".ipynb")]
        bases = root, root / "src/wheretolook"
        assert any((base / source).exists() for base in bases for source in sources), name
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)", TEXT):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target

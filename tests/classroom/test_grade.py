"""A class is marked once: what is known is kept, what is new replaces its own row and no other."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from classroom.synthetic import ATTENTION, RIGHT, WEIGHTS, Maker, others

from wheretolook.classroom.__main__ import main
from wheretolook.classroom.chapter import chapters, joined
from wheretolook.classroom.release import release

ROOT = Path(__file__).parents[2]
BOOK = chapters(ROOT / "notebooks")


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Write notebooks of chapter 4."""
    files = release(BOOK, ROOT / "book" / "references.bib", tmp_path_factory.mktemp("student"))
    return Maker(json.loads(files[3].read_text("utf-8")), others(BOOK[4]))


@pytest.fixture
def home(tmp_path, make):
    """A folder with two submissions."""
    for name, answers in {"ida": RIGHT, "kim": {"my_weights": WEIGHTS}}.items():
        hand_in(tmp_path, name, make.bytes(answers))
    return tmp_path


def hand_in(home, name, content):
    file = home / "in" / name / "04-self-attention.ipynb"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def grade(home, *more):
    arguments = ["grade", str(home / "in"), "--notebooks", str(ROOT / "notebooks")]
    assert main([*arguments, "--out", str(home / "out"), "--workers", "1", *more]) == 0
    with (home / "out" / "marks.csv").open(encoding="utf-8-sig") as stream:
        return {row["student"]: row for row in csv.DictReader(stream)}


def times(home):
    return {f.name.partition("-")[0]: f.stat().st_mtime_ns
            for f in (home / "out" / "results").glob("*.json")}  # fmt: skip


def test_a_second_run_does_only_what_is_new(home, make):
    first = grade(home)
    assert [first[name]["total"] for name in ("ida", "kim")] == ["10", "2"]
    before = times(home)
    assert grade(home) == first
    assert times(home) == before

    hand_in(home, "kim", make.bytes({"my_weights": WEIGHTS, "my_attention": ATTENTION}))
    hand_in(home, "zoe", b"")
    second = grade(home)
    assert second["ida"] == first["ida"]
    assert second["kim"]["total"] == "5"
    assert second["zoe"]["status"] == "not run: the file is empty"
    after = times(home)
    assert after["ida"] == before["ida"] and after["kim"] > before["kim"]


def test_public_solutions_earn_nothing_in_the_graded_form(home, make, capsys):
    cells = {cell["id"]: joined(cell) for cell in BOOK[3].notebook["cells"]}
    names = {"my_weights": "attention-weights", "my_attention": "self-attention",
             "my_scores": "additive-scores", "my_share": "own-share"}  # fmt: skip
    public = {name: cells[f"sol-{exercise}"] for name, exercise in names.items()}
    right = WEIGHTS.replace("** 0.5", "")
    hand_in(home, "public", make.bytes(public))
    hand_in(home, "right", make.bytes({"my_weights": right}))
    form = home / "form.toml"
    form.write_text(
        'attention_weights.scale = "1/E"\nself_attention.scale = "1/E"\n'
        'additive_scores.key = "subtracted"\nown_rank.queries = "columns"\n'
    )
    rows = grade(home, "--variant", str(form))
    assert rows["public"]["total"] == "0"
    assert rows["right"]["total"] == "2"
    (page,) = (home / "out" / "feedback").glob("public-*.html")
    assert page.read_text("utf-8").count("answer to the practice exercise") == 4
    assert "Each student&#x27;s" not in capsys.readouterr().out


def test_interrupted_it_goes_on_where_it_was(home, make):
    """Ctrl-C after the first result: that one is kept, the table is written, the rest follows."""
    hand_in(
        home, "last", make.bytes(RIGHT | {"my_share": "def my_share(w):\n    while True: pass"})
    )
    command = [sys.executable, "-m", "wheretolook.classroom", "grade", str(home / "in")]
    command += [
        "--notebooks",
        str(ROOT / "notebooks"),
        "--out",
        str(home / "out"),
        "--workers",
        "1",
    ]

    def listening() -> None:  # what is started in the background may have Ctrl-C turned off
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, preexec_fn=listening) as run:
        while not list((home / "out" / "results").glob("*.json")) and run.poll() is None:
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate()
    assert run.returncode == 130
    assert b"goes on from here" in told
    known = times(home)
    assert 1 <= len(known) < 3
    assert (home / "out" / "marks.csv").exists()
    rows = grade(home)
    assert {name: row["total"] for name, row in rows.items()} == {
        "ida": "10",
        "kim": "2",
        "last": "8",
    }
    assert {n: t for n, t in times(home).items() if n in known} == known


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "neither a folder nor a zip"),
        (["in", "--chapter", "99"], "none of 01-human-attention"),
        (["in", "--notebooks", "in"], "no chapters in"),
    ],
)
def test_what_is_missing_is_named(home, arguments, message, capsys, monkeypatch):
    monkeypatch.chdir(home)
    notebooks = [] if "--notebooks" in arguments else ["--notebooks", str(ROOT / "notebooks")]
    assert main(["grade", *arguments, *notebooks]) == 2
    assert message in capsys.readouterr().err


def test_the_chapter_is_that_of_most(home, make, capsys):
    hand_in(home, "lost", make.other)
    rows = grade(home)
    assert rows["lost"]["status"] == "not run: this is another chapter, 05-masking"
    assert "chapter 04-self-attention" in capsys.readouterr().out


def test_on_linux_all_guards_hold_for_root(home, capsys):
    if sys.platform != "linux" or os.geteuid():
        pytest.skip("only root on Linux has all of them")
    grade(home)
    assert "NOT" not in capsys.readouterr().out

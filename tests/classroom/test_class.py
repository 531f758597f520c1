"""A class of synthetic students, marked in one run by real processes, beside the truth."""

import contextlib
import csv
import json
import re
import threading
import time
import zipfile
from pathlib import Path

import psutil
import pytest
from classroom.synthetic import FULL, others, students

from wheretolook.classroom.chapter import chapters
from wheretolook.classroom.grade import Class, grade
from wheretolook.classroom.proxy import Limits
from wheretolook.classroom.release import release
from wheretolook.classroom.submissions import collect

ROOT = Path(__file__).parents[2]
BOOK = chapters(ROOT / "notebooks")
TITLES = [chapter.name for chapter in BOOK]
LIMITS = Limits(call=2, cell=2, whole=60)


class Peak(threading.Thread):
    """Watches how much memory this process and all that it started take together."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.done = 0, threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(1):
            own = psutil.Process()
            total = 0
            for process in (own, *own.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    memory = process.memory_full_info()
                    total += getattr(memory, "pss", memory.uss)
            self.most = max(self.most, total)

    def stop(self) -> float:
        """Return the most that was seen, in GB."""
        self.done.set()
        self.join()
        return self.most / 2**30


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The class, marked: its students, the marks, and how long it took."""
    home = tmp_path_factory.mktemp("class")
    release(BOOK, ROOT / "book" / "references.bib", home / "student")
    secret = home / "variant.toml"
    secret.write_text("it is a secret")
    secret.chmod(0o644)
    notebook = json.loads((home / "student" / "04-self-attention.ipynb").read_text("utf-8"))
    truth = students(notebook, others(BOOK[4]), str(secret))
    for student in truth:
        file = home / "submissions" / student.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(student.content)
    start, peak = time.monotonic(), Peak()
    out = home / "grades"
    found = collect(home / "submissions", TITLES)
    grade(found, Class(BOOK[3], BOOK, out, LIMITS, workers=2))
    with (out / "marks.csv").open(encoding="utf-8-sig") as stream:
        rows = {(row["student"], row["id"]): row for row in csv.DictReader(stream)}
    marks = {s.file: rows[f"'{s.student}" if s.student[0] == "=" else s.student, s.id]
             for s in found}  # fmt: skip
    return truth, marks, out, f"{time.monotonic() - start:.0f} s, at most {peak.stop():.1f} GB"


def test_every_mark_and_every_status_is_the_truth(course, record_property):
    truth, marks, _, cost = course
    assert len(marks) == len(truth) >= 60
    wrong = []
    for student in truth:
        got = marks[student.path]
        cells = [got[k] for k in got if k.startswith("ex-")]
        earned = tuple(float(c) if c else None for c in cells)
        # Where the system may be quicker than the limit, both are true.
        either = "|" in student.status
        same = earned == student.truth or (
            either and earned[:3] == student.truth[:3] and not earned[3]
        )
        if not (same and re.match(student.status, got["status"])):
            wrong.append((student.path, earned, student.truth, got["status"]))
    record_property("note", f"class of {len(truth)}: {cost}, {len(wrong)} disagreements")
    assert not wrong, "\n".join(map(str, wrong))


def test_a_true_zero_and_a_failure_to_run_look_different(course):
    truth, marks, *_ = course
    for student in truth:
        got = marks[student.path]
        failed = None in student.truth and "|" not in student.status
        if failed:
            assert got["status"] != "marked"
        assert (got["total"] == "") == (student.truth == (None,) * 4)
        assert got["max"] == f"{sum(FULL):g}"


def test_nothing_of_theirs_is_left(course):
    """No process outlives its marks; another test's, at work beside this one, is not theirs."""
    ours = psutil.Process().children(recursive=True)
    orphans = [p for p in psutil.process_iter(["ppid"]) if p.info["ppid"] == 1]
    left = []
    for process in [*ours, *orphans]:
        with contextlib.suppress(psutil.Error):
            left += [process] if "room.pupil" in str(process.cmdline()) else []
    assert not left


def test_everybody_has_a_page_that_is_plain_html(course):
    truth, _, out, _ = course
    pages = list((out / "feedback").glob("*.html"))
    assert len(pages) == len(truth)
    for page in pages:
        text = page.read_text("utf-8")
        assert "<script" not in text
        assert "of 10 points" in text or "No points yet" in text


def test_feedback_comes_back_under_the_names_that_moodle_gave(course):
    """Its importer looks for five parts between underscores, of which the second is a number."""
    truth, marks, out, _ = course
    with zipfile.ZipFile(out / "feedback-moodle.zip") as archive:
        parts = {tuple(name.split("_", 4)) for name in archive.namelist()}
        words = archive.read("Li Na_1042_assignsubmission_file_feedback.html").decode()
    rest = ("assignsubmission", "file", "feedback.html")
    assert parts == {(row["student"], row["id"], *rest) for row in marks.values() if row["id"]}
    assert len(parts) < len(truth)  # those without a number are not in it
    assert "<p>Li Na</p>" in words


def test_forms_for_platforms(course):
    truth, _, out, _ = course
    moodle = list(csv.DictReader((out / "moodle.csv").open(encoding="utf-8")))
    assert {"Identifier", "Full name", "Grade", "Last modified (grade)"} <= set(moodle[0])
    assert {"Participant 1042", "Participant 1043"} <= {r["Identifier"] for r in moodle}
    canvas = list(csv.reader((out / "canvas.csv").open(encoding="utf-8")))
    assert canvas[0][:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert canvas[1][0].strip() == "Points Possible" and canvas[1][5] == "10"
    assert len(canvas) == len(truth) + 2

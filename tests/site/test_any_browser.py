"""What tries the site in any browser finds what works, and what does not."""

import any_browser
import psutil
import pytest
from any_browser import visit
from browser import find

from wheretolook.explore import Heatmap, explore

COMMAND = [find(), "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir={folder}"]


def draw(scale: float) -> Heatmap:
    """A map"""
    return Heatmap([[scale, 1 - scale], [0.5, 0.5]])


MADE = explore(draw, scale=(0.0, 1.0, 0.25)).html()
PAGE = f"<!doctype html><html lang='en'><head></head><body>{MADE}"
BROKEN = {
    "no script": (PAGE.replace("customElements.define", "void"), "explorers alive: not within"),
    "a dead view": (PAGE.replace(".frames[frame]", ".frames[0]"), "scale changes nothing"),
    "one colour": (PAGE + "<style>td { background: red !important }</style>", "has one colour"),
    "an unread map": (PAGE.replace("this.read(view, cell);", ""), "a cell is not read"),
    "no picture": (PAGE.replace("toDataURL", "toNothing"), "no picture is saved"),
    "a fault": (PAGE + "<script>noSuchThing()</script>", "noSuchThing"),
    "a missing file": (PAGE + "<img src='none.png' alt=''>", "none.png is missing"),
    "too wide": (PAGE + "<p style='width: 600px'>.", "pixels wide where there are 390"),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    pages = {"good": PAGE} | {name: page for name, (page, _) in BROKEN.items()}
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    found = visit(COMMAND, [f"{name}.html" for name in pages], folder)
    return {report["path"].removesuffix(".html"): report for report in found}


def test_a_good_page_has_no_fault(reports):
    assert reports["good"] == {"path": "good.html", "explorers": 1, "controls": 1, "faults": []}


@pytest.mark.parametrize("name", BROKEN)
def test_a_fault_is_told(reports, name):
    faults = reports[name]["faults"]
    assert any(BROKEN[name][1] in fault for fault in faults), faults


def test_a_browser_that_fails_is_not_waited_for(tmp_path):
    with pytest.raises(ChildProcessError, match="sh ended with 3"):
        visit(["sh", "-c", "exit 3"], ["good.html"], tmp_path)


def test_nothing_that_it_started_is_left_behind(tmp_path, monkeypatch):
    """A browser is often started by a script, and some take their time to end."""
    monkeypatch.setattr(any_browser, "PATIENCE", 2)
    script = f"trap '' TERM; sleep 300 & echo $! > {tmp_path}/started; wait"
    with pytest.raises(TimeoutError):
        visit(["sh", "-c", script], ["good.html"], tmp_path)
    assert not psutil.pid_exists(int((tmp_path / "started").read_text()))

"""``make soak`` tells what must differ from what differs without need."""

import json
from pathlib import Path

from soak.same import MEASURED, Difference, differences

TIMES = "<table><td><p>one</p></td><td><p>{}</p></td></table>{}"


def index(**words):
    pages = {"docnames": ["book/intro", "book/status"], "terms": words}
    return f"Search.setIndex({json.dumps(pages)})".encode()


def told(first, second):
    return {d.file: bool(d.why) for d in differences(first, second)}


def test_the_same_files_have_no_difference():
    assert differences({"a.html": b"1"}, {"a.html": b"1"}) == []


def test_a_file_that_differs_or_is_missing_has_no_reason():
    found = differences({"a.html": b"1", "b.css": b""}, {"a.html": b"2", "c.css": b""})
    assert found == [Difference("a.html"), Difference("b.css"), Difference("c.css")]


def test_a_measured_time_is_a_reason_and_nothing_beside_it():
    page = "book/status.html"
    first, later, other = (
        {page: TIMES.format(*x).encode()} for x in (("0:12", ""), ("1:07", ""), ("1:07", "more"))
    )
    assert told(first, later) == {page: True}
    assert told(first, other) == {page: False}


def test_a_table_of_measured_ratios_is_a_reason_and_its_counts_are_none():
    page, row = "notebooks/07-multi-head.html", "heads\n   16  536,870  263,168  4,194,304   {}\n"
    first, later, other = (
        {page: text.encode()}
        for text in (
            row.format("2.0          1.3"),
            row.format("4.4          1.1"),
            row.format("4.4          1.1").replace("heads", "head"),
        )
    )
    assert told(first, later) == {page: True}
    assert told(first, other) == {page: False}


def test_the_index_may_have_other_words_for_a_page_of_times_alone():
    file = "searchindex.js"
    first = {file: index(**{"12": 1, "book": [0, 1], "15": [0, 1]})}
    assert told(first, {file: index(**{"07": 1, "book": [0, 1], "15": 0})}) == {file: True}
    assert told(first, {file: index(**{"12": 1, "book": 1, "15": [0, 1]})}) == {file: False}


def test_contributing_lists_all_that_may_differ():
    told = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for measured in MEASURED:
        assert f"| `{measured.page}.html` | {measured.why} |" in told

"""The tables are there, fresh, and readable; what is measured live can be held against them."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from wheretolook.data.link_grammars import TASKS
from wheretolook.evidence import EXPERIMENTS, Figure, Table, runner, table, tables, within


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_table_is_there_and_fresh(name):
    assert (tables.FOLDER / f"{name}.json").is_file(), f"{name} is missing: run make evidence"
    assert not table(name).stale(), f"{name} is older than its code: run make evidence"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_figure_has_every_seed(name):
    kept, experiment = table(name), EXPERIMENTS[name]
    assert kept.seeds == experiment.seeds and len(kept.seeds) >= 3
    assert {group for group, _ in kept.rows} == {job.group for job in experiment.jobs}
    for figures in kept.rows.values():
        assert all(len(figure.seeds) == len(kept.seeds) for figure in figures.values())


def test_every_job_is_about_a_task_of_the_book():
    asked = {job.config.get("task") for one in EXPERIMENTS.values() for job in one.jobs}
    assert asked - {None} <= set(TASKS)


def test_no_table_is_left_over():
    assert {path.stem for path in tables.FOLDER.glob("*.json")} == set(EXPERIMENTS)


@pytest.mark.parametrize("group", ["English: its or their", "Chinese: 他 or 他们"])
def test_meaning_is_found_and_nothing_else_explains_it(group):
    kept = table("links-meaning")
    for row in ("held-out sentences (A)", "new distances (B)", "new pairs (C)"):
        assert kept[group, row, "accuracy"].min > 0.97
        assert kept[group, row, "peak"].mean > 0.97 and kept[group, row, "peak"].min > 0.9
    for row in ("owner hidden", "head removed", "answers shuffled in training"):
        assert kept[group, row, "accuracy"].max < 0.6
    for row in ("untrained", "untrained, best of 50", "average map", "nearest noun"):
        assert kept[group, row, "peak"].max < 0.5


def test_the_failure_is_right_without_looking():
    kept, group = table("links-failure"), "Chinese: measure word, read at the gap"
    assert kept[group, "held-out sentences (A)", "accuracy"].min > 0.97
    assert kept[group, "held-out sentences (A)", "peak"].max < 0.5
    assert kept[group, "head forced to another noun: that noun's answer", "accuracy"].min > 0.97


def made_up(**changes) -> Table:
    rows = {("g", "a <b>"): {"c": Figure((0.5, 0.7)), "d": Figure((1.0, 1.0))}, ("g", "e"): {}}
    plain = Table("itself", "T & U", "x", (0, 1), {"torch": "2"}, 3.0, ("c", "d"), rows)
    return replace(plain, **changes)


def test_html_is_a_table_with_headers_and_escaped_text():
    html = made_up()._repr_html_()
    assert "a &lt;b&gt;" in html and "T &amp; U" in html and "<b>" not in html
    assert '<th scope="col">c</th>' in html and '<th scope="row">e</th>' in html
    assert "0.600 (0.500–0.700)" in html and ">1.000<" in html
    assert "2 seeds (0, 1); torch 2; 3 CPU seconds" in html

    class Balanced(HTMLParser):
        open: list = []

        def handle_starttag(self, tag, attrs):
            self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    Balanced().feed(html)
    assert not Balanced.open


def test_markdown_has_the_same_figures():
    text = made_up()._repr_markdown_()
    assert "| a <b> | 0.600 (0.500–0.700) | 1.000 |" in text and "2 seeds" in text


def test_select_and_look_up():
    part = made_up().select(rows=["e", "a <b>"], columns=["d"])
    assert list(part.rows) == [("g", "e"), ("g", "a <b>")] and part.columns == ("d",)
    assert part["g", "a <b>", "d"].mean == 1.0
    with pytest.raises(ValueError, match="row: itself has no 'g', 'z'; it has g / e; g / a"):
        part["g", "z", "d"]
    with pytest.raises(ValueError, match="column: expected one of c, d; got 'z'"):
        part["g", "a <b>", "z"]
    with pytest.raises(ValueError, match="select: .*group='h'"):
        made_up().select(group="h")


def test_changed_code_or_configuration_makes_a_table_stale(monkeypatch):
    experiment = EXPERIMENTS["itself"]
    kept = made_up(hash=tables.table_hash(experiment))
    assert not kept.stale()
    monkeypatch.setitem(EXPERIMENTS, "itself", replace(experiment, seeds=(7, 8, 9)))
    assert kept.stale()
    monkeypatch.setitem(EXPERIMENTS, "itself", experiment)
    monkeypatch.setattr(tables, "fingerprint", lambda *modules: "other code")
    assert kept.stale()


def test_a_live_figure_is_held_against_the_seeds():
    figure = table("itself")["", "x·x, D = 4, lengths from 0.5 to 1.5", "peak on itself"]
    place = ("itself", "", "x·x, D = 4, lengths from 0.5 to 1.5", "peak on itself")
    assert within(*place, figure.mean)
    assert within(*place, figure.max + 0.01) and within(*place, figure.min - 0.01)
    with pytest.raises(AssertionError, match="measured 0.000, but the table itself has"):
        within(*place, 0.0)
    with pytest.raises(AssertionError, match="measured nan"):
        within(*place, float("nan"))


def test_a_missing_or_unknown_table_says_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="name: expected one of glimpse"):
        table("links")
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    table.cache_clear()
    with pytest.raises(ValueError, match="is missing; run make evidence"):
        table("itself")
    table.cache_clear()


def test_the_runner_keeps_what_is_done_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(runner, "FOLDER", tmp_path / "tables")
    experiment = EXPERIMENTS["saturation"]
    monkeypatch.setitem(EXPERIMENTS, "saturation", replace(experiment, jobs=experiment.jobs[:2]))
    assert runner.main(["saturation", "--workers", "1"]) == 0
    assert "6 runs, 0 kept" in capsys.readouterr().out
    first = (tmp_path / "tables" / "saturation.json").read_bytes()
    next((tmp_path / "cache" / "evidence").iterdir()).unlink()  # as if it had been stopped
    assert runner.main(["saturation", "--workers", "1"]) == 0
    assert "6 runs, 5 kept" in capsys.readouterr().out
    again = (tmp_path / "tables" / "saturation.json").read_bytes()
    drop = lambda text: [line for line in text.splitlines() if b'"seconds"' not in line]  # noqa: E731
    assert drop(again) == drop(first)


def test_the_runner_refuses_what_it_does_not_know(capsys):
    with pytest.raises(SystemExit) as stopped:
        runner.main(["nothing"])
    assert stopped.value.code == 2 and "unknown table: nothing" in capsys.readouterr().err


def test_a_row_that_several_jobs_give_stands_once_and_they_must_agree():
    experiment = replace(EXPERIMENTS["saturation"], jobs=EXPERIMENTS["saturation"].jobs[:2])
    run = {"rows": {"chance": {"peak": 0.5}}, "seconds": 1.0, "versions": {}}
    places = [(job, seed) for job in (0, 1) for seed in experiment.seeds]
    written = json.loads(tables.as_json(experiment, dict.fromkeys(places, run)))
    assert written["rows"][0]["figures"]["peak"]["seeds"] == [0.5] * len(experiment.seeds)
    other = {**run, "rows": {"chance": {"peak": 0.6}}}
    with pytest.raises(ValueError, match="row: 'chance' .* two jobs give 0.5 and 0.6"):
        tables.as_json(experiment, {**dict.fromkeys(places, run), (1, 0): other})

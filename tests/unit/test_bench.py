"""``make bench`` measures what it says, on tiny sizes here; how fast it is decides nothing."""

import gzip
import os
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import torch
from benches import BENCHES, attention, weight
from benches.__main__ import main
from benches.measure import in_fresh_processes, interleaved

from wheretolook.masks import causal_mask

TINY = {"lengths": (4, 8), "width": 8, "heads": 2}
CASES = [(n, mask, p) for n in (4, 8) for mask in attention.MASKS for p in attention.PASSES]


def rows(**figures):
    """Cases in which everything took one second, but what is named."""
    measured = dict.fromkeys(attention.NAMES, 1.0) | figures
    return [attention.Row(*case, measured) for case in CASES]


def test_calls_take_turns_and_the_first_round_does_not_count():
    order = []
    found = interleaved({name: lambda n=name: order.append(n) for name in "ab"}, repetitions=2)
    assert order == list("ababab")
    assert found.keys() == {"a", "b"} and min(found.values()) >= 0


def test_peaks_are_those_of_the_fresh_process_alone():
    large = b"x" * 2**28  # of the parent: no business of the child
    calls = "lambda: None, lambda: b'x' * 2**26, lambda: b'x' * 2**27"
    job = f"__import__('benches.measure', fromlist='peaks').peaks([{calls}])"
    [[some, more]] = in_fresh_processes(eval, [job])
    assert some == pytest.approx(64, abs=8) and more == pytest.approx(128, abs=8)
    assert len(large) == 2**28


def test_each_job_gets_a_process_of_its_own():
    others = in_fresh_processes(eval, ["__import__('os').getpid()"] * 2)
    assert len({os.getpid(), *others}) == 3


def test_every_case_is_measured_for_every_name(monkeypatch):
    monkeypatch.setattr(attention, "in_fresh_processes", lambda f, jobs: [f(job) for job in jobs])
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    for found in (attention.times(**TINY, repetitions=1), attention.tops(**TINY)):
        assert [row[:3] for row in found] == CASES
        for row in found:
            assert tuple(row.measured) == attention.NAMES
            assert min(row.measured.values()) >= 0


def test_what_is_compared_computes_the_same():
    """Both layers have weights of their own; the bare functions must agree outright."""
    x, may = torch.randn(1, 5, 8), causal_mask(5)
    made = attention._implementations(8, 2)
    ours, theirs, *layers = [made[name](x, may, ~may) for name in attention.NAMES]
    torch.testing.assert_close(ours, theirs)
    for with_weights, without in (layers[::2], layers[1::2]):
        torch.testing.assert_close(with_weights, without)


def test_a_cell_is_the_ratio_of_what_was_measured():
    text = attention.report(rows(attend=3.0, scaled_dot_product_attention=2.0), rows())
    time, memory = (part for part in text.split("\n\n") if part.startswith("| L |"))
    assert time.splitlines()[2].startswith("| 4 | none | forward | 1.50 (3000.0 ms) | 1.00 ")
    assert len(time.splitlines()) == len(memory.splitlines()) == 2 + len(CASES)


def test_small_differences_of_memory_are_not_divided():
    memory = attention.report(rows(), rows(attend=0.0)).split("\n\n")[-2]
    assert memory.splitlines()[2].split(" | ")[3] == "–"


def test_a_target_is_met_if_every_case_meets_it():
    lines = attention.verdict(rows(**{"MultiHeadAttention": 2.4})).splitlines()[2:]
    assert [line.endswith("| yes |") for line in lines] == [True, True]
    *good, last = rows()
    slow = last._replace(measured={**last.measured, "MultiHeadAttention, no weights": 1.2})
    verdict = attention.verdict([*good, slow])
    assert "| 7 of 8 | 1.20 (L = 8, causal, forward + backward) | no |" in verdict


def test_the_target_for_masks_asks_nothing_of_what_has_none():
    slow = [row for row in rows(MultiHeadAttention=9.0) if row.mask == "none"]
    fast = [row for row in rows() if row.mask == "causal"]
    assert "| 4 of 4 | 1.00" in attention.verdict(slow + fast)


def test_only_benches_that_there_are_can_be_asked_for(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benches", "speed"])
    with pytest.raises(SystemExit):
        main()
    assert f"expected {', '.join(BENCHES)}; got speed" in capsys.readouterr().err
    monkeypatch.setitem(BENCHES, "attention", lambda: "a table")
    monkeypatch.setattr("sys.argv", ["benches", "attention"])
    main()
    assert capsys.readouterr().out == "## attention\n\na table\n\n"


PAGE = (
    "<html><head></head><body><wtl-explorer>1</wtl-explorer><p>text</p>"
    '<wtl-explorer>2</wtl-explorer><script defer src="../_static/explorer-maps.js?v=0a"></script>'
    "</body></html>"
)


def test_a_stock_page_holds_all_frames_and_none_of_our_scripts():
    stock = weight.stock(PAGE, [("one", ["<b>first</b>", "<b>second</b>"]), ("two", ["<b>x</b>"])])
    assert "wtl-explorer" not in stock and "explorer-maps.js" not in stock
    assert stock.count("jupyter.widget-view+json") == 2 and "<p>text</p>" in stock
    assert all(frame in stock for frame in ("first", "second", "x\\u003c/b>"))
    assert stock.count("LinkModel") == 1  # the frames of the first are linked to its slider
    assert "html-manager" in stock and "require.js" in stock


def test_the_lightest_ratio_decides_whether_a_page_is_light_enough():
    ours, linked, dead = (weight.Visit(kb * 1024, 9, 1e3, 2e3) for kb in (100, 900, 499))
    told = weight.report({"04": (ours, linked, dead)})
    assert "lighter than linked: met, at least 9.0 ×" in told
    assert "lighter than dead: missed, at least 5.0 ×" in told


def test_a_file_is_served_compressed_from_the_first_folder_that_has_it(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.html").write_text(name * 1000)
    with weight.serve(tmp_path / "a", tmp_path / "b") as site:
        with urlopen(f"{site}page.html") as answer:
            assert answer.headers["Content-Encoding"] == "gzip"
            assert gzip.decompress(answer.read()) == b"a" * 1000
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{site}nothing.html")

"""``make bench ONLY=latency`` measures what it says; how fast it was decides nothing here."""

import pytest
from benches import kernel, latency
from benches.specimen import explorers, gallery

import wheretolook.explore as views
from wheretolook.explore import Bars, Explorer, Heatmap, View, explore, show

ROWS = [
    latency.Row("a map", "controls", [1.0] * 95 + [9.0] * 5, [30.0] * 90 + [50.0] * 10),
    latency.Row("a map", "maps", [1.0] * 94 + [9.0] * 6, [20.0] * 100),
]


@pytest.fixture(scope="module")
def specimen() -> list[Explorer]:
    return explorers()


def test_every_view_of_the_book_is_on_the_specimen_page(specimen):
    shown = {type(view).__name__ for explorer in specimen for view in explorer.views()}
    classes = [getattr(views, name) for name in views.__all__]
    assert shown >= {
        c.__name__ for c in classes if isinstance(c, type) and issubclass(c, View) and c is not View
    }


def test_only_what_a_cell_shows_at_its_end_is_measured():
    page = (
        "```{code-cell} ipython3\n:tags: [hide-input]\n"
        "from wheretolook.explore import Bars, explore, show\n"
        'explore(lambda x: Bars([x], ["x"]), x=[0, 1])\nshow(Bars([1], "a"), label="last")\n```\n'
        "```{code-cell} ipython3\nnumber = 1\n```\n```python\nno cell\n```\n"
    )
    assert [explorer.label for explorer in explorers(page)] == ["last"]


def test_a_quantile_is_one_of_the_values():
    values = list(range(1, 101))
    assert [latency.quantile(values, share) for share in (0.01, 0.5, 0.95, 1)] == [1, 50, 95, 100]
    assert latency.quantile([7], 0.95) == 7


def test_the_table_says_whether_the_target_is_met():
    text = latency.report(ROWS, kernel.Compared([2.0] * 20, [100.0] * 20))
    lines = text.splitlines()
    assert "| a map | controls | 100 | 1.0 | 1.0 | yes | 90% |" in lines
    assert "| a map | maps | 100 | 1.0 | 9.0 | no | 100% |" in lines
    assert "p95 ≤ 8 ms: 1 of 2." in lines
    assert "| median | 2.0 ms | 100 ms | 50 |" in lines


def test_it_measures_controls_and_views_in_a_page(visit, tmp_path):
    def draw(scale):
        """A map beside a bar"""
        return [Heatmap([[scale, 1 - scale]]), Bars([scale], ["scale"])]

    made = [explore(draw, scale=(0.0, 1.0, 0.25)), show(Bars([1], "a"), label="still")]
    file = tmp_path / "gallery.html"
    file.write_text(gallery(made), "utf-8")
    page = visit(file.as_uri())
    rows = latency.measure(page, made, inputs=3)
    assert [(row.label, row.input) for row in rows] == [
        ("A map beside a bar", "controls"),
        ("A map beside a bar", "maps"),
    ]  # bars answer to nothing, and what is still has no control
    for row in rows:
        assert len(row.layout) == len(row.frames) == 3
        assert all(
            0 <= layout < frame for layout, frame in zip(row.layout, row.frames, strict=True)
        )
    assert page.problems == []

"""``explore``: every frame computed by Python, one self-contained piece of markup."""

import json
import re
import warnings
from html.parser import HTMLParser

import ipywidgets as w
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from wheretolook.attention import ScaledDot, attend
from wheretolook.explore import Arrows, Bars, Curves, Heatmap, Matrix, Tokens, explore, show
from wheretolook.explore.assets import part, parts
from wheretolook.explore.explorer import FRAMES_AT_MOST
from wheretolook.tokens import SIZES

TOKENS = ["我", "爱", "中", "国"]
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture(scope="module")
def attention():
    torch.manual_seed(0)
    return torch.randn(3, 4, 8).unbind()


@pytest.fixture
def explorer(attention):
    def draw(scale, causal=False):
        """Where each token looks."""
        mask = torch.ones(4, 4, dtype=torch.bool).tril() if causal else None
        stages = attend(*attention, scorer=ScaledDot(scale), attn_mask=mask)
        return Heatmap(stages.weights, TOKENS, TOKENS, attn_mask=mask)

    return explore(draw, scale=(0.0, 1.0, 0.5), causal=False)


class Tags(HTMLParser):
    def __init__(self, markup):
        super().__init__()
        self.seen = []
        self.feed(markup)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))


def data(explorer):
    return json.loads(re.search(r"application/json\">(.*?)</script>", explorer.html())[1])


def bar(x=0.0, **options):
    return Bars([x], ["a"], **options)


# --- frames -----------------------------------------------------------------------------------


def test_draw_is_called_once_for_each_combination():
    calls = []

    def draw(a, b, c):
        calls.append((a, b, c))
        return bar()

    assert explore(draw, a=[1, 2], b=(0, 2), c=w.fixed("x")).frames == 6
    assert calls == [(a, b, "x") for a in (1, 2) for b in (0, 1, 2)]


def test_a_frame_lies_where_the_page_looks_for_it(explorer):
    """The page counts through the controls as digits of a number, the last one fastest."""
    numbers, frames = data(explorer)["counts"], data(explorer)["views"][0]["frames"]
    assert numbers == [3, 2]
    assert len(frames) == 6
    for i, scale in enumerate((0.0, 0.5, 1.0)):
        for j, causal in enumerate((False, True)):
            (view,) = explorer.views(scale=scale, causal=causal)
            assert frames[i * 2 + j][1:] == view.values(1.0)


def test_views_start_where_the_controls_start(explorer):
    assert explorer.views() is explorer.views(scale=0.5, causal=False)


def test_views_name_what_does_not_exist(explorer):
    with pytest.raises(ValueError, match=r"scale: expected one of \(0.0, 0.5, 1.0\), got 2"):
        explorer.views(scale=2)
    with pytest.raises(ValueError, match="speed: no such control"):
        explorer.views(speed=2)


def test_the_first_frame_stands_in_the_markup(explorer, attention):
    first = re.search(r'<div class="wtl-views">.*?</table>', explorer.html())[0]
    weights = attend(*attention, scorer=ScaledDot(0.5)).weights
    for value in weights.flatten().tolist():
        assert f">{value:.2f}</td>" in first


def test_all_frames_share_one_scale():
    explorer = explore(lambda x: Matrix([[x]]), x=[1.0, -5.0])
    assert 'data-limit="5"' in explorer.html()


def test_curves_share_one_axis_even_if_only_some_go_below_zero():
    def draw(phase):
        return Curves([0, 1], {"y": [phase, 0.5]}, x_name="x", y_name="y")

    html = explore(draw, phase=[1.0, -2.0]).html()
    assert 'data-low="-2"' in html
    assert 'data-limit="1"' in html


def test_the_ends_of_an_axis_have_a_proper_minus():
    html = show(Curves([-6, 2048], {"y": [0, 1]}, x_name="x", y_name="y")).html()
    assert ">−6</text>" in html and ">2048</text>" in html


def test_a_buffer_that_draw_uses_again_gives_each_frame_its_own_numbers():
    buffer = np.zeros((1, 1))

    def draw(x):
        buffer[:] = x
        return Matrix(buffer)

    frames = data(explore(draw, x=[1.0, 2.0]))["views"][0]["frames"]
    assert [frame[2] for frame in frames] == [100, 200]


def test_a_view_without_controls_is_one_frame():
    assert explore(lambda: bar()).frames == 1
    assert show(bar(), bar(), label="two").frames == 1
    with pytest.raises(ValueError, match="views: expected at least one"):
        show()


# --- errors come before anything is drawn -----------------------------------------------------


def never(**_):
    raise AssertionError("drawn")


def test_a_grid_too_large_names_the_control_to_thin_out():
    words = (
        rf"^b: the grid has 3,003 frames \(a 3 × b 1001\), at most {FRAMES_AT_MOST:,}.*live\(…\)"
    )
    with pytest.raises(ValueError, match=words):
        explore(never, a=[1, 2, 3], b=(0, 1000))


def test_too_many_numbers_name_the_control_too():
    with pytest.raises(
        ValueError, match=r"^x: 400 frames weigh as much as 16\d,\d+ numbers; at most"
    ):
        explore(lambda x: Heatmap(torch.zeros(20, 20)), x=(1, 400))


def test_pictures_count_by_their_weight(monkeypatch):
    monkeypatch.setattr("wheretolook.explore.explorer.NUMBERS_AT_MOST", 20)

    def draw(x):
        return plt.figure()

    with pytest.raises(ValueError, match="^x: 4 frames weigh as much"):
        explore(draw, x=[1, 2, 3, 4])


def test_controls_are_checked_first():
    with pytest.raises(ValueError, match="^speed: draw has no such parameter; it takes scale"):
        explore(lambda scale: never(), scale=(0, 1), speed=(0, 1))
    with pytest.raises(ValueError, match="^scale: draw needs this parameter"):
        explore(lambda scale: never())


def test_text_points_to_live():
    with pytest.raises(ValueError, match=r"^sentence: .*live\(…\)"):
        explore(never, sentence="its application")


def test_a_shape_that_changes_unsaid_names_the_place():
    words = r"Heatmap change at n = 2\. If they are meant to, say so: Heatmap\(…, resizes=True\)"
    with pytest.raises(ValueError, match=words):
        explore(lambda n: Heatmap(torch.eye(n)), n=(1, 3))


def test_a_shape_may_change_when_it_is_said():
    explorer = explore(lambda n: Heatmap(torch.eye(n), resizes=True), n=(1, 3))
    assert len(data(explorer)["views"][0]["skeletons"]) == 3


def test_names_that_change_unsaid_are_an_error():
    with pytest.raises(ValueError, match="the shape or the names of Bars change at x = b"):
        explore(lambda x: Bars([1], [x]), x=["a", "b"])


def test_titles_and_notes_may_change_as_numbers_do():
    explorer = explore(lambda x: Heatmap([[x]], title=f"at {x}", notes=[[f"is {x}"]]), x=[0.5, 1.0])
    frames = data(explorer)["views"][0]["frames"]
    assert [frame[1:] for frame in frames] == [
        ["at 0.5", 50, 50, ["is 0.5"]],
        ["at 1.0", 100, 100, ["is 1.0"]],
    ]
    assert 'data-notes="[&quot;is 0.5&quot;]"' in explorer.html()


def test_a_number_of_views_that_changes_is_an_error():
    with pytest.raises(ValueError, match="draw: returned 2 views at n = 2, 1 before"):
        explore(lambda n: [bar()] * n, n=(1, 2))


@pytest.mark.parametrize("nothing", [None, [], (), "text", 3, [bar(), None]])
def test_draw_returns_views(nothing):
    with pytest.raises(ValueError, match="^draw: expected a view"):
        explore(lambda: nothing)


def test_an_error_in_draw_says_at_which_values():
    with pytest.raises(ZeroDivisionError) as error:
        explore(lambda x: bar(1 / x), x=[1, 0])
    if hasattr(error.value, "__notes__"):  # Python 3.11
        assert error.value.__notes__ == ["while drawing {'x': 0}"]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nan_never_reaches_the_page(value):
    with pytest.raises(ValueError, match="^values: expected numbers"):
        explore(lambda x: bar(x), x=[0.0, value])


def test_what_json_does_not_know_is_an_error_not_a_dead_page():
    with pytest.raises(ValueError, match="JSON"):
        explore(lambda: Arrows([[1, 1]], ["a"], reach=float("nan"))).html()


# --- markup -----------------------------------------------------------------------------------


def test_every_control_is_labelled_and_keeps_its_arrow_keys():
    explorer = explore(
        lambda a, b, c, d: bar(), a=(0, 2), b=[1, 2], c=True, d=w.fixed(1)
    )  # fmt: skip
    tags = Tags(explorer.html()).seen
    fields = [(tag, a) for tag, a in tags if tag in ("input", "select")]
    assert [a.get("type", tag) for tag, a in fields] == ["range", "select", "checkbox"]
    assert all(a["data-lm-suppress-shortcuts"] == "true" for _, a in fields)
    assert [a["data-name"] for tag, a in tags if tag == "label"] == ["a", "b", "c"]
    assert all(a["aria-live"] == "polite" for tag, a in tags if tag == "output")
    assert fields[0][1]["aria-valuetext"] == "1"


def test_a_description_is_the_label():
    explorer = explore(lambda x: bar(), x=w.IntSlider(min=0, max=1, description="temperature"))
    assert "<span>temperature</span>" in explorer.html()


def test_nothing_has_an_id(explorer):
    assert not [a for _, a in Tags(explorer.html()).seen if "id" in a or "for" in a]


def test_two_explorers_are_the_same_markup_so_that_none_depends_on_its_place(explorer):
    assert explorer.html() == explorer.html()
    assert explorer.html(assets=False) in explorer.html()
    assert "<style" not in explorer.html(assets=False)


def test_all_scripts_and_styles_together_are_small():
    assert {"explorer", "maps", "curves"} <= set(parts())
    for ending, most in (("js", 40), ("css", 20)):
        everything = "".join(part(name, ending) for name in parts())
        assert len(everything.encode()) <= most * 1024


def test_an_output_carries_the_parts_that_its_views_use_and_no_others(explorer):
    assert re.findall(r'<style data-wtl="(\w+)"', explorer.html()) == ["explorer", "maps"]
    assert re.findall(r'<script data-wtl="(\w+)"', explorer.html()) == ["maps", "save", "explorer"]


def test_the_markup_asks_no_other_server(explorer):
    html = explorer.html()
    assert "http" not in html.replace("http://www.w3.org/", "")
    assert "import" not in html


def test_the_assets_cannot_end_their_own_element():
    assert not [name for name in parts() if "</" in part(name, "css")]
    assert not [name for name in parts() if "</script" in part(name, "js")]


def hostile_explorer():
    def draw(choice, other):
        names = [HOSTILE, "b"]
        views = [
            Heatmap(np.eye(2), names, names, title=choice, notes=[names] * 2, resizes=True),
            Tokens([0, 1], names, title=choice),
            Bars([0, 1], names, title=choice),
            Curves([0, 1], {HOSTILE: [0, 1]}, x_name=HOSTILE, y_name=HOSTILE, title=choice),
            Arrows(np.eye(2), names, title=choice),
        ]
        return views

    draw.__doc__ = HOSTILE
    return explore(draw, choice=[HOSTILE, "plain"], other={HOSTILE: 1, "plain": 2})


def test_any_text_is_escaped_everywhere():
    html = hostile_explorer().html(assets=False)
    tags = [tag for tag, _ in Tags(html).seen]
    assert "img" not in tags
    assert tags.count("script") == 1
    assert html.count("</script") == 1


def test_any_text_survives_the_json():
    explorer = hostile_explorer()
    assert data(explorer)["texts"] == [[HOSTILE, "plain"], [HOSTILE, "plain"]]
    assert data(explorer)["views"][0]["frames"][0][1] == HOSTILE


def test_a_fixed_value_is_no_text_of_the_page():
    explorer = explore(lambda x, table: bar(), x=(0, 1), table=w.fixed(torch.zeros(3)))
    assert "tensor" not in explorer.html()


def test_the_label_is_the_first_line_of_the_docstring(explorer):
    assert explorer.label == "Where each token looks."
    assert 'aria-label="Where each token looks."' in explorer.html()
    assert explore(bar, x=[0.0, 1.0]).label == "bar by x"


# --- picture and words ------------------------------------------------------------------------


def test_the_picture_has_chinese_without_a_complaint(explorer):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert explorer.png().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_matplotlib_figure_has_chinese_without_a_complaint():
    def draw(x):
        figure, axes = plt.subplots()
        axes.set_title(f"我爱中国 {x}")
        return figure

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        explorer = explore(draw, x=[1, 2])
        assert explorer.png().startswith(b"\x89PNG")
    assert explorer.views(x=2)[0].alt == "我爱中国 2"
    assert not plt.get_fignums()


def test_every_view_has_a_picture_side_by_side():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert hostile_explorer().png().startswith(b"\x89PNG")


def test_a_notebook_gets_markup_picture_and_words(explorer):
    bundle = explorer._repr_mimebundle_()
    assert bundle.keys() == {"text/html", "image/png", "text/plain"}
    assert bundle["text/html"] == explorer.html()
    assert bundle["image/png"] == explorer.png()
    assert bundle["text/plain"].startswith(
        "Where each token looks.: 4 × 4 heatmap: query 我: 我 0."
    )


def test_exploring_leaves_torchs_random_numbers_and_matplotlib_alone():
    before, parameters = torch.get_rng_state(), dict(plt.rcParams)
    explore(bar, x=[0.0, 1.0]).png()
    assert torch.equal(torch.get_rng_state(), before)
    assert dict(plt.rcParams) == parameters


def test_a_cell_is_as_large_as_the_tokens_say():
    assert f"--wtl-cell-width: {SIZES['cell-width']}" in part("explorer", "css")

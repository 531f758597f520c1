"""``live``: real widgets, drawn again in this process."""

import json
import sys
import warnings

import ipywidgets as w
import matplotlib.pyplot as plt
import pytest
import torch

from wheretolook.attention import attend
from wheretolook.explore import Bars, Heatmap, live

# What ipywidgets 7.7 and 8.1 both have.
COMMON = {
    *("Accordion", "BoundedFloatText", "BoundedIntText", "Box", "Button", "Checkbox"),
    *("ColorPicker", "Combobox", "DatePicker", "Dropdown", "FloatLogSlider", "FloatProgress"),
    *("FloatRangeSlider", "FloatSlider", "FloatText", "GridBox", "HBox", "HTML", "HTMLMath"),
    *("Image", "IntProgress", "IntRangeSlider", "IntSlider", "IntText", "Label", "Output"),
    *("Password", "Play", "RadioButtons", "Select", "SelectMultiple", "SelectionRangeSlider"),
    *("SelectionSlider", "Tab", "Text", "Textarea", "ToggleButton", "ToggleButtons", "VBox"),
    *("Valid", "Widget", "fixed", "interactive"),
}


def bar(x):
    """A bar."""
    return Bars([float(x)], ["a"])


def words(sentence):
    """Every word looks at itself."""
    tokens = sentence.split()
    if len(tokens) > 3:
        raise ValueError(f"at most <3> words, got {len(tokens)}")
    return Heatmap(torch.eye(len(tokens)), tokens, tokens)


def test_a_moved_widget_draws_again():
    panel = live(bar, x=(0, 5))
    panel.widgets["x"].value = 4
    assert ">4.00<" in panel.box.children[-1].value


def test_the_readers_own_sentence_is_drawn():
    panel = live(words, sentence="a b")
    panel.widgets["sentence"].value = "爱 <b>中</b>"
    shown = panel.box.children[-1].value
    assert "爱" in shown
    assert "&lt;b&gt;中&lt;/b&gt;" in shown
    assert "<b>中" not in shown


def test_the_numbers_are_torchs():
    torch.manual_seed(0)
    query, key = torch.randn(2, 3, 4)

    def draw(factor):
        return Heatmap(attend(query * factor, key, key).weights)

    panel = live(draw, factor=(0.0, 4.0, 0.5))
    for factor in (0.0, 1.5, 4.0):
        panel.widgets["factor"].value = factor
        for value in attend(query * factor, key, key).weights.flatten().tolist():
            assert f">{value:.2f}</td>" in panel.result()


def test_a_value_error_is_told_in_its_own_words_escaped():
    panel = live(words, sentence="a b c d")
    assert '<p class="wtl-error" role="alert">at most &lt;3&gt; words, got 4</p>' in panel.result()


def test_another_error_is_told_with_its_kind_and_mends_itself():
    panel = live(lambda x: Bars([1 / x], ["a"]), x=w.IntText(0))
    assert "ZeroDivisionError: division by zero" in panel.result()
    panel.widgets["x"].value = 2
    assert 'class="wtl-error"' not in panel.box.children[-1].value
    assert ">0.50<" in panel.box.children[-1].value


def test_an_empty_sentence_is_told_what_is_missing():
    assert "weights: expected a row and a column at least" in live(words, sentence="").result()


@pytest.mark.parametrize(
    "make",
    [
        lambda: (0, 3), lambda: (0.0, 1.0, 0.5), lambda: [1, 2], lambda: {"a": 1}, lambda: True,
        lambda: 3, lambda: "text", w.IntText, w.FloatText, w.BoundedIntText, w.Text, w.Textarea,
        w.Checkbox, w.ToggleButton, w.FloatLogSlider, w.Combobox, w.Play, w.Valid, w.DatePicker,
        w.ColorPicker, w.IntRangeSlider, w.FileUpload, w.HTML, w.Label, w.IntProgress,
        lambda: w.Dropdown(options=[1, 2]), lambda: w.SelectMultiple(options=[1, 2]),
        lambda: w.SelectionSlider(options=[1, 2]), lambda: w.ToggleButtons(options=[1, 2]),
    ],
)  # fmt: skip
def test_every_widget_with_a_value_is_taken(make):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*unrecognized argument")
        panel = live(lambda x: Bars([1], [repr(x)]), x=make())
    assert 'class="wtl-error"' not in panel.result()
    assert len(panel.box.children) == 2


def test_only_widgets_that_7_and_8_share_are_made():
    panel = live(
        lambda **_: Bars([1], ["a"]),
        a=(0, 3), b=(0.0, 1.0), c=[1, 2], d=True, e="text", f=3, g=0.5, h={"a": 1}, i=w.fixed(1),
    )  # fmt: skip
    made = {type(x).__name__ for x in [panel.box, *panel.box.children, *panel.widgets.values()]}
    assert made <= COMMON


def test_text_waits_for_its_end():
    assert live(words, sentence="a").widgets["sentence"].continuous_update is False


def test_a_widgets_own_words_and_style_stay():
    slider = w.IntSlider(description="how many", style={"handle_color": "red"})
    live(bar, x=slider)
    assert slider.description == "how many"
    assert slider.style.handle_color == "red"


def test_a_widget_without_words_gets_its_name():
    assert (
        live(lambda head_width: bar(head_width), head_width=(1, 2))
        .widgets["head_width"]
        .description
        == "head width"
    )


def test_a_fixed_value_is_passed_and_not_shown():
    panel = live(lambda x, table: Bars(table, ["a"]), x=(0, 1), table=w.fixed(torch.ones(1)))
    bundle = panel._bundle()
    assert ">1.00<" in bundle["text/html"]
    assert "tensor" not in bundle["text/html"] + bundle["text/plain"]
    assert len(panel.box.children) == 2


def test_controls_are_checked():
    with pytest.raises(ValueError, match="^y: draw has no such parameter"):
        live(bar, y=1)
    with pytest.raises(ValueError, match="^x: draw needs this parameter"):
        live(bar)
    with pytest.raises(ValueError, match="^x: expected .* got None"):
        live(bar, x=None)


def test_a_kernel_gets_widgets_and_a_page_the_first_result():
    panel = live(words, sentence="law <its>")
    bundle = panel._bundle()
    widget = bundle["application/vnd.jupyter.widget-view+json"]
    assert widget["model_id"] == panel.box.model_id
    page = bundle["text/html"]
    assert "run this chapter live" in page
    assert "<input" not in page and "<select" not in page  # never a dead control
    assert "sentence: law &lt;its&gt;" in page
    assert " id=" not in page
    assert bundle["text/plain"] == "Every word looks at itself. (sentence: law <its>)"
    assert json.dumps(bundle)


def test_the_scripts_come_as_an_output_of_their_own_since_a_widget_runs_none(monkeypatch):
    outputs, panel = [], live(words, sentence="law")
    module = sys.modules[type(panel).__module__]
    monkeypatch.setattr(module, "display", lambda data, raw: outputs.append(data))
    panel._ipython_display_()
    scripts, result = outputs
    assert '<script data-wtl="explorer">' in scripts["text/html"]
    assert "<script" not in result["text/html"] and "<style" in result["text/html"]


def test_a_figure_can_be_shown_live():
    def draw(title):
        figure, axes = plt.subplots()
        axes.set_title(title)
        return figure

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert 'alt="我爱"' in live(draw, title="我爱").result()
    assert not plt.get_fignums()


def test_several_views_stand_side_by_side():
    assert live(lambda x: [bar(x), bar(x)], x=(0, 1)).result().count("wtl-bars") >= 2

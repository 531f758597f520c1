"""Controls: what ``interact`` takes and can be listed, listed; what can't, refused by name."""

import ipywidgets as w
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wheretolook.explore.controls import check_names, read_controls

LISTED = [
    # abbreviation or widget, kind, values, start
    ((0, 3), "range", (0, 1, 2, 3), 1),
    ((1, 9, 4), "range", (1, 5, 9), 1),
    ((0, 5, 2), "range", (0, 2, 4), 1),
    ((0.0, 1.0, 0.25), "range", (0.0, 0.25, 0.5, 0.75, 1.0), 2),
    ((-0.2, 0.2, 0.1), "range", (-0.2, -0.1, 0.0, 0.1, 0.2), 2),
    ((0.1, 0.3, 0.1), "range", (0.1, 0.2, 0.3), 1),
    (2, "range", tuple(range(-2, 7)), 4),
    (True, "checkbox", (False, True), 1),
    (False, "checkbox", (False, True), 0),
    ([1, 2, 4], "select", (1, 2, 4), 0),
    (["爱", "中"], "select", ("爱", "中"), 0),
    ([("one", 1), ("two", 2)], "select", (1, 2), 0),
    ({"one": 1, "two": 2}, "select", (1, 2), 0),
    ([True, None], "select", (True, None), 0),
    (range(2), "select", (0, 1), 0),
    (w.fixed(7), "fixed", (7,), 0),
    (w.IntSlider(value=4, min=2, max=6, step=2), "range", (2, 4, 6), 1),
    (w.FloatSlider(value=1, min=0, max=1, step=0.5), "range", (0, 0.5, 1), 2),
    (w.FloatLogSlider(value=10, min=0, max=2, step=1), "range", (1, 10, 100), 1),
    (w.SelectionSlider(options=["a", "b"], value="b"), "range", ("a", "b"), 1),
    (w.Dropdown(options=["a", "b"], value="b"), "select", ("a", "b"), 1),
    (w.Dropdown(options=["a", "b"], value=None), "select", ("a", "b"), 0),
    (w.RadioButtons(options=["a", "b"], value="b"), "select", ("a", "b"), 1),
    (w.Select(options=["a", "b"], value="b"), "select", ("a", "b"), 1),
    (w.ToggleButtons(options=[("A", 1), ("B", 2)], value=2), "select", (1, 2), 1),
    (w.Play(value=2, min=1, max=3), "range", (1, 2, 3), 1),
    (w.Checkbox(value=True), "checkbox", (False, True), 1),
    (w.ToggleButton(value=True), "checkbox", (False, True), 1),
]

UNLISTED = [
    "free text",
    w.Text(),
    w.Textarea(),
    w.IntText(),
    w.FloatText(),
    w.BoundedIntText(),
    w.BoundedFloatText(),
    w.IntRangeSlider(),
    w.FloatRangeSlider(),
    w.SelectMultiple(options=[1, 2], value=[2]),
    w.SelectionRangeSlider(options=[1, 2], index=(0, 1)),
    w.Combobox(),
    w.DatePicker(),
    w.ColorPicker(value="red"),
]


def name_of(case):
    return type(case).__name__ if isinstance(case, w.Widget | w.fixed) else None


@pytest.mark.parametrize(("control", "kind", "values", "start"), LISTED, ids=name_of)
def test_every_control_that_can_be_listed_is(control, kind, values, start):
    (listed,) = read_controls({"x": control})
    assert (listed.kind, listed.start) == (kind, start)
    assert listed.values == values
    assert len(listed.texts) == len(values)


@pytest.mark.parametrize("control", UNLISTED, ids=name_of)
def test_what_cannot_be_listed_points_to_live(control):
    with pytest.raises(ValueError, match=r"x: the values of a \w+ can't be listed.*live\(…\)"):
        read_controls({"x": control})


@pytest.mark.parametrize(
    "control",
    [None, (1,), object(), (3, 1), (0, 1, 0), (0, 1, -1), (0, 1, 2, 3), [], {},
     w.Dropdown(options=[]), w.FloatSlider(step=0), w.FloatSlider(readout_format="$,.2f")],
    ids=lambda control: type(control).__name__,  # the same in every process
)  # fmt: skip
def test_what_is_no_control_is_named(control):
    with pytest.raises(ValueError, match="^x: "):
        read_controls({"x": control})


@settings(deadline=None, max_examples=50)
@given(
    st.integers(-10_000, 10_000).map(lambda n: n / 100),
    st.integers(0, 5_000).map(lambda n: n / 100),
    st.sampled_from([0.05, 0.1, 0.25, 0.3, 1, 7]),
)
def test_a_slider_stays_within_its_ends_and_reads_unambiguously(low, span, step):
    slider = w.FloatSlider(min=low, max=low + span, step=step, value=low)
    (control,) = read_controls({"x": slider})
    slider.close()
    values = control.values
    assert values[0] == pytest.approx(low)
    assert all(low - 1e-6 <= v <= low + span + 1e-6 for v in values)
    assert low + span - values[-1] < step
    assert len(set(control.texts)) == len(values)


def test_a_default_of_draw_is_where_its_control_starts():
    def draw(slider=3, choice="b", other=None):
        pass

    controls = {"slider": (0, 4), "choice": ["a", "b"], "other": (0, 4)}
    assert [c.start for c in read_controls(controls, draw)] == [3, 1, 2]


def test_a_value_given_as_the_control_outweighs_the_default():
    assert read_controls({"x": False}, lambda x=True: 0)[0].start == 0


def test_a_log_slider_does_not_pass_its_end():
    (control,) = read_controls({"x": w.FloatLogSlider(min=0, max=1, step=0.35)})
    assert max(control.values) <= 10


def test_floats_are_written_without_their_rounding_error():
    (control,) = read_controls({"x": (0.0, 1.0, 0.1)})
    assert control.values[3] == 0.3
    assert control.texts[3] == "0.30"


def test_a_negative_number_has_a_minus_sign():
    assert read_controls({"x": (-1, 1)})[0].texts == ("−1", "0", "1")


def test_two_values_never_read_alike():
    (control,) = read_controls({"x": (0.0, 0.004, 0.001)})
    assert control.texts == ("0", "0.001", "0.002", "0.003", "0.004")


def test_a_label_is_the_description_or_the_name():
    controls = {"head_width": (1, 2), "x": w.IntSlider(description="temperature")}
    assert [c.label for c in read_controls(controls)] == ["head width", "temperature"]


def test_a_control_of_the_author_stays_open_and_as_it_was():
    slider = w.IntSlider(value=3, min=0, max=5)
    read_controls({"x": slider})
    assert (slider.value, slider.description) == (3, "")
    assert slider.comm is not None  # a closed widget has none


@pytest.mark.parametrize(
    ("draw", "names", "words"),
    [
        (lambda a: 0, ["b"], "b: draw has no such parameter; it takes a"),
        (lambda: 0, ["b"], "b: draw has no such parameter; it takes none"),
        (lambda a, b: 0, ["a"], "b: draw needs this parameter, but it got no control"),
        (lambda a, **rest: 0, ["b"], "a: draw needs this parameter"),
        (lambda *, a: 0, [], "a: draw needs this parameter"),
    ],
)
def test_unknown_and_missing_controls_are_named(draw, names, words):
    with pytest.raises(ValueError, match=words):
        check_names(draw, names)


@pytest.mark.parametrize(
    "draw", [lambda a: 0, lambda a, b=1: 0, lambda **rest: 0, lambda *rest, a: 0, lambda *, a: 0]
)
def test_defaults_and_starred_parameters_need_no_control(draw):
    check_names(draw, ["a"])

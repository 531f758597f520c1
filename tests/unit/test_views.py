"""Views: the numbers are torch's, the words are escaped, what can't be drawn is refused."""

from html import unescape
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wheretolook.attention import attend
from wheretolook.explore import Arrows, Bars, Curves, Heatmap, Matrix, Picture, Tokens
from wheretolook.explore.picture import as_view
from wheretolook.explore.view import fixed_point, printed
from wheretolook.masks import causal_mask

few = settings(deadline=None, max_examples=40)
NAN, INF = float("nan"), float("inf")
HOSTILE = [
    "</script>",
    "<img src=x onerror=alert(1)>",
    "\"'`",
    "שלום",
    "👩‍🔬",
    "&lt;",
    "\u2028",
    "<!--",
]


class Cells(HTMLParser):
    """Read the text of every slot, as a browser would."""

    def __init__(self, markup):
        super().__init__()
        self.texts, self.tags, self._open = [], [], []
        self.feed(markup)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        slot = any(name == "data-v" for name, _ in attributes)
        if slot:
            self.texts.append("")
        if tag not in ("i", "img", "path"):
            self._open.append(slot)

    def handle_endtag(self, tag):
        if self._open and tag not in ("i", "img", "path"):
            self._open.pop()

    def handle_data(self, data):
        if self._open and self._open[-1]:
            self.texts[-1] += data


def cells(view):
    limit = view.limit()
    return Cells(view.markup(limit, view.values(limit))).texts[1:]  # after the title


def two_digits(value):
    text = f"{float(value):.2f}".replace("-", "−")
    return "0.00" if text == "−0.00" else text


# --- numbers ----------------------------------------------------------------------------------


@few
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**31))
def test_a_heatmap_prints_torchs_weights_and_their_sums(length, keys, seed):
    torch.manual_seed(seed)
    weights = attend(torch.randn(length, 4), torch.randn(keys, 4), torch.randn(keys, 4)).weights
    expected = []
    for row in weights.double():
        expected += [*map(two_digits, row), two_digits(row.sum())]
    assert cells(Heatmap(weights)) == expected


@few
@given(arrays(np.float64, (2, 3), elements=st.floats(-1e6, 1e6)), st.integers(0, 6))
def test_a_matrix_prints_what_python_prints(values, decimals):
    view = Matrix(values, decimals=decimals)
    texts = [f"{v:.{decimals}f}" for v in values.flatten()]
    zero = f"{0:.{decimals}f}"
    expected = [zero if t == f"-{zero}" else t.replace("-", "−") for t in texts]
    assert cells(view) == expected


@few
@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_a_printed_number_survives_its_journey(value, decimals):
    text = printed(fixed_point(value, decimals), decimals).replace("−", "-")
    assert float(text) == float(f"{value:.{decimals}f}")


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool]
)
def test_every_dtype_can_be_shown(dtype):
    ones = torch.ones(2, dtype=dtype)
    for view in (
        Heatmap(torch.eye(2, dtype=dtype)),
        Matrix(torch.eye(2, dtype=dtype)),
        Tokens(ones, ["a", "b"]),
        Bars(ones, ["a", "b"]),
        Curves([0, 1], {"y": ones}, x_name="x", y_name="y"),
        Arrows(torch.eye(2, dtype=dtype), ["a", "b"], strengths=ones),
    ):
        assert view.markup(1.0, view.values(1.0))


def test_tensors_that_need_gradients_can_be_shown():
    weights = torch.eye(2, requires_grad=True)
    assert cells(Heatmap(weights))[0] == "1.00"


@pytest.mark.parametrize("values", [np.eye(2), torch.eye(2, dtype=torch.float64)])
def test_a_view_keeps_its_numbers_when_their_buffer_is_used_again(values):
    view = Matrix(values)
    values[:] = 7
    assert cells(view)[0] == "1.00"


def test_hidden_cells_say_so():
    view = Heatmap(torch.tensor([[1.0, 0.0], [0.5, 0.5]]), attn_mask=causal_mask(2))
    assert cells(view) == ["1.00", "0", "1.00", "0.50", "0.50", "1.00"]
    assert view.markup(1.0, view.values(1.0)).count("data-hidden") == 1


def test_a_score_of_minus_infinity_is_a_hidden_cell():
    assert cells(Matrix([[-INF, -2.0]])) == ["−∞", "−2.00"]


def test_bars_tokens_and_curves_print_their_numbers():
    assert cells(Bars([0.5, -1.25], ["a", "b"])) == ["0.50", "−1.25"]
    assert cells(Tokens([0.1, 0.9], ["the", "law"])) == ["0.10", "0.90"]
    assert Curves([0, 1], {"y": [1, -0.5]}, x_name="x", y_name="y").values(1)[1] == [100, -50]


# --- words ------------------------------------------------------------------------------------


def named_everywhere(word):
    two = [word, "b"]
    return [
        Heatmap(np.eye(2), two, two, title=word, row_name=word, column_name=word, notes=[two] * 2),
        Matrix(np.eye(2), two, two, title=word, row_name=word, column_name=word, notes=[two] * 2),
        Tokens([0, 1], two, title=word),
        Bars([0, 1], two, title=word),
        Curves([0, 1], {word: [0, 1]}, x_name=word, y_name=word, title=word),
        Arrows(np.eye(2), two, title=word),
    ]


@pytest.mark.parametrize("word", HOSTILE)
def test_any_word_is_text_in_the_markup(word):
    for view, harmless in zip(named_everywhere(word), named_everywhere("a"), strict=True):
        tags = Cells(view.markup(1.0, view.values(1.0))).tags
        expected = Cells(harmless.markup(1.0, harmless.values(1.0))).tags
        assert [t for t, _ in tags] == [t for t, _ in expected]
        for (_, mine), (_, theirs) in zip(tags, expected, strict=True):
            assert mine.keys() == theirs.keys()


@pytest.mark.parametrize("word", HOSTILE)
def test_any_word_can_be_read_back(word):
    markup = Heatmap(np.eye(1), [word], [word]).markup(1.0, None)
    assert unescape(markup).count(word) == 2


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (Heatmap([[0.25, 0.75]], ["爱"], ["我", "中"]), "query 爱: 我 0.25, 中 0.75"),
        (Heatmap([[1.0]], title="law"), "law: query 1: 1 1.00"),
        (Matrix([[-2.0, -INF]]), "1 × 2 matrix: row 1: 1 −2.00, 2 −∞"),
        (Tokens([0.1, 0.9], ["the", "law"]), "the 0.10, law 0.90"),
        (Bars([-1.0], ["x"], title="t"), "t: x −1.00"),
        (Curves([0, 1], {"y": [0, -1]}, x_name="a", y_name="b"), "b over a: y ends at −1.00"),
        (Arrows([[1, -2]], ["q"]), "q (1.00, −2.00)"),
    ],
)
def test_a_view_says_itself_in_words(view, words):
    assert words in view.describe()


def test_rows_and_columns_are_numbered_when_they_have_no_names():
    assert Heatmap(np.eye(2)).rows == ["1", "2"]


# --- what can't be drawn ----------------------------------------------------------------------

CURVE = {"x_name": "x", "y_name": "y"}


@pytest.mark.parametrize("bad", [NAN, INF])
@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda v: Heatmap([[0.5, v]]), "weights"),
        (lambda v: Matrix([[0.5, v]]), "values"),
        (lambda v: Tokens([0.5, v], "ab"), "weights"),
        (lambda v: Bars([0.5, v], "ab"), "values"),
        (lambda v: Curves([0, 1], {"loss": [0.5, v]}, **CURVE), r"series\['loss'\]"),
        (lambda v: Curves([0, v], {"loss": [0.5, 1]}, **CURVE), "x"),
        (lambda v: Arrows([[0.5, v]], "a"), "ends"),
        (lambda v: Arrows([[0.5, 1]], "a", strengths=[v]), "strengths"),
    ],
)
def test_nan_and_infinity_name_the_argument_and_the_place(make, argument, bad):
    with pytest.raises(ValueError, match=rf"^{argument}: expected numbers, got (nan|inf) at \(\d"):
        make(bad)


@pytest.mark.parametrize(
    "make",
    [
        lambda v: Heatmap([[0.5, v]]),
        lambda v: Tokens([0.5, v], "ab"),
        lambda v: Bars([0.5, v], "ab"),
        lambda v: Curves([0, 1], {"loss": [0.5, v]}, **CURVE),
        lambda v: Arrows([[0.5, v]], "a"),
    ],
)
def test_minus_infinity_belongs_to_scores_only(make):
    with pytest.raises(ValueError, match="expected"):
        make(-INF)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Heatmap(torch.zeros(3)), r"weights: expected shape \(rows, columns\), got \(3,\)"),
        (lambda: Heatmap(torch.zeros(1, 3, 3)), r"weights: .* got \(1, 3, 3\)"),
        (lambda: Heatmap(torch.zeros(0, 3)), r"weights: expected a row and .* got \(0, 3\)"),
        (lambda: Heatmap([[-0.5]]), "weights: expected values between 0 and 1, got -0.5 to 0"),
        (lambda: Heatmap([[1.5]]), "weights: expected .* for scores use Matrix"),
        (lambda: Heatmap(np.eye(2), rows=["a"]), r"rows: expected 2 names, got 1: \['a'\]"),
        (lambda: Heatmap(np.eye(2), columns="abc"), "columns: expected 2 names, got 3"),
        (lambda: Heatmap(np.eye(2), attn_mask=causal_mask(3)), "attn_mask: expected shape"),
        (lambda: Heatmap(np.eye(2), attn_mask=[[1, 0], [1, 1]]), "attn_mask: expected bool"),
        (lambda: Heatmap(np.eye(2), marks=[True]), r"marks: expected shape \(2, 2\), got \(1,\)"),
        (lambda: Matrix(np.eye(2), notes=[["a"]]), r"notes: expected shape \(2, 2\), got \(1, 1\)"),
        (lambda: Tokens([0.5], ["a", "b"]), "tokens: expected 1 names, got 2"),
        (lambda: Tokens([2.0], ["a"]), "weights: expected values between 0 and 1"),
        (lambda: Bars([[0.5]], ["a"]), r"values: expected shape \(n,\), got \(1, 1\)"),
        (lambda: Bars([0.5], []), "labels: expected 1 names, got 0"),
        (lambda: Curves([0], {"y": [1]}, **CURVE), "x: expected at least two rising values"),
        (lambda: Curves([1, 1], {"y": [1, 2]}, **CURVE), "x: expected at least two rising values"),
        (lambda: Curves([0, 1], {}, **CURVE), "series: expected one to four curves, got 0"),
        (lambda: Curves([0, 1], dict.fromkeys("abcde", [0, 1]), **CURVE), "series: .* got 5"),
        (lambda: Curves([0, 1], {"y": [1]}, **CURVE), r"series\['y'\]: expected shape \(2,\)"),
        (lambda: Arrows([[1, 2, 3]], ["a"]), r"ends: expected \(arrows, 2\), got \(1, 3\)"),
        (lambda: Arrows([[1, 2]], ["a"], strengths=[1, 1]), r"strengths: expected shape \(1,\)"),
        (lambda: as_view("text"), "draw: expected a view .* got str"),
        (lambda: as_view(None), "draw: expected a view .* got NoneType"),
    ],
)
def test_what_does_not_fit_is_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_picture_needs_words():
    figure, _ = plt.subplots()
    with pytest.raises(ValueError, match="alt: expected words"):
        Picture(figure, " ")
    plt.close(figure)


def test_a_figure_becomes_a_picture_named_by_its_title_and_is_closed():
    figure, axes = plt.subplots()
    axes.set_title("a line")
    view = as_view(figure)
    assert view.alt == "a line"
    assert view.png.startswith(b"\x89PNG")
    assert not plt.fignum_exists(figure.number)


def test_a_large_map_has_small_cells_with_their_numbers_still_in_the_page():
    view = Heatmap(np.eye(25))
    assert "wtl-dense" in view.markup(1.0, None)
    assert cells(view)[0] == "1.00"


def test_every_cell_has_its_headers():
    tags = Cells(Heatmap(np.eye(2), ["a", "b"], ["c", "d"]).markup(1.0, None)).tags
    scopes = [a["scope"] for tag, a in tags if tag == "th"]
    assert scopes.count("row") == 2
    assert scopes.count("col") == 3  # with the sum's

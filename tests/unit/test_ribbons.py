"""Ribbons: a heatmap's numbers, with words that are not written yet left out."""

import matplotlib.pyplot as plt
import pytest
import torch

from wheretolook.explore import Heatmap, Ribbons, explore
from wheretolook.explore.assets import part

WEIGHTS = torch.tensor([[0.7, 0.2, 0.1, 0.0], [0.1, 0.9, 0.0, 0.0], [0.0, 0.2, 0.4, 0.4]])
WORDS, SIGNS = ["I", "love", "China"], list("我爱中国")
GOLD = torch.eye(3, 4, dtype=torch.bool)
HOSTILE = ["</script>", "<img src=x onerror=a()>", "\"'`&lt;"]


def markup(view):
    return view.markup(1.0, view.values(1.0))


def test_ribbons_hold_the_heatmaps_numbers_and_its_table():
    ribbons, heatmap = Ribbons(WEIGHTS, WORDS, SIGNS), Heatmap(WEIGHTS, WORDS, SIGNS)
    assert ribbons.values(1.0) == heatmap.values(1.0)
    table = markup(Heatmap(WEIGHTS, WORDS, SIGNS, row_name="word", column_name="source"))
    start, end = table.index("<table"), table.index("</table>")
    assert table[start:end] in markup(ribbons)


def test_every_word_is_written_once_as_source_or_target():
    text = markup(Ribbons(WEIGHTS, WORDS, SIGNS)).split("<table")[0]
    assert [text.count(f"<span>{sign}</span>") for sign in SIGNS] == [1, 1, 1, 1]
    assert [text.count(f">{word}</button>") for word in WORDS] == [1, 1, 1]


def test_the_gold_alignment_is_named_only_if_there_is_one():
    assert "gold alignment" in markup(Ribbons(WEIGHTS, WORDS, SIGNS, marks=GOLD))
    assert "by hand" in markup(Ribbons(WEIGHTS, WORDS, SIGNS, marks=GOLD, mark_name="by hand"))
    assert "gold" not in markup(Ribbons(WEIGHTS, WORDS, SIGNS))


@pytest.mark.parametrize("step", [1, 2, 3])
def test_words_that_are_not_written_have_no_number(step):
    view = Ribbons(WEIGHTS, WORDS, SIGNS, step=step)
    cells, all_cells = view.values(1.0)[1:], Ribbons(WEIGHTS, WORDS, SIGNS).values(1.0)[1:]
    assert cells[: 5 * step] == all_cells[: 5 * step]
    assert cells[5 * step :] == [None, None, None, None, ""] * (3 - step)
    assert markup(view).count('class="wtl-sum"></td>') == 3 - step


def test_notes_stay_when_words_are_not_written():
    notes = [["x"] * 4] * 3
    assert Ribbons(WEIGHTS, WORDS, SIGNS, step=1, notes=notes).values(1.0)[-1] == ["x"] * 12


def test_all_steps_share_one_skeleton():
    made = explore(lambda step: Ribbons(WEIGHTS, WORDS, SIGNS, step=step), step=(1, 3))
    assert '"skeletons":[]' in made.html(assets=False)


def test_words_tell_what_is_written():
    assert Ribbons(WEIGHTS[:, :2] * 0, WORDS, "ab", step=1).describe() == (
        "1 × 2 ribbons: word I: a 0.00, b 0.00"
    )
    assert Ribbons(WEIGHTS, WORDS, SIGNS, title="look").describe().count("word") == 3


def test_the_printed_picture_shows_what_is_written():
    figure, axes = plt.subplots()
    Ribbons(WEIGHTS, WORDS, SIGNS, step=2, attn_mask=WEIGHTS > -1).plot(axes, 1.0)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["I", "love"]
    plt.close(figure)


@pytest.mark.parametrize("step", [0, 4, -1])
def test_a_step_that_does_not_exist_is_refused(step):
    with pytest.raises(ValueError, match=f"step: expected 1 to 3 words, got {step}"):
        Ribbons(WEIGHTS, WORDS, SIGNS, step=step)


def test_what_is_no_weight_is_refused_as_in_a_heatmap():
    with pytest.raises(ValueError, match="weights: expected values between 0 and 1"):
        Ribbons(WEIGHTS * 2, WORDS, SIGNS)
    with pytest.raises(ValueError, match="marks: expected shape"):
        Ribbons(WEIGHTS, WORDS, SIGNS, marks=GOLD.T)


@pytest.mark.parametrize("word", HOSTILE)
def test_words_are_escaped(word):
    view = Ribbons(
        WEIGHTS[:1, :1], [word], [word], marks=GOLD[:1, :1], mark_name=word, row_name=word
    )
    assert word not in markup(view)


def test_an_output_brings_the_heatmaps_script_before_its_own():
    html = explore(lambda: Ribbons(WEIGHTS, WORDS, SIGNS)).html()
    assert html.index(part("maps", "js")) < html.index(part("ribbons", "js"))
    assert html.index(part("maps", "css")) < html.index(part("ribbons", "css"))


@pytest.mark.parametrize("columns, wide", [(4, False), (12, True)])
def test_long_rows_of_words_stand_as_columns(columns, wide):
    view = Ribbons(torch.full((2, columns), 1 / columns), ["I", "love"], ["学"] * columns)
    assert ("wtl-columns" in markup(view)) is wide

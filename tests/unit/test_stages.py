"""The stage strip: every number tells its own arithmetic, and tells it right."""

import re

import pytest
import torch

from wheretolook.attention import Additive, Dot, attend
from wheretolook.explore import stages
from wheretolook.explore.strip import product_notes, score_notes, weight_notes
from wheretolook.masks import causal_mask

TOKENS = list("我爱中国")


def vectors(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def number(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.fixture
def attention():
    return attend(vectors(4, 3), vectors(4, 3, seed=1), vectors(4, 2, seed=2))


def test_a_product_note_ends_with_the_entry_it_explains():
    left, right = vectors(2, 3), vectors(3, 4, seed=1)
    for row, notes in zip(left @ right, product_notes(left, right), strict=True):
        for entry, note in zip(row, notes, strict=True):
            assert number(note.rsplit("= ", 1)[1]) == pytest.approx(entry.item(), abs=0.006)


def test_the_terms_of_a_note_add_up_to_its_sum():
    note = product_notes(vectors(1, 3), vectors(3, 1, seed=1))[0][0]
    terms = [number(a) * number(b) for a, b in re.findall(r"(−?\d+\.\d+)×(−?\d+\.\d+)", note)]
    assert len(terms) == 3
    assert sum(terms) == pytest.approx(number(note.rsplit("= ", 1)[1]), abs=0.03)


def test_a_score_note_ends_with_the_scaled_score(attention):
    for i, notes in enumerate(score_notes(attention)):
        for j, note in enumerate(notes):
            expected = attention.scores[i, j].item()
            assert number(note.rsplit("= ", 1)[1]) == pytest.approx(expected, abs=0.006)


def test_a_score_without_a_scale_does_not_speak_of_one():
    notes = score_notes(attend(*[torch.eye(2)] * 3, scorer=Dot()))
    assert all("; ×" not in note for row in notes for note in row)


def test_a_hidden_score_says_that_the_mask_hides_it():
    attention = attend(*[torch.eye(3)] * 3, attn_mask=causal_mask(3))
    notes = score_notes(attention)
    assert notes[0][1].endswith("hidden by the mask: −∞")
    assert "hidden" not in notes[1][0]
    assert weight_notes(attention)[0][1].startswith("exp(−∞)")


def test_a_weight_note_ends_with_the_weight(attention):
    for weights, notes in zip(attention.weights, weight_notes(attention), strict=True):
        for weight, note in zip(weights, notes, strict=True):
            assert number(note.rsplit("= ", 1)[1]) == pytest.approx(weight.item(), abs=0.006)


def test_an_additive_score_explains_itself_by_its_own_terms():
    scorer = Additive(3, 3, hidden=5)
    attention = attend(vectors(2, 3), vectors(2, 3, seed=1), vectors(2, 2), scorer=scorer)
    assert score_notes(attention)[0][0].count("×") == 5


def test_the_strip_has_all_stages_and_outlines_the_chosen_query_where_it_asks(attention):
    views = stages(attention, TOKENS, TOKENS, chosen=2)
    titles = [view.title for view in views]
    assert [title.split(" ")[0] for title in titles] == [
        "query",
        "key",
        "value",
        "scores",
        "weights",
        "output",
    ]
    outlined = [bool(view.marks.any()) for view in views]
    assert outlined == [True, False, False, True, True, True]
    assert all(view.marks.any(1).tolist() == [False, False, True, False] for view in views[3:])


def test_query_key_and_value_tell_how_they_were_made_if_the_maps_are_given(attention):
    x, maps = vectors(4, 5), [vectors(5, 3, seed=s) for s in range(3)]
    made = attend(x @ maps[0], x @ maps[1], x @ maps[2])
    views = stages(made, TOKENS, TOKENS, maps=(x, *maps))
    for view, map in zip(views[:3], maps, strict=True):
        assert view.notes == product_notes(x, map)
    assert all(view.notes is None for view in stages(attention, TOKENS, TOKENS)[:3])


def test_a_batch_is_refused_with_its_shape():
    batch = attend(*[torch.zeros(2, 4, 3)] * 3)
    with pytest.raises(ValueError, match=r"attention: .*\(2, 4, 4\); choose one"):
        stages(batch, TOKENS, TOKENS)

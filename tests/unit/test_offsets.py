"""Two looks at once: what can be known, what heads are, and what a wrong reshape does."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wheretolook.attention import MultiHeadAttention, merge_heads, split_heads
from wheretolook.evidence import table
from wheretolook.masks import causal_mask, padding_mask
from wheretolook.offsets import (
    LENGTH,
    LETTERS,
    OFFSETS,
    MistakenHeads,
    OffsetModel,
    average_maps,
    offset_answers,
    offset_rows,
    score_offsets,
    train_offsets,
    viewed_heads,
)

few = settings(deadline=None, max_examples=25)
SAME, BY_VIEW = "the same number of parameters", "a view where axes should change places"


def fresh(heads=2, **options) -> OffsetModel:
    torch.manual_seed(0)
    return OffsetModel(heads, **options)


# --- the game ---------------------------------------------------------------------------------


@few
@given(st.integers(1, 5), st.integers(4, 9))
def test_the_answers_stand_one_and_three_places_before(rows, length):
    letters = torch.randint(0, LETTERS, (rows, length))
    answers = offset_answers(letters)
    assert answers.shape == (rows, length - 3, 2)
    for i in range(3, length):
        for n, before in enumerate(OFFSETS):
            assert torch.equal(answers[:, i - 3, n], letters[:, i - before])


def test_letters_are_drawn_alike_and_by_the_seed():
    drawn = offset_rows(5_000, torch.Generator().manual_seed(0))
    assert torch.equal(drawn, offset_rows(5_000, torch.Generator().manual_seed(0)))
    shares = torch.bincount(drawn.flatten(), minlength=LETTERS) / drawn.numel()
    assert (shares - 1 / LETTERS).abs().max() < 0.005


@pytest.mark.parametrize("shape", [(5,), (2, 3), (1, 2, 9)])
def test_a_row_without_a_fourth_place_is_refused(shape):
    with pytest.raises(ValueError, match=r"letters: expected \(B, L\) with L above 3"):
        offset_answers(torch.zeros(shape, dtype=torch.long))


# --- heads ------------------------------------------------------------------------------------


def test_the_number_of_heads_changes_no_number_of_parameters():
    counts = {sum(p.numel() for p in OffsetModel(h).parameters()) for h in (1, 2, 4, 8, 16, 32)}
    assert len(counts) == 1


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_removing_a_head_leaves_out_its_term_of_the_sum(heads):
    model, letters = fresh(heads), offset_rows(3, torch.Generator().manual_seed(1))
    x = model.letters(letters) + model.positions.weight
    output, attention = model.layer(x, x, x)
    rows = model.layer.output_layer.weight.mT.chunk(heads)
    for h in range(heads):
        left = model.output_layer(output - attention.output[:, h] @ rows[h])[:, 3:]
        logits, unchanged = model(letters, removed=[h])
        torch.testing.assert_close(logits, left.unflatten(-1, (2, LETTERS)))
        torch.testing.assert_close(unchanged.weights, attention.weights)


def test_without_any_head_a_place_is_told_nothing():
    model = fresh(4)
    letters = offset_rows(5, torch.Generator().manual_seed(1))
    logits, _ = model(letters, removed=range(4))
    torch.testing.assert_close(logits, logits[:1, :1].expand_as(logits))


def test_a_letter_that_is_no_answer_can_move_none_but_by_the_heads():
    """No residual connection: what is said about a place comes through the attention."""
    model, letters = fresh(), torch.zeros(1, LENGTH, dtype=torch.long)
    changed = letters.clone()
    changed[0, 7] = 5
    torch.testing.assert_close(model(letters, [0, 1])[0], model(changed, [0, 1])[0])
    assert not torch.allclose(model(letters)[0], model(changed)[0])


def test_without_weights_the_answers_are_the_same():
    model, letters = fresh(), offset_rows(3, torch.Generator().manual_seed(1))
    for removed in ((), (1,)):
        logits, nothing = model(letters, removed, need_weights=False)
        torch.testing.assert_close(logits, model(letters, removed)[0])
        assert nothing is None


def test_average_maps_are_rows_of_weights():
    maps = average_maps(fresh(4), rows=20)
    assert maps.shape == (4, LENGTH, LENGTH)
    torch.testing.assert_close(maps.sum(-1), torch.ones(4, LENGTH))


# --- a view is no transpose -------------------------------------------------------------------


@few
@given(st.integers(1, 3), st.integers(1, 6), st.integers(2, 4), st.integers(1, 3))
def test_a_view_has_the_right_shape_and_right_numbers_only_by_chance(batch, length, heads, width):
    x = torch.arange(float(batch * length * heads * width)).view(batch, length, -1)
    viewed, right = viewed_heads(x, heads), split_heads(x, heads)
    assert viewed.shape == right.shape
    assert torch.equal(viewed.flatten(), x.flatten())
    assert torch.equal(viewed, right) == (length == 1)


def test_tokens_of_different_stretches_never_meet_after_a_view():
    layer, x = MistakenHeads(8, 2, "split"), torch.randn(1, 12, 8)
    changed = x.clone()
    changed[0, 7] += 1
    moved = (layer(x, x, x)[0] != layer(changed, changed, changed)[0]).any(-1)[0]
    assert moved.tolist() == [False] * 6 + [True] * 6


def test_put_back_by_a_view_a_token_gets_what_other_tokens_found():
    torch.manual_seed(0)
    layer, x = MistakenHeads(8, 2, "merge"), torch.randn(2, 12, 8)
    output, attention = layer(x, x, x)
    pairs = attention.output.flatten(1, 2).unflatten(1, (12, 2)).flatten(-2)  # two rows a token
    torch.testing.assert_close(output, layer.output_layer(pairs))
    right = layer.output_layer(merge_heads(attention.output))
    assert not torch.allclose(output, right)


@pytest.mark.parametrize("mistake", ["split", "merge"])
def test_with_one_head_a_view_is_no_mistake(mistake):
    torch.manual_seed(0)
    wrong, right = MistakenHeads(8, 1, mistake), MultiHeadAttention(8, 1)
    right.load_state_dict(wrong.state_dict())
    x = torch.randn(2, 5, 8)
    torch.testing.assert_close(wrong(x, x, x, causal_mask(5))[0], right(x, x, x, causal_mask(5))[0])


@pytest.mark.parametrize(
    ("layer", "future", "pads"),
    [
        (MultiHeadAttention(8, 2), False, False),
        (MistakenHeads(8, 2, "merge"), True, True),
        (MistakenHeads(8, 2, "split"), False, True),
    ],
    ids=["right", "merge", "split"],
)
def test_masks_keep_their_promises_only_for_right_heads(layer, future, pads):
    x = torch.randn(1, 12, 8, generator=torch.Generator().manual_seed(0))
    later = x.clone()
    later[0, 8:] += 1
    ids = torch.tensor([[1] * 8 + [0] * 4])

    def moved(mask):
        return bool((layer(x, x, x, mask)[0] != layer(later, later, later, mask)[0])[0, :8].any())

    assert moved(causal_mask(12)) == future
    assert moved(padding_mask(ids)) == pads


# --- errors -----------------------------------------------------------------------------------


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="heads: expected a divisor of the width 32, got 5"):
        OffsetModel(5)
    with pytest.raises(ValueError, match="mistake: expected one of split, merge; got 'cut'"):
        OffsetModel(2, mistake="cut")
    with pytest.raises(ValueError, match=r"letters: expected \(B, 12\), got \(2, 11\)"):
        fresh()(torch.zeros(2, 11, dtype=torch.long))
    with pytest.raises(ValueError, match=r"removed: expected heads from 0 to 1, got \[2\]"):
        score_offsets(fresh(), removed=[2], rows=2)
    with pytest.raises(ValueError, match=r"x: expected \(B, L, H·E\), got \(2, 8\)"):
        viewed_heads(torch.zeros(2, 8), 2)
    with pytest.raises(ValueError, match="heads: expected a divisor of the width 8, got 3"):
        viewed_heads(torch.zeros(1, 2, 8), 3)


# --- training, and the table ------------------------------------------------------------------


def test_the_same_seed_trains_the_same_model(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    (a, first), (b, second) = (train_offsets(2, steps=5, seed=3) for _ in range(2))
    assert first.losses == second.losses
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))
    _, other = train_offsets(2, steps=5, seed=3, shuffled=True)
    assert other.losses != first.losses


def test_two_heads_name_both_letters_and_one_head_one_of_them():
    heads = table("heads")
    assert heads[SAME, "two heads", "both"].min > 0.99 > 0.3 > heads[SAME, "one head", "both"].max
    for seed in range(5):
        each = [heads[SAME, "one head", q].seeds[seed] for q in ("one before", "three before")]
        assert max(each) > 0.99 and min(each) < 0.25


def test_a_view_costs_just_the_places_that_it_cuts_off():
    heads = table("heads")
    for name, reached in (("two", (8, 6)), ("four", (6, 0))):
        for question, n in zip(("one before", "three before"), reached, strict=True):
            figure = heads[BY_VIEW, f"{name} heads, split and merged by a view", question]
            assert figure.mean == pytest.approx((n + (9 - n) / LETTERS) / 9, abs=0.01)

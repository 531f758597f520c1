"""The leak detector: what may be known, what a mask shows, and what a low loss is worth."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wheretolook.evidence import table
from wheretolook.leak import (
    FLOOR,
    LEAK,
    LENGTH,
    LeakModel,
    influence,
    score_leak,
    shifted_mask,
    train_leak,
)
from wheretolook.masks import causal_mask

few = settings(deadline=None, max_examples=25)
AS_MEANT = "True = may attend, as meant"


@few
@given(st.integers(0, 6), st.integers(-3, 3))
def test_a_query_sees_as_far_ahead_as_the_diagonal_says(length, diagonal):
    mask = shifted_mask(length, diagonal)
    assert mask.dtype == torch.bool
    assert all(mask[i, j] == (j <= i + diagonal) for i in range(length) for j in range(length))
    assert torch.equal(shifted_mask(length, diagonal, inverted=True), ~mask)


def test_diagonal_0_is_the_causal_mask_and_none_hides_nothing():
    assert torch.equal(shifted_mask(5), causal_mask(5))
    assert shifted_mask(5, None).all()


def test_a_length_is_not_negative():
    with pytest.raises(ValueError, match="length: expected .* got -1"):
        shifted_mask(-1)


def test_the_floors_are_the_logarithm_and_a_twelfth_of_it():
    assert math.log(10) == FLOOR and math.log(10) / 12 == LEAK
    uniform = torch.zeros(5, 10)
    assert torch.nn.functional.cross_entropy(uniform, torch.arange(5)).item() == pytest.approx(
        FLOOR, abs=1e-6
    )


def model_with(*mask, **options) -> LeakModel:
    torch.manual_seed(0)
    return LeakModel(shifted_mask(LENGTH, *mask, **options))


@pytest.mark.parametrize("diagonal", [-2, -1, 0, 1, 2, None])
@pytest.mark.parametrize("inverted", [False, True])
def test_a_digit_moves_just_the_predictions_that_may_see_it_and_its_own(diagonal, inverted):
    model = model_with(diagonal, inverted=inverted)
    own = torch.eye(LENGTH, dtype=torch.bool)  # by the residual connection
    assert torch.equal(influence(model), model.attn_mask | own)


def test_a_model_trained_one_way_can_be_asked_another():
    model = model_with(None)
    digits = torch.randint(0, 10, (3, LENGTH))
    hidden, _ = model(digits, causal_mask(LENGTH))
    torch.testing.assert_close(hidden, with_weights_of(model, causal_mask(LENGTH))(digits)[0])
    assert not torch.allclose(hidden, model(digits)[0])


def with_weights_of(model: LeakModel, mask: torch.Tensor) -> LeakModel:
    other = LeakModel(mask)
    weights = {n: x for n, x in model.state_dict().items() if n != "attn_mask"}
    other.load_state_dict({**weights, "attn_mask": mask})
    return other


def test_the_score_is_the_mean_of_its_places_and_repeats():
    model = model_with()
    first, again = (score_leak(model, seed=1, sequences=50) for _ in range(2))
    assert first.loss == again.loss and torch.equal(first.places, again.places)
    assert first.places.shape == (LENGTH,)
    assert first.places.mean().item() == pytest.approx(first.loss, abs=1e-5)


def test_a_row_that_sees_nothing_trains_all_the_same(monkeypatch):
    """Inverted, the last position sees nothing: no NaN comes of it."""
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    model, history = train_leak(0, inverted=True, steps=5)
    assert not model.attn_mask[-1].any()
    assert all(map(math.isfinite, history.losses))
    assert all(p.isfinite().all() for p in model.parameters())


def test_the_same_seed_gives_the_same_history(monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    runs = [train_leak(steps=5)[1].losses for _ in range(2)]
    assert runs[0] == runs[1]


def test_training_finds_the_leak_and_not_more(monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    leaking = score_leak(train_leak(1, steps=300)[0])
    assert leaking.places[:-1].max() < 0.2  # each of these answers stands in the input
    assert leaking.places[-1] > 2.2  # this one does not
    assert score_leak(train_leak(0, steps=300)[0]).places.min() > 2.2


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="attn_mask: expected a bool tensor"):
        LeakModel(torch.ones(LENGTH, LENGTH))
    with pytest.raises(ValueError, match=r"attn_mask: expected \(L, S\) = \(12, 12\)"):
        LeakModel(causal_mask(5))
    with pytest.raises(ValueError, match=r"digits: expected \(B, 12\), got \(2, 5\)"):
        LeakModel(causal_mask(LENGTH))(torch.zeros(2, 5, dtype=torch.long))


# --- what the table must show for the chapter to say what it says ---


@pytest.mark.parametrize(
    ("group", "row"),
    [(AS_MEANT, f"diagonal {d}") for d in ("0", "-1", "-2")]
    + [("inverted", f"diagonal {d}") for d in ("+1", "+2")],
)
def test_a_mask_that_hides_the_answer_can_t_pass_the_floor(group, row):
    figure = table("leak")[group, row, "loss"]
    assert figure.min > FLOOR - 0.005 and figure.max < FLOOR + 0.01


@pytest.mark.parametrize(
    ("group", "row"),
    [(AS_MEANT, f"diagonal {d}") for d in ("+1", "+2")]
    + [("inverted", f"diagonal {d}") for d in ("0", "-1", "-2")]
    + [("beside them", "no mask")],
)
def test_a_mask_that_shows_the_answer_ends_at_the_other_floor(group, row):
    kept = table("leak")
    figure = kept[group, row, "loss"]
    assert figure.min > LEAK - 0.005 and figure.max < LEAK + 0.02
    # ... and is worse than guessing where the answer is really to come
    assert kept[group, row, "loss, what is to come hidden"].min > FLOOR + 0.1

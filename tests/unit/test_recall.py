"""Recall: the questions are what they say, and the ways of comparing differ as claimed."""

import math

import pytest
import torch

from wheretolook.data.recall import recall
from wheretolook.recall import SCORERS, RecallModel, score_recall, train_recall


def asked(batch=500, **options):
    return recall(batch, torch.Generator().manual_seed(0), **options)


def test_the_pair_that_is_asked_for_stands_where_it_is_said_to():
    some = asked()
    at = some.place[:, None]
    assert torch.equal(some.keys.gather(1, at)[:, 0], some.question)
    assert torch.equal(some.values.gather(1, at)[:, 0], some.answer)


def test_keys_of_a_question_differ():
    keys = asked().keys.sort(1).values
    assert (keys[:, 1:] != keys[:, :-1]).all()
    assert keys.min() == 0 and keys.max() == 19


def test_questions_repeat_with_their_seed():
    assert all(torch.equal(a, b) for a, b in zip(asked(), asked(), strict=True))


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("self_attention", [False, True])
def test_every_scorer_fits_both_models(scorer, self_attention):
    model = RecallModel(scorer, 8, self_attention=self_attention)
    logits, weights = model(asked(7))
    assert logits.shape == (7, 20)
    assert weights.shape == (7, 11 if self_attention else 10)
    torch.testing.assert_close(weights.sum(1), torch.ones(7))
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_a_trained_model_looks_at_the_right_pair_and_an_untrained_one_does_not():
    untrained = score_recall(RecallModel("scaled dot", 32))
    assert abs(untrained.accuracy - 0.05) < 0.03 and abs(untrained.weight - 0.1) < 0.02
    trained = score_recall(train_recall("scaled dot", 32, steps=200)[0])
    assert trained.accuracy > 0.95 and trained.peak > 0.95


def test_a_cosine_without_temperature_can_t_pass_its_bound():
    model, _ = train_recall("cosine", 16, steps=200)
    assert score_recall(model).weight <= math.e / (math.e + 9 / math.e)


def test_the_same_seed_gives_the_same_history(monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    runs = [train_recall("additive", 8, steps=10)[1].losses for _ in range(2)]
    assert runs[0] == runs[1]


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="scorer: expected one of raw dot"):
        RecallModel("dott", 8)
    with pytest.raises(ValueError, match="pairs: expected 1 to 20"):
        asked(pairs=21)


@pytest.mark.parametrize("scorer", SCORERS)
def test_the_questions_row_is_the_last_row_of_the_whole_self_attention(scorer):
    asked = recall(4, torch.Generator().manual_seed(0), pairs=3)
    model = RecallModel(scorer, 8, self_attention=True)
    pairs = model.keys(asked.keys) + model.values(asked.values)
    whole = model.layer(torch.cat([pairs, model.questions(asked.question)[:, None]], 1))
    logits, weights = model(asked)
    assert torch.allclose(weights, whole.weights[:, -1], atol=1e-6)
    assert torch.allclose(logits, model.output_layer(whole.output[:, -1]), atol=1e-6)

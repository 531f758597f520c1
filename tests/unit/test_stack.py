"""The stack obeys its masks, its norms do what their names say, and a leak shows in the loss."""

import math

import pytest
import torch

from wheretolook.data.votes import dice, votes
from wheretolook.evidence import table
from wheretolook.norms import POOLED
from wheretolook.stack import (
    NORMS,
    Block,
    Stack,
    exchanged_loss,
    guess_loss,
    moved_by_others,
    score_dice,
    score_votes,
    train_dice,
    train_votes,
)

LEAKS = {("batches of 1", "BatchNorm1d(D)"), ("batches of 16", "LayerNorm([L, D])")}


def chance(seed=0):
    return torch.Generator().manual_seed(seed)


def made(norm, task, length=6):
    torch.manual_seed(0)
    return Stack(norm, task, length, width=8)


def test_the_winner_has_the_most_votes_and_of_equals_the_first():
    box = votes(300, chance())
    tally = torch.stack([(box.ids == c).sum(1) for c in (1, 2, 3, 4)], 1)
    for row, winner in zip(tally.tolist(), box.winner.tolist(), strict=True):
        assert winner == row.index(max(row))


def test_padding_stands_at_the_end_and_boxes_have_all_lengths():
    real = votes(500, chance(), length=9, shortest=3).ids != 0
    assert (real[:, :-1] >= real[:, 1:]).all()
    assert set(real.sum(1).tolist()) == set(range(3, 10))


def test_all_sides_of_a_die_are_equally_likely_and_independent():
    throws = dice(20_000, chance(), length=2)
    pairs = torch.bincount(throws[:, 0] * 10 + throws[:, 1], minlength=100) / 200
    assert (pairs - 1).abs().max() < 0.3


@pytest.mark.parametrize("norm", NORMS)
def test_every_norm_fits_both_tasks(norm):
    assert made(norm, "votes")(votes(3, chance(), length=6).ids).shape == (3, 4)
    assert made(norm, "dice")(dice(3, chance(), length=6)).shape == (3, 6, 10)
    assert set(NORMS) == {"none", *POOLED}


@pytest.mark.parametrize(
    ("norm", "future", "others"),
    [
        ("none", False, False),
        ("LayerNorm(D)", False, False),
        ("LayerNorm([L, D])", True, False),
        ("BatchNorm1d(D)", True, True),
        ("BatchNorm1d(L)", False, True),
    ],
)
def test_the_mask_is_obeyed_and_the_norm_may_still_leak(norm, future, others):
    model = made(norm, "dice")
    ids = dice(3, chance(), length=6)
    x = model.words(ids).detach().requires_grad_()
    model.pass_on(x, ids)[-1][0, 2].square().sum().backward()
    assert bool(x.grad[0, 3:].any()) == future
    assert bool(x.grad[1:].any()) == others


@pytest.mark.parametrize("norm", NORMS)
def test_in_evaluation_no_norm_sees_the_rest_of_the_batch(norm):
    model = made(norm, "votes").eval()
    ids = votes(4, chance(), length=6).ids
    torch.testing.assert_close(model(ids)[:1], model(ids[:1]))


@pytest.mark.parametrize("norm", NORMS)
def test_others_move_my_logits_only_through_batch_norm(norm):
    ids, others = (votes(5, chance(s), length=6).ids for s in (0, 1))
    moved = moved_by_others(made(norm, "votes"), ids, others[1:])
    assert moved > 0.01 if norm.startswith("Batch") else moved < 1e-5


def test_asking_leaves_the_model_as_it_was():
    model = made("BatchNorm1d(D)", "votes").eval()
    before = {name: kept.clone() for name, kept in model.state_dict().items()}
    score_votes(model, training=True, boxes=64)
    moved_by_others(model, *(votes(4, chance(s), length=6).ids[s:] for s in (0, 1)))
    score_dice(made("BatchNorm1d(D)", "dice"), rows=32)
    assert not model.training
    assert all(torch.equal(kept, before[name]) for name, kept in model.state_dict().items())


def test_the_exchanged_loss_is_the_loss_of_a_model_that_obeys_its_mask():
    throws, others = (dice(8, chance(s), length=7) for s in (0, 1))
    honest, leaking = (made(n, "dice") for n in ("LayerNorm(D)", "LayerNorm([L, D])"))
    plain = guess_loss(honest, throws)
    torch.testing.assert_close(exchanged_loss(honest, throws, others), plain)
    assert (exchanged_loss(leaking, throws, others) - guess_loss(leaking, throws)).abs() > 1e-4


def test_a_leaking_norm_goes_below_the_honest_floor():
    leaking, _ = train_dice("LayerNorm([L, D])", steps=200)
    assert score_dice(leaking).training < math.log(10) - 0.05
    honest, _ = train_dice("LayerNorm(D)", steps=200)
    assert score_dice(honest).training > math.log(10) - 0.03


def test_votes_are_learned():
    model, history = train_votes("LayerNorm(D)", steps=150)
    assert score_votes(model) > 0.8 and len(history.losses) == 150
    assert score_votes(model, training=True) == score_votes(model)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="norm: expected one of none, "):
        Block("group", 5, 8)
    with pytest.raises(ValueError, match="task: expected votes or dice, got 'chess'"):
        Stack("none", "chess", 5)
    with pytest.raises(ValueError, match="shortest: expected 1 to 3 papers, got 4"):
        votes(1, chance(), length=3)
    with pytest.raises(ValueError, match="length: expected 2 throws or more, got 1"):
        dice(1, chance(), length=1)


# --- what the tables say ----------------------------------------------------------------------


def test_accuracy_does_not_separate_the_norms_in_batches_of_32_but_does_in_batches_of_2():
    kept = table("norms-votes")
    for norm in ("none", "LayerNorm(D)", "BatchNorm1d(D)"):
        assert kept["batches of 32", norm, "accuracy, evaluation"].min > 0.99
    small = [kept["batches of 2", n, "accuracy, evaluation"] for n in ("LayerNorm(D)", "none")]
    batch = kept["batches of 2", "BatchNorm1d(D)", "accuracy, evaluation"]
    assert all(figure.min > batch.max + 0.01 for figure in small)


def test_no_honest_norm_beats_the_dice_and_a_leak_does():
    kept, floor = table("norms-dice"), math.log(10)
    for group, norm in kept.rows:
        trained = kept[group, norm, "loss, as in training"]
        exchanged = kept[group, norm, "loss, later throws exchanged"]
        assert exchanged.min > floor - 0.03
        if (group, norm) in LEAKS:
            assert trained.max < floor - 0.2
        else:
            assert trained.min > floor - 0.03


def test_deep_stacks_of_large_matrices_need_a_norm():
    kept = table("norms-depth")
    large, small = dict.fromkeys(group for group, _ in kept.rows)
    for norm in ("LayerNorm(D)", "BatchNorm1d(D)"):
        assert kept[large, norm, "accuracy, evaluation"].min > 0.85
    for row in ("none", "none, a tenth of the learning rate"):
        assert kept[large, row, "accuracy, evaluation"].max < 0.7
    assert kept[small, "none", "accuracy, evaluation"].min > 0.95

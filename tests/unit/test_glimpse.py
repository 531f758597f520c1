"""Glimpses: the sensor shows what is there, reward moves the gaze, and chance stays chance."""

import pytest
import torch
from torch.distributions import Normal

from wheretolook.data.digits import CANVAS, canvases
from wheretolook.evidence import table
from wheretolook.glimpse import (
    REACH,
    GlimpseModel,
    _loss,
    glimpse,
    pixels,
    policy_loss,
    score_glimpse,
    train_glimpse,
)
from wheretolook.training import seeded


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def noise(batch=5):
    return torch.rand(batch, CANVAS, CANVAS, generator=generator())


def made(gaze="learned", **options):
    with seeded(0):
        return GlimpseModel(gaze, **options)


# the sensor


def test_a_glimpse_at_the_centre_is_a_slice_and_its_gist_the_means_of_blocks():
    images = noise()
    fine, gist = glimpse(images, torch.zeros(5, 2))
    assert torch.equal(fine, images[:, 8:16, 8:16])
    assert gist.shape == (5, 4, 4)
    torch.testing.assert_close(gist[:, 1, 2], images[:, 6:12, 12:18].mean((1, 2)))


def test_a_glimpse_at_any_digit_is_that_digit():
    some = canvases("test")
    fine, _ = glimpse(some.images, some.centres)
    ink = some.images.sum((1, 2))
    torch.testing.assert_close(fine.sum((1, 2)), ink, atol=1e-3, rtol=0)


def test_a_glimpse_over_the_rim_is_dark_outside():
    fine, gist = glimpse(torch.ones(1, CANVAS, CANVAS), torch.tensor([[-1.0, 1.0]]))
    inside = torch.zeros(8, 8)
    inside[4:, :4] = 1  # the corner pixel is cut in the middle: half of it would lie outside
    inside[3, :4] = inside[4:, 4] = 0.5
    inside[3, 4] = 0.25
    torch.testing.assert_close(fine[0], inside)
    assert gist[0, 0].max() == gist[0, :, 3].max() == 0 < gist[0, 2, 1]


def test_between_two_pixels_it_sees_their_mixture():
    images = noise(1)
    half = 1 / (CANVAS - 1)  # half a pixel
    fine, _ = glimpse(images, torch.tensor([[half, 0.0]]))
    torch.testing.assert_close(fine[0], (images[0, 8:16, 8:16] + images[0, 9:17, 8:16]) / 2)


def test_numbers_of_another_kind_are_seen_alike():
    images, gaze = noise().round(), torch.zeros(5, 2)
    for fine in (glimpse(images.double(), gaze.double())[0], glimpse(images.int(), gaze.int())[0]):
        assert torch.equal(fine, images[:, 8:16, 8:16])


def test_a_gist_of_single_pixels_hides_nothing():
    images = noise()
    assert torch.equal(glimpse(images, torch.zeros(5, 2), 24)[1], images)


@pytest.mark.parametrize("value", [1.01, -1.5, float("nan"), float("inf")])
def test_a_gaze_outside_the_canvas_is_named(value):
    gaze = torch.tensor([[0.0, value]])
    with pytest.raises(ValueError, match=f"gaze: expected .* from -1 to 1, got {value:g}"):
        glimpse(torch.zeros(1, CANVAS, CANVAS), gaze)
    with pytest.raises(ValueError, match=f"got {value:g}"):
        made()(torch.zeros(1, CANVAS, CANVAS), gaze=gaze.expand(1, 3, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: glimpse(x, torch.zeros(2)), r"gaze: expected \(2, 2\), got \(2,\)"),
        (lambda x: glimpse(x, torch.zeros(2, 2), 5), "coarse: expected a divisor of 24, got 5"),
        (lambda x: glimpse(x[:, 1:], torch.zeros(2, 2)), r"expected \(N, 24, 24\), got \(2, 23"),
        (lambda x: made()(x[:, 1:]), r"images: expected \(N, 24, 24\), got \(2, 23, 24\)"),
        (lambda x: made()(x * float("nan")), "pixels from 0 to 1, got nan"),
        (lambda x: made()(x + 2), "pixels from 0 to 1, got 2.0"),
        (lambda x: made()(x, gaze="left"), "gaze: expected one of learned, random, centre; got"),
        (lambda x: made()(x, gaze="random"), "generator: a random gaze needs one"),
        (lambda x: made("left"), "gaze: expected one of learned, random, centre; got 'left'"),
        (lambda x: made(glimpses=0), "glimpses: expected 1 or more, got 0"),
        (lambda x: made(coarse=0), "coarse: expected a divisor of 24, got 0"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call(torch.zeros(2, CANVAS, CANVAS))


# the policy


def test_the_policy_gradient_is_the_one_by_hand():
    mean = torch.randn(6, 2, 2, generator=generator(), dtype=torch.float64, requires_grad=True)
    gaze = torch.randn(6, 2, 2, generator=generator(1), dtype=torch.float64)
    reward, baselines = torch.arange(6) / 5, torch.full((6, 2), 0.3, dtype=torch.float64)
    policy_loss(Normal(mean, 0.2).log_prob(gaze).sum(2), reward, baselines).backward()
    score = (gaze - mean.detach()) / 0.2**2  # of a Gaussian: d log π / d mean
    torch.testing.assert_close(mean.grad, -(reward[:, None] - baselines)[..., None] * score / 6)


@pytest.mark.parametrize("reward", [1.0, 0.0])
def test_a_rewarded_gaze_becomes_likelier_and_a_useless_one_less_likely(reward):
    mean = torch.zeros(1, 1, 2, requires_grad=True)
    gaze = torch.tensor([[[0.3, -0.1]]])

    def log_prob():
        return Normal(mean, 0.2).log_prob(gaze).sum(2)

    before = log_prob().item()
    policy_loss(log_prob(), torch.tensor([reward]), torch.full((1, 1), 0.5)).backward()
    with torch.no_grad():
        mean -= 1e-3 * mean.grad  # downhill, as an optimizer goes
    assert (log_prob().item() > before) == (reward > 0.5)


def test_on_average_it_is_the_gradient_of_the_expected_reward_and_a_baseline_calms_it():
    # R(g) = -g² and g ~ N(m, s²): E[R] = -(m² + s²), whose derivative is -2m
    m, s, tries = 0.5, 0.2, 200_000
    draws = m + s * torch.randn(tries, 1, generator=generator(), dtype=torch.float64)
    reward = -draws[:, 0].square()
    spreads = []
    for baseline in (0.0, -(m**2 + s**2)):
        mean = torch.full((tries, 1), m, dtype=torch.float64, requires_grad=True)
        baselines = torch.full((tries, 1), baseline, dtype=torch.float64)
        policy_loss(Normal(mean, s).log_prob(draws), reward, baselines).backward()
        each = -mean.grad * tries  # the loss is a mean, and its minus is taken back
        assert abs(each.mean().item() - -2 * m) < 0.02
        spreads.append(each.std().item())
    assert spreads[1] < 0.8 * spreads[0]


def test_naming_and_looking_are_learned_apart():
    images = noise()

    def reached(loss):
        model = made()
        loss(model(images, generator())).backward()
        return {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None}

    naming = reached(lambda seen: seen.logits.sum())
    looking = reached(lambda seen: policy_loss(seen.log_probs, torch.ones(5), seen.baselines))
    assert "locate" not in naming and "expect" not in naming  # no gradient passes through a draw
    assert "classify" not in looking and "expect" not in looking
    assert reached(lambda seen: seen.baselines.sum()) == {"expect"}


def test_controls_learn_no_policy():
    for gaze in ("random", "centre"):
        model = made(gaze)
        _loss(model, (noise(), torch.arange(5), generator())).backward()
        assert model.locate.weight.grad is None and model.classify.weight.grad is not None


# the model


def test_every_stage_fits_the_next():
    images = noise()
    seen = made(coarse=6, glimpses=4)(images, generator())
    assert seen.gazes.shape == (5, 4, 2) and torch.equal(seen.gazes[:, 0], torch.zeros(5, 2))
    assert seen.means.shape == (5, 3, 2) and seen.log_probs.shape == seen.baselines.shape == (5, 3)
    for number in range(4):
        fine, gist = glimpse(images, seen.gazes[:, number], 6)
        assert torch.equal(seen.fine[:, number], fine) and torch.equal(seen.gist[:, number], gist)
    torch.testing.assert_close(seen.beliefs.sum(-1), torch.ones(5, 4))
    inside = (seen.gazes.abs() < 1).all(2)[:, 1:]
    expected = Normal(seen.means, made().spread).log_prob(seen.gazes[:, 1:]).sum(2)
    torch.testing.assert_close(seen.log_probs[inside], expected[inside])
    assert made(glimpses=1)(images).log_probs.shape == (5, 0)


def test_ways_of_looking():
    images, model = noise(500), made()
    still = model(images)
    assert torch.equal(still.gazes[:, 1:], still.means)
    assert not model(images, gaze="centre").gazes.any()
    random = model(images, generator(), gaze="random").gazes[:, 1:]
    assert 0.95 * REACH < random.abs().max() <= REACH
    assert random.mean((0, 1)).abs().max() < 0.05
    assert torch.equal(made("random")(images, generator()).gazes[:, 1:], random)
    assert torch.equal(model(images, gaze=still.gazes).logits, still.logits)
    assert model(images, generator()).gazes.abs().max() <= 1


def test_more_canvases_in_the_batch_change_nothing():
    images, model = noise(40), made()
    some, more = model(images[:7]), model(images)
    for few, many in zip(some, more, strict=True):
        torch.testing.assert_close(few, many[:7], atol=1e-5, rtol=1e-5)


def test_what_it_has_not_looked_at_can_not_matter():
    # a gist of one cell sees only how bright everything is: move ink where no fine patch looks
    model, images = made(coarse=1), torch.zeros(1, CANVAS, CANVAS)
    gaze = torch.zeros(1, 3, 2)
    images[0, 1, 1] = 1
    there = model(images, gaze=gaze).logits
    assert torch.equal(there, model(images.flip(1, 2), gaze=gaze).logits)


# training


def test_the_same_seed_gives_the_same_history_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    runs = [train_glimpse(seed, steps=4)[1].losses for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_weights_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.delenv("WHERETOLOOK_RETRAIN", raising=False)
    (first, history), (second, kept) = (train_glimpse(steps=2) for _ in range(2))
    assert history == kept and not second.training
    images = noise()
    assert torch.equal(first(images).logits, second(images).logits)


@pytest.mark.parametrize("options", [{"steps": 0}, {"steps": 60, "shuffled": True}])
def test_with_nothing_to_learn_it_stays_at_chance(options, tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    score = score_glimpse(train_glimpse(**options)[0])
    assert all(0.05 < share < 0.17 for share in score.accuracy)


def test_distances_are_in_pixels_and_gazes_can_be_given(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    model, _ = train_glimpse(steps=0)
    test = canvases("test", 2, copies=1)
    perfect = test.centres[:, None].expand(-1, 3, -1)
    assert max(score_glimpse(model, 2, gaze=perfect, copies=1).distance) < 1e-4
    score = score_glimpse(model, 2, gaze="centre", copies=1)
    middle = (pixels(test.centres) - 11.5).norm(dim=1).mean().item()
    assert score.distance == pytest.approx([middle] * 3)
    assert score_glimpse(model, 2, gaze="random") == score_glimpse(model, 2, gaze="random")


# what was measured

HIDDEN, FULL = "gist of 4×4", "gist of 24×24"
LAST, AWAY = "accuracy, glimpse 3", "pixels away, glimpse 3"


def test_a_learned_gaze_finds_the_digit_and_nothing_else_explains_it():
    kept = table("glimpse")
    learned = kept[HIDDEN, "learned gaze", LAST]
    assert learned.mean > 0.92 and learned.min > 0.9
    assert kept[HIDDEN, "learned gaze", AWAY].max < 3 < 6 < kept[HIDDEN, "random gaze", AWAY].min
    others = [row for group, row in kept.rows if group == HIDDEN and row != "learned gaze"]
    assert len(others) == 7
    assert all(kept[HIDDEN, row, LAST].max < 0.7 for row in others)


@pytest.mark.parametrize("row", ["untrained", "labels shuffled in training"])
def test_without_learning_it_is_chance(row):
    figure = table("glimpse")[HIDDEN, row, LAST]
    assert figure.min > 0.05 and figure.max < 0.15


def test_the_less_is_hidden_the_less_a_learned_gaze_gains():
    kept = table("glimpse")
    gains = [
        kept[group, "learned gaze", LAST].mean - kept[group, "random gaze", LAST].mean
        for group in (HIDDEN, "gist of 8×8", FULL)
    ]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0.25 and gains[2] < 0.02


def test_when_nothing_is_hidden_the_gaze_can_be_swapped_for_any_other():
    kept = table("glimpse")
    for other in ("random in the test", "centre in the test", "the gazes of another canvas in the"):
        (row,) = [row for group, row in kept.rows if group == FULL and f", but {other}" in row]
        lost = {
            group: kept[group, "learned gaze", LAST].mean - kept[group, row, LAST].mean
            for group in (HIDDEN, FULL)
        }
        assert lost[HIDDEN] > 0.3 and abs(lost[FULL]) < 0.05

"""Captioning: weights follow the cells, a choice is one cell, reward moves the gaze."""

import pytest
import torch

from wheretolook.captioning import (
    CONTEXTS,
    GivenContext,
    HardContext,
    PictureEncoder,
    TemperedContext,
    _loss,
    _made,
    looking_loss,
    score_captioner,
    train_captioner,
)
from wheretolook.data.scenes import DIGITS, scenes
from wheretolook.evidence import table
from wheretolook.recurrent import END, AdditiveContext, Encoded, EncoderDecoder
from wheretolook.training import seeded


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def fresh(make, *arguments, **options):
    with seeded(0):
        return make(*arguments, **options).eval()


def made(context="soft", side=3, returning=False):
    return fresh(_made, context, side, returning)


def some(side=3, count=20):
    return scenes("test", 5, count=count, side=side)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.delenv("WHERETOLOOK_RETRAIN", raising=False)


# the encoder


def test_states_are_values_and_places_and_the_mean_is_plain():
    encoder = fresh(PictureEncoder, 3)
    encoded = encoder(some().images)
    torch.testing.assert_close(encoded.states, encoded.values + encoder.places)
    torch.testing.assert_close(encoded.last, encoded.values.mean(1))
    assert encoded.attn_mask.all() and encoded.attn_mask.shape == (20, 9)


@torch.no_grad()
@pytest.mark.parametrize("context", ["soft", "hard"])
def test_cells_and_their_places_moved_together_move_the_weights(context):
    model, scene = made(context), some()
    order = torch.randperm(9, generator=generator())
    grid = scene.images.unflatten(2, (3, 8)).unflatten(1, (3, 8)).transpose(2, 3).flatten(1, 2)
    moved = grid[:, order].unflatten(1, (3, 3)).transpose(2, 3).flatten(3, 4).flatten(1, 2)
    before = model(scene.images, scene.target)
    model.encoder.places.copy_(model.encoder.places[order])
    after = model(moved, scene.target)
    torch.testing.assert_close(after.weights, before.weights[..., order])
    torch.testing.assert_close(after.logits, before.logits)


@torch.no_grad()
def test_the_mean_can_not_know_where_anything_is():
    model, scene = made("mean"), some()
    flipped = scene.images.unflatten(1, (3, 8)).flip(1).flatten(1, 2)  # rows of cells change place
    torch.testing.assert_close(
        model(flipped, scene.target).logits, model(scene.images, scene.target).logits
    )


@torch.no_grad()
@pytest.mark.parametrize("context", CONTEXTS)
def test_more_pictures_in_the_batch_change_nothing(context):
    model, scene = made(context), some()
    few = model(scene.images[:5], scene.target[:5])
    torch.testing.assert_close(few.logits, model(scene.images, scene.target).logits[:5])


# the contexts


@torch.no_grad()
def test_soft_weights_sum_to_one_and_make_the_context():
    model, scene = made(), some()
    seen, values = model(scene.images, scene.target), model.encoder(scene.images).values
    torch.testing.assert_close(seen.weights.sum(-1), torch.ones(20, 5))
    torch.testing.assert_close(seen.contexts, seen.weights @ values)


@torch.no_grad()
@pytest.mark.parametrize("returning", [True, False])
@pytest.mark.parametrize("chance", [True, False])
def test_a_hard_context_is_the_value_of_one_cell(returning, chance):
    context = fresh(HardContext, 6, 32, returning=returning)
    encoded = fresh(PictureEncoder, 3)(some().images)
    look = context(encoded, generator() if chance else None)
    looks = [look(torch.randn(20, 6, generator=generator(n))) for n in range(4)]
    for seen in looks:
        assert torch.equal(seen.context, encoded.values[torch.arange(20), seen.choice])
        torch.testing.assert_close(seen.weights.sum(-1), torch.ones(20))
        if not chance:
            assert torch.equal(seen.choice, seen.weights.argmax(-1))
    different = torch.stack([seen.choice for seen in looks], 1).sort(1).values.diff(dim=1) > 0
    assert different.all() != returning


@torch.no_grad()
def test_hard_and_soft_have_the_same_scores():
    context, query = fresh(HardContext, 6, 32), torch.randn(20, 6, generator=generator())
    encoded = fresh(PictureEncoder, 3)(some().images)
    soft = fresh(AdditiveContext, 6, 32)
    soft.load_state_dict(context.state_dict())
    look = context(encoded)
    first, second, expected = look(query), look(query), soft(encoded)(query).weights
    torch.testing.assert_close(first.weights, expected)
    # what was seen drops out, the others keep their proportions
    assert not second.weights.gather(1, first.choice[:, None]).any()
    rest = expected.scatter(1, first.choice[:, None], 0.0)
    torch.testing.assert_close(second.weights, rest / rest.sum(1, keepdim=True))


@torch.no_grad()
def test_when_all_cells_were_seen_it_starts_over():
    encoded = fresh(PictureEncoder, 3)(some().images)
    look, query = fresh(HardContext, 6, 32)(encoded), torch.zeros(20, 6)
    choices = torch.stack([look(query).choice for _ in range(18)], 1)
    assert torch.equal(choices[:, :9].sort(1).values, torch.arange(9).expand(20, 9))
    assert torch.equal(choices[:, 9:], choices[:, :9])


@torch.no_grad()
def test_cells_are_drawn_as_often_as_their_weights_say():
    encoded = fresh(PictureEncoder, 3)(some(count=1).images)
    many = Encoded(*(part.expand(20_000, *part.shape[1:]) for part in encoded))
    context = fresh(HardContext, 6, 32)
    context.scorer.vector.mul_(5)  # weights that differ
    seen = context(many, generator())(torch.ones(20_000, 6))
    shares = seen.choice.bincount(minlength=9) / 20_000
    assert seen.weights[0].max() > 2 * seen.weights[0].min()
    assert (shares - seen.weights[0]).abs().max() < 0.015


@torch.no_grad()
def test_temperature_goes_from_the_hard_choice_to_equal_weights():
    model, scene = made(), some()
    encoded, query = model.encoder(scene.images), torch.randn(20, 64, generator=generator())

    def at(temperature):
        return TemperedContext(model.context, temperature)(encoded)(query)

    scores = model.context.scorer(query.unsqueeze(1), encoded.states).squeeze(1)
    for temperature in (0.2, 1.0, 3.0):
        torch.testing.assert_close(at(temperature).weights, (scores / temperature).softmax(-1))
    hard = fresh(HardContext, 64, 32)
    hard.load_state_dict(model.context.state_dict())
    torch.testing.assert_close(at(1e-8).context, hard(encoded)(query).context)
    torch.testing.assert_close(at(1e8).context, encoded.last)
    assert (at(1e8).weights - 1 / 9).abs().max() < 1e-6


@torch.no_grad()
def test_temperature_leaves_hidden_places_hidden():
    encoded = fresh(PictureEncoder, 3)(some().images)
    mask = encoded.attn_mask.clone()
    mask[:, 6:] = False
    mask[0] = False  # nothing to see at all
    look = TemperedContext(fresh(AdditiveContext, 6, 32), 100.0)(encoded._replace(attn_mask=mask))
    weights = look(torch.zeros(20, 6)).weights
    assert not weights[:, 6:].any() and not weights[0].any()
    torch.testing.assert_close(weights[1:].sum(-1), torch.ones(19))


@torch.no_grad()
@pytest.mark.parametrize("context", ["soft", "hard"])
def test_a_gaze_can_be_given(context):
    model, scene = made(context), some()
    seen = model(scene.images, scene.target)
    hard = context == "hard"
    weights = torch.nn.functional.one_hot(seen.choices, 9).float() if hard else seen.weights
    told = EncoderDecoder(model.encoder, GivenContext(weights), model.decoder)
    again = told(scene.images, scene.target)
    torch.testing.assert_close(again.logits, seen.logits)
    assert torch.equal(again.weights, weights)


# learning from reward


def two_cells():
    """Return θ, and what two words in a row get from two cells each."""
    theta = torch.tensor([[0.4, -0.3], [0.1, 0.8]], dtype=torch.float64, requires_grad=True)
    first = torch.tensor([-0.2, -1.5], dtype=torch.float64)  # r_1 of choice 1
    second = torch.tensor([[-0.1, -2.0], [-3.0, -0.4]], dtype=torch.float64)  # r_2 of both
    return theta, first, second


def sampled(theta, first, second, tries, draws, plain=False):
    """Draw choices, and return each picture's estimate of the gradient."""
    probabilities = theta.detach().softmax(-1)
    z = torch.multinomial(probabilities, tries * draws, replacement=True, generator=generator()).T
    words = torch.stack([first[z[:, 0]], second[z[:, 0], z[:, 1]]], 1)
    copies = theta.detach().expand(tries * draws, 2, 2).clone().requires_grad_()
    log_probs = copies.log_softmax(-1).gather(2, z[..., None]).squeeze(2)
    if plain:  # the reward of the whole try, no baseline
        (-(words.sum(1, keepdim=True) * log_probs).sum(1).mean()).backward()
    else:
        looking_loss(log_probs, words, draws).backward()
    return -copies.grad.view(tries, draws, 2, 2).sum(1) * tries  # its minus is taken back


@pytest.mark.parametrize("draws", [2, 5])
def test_on_average_it_is_the_exact_gradient_of_the_expected_reward(draws):
    theta, first, second = two_cells()
    p = theta.softmax(-1)
    expected = (p[0] * first).sum() + (p[0, :, None] * p[1] * second).sum()  # all four cases
    (exact,) = torch.autograd.grad(expected, theta)
    spreads = {}
    for plain in (True, False):
        each = sampled(theta, first, second, 40_000, draws, plain)
        error = each.std(0) / 40_000**0.5
        assert ((each.mean(0) - exact).abs() < 4 * error).all()
        spreads[plain] = each.std(0).mean()
    assert spreads[False] < spreads[True]  # a baseline changes the noise, not the mean


def test_the_baseline_is_what_came_before_and_what_the_others_got():
    words = -torch.rand(6, 4, generator=generator(), dtype=torch.float64)
    log_probs = torch.zeros(6, 4, dtype=torch.float64, requires_grad=True)
    looking_loss(log_probs, words, draws=3).backward()
    for row in range(6):
        others = [r for r in range(row // 3 * 3, row // 3 * 3 + 3) if r != row]
        for i in range(4):
            advantage = words[row, i:].sum() - words[others, i:].sum(1).mean()
            torch.testing.assert_close(log_probs.grad[row, i], -advantage / 6)


def test_only_reward_teaches_a_hard_gaze_and_only_backpropagation_the_decoder():
    def taught(context, loss):
        model = made(context)
        loss(model).backward()
        return {
            part: any(p.grad is not None and p.grad.any() for p in module.parameters())
            for part, module in (("gaze", model.context), ("decoder", model.decoder.output_layer))
        }

    scene = some()

    def naming(model):
        return model(scene.images, scene.target).logits.logsumexp(-1).sum()

    assert taught("soft", naming) == {"gaze": True, "decoder": True}
    assert taught("hard", naming) == {"gaze": False, "decoder": True}  # a draw has no slope
    whole = lambda model: _loss(model, (scene, generator(), 0.0))  # noqa: E731
    assert taught("hard", whole) == {"gaze": True, "decoder": True}


def test_a_weight_of_zero_leaves_all_gradients_finite():
    model = made("hard")
    with torch.no_grad():
        model.context.scorer.vector.mul_(1e4)  # so sharp that weights underflow
    _loss(model, (some(), generator(), 0.3)).backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


# training and scores


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_same_seed_gives_the_same_history_twice(context, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    state = torch.get_rng_state()
    runs = []
    for seed in (0, 0, 1):
        runs.append(train_captioner(seed, context=context, side=3, steps=3)[1].losses)
        torch.rand(1)  # a reader's own numbers, which must not matter
    assert runs[0] == runs[1] != runs[2]
    torch.set_rng_state(state)
    train_captioner(context=context, side=3, steps=1)
    assert torch.equal(state, torch.get_rng_state())


def test_weights_are_remembered():
    (first, history), (second, kept) = (train_captioner(side=3, steps=2) for _ in range(2))
    assert history == kept and not second.training
    scene = some()
    assert torch.equal(
        first(scene.images, scene.target).logits, second(scene.images, scene.target).logits
    )


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("options", [{"steps": 0}, {"steps": 20, "shuffled": True}])
def test_with_nothing_to_learn_it_stays_at_chance(context, options):
    model, _ = train_captioner(context=context, side=3, **options)
    score = score_captioner(model, count=300)
    assert score.exact < 0.03 and score.words < 0.4 and score.peak < 0.25


def test_a_mean_has_no_gaze_and_scores_chance():
    score = score_captioner(made("mean", side=4), count=300)
    assert score.peak == pytest.approx(1 / 16) and score.mass == pytest.approx(1 / 16)
    assert 1 / 16 < score.peak_or_twin < 2 / 16


def test_a_gaze_at_the_named_digits_scores_one():
    model, test = made(), scenes("test", 2, count=50, side=3)
    end = torch.zeros(50, 1, dtype=torch.long)
    gold = torch.nn.functional.one_hot(torch.cat([test.gold, end], 1), 9).float()
    score = score_captioner(model, 2, weights=gold, count=50)
    assert score.peak == score.peak_or_twin == score.mass == 1


@pytest.mark.parametrize("side", DIGITS)
def test_an_exact_caption_is_right_in_each_word(side):
    class Oracle(torch.nn.Module):
        """Write the right caption, but for the first word of every second picture."""

        encoder = PictureEncoder(side)

        def write(self, images, limit):
            ids = scenes("test", 0, count=40, side=side).target.clone()
            ids[::2, 0] = END
            return made(side=side)(images, ids)._replace(ids=ids)

        def forward(self, images, target):
            return made(side=side)(images, target)

    score = score_captioner(Oracle(), count=40)
    assert score.exact == 0.5 and score.words == pytest.approx(1 - 0.5 / DIGITS[side])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PictureEncoder(5), "side: expected 3 or 4, got 5"),
        (lambda: PictureEncoder(3)(torch.zeros(1, 32, 32)), r"images: expected \(N, 24, 24\), got"),
        (lambda: PictureEncoder(3)(torch.full((1, 24, 24), torch.nan)), "0 to 1, got nan"),
        (lambda: train_captioner(context="firm"), "context: expected one of mean, soft, hard; got"),
        (lambda: train_captioner(side=5), "side: expected 3 or 4, got 5"),
        (lambda: train_captioner(returning=True), "returning: expected False unless"),
        (lambda: TemperedContext(AdditiveContext(6, 32), 0.0), "temperature: expected .* above 0"),
        (lambda: TemperedContext(AdditiveContext(6, 32), torch.nan), "above 0, got nan"),
        (lambda: looking_loss(torch.zeros(4, 2), torch.zeros(4, 2), 1), "draws: expected 2 or mor"),
        (lambda: looking_loss(torch.zeros(4, 2), torch.zeros(4, 2), 3), "a divisor of 4; got 3"),
        (lambda: score_captioner(made(), count=0), "count: expected 1 or more, got 0"),
        (
            lambda: score_captioner(made(), weights=torch.ones(2, 5, 8), count=2),
            r"weights: expected \(2, 5, 9\), got \(2, 5, 8\)",
        ),
        (
            lambda: GivenContext(torch.ones(2, 5, 8))(PictureEncoder(3)(torch.zeros(2, 24, 24))),
            r"weights: expected \(2, L, 9\), got \(2, 5, 8\)",
        ),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# what was measured

SMALL, LARGE = "3 × 3 cells, four digits", "4 × 4 cells, five digits"
MEAN, SOFT, HARD = "mean of all cells", "soft attention", "hard attention"
SIZES = pytest.mark.parametrize("group", [SMALL, LARGE])


@SIZES
def test_each_way_writes_most_captions_without_a_mistake(group):
    kept = table("captioning")
    assert all(kept[group, row, "exact"].mean > 0.83 for row in (MEAN, SOFT, HARD))
    assert kept[group, SOFT, "exact"].mean > kept[group, MEAN, "exact"].mean


@SIZES
def test_a_hard_gaze_is_where_the_named_digit_is_more_often_than_the_soft_peak(group):
    kept = table("captioning")
    for column in ("peak", "peak or twin", "mass"):
        chance, soft, hard = (kept[group, row, column] for row in (MEAN, SOFT, HARD))
        assert chance.max < 0.15 < soft.min and soft.max < hard.min
    assert kept[group, HARD, "peak or twin"].min > 0.85


@SIZES
@pytest.mark.parametrize("way", [SOFT, HARD])
def test_without_its_own_gaze_a_model_knows_no_more_than_a_bet(group, way):
    kept = table("captioning")
    bet = kept[group, "no picture: the likeliest word at each place", "words"].max
    for name in ("the gaze of another picture", "random"):
        row = f"{way}, but {name} in the test"
        assert kept[group, row, "exact"].max < 0.03
        # a soft gaze from elsewhere still tells a little of how full of large digits a scene is
        assert kept[group, row, "words"].max < bet + 0.12


@SIZES
@pytest.mark.parametrize("way", [SOFT, HARD])
def test_untrained_is_chance(group, way):
    kept, row = table("captioning"), f"{way}, untrained"
    assert kept[group, row, "exact"].max < 0.01 and kept[group, row, "words"].max < 0.15
    chance = kept[group, MEAN, "peak"].mean
    assert abs(kept[group, row, "mass"].mean - chance) < 0.02


@pytest.mark.parametrize("way", ["mean", "soft"])
def test_with_shuffled_labels_the_words_are_chance(way):
    kept, row = table("captioning"), f"{way}, labels shuffled in training"
    bet = kept[SMALL, "no picture: the likeliest word at each place", "words"]
    assert kept[SMALL, row, "exact"].max < 0.01 and kept[SMALL, row, "words"].max < bet.max


def test_a_gaze_that_may_return_fails():
    kept = table("captioning")
    free, bound = (kept[SMALL, row, "exact"] for row in (f"{HARD}, may return", HARD))
    assert free.max < bound.min - 0.2

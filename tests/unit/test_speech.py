"""Speech: frames in, words out, through the same context and decoder as a translator."""

import pytest
import torch
from torch.nn.functional import pad

from wheretolook import speech
from wheretolook.data.tones import MOST, WORDS, Frames, frames, say, utterances
from wheretolook.evidence import table
from wheretolook.recurrent import naming_loss
from wheretolook.speech import CONTEXTS, SoundEncoder, hear, score_recogniser, train_recogniser


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.delenv("WHERETOLOOK_RETRAIN", raising=False)
    monkeypatch.setattr(speech, "SOUNDS", 50)  # a few are enough to see that it trains


@pytest.fixture(autouse=True, scope="module")
def _one_thread():  # for models so small it is the fastest, above all on a busy machine
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def some(count=10):
    sounds, target, _ = utterances("test", count, torch.Generator().manual_seed(0))
    return frames(sounds), target


def untrained(context="last"):
    return train_recogniser(steps=0, context=context)[0]


@pytest.mark.parametrize("context", CONTEXTS)
def test_more_padding_changes_no_output_no_loss_and_no_gradient(context):
    model, (sound, target) = untrained(context), some()
    # what stands in the padding does not matter either
    features = pad(sound.features, (0, 0, 0, 7)).masked_fill(
        ~pad(sound.attn_mask, (0, 7))[..., None], 100.0
    )
    wider = Frames(features, pad(sound.attn_mask, (0, 7)))
    found = []
    for given in (sound, wider):
        model.zero_grad()
        logits = model(given, target).logits
        loss = naming_loss(logits, target)
        loss.backward()
        found.append([logits, loss, *(p.grad for p in model.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)
    assert torch.equal(model.write(sound, 6).ids, model.write(wider, 6).ids)


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_sound_alone_is_heard_as_among_others(context):
    model, (sound, target) = untrained(context), some()
    together = model(sound, target).logits
    for row in range(len(target)):
        length = int(sound.attn_mask[row].sum())
        alone = Frames(*(part[row : row + 1, :length] for part in sound))
        logits = model(alone, target[row : row + 1]).logits
        torch.testing.assert_close(logits[0], together[row], atol=1e-6, rtol=1e-5)


def test_every_frame_of_the_sound_can_matter():
    (features, attn_mask), _ = some()
    features = features.requires_grad_()
    SoundEncoder(8)(Frames(features, attn_mask)).last.sum().backward()
    assert torch.equal(features.grad.abs().sum(2) > 0, attn_mask)


def test_attention_weights_are_rows_over_the_frames():
    heard = hear(untrained("attention"), say([1, 2], 150, torch.Generator().manual_seed(0)))
    assert heard.weights.shape[0] == len(heard.words)
    torch.testing.assert_close(heard.weights.sum(1), torch.ones(len(heard.words)))
    assert hear(untrained(), torch.zeros(800)).weights is None


def test_the_same_seed_gives_the_same_history_twice(monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    runs = [train_recogniser(seed, steps=4)[1].losses for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_weights_are_remembered():
    (first, history), (second, kept) = (train_recogniser(steps=2) for _ in range(2))
    assert history == kept and not second.training
    sound, target = some()
    assert torch.equal(first(sound, target).logits, second(sound, target).logits)


def test_training_leaves_the_readers_random_numbers_alone():
    torch.manual_seed(7)
    before = torch.get_rng_state()
    train_recogniser(steps=1)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("options", [{"steps": 0}, {"steps": 60, "shuffled": True}])
def test_with_nothing_to_learn_it_stays_at_chance(options):
    score = score_recogniser(train_recogniser(**options)[0], count=200)
    assert score.tones < 0.35 and max(score.exact[1:]) < 0.2


def test_it_can_learn_a_few_sounds():
    _, history = train_recogniser(steps=100)
    assert sum(history.losses[-10:]) < 0.6 * sum(history.losses[:10])


class Parrot:
    """It knows the answers."""

    def __init__(self, target):
        self.target = target

    def write(self, source, limit):
        return self


@pytest.mark.parametrize("wrong", [False, True])
def test_scores_count_what_is_right(wrong):
    target = utterances("test", 100, torch.Generator().manual_seed(1_000)).target
    parrot = Parrot(target)
    parrot.ids = target.where(~((target == 3) & wrong), torch.tensor(4))  # mā becomes má
    score = score_recogniser(parrot, count=100)
    high = (target == 3).any(1).view(MOST, -1).float().mean(1)
    expected = torch.eye(4)
    if wrong:
        expected[0] = expected[1]
    assert torch.equal(score.heard, expected)
    assert score.exact == pytest.approx((1 - high * wrong).tolist())
    said = target > 2
    assert score.tones == pytest.approx((parrot.ids == target)[said].float().mean().item())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, m: SoundEncoder(8)(Frames(f[0], m)), r"\(B, S, 3\), got torch.float32 \(2, 3\)"),
        (lambda f, m: SoundEncoder(8)(Frames(f[..., :2], m)), r"got torch.float32 \(1, 2, 2\)"),
        (lambda f, m: SoundEncoder(8)(Frames(f.double(), m)), r"got torch.float64 \(1, 2, 3\)"),
        (lambda f, m: SoundEncoder(8)(Frames(f / 0, m)), "features: expected finite numbers"),
        (lambda f, m: SoundEncoder(8)(Frames(f, m.int())), "attn_mask: expected bool"),
        (lambda f, m: SoundEncoder(8)(Frames(f, ~m)), "row 0 is empty"),
        (lambda f, m: train_recogniser(context="magic"), "context: expected one of last, mapped"),
        (lambda f, m: hear(untrained(), torch.zeros(0)), "expected 1 to 17760 samples"),
        (lambda f, m: hear(untrained(), f), r"sounds\[0\]: expected a floating-point tensor"),
        (lambda f, m: score_recogniser(untrained(), change="loud"), "change: expected"),
        (
            lambda f, m: score_recogniser(untrained(), count=3),
            "count: expected a positive",
        ),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call(torch.zeros(1, 2, 3), torch.ones(1, 2, dtype=torch.bool))


# what was measured

FIXED, RIGHT, FIVE = "c = h_T", "tones right", "exact, 5 syllables"
FLAT = "c = h_T, every syllable flattened in the test"
BACK = "c = h_T, sounds played backwards in the test"


def test_new_voices_are_understood():
    kept = table("speech")
    assert kept["", FIXED, RIGHT].min > 0.95 and kept["", FIXED, "exact, 1 syllable"].min > 0.97
    assert kept["", "attention", RIGHT].min > 0.98 and kept["", "attention", FIVE].min > 0.9


def test_the_longest_gain_most_from_attention():
    kept = table("speech")
    gains = [
        kept["", "attention", column].mean - kept["", FIXED, column].mean
        for column in ("exact, 1 syllable", FIVE)
    ]
    assert abs(gains[0]) < 0.02 and gains[1] > 0.03


@pytest.mark.parametrize("row", ["untrained", "tones shuffled in training"])
def test_without_learning_it_is_chance(row):
    kept = table("speech")
    assert kept["", f"c = h_T, {row}", RIGHT].max < 0.32
    assert kept["", f"c = h_T, {row}", FIVE].max < 0.05


def test_with_the_pitch_taken_out_every_tone_is_the_level_one():
    kept = table("speech")
    assert kept["", FLAT, RIGHT].min > 0.2 and kept["", FLAT, RIGHT].max < 0.3
    assert all(kept["", FLAT, f"{said} heard as mā"].min > 0.9 for said in WORDS[3:])


def test_backwards_what_fell_rises_and_what_rose_falls():
    kept = table("speech")
    assert kept["", BACK, "mā heard as mā"].min > 0.8  # level is level from both ends
    for tone in ("má", "mà"):
        assert kept["", BACK, f"{tone} heard as {tone}"].max < 0.1
    assert kept["", BACK, "má heard as mà"].mean > 0.5
    # what fell rises; some voices make a dip of it
    rising = sum(kept["", BACK, f"mà heard as {tone}"].mean for tone in ("má", "mǎ"))
    assert rising > 0.75 and kept["", BACK, "mà heard as má"].min > 0.25

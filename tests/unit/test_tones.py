"""Tones: the pitch goes where it was asked to, nothing else tells them apart, frames are honest."""

from itertools import pairwise

import pytest
import torch

from wheretolook.data.tones import (
    LONGEST,
    MOST,
    RATE,
    REGISTERS,
    contour,
    describe,
    frames,
    pitch,
    say,
    spectrogram,
    syllable,
    utterances,
)
from wheretolook.recurrent import END, PAD

TONES = (1, 2, 3, 4)
VOICES = (90, 120, 155, 200, 260, 300)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():  # sounds are short: on a busy machine two threads take fifty times as long
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def measured(sound):
    """The pitch of a level sound in Hz: its best lag by plain autocorrelation, to a tenth."""
    sound = sound.double()
    lags = torch.arange(15, 200)
    likeness = torch.stack(
        [(sound[:-lag] * sound[lag:]).sum() / (len(sound) - lag) for lag in lags]
    )
    likeness = likeness / sound.square().mean()
    # the first peak that is nearly as high as the highest: two periods are as alike as one
    peaks = (likeness[1:-1] > likeness[:-2]) & (likeness[1:-1] > likeness[2:])
    best = int((peaks & (likeness[1:-1] > 0.9 * likeness.max())).nonzero()[0]) + 1
    left, top, right = likeness[best - 1 : best + 2]
    return RATE / (lags[best] + (left - right) / (left - 2 * top + right) / 2).item()


# what is said


@pytest.mark.parametrize("register", VOICES)
def test_a_level_tone_has_the_pitch_that_was_asked(register):
    assert measured(syllable(0, register, 0.3)) == pytest.approx(register, rel=0.01)
    high = register * 2 ** (5 / 12)  # five semitones above
    assert measured(syllable(1, register, 0.3)) == pytest.approx(high, rel=0.01)
    assert measured(syllable(1, register, 0.3, shift=-5)) == pytest.approx(register, rel=0.01)


def test_contours_are_the_tone_letters():
    x = torch.linspace(0, 1, 101)
    level, rising, dipping, falling = (contour(tone, x) for tone in TONES)
    assert (level == 5).all() and (contour(0, x) == 0).all()
    assert (rising.diff() > 0).all() and rising[[0, -1]].tolist() == [0, 5]
    assert (falling.diff() < 0).all() and falling[[0, -1]].tolist() == [5, -5]
    lowest = int(dipping.argmin())
    assert 30 < lowest < 45 and dipping[lowest] == pytest.approx(-5, abs=0.01)
    assert (dipping.diff()[:lowest] < 0).all() and (dipping.diff()[lowest:] > 0).all()
    assert dipping[0].item() == -2.5 and dipping[-1].item() == pytest.approx(2.5)


@pytest.mark.parametrize("tone", TONES)
def test_the_sound_goes_where_its_contour_goes_and_the_frames_hear_it(tone):
    for register in VOICES:
        clean = syllable(tone, register, 0.3)
        hertz, strength = pitch(clean + 0.03 * torch.randn(len(clean), generator=generator()))
        inside = slice(1, 6)  # frames whose windows lie in the syllable
        truth = register * 2 ** (contour(tone, torch.arange(7) * 0.05 / 0.3) / 12)
        assert (12 * (hertz / truth).log2()[inside]).abs().max() < 0.8  # a lag more is 0.9
        assert strength[inside].min() > 0.6


def test_noise_has_no_voice():
    strengths = [pitch(torch.randn(4_000, generator=generator(n))).strength for n in range(50)]
    assert torch.cat(strengths).max() < 0.4


def test_nothing_but_the_pitch_tells_tones_apart():
    sounds = [say([tone] * 3, 150, generator(4)) for tone in (0, *TONES)]
    assert len({len(sound) for sound in sounds}) == 1
    loud = torch.stack(sounds)[:, : len(sounds[0]) // 400 * 400].unflatten(1, (-1, 400))
    loud = loud.square().mean(2).sqrt()
    assert (loud.std(0) < 0.1 * loud.max()).all()


def test_the_same_generator_says_the_same_and_another_something_else():
    some, same = (utterances("training", 10, generator(3)) for _ in range(2))
    other = utterances("training", 10, generator(4))
    assert all(map(torch.equal, some.sounds, same.sounds))
    assert torch.equal(some.target, same.target)
    assert not any(map(torch.equal, some.sounds, other.sounds))


def test_nobody_speaks_in_both_parts():
    for part, bands in REGISTERS.items():
        voices = utterances(part, 200, generator()).registers
        inside = [(low <= voices) & (voices < high) for low, high in bands]
        assert torch.stack(inside).any(0).all() and all(band.sum() > 20 for band in inside)
    edges = sorted(edge for bands in REGISTERS.values() for edge in bands)
    assert all(end <= start for (_, end), (start, _) in pairwise(edges))


def test_targets_are_words_with_an_end_and_padding():
    sounds, target, _ = utterances("test", 100, generator())
    assert target.shape == (100, MOST + 1) and len(sounds) == 100
    for row, words in enumerate(target.tolist()):
        many = 1 + row // 20  # short ones first, as many of each
        assert all(word > END for word in words[:many])
        assert words[many:] == [END] + [PAD] * (MOST - many)
    counts = target[target > END].bincount()[3:]
    assert len(counts) == 4 and counts.min() > 50


def test_no_sound_is_longer_than_the_longest_or_louder_than_one():
    sounds = utterances("training", 200, generator()).sounds
    assert max(map(len, sounds)) <= LONGEST == 17_760
    assert max(sound.abs().max() for sound in sounds) <= 1


def test_flattened_sounds_are_the_same_but_for_the_pitch():
    said, flat = (utterances("test", 50, generator(), change=c) for c in (None, "flattened"))
    assert torch.equal(said.target, flat.target) and torch.equal(said.registers, flat.registers)
    assert list(map(len, said.sounds)) == list(map(len, flat.sounds))
    for sound, register in zip(flat.sounds, flat.registers, strict=True):
        hertz, strength = pitch(sound)
        away = 12 * (hertz[strength > 0.9] / register).log2()
        assert away.abs().max() < 0.7 + 0.8


def test_backwards_is_the_very_same_sound_from_its_end():
    said, back = (utterances("test", 10, generator(), change=c) for c in (None, "backwards"))
    assert all(torch.equal(a, b.flip(0)) for a, b in zip(said.sounds, back.sounds, strict=True))
    for one, other in zip(said.target, back.target, strict=True):
        assert one[one > END].tolist() == other[other > END].tolist()[::-1]


# what is heard


def test_a_sound_alone_has_the_frames_that_it_has_among_others():
    sounds = utterances("test", 10, generator()).sounds
    features, attn_mask = frames(sounds)
    for sound, found, real in zip(sounds, features, attn_mask, strict=True):
        alone, mask = frames([sound])
        many = 1 + len(sound) // 400
        assert mask.all() and mask.shape == (1, many) and real.sum() == many
        assert torch.equal(found[:many], alone[0]) and not found[many:].any()


def test_loudness_and_the_kind_of_number_do_not_matter():
    sound = say([2, 3], 120, generator())
    plain = frames([sound]).features
    assert plain.dtype == torch.float32 and plain.isfinite().all()
    torch.testing.assert_close(frames([0.1 * sound]).features, plain, atol=1e-4, rtol=0)
    assert torch.equal(frames([sound.double()]).features, plain)


def test_a_voice_has_no_register_in_the_frames():
    low, high = (frames([say([4, 2], r, generator(1))]).features[0] for r in (100, 200))
    strong = (low[:, 0] > 0.7) & (high[:, 0] > 0.7)
    assert strong.sum() > 4
    assert (low - high)[strong, 1].abs().median() < 0.1  # half octaves, so half a semitone


def test_silence_is_heard_as_nothing():
    features, attn_mask = frames([torch.zeros(4_000)])
    assert not features.any() and attn_mask.all()
    assert not spectrogram(torch.zeros(4_000)).any()


def test_the_picture_is_brightest_at_the_pitch():
    for register in VOICES:
        picture = spectrogram(syllable(0, register, 0.3))
        assert picture.shape == (128, 25) and picture.min() >= 0 and picture.max() == 1
        assert abs(picture[:, 12].argmax().item() * RATE / 512 - register) < 16
    words = describe(torch.zeros(12_000), [1, 2, 3, 4])
    assert "1.5 s" in words and words.endswith("stay level and high, rise, dip, then rise, fall.")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: frames([]), "sounds: expected a list of one sound or more, got none"),
        (lambda: frames(torch.zeros(2, 9)), r"sounds: .* got a tensor \(2, 9\)"),
        (lambda: frames([torch.zeros(9), torch.zeros(0)]), r"sounds\[1\]: expected 1 to .* got 0"),
        (lambda: frames([torch.zeros(17_761)]), r"1 to 17760 samples \(2.22 s\), got 17761"),
        (lambda: frames([torch.zeros(1, 9)]), r"tensor \(samples,\), got torch.float32 \(1, 9\)"),
        (lambda: frames([torch.zeros(9, dtype=torch.int16)]), r"got torch.int16 \(9,\)"),
        (lambda: frames([[0.1, 0.2]]), r"sounds\[0\]: .* got \[0.1, 0.2\]"),
        (lambda: frames([torch.tensor([0.0, float("nan")])]), "finite samples, got nan at 1"),
        (lambda: pitch(torch.tensor([float("inf")])), "sound: expected finite samples, got inf"),
        (lambda: spectrogram(torch.zeros(2, 2)), r"sound: .* got torch.float32 \(2, 2\)"),
        (lambda: say([], 120, generator()), "tones: expected 1 to 5 syllables, got 0"),
        (lambda: say([1] * 6, 120, generator()), "tones: expected 1 to 5 syllables, got 6"),
        (lambda: say([1, 5], 120, generator()), "tone: expected 1 to 4, or 0 for none, got 5"),
        (lambda: say("12", 120, generator()), "tone: expected 1 to 4, or 0 for none, got '1'"),
        (lambda: contour(-1, torch.zeros(1)), "tone: expected 1 to 4, or 0 for none, got -1"),
        (lambda: say([1], 80, generator()), "register: expected 90 to 300 Hz, got 80"),
        (lambda: syllable(1, float("nan"), 0.2), "register: expected 90 to 300 Hz, got nan"),
        (lambda: syllable(1, 120, 0), "seconds: expected 0.05 to 1, got 0"),
        (lambda: utterances("exam", 5, generator()), "part: expected 'training' or 'test'"),
        (lambda: utterances("test", 7, generator()), "count: expected a positive multiple of 5"),
        (lambda: utterances("test", 5, generator(), change="loud"), "change: expected 'flattened'"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()

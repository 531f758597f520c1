"""Syllables that are hummed: sounds in which nothing but the pitch tells the words apart.

They are generated, a model of Mandarin's four tones and not recorded speech. Each syllable is the
same sound "ma", six harmonics under one envelope; its pitch goes as Y. R. Chao's tone letters say,
mā 55, má 35, mǎ 214, mà 51, on a scale of five levels. Tones do not change their neighbours here,
as they do where people speak, and a syllable's length and loudness do not depend on its tone.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from ..recurrent import END

__all__ = [
    "LONGEST",
    "MOST",
    "RATE",
    "REGISTERS",
    "WORDS",
    "Frames",
    "Pitch",
    "Utterances",
    "contour",
    "describe",
    "frames",
    "pitch",
    "say",
    "spectrogram",
    "syllable",
    "utterances",
]

WORDS = ("", "<start>", "<end>", "mā", "má", "mǎ", "mà")  # tone n is word n + 2
RATE = 8_000  # samples a second
MOST = 5  # syllables
SYLLABLE, SILENCE = (0.15, 0.3), (0.03, 0.12)  # seconds
LONGEST = round(RATE * (MOST * SYLLABLE[1] + (MOST + 1) * SILENCE[1]))  # samples
# The middle of a speaker's voice, in Hz. Test speakers are between those of the training and above
# them: nobody is in both parts.
REGISTERS = {"training": ((90, 140), (170, 260)), "test": ((140, 170), (260, 300))}
# Chao's levels along a syllable, a + bx + cx²; tone 0 is none, level in the middle.
LEVELS = ((3, 0, 0), (5, 0, 0), (3, 2, 0), (2, -5.46, 7.46), (5, -4, 0))
HOP, WINDOW = 400, 512  # samples
LOWEST, HIGHEST = 55, 450  # Hz; no pitch is beyond
_HANN = torch.hann_window(WINDOW)
_LAGS = torch.arange(RATE // HIGHEST, RATE // LOWEST + 1)  # samples


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep torch from sharing out sounds that are so short: it takes up to fifty times as long."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Utterances(NamedTuple):
    """B sounds, and what they say.

    Attributes
    ----------
    sounds : list of B tensors (samples,)
        8,000 samples a second, from -1 to 1.
    target : (B, 6) integers
        The words that were meant, in the order of the sound, with the end token, 0 after it.
    registers : (B,)
        The middle of each speaker's voice, in Hz.
    """

    sounds: list[Tensor]
    target: Tensor
    registers: Tensor


class Pitch(NamedTuple):
    """How high a sound is, in S frames.

    Attributes
    ----------
    hertz : (S,)
        The pitch at which the frame repeats itself best.
    strength : (S,)
        How well it does so: about 1 for a voice, below 0.25 for noise.
    """

    hertz: Tensor
    strength: Tensor


class Frames(NamedTuple):
    """B sounds as the recogniser gets them: a Source for an `EncoderDecoder`.

    Attributes
    ----------
    features : (B, S, 3)
        Twenty frames a second: how much voice there is, 0 to 1; how high it is, in half octaves
        above the sound's mean; and how much higher than in the frame before, in quarters of an
        octave. The last two are 0 where there is no voice.
    attn_mask : (B, S) bool
        True = a frame of the sound, False = padding.
    """

    features: Tensor
    attn_mask: Tensor


def contour(tone: int, x: Tensor) -> Tensor:
    """Return where the pitch of a tone is.

    Parameters
    ----------
    tone : int
        1 to 4, or 0 for none.
    x : (...)
        Places in the syllable, 0 to 1.

    Returns
    -------
    (...)
        In semitones from the middle of the voice, -5 to 5.

    Raises
    ------
    ValueError
        If there is no such tone.

    Examples
    --------
    >>> [contour(tone, torch.tensor([0.0, 0.4, 1.0])).round().tolist() for tone in (1, 2, 3, 4)]
    [[5.0, 5.0, 5.0], [0.0, 2.0, 5.0], [-2.0, -5.0, 2.0], [5.0, 1.0, -5.0]]
    """
    if not isinstance(tone, int) or not 0 <= tone < len(LEVELS):
        raise ValueError(f"tone: expected 1 to 4, or 0 for none, got {tone!r}")
    a, b, c = LEVELS[tone]
    return 2.5 * (a + x * (b + x * c) - 3)


def syllable(
    tone: int, register: float, seconds: float, *, shift: float = 0.0, stretch: float = 1.0
) -> Tensor:
    """Sing one syllable.

    Parameters
    ----------
    tone : int
        1 to 4, or 0 for none.
    register : float
        The middle of the voice, 90 to 300 Hz.
    seconds : float
        0.05 to 1.
    shift : float
        Semitones that the whole syllable is higher.
    stretch : float
        How much larger its movements are.

    Returns
    -------
    (samples,)

    Raises
    ------
    ValueError
        If there is no such tone, or register or length are out of range.

    Examples
    --------
    >>> syllable(4, register=120, seconds=0.25).shape
    torch.Size([2000])
    """
    if not 90 <= register <= 300:
        raise ValueError(f"register: expected 90 to 300 Hz, got {register}")
    if not 0.05 <= seconds <= 1:
        raise ValueError(f"seconds: expected 0.05 to 1, got {seconds}")
    x = torch.linspace(0, 1, round(RATE * seconds))
    hertz = register * 2 ** ((shift + stretch * contour(tone, x)) / 12)
    phase = 2 * math.pi * hertz.cumsum(0) / RATE  # the pitch is how fast the phase goes
    harmonic = torch.arange(1, 7)
    voice = (phase[:, None] * harmonic).sin() @ (1 / harmonic)
    loudness = (10 * x).clamp(max=1) * (4 * (1 - x)).clamp(max=1)
    return voice * loudness / 3


def say(tones: Sequence[int], register: float, generator: torch.Generator) -> Tensor:
    """Say syllables as one speaker does: never twice in the same way.

    Parameters
    ----------
    tones : sequence of int
        One to five, 1 to 4; 0 is a syllable without a tone. With other tones and a generator in
        the same state, everything but the pitch is the same.
    register : float
        The middle of the voice, 90 to 300 Hz.
    generator : torch.Generator
        Where lengths, silences, the speaker's whims and the noise come from.

    Returns
    -------
    sound : (samples,)
        From -1 to 1.

    Raises
    ------
    ValueError
        If there is no syllable or too many, no such tone, or no such register.

    Examples
    --------
    >>> sound = say([3, 3], 120, torch.Generator().manual_seed(0))
    >>> 0.4 < len(sound) / RATE < 0.9
    True
    """
    if not 1 <= len(tones) <= MOST:
        raise ValueError(f"tones: expected 1 to {MOST} syllables, got {len(tones)}")

    def between(low: float, high: float) -> float:
        return low + (high - low) * torch.rand((), generator=generator).item()

    def silence() -> Tensor:
        return torch.zeros(round(RATE * between(*SILENCE)))

    parts = [silence()]
    for tone in tones:
        whims = {"shift": between(-0.7, 0.7), "stretch": between(0.85, 1.15)}
        parts += [syllable(tone, register, between(*SYLLABLE), **whims), silence()]
    clean = torch.cat(parts)
    noise = 10 ** between(-2.5, -1.5)
    return (clean + noise * torch.randn(len(clean), generator=generator)).clamp(-1, 1)


@_one_thread()
def utterances(
    part: str, count: int, generator: torch.Generator, *, change: str | None = None
) -> Utterances:
    """Draw utterances of one to five syllables, as many of each, the short ones first.

    Parameters
    ----------
    part : {"training", "test"}
        Whose voices: see `REGISTERS`.
    count : int
        B, a multiple of 5.
    generator : torch.Generator
        Where chance comes from.
    change : {"flattened", "backwards"}, optional
        Take the tones out of the very same sounds: every syllable is level, near the middle of
        the voice. Or play the very same sounds backwards: what rose falls, the last comes first.

    Returns
    -------
    Utterances

    Raises
    ------
    ValueError
        If there is no such part or change, or `count` is no positive multiple of 5.

    Examples
    --------
    >>> found = utterances("test", 5, torch.Generator().manual_seed(0))
    >>> [WORDS[number] for number in found.target[2]]
    ['má', 'mā', 'mà', '<end>', '', '']
    """
    if part not in REGISTERS:
        raise ValueError(f"part: expected 'training' or 'test', got {part!r}")
    if count < 1 or count % MOST:
        raise ValueError(f"count: expected a positive multiple of {MOST}, got {count}")
    if change not in (None, "flattened", "backwards"):
        raise ValueError(f"change: expected 'flattened' or 'backwards', got {change!r}")
    sounds, target, registers = [], torch.zeros(count, MOST + 1, dtype=torch.long), []
    for row in range(count):
        many = 1 + row * MOST // count
        tones = torch.randint(1, 5, (many,), generator=generator).tolist()
        registers.append(_register(part, generator))
        sung = [0] * many if change == "flattened" else tones
        sound = say(sung, registers[-1], generator)
        if change == "backwards":
            sound, tones = sound.flip(0), tones[::-1]
        sounds.append(sound)
        target[row, : many + 1] = torch.tensor([*(tone + 2 for tone in tones), END])
    return Utterances(sounds, target, torch.tensor(registers))


def pitch(sound: Tensor) -> Pitch:
    """Find the pitch by autocorrelation: which shift in time makes a frame most like itself?

    Parameters
    ----------
    sound : (samples,)

    Returns
    -------
    Pitch
        S = 1 + samples // 400 frames; the middle of each is 0.05 s after the one before.

    Raises
    ------
    ValueError
        If this is no sound: see `frames`.

    Notes
    -----
    P. Boersma, *Accurate short-term analysis of the fundamental frequency and the
    harmonics-to-noise ratio of a sampled sound* (1993): the window's own autocorrelation is
    divided out, and of two shifts that fit alike the shorter one is taken. The pitch is right to
    half a sample of its period, at worst half a semitone.

    Examples
    --------
    >>> pitch(syllable(1, register=150, seconds=0.2)).hertz[2]  # 5 semitones above 150 Hz
    tensor(200.)
    """
    cut = pad(_checked(sound), [WINDOW // 2] * 2).unfold(0, WINDOW, HOP)
    found = _autocorrelation(cut * _HANN) / _autocorrelation(_HANN)
    # two periods fit as well as one, and may fit whole samples better: each octave down costs
    best = (found - 0.05 * (_LAGS / _LAGS[0]).log2()).argmax(-1, keepdim=True)
    strength = found.gather(-1, best).squeeze(-1)
    return Pitch(RATE / _LAGS[best].squeeze(-1), strength.clamp(0, 1))


@_one_thread()
def frames(sounds: Sequence[Tensor]) -> Frames:
    """Turn sounds into frames and pad them to one length.

    Parameters
    ----------
    sounds : sequence of B tensors (samples,)
        Floating point, 8,000 samples a second, at most `LONGEST` of them.

    Returns
    -------
    Frames

    Raises
    ------
    ValueError
        If there is no sound, or one is empty, too long, of another shape or dtype, or has a sample
        that is not finite; names it.

    Examples
    --------
    >>> features, attn_mask = frames([torch.zeros(800), torch.zeros(400)])
    >>> features.shape, attn_mask.tolist()
    (torch.Size([2, 3, 3]), [[True, True, True], [True, True, False]])
    """
    if isinstance(sounds, Tensor) or not len(sounds):
        got = f"a tensor {tuple(sounds.shape)}" if isinstance(sounds, Tensor) else "none"
        raise ValueError(f"sounds: expected a list of one sound or more, got {got}")
    each = [_features(_checked(sound, f"sounds[{n}]")) for n, sound in enumerate(sounds)]
    real = [torch.ones(len(features), dtype=torch.bool) for features in each]
    return Frames(pad_sequence(each, batch_first=True), pad_sequence(real, batch_first=True))


def spectrogram(sound: Tensor) -> Tensor:
    """Return a picture of a sound: how loud it is at each frequency, at each time.

    Parameters
    ----------
    sound : (samples,)

    Returns
    -------
    (128, columns)
        From 0 to 1, the loudest. Rows go up from 0 to 2,000 Hz, 15.6 Hz each; there are 80
        columns a second, four to a frame.

    Raises
    ------
    ValueError
        If this is no sound: see `frames`.

    Examples
    --------
    >>> picture = spectrogram(syllable(1, register=150, seconds=0.2))  # the voice is at 200 Hz
    >>> picture.shape, picture[:, 8].argmax() * 15.625
    (torch.Size([128, 17]), tensor(203.1250))
    """
    cut = pad(_checked(sound), [WINDOW // 2] * 2).unfold(0, WINDOW, HOP // 4)
    loudness = torch.fft.rfft(cut * _HANN).abs()[:, :128].mT
    return (loudness / loudness.max().clamp(min=1e-9)).sqrt()  # the root shows the faint ones


def describe(sound: Tensor, tones: Sequence[int]) -> str:
    """Say in words what the spectrogram of some syllables shows.

    Examples
    --------
    >>> describe(torch.zeros(8_000), [4, 1])
    'Spectrogram of 1.0 s of sound, 0 to 2,000 Hz. 2 syllables, each a ladder of stripes that go
    up and down together. In turn they: fall, stay level and high.'
    """
    moves = ("stay level", "stay level and high", "rise", "dip, then rise", "fall")
    return (
        f"Spectrogram of {len(sound) / RATE:.1f} s of sound, 0 to 2,000 Hz. {len(tones)} "
        "syllables, each a ladder of stripes that go up and down together. In turn they: "
        f"{', '.join(moves[tone] for tone in tones)}."
    )


def _features(sound: Tensor) -> Tensor:
    hertz, strength = pitch(sound)
    height = 2 * hertz.log2()
    voiced = strength > 0.5
    if voiced.any():
        height = height - height[voiced].mean()
    rise = pad(2 * height.diff() * (voiced[1:] & voiced[:-1]), (1, 0))
    return torch.stack([strength, height * voiced, rise], -1)


def _autocorrelation(frame: Tensor) -> Tensor:
    """Compare a frame with itself at every lag: 1 = the same, and silence is like nothing."""
    found = torch.fft.irfft(torch.fft.rfft(frame, 2 * WINDOW).abs().square())
    return found[..., _LAGS] / found[..., :1].clamp(min=1e-9)


def _register(part: str, generator: torch.Generator) -> float:
    """Draw the middle of a voice, an octave as likely as any other."""
    while True:
        hertz = 90 * (300 / 90) ** torch.rand((), generator=generator).item()
        if any(low <= hertz < high for low, high in REGISTERS[part]):
            return hertz


def _checked(sound: Tensor, name: str = "sound") -> Tensor:
    if not isinstance(sound, Tensor) or not sound.is_floating_point() or sound.ndim != 1:
        got = f"{sound.dtype} {tuple(sound.shape)}" if isinstance(sound, Tensor) else f"{sound!r}"
        raise ValueError(f"{name}: expected a floating-point tensor (samples,), got {got}")
    if not 1 <= len(sound) <= LONGEST:
        raise ValueError(
            f"{name}: expected 1 to {LONGEST} samples ({LONGEST / RATE:g} s), got {len(sound)}"
        )
    finite = sound.isfinite()
    if not finite.all():
        place = int((~finite).nonzero()[0])
        raise ValueError(f"{name}: expected finite samples, got {sound[place]} at {place}")
    return sound.float()

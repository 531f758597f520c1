"""Which tones were said? A fixed context and attention, and whether it is the pitch they hear."""

from ..data.tones import WORDS
from ..speech import SpeechScore, score_recogniser, train_recogniser

__all__ = ["hearing"]

Rows = dict[str, dict[str, float]]


def hearing(seed: int) -> Rows:
    """Train both on the same sounds; change the sounds of the test; take the learning away."""
    fixed, _ = train_recogniser(seed)
    attention, _ = train_recogniser(seed, context="attention")
    untrained, _ = train_recogniser(seed, steps=0)
    shuffled, _ = train_recogniser(seed, shuffled=True)
    flat, back = (score_recogniser(fixed, seed, change=c) for c in ("flattened", "backwards"))
    return {
        "c = h_T": _figures(score_recogniser(fixed, seed)),
        "attention": _figures(score_recogniser(attention, seed)),
        "c = h_T, every syllable flattened in the test": _figures(flat) | _heard(flat),
        "c = h_T, sounds played backwards in the test": _figures(back) | _heard(back),
        "c = h_T, tones shuffled in training": _figures(score_recogniser(shuffled, seed)),
        "c = h_T, untrained": _figures(score_recogniser(untrained, seed)),
    }


def _figures(score: SpeechScore) -> dict[str, float]:
    names = (f"exact, {n} syllable{'s' * (n > 1)}" for n in range(1, len(score.exact) + 1))
    return {"tones right": score.tones, **dict(zip(names, score.exact, strict=True))}


def _heard(score: SpeechScore) -> dict[str, float]:
    """Say which tone is heard in place of which."""
    words = WORDS[-4:]
    return {
        f"{said} heard as {heard}": share.item()
        for said, row in zip(words, score.heard, strict=True)
        for heard, share in zip(words, row, strict=True)
    }

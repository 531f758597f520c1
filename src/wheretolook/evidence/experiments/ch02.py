"""Chapter 2, Encoder-Decoder: what passes between both sides, and how much one vector holds."""

from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS"]

_FIXED = {
    "c = h_T": {"context": "last"},
    "c = q(h_T)": {"context": "mapped"},
    "c = q(h_1, …, h_T)": {"context": "pooled"},
    "c = h_T, encoder reads one way": {"context": "last", "two_way": False},
    "c = h_T, twice as wide": {"context": "last", "width": 128},
    "c = h_T, translations shuffled in training": {"context": "last", "shuffled": True},
}
_ATTENTION = {
    "attention, encoder reads both ways": {},
    "attention, encoder reads one way": {"two_way": False},
    "attention, sums embeddings": {"values": "embeddings"},
}


def _translation_jobs() -> list[Job]:
    """Cross what passes between encoder and decoder with what the encoder is."""
    fixed = [Job("one c for the sentence", {"label": k, **config}) for k, config in _FIXED.items()]
    return fixed + [
        Job("a c for each word", {"label": label, "context": "attention", **config})
        for label, config in _ATTENTION.items()
    ]


def _reversal_jobs() -> list[Job]:
    """One vector of many widths, and attention."""
    fixed = [Job("", {"label": f"c = h_T, D = {n}", "width": n}) for n in (16, 32, 48, 128)]
    return [
        *fixed,
        Job("", {"label": "attention, D = 48", "attention": True}),
        Job("", {"label": "c = h_T, D = 48, answers shuffled in training", "shuffled": True}),
    ]


EXPERIMENTS = (
    Experiment(
        "reversal",
        "Copying letters backwards, trained on 2 to 12 of them: letters in their right place",
        "reversal",
        "backwards",
        tuple(_reversal_jobs()),
        (0, 1, 2),
    ),
    Experiment(
        "translation",
        "Chinese to English, trained on 1 to 4 clauses: sentences without a mistake, and "
        "weights against the gold alignment",
        "translation",
        "translating",
        tuple(_translation_jobs()),
        (0, 1, 2),
    ),
    Experiment(
        "speech",
        "Tones in generated sounds, trained on 1 to 5 syllables and tested on other voices: "
        "syllables in their right place, sounds without a mistake",
        "speech",
        "hearing",
        (Job(""),),
        (0, 1, 2),
    ),
)

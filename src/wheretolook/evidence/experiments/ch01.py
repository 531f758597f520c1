"""Chapter 1, Human attention: ways of looking."""

from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS"]


def _glimpse_jobs() -> list[Job]:
    """Ways of looking with a gist that hides what the digit is, then with finer and finer gists."""
    ways = [
        {"label": "learned gaze", "controls": True},
        {"label": "random gaze", "gaze": "random"},
    ]
    others = [
        {"label": "centre only", "gaze": "centre"},
        {"label": "labels shuffled in training", "shuffled": True},
    ]
    hidden = [Job(_gist(4), config) for config in ways + others]
    return hidden + [Job(_gist(n), {**config, "coarse": n}) for n in (8, 24) for config in ways]


def _gist(coarse: int) -> str:
    return f"gist of {coarse}×{coarse}"


EXPERIMENTS = (
    Experiment(
        "glimpse",
        "Digits somewhere on a canvas, three glimpses: ways of looking",
        "glimpse",
        "looking",
        tuple(_glimpse_jobs()),
        (0, 1, 2),
    ),
)

"""Chapter 3, Soft and hard attention: captions. (Its translators stand with chapter 2's.)"""

from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS"]


def _captioning_jobs() -> list[Job]:
    """Three ways of looking at two sizes of scenes."""
    ways = [
        {"label": "mean of all cells", "context": "mean"},
        {"label": "soft attention", "context": "soft", "controls": True},
        {"label": "hard attention", "context": "hard", "controls": True},
    ]
    others = [
        {"label": "hard attention, may return", "context": "hard", "returning": True},
        {"label": "soft, labels shuffled in training", "context": "soft", "shuffled": True},
        {"label": "mean, labels shuffled in training", "context": "mean", "shuffled": True},
    ]
    sizes = {3: "3 × 3 cells, four digits", 4: "4 × 4 cells, five digits"}
    return [
        Job(sizes[side], {"side": side, **config})
        for side, configs in ((3, ways + others), (4, ways))
        for config in configs
    ]


EXPERIMENTS = (
    Experiment(
        "captioning",
        "Digits somewhere in a grid, named from the smallest to the largest: captions without "
        "a mistake, and where it looks",
        "captioning",
        "captions",
        tuple(_captioning_jobs()),
        (0, 1, 2),
    ),
)

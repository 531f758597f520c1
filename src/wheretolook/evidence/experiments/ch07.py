"""Chapter 7, Multi-head attention: how many heads, and which of them can be spared."""

from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS"]

_HEADS = {1: "one head", 2: "two heads", 4: "four heads", 8: "eight heads"}


def _heads_jobs() -> list[Job]:
    """More heads of the same whole, then what else could explain it, then heads that are none."""
    same = [
        Job("the same number of parameters", {"label": name, "heads": n})
        for n, name in _HEADS.items()
    ]
    others = [
        Job("beside them", {"label": "one head, twice as wide", "heads": 1, "width": 64}),
        Job(
            "beside them",
            {"label": "one head, then a feed-forward layer", "heads": 1, "feed_forward": True},
        ),
        Job("beside them", {"label": "two heads, untrained", "heads": 2, "steps": 0}),
        Job(
            "beside them",
            {"label": "two heads, answers shuffled in training", "heads": 2, "shuffled": True},
        ),
    ]
    mistakes = [
        Job(
            "a view where axes should change places",
            {"label": f"{_HEADS[n]}, {how} by a view", "heads": n, "mistake": mistake},
        )
        for mistake, how in (("split", "split and merged"), ("merge", "merged"))
        for n in (2, 4)
    ]
    return same + others + mistakes


EXPERIMENTS = (
    Experiment(
        "heads",
        "Naming the letter one place before and the letter three places before; chance is "
        "0.062 for one letter, 0.004 for both",
        "heads",
        "looking",
        tuple(_heads_jobs()),
        (0, 1, 2, 3, 4),
    ),
)

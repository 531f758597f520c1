"""The list of all tables: what is run, how often, and how it is called."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["EXPERIMENTS", "Experiment", "Job"]


@dataclass(frozen=True)
class Job:
    """One configuration, run once for each seed.

    Attributes
    ----------
    group : str
        Under which heading its rows stand.
    config : dict
        Keyword arguments of the experiment's function.
    """

    group: str
    config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """What fills one table.

    Attributes
    ----------
    name, title : str
        Of the table.
    module, function : str
        A function of a seed and a configuration in a module beside this one; it returns rows.
    jobs : tuple of Job
        What it is run on.
    seeds : tuple of int
        Each job is run with each.
    """

    name: str
    title: str
    module: str
    function: str
    jobs: tuple[Job, ...]
    seeds: tuple[int, ...]


_SHAPES = {
    "one head": {},
    "two heads": {"heads": 2},
    "four heads": {"heads": 4},
    "two layers": {"layers": 2},
    "two layers of two heads": {"layers": 2, "heads": 2},
    "one head, values from the words": {"values": "words"},
    "two layers, values from the words": {"layers": 2, "values": "words"},
    "two layers of two heads, values from the words": {
        "layers": 2,
        "heads": 2,
        "values": "words",
    },
}


def _dot_jobs() -> list[Job]:
    """Cross scale, first embeddings and width: which of them makes a raw dot product fail?"""
    return [
        Job(
            _PLACE[self_attention],
            {
                "label": f"{scorer}, D = {width}, embeddings from {_start(start)}",
                "scorer": scorer,
                "width": width,
                "start": start,
                "self_attention": self_attention,
            },
        )
        for self_attention, widths in ((False, (8, 32, 128, 512)), (True, (8, 32, 128)))
        for width in widths
        for start in (1.0, 0.1, None)
        for scorer in ("raw dot", "scaled dot")
    ]


def _other_jobs() -> list[Job]:
    return [
        Job(
            _PLACE[self_attention],
            {
                "label": f"{scorer}, D = {width}, embeddings from {_start(start)}",
                "scorer": scorer,
                "width": width,
                "start": start,
                "self_attention": self_attention,
            },
        )
        for self_attention, widths in ((False, (32, 128)), (True, (32,)))
        for width in widths
        for scorer in ("cosine", "cosine, learned temperature", "bilinear", "additive")
        for start in (1.0, None)
    ]


_PLACE = {False: "one query, separate keys and values", True: "self-attention"}


def _start(start: float | None) -> str:
    return "1/√D" if start is None else f"{start:g}"


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "links-meaning",
            "Whose? Sentences in which the owned thing tells the owner",
            "links",
            "controls",
            tuple(Job(task, {"task": task}) for task in ("meaning-en", "meaning-zh")),
            (0, 1, 2, 3, 4),
        ),
        Experiment(
            "links-characters",
            "The same Chinese sentences cut into characters",
            "links",
            "controls",
            (Job("meaning-zh-characters", {"task": "meaning-zh-characters"}),),
            (0, 1, 2),
        ),
        Experiment(
            "links-syntax",
            "Agreement and classifiers: shapes of model",
            "links",
            "architectures",
            tuple(
                Job(task, {"task": task, "label": label, **shape})
                for task in ("agreement-en", "classifier-zh")
                for label, shape in _SHAPES.items()
            ),
            (0, 1, 2),
        ),
        Experiment(
            "links-failure",
            "Right answers without the link: the classifier is read where nothing asks for it",
            "links",
            "controls",
            (Job("failure-zh", {"task": "failure-zh"}),),
            (0, 1, 2, 3, 4),
        ),
        Experiment(
            "scorers",
            "Scorers on recall, ten pairs, 600 steps",
            "scorers",
            "trained",
            tuple(_dot_jobs() + _other_jobs()),
            (0, 1, 2),
        ),
        Experiment(
            "saturation",
            "Random queries and ten random keys of width E, entries of variance 1",
            "scorers",
            "saturation",
            tuple(Job("", {"width": width}) for width in (1, 4, 16, 64, 256, 1024)),
            (0, 1, 2),
        ),
        Experiment(
            "itself",
            "How often a token looks most at itself",
            "scorers",
            "itself",
            (Job(""),),
            (0, 1, 2, 3, 4),
        ),
    )
}

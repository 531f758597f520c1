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


_SYNTAX = {"English: is or are": "agreement-en", "Chinese: measure words": "classifier-zh"}
_PLACE = {False: "one query, separate keys and values", True: "self-attention"}
_OTHERS = ("cosine", "cosine, learned temperature", "bilinear", "additive")


def _recall_jobs() -> list[Job]:
    """Cross scale, first embeddings and width: which of them makes a raw dot product fail?

    The other scorers start from embeddings of deviation 1 only, where the raw dot product fails.
    """
    dots = [
        (place, scorer, width, start)
        for place in _PLACE
        for width in (32, 128)
        for start in (1.0, 0.1, None)
        for scorer in ("raw dot", "scaled dot")
    ]
    ends = [
        (False, scorer, width, 1.0) for width in (8, 512) for scorer in ("raw dot", "scaled dot")
    ]
    others = [
        (place, scorer, width, 1.0) for place in _PLACE for width in (32, 128) for scorer in _OTHERS
    ]
    return [
        Job(
            _PLACE[place],
            {
                "label": f"{scorer}, D = {width}, embeddings start at {_start(start)}",
                "scorer": scorer,
                "width": width,
                "start": start,
                "self_attention": place,
            },
        )
        for place, scorer, width, start in sorted(dots + ends + others, key=lambda row: row[0])
    ]


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


_FIXED = {
    "c = h_T": {"context": "last"},
    "c = q(h_T)": {"context": "mapped"},
    "c = q(h_1, …, h_T)": {"context": "pooled"},
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


_SAME = "1,000 updates, as in chapters 2 and 3"
_TRANSFORMERS = (
    (_SAME, {"label": "post-norm", "norm": "post", "heads": True}),
    (_SAME, {"label": "pre-norm", "norm": "pre", "heads": True}),
    ("2,000 updates", {"label": "pre-norm", "norm": "pre", "steps": 2_000}),
    ("500 updates", {"label": "no positions", "norm": "pre", "steps": 500, "positions": False}),
    ("200 updates", {"label": "one word ahead is seen", "norm": "pre", "steps": 200, "ahead": 1}),
    (
        "200 updates",
        {"label": "translations shuffled", "norm": "pre", "steps": 200, "shuffled": True},
    ),
)
_COSTS = (
    {"label": "one c for the sentence, c = h_T", "context": "last"},
    {"label": "a c for each word, encoder reads both ways", "context": "attention"},
    {"label": "Transformer, pre-norm"},
)


def _reversal_jobs() -> list[Job]:
    """One vector of many widths, and attention."""
    fixed = [Job("", {"label": f"c = h_T, D = {n}", "width": n}) for n in (16, 32, 48, 128)]
    return [
        *fixed,
        Job("", {"label": "attention, D = 48", "attention": True}),
        Job("", {"label": "c = h_T, D = 48, answers shuffled in training", "shuffled": True}),
    ]


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
    ]
    sizes = {3: "3 × 3 cells, four digits", 4: "4 × 4 cells, five digits"}
    return [
        Job(sizes[side], {"side": side, **config})
        for side, configs in ((3, ways + others), (4, ways))
        for config in configs
    ]


def _gist(coarse: int) -> str:
    return f"gist of {coarse}×{coarse}"


_DICE = {
    1: ("LayerNorm(D)", "LayerNorm([L, D])", "BatchNorm1d(D)"),
    16: ("none", "LayerNorm(D)", "LayerNorm([L, D])", "BatchNorm1d(D)"),
}
_LARGE, _SMALL = "first matrices of variance 1/D", "torch's first matrices, of variance 1/(3D)"
_DEPTH = (
    (_LARGE, {"label": "LayerNorm(D)", "norm": "LayerNorm(D)"}),
    (_LARGE, {"label": "BatchNorm1d(D)", "norm": "BatchNorm1d(D)"}),
    (_LARGE, {"label": "none", "norm": "none"}),
    (_LARGE, {"label": "none, a tenth of the learning rate", "norm": "none", "rate": 3e-4}),
    (_SMALL, {"label": "none", "norm": "none", "gain": 1.0}),
)


def _start(start: float | None) -> str:
    return "1/√D" if start is None else f"{start:g}"


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "links-meaning",
            "Whose? Sentences in which the owned word tells the owner (accuracy over the whole "
            "vocabulary)",
            "links",
            "controls",
            (
                Job("English: its or their", {"task": "meaning-en"}),
                Job("Chinese: 他 or 他们", {"task": "meaning-zh"}),
            ),
            (0, 1, 2, 3, 4),
        ),
        Experiment(
            "links-characters",
            "The same Chinese sentences cut into characters",
            "links",
            "controls",
            (Job("Chinese, by character", {"task": "meaning-zh-characters"}),),
            (0, 1, 2),
        ),
        Experiment(
            "links-syntax",
            "Agreement and measure words, by the shape of the model",
            "links",
            "architectures",
            tuple(
                Job(group, {"task": task, "label": label, **shape})
                for group, task in _SYNTAX.items()
                for label, shape in _SHAPES.items()
            ),
            (0, 1, 2),
        ),
        Experiment(
            "links-failure",
            "Right answers without the link: the measure word, read where nothing asks for it",
            "links",
            "controls",
            (Job("Chinese: measure word, read at the gap", {"task": "failure-zh"}),),
            (0, 1, 2, 3, 4),
        ),
        Experiment(
            "scorers",
            "Scorers on recall, ten pairs, 600 steps",
            "scorers",
            "trained",
            tuple(_recall_jobs()),
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
            "itself",
            "itself",
            (Job(""),),
            (0, 1, 2, 3, 4),
        ),
        Experiment(
            "glimpse",
            "Digits somewhere on a canvas, three glimpses: ways of looking",
            "glimpse",
            "looking",
            tuple(_glimpse_jobs()),
            (0, 1, 2),
        ),
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
        Experiment(
            "captioning",
            "Digits somewhere in a grid, named from the smallest to the largest: captions without "
            "a mistake, and where it looks",
            "captioning",
            "captions",
            tuple(_captioning_jobs()),
            (0, 1, 2),
        ),
        Experiment(
            "norms-votes",
            "Who has won? Two blocks, one norm exchanged for another",
            "norms",
            "voting",
            tuple(
                Job(f"batches of {batch}", {"norm": norm, "batch": batch})
                for batch in (32, 2)
                for norm in ("none", "LayerNorm(D)", "BatchNorm1d(D)")
            ),
            (0, 1, 2),
        ),
        Experiment(
            "norms-dice",
            "Dice that can't be guessed (honest loss: ln 10 = 2.303 or more), two blocks with a "
            "causal mask",
            "norms",
            "guessing",
            tuple(
                Job(f"batches of {batch}", {"norm": norm, "batch": batch})
                for batch, norms in _DICE.items()
                for norm in norms
            ),
            (0, 1, 2),
        ),
        Experiment(
            "norms-depth",
            "Who has won? Eight blocks, 120 steps",
            "norms",
            "deep",
            tuple(Job(group, config) for group, config in _DEPTH),
            (0, 1, 2),
        ),
        Experiment(
            "transformer",
            "The Transformer on chapter 2's corpus, trained on 1 to 4 clauses: sentences without "
            "a mistake, and its heads",
            "transformer",
            "transforming",
            tuple(Job(group, config) for group, config in _TRANSFORMERS),
            (0, 1, 2),
        ),
        Experiment(
            "transformer-cost",
            "One update on a batch of 32 sentences, in CPU milliseconds on one thread",
            "transformer",
            "cost",
            tuple(Job("", config) for config in _COSTS),
            (0, 1, 2),
        ),
    )
}

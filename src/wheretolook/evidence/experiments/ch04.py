"""Chapter 4, Self-attention: known links, scorers, and the look at oneself."""

from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS"]

_SHAPES = {
    "one head": {},
    "two heads": {"heads": 2},
    "four heads": {"heads": 4},
    "two layers": {"layers": 2},
    "two layers of two heads": {"layers": 2, "heads": 2},
    "one head, values from the words": {"values": "words"},
    "two layers, values from the words": {"layers": 2, "values": "words"},
}
_SYNTAX = {"English: is or are": "agreement-en", "Chinese: measure words": "classifier-zh"}
_DOTS = ("raw dot", "scaled dot")
_OTHERS = ("cosine", "cosine, learned temperature", "bilinear", "additive")


def _recall_jobs() -> list[Job]:
    """Cross scale, first embeddings and width: which of them makes a raw dot product fail?

    The other scorers start from embeddings of deviation 1 only, where the raw dot product fails.
    With one query, only the dot products are tried at more than one width.
    """
    one = [(scorer, width, 1.0) for width in (8, 32, 128, 512) for scorer in _DOTS]
    one += [(scorer, 128, 0.1) for scorer in _DOTS]
    one += [(scorer, 128, 1.0) for scorer in _OTHERS]
    own = [(s, width, start) for width in (32, 128) for start in (1.0, 0.1) for s in _DOTS]
    own += [(scorer, width, 1.0) for width in (32, 128) for scorer in _OTHERS]
    places = {"one query, separate keys and values": one, "self-attention": own}
    return [
        Job(
            place,
            {
                "label": f"{scorer}, D = {width}, embeddings start at {start:g}",
                "scorer": scorer,
                "width": width,
                "start": start,
                "self_attention": place == "self-attention",
            },
        )
        for place, cases in places.items()
        for scorer, width, start in cases
    ]


EXPERIMENTS = (
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
)

"""Chapter 8, The Transformer: the translator again, of other parts, and what an update costs."""

from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS"]

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


EXPERIMENTS = (
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

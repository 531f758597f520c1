"""Chapter 6, LayerNorm against BatchNorm: norms exchanged for each other."""

from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS"]

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


EXPERIMENTS = (
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
)

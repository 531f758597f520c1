"""Does a low loss mean a good model? Masks that are right, too strict, and leaking."""

from ..leak import LENGTH, score_leak, train_leak
from ..masks import causal_mask

__all__ = ["masks"]

Rows = dict[str, dict[str, float]]


def masks(
    seed: int,
    *,
    label: str,
    diagonal: int | None = 0,
    inverted: bool = False,
    steps: int = 1_000,
) -> Rows:
    """Train with one mask; test with the same one, and again with all that is to come hidden."""
    model, _ = train_leak(diagonal, inverted=inverted, steps=steps, seed=seed)
    same = score_leak(model, seed=seed)
    writing = model.attn_mask & causal_mask(LENGTH)
    return {
        label: {
            "loss": same.loss,
            "accuracy": same.accuracy,
            "loss, what is to come hidden": score_leak(model, seed=seed, attn_mask=writing).loss,
        }
    }

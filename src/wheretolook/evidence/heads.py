"""What do several heads bring? Two looks at once, heads taken away, and heads that are none."""

import torch

from ..offsets import (
    LENGTH,
    OFFSETS,
    OffsetModel,
    average_maps,
    score_offsets,
    train_offsets,
)

__all__ = ["looking"]

Rows = dict[str, dict[str, float]]


def looking(
    seed: int,
    *,
    label: str,
    heads: int,
    width: int = 32,
    mistake: str | None = None,
    feed_forward: bool = False,
    shuffled: bool = False,
    steps: int = 500,
) -> Rows:
    """Train one number of heads; test it whole, and with each of its heads taken away."""
    model, _ = train_offsets(
        heads,
        width=width,
        mistake=mistake,
        feed_forward=feed_forward,
        shuffled=shuffled,
        steps=steps,
        seed=seed,
    )
    found = score_offsets(model, seed=seed)
    row = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "one before": found.each[0],
        "three before": found.each[1],
        "both": found.both,
        "loss": found.loss,
    }
    if mistake is not None:  # its rows are no places
        return {label: row}
    row |= _weights(model, seed)
    return {label: row | (_removals(model, seed) if heads > 1 else {})}


def _weights(model: OffsetModel, seed: int) -> dict[str, float]:
    """Give the weight on each right place, for the head that puts most there."""
    places = torch.arange(max(OFFSETS), LENGTH)
    maps = average_maps(model, seed=seed)
    best = [maps[:, places, places - k].mean(1).max().item() for k in OFFSETS]
    return {
        "weight on one before, best head": best[0],
        "weight on three before, best head": best[1],
    }


def _removals(model: OffsetModel, seed: int) -> dict[str, float]:
    scores = [score_offsets(model, removed=[k], seed=seed) for k in range(model.layer.heads)]
    lost = [sum(share < 0.5 for share in score.each) for score in scores]
    both = [score.both for score in scores]
    return {
        "both, worst removal": min(both),
        "both, mildest removal": max(both),
        "questions lost by a removal, fewest": min(lost),
        "questions lost by a removal, most": max(lost),
        "heads that can be spared": sum(share > 0.9 for share in both),
    }

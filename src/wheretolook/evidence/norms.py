"""What the choice of a norm changes: accuracy, what leaks through its mean, and depth."""

import torch

from ..data.votes import votes
from ..stack import moved_by_others, score_dice, score_votes, train_dice, train_votes

__all__ = ["deep", "guessing", "voting"]

Rows = dict[str, dict[str, float]]


def voting(seed: int, *, norm: str, batch: int) -> Rows:
    """Train a stack to count votes; ask it as in evaluation and as in training."""
    steps, rate = (300, 3e-3) if batch > 2 else (600, 1e-3)
    model, _ = train_votes(norm, seed, batch=batch, steps=steps, rate=rate)
    generator = torch.Generator().manual_seed(2_000_000 + seed)
    ids, *others = (votes(batch, generator).ids for _ in range(33))
    moved = [moved_by_others(model, ids, other[1:]) for other in others]
    return {
        norm: {
            "accuracy, evaluation": score_votes(model, seed),
            "accuracy, as in training": score_votes(model, seed, batch=batch, training=True),
            "logits moved by the other boxes": sum(moved) / len(moved),
        }
    }


def guessing(seed: int, *, norm: str, batch: int) -> Rows:
    """Train a stack to guess dice, and see whether it beats what can't be beaten."""
    model, _ = train_dice(norm, seed, batch=batch, steps=400)
    found = score_dice(model, seed, batch=batch)
    return {
        norm: {
            "loss, as in training": found.training,
            "loss, later throws exchanged": found.exchanged,
            "loss, evaluation": found.evaluation,
        }
    }


def deep(seed: int, *, label: str, norm: str, gain: float = 3**0.5, rate: float = 3e-3) -> Rows:
    """Train eight blocks to count votes, and measure how large their numbers are."""
    sizes = {}
    for name, steps in (("first", 0), ("trained", 120)):
        model, _ = train_votes(norm, seed, layers=8, gain=gain, steps=steps, rate=rate)
        ids = votes(64, torch.Generator().manual_seed(3_000_000 + seed)).ids
        with torch.no_grad():
            last = model.train(not steps).states(ids)[-1]
        sizes[name] = last.std().item()
    return {
        label: {
            "deviation after 8 blocks, at first": sizes["first"],
            "deviation after 8 blocks, trained": sizes["trained"],
            "accuracy, evaluation": score_votes(model, seed),
        }
    }

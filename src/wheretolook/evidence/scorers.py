"""What the way of comparing changes: trained on recall, and on random vectors."""

import torch

from ..attention import Dot, ScaledDot, attention_weights
from ..recall import score_recall, train_recall

__all__ = ["saturation", "trained"]

Rows = dict[str, dict[str, float]]


def trained(
    seed: int, *, label: str, scorer: str, width: int, start: float, self_attention: bool
) -> Rows:
    """Train one scorer on recall and test it on new questions."""
    model, _ = train_recall(scorer, width, start=start, self_attention=self_attention, seed=seed)
    found = score_recall(model, seed=seed)
    return {label: {"accuracy": found.accuracy, "weight on the right key": found.weight}}


def saturation(seed: int, *, width: int, keys: int = 10, trials: int = 2_000) -> Rows:
    """Compare random queries with random keys: how far does the softmax saturate?

    The gradient is the Frobenius norm of the softmax's Jacobian, diag(w) - w wᵀ: what a change of
    the scores does to the weights.
    """
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(trials, 1, width, generator=generator, dtype=torch.float64)
    key = torch.randn(trials, keys, width, generator=generator, dtype=torch.float64)
    row: dict[str, float] = {}
    for name, scorer in (("raw", Dot()), ("scaled", ScaledDot())):
        scores = scorer(query, key)
        weights = attention_weights(scores)[:, 0]
        jacobian = torch.diag_embed(weights) - weights.unsqueeze(2) * weights.unsqueeze(1)
        row[f"variance of scores, {name}"] = scores.var().item()
        row[f"largest weight, {name}"] = weights.amax(1).mean().item()
        row[f"gradient, {name}"] = jacobian.flatten(1).norm(dim=1).mean().item()
    return {f"E = {width}": row}

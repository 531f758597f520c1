"""What the way of comparing changes: trained on recall, and on random vectors."""

import torch

from ..attention import Dot, ScaledDot, SelfAttention, attention_weights
from ..links import examples, train_links
from ..measures import look
from ..recall import score_recall, train_recall

__all__ = ["itself", "saturation", "trained"]

Rows = dict[str, dict[str, float]]


def trained(
    seed: int, *, label: str, scorer: str, width: int, start: float | None, self_attention: bool
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


def itself(seed: int, *, tokens: int = 16, trials: int = 500) -> Rows:
    """Count how often a token's largest weight is on itself, before and after training.

    Narrow vectors point into similar directions more often, so there the longest of them win more
    of the other tokens' rows.
    """
    generator = torch.Generator().manual_seed(seed)
    shares = {"one token of 16 at random": 1 / tokens}
    for width in (4, 16):
        x = torch.randn(trials, tokens, width, generator=generator)
        same = torch.nn.functional.normalize(x, dim=-1)
        longer = same * (0.5 + torch.rand(trials, tokens, 1, generator=generator))
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            # a new pair of W_Q and W_K for each set of tokens: one pair says little
            torch.manual_seed(seed)
            apart = [SelfAttention(width)(one).scores for one in x]
        shares[f"x·x, D = {width}, all of one length"] = _diagonal(same @ same.mT)
        shares[f"x·x, D = {width}, lengths from 0.5 to 1.5"] = _diagonal(longer @ longer.mT)
        shares[f"q·k, D = {width}, untrained W_Q and W_K"] = _diagonal(torch.stack(apart))
    made = train_links("meaning-en", seed)
    test = examples("meaning-en", "A", seed)
    _, weights = look(made, test)
    trained = (weights.argmax(1) == test.query).float().mean().item()
    shares["q·k, trained on whose (meaning-en): the row that is read"] = trained
    return {row: {"peak on itself": share} for row, share in shares.items()}


def _diagonal(scores: torch.Tensor) -> float:
    places = torch.arange(scores.shape[-1])
    return (scores.argmax(-1) == places).float().mean().item()

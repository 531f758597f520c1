"""Does a token look most at itself? Before training, and after."""

import torch

from ..attention import SelfAttention
from ..links import examples, train_links
from ..measures import look
from ..training import seeded

__all__ = ["itself"]

Rows = dict[str, dict[str, float]]


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
        with seeded(seed), torch.no_grad():
            # a new pair of W_Q and W_K for each set of tokens: one pair says little
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

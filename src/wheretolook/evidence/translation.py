"""What passes from encoder to decoder: how well it translates, and whether its map is the truth."""

import torch
from torch import Tensor

from ..data.grammar import Pair, pairs
from ..data.translation import batch, gold_cells
from ..recurrent import EncoderDecoder
from ..translator import (
    agreement,
    exact,
    make_translator,
    right_without,
    train_translator,
    words_right,
)

__all__ = ["translating"]

Rows = dict[str, dict[str, float]]
SENTENCES = 200


def translating(
    seed: int,
    *,
    label: str,
    context: str,
    two_way: bool = True,
    values: str = "states",
    width: int = 64,
    shuffled: bool = False,
) -> Rows:
    """Train one translator; test it on new sentences of 1 to 6 clauses."""
    shape = {"context": context, "two_way": two_way, "values": values, "width": width}
    model, _ = train_translator(seed, shuffled=shuffled, **shape)
    found = {"parameters": sum(p.numel() for p in model.parameters())}
    for clauses in range(1, 7):
        heading = "1 clause" if clauses == 1 else f"{clauses} clauses"
        found[heading] = exact(model, _test(clauses, seed))
    found["words right, forced"], found["words right, free"] = words_right(model, _test(2, seed))
    rows = {label: found}
    if context != "attention":
        return rows
    found |= _maps(model, seed) | _hidden(model, seed)
    return rows | {
        f"{label}, untrained": _maps(make_translator(seed=seed, **shape), seed),
        **_baselines(seed),
    }


def _test(clauses: int, seed: int) -> list[Pair]:
    return pairs("test", clauses, SENTENCES, seed)


@torch.no_grad()
def _maps(model: EncoderDecoder, seed: int) -> dict[str, float]:
    """Hold the weights against the gold alignment, also with one character's grace."""
    some = _test(1, seed)
    gold, weights = gold_cells(some), model(*batch(some)).weights
    near = gold.clone()
    near[..., 1:] |= gold[..., :-1]
    near[..., :-1] |= gold[..., 1:]
    long = _test(4, seed)
    far = agreement(model(*batch(long)).weights, gold_cells(long))
    found = agreement(weights, gold)
    return {
        "peak": found.peak,
        "mass": found.mass,
        "peak, one off allowed": agreement(weights, near).peak,
        "peak, 4 clauses": far.peak,
    }


def _hidden(model: EncoderDecoder, seed: int) -> dict[str, float]:
    """Hide a word's own characters from its look, or as many others."""
    some = _test(2, seed)
    gold = gold_cells(some)
    return {
        "right, own characters hidden": right_without(model, some, gold),
        "right, as many others hidden": right_without(model, some, _others(some, gold, seed)),
    }


def _others(some: list[Pair], gold: Tensor, seed: int) -> Tensor:
    """Choose for each word as many characters that are not its own."""
    free = (batch(some).source != 0).unsqueeze(1) & ~gold
    random = torch.rand(gold.shape, generator=torch.Generator().manual_seed(seed))
    rank = random.masked_fill(~free, 2.0).argsort(-1).argsort(-1)
    return (rank < gold.sum(-1, keepdim=True)) & free


def _baselines(seed: int) -> Rows:
    """Measure maps that know nothing of the sentence."""
    shares = {}
    for column, clauses in (("peak", 1), ("peak, 4 clauses", 4)):
        some = _test(clauses, seed)
        gold, real = gold_cells(some), batch(some).source != 0
        counted, lengths = gold.any(-1), real.sum(1)
        # a character drawn by lot: the share of a word's own among all
        chance = (gold.sum(-1) / lengths[:, None])[counted].mean().item()
        diagonal = agreement(_diagonal(gold, lengths, [len(p.target) for p in some]), gold)
        shares[column] = {"a character by lot": chance, "the diagonal": diagonal.peak}
    return {row: {column: found[row] for column, found in shares.items()} for row in shares["peak"]}


def _diagonal(gold: Tensor, lengths: Tensor, words: list[int]) -> Tensor:
    """Put all weight where a word would stand if both languages had the same order."""
    weights = torch.zeros(gold.shape)
    for row, (length, count) in enumerate(zip(lengths.tolist(), words, strict=True)):
        for word in range(count):
            weights[row, word, int((word + 0.5) / count * length)] = 1.0
    return weights

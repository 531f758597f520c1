"""The Transformer beside chapters 2 and 3: how well it translates, where it looks, its cost."""

import time

import torch

from ..data.grammar import Pair, pairs
from ..data.translation import batch, batches, gold_cells
from ..masks import padding_mask
from ..recurrent import naming_loss, shifted
from ..transformer import Transformer
from ..transformer_translator import (
    KINDS,
    Reach,
    best_head,
    forced_exact,
    head_agreement,
    make_transformer,
    reach,
    right_without_cells,
    train_transformer,
    without_head,
)
from ..translator import exact, make_translator, words_right

__all__ = ["cost", "transforming"]

Rows = dict[str, dict[str, float]]
SENTENCES = 200


def transforming(seed: int, *, label: str, heads: bool = False, **options: object) -> Rows:
    """Train one Transformer; test it on new sentences of 1 to 6 clauses.

    With `heads` its attention is looked at too, and its heads are removed.
    """
    model, history = train_transformer(seed, **options)
    found = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "updates": len(history.losses),
        "loss, last 50 batches": sum(history.losses[-50:]) / 50,
    }
    for clauses in range(1, 7):
        heading = "1 clause" if clauses == 1 else f"{clauses} clauses"
        found[heading] = forced_exact(model, _test(clauses, seed))
    found["2 clauses, written freely"] = exact(model, _test(2, seed))
    found["words right, forced"], found["words right, free"] = words_right(model, _test(2, seed))
    if not heads:
        return {label: found}
    found |= _map(model, seed) | _hidden(model, seed)
    untrained = make_transformer(seed=seed, norm=options["norm"])
    rows = {label: found, f"{label}, untrained": _map(untrained, seed)}
    for kind in KINDS:
        for layer in range(len(model.encoder)):
            rows[f"{label}: {kind}, layer {layer + 1}"] = _heads(model, kind, layer, seed)
    return rows


def cost(seed: int, *, label: str, context: str = "") -> Rows:
    """Take the time of one update, for short and for long sentences: no training, new weights."""
    model = make_translator(context, seed=seed) if context else make_transformer(seed=seed)
    found = {"parameters": sum(p.numel() for p in model.parameters())}
    for clauses in (1, 2, 4, 6):
        drawn = batches(torch.Generator().manual_seed(seed), 32, clauses=(clauses,))
        some = [next(drawn) for _ in range(12)]
        seconds = []
        for one in some:
            start = time.process_time()
            naming_loss(model(one.source, one.target).logits, one.target).backward()
            seconds.append(time.process_time() - start)
        heading = "1 clause" if clauses == 1 else f"{clauses} clauses"
        # the median: whatever else the machine does, it does not do it all the time
        found[f"ms, {heading}"] = 1_000 * sorted(seconds)[len(seconds) // 2]
    return {label: found}


def _test(clauses: int, seed: int) -> list[Pair]:
    return pairs("test", clauses, SENTENCES, seed)


def _map(model: Transformer, seed: int) -> dict[str, float]:
    """Hold cross-attention against the gold alignment: the head chosen on training sentences."""
    layer, head = best_head(model, pairs("training", 2, SENTENCES, seed))
    found = {}
    for clauses, ending in ((1, ""), (4, ", 4 clauses")):
        all_heads = head_agreement(model, _test(clauses, seed))
        found[f"peak{ending}"], found[f"mass{ending}"] = all_heads[layer, head].tolist()
        found[f"peak, mean of heads{ending}"] = all_heads[..., 0].mean().item()
    return found | {"layer of the best head": layer + 1}


def _hidden(model: Transformer, seed: int) -> dict[str, float]:
    """Hide a word's own characters from its look, or as many others."""
    some = _test(2, seed)
    gold = gold_cells(some)
    free = (batch(some).source != 0).unsqueeze(1) & ~gold
    random = torch.rand(gold.shape, generator=torch.Generator().manual_seed(seed))
    rank = random.masked_fill(~free, 2.0).argsort(-1).argsort(-1)
    others = (rank < gold.sum(-1, keepdim=True)) & free
    return {
        "right, own characters hidden": right_without_cells(model, some, gold),
        "right, as many others hidden": right_without_cells(model, some, others),
    }


def _ends(name: str, values: list[float]) -> dict[str, float]:
    """Keep the least and the most: a layer's heads have no order that two seeds would share."""
    return {f"{name}, least": min(values), f"{name}, most": max(values)}


def _heads(model: Transformer, kind: str, layer: int, seed: int) -> dict[str, float]:
    """Where the heads of one layer look, and what is lost without them."""
    some = _test(2, seed)
    whole = forced_exact(model, some)
    count = model.encoder[0].attention.heads
    kept = [forced_exact(without_head(model, kind, layer, h), some) for h in range(count)]
    found = _ends("lost without a head", [whole - k for k in kept])
    nothing_seen = without_head(model, kind, layer)
    found["lost without the layer's heads"] = whole - forced_exact(nothing_seen, some)
    if kind == "cross":
        return found | _ends("peak", head_agreement(model, some)[layer, :, 0].tolist())
    shares, even = _reach(model, some, kind)
    for name in ("itself", "near", "far"):
        found |= _ends(name, getattr(shares, name)[layer].tolist())
        found[f"{name}, an even look"] = getattr(even, name).item()
    return found


@torch.no_grad()
def _reach(model: Transformer, some: list[Pair], kind: str) -> tuple[Reach, Reach]:
    """Measure all heads, and beside them a head that shares its look among all it may see."""
    source, target = batch(some)
    written = model(source, target)
    if kind == "encoder":
        ids, weights, may = source, written.encoder, padding_mask(source)
    else:
        ids, weights = shifted(target), written.decoder
        may = model.target_mask(ids)
    even = may / may.sum(-1, keepdim=True)
    even = even.expand(*ids.shape, ids.shape[1]).unsqueeze(1)  # as if it were one head
    return reach(weights, ids), reach(even, ids)

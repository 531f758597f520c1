"""The Transformer as a translator, on the corpus and with the recipe of chapters 2 and 3.

Training, and what can be asked of a trained one: how far each head looks, which head is nearest to
the gold alignment, and what is lost when a head is removed.
"""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .data.grammar import Pair
from .data.translation import Batch, batch, batches, gold_cells, source_words, target_words
from .recurrent import PAD, naming_loss, shifted
from .training import History, Recipe, seeded, trained
from .transformer import Transformer
from .translator import agreement, check_hidden

__all__ = [
    "KINDS",
    "NEAR",
    "Reach",
    "best_head",
    "forced_exact",
    "head_agreement",
    "make_transformer",
    "reach",
    "right_without_cells",
    "train_transformer",
    "without_head",
]

KINDS = ("encoder", "decoder", "cross")
NEAR = 2  # tokens away, at most, is near
STEPS = 1_000
RATE = 5e-3


class Reach(NamedTuple):
    """How far heads of self-attention look; the three shares sum to 1.

    Attributes
    ----------
    itself : (…, H)
        Weight that a token gives itself, on average.
    near : (…, H)
        Weight on tokens one or two places away.
    far : (…, H)
        The rest.
    """

    itself: Tensor
    near: Tensor
    far: Tensor


def make_transformer(
    norm: str = "pre",
    *,
    width: int = 40,
    heads: int = 4,
    layers: int = 2,
    positions: bool = True,
    ahead: int = 0,
    seed: int = 0,
) -> Transformer:
    """Make an untrained translator, of about as many parameters as those of chapters 2 and 3.

    Parameters
    ----------
    norm, width, heads, layers, positions, ahead
        See `wheretolook.transformer.Transformer`.
    seed : int
        Of the weights.

    Returns
    -------
    Transformer
        In evaluation mode.

    Raises
    ------
    ValueError
        If it can't be made so.
    """
    options = {"norm": norm, "positions": positions, "ahead": ahead}
    with seeded(seed):
        sizes = (len(source_words()), len(target_words()), width, heads, layers)
        return Transformer(*sizes, **options).eval()


def train_transformer(
    seed: int = 0,
    norm: str = "pre",
    *,
    width: int = 40,
    heads: int = 4,
    layers: int = 2,
    positions: bool = True,
    ahead: int = 0,
    steps: int = STEPS,
    shuffled: bool = False,
) -> tuple[Transformer, History]:
    """Train on sentences of 1 to 4 clauses, or load what was trained before.

    The batches are those of `wheretolook.translator.train_translator`; the learning rate is lower.

    Parameters
    ----------
    seed : int
        Of the first weights and of the sentences.
    norm, width, heads, layers, positions, ahead
        See `wheretolook.transformer.Transformer`.
    steps : int
        Batches of 32 sentences; with 0 it stays untrained.
    shuffled : bool
        Whether each sentence gets another one's translation: a control with nothing to learn.

    Returns
    -------
    model : Transformer
        In evaluation mode.
    history : History

    Raises
    ------
    ValueError
        As in `make_transformer`.
    """
    shape = {"norm": norm, "width": width, "heads": heads, "layers": layers}
    shape |= {"positions": positions, "ahead": ahead}
    model = make_transformer(seed=seed, **shape)
    recipe = Recipe(steps=steps, batch=32, rate=RATE, warmup=100)

    def drawn(generator: torch.Generator) -> Iterator[Batch]:
        for some in batches(generator, recipe.batch, clauses=(1, 1, 2, 2, 3, 4)):
            yield some._replace(target=some.target.roll(1, 0)) if shuffled else some

    label, config = f"Transformer, {norm}-norm, seed {seed}", {**shape, "shuffled": shuffled}
    module = "transformer_translator"
    history = trained(
        model, _loss, drawn, recipe, seed=seed, label=label, config=config, module=module
    )
    return model, history


@torch.no_grad()
def forced_exact(model: Transformer, some: list[Pair]) -> float:
    """Return the share of sentences with no wrong word under teacher forcing: one pass for all.

    If the model can't see ahead, this is what `wheretolook.translator.exact` measures by writing:
    as long as all words were right, what stands before the next is the same either way.
    """
    source, target = batch(some)
    written = model(source, target, need_weights=False)
    right = (written.ids == target) | (target == PAD)
    return right.all(1).float().mean().item()


def reach(weights: Tensor, ids: Tensor) -> Reach:
    """Measure how far self-attention looks, on average over all real tokens that look.

    Parameters
    ----------
    weights : (…, B, H, L, L)
        Such as `Written.encoder`.
    ids : (B, L) integers
        The tokens, 0 = padding; of the decoder, its inputs.

    Returns
    -------
    Reach
        (…, H) each.

    Raises
    ------
    ValueError
        If the shapes do not belong together.

    Examples
    --------
    >>> ids = torch.tensor([[3, 4, 5, 6]])
    >>> even = torch.full((1, 2, 4, 4), 0.25)
    >>> [share.tolist() for share in reach(even, ids)]
    [[0.25, 0.25], [0.625, 0.625], [0.125, 0.125]]
    """
    length = ids.shape[-1]
    if ids.ndim != 2 or weights.ndim < 4 or weights.shape[-2:] != (length, length):
        raise ValueError(
            f"weights: expected (…, B, H, L, L) for ids (B, L) = {tuple(ids.shape)}, "
            f"got {tuple(weights.shape)}"
        )
    place = torch.arange(length)
    away = (place - place[:, None]).abs()
    looks = (ids != PAD)[:, None, :].to(weights.dtype)  # (B, 1, L): rows that count
    parts = (away == 0, (away > 0) & (away <= NEAR), away > NEAR)
    shares = [((weights * part).sum(-1) * looks).sum((-3, -1)) / looks.sum() for part in parts]
    return Reach(*shares)


@torch.no_grad()
def head_agreement(model: Transformer, some: list[Pair]) -> Tensor:
    """Hold every head of the cross-attention against the gold alignment.

    Returns
    -------
    (N, H, 2)
        Peak and mass, as in `wheretolook.translator.agreement`.
    """
    gold, cross = gold_cells(some), model(*batch(some)).cross
    return torch.tensor([[agreement(w, gold) for w in layer.unbind(1)] for layer in cross])


def best_head(model: Transformer, some: list[Pair]) -> tuple[int, int]:
    """Find the head of the cross-attention whose peak is gold most often: (layer, head) from 0.

    Parameters
    ----------
    model : Transformer
    some : list of Pair
        *Training* sentences, if the head is to be tested on others.
    """
    peaks = head_agreement(model, some)[..., 0]
    return divmod(int(peaks.argmax()), peaks.shape[1])


def without_head(model: Transformer, kind: str, layer: int, *heads: int) -> Transformer:
    """Copy a model, and remove heads from one of its attentions.

    The copy calls that attention with ``removed=heads``: zeros stand where their output would.

    Parameters
    ----------
    model : Transformer
        Stays as it is.
    kind : {"encoder", "decoder", "cross"}
        Which attention.
    layer : int
        From 0.
    *heads : int
        From 0; all of them if none is named.

    Returns
    -------
    Transformer

    Raises
    ------
    ValueError
        If there is no such attention, layer or head.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}; got {kind!r}")
    made = copy.deepcopy(model)
    layers = made.encoder if kind == "encoder" else made.decoder
    if not 0 <= layer < len(layers):
        raise ValueError(f"layer: expected 0 to {len(layers) - 1}, got {layer}")
    part = layers[layer].cross_attention if kind == "cross" else layers[layer].attention
    wrong = [head for head in heads if not 0 <= head < part.heads]
    if wrong:
        raise ValueError(f"heads: expected 0 to {part.heads - 1}, got {wrong[0]}")
    gone = heads or range(part.heads)

    def without(_: nn.Module, given: tuple, options: dict[str, Any]) -> tuple[tuple, dict]:
        return given, {**options, "removed": [*options.get("removed", ()), *gone]}

    part.register_forward_pre_hook(without, with_kwargs=True)
    return made


@torch.no_grad()
def right_without_cells(model: Transformer, some: list[Pair], hidden: Tensor) -> float:
    """Hide characters from the cross-attention, for each word others; is the word still right?

    Parameters
    ----------
    model : Transformer
    some : list of Pair
        Sentences.
    hidden : (B, L, S) bool
        For each word, which characters no head of the cross-attention can see.

    Returns
    -------
    float
        Share of the words that have something hidden and are right all the same, under teacher
        forcing: what `wheretolook.translator.right_without` is for chapter 3's models.

    Raises
    ------
    ValueError
        If the shape does not fit, or nothing is hidden.
    """
    source, target = batch(some)
    check_hidden(hidden, source, target)
    read = model.encode(source, need_weights=False)
    read = read._replace(attn_mask=read.attn_mask & ~hidden)  # (B, L, S): a row for each word
    right = model.decode(shifted(target), read, need_weights=False).ids == target
    return right[hidden.any(-1) & (target != PAD)].float().mean().item()


def _loss(model: Transformer, some: Batch) -> Tensor:
    written = model(some.source, some.target, need_weights=False)
    return naming_loss(written.logits, some.target)

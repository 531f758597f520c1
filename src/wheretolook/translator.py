"""The translator of chapters 2 and 3: LSTM to LSTM, trained on the book's corpus.

Everything between encoder and decoder can be changed: a fixed context in three forms, or attention
over the states of an encoder that reads one way or both. And everything can be measured: sentences
translated without a mistake, and whether the attention weights are the alignment.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .data.grammar import LONGEST, Pair
from .data.translation import (
    Batch,
    batch,
    batches,
    source_ids,
    source_words,
    target_words,
    untangle,
)
from .recurrent import (
    FORMS,
    PAD,
    AdditiveContext,
    Decoder,
    EncoderDecoder,
    FixedContext,
    TextEncoder,
    naming_loss,
    shifted,
)
from .training import History, Recipe, seeded, trained

__all__ = [
    "CONTEXTS",
    "Agreement",
    "Translation",
    "agreement",
    "check_hidden",
    "exact",
    "make_translator",
    "right_without",
    "train_translator",
    "translate",
    "words_right",
]

CONTEXTS = (*FORMS, "attention")
STEPS = 1_000


class Translation(NamedTuple):
    """One sentence, translated.

    Attributes
    ----------
    words : list of str
        The English, without the end token.
    weights : (L, S) or None
        A row of attention weights for each word; None if the context is fixed.
    """

    words: list[str]
    weights: Tensor | None


class Agreement(NamedTuple):
    """How far a map of weights is the gold alignment, over all words that have a counterpart.

    Attributes
    ----------
    peak : float
        Share of words whose largest weight is on one of their own characters.
    mass : float
        Weight on their own characters, on average.
    """

    peak: float
    mass: float


def make_translator(
    context: str = "last",
    *,
    two_way: bool = True,
    values: str = "states",
    width: int = 64,
    seed: int = 0,
) -> EncoderDecoder:
    """Make an untrained translator.

    Parameters
    ----------
    context : {"last", "mapped", "pooled", "attention"}
        What passes from the encoder to the decoder.
    two_way, values
        See `wheretolook.recurrent.TextEncoder`.
    width : int
        Of the states on both sides.
    seed : int
        Of the weights.

    Returns
    -------
    EncoderDecoder
        In evaluation mode.

    Raises
    ------
    ValueError
        If there is no such context, or the encoder can't be made so.
    """
    if context not in CONTEXTS:
        raise ValueError(f"context: expected one of {', '.join(CONTEXTS)}; got {context!r}")
    with seeded(seed):
        encoder = TextEncoder(len(source_words()), width, two_way=two_way, values=values)
        if context == "attention":
            between = AdditiveContext(width, width, encoder.values_width)
        else:
            between = FixedContext(width, context)
        decoder = Decoder(len(target_words()), between.width, width)
        return EncoderDecoder(encoder, between, decoder).eval()


def train_translator(
    seed: int = 0,
    *,
    context: str = "last",
    two_way: bool = True,
    values: str = "states",
    width: int = 64,
    steps: int = STEPS,
    shuffled: bool = False,
) -> tuple[EncoderDecoder, History]:
    """Train a translator on sentences of 1 to 4 clauses, or load it if it was trained before.

    Parameters
    ----------
    seed : int
        Of the first weights and of the sentences.
    context, two_way, values, width
        See `make_translator`.
    steps : int
        Batches of 32 sentences; with 0 it stays untrained.
    shuffled : bool
        Whether each sentence gets another one's translation: a control with nothing to learn.

    Returns
    -------
    model : EncoderDecoder
        In evaluation mode.
    history : History

    Raises
    ------
    ValueError
        As in `make_translator`.
    """
    shape = {"context": context, "two_way": two_way, "values": values, "width": width}
    model = make_translator(seed=seed, **shape)
    recipe = Recipe(steps=steps, batch=32, rate=1e-2, warmup=100)

    def drawn(generator: torch.Generator) -> Iterator[Batch]:
        # shorter ones more often: they are learned first, and the rest is learned on top
        for some in batches(generator, recipe.batch, clauses=(1, 1, 2, 2, 3, 4)):
            yield some._replace(target=some.target.roll(1, 0)) if shuffled else some

    label, config = f"translator, {context}, seed {seed}", {**shape, "shuffled": shuffled}
    history = trained(
        model, _loss, drawn, recipe, seed=seed, label=label, config=config, module="translator"
    )
    return model, history


def translate(model: EncoderDecoder, sentence: str) -> Translation:
    """Translate one Chinese sentence.

    Parameters
    ----------
    model : EncoderDecoder
        From `train_translator`.
    sentence : str
        Made of the corpus' characters.

    Returns
    -------
    Translation

    Raises
    ------
    ValueError
        If the sentence is empty, too long, or has an unknown character; names it.
    """
    written = model.write(source_ids([sentence]), LONGEST)
    words = untangle(written.ids[0])
    weights = None if written.weights is None else written.weights[0, : len(words)]
    return Translation(words, weights)


def exact(model: EncoderDecoder, some: list[Pair]) -> float:
    """Return the share of sentences that are translated without a single mistake."""
    source, target = batch(some)
    # one word more than asked for: who goes on after the end has made a mistake, too
    ids = model.write(source, target.shape[1] + 1).ids
    ids = nn.functional.pad(ids, (0, target.shape[1] + 1 - ids.shape[1]))
    return (ids == nn.functional.pad(target, (0, 1))).all(1).float().mean().item()


@torch.no_grad()
def words_right(model: EncoderDecoder, some: list[Pair]) -> tuple[float, float]:
    """Return the share of words in their right place: under teacher forcing, and written freely."""
    source, target = batch(some)
    real = target != PAD
    free = model.write(source, target.shape[1]).ids
    free = nn.functional.pad(free, (0, target.shape[1] - free.shape[1]))
    both = (model(source, target).ids, free)
    forced, written = ((ids == target)[real].float().mean().item() for ids in both)
    return forced, written


@torch.no_grad()
def agreement(weights: Tensor, gold: Tensor) -> Agreement:
    """Hold attention weights against the gold alignment.

    Parameters
    ----------
    weights : (B, L, S)
        Any map whose rows can be compared, of a model or of a control.
    gold : (B, L, S) bool
        From `wheretolook.data.translation.gold_cells`.

    Returns
    -------
    Agreement

    Raises
    ------
    ValueError
        If the shapes differ or no word has a counterpart.

    Examples
    --------
    >>> gold = torch.tensor([[[True, False, False], [False, True, True]]])
    >>> agreement(torch.tensor([[[0.2, 0.8, 0.0], [0.2, 0.4, 0.4]]]), gold)
    Agreement(peak=0.5, mass=0.5)
    """
    if weights.shape != gold.shape:
        raise ValueError(f"weights: expected {tuple(gold.shape)}, got {tuple(weights.shape)}")
    counted = gold.any(-1)
    if not counted.any():
        raise ValueError("gold: expected a word with a counterpart at least, got none")
    peak = gold.gather(-1, weights.argmax(-1, keepdim=True)).squeeze(-1)
    mass = (weights * gold).sum(-1)
    return Agreement(peak[counted].float().mean().item(), mass[counted].mean().item())


@torch.no_grad()
def right_without(model: EncoderDecoder, some: list[Pair], hidden: Tensor) -> float:
    """Hide characters from the attention, for each word others; is the word still right?

    Parameters
    ----------
    model : EncoderDecoder
        With attention.
    some : list of Pair
        Sentences.
    hidden : (B, L, S) bool
        For each word, which characters its attention can't see.

    Returns
    -------
    float
        Share of the words that have something hidden and are right all the same, each under
        teacher forcing.

    Raises
    ------
    ValueError
        If the shape does not fit, or nothing is hidden.
    """
    source, target = batch(some)
    check_hidden(hidden, source, target)
    encoded, decoder = model.encoder(source), model.decoder
    state, right = decoder.start(len(source)), []
    words = decoder.words(shifted(target))
    for number in range(target.shape[1]):
        seen = encoded._replace(attn_mask=encoded.attn_mask & ~hidden[:, number])
        state, look = decoder.step(words[:, number], state, model.context(seen))
        logits = decoder.name(state[0], look.context)
        right.append(logits.argmax(-1) == target[:, number])
    counted = hidden.any(-1) & (target != PAD)
    return torch.stack(right, 1)[counted].float().mean().item()


def check_hidden(hidden: Tensor, source: Tensor, target: Tensor) -> None:
    """Raise ValueError unless something is hidden, and it fits the sentences.

    Parameters
    ----------
    hidden : (B, L, S) bool
        What each word can't see.
    source, target : (B, S), (B, L) integers

    Raises
    ------
    ValueError
        If the shape does not fit, or nothing is hidden.

    Examples
    --------
    >>> check_hidden(torch.ones(1, 2, 3, dtype=torch.bool), torch.ones(1, 3), torch.ones(1, 2))
    """
    if hidden.shape != (*target.shape, source.shape[1]) or not hidden.any():
        raise ValueError(
            f"hidden: expected {(*target.shape, source.shape[1])} with something hidden, "
            f"got {tuple(hidden.shape)}, {int(hidden.sum())} hidden"
        )


def _loss(model: EncoderDecoder, some: Batch) -> Tensor:
    return naming_loss(model(some.source, some.target).logits, some.target)

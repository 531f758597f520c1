"""Copying backwards: the smallest task that shows how much one vector can hold.

The Source is a few letters, the Target the same letters from the last to the first. Nothing has to
be understood and every letter is as likely as any other, so whatever is lost, was lost on the way.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from .recurrent import (
    END,
    AdditiveContext,
    Decoder,
    EncoderDecoder,
    FixedContext,
    TextEncoder,
    naming_loss,
)
from .training import History, Recipe, seeded, trained

__all__ = ["LETTERS", "TRAINED", "letters_right", "reversals", "train_reversal"]

LETTERS = "abcdefghi"  # numbered from 3: 0 to 2 are padding, start and end
TRAINED = range(2, 13)  # the lengths in training
LONGEST = 20
WORDS = 3 + len(LETTERS)


def reversals(count: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw sequences of letters, and the same backwards.

    Parameters
    ----------
    count, length : int
        B, and S letters; up to 20.
    generator : torch.Generator
        Where chance comes from.

    Returns
    -------
    source : (B, S) integers
    target : (B, S + 1) integers
        With the end token.

    Raises
    ------
    ValueError
        If there is nothing to draw, or the sequences are too long.

    Examples
    --------
    >>> source, target = reversals(1, 3, torch.Generator().manual_seed(0))
    >>> source.tolist(), target.tolist()
    ([[11, 3, 5]], [[5, 3, 11, 2]])
    """
    if count < 1:
        raise ValueError(f"count: expected 1 or more, got {count}")
    if not 1 <= length <= LONGEST:
        raise ValueError(f"length: expected 1 to {LONGEST}, got {length}")
    source = torch.randint(3, WORDS, (count, length), generator=generator)
    return source, nn.functional.pad(source.flip(1), (0, 1), value=END)


def train_reversal(
    seed: int = 0,
    *,
    attention: bool = False,
    width: int = 48,
    steps: int = 1_500,
    shuffled: bool = False,
) -> tuple[EncoderDecoder, History]:
    """Train a model on lengths from 2 to 12, or load it if it was trained before.

    Parameters
    ----------
    seed : int
        Of the first weights and of the letters.
    attention : bool
        Whether c is made anew for each letter; else it is h_T.
    width : int
        Of the states on both sides, and so of c.
    steps : int
        Batches of 64 sequences; with 0 it stays untrained.
    shuffled : bool
        Whether each sequence gets another one's answer: a control with nothing to learn.

    Returns
    -------
    model : EncoderDecoder
        In evaluation mode.
    history : History
    """
    with seeded(seed):
        encoder = TextEncoder(WORDS, width, embedding=24)
        between = AdditiveContext(width, width) if attention else FixedContext(width)
        decoder = Decoder(WORDS, width, width, embedding=24)
        model = EncoderDecoder(encoder, between, decoder).eval()
    recipe = Recipe(steps=steps, batch=64, rate=1e-2, warmup=100)

    def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        while True:
            length = int(torch.randint(TRAINED[0], TRAINED[-1] + 1, (1,), generator=generator))
            source, target = reversals(recipe.batch, length, generator)
            yield source, target.roll(1, 0) if shuffled else target

    label = f"copying backwards, {'attention' if attention else 'fixed c'}, seed {seed}"
    config = {"attention": attention, "width": width, "shuffled": shuffled}
    history = trained(
        model, _loss, batches, recipe, seed=seed, label=label, config=config, module="reversal"
    )
    return model, history


def letters_right(model: EncoderDecoder, length: int, seed: int = 0, count: int = 256) -> float:
    """Return the share of letters, the end included, that are written in their right place."""
    source, target = reversals(count, length, torch.Generator().manual_seed(1_000 + seed))
    ids = model.write(source, target.shape[1]).ids
    ids = nn.functional.pad(ids, (0, target.shape[1] - ids.shape[1]))
    return (ids == target).float().mean().item()


def _loss(model: EncoderDecoder, batch: tuple[Tensor, Tensor]) -> Tensor:
    source, target = batch
    return naming_loss(model(source, target).logits, target)

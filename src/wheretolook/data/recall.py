"""Associative recall: remember which value stood beside which key.

"k7 v3, k2 v9, … ; k7?" asks for v3. The place of the right pair is known, so a scorer's weights
can be held against it.
"""

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Recall", "recall"]


class Recall(NamedTuple):
    """B questions about `pairs` pairs each.

    Attributes
    ----------
    keys, values : (B, pairs) integers
        The symbols of each pair; keys differ within a question, values need not.
    question : (B,) integers
        The key that is asked for.
    place : (B,) integers
        Where its pair stands: where attention should look.
    answer : (B,) integers
        The value that stands there.
    """

    keys: Tensor
    values: Tensor
    question: Tensor
    place: Tensor
    answer: Tensor


def recall(batch: int, generator: torch.Generator, *, pairs: int = 10, symbols: int = 20) -> Recall:
    """Draw questions.

    Parameters
    ----------
    batch : int
        B, how many.
    generator : torch.Generator
        Where chance comes from.
    pairs : int
        How many pairs each question has; at most `symbols`.
    symbols : int
        How many keys there are to draw from, and how many values.

    Returns
    -------
    Recall

    Raises
    ------
    ValueError
        If there are fewer symbols than pairs.

    Examples
    --------
    >>> asked = recall(2, torch.Generator().manual_seed(0), pairs=3)
    >>> torch.equal(asked.keys.gather(1, asked.place[:, None])[:, 0], asked.question)
    True
    """
    if not 1 <= pairs <= symbols:
        raise ValueError(f"pairs: expected 1 to {symbols}, the number of symbols; got {pairs}")
    keys = torch.rand(batch, symbols, generator=generator).argsort(1)[:, :pairs]
    values = torch.randint(symbols, (batch, pairs), generator=generator)
    place = torch.randint(pairs, (batch,), generator=generator)
    rows = torch.arange(batch)
    return Recall(keys, values, keys[rows, place], place, values[rows, place])

"""Two small tasks to compare norms on: count votes, and guess dice that can't be guessed.

A ballot box is a row of signs: 1 to 4 are votes for a candidate, the other signs are spoilt
papers, 0 is padding. Who won takes all papers; their order says nothing. Dice are independent, so
nothing that came before tells the next one: no honest guess has a loss below ln 10.
"""

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["CANDIDATES", "SIDES", "SIGNS", "Votes", "dice", "votes"]

CANDIDATES, SIGNS, SIDES = 4, 11, 10


class Votes(NamedTuple):
    """B ballot boxes.

    Attributes
    ----------
    ids : (B, L) integers
        The papers: 1 to 4 a vote, 5 to 10 spoilt, 0 padding at the end.
    winner : (B,) integers
        0 to 3: the candidate with the most votes; of equal ones the first.
    """

    ids: Tensor
    winner: Tensor


def votes(batch: int, generator: torch.Generator, *, length: int = 12, shortest: int = 4) -> Votes:
    """Draw ballot boxes.

    Parameters
    ----------
    batch : int
        B, how many.
    generator : torch.Generator
        Where chance comes from.
    length : int
        L, the papers that a box has room for.
    shortest : int
        The fewest papers in a box; the number is drawn evenly from here to `length`.

    Returns
    -------
    Votes

    Raises
    ------
    ValueError
        If `shortest` is not from 1 to `length`.

    Examples
    --------
    >>> box = votes(1, torch.Generator().manual_seed(0))
    >>> box.ids, box.winner
    (tensor([[...]]), tensor([...]))
    """
    if not 1 <= shortest <= length:
        raise ValueError(f"shortest: expected 1 to {length} papers, got {shortest}")
    papers = torch.randint(shortest, length + 1, (batch, 1), generator=generator)
    ids = torch.randint(1, SIGNS, (batch, length), generator=generator)
    ids = ids * (torch.arange(length) < papers)
    candidates = torch.arange(CANDIDATES)
    tally = (ids.unsqueeze(1) == 1 + candidates.unsqueeze(1)).sum(-1)
    return Votes(ids, (tally - candidates / CANDIDATES).argmax(1))


def dice(batch: int, generator: torch.Generator, *, length: int = 9) -> Tensor:
    """Throw ten-sided dice, each by itself.

    Parameters
    ----------
    batch : int
        B, how many rows.
    generator : torch.Generator
        Where chance comes from.
    length : int
        Throws in a row.

    Returns
    -------
    (B, length) integers
        0 to 9, all equally often.

    Raises
    ------
    ValueError
        If there are fewer than two throws: one to see, one to guess.

    Examples
    --------
    >>> dice(2, torch.Generator().manual_seed(0), length=5).shape
    torch.Size([2, 5])
    """
    if length < 2:
        raise ValueError(f"length: expected 2 throws or more, got {length}")
    return torch.randint(SIDES, (batch, length), generator=generator)

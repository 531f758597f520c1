"""A leak detector: digits that nobody can predict, and a model that may see too much.

A sequence of independent digits, each of ten equally likely, gives no hint of what comes next. So
a model that predicts the next digit from those before it can't have a cross-entropy below ln 10
in the long run (`FLOOR`). If it has, its mask lets it read the answer. The opposite does not
follow: a mask that hides too much, or that shows a part of the future which is no answer, passes.
`influence` finds such masks, too.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .attention import Attention, SelfAttention
from .masks import check_mask
from .training import History, Recipe, seeded, trained

__all__ = [
    "FLOOR",
    "LEAK",
    "LENGTH",
    "LeakModel",
    "LeakScore",
    "influence",
    "score_leak",
    "shifted_mask",
    "train_leak",
]

DIGITS = 10
LENGTH = 12  # digits that go in; of the next digits, the first 11 are among them
FLOOR = math.log(DIGITS)  # no honest model is better
LEAK = FLOOR / LENGTH  # sees every answer but the last, which is not in the input


def shifted_mask(length: int, diagonal: int | None = 0, *, inverted: bool = False) -> Tensor:
    """Make a causal mask, or one that is wrong in a way that happens.

    Parameters
    ----------
    length : int
        L, the number of positions.
    diagonal : int or None
        How many positions ahead a query may see: 0 is right, 1 is off by one, -1 hides the query's
        own position, too. None hides nothing.
    inverted : bool
        Turn True and False around, as happens where the other polarity is meant.

    Returns
    -------
    (L, L) bool
        True = may attend.

    Raises
    ------
    ValueError
        If `length` is negative.

    Examples
    --------
    >>> shifted_mask(3, 1).int()
    tensor([[1, 1, 0],
            [1, 1, 1],
            [1, 1, 1]], dtype=torch.int32)
    """
    if length < 0:
        raise ValueError(f"length: expected a number of positions, 0 or more, got {length}")
    mask = torch.ones(length, length, dtype=torch.bool)
    mask = mask if diagonal is None else mask.tril(diagonal)
    return ~mask if inverted else mask


class LeakModel(nn.Module):
    """Predict the next digit: embeddings, one attention with residual, one dense layer.

    Parameters
    ----------
    attn_mask : (L, L) bool
        True = may attend; what the model is trained with.
    width : int
        D.

    Raises
    ------
    ValueError
        If the mask is not boolean or not (L, L) with L = `LENGTH`.

    Examples
    --------
    >>> model = LeakModel(shifted_mask(LENGTH))
    >>> logits, attention = model(torch.zeros(2, LENGTH, dtype=torch.long))
    >>> logits.shape, attention.weights.shape
    (torch.Size([2, 12, 10]), torch.Size([2, 12, 12]))
    """

    attn_mask: Tensor

    def __init__(self, attn_mask: Tensor, width: int = 32) -> None:
        super().__init__()
        check_mask(attn_mask, torch.empty(LENGTH, LENGTH))
        self.digits = nn.Embedding(DIGITS, width)
        self.positions = nn.Embedding(LENGTH, width)
        self.layer = SelfAttention(width, norm=True)
        self.output_layer = nn.Linear(width, DIGITS)
        self.register_buffer("attn_mask", attn_mask)

    def forward(self, digits: Tensor, attn_mask: Tensor | None = None) -> tuple[Tensor, Attention]:
        """Predict.

        Parameters
        ----------
        digits : (B, L) integers
            0 to 9; L is `LENGTH`.
        attn_mask : (L, L) bool, optional
            True = may attend; the model's own if None.

        Returns
        -------
        logits : (B, L, 10)
            A score for each next digit.
        attention : Attention
            Of the one layer.

        Raises
        ------
        ValueError
            If `digits` has another shape.
        """
        if digits.ndim != 2 or digits.shape[1] != LENGTH:
            raise ValueError(f"digits: expected (B, {LENGTH}), got {tuple(digits.shape)}")
        x = self.digits(digits) + self.positions.weight
        attention = self.layer(x, self.attn_mask if attn_mask is None else attn_mask)
        return self.output_layer(x + attention.output), attention


def train_leak(
    diagonal: int | None = 0, *, inverted: bool = False, steps: int = 1_000, seed: int = 0
) -> tuple[LeakModel, History]:
    """Train a `LeakModel` on independent digits; every step draws new ones.

    Parameters
    ----------
    diagonal, inverted
        The mask, see `shifted_mask`.
    steps : int
        Batches of 64 sequences.
    seed : int
        Of the first weights and the digits.

    Returns
    -------
    model : LeakModel
    history : History
    """
    with seeded(seed):
        model = LeakModel(shifted_mask(LENGTH, diagonal, inverted=inverted))
    recipe = Recipe(steps=steps, batch=64, rate=1e-2)

    def batches(generator: torch.Generator) -> Iterator[Tensor]:
        while True:
            yield _draw(recipe.batch, generator)

    label, config = _name(diagonal, inverted), {"diagonal": diagonal, "inverted": inverted}
    history = trained(
        model, _loss, batches, recipe, seed=seed, label=label, config=config, module="leak"
    )
    return model, history


class LeakScore(NamedTuple):
    """How well the next digit is predicted.

    Attributes
    ----------
    loss, accuracy : float
        Cross-entropy in nats and share of right guesses, over all positions.
    places : (L,)
        The loss at each position.
    """

    loss: float
    accuracy: float
    places: Tensor


@torch.no_grad()
def score_leak(
    model: LeakModel, *, attn_mask: Tensor | None = None, seed: int = 0, sequences: int = 5_000
) -> LeakScore:
    """Test a model on new digits.

    Parameters
    ----------
    model : LeakModel
    attn_mask : (L, L) bool, optional
        True = may attend; the model's own if None. Combined with
        ``causal_mask(LENGTH)`` it lets the model work as it must when it writes: what is to come
        is not there yet.
    seed : int
        Of the digits, which differ from all in training.
    sequences : int
        How many.

    Returns
    -------
    LeakScore
    """
    drawn = _draw(sequences, torch.Generator().manual_seed(1_000_000 + seed))
    logits, targets = model(drawn[:, :-1], attn_mask)[0], drawn[:, 1:]
    losses = nn.functional.cross_entropy(logits.mT, targets, reduction="none")
    right = (logits.argmax(-1) == targets).float().mean()
    return LeakScore(losses.mean().item(), right.item(), losses.mean(0))


@torch.no_grad()
def influence(model: LeakModel, *, seed: int = 0, sequences: int = 20) -> Tensor:
    """Change one digit of the input and see which predictions move.

    Parameters
    ----------
    model : LeakModel
    seed : int
        Of the digits.
    sequences : int
        How many are tried; one that moves is enough.

    Returns
    -------
    (L, L) bool
        Row i, column j: whether the prediction at position i moved at all when digit j changed.

    Examples
    --------
    >>> bool(influence(LeakModel(shifted_mask(LENGTH))).triu(1).any())
    False
    """
    drawn = _draw(sequences, torch.Generator().manual_seed(2_000_000 + seed))[:, :-1]
    before = model(drawn)[0]
    columns = []
    for j in range(LENGTH):
        changed = drawn.clone()
        changed[:, j] = (changed[:, j] + 1) % DIGITS
        columns.append((model(changed)[0] != before).any(-1).any(0))
    return torch.stack(columns, dim=1)


def _name(diagonal: int | None, inverted: bool) -> str:
    offset = "no mask" if diagonal is None else f"diagonal {diagonal:+d}"
    return offset + ", inverted" * inverted


def _draw(sequences: int, generator: torch.Generator) -> Tensor:
    """Draw (sequences, LENGTH + 1) digits, each independent of all others."""
    return torch.randint(0, DIGITS, (sequences, LENGTH + 1), generator=generator)


def _loss(model: LeakModel, drawn: Tensor) -> Tensor:
    return nn.functional.cross_entropy(model(drawn[:, :-1])[0].mT, drawn[:, 1:])

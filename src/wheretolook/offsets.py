"""Two looks at once: name the letter one place before, and the letter three places before.

The letters are drawn independently, so each answer stands at one place and nowhere else, and what
a head must look at is known. The number of heads changes nothing about the number of parameters.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .attention import Attention, MultiHeadAttention
from .training import History, Recipe, seeded, trained

__all__ = [
    "LENGTH",
    "LETTERS",
    "MISTAKES",
    "OFFSETS",
    "MistakenHeads",
    "OffsetModel",
    "OffsetScore",
    "average_maps",
    "offset_answers",
    "offset_rows",
    "score_offsets",
    "train_offsets",
    "viewed_heads",
]

LETTERS = 16  # a to p
LENGTH = 12  # L
OFFSETS = (1, 3)  # how far before a place the two answers stand
MISTAKES = ("split", "merge")


def offset_rows(rows: int, generator: torch.Generator) -> Tensor:
    """Draw rows of letters, each letter independent of all others.

    Parameters
    ----------
    rows : int
        B.
    generator : torch.Generator

    Returns
    -------
    (B, L) integers
        0 to 15.

    Examples
    --------
    >>> offset_rows(2, torch.Generator().manual_seed(0)).shape
    torch.Size([2, 12])
    """
    return torch.randint(0, LETTERS, (rows, LENGTH), generator=generator)


def offset_answers(letters: Tensor) -> Tensor:
    """Read off what stands one and three places before each place that has both.

    Parameters
    ----------
    letters : (B, L) integers

    Returns
    -------
    (B, L - 3, 2) integers
        For the fourth place and all after it: the letter one before, the letter three before.

    Raises
    ------
    ValueError
        If `letters` is not a table with more than three columns.

    Examples
    --------
    >>> offset_answers(torch.tensor([[7, 8, 9, 5, 6]]))
    tensor([[[9, 7],
             [5, 8]]])
    """
    first = max(OFFSETS)
    if letters.ndim != 2 or letters.shape[1] <= first:
        raise ValueError(f"letters: expected (B, L) with L above 3, got {tuple(letters.shape)}")
    length = letters.shape[1]
    return torch.stack([letters[:, first - k : length - k] for k in OFFSETS], dim=-1)


def viewed_heads(x: Tensor, heads: int) -> Tensor:
    """Cut tokens into "heads" with a view and no transpose: the right shape, the wrong numbers.

    A view keeps the order in which the numbers lie in memory. So the first "head" is made of the
    first L/H tokens, each cut into H pieces that lie below each other, and so on: what is called
    a head is a stretch of the sequence. Shown as a mistake; `split_heads` does it rightly.

    Parameters
    ----------
    x : (B, L, H·E)
    heads : int
        H; must divide the width.

    Returns
    -------
    (B, H, L, E)

    Raises
    ------
    ValueError
        If `x` has other axes, or the width is not divisible by `heads`.

    Examples
    --------
    >>> viewed_heads(torch.tensor([[[11, 12], [21, 22]]]), heads=2)[0, 0].flatten().tolist()
    [11, 12]
    """
    if x.ndim != 3:
        raise ValueError(f"x: expected (B, L, H·E), got {tuple(x.shape)}")
    if heads < 1 or x.shape[-1] % heads:
        raise ValueError(f"heads: expected a divisor of the width {x.shape[-1]}, got {heads}")
    batch, length, width = x.shape
    return x.reshape(batch, heads, length, width // heads)


class MistakenHeads(MultiHeadAttention):
    """`MultiHeadAttention` with a view where axes should change places: same shapes, no error.

    Parameters
    ----------
    width, heads : int
        As in `MultiHeadAttention`.
    mistake : str
        "split": cut by `viewed_heads`, and put back by a view, too. "merge": cut rightly, but put
        back by a view, so that a token gets what the heads found for other tokens.

    Raises
    ------
    ValueError
        If there is no such mistake, or `width` is not divisible by `heads`.

    Examples
    --------
    >>> output, attention = MistakenHeads(8, 2, "merge")(*[torch.zeros(1, 3, 8)] * 3)
    >>> output.shape, attention.weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(self, width: int, heads: int, mistake: str) -> None:
        super().__init__(width, heads)
        if mistake not in MISTAKES:
            raise ValueError(f"mistake: expected one of {', '.join(MISTAKES)}; got {mistake!r}")
        self.mistake = mistake

    def _split(self, x: Tensor) -> Tensor:
        return viewed_heads(x, self.heads) if self.mistake == "split" else super()._split(x)

    def _merge(self, x: Tensor) -> Tensor:
        return x.reshape(len(x), -1, self.width)


class OffsetModel(nn.Module):
    """Name two earlier letters: embeddings, one attention with heads, one dense layer.

    There is no residual connection: what is said about a place comes through the attention.

    Parameters
    ----------
    heads : int
        H; the number of parameters does not depend on it.
    width : int
        D; a head has width E = D / H.
    mistake : str, optional
        One of `MISTAKES`, see `MistakenHeads`.
    feed_forward : bool
        Whether two dense layers with a ReLU between them, and a residual connection around them,
        follow the attention.

    Raises
    ------
    ValueError
        If `heads` does not divide `width`, or there is no such mistake.

    Examples
    --------
    >>> logits, attention = OffsetModel(heads=2)(torch.zeros(5, 12, dtype=torch.long))
    >>> logits.shape, attention.weights.shape
    (torch.Size([5, 9, 2, 16]), torch.Size([5, 2, 12, 12]))
    """

    def __init__(
        self,
        heads: int,
        *,
        width: int = 32,
        mistake: str | None = None,
        feed_forward: bool = False,
    ) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.positions = nn.Embedding(LENGTH, width)
        self.layer = (
            MultiHeadAttention(width, heads)
            if mistake is None
            else MistakenHeads(width, heads, mistake)
        )
        self.feed_forward = (
            nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
            if feed_forward
            else None
        )
        self.output_layer = nn.Linear(width, len(OFFSETS) * LETTERS)

    def forward(
        self, letters: Tensor, removed: Sequence[int] = (), *, need_weights: bool = True
    ) -> tuple[Tensor, Attention | None]:
        """Answer both questions at the fourth place and all after it.

        Parameters
        ----------
        letters : (B, L) integers
            L is `LENGTH`.
        removed : sequence of int
            Heads, counted from 0, whose output is replaced by zeros.
        need_weights : bool
            See `MultiHeadAttention`.

        Returns
        -------
        logits : (B, L - 3, 2, 16)
            A score for each letter: one place before, three places before.
        attention : Attention or None
            The heads, as they were before any was removed; None if they are not needed.

        Raises
        ------
        ValueError
            If `letters` has another shape, or a removed head does not exist.
        """
        if letters.ndim != 2 or letters.shape[1] != LENGTH:
            raise ValueError(f"letters: expected (B, {LENGTH}), got {tuple(letters.shape)}")
        x = self.letters(letters) + self.positions.weight
        output, attention = self.layer(x, x, x, need_weights=need_weights, removed=removed)
        if self.feed_forward is not None:
            output = output + self.feed_forward(output)
        logits = self.output_layer(output[:, max(OFFSETS) :])
        return logits.unflatten(-1, (len(OFFSETS), LETTERS)), attention


def train_offsets(
    heads: int,
    *,
    width: int = 32,
    mistake: str | None = None,
    feed_forward: bool = False,
    shuffled: bool = False,
    steps: int = 500,
    seed: int = 0,
) -> tuple[OffsetModel, History]:
    """Train an `OffsetModel`; every step draws new letters.

    Parameters
    ----------
    heads, width, mistake, feed_forward
        See `OffsetModel`.
    shuffled : bool
        Learn the answers of another row: a control.
    steps : int
        Batches of 64 rows.
    seed : int
        Of the first weights and the letters.

    Returns
    -------
    model : OffsetModel
    history : History
    """
    shape = {"width": width, "mistake": mistake, "feed_forward": feed_forward}
    with seeded(seed):
        model = OffsetModel(heads, **shape)
    recipe = Recipe(steps=steps, batch=64, rate=1e-2)

    def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        while True:
            letters = offset_rows(recipe.batch, generator)
            yield letters, offset_answers(letters.roll(1, 0) if shuffled else letters)

    label, config = f"{heads} heads, seed {seed}", {**shape, "heads": heads, "shuffled": shuffled}
    history = trained(
        model, _loss, batches, recipe, seed=seed, label=label, config=config, module="offsets"
    )
    return model, history


class OffsetScore(NamedTuple):
    """How well the two letters are named.

    Attributes
    ----------
    both : float
        Share of places at which both are right.
    each : pair of floats
        Share of right letters: one before, three before.
    loss : float
        Cross-entropy in nats, over both.
    """

    both: float
    each: tuple[float, float]
    loss: float


@torch.no_grad()
def score_offsets(
    model: OffsetModel, *, removed: Sequence[int] = (), seed: int = 0, rows: int = 2_000
) -> OffsetScore:
    """Test a model on new letters.

    Parameters
    ----------
    model : OffsetModel
    removed : sequence of int
        Heads to leave out; nothing is trained again.
    seed : int
        Of the letters, which differ from all in training.
    rows : int
        How many.

    Returns
    -------
    OffsetScore
    """
    letters = _test_rows(seed, rows)
    logits, answers = model(letters, removed)[0], offset_answers(letters)
    right = logits.argmax(-1) == answers
    near, far = right.double().mean((0, 1)).tolist()
    loss = nn.functional.cross_entropy(logits.flatten(0, -2), answers.flatten())
    return OffsetScore(right.all(-1).double().mean().item(), (near, far), loss.item())


@torch.no_grad()
def average_maps(model: OffsetModel, *, seed: int = 0, rows: int = 500) -> Tensor:
    """Average each head's weights over new rows of letters.

    Parameters
    ----------
    model : OffsetModel
    seed, rows
        Of the letters, as in `score_offsets`.

    Returns
    -------
    (H, L, L)
        Rows are queries; only those from the fourth on were trained to look somewhere.

    Examples
    --------
    >>> average_maps(OffsetModel(heads=2), rows=3).shape
    torch.Size([2, 12, 12])
    """
    return model(_test_rows(seed, rows))[1].weights.mean(0)


def _test_rows(seed: int, rows: int) -> Tensor:
    return offset_rows(rows, torch.Generator().manual_seed(1_000_000 + seed))


def _loss(model: OffsetModel, batch: tuple[Tensor, Tensor]) -> Tensor:
    letters, answers = batch
    logits, _ = model(letters, need_weights=False)
    return nn.functional.cross_entropy(logits.flatten(0, -2), answers.flatten())

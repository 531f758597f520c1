"""A stack of attention blocks in which the norm can be exchanged: what does the choice change?"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .attention import SelfAttention
from .data.votes import CANDIDATES, SIDES, SIGNS, Votes, dice, votes
from .masks import causal_mask, padding_mask
from .norms import BatchNorm, LayerNorm
from .training import History, Recipe, seeded, trained

__all__ = [
    "NORMS",
    "Block",
    "DiceScore",
    "Stack",
    "exchanged_loss",
    "guess_loss",
    "moved_by_others",
    "score_dice",
    "score_votes",
    "train_dice",
    "train_votes",
]


class _Turned(BatchNorm):
    """Batch norm for tokens (B, L, D), which it turns to (B, D, L) and back."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


NORMS: dict[str, Callable[[int, int], nn.Module]] = {
    "none": lambda length, width: nn.Identity(),
    "LayerNorm(D)": lambda length, width: LayerNorm(width),
    "LayerNorm([L, D])": lambda length, width: LayerNorm((length, width)),
    "BatchNorm1d(D)": lambda length, width: _Turned(width),
    "BatchNorm1d(L)": lambda length, width: BatchNorm(length),
}


class Block(nn.Module):
    """Self-attention and a small network, each added to what went in and then normalised.

    Parameters
    ----------
    norm : str
        A name in `NORMS`.
    length, width : int
        L and D of the tokens.

    References
    ----------
    Vaswani et al. (2017), section 3.1: the norm stands *after* the sum.

    Examples
    --------
    >>> Block("LayerNorm(D)", 5, 8)(torch.zeros(2, 5, 8)).shape
    torch.Size([2, 5, 8])
    """

    def __init__(self, norm: str, length: int, width: int) -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm: expected one of {', '.join(NORMS)}; got {norm!r}")
        self.attention = SelfAttention(width)
        self.output_layer = nn.Linear(width, width)
        self.network = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )
        self.norms = nn.ModuleList(NORMS[norm](length, width) for _ in range(2))

    def forward(self, x: Tensor, attn_mask: Tensor | None = None) -> Tensor:
        """Map tokens (B, L, D) to tokens; in the mask True = may attend."""
        x = self.norms[0](x + self.output_layer(self.attention(x, attn_mask).output))
        return self.norms[1](x + self.network(x))


class Stack(nn.Module):
    """Several blocks with one kind of norm, which count votes or guess dice.

    Parameters
    ----------
    norm : str
        A name in `NORMS`.
    task : str
        "votes": padding is hidden, and the mean over the papers is read. "dice": positions are
        added, a causal mask hides what comes later, and every position is read.
    length : int
        L.
    width, layers : int
        D, and how many blocks.
    gain : float
        What the blocks' first matrices are multiplied by. Torch draws them small, with variance
        1 / (3 · in); √3 makes it 1 / in, so that a dense layer keeps the size of its input.

    Raises
    ------
    ValueError
        If there is no such norm or task.

    Examples
    --------
    >>> Stack("none", "dice", 5)(torch.zeros(2, 5, dtype=torch.long)).shape
    torch.Size([2, 5, 10])
    """

    def __init__(
        self,
        norm: str,
        task: str,
        length: int,
        *,
        width: int = 32,
        layers: int = 2,
        gain: float = 1.0,
    ) -> None:
        super().__init__()
        if task not in ("votes", "dice"):
            raise ValueError(f"task: expected votes or dice, got {task!r}")
        self.causal = task == "dice"
        self.words = nn.Embedding(SIDES if self.causal else SIGNS, width)
        self.positions = nn.Embedding(length, width) if self.causal else None
        self.blocks = nn.ModuleList(Block(norm, length, width) for _ in range(layers))
        self.output_layer = nn.Linear(width, SIDES if self.causal else CANDIDATES)
        with torch.no_grad():
            for layer in self.blocks.modules():
                if isinstance(layer, nn.Linear):
                    layer.weight.mul_(gain)

    def states(self, ids: Tensor) -> list[Tensor]:
        """Return the tokens (B, L, D) as they go in, and after each block.

        Parameters
        ----------
        ids : (B, L) integers
        """
        x = self.words(ids)
        if self.positions is not None:
            x = x + self.positions.weight[: ids.shape[1]]
        return self.pass_on(x, ids)

    def pass_on(self, x: Tensor, ids: Tensor) -> list[Tensor]:
        """Return tokens (B, L, D) and what each block makes of them."""
        attn_mask = causal_mask(ids.shape[1]) if self.causal else padding_mask(ids)
        states = [x]
        for block in self.blocks:
            states.append(block(states[-1], attn_mask))
        return states

    def forward(self, ids: Tensor) -> Tensor:
        """Return logits: (B, candidates) for votes, (B, L, sides) for dice.

        Parameters
        ----------
        ids : (B, L) integers
        """
        x = self.states(ids)[-1]
        if self.causal:
            return self.output_layer(x)
        papers = (ids != 0).to(x.dtype).unsqueeze(-1)
        return self.output_layer((x * papers).sum(1) / papers.sum(1))


# --- votes ------------------------------------------------------------------------------------


def train_votes(
    norm: str,
    seed: int = 0,
    *,
    batch: int = 32,
    layers: int = 2,
    gain: float = 1.0,
    steps: int = 300,
    rate: float = 3e-3,
    length: int = 12,
) -> tuple[Stack, History]:
    """Train a `Stack` to name the winner.

    Parameters
    ----------
    norm : str
        A name in `NORMS`.
    seed : int
        Of the first weights and the boxes.
    batch, layers, gain, steps, rate, length
        Boxes in a batch; blocks, and their `gain`; batches; the learning rate; room for papers.

    Returns
    -------
    model : Stack
    history : History
    """
    draw, recipe = partial(votes, length=length), Recipe(steps, batch, rate)
    shape = {"length": length, "layers": layers, "gain": gain}
    return _train(norm, "votes", seed, _votes_loss, draw, recipe, shape)


@torch.no_grad()
def score_votes(
    model: Stack, seed: int = 0, *, batch: int = 32, training: bool = False, boxes: int = 1024
) -> float:
    """Test on new boxes.

    Parameters
    ----------
    model : Stack
        Left as it was.
    seed : int
        Of the boxes.
    batch : int
        How many are read at once; in evaluation it does not matter.
    training : bool
        Whether batch norm takes its statistics from each batch, as in training.
    boxes : int
        How many.

    Returns
    -------
    float
        The share of winners named rightly.
    """
    test = votes(boxes, _test_generator(seed))
    with _mode(model, training):
        logits = torch.cat([model(ids) for ids in test.ids.split(batch)])
    return (logits.argmax(1) == test.winner).float().mean().item()


@torch.no_grad()
def moved_by_others(model: Stack, ids: Tensor, others: Tensor) -> float:
    """Exchange all other rows of a batch: how far do the logits of the first row move?

    Parameters
    ----------
    model : Stack
        Asked as in training, and left as it was.
    ids : (B, L) integers
        A batch.
    others : (B - 1, L) integers
        What stands in place of its other rows.

    Returns
    -------
    float
        The largest change of a logit.
    """
    with _mode(model, training=True):
        before, after = model(ids)[0], model(torch.cat([ids[:1], others]))[0]
    return (before - after).abs().max().item()


# --- dice -------------------------------------------------------------------------------------


def train_dice(
    norm: str, seed: int = 0, *, batch: int = 16, steps: int = 600, length: int = 8
) -> tuple[Stack, History]:
    """Train a `Stack` with a causal mask to guess the next throw.

    Parameters
    ----------
    norm : str
        A name in `NORMS`.
    seed : int
        Of the first weights and the throws.
    batch, steps, length
        Rows in a batch; batches; L.

    Returns
    -------
    model : Stack
    history : History
    """
    draw, recipe = partial(dice, length=length + 1), Recipe(steps, batch)
    return _train(norm, "dice", seed, guess_loss, draw, recipe, {"length": length})


def guess_loss(model: Stack, throws: Tensor) -> Tensor:
    """Return the mean loss of guessing each throw from those before it.

    Parameters
    ----------
    model : Stack
    throws : (B, L + 1) integers

    Returns
    -------
    scalar tensor
        In nats; ln 10 = 2.303 for a guess that knows nothing.
    """
    return nn.functional.cross_entropy(model(throws[:, :-1]).flatten(0, 1), throws[:, 1:].flatten())


def exchanged_loss(model: Stack, throws: Tensor, others: Tensor) -> Tensor:
    """Return the same loss when, at each position, all later throws are exchanged.

    A model that obeys its mask can't notice.

    Parameters
    ----------
    model : Stack
    throws, others : (B, L + 1) integers
        What is guessed; and what stands in the input after the position that guesses.

    Returns
    -------
    scalar tensor
    """
    losses = []
    for place in range(throws.shape[1] - 1):
        seen = torch.cat([throws[:, : place + 1], others[:, place + 1 : -1]], dim=1)
        guess = model(seen)[:, place]
        losses.append(nn.functional.cross_entropy(guess, throws[:, place + 1]))
    return torch.stack(losses).mean()


class DiceScore(NamedTuple):
    """Losses on new throws; no honest one is below ln 10 = 2.303.

    Attributes
    ----------
    training : float
        With the statistics of each batch, as in training.
    exchanged : float
        The same, with the throws after each position exchanged for others.
    evaluation : float
        With running statistics.
    """

    training: float
    exchanged: float
    evaluation: float


@torch.no_grad()
def score_dice(model: Stack, seed: int = 0, *, batch: int = 16, rows: int = 128) -> DiceScore:
    """Test on new throws.

    Parameters
    ----------
    model : Stack
        Left as it was.
    seed : int
        Of the throws.
    batch : int
        Rows read at once: of the same size as in training.
    rows : int
        How many.

    Returns
    -------
    DiceScore
    """
    generator = _test_generator(seed)
    length = model.positions.num_embeddings + 1
    throws, others = (dice(rows, generator, length=length) for _ in range(2))
    parts = list(zip(throws.split(batch), others.split(batch), strict=True))
    with _mode(model, training=True):
        training = torch.stack([guess_loss(model, a) for a, _ in parts]).mean()
        exchanged = torch.stack([exchanged_loss(model, a, b) for a, b in parts]).mean()
    with _mode(model, training=False):
        evaluation = guess_loss(model, throws)
    return DiceScore(training.item(), exchanged.item(), evaluation.item())


# --- small steps ------------------------------------------------------------------------------


def _train(
    norm: str,
    task: str,
    seed: int,
    loss: Callable[[Stack, Any], Tensor],
    draw: Callable[[int, torch.Generator], Any],
    recipe: Recipe,
    shape: dict[str, Any],
) -> tuple[Stack, History]:
    """Make a stack and train it on batches as `draw` makes them, or load it."""
    with seeded(seed):
        model = Stack(norm, task, **shape)

    def batches(generator: torch.Generator) -> Iterator[Any]:
        while True:
            yield draw(recipe.batch, generator)

    label, config = f"{norm}, {task}, seed {seed}", {"norm": norm, "task": task, **shape}
    history = trained(
        model, loss, batches, recipe, seed=seed, label=label, config=config, module="stack"
    )
    return model, history


def _votes_loss(model: Stack, box: Votes) -> Tensor:
    return nn.functional.cross_entropy(model(box.ids), box.winner)


def _test_generator(seed: int) -> torch.Generator:
    """Draw what no training has drawn."""
    return torch.Generator().manual_seed(1_000_000 + seed)


@contextmanager
def _mode(model: nn.Module, training: bool) -> Iterator[None]:
    """Ask in one mode, and put back mode and running statistics."""
    before = model.training
    kept = {name: buffer.clone() for name, buffer in model.named_buffers()}
    model.train(training)
    try:
        yield
    finally:
        model.train(before)
        with torch.no_grad():
            for name, buffer in model.named_buffers():
                buffer.copy_(kept[name])

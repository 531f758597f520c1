"""Captioning: a picture goes in, words come out, and in between somebody looks.

The framework is that of `recurrent`; only the encoder is another. A small convolutional network
turns each cell of a scene into a vector. The decoder gets their mean (a fixed context), a weighted
mean for each word (soft attention), or one cell for each word (hard attention). A cell is drawn by
chance, and no gradient passes through a draw: where to look is learned from reward.

K. Xu et al., *Show, Attend and Tell: Neural Image Caption Generation with Visual Attention*, ICML
2015; in contrast to it the decoder starts from zeros, so that it knows of a picture only what it
has looked at.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .attention import attention_weights
from .data.digits import digits
from .data.scenes import DIGITS, WORDS, Scenes, arrange, cells, scenes
from .glimpse import policy_loss
from .recurrent import (
    AdditiveContext,
    Decoder,
    Encoded,
    EncoderDecoder,
    FixedContext,
    Look,
    naming_loss,
    shifted,
)
from .training import History, Recipe, seeded, trained

__all__ = [
    "CONTEXTS",
    "CaptionScore",
    "GivenContext",
    "HardContext",
    "PictureEncoder",
    "TemperedContext",
    "looking_loss",
    "score_captioner",
    "train_captioner",
]

STEPS = {"mean": 600, "soft": 600, "hard": 800}  # of training, unless told otherwise
CONTEXTS = tuple(STEPS)
DRAWS = 2  # how often each picture is captioned in a step, while hard attention learns
SHARE = 0.3  # how much the reward counts beside the naming of what was seen
CURIOSITY = 0.3  # what a nat of entropy is worth at first; nothing from 0.4 of the steps on


class PictureEncoder(nn.Module):
    """Look at each cell of a scene by itself.

    Parameters
    ----------
    side : {3, 4}
        How many cells each way.
    width : int
        D of the states.

    Raises
    ------
    ValueError
        If there is no such grid.

    Examples
    --------
    >>> encoded = PictureEncoder(side=3)(torch.zeros(2, 24, 24))
    >>> encoded.states.shape, encoded.last.shape
    (torch.Size([2, 9, 32]), torch.Size([2, 32]))
    """

    def __init__(self, side: int = 4, width: int = 32) -> None:
        super().__init__()
        if side not in DIGITS:
            raise ValueError(f"side: expected {' or '.join(map(str, DIGITS))}, got {side!r}")
        self.side, self.width = side, width
        self.see = nn.Sequential(
            nn.Conv2d(1, 32, 4, stride=2),  # 3 × 3 patches of a cell, half of each shared
            nn.ReLU(),
            nn.Flatten(),
            nn.Dropout(0.2),  # 1,400 digits are soon learned by heart
            nn.Linear(9 * 32, 128),
            nn.ReLU(),
            nn.Linear(128, width),
            nn.ReLU(),
        )
        self.places = nn.Parameter(0.1 * torch.randn(side * side, width))

    def forward(self, images: Tensor) -> Encoded:
        """Read images (B, 8 side, 8 side), pixels from 0 to 1.

        Returns
        -------
        Encoded
            `values` (B, S, D): what is in each cell; `states`: that and where it is; `last` (B, D):
            the plain mean of the values, all that a fixed context gets.

        Raises
        ------
        ValueError
            If an image has another size, or a pixel is not a number from 0 to 1.
        """
        parts = cells(images, self.side)
        values = self.see(parts.flatten(0, 1).unsqueeze(1)).unflatten(0, parts.shape[:2])
        everywhere = torch.ones(values.shape[:2], dtype=torch.bool)
        return Encoded(values + self.places, values, values.mean(1), everywhere)


class HardContext(AdditiveContext):
    """One cell for each word: the scores of `AdditiveContext`, but a choice and no mean.

    Soft attention is a mean over all cells. This draws one of them with the weights as its
    probabilities, and so looks at one thing at a time.

    Parameters
    ----------
    query_width, key_width, values_width, hidden
        See `AdditiveContext`.
    returning : bool
        Whether a cell may be looked at again. If not, those that were seen drop out of the softmax
        (inhibition of return). A value tells what is in a cell and not where: a gaze that returns
        can't tell a second 3 from the first one.

    Examples
    --------
    >>> encoded = PictureEncoder(side=3)(torch.rand(2, 24, 24))
    >>> seen = HardContext(6, 32)(encoded)(torch.zeros(2, 6))
    >>> torch.equal(seen.context, encoded.values[torch.arange(2), seen.choice])
    True
    """

    def __init__(
        self,
        query_width: int,
        key_width: int,
        values_width: int | None = None,
        hidden: int = 32,
        *,
        returning: bool = False,
    ) -> None:
        super().__init__(query_width, key_width, values_width, hidden)
        self.returning = returning

    def forward(
        self, encoded: Encoded, generator: torch.Generator | None = None
    ) -> Callable[[Tensor], Look]:
        """Return what answers a query (B, query_width).

        Parameters
        ----------
        encoded : Encoded
        generator : torch.Generator, optional
            Where chance comes from. Without one the likeliest cell is chosen.

        Returns
        -------
        function of a query
            It remembers where it has looked: ask it once for each word, in order.
        """
        rows = torch.arange(len(encoded.states))
        free = encoded.attn_mask

        def look(query: Tensor) -> Look:
            nonlocal free
            soft = super(HardContext, self).forward(encoded._replace(attn_mask=free))
            weights = soft(query).weights
            if generator is None:
                choice = weights.argmax(1)
            else:
                choice = torch.multinomial(weights.detach(), 1, generator=generator).squeeze(1)
            if not self.returning:
                free = free.scatter(1, choice[:, None], False)
                free = torch.where(free.any(1, keepdim=True), free, encoded.attn_mask)  # start over
            return Look(encoded.values[rows, choice], weights, choice)

        return look


class TemperedContext(nn.Module):
    """Any soft attention at another temperature: softmax(scores / temperature).

    It is made for a model that was trained at 1. Below 1 the weights move towards a hard choice of
    the highest score, above 1 towards equal weights.

    Parameters
    ----------
    context : nn.Module
        Such as an `AdditiveContext`.
    temperature : float
        Above 0.

    Raises
    ------
    ValueError
        If the temperature is not above 0.

    Examples
    --------
    >>> encoded = PictureEncoder(side=3)(torch.rand(1, 24, 24))
    >>> soft = AdditiveContext(6, 32)
    >>> round(TemperedContext(soft, 1e-6)(encoded)(torch.zeros(1, 6)).weights.max().item(), 3)
    1.0
    """

    def __init__(self, context: nn.Module, temperature: float = 1.0) -> None:
        super().__init__()
        if not temperature > 0:
            raise ValueError(f"temperature: expected a number above 0, got {temperature}")
        self.context, self.temperature = context, temperature

    def forward(self, encoded: Encoded) -> Callable[[Tensor], Look]:
        """Return what answers a query (B, query_width)."""
        inner = self.context(encoded)

        def look(query: Tensor) -> Look:
            weights = inner(query).weights
            # log softmax differs from the scores by one number a row, which softmax ignores
            weights = attention_weights(weights.log() / self.temperature, weights > 0)
            return Look((weights.unsqueeze(1) @ encoded.values).squeeze(1), weights)

        return look


class GivenContext(nn.Module):
    """Look as told, whatever is asked: a control that takes the gaze out of a model's hands.

    Parameters
    ----------
    weights : (B, L, S)
        For each word how much every cell counts.

    Examples
    --------
    >>> encoded = PictureEncoder(side=3)(torch.rand(1, 24, 24))
    >>> look = GivenContext(torch.full((1, 1, 9), 1 / 9))(encoded)
    >>> torch.allclose(look(torch.zeros(1, 6)).context, encoded.last)
    True
    """

    def __init__(self, weights: Tensor) -> None:
        super().__init__()
        self.weights = weights

    def forward(self, encoded: Encoded) -> Callable[[Tensor], Look]:
        """Return what answers L queries, one after another.

        Raises
        ------
        ValueError
            If the weights belong to other pictures.
        """
        batch, size = encoded.attn_mask.shape
        if self.weights.ndim != 3 or self.weights.shape[::2] != (batch, size):
            raise ValueError(
                f"weights: expected ({batch}, L, {size}), got {tuple(self.weights.shape)}"
            )
        words = iter(self.weights.unbind(1))

        def look(query: Tensor) -> Look:
            weights = next(words)
            return Look((weights.unsqueeze(1) @ encoded.values).squeeze(1), weights)

        return look


def looking_loss(log_probs: Tensor, words: Tensor, draws: int) -> Tensor:
    """Return a loss whose gradient teaches where to look, from several tries at each picture.

    The reward of a try is the log-probability of all its right words, R = r_1 + … + r_L. Its mean
    over the draws, Σ π(z) log p(words | z), is a lower bound of log p(words): by Jensen, the log of
    a mean is no less than the mean of the logs. `glimpse.policy_loss` makes it rise.

    What a choice can't change does not belong into its advantage. So the baseline of choice i is

    - r_1 + … + r_{i-1}: these words were written before it,
    - and the mean of r_i + … + r_L over the *other* tries at the same picture.

    Both were fixed before cell i was drawn, or apart from it: the mean of the gradient stays the
    same, its noise becomes less.

    Parameters
    ----------
    log_probs : (B · draws, L)
        Of the cells that were drawn; the tries at one picture stand together.
    words : (B · draws, L)
        Log-probability of each right word.
    draws : int
        Tries at each picture, 2 or more.

    Returns
    -------
    scalar
        Only its gradient means something.

    Raises
    ------
    ValueError
        If there are fewer than 2 draws, or they do not divide the batch.

    Examples
    --------
    >>> log_probs = torch.zeros(2, 1, requires_grad=True)
    >>> looking_loss(log_probs, torch.tensor([[-1.0], [-3.0]]), draws=2).backward()
    >>> log_probs.grad.flatten()  # downhill: the better of two tries becomes likelier
    tensor([-1.,  1.])
    """
    if draws < 2 or len(words) % draws:
        raise ValueError(f"draws: expected 2 or more, a divisor of {len(words)}; got {draws}")
    future = words.flip(1).cumsum(1).flip(1)
    tries = future.unflatten(0, (-1, draws))
    others = (tries.sum(1, keepdim=True) - tries).flatten(0, 1) / (draws - 1)
    reward = future[:, 0]
    return policy_loss(log_probs, reward, reward[:, None] - future + others)


class CaptionScore(NamedTuple):
    """How well a model wrote, and where it looked.

    Attributes
    ----------
    exact : float
        Share of captions without a mistake, the end included; written freely.
    words : float
        Share of digits that are named rightly in their place; written freely.
    peak : float
        Share of words whose largest weight is on the very cell they name. The gaze is taken with
        the right words before each word. Equal weights share the peak, so a mean over all cells
        (which has no weights) scores chance, 1/S.
    peak_or_twin : float
        The same, but any cell with that digit will do.
    mass : float
        Mean weight on the very cell; 1/S for a mean over all cells.
    """

    exact: float
    words: float
    peak: float
    peak_or_twin: float
    mass: float


def train_captioner(
    seed: int = 0,
    *,
    context: str = "soft",
    side: int = 4,
    steps: int | None = None,
    shuffled: bool = False,
    returning: bool = False,
) -> tuple[EncoderDecoder, History]:
    """Train a captioner, or load it if it was trained before.

    Parameters
    ----------
    seed : int
        Of the first weights, the scenes, and the cells that are tried out.
    context : {"mean", "soft", "hard"}
        What the decoder gets for each word.
    side : {3, 4}
        Scenes of 3 × 3 cells with four digits, or of 4 × 4 with five.
    steps : int, optional
        Batches of 64 scenes, each made for it; with 0 it stays untrained. If not given, 600, or
        800 for hard attention: where to look is learned from reward, and that takes longer.
    shuffled : bool
        Whether the digits' labels are dealt out at random: a control that has nothing to learn.
    returning : bool
        See `HardContext`; the other contexts do not know it.

    Returns
    -------
    model : EncoderDecoder
        In evaluation mode.
    history : History

    Raises
    ------
    ValueError
        If the model can't be made so.
    """
    if context not in CONTEXTS:
        raise ValueError(f"context: expected one of {', '.join(CONTEXTS)}; got {context!r}")
    if returning and context != "hard":
        raise ValueError(f"returning: expected False unless context is 'hard', got {context!r}")
    steps = STEPS[context] if steps is None else steps
    recipe = Recipe(steps=steps, batch=64, rate=1.2e-2, warmup=50, decay=0.5)

    def batches(generator: torch.Generator) -> Iterator[tuple[Scenes, torch.Generator, float]]:
        images, labels = digits("training")
        if shuffled:
            labels = labels[torch.randperm(len(labels), generator=generator)]
        for step in count():
            rows = torch.randint(len(labels), (recipe.batch, DIGITS[side]), generator=generator)
            bonus = CURIOSITY * max(0.0, 1 - step / (0.4 * steps))
            yield arrange(images[rows], labels[rows], generator, side), generator, bonus

    label = f"{context}, {side} × {side}, seed {seed}"
    config = {"context": context, "side": side, "shuffled": shuffled, "returning": returning}
    with seeded(seed):  # the training, too: dropout draws from torch's own numbers
        model = _made(context, side, returning).eval()
        how = {"seed": seed, "label": label, "config": config, "module": "captioning"}
        history = trained(model, _loss, batches, recipe, **how)
    return model, history


@torch.no_grad()
def score_captioner(
    model: EncoderDecoder, seed: int = 0, *, weights: Tensor | None = None, count: int = 2000
) -> CaptionScore:
    """Test a captioner on scenes of digits it has never seen.

    Parameters
    ----------
    model : EncoderDecoder
        With a `PictureEncoder`.
    seed : int
        Of the scenes: those of ``scenes("test", seed, count=count, side=model.encoder.side)``.
    weights : (count, K + 1, S), optional
        Look as told, instead of where the model would.
    count : int
        How many scenes.

    Returns
    -------
    CaptionScore

    Raises
    ------
    ValueError
        If there is no scene, or the weights do not fit.
    """
    test = scenes("test", seed, count=count, side=model.encoder.side)
    batch, length, size = len(test.target), test.target.shape[1], model.encoder.side**2
    if weights is not None:
        if weights.shape != (batch, length, size):
            raise ValueError(
                f"weights: expected {(batch, length, size)}, got {tuple(weights.shape)}"
            )
        model = EncoderDecoder(model.encoder, GivenContext(weights), model.decoder)
    written = model.write(test.images, length).ids
    right = nn.functional.pad(written, (0, length - written.shape[1])) == test.target
    seen = model(test.images, test.target).weights
    if seen is None:
        seen = torch.full((batch, length, size), 1 / size)
    seen = seen[:, :-1]  # the end names nothing
    named = test.target[:, :-1]
    there = torch.zeros(batch, size, dtype=torch.long).scatter(1, test.gold, named)
    peaks = (seen == seen.amax(-1, keepdim=True)).float()
    peaks = peaks / peaks.sum(-1, keepdim=True)
    return CaptionScore(
        right.all(1).float().mean().item(),
        right[:, :-1].float().mean().item(),
        peaks.gather(2, test.gold[..., None]).mean().item(),
        (peaks * (there[:, None] == named[..., None])).sum(-1).mean().item(),
        seen.gather(2, test.gold[..., None]).mean().item(),
    )


def _made(context: str, side: int, returning: bool) -> EncoderDecoder:
    encoder = PictureEncoder(side)
    decoder = Decoder(len(WORDS), encoder.width, 64, embedding=16)
    if context == "mean":
        return EncoderDecoder(encoder, FixedContext(encoder.width, "last"), decoder)
    if context == "soft":
        return EncoderDecoder(encoder, AdditiveContext(decoder.width, encoder.width), decoder)
    hard = HardContext(decoder.width, encoder.width, returning=returning)
    return EncoderDecoder(encoder, hard, decoder)


def _loss(model: EncoderDecoder, batch: tuple[Scenes, torch.Generator, float]) -> Tensor:
    """Name what is seen, by backpropagation; if the gaze is hard, learn from reward where to look.

    The entropy keeps the gaze curious until it knows better.
    """
    (images, target, _), generator, bonus = batch
    if not isinstance(model.context, HardContext):
        return naming_loss(model(images, target).logits, target)
    # each picture is encoded once, and captioned several times
    encoded = Encoded(*(part.repeat_interleave(DRAWS, 0) for part in model.encoder(images)))
    target = target.repeat_interleave(DRAWS, 0)
    seen = model.decoder(shifted(target), model.context(encoded, generator))
    words = -nn.functional.cross_entropy(seen.logits.mT, target, reduction="none")
    chosen = seen.weights.gather(2, seen.choices[..., None]).squeeze(2)
    looking = looking_loss(chosen.log(), words, DRAWS) / target.shape[1]  # for each word, as naming
    # A weight can be 0, where the slope of the logarithm has no end.
    entropy = -(seen.weights * seen.weights.clamp_min(1e-30).log()).sum(-1)
    return -words.mean() + SHARE * looking - bonus * entropy.mean()

"""A model that has to choose where to look: a recurrent model of visual attention.

It never gets the whole canvas. It sees a small sharp patch where its gaze is and a blurred gist of
the surroundings, remembers, and decides where the gaze goes next: V. Mnih, N. Heess, A. Graves and
K. Kavukcuoglu, *Recurrent Models of Visual Attention*, NeurIPS 2014. What the digit is, is learned
by backpropagation. Where to look can't be: a gaze is drawn by chance, and no gradient passes
through a draw. It is learned from reward (`policy_loss`).
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Normal

from .data.digits import CANVAS, DIGIT, canvases, checked, digits, place
from .training import History, Recipe, seeded, trained

__all__ = [
    "GlimpseModel",
    "GlimpseScore",
    "Glimpses",
    "glimpse",
    "pixels",
    "policy_loss",
    "score_glimpse",
    "train_glimpse",
]

GAZES = ("learned", "random", "centre")
REACH = (CANVAS - DIGIT) / (CANVAS - 1)  # digits' middles lie between gazes -REACH and REACH


def pixels(gaze: Tensor) -> Tensor:
    """Return where a gaze is on the canvas.

    Parameters
    ----------
    gaze : (..., 2)
        Row and column; -1 is the middle of the first pixel, 1 the middle of the last.

    Returns
    -------
    place : (..., 2)
        Row and column, from 0 to 23.

    Examples
    --------
    >>> pixels(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([ 0.0000, 11.5000, 23.0000])
    """
    return (gaze + 1) / 2 * (CANVAS - 1)


def glimpse(images: Tensor, gaze: Tensor, coarse: int = 4) -> tuple[Tensor, Tensor]:
    """See a canvas from one gaze: sharp in the middle, blurred around it.

    Both are squares around the gaze. What lies outside the canvas is dark; between two pixels
    the sensor sees their mixture.

    Parameters
    ----------
    images : (B, 24, 24)
        Canvases, pixels from 0 to 1.
    gaze : (B, 2)
        Row and column, each from -1 to 1, as in `pixels`.
    coarse : int
        How many cells the gist has each way; it must divide 24.

    Returns
    -------
    fine : (B, 8, 8)
        The pixels nearest to the gaze.
    gist : (B, coarse, coarse)
        A field of 24×24 pixels around the gaze; each cell is the mean of a block.

    Raises
    ------
    ValueError
        If a shape does not fit, a pixel is not from 0 to 1, or a gaze is outside the canvas.

    Examples
    --------
    >>> fine, gist = glimpse(torch.ones(1, 24, 24), torch.tensor([[-1.0, -1.0]]))
    >>> fine[0, 0, 0].item(), fine[0, 7, 7].item()  # outside, inside
    (0.0, 1.0)
    """
    images = checked(images, CANVAS)
    gaze = _checked_gaze(gaze, (len(images), 2))
    _check_coarse(coarse)
    return _sense(images, gaze, coarse)


def policy_loss(log_probs: Tensor, reward: Tensor, baselines: Tensor) -> Tensor:
    """Return a loss whose gradient teaches where to look: REINFORCE.

    The reward to expect is J = Σ π(g) R(g), over all gazes g. Its gradient needs none of R, for
    ∇π = π ∇log π::

        ∇J = Σ R(g) ∇π(g) = Σ π(g) R(g) ∇log π(g) = E[R ∇log π]

    and a batch of drawn gazes estimates that mean. A baseline b that does not depend on the gaze
    may be taken from R: on average it changes nothing, E[b ∇log π] = b ∇Σ π(g) = b ∇1 = 0, but it
    makes the estimate less noisy.

    Parameters
    ----------
    log_probs : (B, choices)
        Of the gazes that were drawn.
    reward : (B,)
        What they led to.
    baselines : (B, choices)
        What was expected before each.

    Returns
    -------
    loss : scalar
        Only its gradient means something, not its value.

    Notes
    -----
    R. J. Williams, *Simple statistical gradient-following algorithms for connectionist
    reinforcement learning*, Machine Learning 8 (1992).

    Examples
    --------
    >>> log_probs = torch.zeros(1, 2, requires_grad=True)
    >>> policy_loss(log_probs, torch.ones(1), torch.tensor([[0.5, 2.0]])).backward()
    >>> log_probs.grad  # descent raises the first (better than expected), lowers the second
    tensor([[-0.5000,  1.0000]])
    """
    advantage = (reward[:, None] - baselines).detach()
    # J is to rise, but an optimizer goes downhill: hence the minus. Choices of one canvas are
    # summed (their probabilities multiply), canvases averaged.
    return -(advantage * log_probs).sum(1).mean()


class Glimpses(NamedTuple):
    """What a `GlimpseModel` did, stage by stage; T glimpses.

    Attributes
    ----------
    gazes : (B, T, 2)
        Where it looked, row and column from -1 to 1; first in the middle, unless told otherwise.
    fine : (B, T, 8, 8)
        What it saw there.
    gist : (B, T, coarse, coarse)
        What it saw around it.
    logits : (B, T, 10)
        A score for each digit after each glimpse.
    means : (B, T - 1, 2)
        Where the policy wanted each next gaze.
    log_probs : (B, T - 1)
        Log of the policy's density at the gaze that was taken.
    baselines : (B, T - 1)
        The reward that was expected before each choice.
    """

    gazes: Tensor
    fine: Tensor
    gist: Tensor
    logits: Tensor
    means: Tensor
    log_probs: Tensor
    baselines: Tensor

    @property
    def beliefs(self) -> Tensor:
        """Return the probability of each digit after each glimpse, (B, T, 10)."""
        return self.logits.softmax(-1)


class GlimpseModel(nn.Module):
    """Look a few times, then say which digit it is.

    Parameters
    ----------
    gaze : {"learned", "random", "centre"}
        How the gaze moves. The two others are controls: anywhere that a digit's middle can be, or
        nowhere.
    coarse : int
        How many cells the gist has each way.
    glimpses : int
        T.
    width : int
        Of the memory.
    spread : float
        The standard deviation of a learned gaze while it is being tried out.

    Raises
    ------
    ValueError
        If there is no such way of looking, no glimpse, or `coarse` does not divide 24.

    Examples
    --------
    >>> seen = GlimpseModel()(torch.zeros(2, 24, 24))
    >>> seen.gazes.shape, seen.beliefs.shape
    (torch.Size([2, 3, 2]), torch.Size([2, 3, 10]))
    """

    def __init__(
        self,
        gaze: str = "learned",
        *,
        coarse: int = 4,
        glimpses: int = 3,
        width: int = 64,
        spread: float = 0.15,
    ) -> None:
        super().__init__()
        _check_way(gaze)
        _check_coarse(coarse)
        if glimpses < 1:
            raise ValueError(f"glimpses: expected 1 or more, got {glimpses}")
        self.gaze, self.coarse, self.glimpses, self.spread = gaze, coarse, glimpses, spread
        self.see = nn.Sequential(nn.Linear(DIGIT**2, 64), nn.ReLU())
        self.sense = nn.Sequential(nn.Linear(coarse**2, 32), nn.ReLU())
        self.feel = nn.Sequential(nn.Linear(2, 16), nn.ReLU())  # where the gaze itself is
        self.join = nn.Sequential(nn.Linear(64 + 32 + 16, width), nn.ReLU())
        self.core = nn.GRUCell(width, width)
        self.locate = nn.Linear(width, 2)
        self.expect = nn.Linear(width, 1)
        self.classify = nn.Linear(width, 10)

    def forward(
        self,
        images: Tensor,
        generator: torch.Generator | None = None,
        *,
        gaze: str | Tensor | None = None,
    ) -> Glimpses:
        """Look.

        Parameters
        ----------
        images : (B, 24, 24)
            Canvases, pixels from 0 to 1.
        generator : torch.Generator, optional
            Where chance comes from. Without one a learned gaze goes where the policy's mean is.
        gaze : str or (B, T, 2), optional
            Look in another way than the model was made for, or at given places.

        Returns
        -------
        Glimpses

        Raises
        ------
        ValueError
            If an image has another size, a pixel is not a number from 0 to 1, a gaze is outside
            the canvas, or a random gaze has no generator.
        """
        gaze = self.gaze if gaze is None else gaze
        images = checked(images, CANVAS)
        if isinstance(gaze, Tensor):
            gaze = _checked_gaze(gaze, (len(images), self.glimpses, 2))
        else:
            _check_way(gaze)
            if gaze == "random" and generator is None:
                raise ValueError("generator: a random gaze needs one, got None")
        memory = images.new_zeros(len(images), self.core.hidden_size)
        here = gaze[:, 0] if isinstance(gaze, Tensor) else images.new_zeros(len(images), 2)
        looks, choices = [], []
        for number in range(self.glimpses):
            fine, gist = _sense(images, here, self.coarse)
            parts = (self.see(fine.flatten(1)), self.sense(gist.flatten(1)), self.feel(here))
            memory = self.core(self.join(torch.cat(parts, 1)), memory)
            looks.append((here, fine, gist, self.classify(memory)))
            if number < self.glimpses - 1:
                policy = Normal(self.locate(memory).tanh(), self.spread, validate_args=False)
                taken = _choose(policy, gaze, number + 1, generator)
                # The baseline only reads the memory: what it expects must not shape what is kept.
                expected = self.expect(memory.detach()).squeeze(1)
                choices.append((policy.mean, policy.log_prob(taken).sum(1), expected))
                here = taken.clamp(-1, 1)  # the eye stops at the rim, wherever it was sent
        gazes, fine, gist, logits = (torch.stack(stage, 1) for stage in zip(*looks, strict=True))
        if not choices:
            none = images.new_zeros(len(images), 0)
            return Glimpses(gazes, fine, gist, logits, gazes[:, 1:], none, none)
        means, log_probs, baselines = (torch.stack(x, 1) for x in zip(*choices, strict=True))
        return Glimpses(gazes, fine, gist, logits, means, log_probs, baselines)


class GlimpseScore(NamedTuple):
    """How well a model looked.

    Attributes
    ----------
    accuracy : list of T floats
        Share of digits that are named rightly after each glimpse.
    distance : list of T floats
        From each gaze to the digit's middle, in pixels, on average.
    """

    accuracy: list[float]
    distance: list[float]


def train_glimpse(
    seed: int = 0,
    *,
    gaze: str = "learned",
    coarse: int = 4,
    steps: int = 2000,
    shuffled: bool = False,
) -> tuple[GlimpseModel, History]:
    """Train a `GlimpseModel`, or load it if it was trained before.

    Parameters
    ----------
    seed : int
        Of the first weights, the places of the digits, and the gazes that are tried out.
    gaze, coarse
        See `GlimpseModel`.
    steps : int
        Batches of 128 digits, each on a canvas that is drawn for it; with 0 it stays untrained.
    shuffled : bool
        Whether the labels are dealt out at random: a control that has nothing to learn.

    Returns
    -------
    model : GlimpseModel
        In evaluation mode.
    history : History

    Raises
    ------
    ValueError
        If the model can't be made so.
    """
    with seeded(seed):
        model = GlimpseModel(gaze, coarse=coarse).eval()
    recipe = Recipe(steps=steps, batch=128, rate=8e-3, warmup=300, decay=0.6)
    images, labels = digits("training")
    if shuffled:
        deal = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
        labels = labels[deal]

    def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor, torch.Generator]]:
        while True:
            rows = torch.randint(len(labels), (recipe.batch,), generator=generator)
            yield place(images[rows], generator)[0], labels[rows], generator

    label = f"{gaze} gaze, seed {seed}"
    config = {"gaze": gaze, "coarse": coarse, "shuffled": shuffled}
    history = trained(
        model, _loss, batches, recipe, seed=seed, label=label, config=config, module="glimpse"
    )
    return model, history


@torch.no_grad()
def score_glimpse(
    model: GlimpseModel, seed: int = 0, *, gaze: str | Tensor | None = None, copies: int = 5
) -> GlimpseScore:
    """Test a model on digits it has never seen, at places of their own.

    Parameters
    ----------
    model : GlimpseModel
        Where it may choose, it looks where its policy's mean is.
    seed : int
        Of the places, and of a random gaze.
    gaze : str or (397 copies, T, 2), optional
        Look in another way than the model was made for, or at given places.
    copies : int
        On how many canvases each of the 397 test digits is shown.

    Returns
    -------
    GlimpseScore

    Raises
    ------
    ValueError
        If there is no such way of looking, or no copy.
    """
    test = canvases("test", seed, copies=copies)
    gaze = model.gaze if gaze is None else gaze
    by_chance = isinstance(gaze, str) and gaze == "random"
    generator = torch.Generator().manual_seed(seed) if by_chance else None
    seen = model(test.images, generator, gaze=gaze)
    right = seen.logits.argmax(-1) == test.labels[:, None]
    away = pixels(seen.gazes) - pixels(test.centres)[:, None]
    return GlimpseScore(right.float().mean(0).tolist(), away.norm(dim=-1).mean(0).tolist())


def _loss(model: GlimpseModel, batch: tuple[Tensor, Tensor, torch.Generator]) -> Tensor:
    """Add up what is learned by backpropagation and what is learned from reward."""
    images, labels, generator = batch
    seen = model(images, generator)
    # It has to say what it believes after every glimpse, so that beliefs can be followed.
    answers = labels[:, None].expand(-1, model.glimpses)
    naming = nn.functional.cross_entropy(seen.logits.flatten(0, 1), answers.flatten())
    if model.gaze != "learned" or model.glimpses == 1:
        return naming
    # The paper rewards a right answer with 1. This is the mean of that if the answer were drawn
    # from the beliefs: the same wish, with less noise.
    reward = seen.beliefs[:, -1].detach().gather(1, labels[:, None]).squeeze(1)
    expecting = (seen.baselines - reward[:, None]).square().mean()
    return naming + expecting + policy_loss(seen.log_probs, reward, seen.baselines)


def _choose(
    policy: Normal, gaze: str | Tensor, number: int, generator: torch.Generator | None
) -> Tensor:
    """Return the next gaze, a number like any other: no gradient goes back through it."""
    mean = policy.mean.detach()
    if isinstance(gaze, Tensor):
        return gaze[:, number]
    if gaze == "centre":
        return torch.zeros_like(mean)
    if gaze == "random":
        return (torch.rand(mean.shape, generator=generator) * 2 - 1) * REACH
    if generator is None:
        return mean
    return mean + policy.stddev * torch.randn(mean.shape, generator=generator)


def _sense(images: Tensor, gaze: Tensor, coarse: int) -> tuple[Tensor, Tensor]:
    """Return fine patch and gist, unchecked.

    The canvas is moved until the gaze is in its middle. Each axis of that is one matrix, which
    says how much every pixel counts: two neighbours share what lies between them, and outside
    there is nothing.
    """
    pixel = torch.arange(CANVAS)
    where = pixels(gaze)[..., None] + pixel - (CANVAS - 1) / 2
    rows, columns = (1 - (where[..., None] - pixel).abs()).relu().unbind(1)
    field = rows @ images @ columns.mT
    middle = slice((CANVAS - DIGIT) // 2, (CANVAS + DIGIT) // 2)
    return field[:, middle, middle], nn.functional.avg_pool2d(field, CANVAS // coarse)


def _check_way(gaze: str) -> None:
    if gaze not in GAZES:
        raise ValueError(f"gaze: expected one of {', '.join(GAZES)}; got {gaze!r}")


def _check_coarse(coarse: int) -> None:
    if coarse < 1 or CANVAS % coarse:
        raise ValueError(f"coarse: expected a divisor of {CANVAS}, got {coarse}")


def _checked_gaze(gaze: Tensor, shape: tuple[int, ...]) -> Tensor:
    if gaze.shape != shape:
        raise ValueError(f"gaze: expected {shape}, got {tuple(gaze.shape)}")
    outside = ~(gaze.abs() <= 1)  # true for a NaN, too
    if outside.any():
        value = gaze[outside][0].item()
        raise ValueError(f"gaze: expected row and column from -1 to 1, got {value:g}")
    return gaze.float()

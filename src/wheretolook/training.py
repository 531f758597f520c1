"""One loop that trains every model of the book.

It takes a fixed number of steps, never a fixed time, and draws its batches from a seed: the same
seed gives the same history on the same machine.

A bar on stderr shows the progress in a terminal and in a notebook; ``WHERETOLOOK_PROGRESS=0``
hides it (the book's own build sets this). ``WHERETOLOOK_RETRAIN=1`` makes `remembered` forget.
A system of the book makes its model under `seeded` and calls `trained`.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from .cache import cache_folder, key

__all__ = ["History", "Recipe", "fit", "remembered", "seeded", "trained"]


@dataclass(frozen=True)
class Recipe:
    """How to train: AdamW with a warm-up, a plateau, and a linear decay.

    Attributes
    ----------
    steps : int
        How many batches, exactly.
    batch : int
        Examples in a batch.
    rate : float
        The learning rate on the plateau.
    warmup : int
        Steps until the plateau is reached.
    decay : float
        The share of the steps, at the end, over which the rate falls to a twentieth.
    weight_decay : float
        AdamW's.
    betas : pair of floats
        AdamW's: how slowly its averages move.
    """

    steps: int
    batch: int = 64
    rate: float = 3e-3
    warmup: int = 50
    decay: float = 0.4
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step (0 is the first).

        Examples
        --------
        >>> recipe = Recipe(steps=1000, rate=1.0)
        >>> [round(recipe.rate_at(step), 2) for step in (0, 49, 599, 800, 999)]
        [0.02, 1.0, 1.0, 0.5, 0.05]
        """
        rising = (step + 1) / max(self.warmup, 1)
        falling = (self.steps - step) / max(self.decay * self.steps, 1)
        return self.rate * min(1.0, rising, max(falling, 0.05))


@dataclass
class History:
    """What happened while a model was trained.

    Attributes
    ----------
    losses : list of float
        The loss of every step's batch.
    seconds : float
        CPU seconds of the loop.
    """

    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0


def fit(
    model: nn.Module,
    loss: Callable[[nn.Module, Any], Tensor],
    batches: Callable[[torch.Generator], Iterator[Any]],
    recipe: Recipe,
    *,
    seed: int = 0,
    label: str = "training",
    threads: int = 1,
) -> History:
    """Train a model in place.

    Parameters
    ----------
    model : nn.Module
        What to train.
    loss : function of a model and a batch
        Returns a scalar tensor.
    batches : function of a torch.Generator
        Returns an iterator that does not end, drawing from the generator.
    recipe : Recipe
        How to train.
    seed : int
        Where the batches start.
    label : str
        What the progress bar says.
    threads : int
        For torch while it trains. Sums come out a little different with another number, and the
        book's models are so small that one is also the fastest.

    Returns
    -------
    History

    Raises
    ------
    ValueError
        If the recipe has a negative number of steps, or a loss is not finite.

    Examples
    --------
    >>> model = nn.Linear(1, 1)
    >>> def batches(generator):
    ...     while True:
    ...         yield torch.randn(8, 1, generator=generator)
    >>> halve = lambda model, x: (model(x) - x / 2).square().mean()
    >>> fit(model, halve, batches, Recipe(steps=200, rate=0.1)).losses[-1] < 1e-3
    True
    """
    if recipe.steps < 0:
        raise ValueError(f"recipe: expected 0 steps or more, got {recipe.steps}")
    optimizer = torch.optim.AdamW(
        model.parameters(), betas=recipe.betas, weight_decay=recipe.weight_decay
    )
    source = batches(torch.Generator().manual_seed(seed))
    history, start = History(), time.process_time()
    model.train()
    with _threads(threads):
        for step in tqdm(range(recipe.steps), desc=label, leave=False, disable=_quiet()):
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate_at(step)
            value = loss(model, next(source))
            if not value.isfinite():
                raise ValueError(f"loss: expected a finite number, got {value} at step {step}")
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            history.losses.append(value.item())
    model.eval()
    history.seconds = time.process_time() - start
    return history


def remembered(
    model: nn.Module, train: Callable[[], History], config: object, *modules: str
) -> History:
    """Load a model's weights if they were trained before, else train and keep them.

    Parameters
    ----------
    model : nn.Module
        Filled in place, either way.
    train : function
        Trains the model in place and returns the `History`.
    config : anything JSON can say
        Everything that the result depends on besides code and versions.
    *modules : str
        The modules whose code it depends on, with all that they import.

    Returns
    -------
    History
        Of the run that made the weights.

    Notes
    -----
    The weights lie in `wheretolook.cache.cache_folder`. To train again, set
    ``WHERETOLOOK_RETRAIN=1`` or delete that folder.
    """
    path = cache_folder() / "weights" / f"{key(config, *modules)}.pt"
    if path.is_file() and os.environ.get("WHERETOLOOK_RETRAIN") != "1":
        with suppress(Exception):  # half a file, or somebody else's: train again
            kept = torch.load(path, weights_only=True)
            model.load_state_dict(kept["weights"])
            model.eval()
            return History(**kept["history"])
    history = train()
    half_written = path.with_suffix(f".{os.getpid()}")
    # A reader whose disk can't be written still has the trained model; torch says RuntimeError.
    with suppress(OSError, RuntimeError):
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save({"weights": model.state_dict(), "history": asdict(history)}, half_written)
        half_written.replace(path)  # another process sees all of it or nothing
    return history


def trained(
    model: nn.Module,
    loss: Callable[[nn.Module, Any], Tensor],
    batches: Callable[[torch.Generator], Iterator[Any]],
    recipe: Recipe,
    *,
    seed: int,
    label: str,
    config: dict[str, Any],
    module: str,
) -> History:
    """Train a model in place with `fit`, or load what the same training gave before.

    Parameters
    ----------
    model, loss, batches, recipe, seed, label
        See `fit`.
    config : dict
        Everything that the result depends on besides seed, recipe, code and versions.
    module : str
        Whose code, with all it imports, makes the weights.

    Returns
    -------
    History
        Of the run that made the weights.
    """

    def train() -> History:
        return fit(model, loss, batches, recipe, seed=seed, label=label)

    everything = {**config, "seed": seed, "recipe": asdict(recipe)}
    return remembered(model, train, everything, module)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from a seed for a while, and leave the reader's own random numbers alone.

    Parameters
    ----------
    seed : int
        Where chance starts.

    Examples
    --------
    >>> with seeded(0):
    ...     first = nn.Linear(2, 2)
    >>> with seeded(0):
    ...     second = nn.Linear(2, 2)
    >>> torch.equal(first.weight, second.weight)
    True
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def _threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    # Once a task is solved, gradients fall below 1e-38, where arithmetic is ten times slower:
    # such numbers count as 0. Torch can't say what was set before; off is how it starts.
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        torch.set_flush_denormal(False)


def _quiet() -> bool:
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    return os.environ.get("WHERETOLOOK_PROGRESS") == "0" or not watched

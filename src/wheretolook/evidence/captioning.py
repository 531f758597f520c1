"""Who looks where in a scene: a mean of all cells, soft and hard attention, and their controls."""

import torch

from ..captioning import CaptionScore, score_captioner, train_captioner
from ..data.scenes import scenes
from ..recurrent import EncoderDecoder

__all__ = ["captions"]

Rows = dict[str, dict[str, float]]
COUNT = 2000


def captions(
    seed: int,
    *,
    label: str,
    context: str,
    side: int,
    shuffled: bool = False,
    returning: bool = False,
    controls: bool = False,
) -> Rows:
    """Train one captioner; with `controls`, test its weights with other gazes, too."""
    options = {"context": context, "side": side, "shuffled": shuffled, "returning": returning}
    model, _ = train_captioner(seed, **options)
    rows = {label: _figures(score_captioner(model, seed, count=COUNT))}
    if not controls:
        return rows
    untrained, _ = train_captioner(seed, **options, steps=0)
    gazes = {"the gaze of another picture": _another(model, seed), "random": _random(side, seed)}
    swapped = {
        f"{label}, but {name} in the test": _figures(
            score_captioner(model, seed, weights=weights, count=COUNT)
        )
        for name, weights in gazes.items()
    }
    return (
        rows
        | swapped
        | {
            f"{label}, untrained": _figures(score_captioner(untrained, seed, count=COUNT)),
            "no picture: the likeliest word at each place": _blind(side, seed),
        }
    )


def _figures(score: CaptionScore) -> dict[str, float]:
    return {name.replace("_", " "): value for name, value in score._asdict().items()}


@torch.no_grad()
def _another(model: EncoderDecoder, seed: int) -> torch.Tensor:
    """Return as good a gaze as any, but one that does not suit the picture."""
    test = scenes("test", seed, count=COUNT, side=model.encoder.side)
    seen = model(test.images, test.target)
    hard = seen.choices is not None
    return (_at(seen.choices, seen.weights.shape[-1]) if hard else seen.weights).roll(1, 0)


def _random(side: int, seed: int) -> torch.Tensor:
    """Return a gaze at one cell after another, none of them twice."""
    generator = torch.Generator().manual_seed(seed)
    length = scenes("test", count=1, side=side).target.shape[1]
    return _at(torch.rand(COUNT, side**2, generator=generator).argsort(1)[:, :length], side**2)


def _at(choices: torch.Tensor, size: int) -> torch.Tensor:
    return torch.nn.functional.one_hot(choices, size).float()


def _blind(side: int, seed: int) -> dict[str, float]:
    """Score the one caption that a reader of many captions would bet on."""
    guess = scenes("training", seed, count=COUNT, side=side).target.mode(0).values
    right = scenes("test", seed, count=COUNT, side=side).target == guess
    exact, words = right.all(1), right[:, :-1]
    return {"exact": exact.float().mean().item(), "words": words.float().mean().item()}

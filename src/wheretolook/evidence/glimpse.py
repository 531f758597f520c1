"""Does it matter where a glimpse model looks? Ways of looking, and how much the gist gives away."""

import torch

from ..data.digits import canvases
from ..glimpse import GlimpseScore, score_glimpse, train_glimpse

__all__ = ["looking"]

Rows = dict[str, dict[str, float]]


def looking(
    seed: int,
    *,
    label: str,
    gaze: str = "learned",
    coarse: int = 4,
    shuffled: bool = False,
    controls: bool = False,
) -> Rows:
    """Train one way of looking; with `controls`, test its weights with other gazes, too."""
    model, _ = train_glimpse(seed, gaze=gaze, coarse=coarse, shuffled=shuffled)
    rows = {label: _figures(score_glimpse(model, seed))}
    if not controls:
        return rows
    with torch.no_grad():
        paths = model(canvases("test", seed, copies=5).images).gazes
    untrained, _ = train_glimpse(seed, gaze=gaze, coarse=coarse, steps=0)
    return rows | {
        # a path that suits another canvas: as good a path as any, but no answer to this picture
        f"{label}, but the gazes of another canvas in the test": _figures(
            score_glimpse(model, seed, gaze=paths.roll(1, 0), copies=5)
        ),
        f"{label}, but random in the test": _figures(score_glimpse(model, seed, gaze="random")),
        f"{label}, but centre in the test": _figures(score_glimpse(model, seed, gaze="centre")),
        "untrained": _figures(score_glimpse(untrained, seed)),
    }


def _figures(score: GlimpseScore) -> dict[str, float]:
    right = {f"accuracy, glimpse {n}": share for n, share in enumerate(score.accuracy, start=1)}
    away = {f"pixels away, glimpse {n}": px for n, px in enumerate(score.distance, start=1)}
    return right | away

"""Speech: the framework's third reading, from a stream of sound to text.

The Source is a sound, cut into frames; the Target is the words that were said. Between them stand
the same context and the same decoder as in a translator; only the encoder's first step is another.
The sounds are generated (`wheretolook.data.tones`): a model of tones, not recorded speech.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .data.tones import MOST, WORDS, Frames, frames, utterances
from .recurrent import (
    END,
    FORMS,
    PAD,
    AdditiveContext,
    Decoder,
    Encoded,
    EncoderDecoder,
    FixedContext,
    SequenceEncoder,
    naming_loss,
)
from .training import History, Recipe, seeded, trained

__all__ = [
    "CONTEXTS",
    "Heard",
    "SoundEncoder",
    "SpeechScore",
    "hear",
    "score_recogniser",
    "train_recogniser",
]

CONTEXTS = (*FORMS, "attention")
SOUNDS = 2_500  # for training


class SoundEncoder(nn.Module):
    """Read the frames of a sound, one after another.

    Parameters
    ----------
    width : int
        D of the states.

    Examples
    --------
    >>> encoded = SoundEncoder(8)(frames([torch.zeros(8_000)]))
    >>> encoded.states.shape, encoded.last.shape
    (torch.Size([1, 21, 8]), torch.Size([1, 8]))
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.sequence = SequenceEncoder(3, width)
        self.width = self.values_width = width

    def forward(self, sound: Frames) -> Encoded:
        """Read sounds as `wheretolook.data.tones.frames` returns them.

        Raises
        ------
        ValueError
            If the features are no finite (B, S, 3) of torch's float32, or the mask does not fit.
        """
        features, attn_mask = sound
        if features.ndim != 3 or features.shape[-1] != 3 or features.dtype != torch.float32:
            raise ValueError(
                f"features: expected torch.float32 (B, S, 3), "
                f"got {features.dtype} {tuple(features.shape)}"
            )
        encoded = self.sequence(features, attn_mask)
        if not encoded.states.isfinite().all():
            raise ValueError("features: expected finite numbers, got a NaN or an infinity")
        return encoded


# As `translator.Translation`; but one type for both would make what a recogniser learns depend on
# the code of a corpus that it never hears.
class Heard(NamedTuple):
    """What a recogniser wrote about one sound.

    Attributes
    ----------
    words : list of str
        Without the end token.
    weights : (L, S) or None
        A row of attention weights for each word; None if the context is fixed.
    """

    words: list[str]
    weights: Tensor | None


class SpeechScore(NamedTuple):
    """How well a recogniser writes.

    Attributes
    ----------
    exact : list of 5 floats
        Share of sounds of one to five syllables that are written without a mistake.
    tones : float
        Share of syllables with the right word in the right place.
    heard : (4, 4)
        A row for each tone that was said: in which share of its places each tone is written. What
        is missing to 1 has no word there.
    """

    exact: list[float]
    tones: float
    heard: Tensor


def train_recogniser(
    seed: int = 0,
    *,
    context: str = "last",
    width: int = 64,
    steps: int = 600,
    shuffled: bool = False,
) -> tuple[EncoderDecoder, History]:
    """Train a recogniser, or load it if it was trained before.

    Parameters
    ----------
    seed : int
        Of the first weights and of the sounds.
    context : {"last", "mapped", "pooled", "attention"}
        What passes from the encoder to the decoder.
    width : int
        Of the states on both sides.
    steps : int
        Batches of 48 sounds out of 2,500; with 0 it stays untrained.
    shuffled : bool
        Whether other tones are written beside the sounds, as many as are heard: a control with
        nothing to learn but how many.

    Returns
    -------
    model : EncoderDecoder
        In evaluation mode.
    history : History

    Raises
    ------
    ValueError
        If there is no such context.
    """
    if context not in CONTEXTS:
        raise ValueError(f"context: expected one of {', '.join(CONTEXTS)}; got {context!r}")
    with seeded(seed):
        encoder = SoundEncoder(width)
        if context == "attention":
            between = AdditiveContext(width, width)
        else:
            between = FixedContext(width, context)
        decoder = Decoder(len(WORDS), between.width, width, embedding=16)
        model = EncoderDecoder(encoder, between, decoder).eval()
    recipe = Recipe(steps=steps, batch=48, rate=2e-2, weight_decay=0.1, decay=0.5)

    def batches(generator: torch.Generator) -> Iterator[tuple[Frames, Tensor]]:
        (features, attn_mask), target = _sounds("training", SOUNDS, seed)
        if shuffled:
            others = torch.randint(END + 1, len(WORDS), target.shape, generator=generator)
            target = torch.where(target > END, others, target)
        reach = 0.2
        while True:
            # short ones first, which are learned in no time; the longer ones come in one by one
            reach = min(1.0, reach + 0.8 / max(0.3 * steps, 1))
            rows = torch.randint(int(reach * SOUNDS), (recipe.batch,), generator=generator)
            frame, word = attn_mask[rows].sum(1).max(), (target[rows] != PAD).sum(1).max()
            sound = Frames(features[rows, :frame], attn_mask[rows, :frame])
            yield sound, target[rows, :word]

    label = f"recogniser, {context}, seed {seed}"
    config = {"context": context, "width": width, "shuffled": shuffled}
    history = trained(
        model, _loss, batches, recipe, seed=seed, label=label, config=config, module="speech"
    )
    return model, history


def hear(model: EncoderDecoder, sound: Tensor) -> Heard:
    """Write down one sound.

    Parameters
    ----------
    model : EncoderDecoder
        From `train_recogniser`.
    sound : (samples,)
        8,000 samples a second.

    Returns
    -------
    Heard

    Raises
    ------
    ValueError
        If this is no sound: see `wheretolook.data.tones.frames`.
    """
    written = model.write(frames([sound]), MOST + 1)
    numbers = [number for number in written.ids[0].tolist() if number > END]
    weights = None if written.weights is None else written.weights[0, : len(numbers)]
    return Heard([WORDS[number] for number in numbers], weights)


def score_recogniser(
    model: EncoderDecoder, seed: int = 0, *, change: str | None = None, count: int = 500
) -> SpeechScore:
    """Test a recogniser on voices that it has never heard.

    Parameters
    ----------
    model : EncoderDecoder
        From `train_recogniser`.
    seed : int
        Of the sounds.
    change : {"flattened", "backwards"}, optional
        Do this to every sound: see `wheretolook.data.tones.utterances`. Right is still what was
        meant.
    count : int
        How many sounds, a multiple of 5.

    Returns
    -------
    SpeechScore

    Raises
    ------
    ValueError
        If there is no such change, or `count` is no positive multiple of 5.
    """
    sound, target = _sounds("test", count, 1_000 + seed, change)
    ids = model.write(sound, target.shape[1]).ids
    ids = nn.functional.pad(ids, (0, target.shape[1] - ids.shape[1]))
    right, tones = ids == target, torch.arange(END + 1, len(WORDS))
    said, written = ((some.flatten()[:, None] == tones).float() for some in (target, ids))
    return SpeechScore(
        right.all(1).view(MOST, -1).float().mean(1).tolist(),
        right[target > END].float().mean().item(),
        said.T @ written / said.sum(0)[:, None],
    )


@lru_cache(maxsize=4)
def _sounds(part: str, count: int, seed: int, change: str | None = None) -> tuple[Frames, Tensor]:
    """Make sounds, a millisecond each: all models of one seed share them."""
    generator = torch.Generator().manual_seed(seed)
    sounds, target, _ = utterances(part, count, generator, change=change)
    return frames(sounds), target


def _loss(model: EncoderDecoder, batch: tuple[Frames, Tensor]) -> Tensor:
    sound, target = batch
    return naming_loss(model(sound, target).logits, target)

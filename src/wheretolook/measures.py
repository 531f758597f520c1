"""Ask a trained `LinkModel` where it looks, and whether it needs to.

`measure` gives accuracy, peak and mass. The other functions change one thing: some change the
sentences (`change_part`, `shuffle_words`) and some what a head may see (`hide`, `force`). To learn
what a model uses, change or hide a word and measure again.

A head is removed by hiding its whole row: a row that may see nothing gives zeros.
"""

import random
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from .data.links import Examples
from .links import LinkModel

__all__ = [
    "Measure",
    "average_attention",
    "chance",
    "change_part",
    "force",
    "hide",
    "look",
    "measure",
    "nearest_noun",
    "other_noun",
    "random_noun",
    "shuffle_words",
]


class Measure(NamedTuple):
    """Three shares of sentences, each between 0 and 1.

    Attributes
    ----------
    accuracy : float
        How often the answer is right.
    peak : float
        How often the largest weight of the query's row is on the linked noun.
    mass : float
        The weight on the linked noun, on average.
    """

    accuracy: float
    peak: float
    mass: float


@torch.no_grad()
def look(
    made: LinkModel, sentences: Examples, attn_masks: dict[int, Tensor] | None = None
) -> tuple[Tensor, Tensor]:
    """Let the model read sentences.

    Parameters
    ----------
    made : LinkModel
    sentences : Examples
        N of them, padded to S.
    attn_masks : dict, optional
        From `hide` or `force`.

    Returns
    -------
    answers : (N,) integers
        The likeliest word of each.
    weights : (N, S)
        The query's row of the best head.
    """
    layer, head = made.best
    reading = made.model(sentences.ids, sentences.query, attn_masks)
    rows = torch.arange(len(sentences))
    weights = reading.attentions[layer].weights[rows, head, sentences.query]
    return reading.logits.argmax(1), weights


def measure(
    made: LinkModel, sentences: Examples, attn_masks: dict[int, Tensor] | None = None
) -> Measure:
    """Measure accuracy, peak and mass of the best head (chosen on training sentences).

    Parameters
    ----------
    made, sentences, attn_masks
        As for `look`.

    Returns
    -------
    Measure
    """
    answers, weights = look(made, sentences, attn_masks)
    peak, place = weights.max(1)
    found = (place == sentences.link) & (peak > 0)  # a removed head has no peak
    mass = weights.gather(1, sentences.link[:, None])
    return Measure(_share(answers == sentences.answer), _share(found), mass.mean().item())


# --- what would be found without looking ------------------------------------------------------


def chance(sentences: Examples) -> float:
    """Return how often a word drawn at random is the link: the mean of 1 / length."""
    return (1 / sentences.lengths).mean().item()


def random_noun(sentences: Examples) -> float:
    """Return how often a noun drawn at random is the link."""
    return (1 / sentences.nouns.sum(1)).mean().item()


def nearest_noun(sentences: Examples) -> float:
    """Return how often the noun nearest to the query is the link (the earlier one of two)."""
    places = torch.arange(sentences.ids.shape[1])
    distance = (places - sentences.query[:, None]).abs().float()
    nearest = distance.masked_fill(~sentences.nouns, torch.inf).argmin(1)
    return _share(nearest == sentences.link)


def average_attention(made: LinkModel, training: Examples, sentences: Examples) -> float:
    """Return how often the *average* map finds the link: what position alone can do.

    The best head's rows are averaged over training sentences, once for each place of the query
    and once for each distance from it; the better of the two on training sentences counts.

    Parameters
    ----------
    made : LinkModel
    training, sentences : Examples
        Where to average, and where to test.
    """
    _, weights = look(made, training)
    longest = max(training.ids.shape[1], sentences.ids.shape[1])
    by_place = torch.zeros(longest, longest)
    by_distance, seen = torch.zeros(2 * longest), torch.zeros(2 * longest)
    by_place.index_add_(0, training.query, _widen(weights, longest))
    distance = _distances(training, longest)
    by_distance.index_add_(0, distance.flatten(), weights.flatten())
    seen.index_add_(0, distance.flatten(), (training.ids != 0).flatten().float())
    by_distance /= seen.clamp(min=30)  # a distance seen a few times only says nothing

    def found(which: str, some: Examples) -> float:
        width = some.ids.shape[1]
        row = by_place[some.query, :width]
        row = row if which == "place" else by_distance[_distances(some, longest)]
        return _share(row.masked_fill(some.ids == 0, -1).argmax(1) == some.link)

    return found(max(("place", "distance"), key=lambda which: found(which, training)), sentences)


# --- what a head may see ----------------------------------------------------------------------


def hide(
    made: LinkModel, sentences: Examples, hidden: Tensor | None = None, *, everywhere: bool = False
) -> dict[int, Tensor]:
    """Make masks that hide some words from the query.

    Parameters
    ----------
    made : LinkModel
    sentences : Examples
    hidden : (N, S) bool, optional
        True = hidden, for example ``sentences.is_link``; everything if None, which removes the
        head's word at the query.
    everywhere : bool
        Whether to hide from all heads and layers, or from the best head only.

    Returns
    -------
    dict
        For `measure`: layer -> (N, H, S, S) bool, True = may attend.

    Raises
    ------
    ValueError
        If `hidden` has another shape.
    """
    count, length = sentences.ids.shape
    if hidden is None:
        hidden = torch.ones(count, length, dtype=torch.bool)
    if hidden.shape != (count, length) or hidden.dtype != torch.bool:
        raise ValueError(
            f"hidden: expected bool ({count}, {length}), got {hidden.dtype} {tuple(hidden.shape)}"
        )
    heads, rows = made.model.heads, torch.arange(count)
    every = [(layer, head) for layer in range(len(made.model.layers)) for head in range(heads)]
    masks: dict[int, Tensor] = {}
    for layer, head in every if everywhere else [made.best]:
        full = torch.ones(count, heads, length, length, dtype=torch.bool)
        masks.setdefault(layer, full)[rows, head, sentences.query] = ~hidden
    return masks


def force(made: LinkModel, sentences: Examples, target: Tensor) -> dict[int, Tensor]:
    """Make masks that leave the best head one word to look at: its weight is then 1.

    Parameters
    ----------
    made : LinkModel
    sentences : Examples
    target : (N,) integers
        Where the head must look in each sentence.

    Returns
    -------
    dict
        For `measure`.
    """
    elsewhere = torch.arange(sentences.ids.shape[1]) != target[:, None]
    return hide(made, sentences, elsewhere)


# --- other sentences --------------------------------------------------------------------------


def other_noun(made: LinkModel, sentences: Examples) -> Examples:
    """Point each sentence's link at the nearest noun with another answer, and expect that answer.

    Sentences without such a noun are left out. The words stay as they are: measured as it is, a
    good model must fail; with its head forced to the new link, it may follow.
    """
    kept, links, answers = [], [], []
    for row, sentence in enumerate(sentences.sentences):
        others = [noun for noun in sentence.nouns if noun.answer != sentence.answer]
        if others:
            noun = min(others, key=lambda noun: abs(noun.index - sentence.query))
            kept.append(row)
            links.append(noun.index)
            answers.append(made.vocabulary.number(noun.answer))
    return replace(_rows(sentences, kept), link=torch.tensor(links), answer=torch.tensor(answers))


def change_part(made: LinkModel, sentences: Examples, seed: int = 0) -> Examples:
    """Change only the owned thing, to one that another noun of the sentence owns.

    Parameters
    ----------
    made : LinkModel
        Of a task in which something is owned.
    sentences : Examples
    seed : int
        Which noun and which of its parts.

    Returns
    -------
    sentences : Examples
        With the new link and the new answer.

    Raises
    ------
    ValueError
        If nothing is owned in this task, or its tokens are characters (the word would not fit).
    """
    task = made.task
    if not task.parts or task.by_character:
        raise ValueError(f"made: expected a task of words with owned things, got {task.name}")
    rng = random.Random(seed)
    changed = []
    for sentence in sentences.sentences:
        part = next(i for i, token in enumerate(sentence.tokens) if token in task.owners)
        noun = rng.choice([noun for noun in sentence.nouns if noun.index != sentence.link])
        tokens = list(sentence.tokens)
        tokens[part] = rng.choice(task.parts[noun.kind])
        changed.append(replace(sentence, tokens=tuple(tokens), link=noun.index, answer=noun.answer))
    return Examples.of(changed, task.vocabulary)


def shuffle_words(sentences: Examples, seed: int = 0) -> Examples:
    """Put the words of each sentence into a random order; query and nouns move along."""
    generator = torch.Generator().manual_seed(seed)
    # real words get random keys below 1, pads keys above: sorting leaves the pads at the end
    keys = torch.rand(sentences.ids.shape, generator=generator) + 2.0 * (sentences.ids == 0)
    order = keys.argsort(1)
    new_place = order.argsort(1)
    return replace(
        sentences,
        ids=sentences.ids.gather(1, order),
        nouns=sentences.nouns.gather(1, order),
        query=new_place.gather(1, sentences.query[:, None])[:, 0],
        link=new_place.gather(1, sentences.link[:, None])[:, 0],
    )


# --- small helpers ----------------------------------------------------------------------------


def _share(hits: Tensor) -> float:
    return hits.float().mean().item()


def _rows(sentences: Examples, rows: list[int]) -> Examples:
    return Examples(
        [sentences.sentences[row] for row in rows],
        sentences.ids[rows],
        sentences.query[rows],
        sentences.link[rows],
        sentences.answer[rows],
        sentences.nouns[rows],
    )


def _distances(sentences: Examples, longest: int) -> Tensor:
    """Return the distance of every place from the query, shifted to be 0 or more, (N, S)."""
    return torch.arange(sentences.ids.shape[1]) - sentences.query[:, None] + longest


def _widen(weights: Tensor, width: int) -> Tensor:
    return torch.nn.functional.pad(weights, (0, width - weights.shape[1]))

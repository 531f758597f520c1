"""Many sentences of a task: split into training and tests, and as tensors."""

import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from .link_grammars import TASKS
from .tasks import Sentence, Vocabulary

__all__ = ["Examples", "split"]


@dataclass(frozen=True)
class Examples:
    """Sentences as tensors, N of them, padded to the longest.

    Attributes
    ----------
    sentences : list of Sentence
        What they were.
    ids : (N, S) integers
        Word numbers, 0 = padding.
    query, link, answer : (N,) integers
        Where the answer is read, where the linked noun stands, the number of the answer.
    nouns : (N, S) bool
        Where nouns stand.
    """

    sentences: list[Sentence]
    ids: Tensor
    query: Tensor
    link: Tensor
    answer: Tensor
    nouns: Tensor

    @classmethod
    def of(cls, sentences: Sequence[Sentence], vocabulary: Vocabulary) -> "Examples":
        """Turn sentences with known links into padded tensors.

        Raises
        ------
        ValueError
            If there are no sentences, or the vocabulary does not know a word.
        """
        if not sentences:
            raise ValueError("sentences: expected at least one, got none")
        rows = [torch.tensor(vocabulary.encode(sentence.tokens)) for sentence in sentences]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        nouns = torch.zeros_like(ids, dtype=torch.bool)
        for row, sentence in enumerate(sentences):
            nouns[row, [noun.index for noun in sentence.nouns]] = True
        return cls(
            list(sentences),
            ids,
            torch.tensor([sentence.query for sentence in sentences]),
            torch.tensor([sentence.link for sentence in sentences]),
            torch.tensor([vocabulary.number(sentence.answer) for sentence in sentences]),
            nouns,
        )

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def lengths(self) -> Tensor:
        """How many words each sentence has, (N,)."""
        return (self.ids != 0).sum(1)

    @property
    def is_link(self) -> Tensor:
        """Where the linked noun stands, as (N, S) bool."""
        return torch.arange(self.ids.shape[1]) == self.link[:, None]


def split(
    task: str, seed: int = 0, *, training: int = 16_000, held_out: int = 1_000
) -> dict[str, list[Sentence]]:
    """Draw sentences, all different, for training and for three tests.

    Parameters
    ----------
    task : str
        A name in `wheretolook.data.link_grammars.TASKS`.
    seed : int
        Where chance starts.
    training, held_out : int
        How many sentences for training, and for each test.

    Returns
    -------
    dict
        ``"training"``; ``"A"``, other sentences of the same sort; ``"B"``, with the linked noun
        at a distance at which training never shows it; ``"C"``, with an owner and a part that
        training never shows together (only where something is owned).

    Raises
    ------
    ValueError
        If there is no such task, or its grammar has too few different sentences.

    Examples
    --------
    >>> {name: len(part) for name, part in split("agreement-en", training=20, held_out=5).items()}
    {'training': 20, 'A': 5, 'B': 5}
    """
    if task not in TASKS:
        raise ValueError(f"task: expected one of {', '.join(TASKS)}; got {task!r}")
    return _split(task, repr(TASKS[task]), seed, training, held_out)


@lru_cache(maxsize=4)
def _split(
    task: str, grammar_text: str, seed: int, training: int, held_out: int
) -> dict[str, list[Sentence]]:
    """Split; a grammar that was changed under the same name is another one."""
    grammar = TASKS[task]
    rng = random.Random(f"{task} {seed}")
    wanted = {"training": training, "A": held_out, "B": held_out}
    wanted |= {"C": held_out} if grammar.parts else {}
    parts: dict[str, list[Sentence]] = {name: [] for name in wanted}
    seen: set[tuple[str, ...]] = set()
    fruitless = 0
    while any(len(parts[name]) < size for name, size in wanted.items()):
        sentence = grammar.draw(rng)
        fruitless += 1
        if fruitless > 20_000:
            have = ", ".join(
                f"{name} {len(part)} of {wanted[name]}" for name, part in parts.items()
            )
            raise ValueError(
                f"task: the grammar {task!r} gives too few different sentences ({have}); "
                "give it more words or rules, or ask for fewer sentences"
            )
        if sentence.tokens in seen:
            continue
        seen.add(sentence.tokens)
        if sentence.held_pair:
            name = "C"
        elif zlib.crc32(repr(sentence.key).encode()) % 5 == 0:  # the same pairs for every seed
            name = "B"
        else:
            name = "A" if len(parts["A"]) < held_out else "training"
        if len(parts[name]) < wanted[name]:
            parts[name].append(sentence)
            fruitless = 0
    return parts

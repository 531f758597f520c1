"""The book's one corpus as numbers: Chinese by character, English by word, in padded batches.

The sentences themselves, with their alignment, come from `wheretolook.data.grammar`.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from ..recurrent import END, PAD
from .grammar import LEXICON, LONGEST, Grammar, Pair, meaning

__all__ = [
    "Batch",
    "batch",
    "batches",
    "characters",
    "gold_cells",
    "source_ids",
    "source_words",
    "target_ids",
    "target_words",
    "untangle",
]


class Batch(NamedTuple):
    """Sentences of different lengths in rectangles.

    Attributes
    ----------
    source : (B, S) integers
        Characters, 0 after the last.
    target : (B, L) integers
        Words with the end token, 0 after it.
    """

    source: Tensor
    target: Tensor


@cache
def source_words() -> tuple[str, ...]:
    """Return the Chinese vocabulary in the order of its numbers; the first entry is padding."""
    return ("", *sorted({character for words in LEXICON for word in words for character in word}))


@cache
def target_words() -> tuple[str, ...]:
    """Return the English vocabulary in the order of its numbers: padding, start, end, words."""
    known = {name for words in LEXICON for word in words for name, _ in meaning(word)}
    return ("", "<start>", "<end>", *sorted(known))


def batches(
    generator: torch.Generator, size: int, clauses: Sequence[int] = (1, 2, 3, 4)
) -> Iterator[Batch]:
    """Draw training batches without end; all sentences of a batch have as many clauses.

    Parameters
    ----------
    generator : torch.Generator
        Where chance comes from.
    size : int
        B.
    clauses : sequence of int
        The numbers of clauses, each as likely as it stands here.

    Yields
    ------
    Batch
    """
    grammar = Grammar(generator)
    while True:
        many = clauses[grammar.below(len(clauses))]
        yield batch([grammar.sentence("training", many) for _ in range(size)])


def batch(some: Sequence[Pair], *, source_length: int = 0, target_length: int = 0) -> Batch:
    """Pad sentences to one length.

    Parameters
    ----------
    some : sequence of Pair
        At least one.
    source_length, target_length : int
        Pad at least to these.

    Returns
    -------
    Batch

    Raises
    ------
    ValueError
        If there is no sentence, or one that can't be read: empty, too long, an unknown word.

    Examples
    --------
    >>> from wheretolook.data.grammar import aligned
    >>> batch([aligned("我爱中国"), aligned("我们学习数学")]).target.shape
    torch.Size([2, 4])
    """
    return Batch(
        source_ids([pair.source for pair in some], length=source_length),
        target_ids([pair.target for pair in some], length=target_length),
    )


def gold_cells(some: Sequence[Pair]) -> Tensor:
    """Return which characters each word comes from, in the shape of the attention weights.

    Parameters
    ----------
    some : sequence of Pair
        At least one.

    Returns
    -------
    (B, L, S) bool
        As `batch` pads. Rows of words without a counterpart, of the end token and of padding are
        all False.

    Examples
    --------
    >>> from wheretolook.data.grammar import aligned
    >>> gold_cells([aligned("我爱中国")])[0].int()
    tensor([[1, 0, 0, 0],
            [0, 1, 0, 0],
            [0, 0, 1, 1],
            [0, 0, 0, 0]], dtype=torch.int32)
    """
    shape = (1 + max(len(p.target) for p in some), max(len(p.source) for p in some))
    gold = torch.zeros(len(some), *shape, dtype=torch.bool)
    for row, pair in enumerate(some):
        for word, places in enumerate(pair.gold):
            gold[row, word, list(places)] = True
    return gold


def source_ids(sentences: Sequence[Sequence[str]], *, length: int = 0) -> Tensor:
    """Turn Chinese sentences into numbers, padded to one length.

    Parameters
    ----------
    sentences : sequence of str, or of sequences of characters
        Without spaces.
    length : int
        Pad at least to this.

    Returns
    -------
    (B, S) integers

    Raises
    ------
    ValueError
        If there is no sentence, one is empty or longer than the longest of six clauses, or a
        character is unknown; names it.

    Examples
    --------
    >>> source_ids(["我爱猫"])
    Traceback (most recent call last):
    ValueError: source: expected characters of the corpus, got '猫' in '我爱猫'
    """
    return _number("source", sentences, source_words(), length)


def target_ids(sentences: Sequence[Sequence[str]], *, length: int = 0) -> Tensor:
    """Turn English sentences into numbers, with the end token, padded to one length.

    Parameters
    ----------
    sentences : sequence of sequences of words
    length : int
        Pad at least to this.

    Returns
    -------
    (B, L) integers

    Raises
    ------
    ValueError
        As in `source_ids`.
    """
    ended = [[*_sentence("target", words, " "), target_words()[END]] for words in sentences]
    return _number("target", ended, target_words(), length)


def untangle(ids: Tensor) -> list[str]:
    """Return the English words of one row of numbers, up to the end token.

    Parameters
    ----------
    ids : (L,) integers

    Returns
    -------
    list of str

    Examples
    --------
    >>> untangle(target_ids([["I", "love", "China"]])[0])
    ['I', 'love', 'China']
    """
    words = [target_words()[number] for number in ids.tolist()]
    end = target_words()[END]
    return words[: words.index(end)] if end in words else words


def characters(sentence: str) -> list[str]:
    """Cut a Chinese sentence that somebody typed into characters.

    Spaces are dropped, a comma or a full stop of either script is understood.

    Examples
    --------
    >>> characters("我 爱 中国, 但是我学习数学。")
    ['我', '爱', '中', '国', '，', '但', '是', '我', '学', '习', '数', '学']
    """
    return list("".join(sentence.split()).replace(",", "，").rstrip("。."))


def _sentence(name: str, words: Sequence[str], glue: str) -> list[str]:
    if not words:
        raise ValueError(f"{name}: expected one word at least, got an empty sentence")
    if len(words) > LONGEST:
        raise ValueError(
            f"{name}: expected at most {LONGEST} words (six clauses), got {len(words)}: "
            f"'{glue.join(words[:12])} …'"
        )
    return list(words)


def _number(
    name: str, sentences: Sequence[Sequence[str]], words: Sequence[str], length: int
) -> Tensor:
    if isinstance(sentences, str):
        raise ValueError(f"{name}: expected a list of sentences, got the text {sentences!r}")
    if not sentences:
        raise ValueError(f"{name}: expected one sentence at least, got none")
    glue = "" if name == "source" else " "
    number = _numbers(words)
    rows = []
    for sentence in sentences:
        row = _sentence(name, sentence, glue)
        unknown = [word for word in row if not number.get(word)]
        if unknown:
            kind = "characters" if name == "source" else "words"
            raise ValueError(
                f"{name}: expected {kind} of the corpus, got {unknown[0]!r} in {glue.join(row)!r}"
            )
        rows.append([number[word] for word in row])
    longest = max(length, *map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


@cache
def _numbers(words: tuple[str, ...]) -> dict[str, int]:
    return {word: place for place, word in enumerate(words)}

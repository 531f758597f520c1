"""The grammar of the book's one corpus: Chinese clauses, their English, and the alignment.

Sentences have 1 to 6 clauses. Chinese is cut into characters, English into words. The alignment is
made *with* the sentence, so it is known and not guessed. The page *One grammar for the whole book*
describes all of it.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import torch

__all__ = ["LEXICON", "LONGEST", "Grammar", "Pair", "aligned", "clause_count", "meaning", "pairs"]

PARTS = ("training", "test")
MOST_CLAUSES = 6

# Each English word with the places of its characters in the Chinese: "day:1" comes from the second
# one. A word without digits, such as an article, comes from none.
SUBJECTS = {
    "我": "I:0",
    "你": "you:0",
    "我们": "we:01",
    "他们": "they:01",
    "老师们": "the teachers:012",
    "学生们": "the students:012",
    "孩子们": "the children:012",
}
TIMES = {
    "今天": "today:01",
    "现在": "now:01",
    "每天": "every:0 day:1",
    "周末": "on weekends:01",
    "晚上": "at night:01",
}
PLACES = {
    "在家": "at:0 home:1",
    "在学校": "at:0 school:12",
    "在公园": "in:0 the park:12",
    "在图书馆": "in:0 the library:123",
}
VERBS = {
    "爱": "love:0",
    "喜欢": "like:01",
    "了解": "know:01",
    "学习": "study:01",
    "讨论": "discuss:01",
    "研究": "research:01",
}
OBJECTS = {
    "中国": "China:01",
    "北京": "Beijing:01",
    "历史": "history:01",
    "音乐": "music:01",
    "数学": "mathematics:01",
    "电影": "films:01",
}
# What is felt has no place: nobody loves Beijing in the library.
FEELINGS = {
    "爱": ("中国", "北京", "音乐", "电影"),
    "喜欢": tuple(OBJECTS),
    "了解": ("中国", "北京", "历史", "音乐", "电影"),
}
ACTIONS = {
    "学习": ("历史", "音乐", "数学"),
    "讨论": ("中国", "历史", "音乐", "数学", "电影"),
    "研究": ("中国", "北京", "历史", "音乐", "数学", "电影"),
}
NOT = {"不": "do:0 not:0"}
JOINS = {"，": ",:0", "，但是": ",:0 but:12"}
LEXICON = (SUBJECTS, TIMES, PLACES, VERBS, OBJECTS, NOT, JOINS)
FIRST = "我爱中国"  # the documents' example is always among the test clauses
# The characters of six clauses, each with the longest word in every place, and five times 但是.
LONGEST = MOST_CLAUSES * 14 + (MOST_CLAUSES - 1) * 3


class Pair(NamedTuple):
    """A Chinese sentence and its English.

    Attributes
    ----------
    source : tuple of str
        The Chinese, by character.
    target : tuple of str
        The English, by word.
    gold : tuple of tuples of int
        For each English word, the places of its characters in the source; empty for a word that
        has no counterpart.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    gold: tuple[tuple[int, ...], ...]


def clause_count(source: Sequence[str]) -> int:
    """Return how many clauses a Chinese sentence has: one more than commas."""
    return 1 + list(source).count("，")


def pairs(part: str, clauses: int, count: int, seed: int = 0) -> list[Pair]:
    """Draw sentences.

    A fifth of all clauses is kept for testing: none of them stands in any training sentence, and
    a test sentence is made of nothing else.

    Parameters
    ----------
    part : {"training", "test"}
        From which clauses.
    clauses : int
        How many a sentence has, 1 to 6.
    count : int
        How many sentences; test sentences are all different.
    seed : int
        Where the draw starts.

    Returns
    -------
    list of Pair

    Raises
    ------
    ValueError
        If there is no such part, or `clauses` or `count` is out of range.

    Examples
    --------
    >>> pair = pairs("test", clauses=1, count=3)[1]
    >>> "".join(pair.source), " ".join(pair.target)
    ('学生们学习数学', 'the students study mathematics')
    """
    if part not in PARTS:
        raise ValueError(f"part: expected 'training' or 'test', got {part!r}")
    if not 1 <= clauses <= MOST_CLAUSES:
        raise ValueError(f"clauses: expected 1 to {MOST_CLAUSES}, got {clauses}")
    if not 0 <= count <= 2_000:
        raise ValueError(f"count: expected 0 to 2000, got {count}")
    draw = Grammar(torch.Generator().manual_seed(seed))
    found: dict[tuple[str, ...], Pair] = {}
    while len(found) < count:
        pair = draw.sentence(part, clauses)
        found.setdefault(pair.source, pair)
    return list(found.values())


def aligned(sentence: str | Sequence[str]) -> Pair:
    """Translate a sentence by the grammar itself: the right answer, with its alignment.

    Any verb may have any object, time and place here, also where none such is ever drawn.

    Parameters
    ----------
    sentence : str or sequence of characters
        Chinese.

    Returns
    -------
    Pair

    Raises
    ------
    ValueError
        If the grammar does not make such a sentence; names the clause.

    Examples
    --------
    >>> aligned("今天我们不讨论数学").target
    ('today', 'we', 'do', 'not', 'discuss', 'mathematics')
    """
    whole, *rest = re.split("(，但是|，)", "".join(sentence))
    pair = _parsed(whole)
    for join, clause in zip(rest[::2], rest[1::2], strict=True):
        pair = _join(pair, _entry(join), _parsed(clause))
    return pair


class Grammar:
    """The rules, and the chance that runs them.

    Parameters
    ----------
    generator : torch.Generator
        Where chance comes from.

    Examples
    --------
    >>> grammar = Grammar(torch.Generator().manual_seed(0))
    >>> clause_count(grammar.sentence("training", clauses=3).source)
    3
    """

    def __init__(self, generator: torch.Generator) -> None:
        self.numbers, self.generator = iter(()), generator

    def sentence(self, part: str, clauses: int) -> Pair:
        """Join clauses of a part."""
        whole = self.clause(part)
        for _ in range(clauses - 1):
            whole = _join(whole, _entry(self._one(tuple(JOINS))), self.clause(part))
        return whole

    def clause(self, part: str) -> Pair:
        """Draw until the clause belongs to the part."""
        while True:
            clause = self.clause_of_any_part()
            if _part(clause.source) == part:
                return clause

    def clause_of_any_part(self) -> Pair:
        """Draw a clause; a word of time or place stands in front or inside, in both languages.

        In Chinese, inside is before the verb; in English it is the end, the place before the time.
        """
        acts = self._chance() < 0.5
        verbs = ACTIONS if acts else FEELINGS
        subject, verb = self._one(tuple(SUBJECTS)), self._one(tuple(verbs))
        what = self._one(verbs[verb])
        time = self._one(tuple(TIMES)) if self._chance() < 0.4 else ""
        place = self._one(tuple(PLACES)) if acts and self._chance() < 0.5 else ""
        negated = "不" if self._chance() < 0.3 else ""
        time_first, place_first = self._chance() < 0.5, self._chance() < 0.3
        front = (time * time_first, place * place_first)
        late = (time * (not time_first), place * (not place_first))
        return _clause(front, subject, negated, verb, what, late)

    def _chance(self) -> float:
        """Return a number from 0 to 1; many are drawn at once, for one by one is slow."""
        number = next(self.numbers, None)
        if number is None:
            self.numbers = iter(torch.rand(4096, generator=self.generator).tolist())
            number = next(self.numbers)
        return number

    def below(self, limit: int) -> int:
        """Draw a whole number from 0 to limit - 1."""
        return int(self._chance() * limit)

    def _one(self, words: Sequence[str]) -> str:
        return words[self.below(len(words))]


@lru_cache(maxsize=100_000)
def _clause(
    front: tuple[str, str], subject: str, negated: str, verb: str, what: str, late: tuple[str, str]
) -> Pair:
    time, place = late
    chinese = (*front, subject, time, negated, place, verb, what)
    english = (*front, subject, negated, verb, what, place, time)
    return _align(tuple(filter(None, chinese)), tuple(filter(None, english)))


def _align(chinese: Sequence[str], english: Sequence[str]) -> Pair:
    """Turn the same words in two orders into a pair."""
    starts = {}
    source: list[str] = []
    for word in chinese:
        starts[word] = len(source)
        source += word
    words = [(w, [starts[word] + n for n in at]) for word in english for w, at in meaning(word)]
    return Pair(tuple(source), tuple(w for w, _ in words), tuple(tuple(at) for _, at in words))


def _parsed(clause: str) -> Pair:
    """Find the words of a clause, and the places where they may stand."""
    kinds = {"s": SUBJECTS, "t": TIMES, "p": PLACES, "n": NOT, "v": VERBS, "o": OBJECTS}
    group = {name: f"(?P<{name}>{'|'.join(sorted(words))})" for name, words in kinds.items()}
    late = {name: group[name].replace(f"<{name}>", f"<{name}2>") for name in "tp"}
    form = "{t}?{p}?{s}" + late["t"] + "?{n}?" + late["p"] + "?{v}{o}"
    found = re.fullmatch(form.format(**group), clause)
    word = found.groupdict("") if found else {}
    if not found or any(word[name] and word[f"{name}2"] for name in "tp"):
        raise ValueError(
            "source: expected clauses of [time] [place] subject [time] [不] [place] verb object, "
            f"each at most once, got {clause!r}"
        )
    front, late = (word["t"], word["p"]), (word["t2"], word["p2"])
    return _clause(front, word["s"], word["n"], word["v"], word["o"], late)


def _join(*parts: Pair) -> Pair:
    """Put pairs one behind the other."""
    source, target, gold = [], [], []
    for part in parts:
        gold += [tuple(len(source) + place for place in places) for places in part.gold]
        source += part.source
        target += part.target
    return Pair(tuple(source), tuple(target), tuple(gold))


@cache
def _entry(word: str) -> Pair:
    return _align([word], [word])


@cache
def meaning(word: str) -> list[tuple[str, list[int]]]:
    """Look a Chinese word up: its English words, each with the places of its characters.

    Examples
    --------
    >>> meaning("每天")
    [('every', [0]), ('day', [1])]
    """
    return _read(next(words[word] for words in LEXICON if word in words))


def _read(entry: str) -> list[tuple[str, list[int]]]:
    split = (
        word.rpartition(":") if word[-1].isdigit() else (word, "", "") for word in entry.split()
    )
    return [(word, [int(digit) for digit in digits]) for word, _, digits in split]


@lru_cache(maxsize=100_000)
def _part(clause: tuple[str, ...]) -> str:
    """Deal each clause to a part, the same on every machine."""
    text = "".join(clause)
    return PARTS[hashlib.sha256(text.encode()).digest()[0] < 51 or text == FIRST]

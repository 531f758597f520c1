"""Sentences whose links are known: which word decides the missing one.

Each `Task` is a small grammar that can be read off the page:

* A name in capitals stands for one of its lines, each as likely as the next. A line written twice
  is twice as likely; an empty line adds nothing.
* NOUN stands for a noun of any kind not used yet; the name of a kind for a noun of that kind.
* ``*`` before a noun marks the link: the noun that decides the missing word. Where no noun is
  marked, PART stands for something that one of the nouns owns, and the owner is the link.

The linked noun is known when the sentence is made, so a model's attention can be held against it.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

__all__ = ["GAP", "PAD", "Noun", "Sentence", "Task", "Vocabulary", "Word"]

PAD = "[PAD]"
GAP = "[MASK]"


# --- what a sentence is -----------------------------------------------------------------------


@dataclass(frozen=True)
class Word:
    """A noun of the lexicon.

    Attributes
    ----------
    token : str
        How it stands in a sentence: ``laws``.
    name : str
        Its dictionary form: ``law``.
    kind : str
        What sort of thing it is: ``rule``.
    answer : str
        The word that it puts into the gap: ``their``.
    """

    token: str
    name: str
    kind: str
    answer: str


@dataclass(frozen=True)
class Noun(Word):
    """A noun at its place in a sentence: a `Word` with its `index`."""

    index: int


@dataclass(frozen=True)
class Sentence:
    """A sentence with a gap, and what is known about it.

    Attributes
    ----------
    tokens : tuple of str
        One of them is ``[MASK]``.
    gap : int
        Where ``[MASK]`` stands.
    query : int
        Where the answer is read: at the gap, or at the owned thing.
    answer : str or None
        The missing word; None in a reader's own sentence if it can't be known.
    link : int or None
        Where the noun stands that decides it; None likewise.
    nouns : tuple of Noun
        All nouns, in order.
    held_pair : bool
        Whether the owner and the owned thing are a pair that training never shows.
    """

    tokens: tuple[str, ...]
    gap: int
    query: int
    answer: str | None
    link: int | None
    nouns: tuple[Noun, ...]
    held_pair: bool = False

    @property
    def key(self) -> tuple[str, int]:
        """The linked noun and its distance from the query: what split B keeps unseen."""
        name = next(noun.name for noun in self.nouns if noun.index == self.link)
        return name, self.query - self.link

    def __str__(self) -> str:
        return " ".join(self.tokens)


# --- words and their numbers ------------------------------------------------------------------


class Vocabulary:
    """Number the words; 0 is padding and means nothing else.

    Parameters
    ----------
    words : iterable of str
        All words but the padding; repetitions count once.
    max_length : int
        The longest sentence that `encode` accepts.

    Examples
    --------
    >>> Vocabulary(["the", "law"], max_length=5).encode(["the", "law"])
    [1, 2]
    """

    def __init__(self, words: Iterable[str], max_length: int) -> None:
        self.words = tuple(dict.fromkeys([PAD, *words]))
        self.max_length = max_length
        self._numbers = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._numbers

    def number(self, word: str) -> int:
        """Return the number of a word.

        Raises
        ------
        ValueError
            If the word is unknown; names it and says what is accepted.
        """
        if word not in self._numbers or word == PAD:
            near = get_close_matches(word, self.words[1:], n=3)
            hint = f"; near it: {', '.join(near)}" if near else ""
            accepted = " ".join(self.words[1:])
            raise ValueError(f"word: {word!r} is unknown to this model{hint}. Accepted: {accepted}")
        return self._numbers[word]

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Turn words into numbers.

        Raises
        ------
        ValueError
            If the sentence is empty or too long, or a word is unknown.
        """
        if not tokens:
            raise ValueError("tokens: expected at least one word, got an empty sentence")
        if len(tokens) > self.max_length:
            raise ValueError(
                f"tokens: expected at most {self.max_length} words (the model has no positions "
                f"beyond), got {len(tokens)}"
            )
        return [self.number(token) for token in tokens]


# --- a task: grammar, lexicon, and where the answer is read -----------------------------------


@dataclass(frozen=True)
class Task:
    """A grammar of sentences with known links.

    Attributes
    ----------
    name, language : str
        ``meaning-en`` and ``en``, for example.
    question : str
        What is missing, in one line.
    rules : dict
        The grammar; see the head of this module.
    words : tuple of Word
        The nouns.
    parts : dict
        For each kind, what its members own; empty where nothing is owned.
    read_at_part : bool
        Whether the answer is read at the owned thing instead of at the gap.
    by_character : bool
        Whether Chinese words are cut into characters; a noun then stands at its last one.
    """

    name: str
    language: str
    question: str
    rules: dict[str, tuple[str, ...]]
    words: tuple[Word, ...]
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    read_at_part: bool = False
    by_character: bool = False

    @cached_property
    def kinds(self) -> dict[str, list[Word]]:
        """The nouns of each kind."""
        kinds: dict[str, list[Word]] = {}
        for word in self.words:
            kinds.setdefault(word.kind, []).append(word)
        return kinds

    @cached_property
    def answers(self) -> tuple[str, ...]:
        """The words that may fill the gap."""
        return tuple(dict.fromkeys(word.answer for word in self.words))

    @cached_property
    def owners(self) -> dict[str, str]:
        """The kind that owns each part."""
        return {part: kind for kind, parts in self.parts.items() for part in parts}

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Every word that the grammar can say."""
        slots = {*self.rules, *self.kinds, *(f"*{kind}" for kind in self.kinds)}
        lines = [line.split() for rule in self.rules.values() for line in rule]
        plain = [token for line in lines for token in line if token not in slots | {"NOUN", "PART"}]
        said = plain + [word.token for word in self.words] + list(self.owners)
        if self.by_character:
            said = [character for token in said for character in _characters(token)]
        return Vocabulary([GAP, *self.answers, *said], self._longest("SENTENCE"))

    def _longest(self, symbol: str) -> int:
        """Count the most tokens that a symbol can become."""
        if symbol in self.rules:
            return max(sum(map(self._longest, line.split())) for line in self.rules[symbol])
        if not self.by_character:
            return 1
        kind = symbol.lstrip("*")
        words = [word.token for word in self.words if kind in ("NOUN", word.kind)]
        words += list(self.owners) if symbol == "PART" else []
        return max(len(_characters(word)) for word in words or [symbol])

    def held_pair(self, noun: Word, part: str) -> bool:
        """Tell whether training never shows that this noun owns this part (one part in four)."""
        names = list(dict.fromkeys(word.name for word in self.kinds[noun.kind]))
        return (names.index(noun.name) + self.parts[noun.kind].index(part)) % 4 == 0

    def draw(self, rng: random.Random) -> Sentence:
        """Make one sentence.

        Parameters
        ----------
        rng : random.Random
            Where chance comes from.

        Examples
        --------
        >>> from wheretolook.data.link_grammars import TASKS
        >>> sentence = TASKS["meaning-en"].draw(random.Random(4))
        >>> sentence.tokens[sentence.query], sentence.tokens[sentence.link], sentence.answer
        ('clauses', 'rules', 'their')
        """
        tokens: list[str] = []
        nouns: list[Noun] = []
        link = part = None
        for symbol in self._expand("SENTENCE", rng):
            kind = symbol.lstrip("*")
            if kind == "NOUN" or kind in self.kinds:
                word = self._draw_word(kind, nouns, rng)
                nouns.append(Noun(word.token, word.name, word.kind, word.answer, len(tokens)))
                link = nouns[-1] if symbol.startswith("*") else link
                tokens.append(word.token)
            elif symbol == "PART":
                link = rng.choice(nouns)
                part = len(tokens)
                tokens.append(rng.choice(self.parts[link.kind]))
            else:
                tokens.append(symbol)
        gap = tokens.index(GAP)
        query = part if self.read_at_part else gap
        held = part is not None and self.held_pair(link, tokens[part])
        sentence = Sentence(tuple(tokens), gap, query, link.answer, link.index, tuple(nouns), held)
        return _cut(sentence) if self.by_character else sentence

    def _expand(self, symbol: str, rng: random.Random) -> list[str]:
        if symbol not in self.rules:
            return [symbol]
        line = rng.choice(self.rules[symbol])
        return [token for part in line.split() for token in self._expand(part, rng)]

    def _draw_word(self, kind: str, nouns: list[Noun], rng: random.Random) -> Word:
        """Draw a noun; NOUN never repeats a kind, a named kind never repeats a noun."""
        if kind == "NOUN":
            used = {noun.kind for noun in nouns}
            kind = rng.choice([kind for kind in self.kinds if kind not in used])
        names = {noun.name for noun in nouns}
        return rng.choice([word for word in self.kinds[kind] if word.name not in names])

    def read(self, text: str) -> Sentence:
        """Read a sentence that somebody wrote.

        Parameters
        ----------
        text : str
            Words with spaces between them and one ``[MASK]``; Chinese needs no spaces.

        Returns
        -------
        Sentence
            With the link and the answer where exactly one noun can own the owned thing.

        Raises
        ------
        ValueError
            If the text is empty or too long, a word is unknown, there is not exactly one gap, or
            (where the answer is read there) nothing owned follows it.

        Examples
        --------
        >>> from wheretolook.data.link_grammars import TASKS
        >>> text = "The law and the horses , but [MASK] wording looked good ."
        >>> TASKS["meaning-en"].read(text).answer
        'its'
        """
        tokens = self._segment(text)
        self.vocabulary.encode(tokens)
        if tokens.count(GAP) != 1:
            raise ValueError(f"text: expected exactly one {GAP}, got {tokens.count(GAP)}")
        gap = tokens.index(GAP)
        lexicon = {word.token: word for word in self.words}
        nouns = tuple(
            Noun(token, word.name, word.kind, word.answer, index)
            for index, token in enumerate(tokens)
            if (word := lexicon.get(token))
        )
        part = next((i for i in range(gap, len(tokens)) if tokens[i] in self.owners), None)
        if part is None and self.read_at_part:
            raise ValueError(
                f"text: expected something owned after {GAP}; accepted: {' '.join(self.owners)}"
            )
        fits = [noun for noun in nouns if part and noun.kind == self.owners[tokens[part]]]
        link = fits[0] if len(fits) == 1 else None
        return Sentence(
            tuple(tokens),
            gap,
            part if self.read_at_part else gap,
            link and link.answer,
            link and link.index,
            nouns,
            link is not None and self.held_pair(link, tokens[part]),
        )

    def _segment(self, text: str) -> list[str]:
        """Cut a text at its spaces and, where a piece is no word, into the longest known words."""
        tokens: list[str] = []
        marked = text.replace(GAP, f" {GAP} ")
        for piece in marked.split() if self.language == "zh" else marked.lower().split():
            piece = GAP if piece.upper() == GAP else piece
            while piece:
                sizes = range(len(piece), 0, -1) if self.language == "zh" else ()
                size = next((n for n in sizes if piece[:n] in self.vocabulary), len(piece))
                tokens.append(piece[:size])
                piece = piece[size:]
        return tokens


def _characters(token: str) -> list[str]:
    return [token] if token == GAP else list(token)


def _cut(sentence: Sentence) -> Sentence:
    """Cut every word into characters; what stood at a word stands at its last character."""
    pieces = [_characters(token) for token in sentence.tokens]
    last, count = [], 0
    for piece in pieces:
        count += len(piece)
        last.append(count - 1)
    nouns = [Noun(n.token, n.name, n.kind, n.answer, last[n.index]) for n in sentence.nouns]
    return Sentence(
        tuple(character for piece in pieces for character in piece),
        last[sentence.gap],
        last[sentence.query],
        sentence.answer,
        last[sentence.link],
        tuple(nouns),
        sentence.held_pair,
    )

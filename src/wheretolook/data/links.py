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
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache

import torch
from torch import Tensor

__all__ = [
    "GAP",
    "PAD",
    "TASKS",
    "Examples",
    "Noun",
    "Sentence",
    "Task",
    "Vocabulary",
    "Word",
    "split",
]

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


# --- many sentences as tensors ----------------------------------------------------------------


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
        A name in `TASKS`.
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


# --- the grammars -----------------------------------------------------------------------------


def _lexicon(**kinds: str) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(words.split()) for kind, words in kinds.items()}


def _numbered(nouns: dict[str, tuple[str, ...]], one: str, many: str) -> tuple[Word, ...]:
    """Read "law/laws" as two words: the singular answers `one`, the plural `many`."""
    return tuple(
        Word(token, pair.split("/")[0], kind, answer)
        for kind, pairs in nouns.items()
        for pair in pairs
        for token, answer in zip(pair.split("/"), (one, many), strict=True)
    )


# "The law and the horses will never be perfect, but [MASK] application should be just": its.
# A part fits one kind only, and no sentence has two nouns of a kind: the owner is never in doubt.
_MEANING_EN = Task(
    name="meaning-en",
    language="en",
    question="its or their? Read at the thing that is owned.",
    words=_numbered(
        _lexicon(
            rule="law/laws rule/rules treaty/treaties contract/contracts",
            building="house/houses church/churches castle/castles school/schools",
            animal="dog/dogs cat/cats horse/horses fox/foxes",
            plant="tree/trees rose/roses bush/bushes vine/vines",
            vehicle="car/cars truck/trucks bus/buses train/trains",
            water="river/rivers lake/lakes sea/seas stream/streams",
        ),
        "its",
        "their",
    ),
    parts=_lexicon(
        rule="application wording clauses exceptions",
        building="rooms attic doorbell cellar",
        animal="ears eyes legs fur",
        plant="leaves blossoms seeds buds",
        vehicle="brakes wheels engine headlights",
        water="shores waves currents shallows",
    ),
    read_at_part=True,
    rules={
        "SENTENCE": ("SCENE , JOIN VIEW [MASK] OWN PART VERDICT .",),
        "SCENE": (
            "WHEN the NOUN_ RELATION the NOUN_",
            "WHEN WE the NOUN_ and the NOUN_",
            "WHEN the NOUN_ and the NOUN_ FATE",
            "UNLIKE the NOUN_ , the NOUN_ RELATION the NOUN_",
            "WHEN WE the NOUN_ , the NOUN_ and the NOUN_",
            "WHEN the NOUN_ , the NOUN_ and the NOUN_ FATE",
        ),
        "NOUN_": ("NOUN", "NOUN", "NOUN", "NOUN", "ADJECTIVE NOUN"),
        "ADJECTIVE": ("old", "small", "new", "famous", "local"),
        "UNLIKE": ("unlike", "like", "after", "apart from"),
        "RELATION": (
            "reminded me of",
            "made us forget",
            "came before",
            "mattered more than",
            "had to make way for",
        ),
        "WE": ("we talked about", "i remember", "she wrote about", "they drew", "he loved"),
        "FATE": (
            "will never be perfect",
            "made the news",
            "had to go",
            "are still there",
            "came up again",
        ),
        "WHEN": (
            *[""] * 6,
            "today ,",
            "last year ,",
            "in the end ,",
            "of course ,",
            "on a cold day in june ,",
            "if i am right ,",
        ),
        "JOIN": ("and", "but", "so", "because"),
        "VIEW": (*[""] * 6, "i think", "we know that", "in my view", "people say that"),
        "OWN": (*[""] * 9, "own", "old", "real"),
        "VERDICT": (
            "should be fine",
            "must be seen",
            "looked good",
            "seemed strange",
            "did not matter",
            "should be just",
        ),
    },
)

# 大夫们 遇到 了 面包师 ， 但是 [MASK] 的 药箱 很 特别 。 : 他们
# A bare Chinese noun leaves the number open; here 医生 is one and 医生们 are several. Tried and
# left: 那位 before the singular, where some models look instead of at the noun (peak 0.80 to 1.00).
_MEANING_ZH = Task(
    name="meaning-zh",
    language="zh",
    question="他 or 他们? Read at the thing that is owned.",
    words=tuple(
        Word(name + plural, name, kind, "他" + plural)
        for kind, names in _lexicon(
            hospital="医生 大夫 中医 牙医",
            sea="渔夫 船长 水手 渔民",
            school="老师 学生 教授 同学",
            kitchen="厨师 面包师 大厨 点心师",
            field="农民 菜农 果农 花农",
            stage="歌手 演员 乐手 魔术师",
            army="士兵 将军 哨兵 骑兵",
        ).items()
        for name in names
        for plural in ("", "们")
    ),
    parts=_lexicon(
        hospital="药箱 诊所 诊室 病人",
        sea="救生衣 船舱 船桨 船帆",
        school="课本 教室 作业 考卷",
        kitchen="烤箱 案板 面团 擀面杖",
        field="锄头 大棚 拖拉机 种子",
        stage="舞台 观众 节目 演出服",
        army="军装 钢盔 军营 军靴",
    ),
    read_at_part=True,
    rules={
        "SENTENCE": ("WHEN SCENE JOIN VIEW [MASK] 的 NEW PART VERDICT 。",),
        "SCENE": (
            "NOUN_ MET NOUN_",
            "NOUN_ 和 NOUN_ CAME",
            "WHO SAW NOUN_ AND NOUN_",
            "NOUN_ MET NOUN_ AND NOUN_",
            "NOUN_ 、 NOUN_ 和 NOUN_ CAME",
            "WHO SAW NOUN_ 、 NOUN_ AND NOUN_",
        ),
        "NOUN_": ("NOUN", "NOUN", "NOUN", "NOUN", "ADJECTIVE 的 NOUN"),
        "ADJECTIVE": ("年轻", "有名", "善良", "聪明"),
        "MET": ("遇到 了", "想起 了", "问候 了", "感谢 了", "帮助 了", "认识 了"),
        "CAME": ("都 来 了", "都 走 了", "都 到 了", "都 笑 了", "都 来 帮忙 了"),
        "WHO": ("我", "小红", "奶奶", "邻居"),
        "SAW": ("看到 了", "说起 了", "画 了", "提到 了", "梦见 了"),
        "AND": ("和", "还有"),
        "WHEN": (
            *[""] * 6,
            "今天 ，",
            "去年 夏天 ，",
            "有 一天 ，",
            "昨天 晚上 ，",
            "六月 的 一个 早上 ，",
            "如果 我 没 记错 ，",
        ),
        "JOIN": ("， 但是", "， 而且", "， 不过", "。"),
        "VIEW": (*[""] * 8, "我 觉得", "大家 都 说", "在 我 看来", "听说"),
        "NEW": (*[""] * 9, "新"),
        "VERDICT": ("很 特别", "很 重要", "很 不错", "让 人 难忘", "有点 奇怪"),
    },
)

# "Behind the bridge, the key from the schools [MASK] old": is. Other nouns come between.
_AGREEMENT_EN = Task(
    name="agreement-en",
    language="en",
    question="is or are? Read at the gap.",
    words=_numbered(
        _lexicon(
            THING="key/keys book/books letter/letters box/boxes cup/cups lamp/lamps "
            "picture/pictures coat/coats map/maps ring/rings",
            PLACE="cabinet/cabinets house/houses garden/gardens table/tables shop/shops "
            "wall/walls bridge/bridges school/schools",
            PERSON="boy/boys girl/girls teacher/teachers doctor/doctors child/children "
            "man/men woman/women neighbour/neighbours",
        ),
        "is",
        "are",
    ),
    rules={
        "SENTENCE": ("FRONT the ADJECTIVE SUBJECT OFTEN [MASK] STATE .",),
        "FRONT": (
            *["WHERE the PLACE_ ,"] * 7,
            "WHERE the PLACE_ near the PLACE_ ,",
            "WHERE the PLACE_ with the THING_ ,",
            *["WHEN ,"] * 3,
            *[""] * 8,
        ),
        "WHERE": ("near", "behind", "next to", "in front of", "not far from"),
        "WHEN": ("today", "sadly", "of course", "as you can see", "if i remember well"),
        "SUBJECT": (
            "*THING",
            "*PLACE",
            "*PERSON",
            "*THING",
            "*THING OF_THING",
            "*THING OF_THING",
            "*PLACE OF_PLACE",
            "*PERSON OF_PERSON",
        ),
        "OF_THING": (
            "IN the PLACE_",
            "IN the PLACE_ OF_PLACE",
            "from the PERSON_",
            "from the PERSON_ OF_PERSON",
            "that the PERSON_ SAW",
        ),
        "OF_PLACE": ("NEAR the PLACE_", "with the THING_", "that the PERSON_ SAW"),
        "OF_PERSON": ("with the THING_", "IN the PLACE_", "that the PERSON_ SAW"),
        "IN": ("from", "near", "in", "behind"),
        "NEAR": ("near", "behind"),
        "SAW": ("saw", "found", "liked", "knew"),
        **{f"{kind}_": (*[kind] * 7, f"SORT {kind}") for kind in ("THING", "PLACE", "PERSON")},
        "ADJECTIVE": (*[""] * 3, "SORT"),
        "SORT": ("old", "small", "new", "other", "famous"),
        "OFTEN": (*[""] * 10, "often", "really", "still", "almost always", "quite clearly"),
        "STATE": (
            "old",
            "new",
            "very old",
            "here",
            "lovely",
            "quite strange",
            "well known",
            "in the way",
            "important to the PERSON_",
            "like the PERSON_",
        ),
    },
)

# 我 画 了 三 [MASK] 小红 在 路 旁边 看到 的 衬衫 。 : 件. The noun comes after the gap, far away.
# Only nouns with one plain classifier: no 椅子 (把, 张), no 猪 (头, 只, 口). The all-purpose 个 is
# not among the choices.
_CLASSIFIER_ZH = Task(
    name="classifier-zh",
    language="zh",
    question="Which classifier? Read at the gap.",
    words=tuple(
        Word(name, name, kind, classifier)
        for kind, (classifier, *names) in _lexicon(
            book="本 书 词典 杂志 课本",
            pet="只 猫 鸟 鸡 兔子",
            road="条 河 路 小溪",
            strip="条 蛇 裙子",
            car="辆 汽车 卡车 自行车 公共汽车",
            tree="棵 树 柳树 松树 苹果树",
            building="座 塔 城堡 寺庙 宫殿",
            furniture="张 桌子 床",
            sheet="张 地图 海报",
            tool="把 刀 伞 钥匙 剪刀",
            clothes="件 衣服 毛衣 衬衫 大衣",
            cattle="头 牛 奶牛 大象",
        ).items()
        for name in names
    ),
    rules={
        "SENTENCE": (
            "WHEN WHO REALLY SAW NUMBER [MASK] THING 。",
            "WHEN WHO REALLY SAW NUMBER [MASK] THING 。",
            "在 PLACE ， WHO REALLY SAW NUMBER [MASK] THING 。",
            "WHEN WHO REALLY 梦见 了 NUMBER [MASK] THING 。",
            "WHEN WHO REALLY SEEN NUMBER [MASK] THING ， 但是 没有 看到 NOUN 。",
            "WHEN WHO REALLY SEEN NUMBER [MASK] WHICH OBJECT ， 就 在 PLACE 。",
        ),
        "THING": (*["WHICH HEAD"] * 6, "COMPARED", "FOUND COMPARED"),
        # here every classifier is as likely as the next: 条 and 张 have two kinds each
        "HEAD": (*["OBJECT"] * 17, "*building", "*building", "*road"),
        "OBJECT": (
            *["*book", "*pet", "*car", "*tree", "*tool", "*clothes", "*cattle"] * 2,
            *["*strip", "*furniture", "*sheet"],
        ),
        "WHEN": ("", "", "", "昨天 ，", "今天 早上 ，", "去年 夏天 ，", "有 一天 ，"),
        "PLACE": ("building BESIDE", "tree BESIDE", "road 旁边"),
        "BESIDE": ("旁边", "附近", "后面"),
        "WHO": ("我", "你", "他", "她", "我们", "爸爸"),
        "REALLY": (*[""] * 9, "也", "又", "还"),
        "SAW": ("SEEN", "SEEN", "画 了", "说起 了", "想起 了"),
        "SEEN": ("看到 了", "发现 了"),
        "NUMBER": ("一", "两", "三", "这", "那", "几"),
        "WHICH": ("", "FOUND", "FOUND", "FOUND", "ADJECTIVE", "FOUND ADJECTIVE"),
        "FOUND": (
            "OTHER 在 PLACE MET 的",
            "OTHER 找 NOUN 的 时候 看到 的",
            "OTHER 画 NOUN 的 时候 看到 的",
            "OTHER YESTERDAY MET 的",
        ),
        "OTHER": ("小红", "小明", "老师", "邻居", "孩子们", "妈妈"),
        "YESTERDAY": ("", "昨天", "去年", "早上"),
        "MET": ("看到", "见过", "发现", "提到"),
        # after the thing compared with, either of two sorts may follow: it never settles the answer
        "COMPARED": (
            *["像 pet 一样 大 的 *book", "像 pet 一样 大 的 *tool"],
            *["像 book 一样 大 的 *pet", "像 book 一样 大 的 *sheet"],
            *["像 furniture 一样 大 的 *sheet", "像 furniture 一样 大 的 *clothes"],
            *["比 furniture 还 大 的 *sheet", "比 furniture 还 大 的 *clothes"],
            *["像 cattle 一样 大 的 *car", "像 cattle 一样 大 的 *furniture"],
            *["像 car 一样 大 的 *cattle", "像 car 一样 大 的 *furniture"],
            *["比 car 还 大 的 *cattle", "比 car 还 大 的 *furniture"],
        ),
        "ADJECTIVE": ("很 特别 的", "漂亮 的", "奇怪 的", "普通 的"),
    },
)

# 我 画 了 杂志 还有 马 。 其中 那 [MASK] ， 眼睛 有点 奇怪 。 : 匹. Read at the gap, where nothing
# says that eyes are asked for: the model gets it right, and yet its map does not show the link.
# As above, 个 is not among the choices.
_FAILURE_ZH = Task(
    name="failure-zh",
    language="zh",
    question="Which classifier? Read at the gap, decided by what is owned.",
    words=tuple(
        Word(name, name, kind, classifier)
        for kind, groups in {
            "animal": _lexicon(只="猫 鸟 兔子 鸡", 匹="马", 头="牛 奶牛", 条="鱼 蛇"),
            "clothes": _lexicon(件="衬衫 毛衣 大衣", 条="裙子 裤子 短裤", 顶="帽子"),
            "writing": _lexicon(本="书 诗集 杂志 故事书", 封="信", 张="明信片 贺卡"),
            "traffic": _lexicon(辆="汽车 出租车 公共汽车", 架="飞机 直升机", 艘="轮船 客轮 游艇"),
            "plant": _lexicon(棵="桃树 梨树 苹果树", 朵="荷花 菊花"),
            "building": _lexicon(座="塔 宫殿 教堂", 家="商店 银行 饭馆", 间="教室 办公室"),
        }.items()
        for classifier, names in groups.items()
        for name in names
    ),
    parts=_lexicon(
        animal="脑袋 眼睛 嘴 身体",
        clothes="面料 尺码 针脚 线头",
        writing="内容 开头 结尾 文笔",
        traffic="乘客 发动机 油箱 外壳",
        plant="花瓣 花粉 花蕊 花香",
        building="墙壁 天花板 门口 门槛",
    ),
    rules={
        "SENTENCE": ("WHEN SCENE JOIN VIEW 其中 THAT [MASK] ， PART VERDICT 。",),
        "SCENE": (
            "WHO SAW NOUN_ AND NOUN_",
            "NOUN_ 和 NOUN_ ARE",
            "WHO SAW NOUN_ 、 NOUN_ AND NOUN_",
            "NOUN_ 、 NOUN_ 和 NOUN_ ARE",
        ),
        "NOUN_": ("NOUN", "NOUN", "NOUN", "NOUN", "ADJECTIVE 的 NOUN"),
        "ADJECTIVE": ("漂亮", "普通", "奇怪", "特别"),
        "WHO": ("我", "他", "小红", "孩子们", "老师", "邻居"),
        "SAW": ("看到 了", "说起 了", "画 了", "提到 了", "梦见 了"),
        "AND": ("和", "还有"),
        "ARE": ("都 不见 了", "都 画 好 了", "都 出现 在 画 里", "都 上 了 电视"),
        "WHEN": (
            *[""] * 6,
            "今天 ，",
            "去年 夏天 ，",
            "有 一天 ，",
            "昨天 晚上 ，",
            "六月 的 一个 早上 ，",
            "如果 我 没 记错 ，",
        ),
        "JOIN": ("， 但是", "， 而且", "， 不过", "。"),
        "VIEW": (*[""] * 8, "我 觉得", "大家 都 说", "在 我 看来 ，", "听说"),
        "THAT": ("那", "这"),
        "VERDICT": ("很 特别", "有点 奇怪", "让 人 难忘", "还 不错", "很 不 一样"),
    },
)

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        _MEANING_EN,
        _MEANING_ZH,
        replace(_MEANING_ZH, name="meaning-zh-characters", by_character=True),
        _AGREEMENT_EN,
        _CLASSIFIER_ZH,
        _FAILURE_ZH,
    )
}

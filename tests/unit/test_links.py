"""The grammars say what they claim: the link decides the answer, and nothing else gives it away."""

import random
from dataclasses import replace

import pytest

from wheretolook.data.link_grammars import TASKS
from wheretolook.data.links import Examples, _split, split
from wheretolook.data.tasks import GAP, Vocabulary

OWNED = [name for name, task in TASKS.items() if task.parts]
SYNTAX = [name for name in TASKS if name not in OWNED]


def drawn(name, count=300):
    rng = random.Random(1)
    return [TASKS[name].draw(rng) for _ in range(count)]


@pytest.mark.parametrize("name", TASKS)
def test_the_linked_noun_gives_the_answer(name):
    for sentence in drawn(name):
        (noun,) = [noun for noun in sentence.nouns if noun.index == sentence.link]
        assert noun.answer == sentence.answer
        assert sentence.tokens[sentence.gap] == GAP
        assert sentence.tokens.count(GAP) == 1


@pytest.mark.parametrize("name", sorted(set(TASKS) - {"meaning-zh-characters"}))
def test_nouns_stand_where_they_are_said_to(name):
    for sentence in drawn(name):
        assert all(sentence.tokens[noun.index] == noun.token for noun in sentence.nouns)
        words = {word.token for word in TASKS[name].words}
        assert [i for i, token in enumerate(sentence.tokens) if token in words] == [
            noun.index for noun in sentence.nouns
        ]


@pytest.mark.parametrize("name", sorted(set(OWNED) - {"meaning-zh-characters"}))
def test_exactly_one_noun_can_own_the_part(name):
    task = TASKS[name]
    for sentence in drawn(name):
        (part,) = [token for token in sentence.tokens if token in task.owners]
        fits = [noun for noun in sentence.nouns if noun.kind == task.owners[part]]
        assert [noun.index for noun in fits] == [sentence.link]
        # and a reader's sentence is understood the same way
        assert task.read(str(sentence)) == sentence


@pytest.mark.parametrize("name", OWNED)
def test_no_part_belongs_to_two_kinds_and_no_word_is_both_noun_and_part(name):
    task = TASKS[name]
    parts = [part for parts in task.parts.values() for part in parts]
    assert len(parts) == len(set(parts))
    assert not set(parts) & {word.token for word in task.words}
    tokens = [word.token for word in task.words]
    assert len(tokens) == len(set(tokens))


def test_a_chinese_noun_has_one_classifier():
    for name in ("classifier-zh", "failure-zh"):
        answers = {}
        for word in TASKS[name].words:
            assert answers.setdefault(word.token, word.answer) == word.answer


def test_the_owned_thing_is_read_in_meaning_and_the_gap_elsewhere():
    for name, task in TASKS.items():
        for sentence in drawn(name, 20):
            assert (sentence.query == sentence.gap) != task.read_at_part


@pytest.mark.parametrize("name", ["meaning-en", "meaning-zh", "failure-zh"])
def test_neither_the_nearest_noun_nor_its_answer_gives_it_away(name):
    sentences = drawn(name, 3_000)
    nearest = [
        min(sentence.nouns, key=lambda noun: abs(noun.index - sentence.query))
        for sentence in sentences
    ]
    hits = [n.index == s.link for n, s in zip(nearest, sentences, strict=True)]
    by_chance = sum(1 / len(sentence.nouns) for sentence in sentences) / len(sentences)
    assert abs(sum(hits) / len(hits) - by_chance) < 0.03


@pytest.mark.parametrize("name", ["meaning-en", "agreement-en"])
def test_answers_are_balanced(name):
    sentences = drawn(name, 3_000)
    first = TASKS[name].answers[0]
    assert abs(sum(s.answer == first for s in sentences) / len(sentences) - 0.5) < 0.03


def test_agreement_has_attractors():
    sentences = drawn("agreement-en", 1_000)
    near = [min(s.nouns, key=lambda noun: abs(noun.index - s.query)) for s in sentences]
    assert sum(n.answer != s.answer for n, s in zip(near, sentences, strict=True)) > 200


def small(name, seed=0):
    return split(name, seed, training=1_500, held_out=150)


@pytest.mark.parametrize("name", TASKS)
def test_splits_share_no_sentence(name):
    parts = small(name)
    everything = [sentence.tokens for part in parts.values() for sentence in part]
    assert len(everything) == len(set(everything))
    assert ("C" in parts) == (name in OWNED)


@pytest.mark.parametrize("name", TASKS)
def test_split_b_has_unseen_distances_and_split_c_unseen_pairs(name):
    parts, task = small(name), TASKS[name]
    trained = {sentence.key for sentence in parts["training"]}
    assert not trained & {sentence.key for sentence in parts["B"]}
    assert {s.nouns[0].token for s in parts["B"]} <= {word.token for word in task.words}
    if name in OWNED and not task.by_character:

        def pairs(part):
            return {
                (noun.name, token)
                for sentence in parts[part]
                for noun in sentence.nouns
                for token in sentence.tokens
                if noun.index == sentence.link and token in task.owners
            }

        assert not pairs("training") & pairs("C")


def test_a_grammar_that_gives_too_few_sentences_says_so(monkeypatch):
    rules = {"SENTENCE": ("the NOUN and the NOUN , [MASK] PART .",)}
    monkeypatch.setitem(TASKS, "tiny", replace(TASKS["meaning-en"], name="tiny", rules=rules))
    with pytest.raises(ValueError, match=r"task: the grammar 'tiny' .*training \d+ of 16000"):
        split("tiny")


def test_a_grammar_changed_under_the_same_name_is_another_one(monkeypatch):
    old = TASKS["meaning-en"]
    monkeypatch.setitem(TASKS, "mine", old)
    first = split("mine", training=20, held_out=5)
    parts = {**old.parts, "rule": ("title", "wording", "clauses", "exceptions")}
    monkeypatch.setitem(TASKS, "mine", replace(old, parts=parts))
    second = split("mine", training=200, held_out=50)
    assert split("mine", training=20, held_out=5) != first or first["A"] != second["A"]
    assert any("title" in sentence.tokens for part in second.values() for sentence in part)


def test_a_split_repeats_with_its_seed_and_differs_with_another():
    _split.cache_clear()
    first = small("meaning-en")
    _split.cache_clear()
    assert small("meaning-en") == first
    assert small("meaning-en", seed=1) != first


@pytest.mark.parametrize("name", TASKS)
def test_the_vocabulary_knows_every_sentence(name):
    vocabulary = TASKS[name].vocabulary
    test = Examples.of(drawn(name), vocabulary)
    assert (test.ids.gather(1, test.link[:, None]) != 0).all()
    assert test.ids.shape[1] <= vocabulary.max_length
    assert test.is_link.sum() == len(test)
    assert (test.nouns & test.is_link).sum() == len(test)
    assert vocabulary.words[0] == "[PAD]"


def test_cut_into_characters_a_noun_stands_at_its_last_one():
    rng_words, rng_characters = random.Random(3), random.Random(3)
    for _ in range(50):
        words = TASKS["meaning-zh"].draw(rng_words)
        characters = TASKS["meaning-zh-characters"].draw(rng_characters)
        assert "".join(words.tokens) == "".join(characters.tokens)
        for noun in characters.nouns:
            start = noun.index + 1 - len(noun.token)
            assert "".join(characters.tokens[start : noun.index + 1]) == noun.token


def test_chinese_needs_no_spaces():
    task = TASKS["meaning-zh"]
    sentence = task.read("大夫们遇到了面包师们，但是[MASK]的药箱很特别。")
    assert sentence.tokens[sentence.link] == "大夫们"
    assert sentence.tokens[sentence.query] == "药箱"
    assert sentence.answer == "他们"


def test_a_sentence_whose_owner_is_unclear_has_no_link():
    sentence = TASKS["meaning-en"].read("The law and the rules , but [MASK] wording looked good .")
    assert sentence.link is None and sentence.answer is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at least one word"),
        ("the law and the horse looked good .", r"exactly one \[MASK\], got 0"),
        ("the [MASK] and [MASK] fur", "got 2"),
        ("the lew and [MASK] fur looked good .", "'lew' is unknown.*near it: .*law.*Accepted: "),
        ("[PAD] [MASK] fur", "'\\[pad\\]' is unknown"),
        ("the law [MASK] the horse", "owned after .*wording"),
        ("the " * 40 + "[MASK] fur", "at most 34 words"),
    ],
)
def test_a_sentence_that_can_t_be_read_says_why(text, says):
    with pytest.raises(ValueError, match=says):
        TASKS["meaning-en"].read(text)


def test_other_errors_say_what_is_accepted():
    with pytest.raises(ValueError, match="task: expected one of meaning-en"):
        split("meaning-fr")
    with pytest.raises(ValueError, match="sentences: expected at least one"):
        Examples.of([], TASKS["meaning-en"].vocabulary)
    with pytest.raises(ValueError, match="'dog' is unknown"):
        Vocabulary(["cat"], 3).number("dog")

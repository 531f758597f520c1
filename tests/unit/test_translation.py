"""The corpus: its alignments are the truth, and no test clause is ever trained on."""

from itertools import islice

import pytest
import torch

from wheretolook.data import grammar
from wheretolook.data.grammar import LONGEST, aligned, clause_count, pairs
from wheretolook.data.translation import (
    batch,
    batches,
    characters,
    gold_cells,
    source_ids,
    source_words,
    target_ids,
    target_words,
    untangle,
)
from wheretolook.recurrent import END

MEANING = {
    english: chinese
    for words in grammar.LEXICON
    for chinese, entry in words.items()
    for english, places in [(w.partition(":")[0], w.partition(":")[2]) for w in entry.split()]
    if places
}


def training(count=40, clauses=(1, 2, 3, 4)):
    drawn = batches(torch.Generator().manual_seed(0), 32, clauses)
    return list(islice(drawn, count))


@pytest.mark.parametrize("clauses", range(1, 7))
def test_every_word_is_aligned_with_what_it_means(clauses):
    for pair in pairs("test", clauses, 50):
        for word, places in zip(pair.target, pair.gold, strict=True):
            own = "".join(pair.source[place] for place in places)
            if word == "the":
                assert own == ""
            else:  # at and in mean 在; two words may come from one, and one from several
                assert own and own in MEANING[word] or word in ("at", "in", "do", "not", "on", ",")


def test_what_the_documents_translate_has_two_cells_for_china():
    pair = aligned("我爱中国")
    assert pair.target == ("I", "love", "China")
    assert pair.gold == ((0,), (1,), (2, 3))


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("今天我爱中国", "today I love China"),
        ("我今天爱中国", "I love China today"),
        ("在学校我们讨论历史", "at school we discuss history"),
        ("我们在学校讨论历史", "we discuss history at school"),
        ("老师们每天不在家研究数学", "the teachers do not research mathematics at home every day"),
        ("我爱中国，但是你喜欢电影", "I love China , but you like films"),
    ],
)
def test_words_of_time_and_place_move_and_mean_where_they_stand(chinese, english):
    assert " ".join(aligned(chinese).target) == english


@pytest.mark.parametrize("clauses", range(1, 7))
def test_reading_a_drawn_sentence_gives_its_pair(clauses):
    for pair in pairs("test", clauses, 50):
        assert aligned(pair.source) == pair == aligned("".join(pair.source))
        assert clause_count(pair.source) == clauses


def test_no_test_clause_stands_in_any_training_sentence():
    def clauses(sentence):
        return "".join(sentence).replace("，但是", "，").split("，")

    words = source_words()
    trained = {
        clause
        for some in training()
        for row in some.source
        for clause in clauses(words[n] for n in row if n)
    }
    tested = {clause for n in (1, 2, 6) for p in pairs("test", n, 200) for clause in clauses(p[0])}
    assert len(trained) > 1_000 and len(tested) > 500
    assert not trained & tested
    assert "我爱中国" not in trained


def test_about_a_fifth_of_all_clauses_is_kept_for_testing():
    draw = grammar.Grammar(torch.Generator().manual_seed(0))
    parts = [grammar._part(draw.clause_of_any_part().source) for _ in range(5_000)]
    assert 0.17 < parts.count("test") / len(parts) < 0.23


def test_the_same_seed_draws_the_same_and_another_seed_does_not():
    assert pairs("test", 2, 20, seed=3) == pairs("test", 2, 20, seed=3)
    assert pairs("test", 2, 20, seed=3) != pairs("test", 2, 20, seed=4)
    for a, b in zip(training(3), training(3), strict=True):
        assert torch.equal(a.source, b.source) and torch.equal(a.target, b.target)


def test_test_sentences_are_all_different():
    some = pairs("test", 1, 500)
    assert len({pair.source for pair in some}) == 500


def test_a_batch_is_its_sentences_and_padding():
    some = pairs("test", 2, 20)
    source, target = batch(some)
    for pair, characters_, words in zip(some, source, target, strict=True):
        assert [source_words()[n] for n in characters_ if n] == list(pair.source)
        assert untangle(words) == list(pair.target)
        assert words[len(pair.target)] == END and not words[len(pair.target) + 1 :].any()
    wider = batch(some, source_length=60, target_length=50)
    assert wider.source.shape == (20, 60) and wider.target.shape == (20, 50)
    assert torch.equal(wider.source[:, : source.shape[1]], source)
    assert not wider.source[:, source.shape[1] :].any()


def test_gold_cells_are_the_alignment_and_nothing_on_padding():
    some = pairs("test", 2, 20)
    source, target = batch(some)
    gold = gold_cells(some)
    assert gold.shape == (*target.shape, source.shape[1])
    for row, pair in zip(gold, some, strict=True):
        assert [tuple(words.nonzero().flatten().tolist()) for words in row] == [
            *pair.gold,
            *[()] * (len(row) - len(pair.gold)),
        ]
    assert not (gold & (source == 0).unsqueeze(1)).any()


def test_the_longest_sentence_can_be_read_and_one_character_more_can_not():
    clause = "每天在图书馆学生们不学习数学"
    longest = "，但是".join([clause] * 6)
    assert len(longest) == LONGEST
    assert len(aligned(longest).target) < LONGEST
    with pytest.raises(ValueError, match=f"source: expected at most {LONGEST} words"):
        source_ids([longest + "学"])


def test_what_somebody_types_is_cut_into_characters():
    assert "".join(characters(" 我爱中国, 但是我学习数学。 ")) == "我爱中国，但是我学习数学"


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([""], "source: expected one word at least, got an empty sentence"),
        ([], "source: expected one sentence at least, got none"),
        ("我爱中国", "source: expected a list of sentences, got the text '我爱中国'"),
        (["我爱猫"], "expected characters of the corpus, got '猫' in '我爱猫'"),
        (["我爱 中国"], "got ' ' in '我爱 中国'"),
        ([["我", ""]], "got '' in '我'"),
    ],
)
def test_a_source_that_can_not_be_read_is_named(sentences, message):
    with pytest.raises(ValueError, match=message):
        source_ids(sentences)


def test_a_target_that_can_not_be_read_is_named():
    with pytest.raises(ValueError, match=r"target: .* got 'cats' in 'I love cats <end>'"):
        target_ids([["I", "love", "cats"]])
    with pytest.raises(ValueError, match="target: .* empty"):
        target_ids([[]])


@pytest.mark.parametrize("sentence", ["我爱", "中国爱我", "今天我今天爱中国", "我爱中国，"])
def test_a_sentence_outside_the_grammar_is_named(sentence):
    with pytest.raises(ValueError, match=r"source: expected clauses of \[time\] \[place\]"):
        aligned(sentence)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pairs("trial", 1, 1), "part: expected 'training' or 'test', got 'trial'"),
        (lambda: pairs("test", 0, 1), "clauses: expected 1 to 6, got 0"),
        (lambda: pairs("test", 7, 1), "clauses: expected 1 to 6, got 7"),
        (lambda: pairs("test", 1, -1), "count: expected 0 to 2000, got -1"),
    ],
)
def test_what_can_not_be_drawn_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_numbers_and_vocabularies_belong_together():
    assert target_words()[:3] == ("", "<start>", "<end>")
    assert len(set(source_words())) == len(source_words())
    assert len(set(target_words())) == len(target_words())

"""What is measured of a sentence model: on a short real training, with its controls."""

import pytest
import torch

from wheretolook.data.link_grammars import TASKS
from wheretolook.links import examples, train_links, untrained_links
from wheretolook.measures import (
    average_attention,
    chance,
    change_part,
    force,
    hide,
    look,
    measure,
    nearest_noun,
    other_noun,
    random_noun,
    shuffle_words,
)

STEPS = 700


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHERETOLOOK_CACHE", str(tmp_path_factory.mktemp("weights")))
        yield


@pytest.fixture(scope="module")
def made(folder):
    return train_links("meaning-en", 0, steps=STEPS)


@pytest.fixture(scope="module")
def test():
    return examples("meaning-en", "A", 0)


def test_the_model_learns_and_its_peak_is_the_link(made, test):
    found = measure(made, test)
    assert found.accuracy > 0.98 and found.peak > 0.95 and found.mass > 0.6


def test_untrained_and_shuffled_controls_stay_near_chance(folder, test):
    untrained = measure(untrained_links("meaning-en", 0), test)
    assert untrained.accuracy < 0.05 and untrained.peak < 0.15
    best = measure(untrained_links("meaning-en", 0, tries=5), test)
    assert best.peak < 0.2
    shuffled = measure(train_links("meaning-en", 0, steps=100, shuffled=True), test)
    assert abs(shuffled.accuracy - 0.5) < 0.08 and shuffled.peak < 0.2


def test_without_its_link_or_its_head_the_model_guesses(made, test):
    assert abs(measure(made, test, hide(made, test, test.is_link)).accuracy - 0.5) < 0.1
    removed = measure(made, test, hide(made, test))
    assert abs(removed.accuracy - 0.5) < 0.1 and removed.peak == 0 and removed.mass == 0
    others = hide(made, test, test.nouns & ~test.is_link)
    assert measure(made, test, others).accuracy > 0.98


def test_a_forced_head_decides_the_answer(made, test):
    assert measure(made, test, force(made, test, test.link)) == (1.0, 1.0, 1.0)
    other = other_noun(made, test)
    assert measure(made, other).accuracy < 0.02
    assert measure(made, other, force(made, other, other.link)).accuracy > 0.98


def test_only_the_owned_thing_changed_the_peak_moves(made, test):
    changed = change_part(made, test)
    assert ((changed.ids != test.ids).sum(1) == 1).all()
    assert (changed.link != test.link).all()
    found = measure(made, changed)
    assert found.accuracy > 0.98 and found.peak > 0.95


def test_order_hardly_matters_so_it_is_no_syntax(made, test):
    shuffled = shuffle_words(test, seed=1)
    assert torch.equal(shuffled.ids.sort(1).values, test.ids.sort(1).values)
    rows = torch.arange(len(test))
    for name in ("link", "query"):
        before, after = getattr(test, name), getattr(shuffled, name)
        assert torch.equal(test.ids[rows, before], shuffled.ids[rows, after])
    assert torch.equal(shuffled.lengths, (shuffled.ids != 0).cumprod(1).sum(1))
    assert measure(made, shuffled).accuracy > 0.9


def test_baselines(made, test):
    assert 0.03 < chance(test) < 0.07
    assert 0.3 < random_noun(test) < 0.5
    assert abs(nearest_noun(test) - random_noun(test)) < 0.05
    assert average_attention(made, examples("meaning-en", "training", 0), test) < 0.35


def test_hiding_more_than_asked_does_not_happen(made, test):
    _, before = look(made, test)
    _, after = look(made, test, hide(made, test, test.is_link))
    assert (after[test.is_link] == 0).all()
    ratio = after / before
    kept = ratio[~test.is_link & (test.ids != 0)]
    assert (kept >= 1 - 1e-5).all()


def test_everywhere_hides_from_every_head_of_every_layer(folder):
    many = untrained_links("agreement-en", 0, heads=2, layers=2)
    sentences = examples("agreement-en", "A", 0)
    masks = hide(many, sentences, sentences.is_link, everywhere=True)
    rows = torch.arange(len(sentences))
    for attention in many.model(sentences.ids, sentences.query, masks).attentions:
        assert (attention.weights[rows, :, sentences.query, sentences.link] == 0).all()


def test_the_same_seed_trains_the_same_model(folder, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    first, second = (train_links("failure-zh", 0, steps=20) for _ in range(2))
    assert first.history.losses == second.history.losses
    weights = zip(first.model.parameters(), second.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in weights)


def test_a_reader_s_sentence(made):
    text = "The law and the horses will never be perfect , but [MASK] application should be just ."
    sentence, reading = made.read(text)
    assert sentence.tokens[sentence.link] == "law"
    weights = made.map(text)
    torch.testing.assert_close(weights.sum(1), torch.ones(len(sentence.tokens)))
    assert int(weights[sentence.query].argmax()) == sentence.link
    shares = made.answer(text)
    assert next(iter(shares)) == "its" and abs(sum(shares.values()) - 1) < 1e-5
    assert set(shares) == set(TASKS["meaning-en"].answers)


def test_errors_name_the_argument(made, test):
    with pytest.raises(ValueError, match="hidden: expected bool"):
        hide(made, test, test.is_link[:, :3])
    with pytest.raises(ValueError, match="task: expected one of"):
        train_links("nothing")
    with pytest.raises(ValueError, match="part: agreement-en has training, A, B; got 'C'"):
        examples("agreement-en", "C")
    with pytest.raises(ValueError, match="tries: expected 1 or more"):
        untrained_links("meaning-en", tries=0)
    with pytest.raises(ValueError, match="owned things, got agreement-en"):
        change_part(untrained_links("agreement-en"), examples("agreement-en", "A"))

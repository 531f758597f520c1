"""The translator: reproducible, at chance without anything to learn, and measured rightly."""

import pytest
import torch

from wheretolook.data.grammar import pairs
from wheretolook.data.translation import batch, gold_cells
from wheretolook.evidence import table
from wheretolook.translator import (
    CONTEXTS,
    agreement,
    exact,
    make_translator,
    right_without,
    train_translator,
    translate,
    words_right,
)

FIXED, ATTENTION = "one c for the sentence", "a c for each word"
ENCODERS = [
    "attention, encoder reads both ways",
    "attention, encoder reads one way",
    "attention, sums embeddings",
]


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_same_seed_gives_the_same_history_twice(context, tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    runs = [train_translator(1, context=context, width=8, steps=3)[1].losses for _ in range(2)]
    other = train_translator(2, context=context, width=8, steps=3)[1].losses
    assert runs[0] == runs[1] != other


def test_making_a_model_leaves_the_readers_random_numbers_alone():
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    make_translator()
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize("context", CONTEXTS)
def test_untrained_it_translates_nothing(context):
    some = pairs("test", 1, 50)
    model = make_translator(context, width=16)
    assert exact(model, some) == 0
    assert max(words_right(model, some)) < 0.2


class Perfect(torch.nn.Module):
    """Stands in for a model that writes what it is told to."""

    def __init__(self, ids):
        super().__init__()
        self.ids = ids

    def forward(self, source, target):
        return self

    def write(self, source, limit):
        return self


def test_exact_counts_whole_sentences_and_forgives_nothing():
    some = pairs("test", 1, 4)
    target = batch(some).target
    assert exact(Perfect(target), some) == 1
    wrong = target.clone()
    wrong[0, 0] = wrong[0, 0] + 1
    assert exact(Perfect(wrong), some) == 0.75
    longer = torch.nn.functional.pad(target, (0, 1))
    longest = int((target != 0).sum(1).argmax())
    longer[longest, -1] = 5  # goes on after its end
    assert exact(Perfect(longer), some) == 0.75
    assert exact(Perfect(target[:, :1]), some) == 0


def test_agreement_is_one_for_the_gold_itself_and_zero_for_all_else():
    gold = gold_cells(pairs("test", 2, 20))
    assert agreement(gold.double() / gold.sum(-1, keepdim=True).clamp_min(1), gold) == (1, 1)
    assert agreement(1.0 - gold.double(), gold) == (0, 0)


def test_words_without_a_counterpart_do_not_count():
    gold = gold_cells(pairs("test", 1, 20))
    weights = gold.double()
    weights[~gold.any(-1)] = torch.rand(gold.shape[-1], dtype=torch.float64)
    assert agreement(weights, gold).peak == 1


def test_hiding_everything_leaves_attention_nothing_to_translate():
    some = pairs("test", 1, 20)
    model = make_translator("attention", width=16)
    gold = gold_cells(some)
    real = (batch(some).target != 0).unsqueeze(-1).expand_as(gold)
    assert right_without(model, some, real) < 0.2
    nothing = torch.zeros_like(gold)
    with pytest.raises(ValueError, match="hidden: expected .* with something hidden"):
        right_without(model, some, nothing)
    with pytest.raises(ValueError, match="hidden: expected"):
        right_without(model, some, gold[:, :-1])


def test_a_fixed_context_has_no_weights_and_attention_one_row_a_word():
    assert translate(make_translator("last", width=8), "我爱中国").weights is None
    words, weights = translate(make_translator("attention", width=8), "我爱中国")
    assert weights.shape == (len(words), 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_translator("first"), "context: expected one of last, mapped, pooled, atten"),
        (lambda: translate(make_translator(width=8), ""), "empty sentence"),
        (lambda: translate(make_translator(width=8), "我爱猫"), "'猫' in '我爱猫'"),
        (lambda: translate(make_translator(width=8), "我" * 100), "at most 99 words"),
        (
            lambda: agreement(torch.zeros(1, 2, 3), torch.zeros(1, 2, 4, dtype=torch.bool)),
            r"weights: expected \(1, 2, 4\), got \(1, 2, 3\)",
        ),
        (
            lambda: agreement(torch.zeros(1, 2, 3), torch.zeros(1, 2, 3, dtype=torch.bool)),
            "gold: expected a word with a counterpart",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# what the tables say


def test_one_vector_holds_one_clause_and_attention_four():
    kept = table("translation")
    for row in ("c = h_T", "c = q(h_T)", "c = q(h_1, …, h_T)"):
        assert kept[FIXED, row, "1 clause"].min > 0.95
        assert kept[FIXED, row, "3 clauses"].max < 0.3
    for row in ENCODERS:
        assert kept[ATTENTION, row, "3 clauses"].min > 0.95


def test_attention_does_not_reach_lengths_that_it_never_saw():
    kept = table("translation")
    for row in ENCODERS:
        assert kept[ATTENTION, row, "4 clauses"].min > 0.9
        assert kept[ATTENTION, row, "6 clauses"].max < 0.1


def test_with_shuffled_translations_nothing_is_learned():
    row = "c = h_T, translations shuffled in training"
    kept = table("translation")
    assert max(kept[FIXED, row, f"{n} clause{'s' * (n > 1)}"].max for n in range(1, 7)) < 0.02


def test_equally_right_translators_have_unequal_maps():
    kept = table("translation")
    peaks = [seed for row in ENCODERS for seed in kept[ATTENTION, row, "peak"].seeds]
    rights = [seed for row in ENCODERS for seed in kept[ATTENTION, row, "1 clause"].seeds]
    assert min(rights) > 0.97
    assert max(peaks) - min(peaks) > 0.15
    for row in ENCODERS:
        untrained = kept[ATTENTION, f"{row}, untrained", "peak"]
        assert untrained.max < 0.35 < kept[ATTENTION, row, "peak"].min


def test_what_is_hidden_counts_more_where_neighbours_know_less():
    kept = table("translation")
    own = [kept[ATTENTION, row, "right, own characters hidden"].mean for row in ENCODERS]
    others = [kept[ATTENTION, row, "right, as many others hidden"].min for row in ENCODERS]
    assert own[0] > own[1] > own[2]
    assert min(others) > 0.95

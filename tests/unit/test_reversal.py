"""Copying backwards: the task is what it says, and the tables say how much one vector holds."""

import pytest
import torch

from wheretolook.evidence import table
from wheretolook.reversal import TRAINED, letters_right, reversals, train_reversal


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_target_is_the_source_backwards_and_the_end():
    source, target = reversals(50, 7, generator())
    assert torch.equal(target[:, :-1].flip(1), source)
    assert (target[:, -1] == 2).all() and source.min() >= 3


def test_every_letter_is_as_likely_as_any_other():
    source, _ = reversals(9_000, 10, generator())
    counts = source.flatten().bincount(minlength=12)[3:]
    assert counts.min() > 9_500 and counts.max() < 10_500


@pytest.mark.parametrize("attention", [False, True])
def test_the_same_seed_gives_the_same_history_twice(attention, tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    runs = [train_reversal(1, attention=attention, width=8, steps=3)[1].losses for _ in range(2)]
    assert runs[0] == runs[1] != train_reversal(2, attention=attention, width=8, steps=3)[1].losses


def test_untrained_it_is_at_chance():
    model, _ = train_reversal(steps=0)
    assert letters_right(model, 8) < 0.25


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reversals(0, 3, generator()), "count: expected 1 or more, got 0"),
        (lambda: reversals(1, 0, generator()), "length: expected 1 to 20, got 0"),
        (lambda: reversals(1, 21, generator()), "length: expected 1 to 20, got 21"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# what the table says


def right(row, length):
    return table("reversal")["", row, f"{length} letters"]


def test_a_wider_vector_holds_more_and_none_holds_all():
    longest = [right(f"c = h_T, D = {width}", TRAINED[-1]).mean for width in (16, 48, 128)]
    assert longest == sorted(longest) and longest[0] < 0.5 and longest[-1] < 0.95


def test_attention_holds_all_that_it_was_trained_on_and_nothing_beyond():
    assert right("attention, D = 48", TRAINED[-1]).mean > 0.95
    assert right("attention, D = 48", 20).max < 0.3


def test_with_shuffled_answers_it_stays_at_chance():
    assert right("c = h_T, D = 48, answers shuffled in training", 8).max < 0.25

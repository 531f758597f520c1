"""Scenes: digits where the caption says, named in order, and never in both parts."""

import pytest
import torch

from wheretolook.data.digits import digits
from wheretolook.data.scenes import (
    DIGITS,
    FIRST,
    NOISE,
    WORDS,
    arrange,
    cells,
    scenes,
)
from wheretolook.recurrent import END, PAD, START

SIDES = tuple(DIGITS)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("side", SIDES)
def test_captions_go_from_the_smallest_to_the_largest_and_twins_by_cell(side):
    some = scenes("test", count=500, side=side)
    named, gold = some.target[:, :-1], some.gold
    assert (some.target[:, -1] == END).all() and named.shape == gold.shape == (500, DIGITS[side])
    assert (named >= FIRST).all() and (named < len(WORDS)).all()
    steps = named.diff(dim=1)
    assert (steps >= 0).all()
    assert (gold.diff(dim=1)[steps == 0] > 0).all() and (steps == 0).any()


@pytest.mark.parametrize("side", SIDES)
def test_gold_cells_hold_their_digits_and_no_other_cell_does(side):
    images, labels = (part[:40].unflatten(0, (10, 4)) for part in digits("test"))
    some = arrange(images, labels, generator(), side)
    parts = cells(some.images, side)
    assert parts.shape == (10, side**2, 8, 8)
    for row in range(10):
        assert len(set(some.gold[row].tolist())) == 4
        left = list(range(4))
        for word, cell in zip(some.target[row], some.gold[row], strict=False):
            # ink is as it was, and noise shows only where there is none
            seen = parts[row, cell]
            same = [k for k in left if ((seen == images[row, k]) | (seen <= NOISE)).all()]
            (found,) = [k for k in same if (seen >= images[row, k]).all()]
            assert labels[row, found] + FIRST == word
            left.remove(found)
        empty = [cell for cell in range(side**2) if cell not in some.gold[row]]
        assert parts[row, empty].max() <= NOISE and parts[row, empty].min() >= 0


def test_cells_are_cut_row_by_row():
    image = torch.arange(9.0).view(1, 3, 3) / 9
    parts = cells(image.repeat_interleave(8, 1).repeat_interleave(8, 2), 3)
    assert torch.equal(parts[0, :, 5, 2], torch.arange(9.0) / 9)
    assert torch.equal(parts.amax((2, 3)), parts.amin((2, 3)))


def test_no_scene_of_one_part_shows_a_digit_of_the_other():
    known = {part: digits(part)[0].flatten(1) for part in ("training", "test")}
    for part, other in (("training", "test"), ("test", "training")):
        some = scenes(part, 1, count=20)
        seen = cells(some.images, 4)[torch.arange(20)[:, None], some.gold].flatten(0, 1).flatten(1)

        def shown(images, seen=seen):
            ink = images > NOISE  # brighter than any noise
            return [((images[None] == x) | ~ink).all(-1).any().item() for x in seen[:, None]]

        assert all(shown(known[part])) and not any(shown(known[other]))


def test_every_cell_is_as_likely_as_any_other():
    gold = scenes("training", count=4000).gold
    counts = gold.flatten().bincount(minlength=16)
    expected = gold.numel() / 16
    assert ((counts - expected) ** 2 / expected).sum() < 37.7  # chi-squared, 15 d.f., p = .001


def test_scenes_repeat_with_their_seed_only():
    first, again, other = (scenes("test", seed, count=30) for seed in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first.target, other.target)


def test_digits_and_reader_are_left_alone():
    before, state = digits("training")[0].clone(), torch.get_rng_state()
    scenes("training", count=50)
    assert torch.equal(before, digits("training")[0])
    assert torch.equal(state, torch.get_rng_state())


def test_words_are_numbered_as_in_every_target():
    assert (WORDS[PAD], WORDS[START], WORDS[END]) == ("<pad>", "<start>", "<end>")
    assert WORDS[FIRST] == "zero" and WORDS[FIRST + 9] == "nine" and len(WORDS) == FIRST + 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, y: cells(x[0], 5), "side: expected 3 or 4, got 5"),
        (lambda x, y: scenes("test", side=2), "side: expected 3 or 4, got 2"),
        (lambda x, y: scenes("test", count=0), "count: expected 1 or more, got 0"),
        (lambda x, y: scenes("all"), "part: expected 'training' or 'test', got 'all'"),
        (lambda x, y: cells(torch.zeros(1, 24, 24), 4), r"images: expected \(N, 32, 32\), got"),
        (lambda x, y: cells(torch.full((1, 24, 24), torch.nan), 3), "from 0 to 1, got nan"),
        (lambda x, y: cells(torch.full((1, 24, 24), torch.inf), 3), "from 0 to 1, got inf"),
        (lambda x, y: cells(torch.full((1, 24, 24), 16.0), 3), "from 0 to 1, got 16.0 in image 0"),
        (lambda x, y: arrange(x, y, generator(), 5), "side: expected 3 or 4, got 5"),
        (lambda x, y: arrange(x[0], y, generator(), 3), r"images: expected \(B, K, 8, 8\), K from"),
        (lambda x, y: arrange(x.repeat(1, 4, 1, 1), y, generator(), 3), r"K from 1 to 9; got \(2"),
        (lambda x, y: arrange(x - 1, y, generator(), 3), "pixels from 0 to 1, got -1.0"),
        (
            lambda x, y: arrange(x, y[:1], generator(), 3),
            r"labels: expected integers \(2, 3\), got",
        ),
        (lambda x, y: arrange(x, y.float(), generator(), 3), r"labels: .* got torch.float32"),
        (lambda x, y: arrange(x, y + 9, generator(), 3), "labels: expected 0 to 9, got 10"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call(torch.zeros(2, 3, 8, 8), torch.ones(2, 3, dtype=torch.long))

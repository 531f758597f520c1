"""Digits on canvases: whole, where they are said to be, and never in both parts."""

import pytest
import torch

from wheretolook.data.digits import CANVAS, DIGIT, canvases, digits, place


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_no_digit_is_in_both_parts():
    both = torch.cat([digits("training")[0], digits("test")[0]]).flatten(1)
    assert len(both) == 1797 == len(both.unique(dim=0))
    for part in ("training", "test"):
        images, labels = digits(part)
        assert images.min() == 0 and images.max() == 1 and len(images) == len(labels)
        assert labels.unique().tolist() == list(range(10))


def test_a_digit_lies_whole_where_its_middle_is_said_to_be():
    some = canvases("test", 3)
    images, labels = digits("test")
    assert torch.equal(some.labels, labels)
    corners = (some.centres + 1) / 2 * (CANVAS - 1) - (DIGIT - 1) / 2
    assert (corners - corners.round()).abs().max() < 1e-5
    corners = corners.round().int()
    for canvas, digit, (row, column) in zip(some.images, images, corners, strict=True):
        assert torch.equal(canvas[row : row + DIGIT, column : column + DIGIT], digit)
        assert canvas.sum() == digit.sum()  # and nothing else is there


def test_every_place_is_as_likely_as_any_other():
    _, centres = place(torch.ones(289 * 100, DIGIT, DIGIT), generator())
    _, counts = centres.unique(dim=0, return_counts=True)
    assert len(counts) == 17**2
    assert ((counts - 100) ** 2 / 100).sum() < 365  # chi-squared, 288 degrees of freedom, p = .001


def test_canvases_repeat_with_their_seed_only():
    first, again, other = (canvases("test", seed, copies=2) for seed in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first.centres, other.centres)
    assert len(first.images) == 2 * 397
    assert not torch.equal(first.centres[:397], first.centres[397:])


def test_the_digits_themselves_are_never_written_to():
    before = digits("training")[0].clone()
    canvases("training")
    assert torch.equal(before, digits("training")[0])


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (torch.zeros(3, 8, 9), r"images: expected \(N, 8, 8\), got \(3, 8, 9\)"),
        (torch.zeros(8, 8), r"images: expected \(N, 8, 8\), got \(8, 8\)"),
        (torch.full((1, 8, 8), 16.0), "pixels from 0 to 1, got 16.0 in image 0, row 0, column 0"),
        (torch.full((1, 8, 8), float("nan")), "pixels from 0 to 1, got nan in image 0"),
        (torch.full((1, 8, 8), float("inf")), "pixels from 0 to 1, got inf in image 0"),
    ],
)
def test_what_is_no_digit_says_so(images, message):
    with pytest.raises(ValueError, match=message):
        place(images, generator())


def test_what_there_is_not_says_so():
    with pytest.raises(ValueError, match="part: expected 'training' or 'test', got 'validation'"):
        canvases("validation")
    with pytest.raises(ValueError, match="copies: expected 1 or more, got 0"):
        canvases("test", copies=0)

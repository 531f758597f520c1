"""Masks have one polarity (True = may attend) and never fit by accident."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wheretolook.masks import causal_mask, check_mask, padding_mask

few = settings(deadline=None, max_examples=25)
sizes = st.integers(0, 6)


@few
@given(sizes)
def test_a_position_sees_itself_and_the_past(length):
    mask = causal_mask(length)
    assert mask.dtype == torch.bool
    assert all(mask[i, j] == (j <= i) for i in range(length) for j in range(length))


@few
@given(sizes, sizes, st.integers(-1, 2))
def test_pads_are_hidden_as_columns(batch, length, pad):
    ids = torch.randint(-1, 3, (batch, length))
    mask = padding_mask(ids, pad)
    assert mask.shape == (batch, 1, length)
    assert torch.equal(mask[:, 0], ids != pad)


def test_masks_combine_with_and():
    both = causal_mask(3) & padding_mask(torch.tensor([[5, 6, 0]]))
    assert both.int().tolist() == [[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]


def test_making_a_mask_leaves_the_ids_alone():
    ids = torch.tensor([[1, 0]])
    padding_mask(ids)[:] = False
    assert ids.tolist() == [[1, 0]]


@pytest.mark.parametrize("ids", [torch.zeros(3, dtype=torch.long), torch.zeros(2, 3)])
def test_ids_must_be_whole_numbers_in_two_axes(ids):
    with pytest.raises(ValueError, match=r"ids: expected integers of shape \(B, S\), got"):
        padding_mask(ids)


def test_a_length_is_not_negative():
    with pytest.raises(ValueError, match="length: expected .* got -1"):
        causal_mask(-1)


@pytest.mark.parametrize("shape", [(4, 5), (2, 4, 5), (1, 4, 5), (2, 1, 5), (1, 1, 1), (2, 4, 1)])
def test_a_mask_of_the_last_axes_or_of_all_axes_fits(shape):
    mask = torch.ones(shape, dtype=torch.bool)
    assert check_mask(mask, torch.zeros(2, 4, 5)) is mask


@pytest.mark.parametrize(
    "shape", [(), (5,), (1, 5), (4, 1), (5, 4), (3, 4, 5), (2, 1, 1, 5), (2, 4, 4)]
)
def test_a_mask_that_merely_broadcasts_does_not_fit(shape):
    with pytest.raises(ValueError) as error:
        check_mask(torch.ones(shape, dtype=torch.bool), torch.zeros(2, 4, 5))
    words = str(error.value)
    assert words.startswith("attn_mask: expected (L, S) = (4, 5)")
    assert "(2, 4, 5)" in words
    assert words.endswith(f"got {shape}")


@pytest.mark.parametrize("mask", [torch.ones(2, 2), torch.ones(2, 2).long(), [[True]], None])
def test_a_mask_is_a_bool_tensor(mask):
    with pytest.raises(ValueError, match="attn_mask: expected a bool tensor"):
        check_mask(mask, torch.zeros(2, 2))

"""Sinusoidal positions: a clock with D/2 hands."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wheretolook.positions import sinusoidal_positions

few = settings(deadline=None, max_examples=25)
lengths, pairs = st.integers(0, 200), st.integers(0, 16)


@few
@given(lengths, pairs)
def test_every_hand_is_on_the_unit_circle(length, hands):
    positions = sinusoidal_positions(length, 2 * hands)
    assert positions.shape == (length, 2 * hands)
    radius = positions.unflatten(1, (hands, 2)).square().sum(-1) if hands else torch.ones(1)
    torch.testing.assert_close(radius, torch.ones_like(radius))


@few
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(1, 16))
def test_the_dot_product_depends_on_the_distance_only(i, j, shift, hands):
    positions = sinusoidal_positions(121, 2 * hands).double()
    here, there = positions[i] @ positions[j], positions[i + shift] @ positions[j + shift]
    torch.testing.assert_close(here, there, atol=1e-5, rtol=0)


def test_it_is_the_formula_of_the_paper():
    positions = sinusoidal_positions(50, 8)
    for p in (0, 1, 49):
        for i in range(4):
            angle = torch.tensor(p / 10_000 ** (2 * i / 8), dtype=torch.float64)
            assert positions[p, 2 * i] == angle.sin().float()
            assert positions[p, 2 * i + 1] == angle.cos().float()


def test_late_positions_keep_their_digits():
    late = sinusoidal_positions(100_001, 2)[-1]
    angle = torch.tensor(100_000.0, dtype=torch.float64)
    torch.testing.assert_close(late, torch.stack([angle.sin(), angle.cos()]).float())


@pytest.mark.parametrize("width", [1, 7, -2])
def test_a_width_is_even(width):
    with pytest.raises(ValueError, match=f"width: expected an even number, 0 or more, got {width}"):
        sinusoidal_positions(3, width)


def test_a_length_is_not_negative():
    with pytest.raises(ValueError, match="length: expected 0 or more, got -1"):
        sinusoidal_positions(-1, 4)

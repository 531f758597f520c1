"""Fovea and priority map: what is shown is what is counted, and bad input is refused."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wheretolook.data.portrait import portrait, region
from wheretolook.saliency import (
    blend,
    colour_goal,
    foveate,
    peak,
    place_goal,
    priority,
    pyramid,
    radii,
    saliency,
    share_read,
    shares,
)

places = st.integers(-100, 100).map(lambda n: n / 100)
few = settings(deadline=None, max_examples=25)


def picture(size=32, seed=0):
    return torch.rand(3, size, size, generator=torch.Generator().manual_seed(seed))


# --- the fovea --------------------------------------------------------------------------------


def test_a_level_holds_the_means_of_its_squares():
    image = picture()
    for k, level in enumerate(pyramid(image, 4)):
        squares = image.unfold(1, 2**k, 2**k).unfold(2, 2**k, 2**k).mean((-2, -1))
        torch.testing.assert_close(level, squares)
        torch.testing.assert_close(level.mean(), image.mean())


def test_distances_double_the_smallest_detail():
    reach = radii(5, fovea=0.1, doubling=0.05)
    detail = [1 + (r - 0.1) / 0.05 for r in reach]
    assert detail == pytest.approx([1, 2, 4, 8, 16])


@few
@given(places, places)
def test_what_is_seen_sums_to_one_everywhere(row, column):
    seen = blend((24, 40), (row, column), radii())
    assert seen.min() >= 0
    torch.testing.assert_close(seen.sum(0), torch.ones(24, 40))


def test_it_is_sharp_at_the_gaze_and_only_there():
    image = picture(128)
    levels, reach = pyramid(image), radii()
    seen = foveate(levels, (0, 0), reach)
    torch.testing.assert_close(seen[:, 60:68, 60:68], image[:, 60:68, 60:68])
    assert (seen[:, :16, :16] - image[:, :16, :16]).abs().mean() > 0.1


def test_the_gaze_moves_what_is_sharp():
    image = picture(128)
    seen = foveate(pyramid(image), (-0.5, 0.5), radii())  # row 32, column 96
    torch.testing.assert_close(seen[:, 30:34, 94:98], image[:, 30:34, 94:98])


@few
@given(places, places)
def test_the_share_lies_between_the_coarsest_level_and_everything(row, column):
    share = share_read((48, 48), (row, column), radii())
    assert 4.0**-4 < share < 0.1


def test_the_share_counts_as_one_would_by_hand():
    # two levels, all sharp within half a side, all coarse beyond: no fading
    reach = [0.5, 0.5 + 1e-9]
    rows = (torch.arange(100) + 0.5) / 100 - 0.5
    inside = float((torch.hypot(rows[:, None], rows) < 0.5).float().mean())
    assert share_read((100, 100), (0, 0), reach) == pytest.approx(inside + (1 - inside) / 4)


def test_less_is_read_in_a_corner():
    shares_read = [share_read((96, 96), (x, x), radii()) for x in (0, -0.5, -1)]
    assert shares_read == sorted(shares_read, reverse=True)


@pytest.mark.parametrize("gaze", [(1.01, 0), (0, -2), (float("nan"), 0), (0, float("inf"))])
def test_a_gaze_outside_the_picture_is_refused(gaze):
    with pytest.raises(ValueError, match="gaze: expected a (row|column) from -1 to 1"):
        share_read((8, 8), gaze, radii())


@pytest.mark.parametrize("shape", [(32, 32), (1, 32, 32), (3, 30, 32), (2, 3, 32, 32)])
def test_a_picture_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"image: expected .* got \("):
        pyramid(torch.zeros(shape))


@pytest.mark.parametrize("what", [pyramid, saliency, lambda x: colour_goal(x, (1, 0, 0))])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_pixel_that_is_no_number_is_refused(what, bad):
    image = picture()
    image[1, 2, 3] = bad
    with pytest.raises(ValueError, match="image: expected finite numbers"):
        what(image)


# --- the priority map -------------------------------------------------------------------------


def test_what_differs_stands_out_in_brightness_and_in_colour():
    for colour in ([1, 1, 1], [0.9, 0.1, 0.5]):  # the second is as bright as the grey around it
        image = torch.full((3, 96, 96), 0.5)
        image[:, 70:76, 20:26] = torch.tensor(colour, dtype=torch.float32)[:, None, None]
        row, column = peak(saliency(image))
        assert abs(row - (73 / 48 - 1)) < 0.06 and abs(column - (23 / 48 - 1)) < 0.06


def test_a_lonely_dot_counts_more_than_one_of_many():
    image = torch.full((3, 96, 96), 0.5)
    image[:, 8::16, 8::16] = 1  # many bright dots
    image[0, 50:53, 50:53] = 1  # one red one
    row, column = peak(saliency(image))
    assert abs(row - (51.5 / 48 - 1)) < 0.06 and abs(column - (51.5 / 48 - 1)) < 0.06


def test_maps_are_shares():
    image = portrait(96)
    maps = [saliency(image), colour_goal(image, (1, 0, 0)), place_goal(region("face", 48))]
    maps.append(priority(maps[0], maps[2], 0.3))
    for amounts in maps:
        assert amounts.shape == (48, 48) and amounts.min() >= 0
        assert float(amounts.sum()) == pytest.approx(1, abs=1e-5)


def test_the_slider_goes_from_one_map_to_the_other():
    one, other = shares(picture()[0]), shares(picture(seed=1)[0])
    torch.testing.assert_close(priority(one, other, 0), one)
    torch.testing.assert_close(priority(one, other, 1), other)
    torch.testing.assert_close(priority(one, other, 0.5), (one + other) / 2)
    with pytest.raises(ValueError, match="goal: expected a number between 0 and 1, got 1.5"):
        priority(one, other, 1.5)


def test_attention_is_not_saliency():
    """The chapter's claim: the badge stands out, the face does not; with a goal it is first."""
    image, face = portrait(384), region("face", 48)
    bottom_up, top_down = saliency(image), place_goal(face)

    def first(amounts):
        return next(n for n in ("face", "badge") if amounts[region(n, 48)].max() == amounts.max())

    assert first(bottom_up) == "badge"
    assert bottom_up[face].sum() < face.float().mean()
    assert first(priority(bottom_up, top_down, 0.5)) == "face"


@pytest.mark.parametrize("bad", [[[0.0, 0.0]], [[-1.0, 2.0]], [[float("nan"), 1.0]]])
def test_what_is_no_amount_is_refused(bad):
    with pytest.raises(ValueError, match="amounts: expected finite numbers from 0 up"):
        shares(torch.tensor(bad))


def test_nothing_that_comes_in_is_changed():
    image = picture()
    before = image.clone()
    pyramid(image), saliency(image), colour_goal(image, (1, 0, 0))
    assert torch.equal(image, before)

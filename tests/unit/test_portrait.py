"""The photograph is there without a network, and says so where it is not."""

import socket
from importlib import resources

import pytest
import torch

from wheretolook.data import portrait as module
from wheretolook.data.portrait import ALT, REGIONS, portrait, region


def test_is_a_picture_of_the_size_asked_for():
    for size in (16, 100, 512):
        image = portrait(size)
        assert image.shape == (3, size, size) and image.dtype == torch.float32
        assert 0 <= image.min() < 0.1 and 0.9 < image.max() <= 1


def test_the_suit_is_orange_and_the_badge_is_not():
    image = portrait(128)
    red, green, blue = image[:, 75:80, 50:55].mean((1, 2))
    assert red > 1.5 * green > 1.5 * blue
    red, _, blue = image[:, region("badge", 128)].mean(1)
    assert blue > 0.7 * red


def test_needs_no_network(monkeypatch):
    def nobody(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr(socket, "socket", nobody)
    module._original.cache_clear()
    assert portrait(32).isfinite().all()


def test_nobody_can_change_it():
    portrait(512).zero_()
    assert portrait(512).mean() > 0.2


@pytest.mark.parametrize("size", [0, 15, 513, -4])
def test_another_size_is_refused(size):
    with pytest.raises(ValueError, match=f"size: expected 16 to 512 pixels, got {size}"):
        portrait(size)


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(resources, "files", missing)
    module._original.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=r"scikit-image.*wheretolook\[data\]"):
        portrait(32)
    monkeypatch.undo()
    assert portrait(32).shape == (3, 32, 32)


def test_regions_lie_inside_and_are_as_large_as_their_boxes():
    for name, (top, left, bottom, right) in REGIONS.items():
        assert 0 <= top < bottom <= 512 and 0 <= left < right <= 512
        assert int(region(name, 512).sum()) == (bottom - top) * (right - left)
        assert region(name, 48).any()
    with pytest.raises(ValueError, match="name: expected one of face, .*; got 'cat'"):
        region("cat", 48)


def test_it_has_words_and_a_source():
    assert "astronaut" in ALT
    assert "public domain" in module.__doc__ and "NASA" in module.__doc__

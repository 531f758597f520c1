"""The visual tokens: one place for every colour, legible in both themes."""

import re
from itertools import pairwise

import pytest

from wheretolook.explore.assets import part, parts
from wheretolook.tokens import COLOURS, FONTS, SIZES, css

THEMES = {"light": 0, "dark": 1}


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["ink", "muted", "bad", "good", "focus"])
def test_words_stand_out_from_the_surface(theme, name):
    at = THEMES[theme]
    least = 3 if name == "focus" else 4.5  # the focus ring is no text
    assert contrast(COLOURS[name][at], COLOURS["surface"][at]) >= least


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["hi", "negative", "series1", "series2", "series3", "series4"])
def test_what_is_drawn_stands_out_from_the_surface(theme, name):
    at = THEMES[theme]
    assert contrast(COLOURS[name][at], COLOURS["surface"][at]) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_the_ramp_reads_in_greyscale(theme):
    at = THEMES[theme]
    assert contrast(COLOURS["lo"][at], COLOURS["hi"][at]) >= 4.5


def test_every_token_is_a_property():
    written = css("x")
    for name in (*COLOURS, *FONTS, *SIZES):
        assert f"--wtl-{name}: " in written


def test_the_style_uses_no_token_that_does_not_exist():
    style = "".join(part(name, "css").removeprefix(css("wtl-explorer")) for name in parts())
    used = set(re.findall(r"var\(--wtl-([\w-]+)", style))
    assert used <= {*COLOURS, *FONTS, *SIZES}


def test_the_style_names_no_colour_of_its_own():
    style = "".join(part(name, "css").removeprefix(css("wtl-explorer")) for name in parts())
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(", style)


def test_the_curves_lightness_differs():
    for at in THEMES.values():
        series = sorted(luminance(COLOURS[f"series{i}"][at]) for i in range(1, 5))
        assert all(b - a > 0.001 for a, b in pairwise(series))

"""The visual tokens: one place for every colour, legible in both themes."""

import re
from itertools import pairwise
from math import dist

import pytest
from contrast import contrast, linear, luminance, rgb

from wheretolook.explore.assets import part, parts
from wheretolook.tokens import COLOURS, FONTS, SIZES, css

THEMES = {"light": 0, "dark": 1}


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["ink", "muted", "bad", "good", "focus"])
def test_words_stand_out_from_the_surface(theme, name):
    at = THEMES[theme]
    least = 3 if name == "focus" else 4.5  # the focus ring is no text
    assert contrast(rgb(COLOURS[name][at]), rgb(COLOURS["surface"][at])) >= least


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["hi", "negative", "series1", "series2", "series3", "series4"])
def test_what_is_drawn_stands_out_from_the_surface(theme, name):
    at = THEMES[theme]
    assert contrast(rgb(COLOURS[name][at]), rgb(COLOURS["surface"][at])) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_the_ramp_reads_in_greyscale(theme):
    at = THEMES[theme]
    assert contrast(rgb(COLOURS["lo"][at]), rgb(COLOURS["hi"][at])) >= 4.5


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
        series = sorted(luminance(rgb(COLOURS[f"series{i}"][at])) for i in range(1, 5))
        assert all(b - a > 0.001 for a, b in pairwise(series))


# Machado, Oliveira and Fernandes (2009), table 1: linear RGB as seen without one kind of cone.
BLIND = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = [0.9505, 1.0, 1.089]


def lab(colour, blindness):
    shown = [min(max(c, 0), 1) for c in times(BLIND[blindness], linear(rgb(colour)))]
    x, y, z = (
        c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116
        for c in (v / w for v, w in zip(times(XYZ, shown), WHITE, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("blindness", BLIND)
def test_a_signed_map_keeps_its_two_sides_without_one_kind_of_cone(theme, blindness):
    at = THEMES[theme]
    minus, zero, plus = (lab(COLOURS[n][at], blindness) for n in ("negative", "lo", "hi"))
    assert dist(minus, plus) >= 40  # 2 is just noticeable
    assert dist(zero, plus) >= 40 and dist(zero, minus) >= 40

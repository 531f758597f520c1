"""Pictures with a gaze on them: fovea, overlay, scan path."""

import json
import re
from base64 import b64decode
from io import BytesIO
from urllib.parse import unquote

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.image import imread
from PIL import Image

from wheretolook.data.portrait import ALT, portrait
from wheretolook.explore import Fovea, Overlay, ScanPath, explore
from wheretolook.saliency import pyramid, radii


@pytest.fixture(scope="module")
def levels():
    return pyramid(portrait(384))


def fovea(levels, gaze=(0, 0), **options):
    return Fovea(levels, radii(), gaze, **{"alt": ALT, **options})


def pictures(markup):
    sources = re.findall(r'src="data:image/(\w+);base64,([^"]+)"', markup)
    return [np.asarray(Image.open(BytesIO(b64decode(code)))) for _, code in sources]


def test_the_page_holds_the_levels_and_nothing_more(levels):
    markup = fovea(levels).markup(1, None)
    held = pictures(markup)
    assert [p.shape for p in held] == [(n, n, 3) for n in (24, 48, 96, 192, 384)]
    for level, got in zip(reversed(levels), held, strict=True):
        apart = np.abs(level.permute(1, 2, 0).numpy() * 255 - got)
        assert apart.mean() < 6
    assert sum(len(s) for s in re.findall(r'src="([^"]+)"', markup)) <= 60_000


def test_masks_fade_where_torch_does(levels):
    reach, markup = radii(), fovea(levels).markup(1, None)
    found = re.findall(r"--r:([\d.]+)%;--n:([\d.]+)%", markup)
    wanted = [(100 * reach[k + 1], 100 * reach[k] / reach[k + 1]) for k in (3, 2, 1, 0)]
    assert [tuple(map(float, pair)) for pair in found] == [
        pytest.approx(pair, rel=1e-3) for pair in wanted
    ]


def test_a_frame_is_only_a_place(levels):
    def draw(across=0.0, down=-0.5):
        return fovea(levels, (down, across), steer=("across", "down"))

    made = explore(draw, across=(-1, 1, 0.5), down=(-1, 1, 0.5))
    html = made.html(assets=False)
    assert html.count("data:image/") == 5  # once, whatever the number of frames
    data = json.loads(re.search(r"<script[^>]*json[^>]*>(.*?)</script>", html, re.S)[1])
    (view,) = data["views"]
    assert view["skeletons"] == [] and len(view["frames"]) == 25
    assert view["frames"][1][2][:3] == ["0%", "25%", ""]
    assert 'data-pad="across down"' in html and 'tabindex="0"' in html
    assert "--x:50%;--y:25%" in html
    assert f'aria-label="{ALT}"' in html and 'role="img"' in html


def test_without_controls_it_can_not_be_steered(levels):
    markup = fovea(levels).markup(1, None)
    assert "data-pad" not in markup and "tabindex" not in markup


def test_words_are_escaped(levels):
    view = fovea(levels, alt='<b>"x"</b>', title="<i>")
    markup = view.markup(1, view.values(1))
    assert "<b>" not in markup and "<i>" not in markup and "&lt;b&gt;" in markup


@pytest.mark.parametrize("gaze", [(1.2, 0), (0, -3), (float("nan"), 0)])
def test_a_gaze_outside_is_refused(levels, gaze):
    with pytest.raises(ValueError, match="gaze: expected row and column from -1 to 1"):
        fovea(levels, gaze)


def test_words_and_as_many_distances_as_levels_are_needed(levels):
    with pytest.raises(ValueError, match="alt: expected words"):
        fovea(levels, alt=" ")
    with pytest.raises(ValueError, match="reach: expected 5 distances, got 3"):
        Fovea(levels, radii(3), (0, 0), alt="x")


def test_it_says_where_it_is_sharp(levels):
    assert fovea(levels, (-0.5, 0.25)).describe() == f"{ALT}; sharp at row -0.50, column 0.25"


def printed(view):
    figure, axes = plt.subplots()
    view.plot(axes, 1)
    images = [np.asarray(i.get_array()) for i in axes.get_images()]
    plt.close(figure)
    return images


def test_the_printed_picture_is_composed_by_torch(levels):
    (image,) = printed(fovea(levels, (-0.5, 0.5)))
    sharp = levels[0].permute(1, 2, 0).numpy()
    np.testing.assert_allclose(image[90:100, 284:292], sharp[90:100, 284:292], atol=1e-5)
    assert np.abs(image[300:, :80] - sharp[300:, :80]).mean() > 0.01


def test_an_overlay_is_dark_where_the_map_is_low():
    weights = torch.tensor([[1.0, 0.25], [0.0, 0.0]])
    view = Overlay(portrait(32), weights, alt="bright at the upper left", gaze=(-0.5, -0.5))
    (source,) = re.findall(r"base64,([^)]+)\)", view.over())
    shade = np.asarray(Image.open(BytesIO(b64decode(source))))[..., -1] / 255
    np.testing.assert_allclose(shade, [[0, 0.4], [0.8, 0.8]], atol=0.01)
    assert "wtl-ring" in view.markup(1, None)
    photograph, dark = printed(view)
    assert photograph.shape == (32, 32, 3) and dark.shape == (2, 2, 4)
    for bad in ([[0.0, 0.0]], [[-1.0, 2.0]]):
        with pytest.raises(ValueError, match="weights: expected numbers from 0 up"):
            Overlay(portrait(32), bad, alt="x")


def test_overlays_of_one_explorer_hold_their_photograph_once():
    image, maps = portrait(64), [torch.rand(8, 8) for _ in range(3)]
    made = explore(lambda n: Overlay(image, maps[n], alt=f"map {n}"), n=(0, 2))
    assert made.html(False).count("data:image/webp") == 1


def test_a_scan_path_shows_picture_way_and_patch():
    image = np.zeros((24, 24))
    image[3, 20] = 1
    view = ScanPath(image, [[11.5, 11.5], [3, 20]], 8, alt="to the upper right")
    drawing, picture = view.over().split('"),url(')
    svg = unquote(drawing.split(",", 1)[1])
    assert "<rect x='16.5' y='-0.5' width='8' height='8'" in svg  # pixel 20 has its middle at 20.5
    assert "points='12.0,12.0 20.5,3.5'" in svg
    pixels = imread(BytesIO(b64decode(picture[:-1].split(",")[1])))
    np.testing.assert_allclose(pixels, image, atol=0.01)
    (shown,) = printed(view)
    np.testing.assert_array_equal(shown, image)


def test_a_scan_path_may_be_empty():
    view = ScanPath(np.eye(4), alt="a diagonal")
    assert view.over().startswith("url(data:image/png")
    (shown,) = printed(view)
    np.testing.assert_array_equal(shown, np.eye(4))


@pytest.mark.parametrize("path", [[[24.0, 3]], [[-1.0, 3]], [[1.0, 2, 3]]])
def test_a_path_that_leaves_the_picture_is_refused(path):
    with pytest.raises(ValueError, match="path: expected rows and columns from 0 to"):
        ScanPath(np.zeros((24, 24)), path, 8, alt="x")

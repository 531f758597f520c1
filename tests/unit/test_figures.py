"""Static figures: one style, any token, no complaint about glyphs."""

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from wheretolook import figures
from wheretolook.attention import attend

PNG = b"\x89PNG\r\n\x1a\n"
TOKENS = ["我", "爱", "$", r"$\frac{$", "a_b^c", "😀", "שלום", "</td>", "_", "", "a\nb"]


@pytest.fixture(autouse=True)
def strict():
    """A warning is a failure; no figure stays open."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    assert not plt.get_fignums()


@pytest.mark.parametrize("token", TOKENS)
def test_any_token_can_be_drawn_anywhere(token):
    def draw(axes):
        figures.matrix(axes[0], np.eye(1), [token], [token])
        axes[0].set_title(token)
        figures.bars(axes[1], np.ones(1), [token], limit=1)
        figures.curves(
            axes[2], np.arange(2), {token: np.ones(2), "b": np.zeros(2)}, x_name=token, y_name=token
        )
        figures.arrows(axes[3], np.ones((1, 2)), [token], np.ones(1))

    assert figures.png(draw, panels=4).startswith(PNG)


def test_chinese_has_a_font_here():
    """The book's own build installs one; without it a figure falls back in silence."""
    pytest.importorskip("pylopdf_fonts_zh_cn")
    assert figures.chinese_font() == "Noto Sans SC"


def test_without_a_chinese_font_nothing_complains(monkeypatch):
    monkeypatch.setattr(figures, "chinese_font", lambda: None)
    assert figures.png(lambda axes: axes[0].set_title("我爱中国")).startswith(PNG)


def test_the_style_ends_with_its_block():
    before = dict(mpl.rcParams)
    with figures.style():
        assert mpl.rcParams["axes.spines.top"] is False
    assert dict(mpl.rcParams) == before


def test_the_cells_show_torchs_numbers():
    torch.manual_seed(0)
    weights = attend(*torch.randn(3, 4, 8)).weights
    figure, axes = plt.subplots()
    figures.matrix(axes, weights.numpy(), list("abcd"), list("abcd"))
    plt.close(figure)
    assert [t.get_text() for t in axes.texts] == [f"{v:.2f}" for v in weights.flatten().tolist()]


def test_signed_numbers_have_a_minus_and_hidden_ones_infinity():
    figure, axes = plt.subplots()
    figures.matrix(axes, np.array([[-1.5, -np.inf]]), ["a"], ["x", "y"], limit=2, signed=True)
    plt.close(figure)
    assert [t.get_text() for t in axes.texts] == ["−1.50", "−∞"]


def test_a_large_map_goes_without_numbers():
    figure, axes = plt.subplots()
    figures.matrix(axes, np.eye(25), ["t"] * 25, ["t"] * 25)
    plt.close(figure)
    assert not axes.texts


def test_a_picture_comes_out_the_same_twice():
    once, again = (figures.png(lambda axes: axes[0].set_title("爱")) for _ in range(2))
    assert once == again

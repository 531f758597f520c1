"""The site's own extensions, one function at a time."""

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from _ext import access, explorers, look, maths
from _ext.execution import describe, digest
from _ext.fonts import subset
from fontTools.ttLib import TTFont
from nbformat.v4 import new_code_cell, new_notebook


@pytest.mark.parametrize(
    "latex",
    [
        r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{E}}\right)V",
        r"\begin{align} a &= \sum_{i=1}^{n} x_i \\ b &= \hat{c} \end{align}",
        r"\begin{split} a &= b \\ c &= d \end{split}",
        r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} \in \mathbb{R}^{L \times S}",
        r"\begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}",
        r"\mathbf{q} \cdot \mathcal{L} \le \lVert x \rVert",
    ],
)
def test_formula_becomes_mathml(latex):
    mathml = maths.to_mathml(latex, "block")
    assert mathml.startswith("<math") and "\\" not in mathml
    assert "columnalign" not in mathml  # browsers don't know it any more
    assert "(1)" not in mathml  # numbers are Sphinx's


@pytest.mark.parametrize(
    "latex", [r"\foo", r"\frac{a", r"\begin{aligned} a &= b \\ c &= d \end{aligned}", r"x_"]
)
def test_formula_that_cannot_be_set_is_refused(latex):
    with pytest.raises(ValueError):
        maths.to_mathml(latex, "inline")


def test_bars_of_a_norm_grow_only_when_asked_to():
    plain = maths.to_mathml(r"\lVert x \rVert", "inline")
    assert plain.count('stretchy="false"') == 2
    assert 'stretchy="false"' not in maths.to_mathml(r"\left\lVert x \right\rVert", "inline")


def test_font_has_the_italics_that_a_browser_draws():
    codes = maths.characters("<p>z</p><math><mi>h</mi><mi>&#x003B1;</mi></math>")
    assert {0x210E, 0x1D6FC} <= codes and ord("z") not in codes


def test_chinese_is_found_in_text_entities_and_escaped_data():
    found = look.chinese('<p>我 &#x7231;</p><script>{"a": "\\u4e2d"}</script> é')
    assert found == set(map(ord, "我爱中"))


def test_explorers_share_their_scripts_and_styles(tmp_path):
    body = "".join(
        f'<style data-wtl="explorer">b{{}}</style><style data-wtl="{kind}">i{{}}</style>'
        f'<wtl-explorer>{i}<script type="application/json">{{}}</script></wtl-explorer>'
        f'<script data-wtl="{kind}">let {kind};</script><script data-wtl="explorer">let a;</script>'
        for i, kind in enumerate(["maps", "arrows", "maps"])
    )
    linked = []
    app = SimpleNamespace(
        outdir=tmp_path,
        add_css_file=linked.append,
        add_js_file=lambda name, **options: linked.append(name),
    )
    context = {"body": body}
    explorers.hoist(app, "page", "page.html", context, None)
    assert all((tmp_path / "_static" / name).exists() for name in linked)
    kinds = [name.split(".")[1] for name in linked]
    assert sorted(kinds) == ["arrows", "arrows", "explorer", "explorer", "maps", "maps"]
    styles = [k for k, name in zip(kinds, linked, strict=True) if name.endswith("css")]
    scripts = [k for k, name in zip(kinds, linked, strict=True) if name.endswith("js")]
    assert styles[0] == "explorer" and scripts[-1] == "explorer"
    assert "data-wtl" not in context["body"] and context["body"].count("<wtl-explorer>") == 3
    assert context["body"].count("application/json") == 3

    linked.clear()
    explorers.hoist(app, "other", "page.html", {"body": "<p>none</p>"}, None)
    assert not linked


def test_digest_follows_code_tables_and_pins(tmp_path):
    (tmp_path / "src").mkdir()
    states = []
    for name in ("a.py", "a.js", "table.json", "../requirements.txt"):
        (tmp_path / "src" / name).write_text("1")
        states.append(digest(tmp_path))
    (tmp_path / "src/__pycache__").mkdir()
    (tmp_path / "src/__pycache__/a.pyc").write_text("1")
    assert len(set(states)) == 4 and digest(tmp_path) == states[-1]


def test_failed_cell_is_the_one_that_started_last():
    cells = [new_code_cell("1", execution_count=1, id="a"), new_code_cell("2", id="b")]
    assert describe(new_notebook(cells=cells)) == "cell 0, id a"
    assert describe(new_notebook(cells=[new_code_cell("1")])) == "before its first cell"


def test_subset_keeps_what_was_asked_and_the_larger_brackets():
    source = Path(find_spec("pylopdf_fonts_zh_cn").origin).with_name("NotoSansSC-Regular.otf")
    assert set(TTFont(BytesIO(subset(source, {0x6211}))).getBestCmap()) == {0x6211}

    source = Path(find_spec("ziamath").origin).parent / "fonts/STIXTwoMath-Regular.ttf"
    font = TTFont(BytesIO(subset(source, {ord("x"), ord("(")}, maths=True)))
    assert "MATH" in font and len(font.getGlyphOrder()) > 8


def test_markup_that_bars_the_way_is_mended():
    repeated = '<section id="exercise-content"><p>a</p></section>' * 2
    context = {"body": repeated + '<th class="head"><p></p></th><th class="head"><p>b</p></th>'}
    access.mend(None, "page", "page.html", context, None)
    assert 'id="' not in context["body"]
    assert context["body"].endswith('<td></td><th class="head"><p>b</p></th>')

"""The site's own extensions, one function at a time."""

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from _ext import access, bundle, explorers, look, maths, purge
from _ext.execution import describe, digest
from _ext.fonts import subset
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from nbformat.v4 import new_code_cell, new_notebook

from wheretolook.explore import assets


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


def test_a_single_letter_is_upright_when_asked_to():
    expectation, width = (maths.to_mathml(x, "inline") for x in (r"\mathrm{E}[x]", "E"))
    assert 'mathvariant="normal">E<' in expectation
    assert "mathvariant" not in width


@pytest.mark.parametrize("latex", [r"\log a_J", r"\ln 4", r"-\log \sum_k x_k", r"\ln \frac{1}{2}"])
def test_a_function_stands_off_from_its_argument(latex):
    assert maths.to_mathml(latex, "inline").count("</mi><mspace") == 1


@pytest.mark.parametrize("latex", [r"\exp(x)", r"\exp\left(x\right)", r"\log_2 x", r"\max_k x"])
def test_a_function_stands_close_to_a_bracket_and_to_its_index(latex):
    assert "mspace" not in maths.to_mathml(latex, "inline")


def test_font_has_the_italics_that_a_browser_draws():
    codes = maths.characters("<p>z</p><math><mi>h</mi><mi>&#x003B1;</mi></math>")
    assert {0x210E, 0x1D6FC} <= codes and ord("z") not in codes


def test_chinese_is_found_in_text_entities_and_escaped_data():
    found = look.chinese('<p>我 &#x7231;</p><script>{"a": "\\u4e2d"}</script> é')
    assert found == set(map(ord, "我爱中"))


@pytest.mark.parametrize("ending, core", [("css", 0), ("js", -1)])
def test_joined_parts_have_the_core_where_it_must_stand(ending, core):
    joined = explorers.join(assets.parts(), ending)
    places = {name: joined.find(assets.part(name, ending)) for name in assets.parts()}
    assert min(places.values()) >= 0
    written = [name for name in places if assets.part(name, ending)]
    assert sorted(written, key=places.get)[core] == assets.CORE


def test_a_page_with_an_explorer_asks_for_one_script_with_what_it_uses(tmp_path):
    asked = []
    app = SimpleNamespace(
        outdir=tmp_path,
        builder=SimpleNamespace(format="html"),
        add_js_file=lambda name, **options: asked.append(name),
    )
    explorers.write_style(app)
    explorers.hoist(app, "other", "page.html", {"body": "<p>none</p>"}, None)
    assert asked == []
    data = '<script type="application/json">{}</script>'
    context = {"body": f"{assets.styles(['maps'])}<wtl-explorer>{data}</wtl-explorer>"}
    context["body"] += assets.scripts(["maps", "save"])
    explorers.hoist(app, "page", "page.html", context, None)
    assert asked == ["explorer-maps-save.js"]
    assert context["body"] == f"<wtl-explorer>{data}</wtl-explorer>"
    script = (tmp_path / "_static/explorer-maps-save.js").read_text(encoding="utf-8")
    used = {name for name in assets.parts() if assets.part(name, "js") in script}
    assert {"explorer", "maps", "save"} <= used and "plane" not in used


@pytest.mark.parametrize(
    "selector",
    [
        "p",
        ".shown:hover > a",
        ".shown:not(.never)",
        ":is(.never, .shown)",
        '[data-theme="dark"] .shown',
        "#place",
        ".in-data",
        ".opened",
        ".bs-tooltip-auto",
        r".half\/shown",
    ],
)
def test_a_rule_stays_if_something_may_be_called_so(selector):
    pages = '<p id="place" class="shown half/shown">{"markup": "<p class=\\"in-data\\">"}'
    known = purge.names(pages, "e.classList.add('opened', `bs-${name}-auto`)")
    kept = purge.purge(f".never, {selector} {{ top: 0 }} .never {{ top: 0 }}", known)
    assert kept == f"{selector}{{top: 0}}"


def test_a_rule_goes_with_its_surroundings_and_what_is_no_rule_stays():
    css = (
        "@media print { .never { top: 0 } } @supports (top: 0) { .never .shown { top: 0 } }"
        '@font-face { src: url("a.woff2") } @keyframes never { to { top: 0 } }'
    )
    kept = purge.purge(css, purge.names('<p class="shown">', ""))
    assert "media" not in kept and "supports" not in kept
    assert "a.woff2" in kept and "keyframes never" in kept


PAGE = """<html><head>
<link href="_static/styles/theme.css?digest=1" rel="stylesheet" />
<link rel="stylesheet" type="text/css" href="_static/book.css?v=1" />
<link rel="preload" as="script" href="_static/scripts/theme.js?digest=1" />
<link rel="icon" href="_static/icon.svg"/>
<script src="_static/documentation_options.js?v=1"></script>
<script src="_static/doctools.js?v=1"></script>
<script>OPTIONS.page = "one";</script>
<script src="_static/searchtools.js"></script>
<script defer="defer" src="_static/explorer-maps.js?v=1"></script>
<script src="searchindex.js"></script>
</head><body><script type="application/json">{}</script>
<script defer src="_static/scripts/theme.js?digest=1"></script></body></html>"""


def test_a_page_asks_for_what_was_joined_and_nothing_waits_for_it():
    page = BeautifulSoup(bundle.lighten(PAGE, "const OPTIONS = {};"), "html.parser")
    assert [link["href"] for link in page("link")] == ["_static/icon.svg", "_static/site.css"]
    lines = page.select("head script:not([src])")
    assert [line.text for line in lines] == ["const OPTIONS = {};", 'OPTIONS.page = "one";']
    assert not page.select('link[rel="stylesheet"] ~ script:not([src])')
    scripts = page.select("script[src]")
    assert [script["src"] for script in scripts] == [
        "_static/explorer-maps.js?v=1",
        "_static/site.js",
        "_static/searchtools.js",
        "searchindex.js",
    ]
    assert all(script.has_attr("defer") for script in scripts)
    assert page.body.script.text == "{}"


def test_a_joined_style_sheet_brings_its_imports_and_finds_its_files(tmp_path):
    (tmp_path / "styles").mkdir()
    (tmp_path / "basic.css").write_text("a { background: url(file.png) }")
    (tmp_path / "styles/theme.css").write_text(
        '@charset "UTF-8";@import "../basic.css";'
        'b { src: url("../fonts/a.woff2") } i { mask: url(data:image/svg+xml,x) }'
    )
    assert bundle.sheet(tmp_path, "styles/theme.css") == (
        "a { background: url(file.png) }"
        "b { src: url(fonts/a.woff2) } i { mask: url(data:image/svg+xml,x) }"
    )


def test_joined_scripts_leave_each_other_alone(page_factory, tmp_path):
    (tmp_path / "strict.js").write_text('"use strict";\nlet one = 1\n//# sourceMappingURL=a.map')
    (tmp_path / "loose.js").write_text("(() => { two = one + 1; })()")
    joined = bundle.script(tmp_path, "strict.js") + bundle.script(tmp_path, "loose.js")
    page = page_factory(f"<script>{joined}</script>")
    assert page.problems == [] and page.evaluate("two") == 2


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

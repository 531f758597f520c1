"""Set mathematics as MathML when the book is built: no script, real text, no network."""

import re
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unicodedata import normalize
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from .fonts import read_pages, subset

LOGGER = logging.getLogger(__name__)
# A named function stands off from what follows, unless that is a bracket.
FUNCTION = re.compile(
    r"(<mrow>|</\w+>)(<mi>(?:cos|exp|lim|ln|log|max|min|sin|tan|tanh)</mi>)"
    r"(?=<m(?!o\b|row><mo\b[^>]*fence))"
)
# How many children MathML demands: fewer mean that a brace was missing.
ARITY = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2} | {
    "msubsup": 3,
    "munderover": 3,
}
ITALIC = {
    normalize("NFKC", chr(code)): code
    for code in (*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C), 0x210E)
}

FONT = "_static/stix-two-math.woff2"
# Not in a folder: there no server says who may read it, and a browser refuses.
EARLY = """if (location.protocol !== "file:") document.head.append(Object.assign(
document.createElement("link"), { rel: "preload", as: "font", crossOrigin: "", href: "%s" }));"""


def to_mathml(latex: str, display: str) -> str:
    r"""Convert one formula.

    Parameters
    ----------
    latex : str
        The formula, without dollar signs.
    display : {'inline', 'block'}
        How it is set.

    Returns
    -------
    str
        A ``<math>`` element.

    Raises
    ------
    ValueError
        If a command isn't known or an argument is missing. latex2mathml itself
        lets both through: ``\foo`` would be shown to the reader as it stands.
    """
    # Sphinx numbers equations; a starred environment leaves that to it.
    latex = re.sub(r"\\(begin|end)\{(align|gather|equation)\}", r"\\\1{\2*}", latex.strip())
    if re.match(r"\\begin\{equation\*\}", latex):
        latex = re.sub(r"\\(begin|end)\{equation\*\}", "", latex)
    # A single upright letter (the expectation, Euler's number) stays upright if it has a neighbour.
    latex = re.sub(r"\\mathrm\{(\w)\}", r"\\mathrm{\1 }", latex)
    try:
        mathml = convert(latex, display=display)
        tree = ElementTree.fromstring(mathml)
    except Exception as error:
        raise ValueError(f"no MathML for {latex!r}: {error or type(error).__name__}") from error
    for element in tree.iter():
        name = element.tag.rpartition("}")[2]
        if "\\" in (element.text or ""):
            raise ValueError(f"no MathML for {element.text} in {latex!r}")
        if name in ARITY and len(element) != ARITY[name]:
            raise ValueError(f"an argument is missing in {latex!r}")
    mathml = FUNCTION.sub(r'\1\2<mspace width="0.17em"/>', mathml)
    # The bars of a norm grow with their line unless told not to (\left\lVert says otherwise).
    mathml = mathml.replace("<mo>&#x02016;</mo>", '<mo stretchy="false">&#x02016;</mo>')
    # Browsers implement MathML Core, which aligns columns by style.
    return re.sub(r'columnalign="(\w+)"', r'style="text-align: \1"', mathml)


def render(translator: HTML5Translator, node: nodes.Element, display: str) -> str:
    """Convert a node's formula; a warning, which fails the build, says where it stands."""
    try:
        return to_mathml(node.astext(), display)
    except ValueError as error:
        LOGGER.warning("%s", error, location=node, type="maths")
        return ""


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(render(translator, node, "inline"))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number if it has a label."""
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    translator.body.append(render(translator, node, "block"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def characters(pages: str) -> set[int]:
    """Collect the characters of all formulas; a browser sets single letters in italics."""
    text = unescape("".join(re.findall(r"<math.*?</math>", pages, re.DOTALL)))
    used = set(re.sub(r"<[^>]*>", "", text))
    used.add("√")  # an element of its own, never written as a character
    return {ord(c) for c in used} | {ITALIC[c] for c in used if c in ITALIC}


def write_font(app: Sphinx, error: Exception | None) -> None:
    """Write the part of STIX Two Math that the formulas need, larger brackets included."""
    if error or app.builder.format != "html":
        return
    # Found without an import: the package would load its whole font.
    source = Path(find_spec("ziamath").origin).parent / "fonts/STIXTwoMath-Regular.ttf"
    font = subset(source, characters(read_pages(app)), maths=True)
    (Path(app.outdir) / FONT).write_bytes(font)


def ask_early(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Let a page with formulas ask for their font at once, not only when its style is there.

    A line breaks elsewhere when its formulas get their font, and what stands below would jump.
    """
    if "<math" in context.get("body", ""):
        app.add_js_file(None, body=EARLY % context["pathto"](FONT, resource=True))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("html-page-context", ask_early)
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

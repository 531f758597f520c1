"""Draw what stands for the book elsewhere: its icon in a tab, its card where a page is shared.

Both come from the visual tokens, when the site is built.
"""

from html import escape
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any

from docutils import nodes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from sphinx.application import Sphinx

from wheretolook.figures import colour, style
from wheretolook.tokens import COLOURS

# The book's mark: three rows of three squares, each row most of all at one of them.
MARK = ((1.0, 0.3, 0.15), (0.2, 1.0, 0.3), (0.15, 0.45, 1.0))
SIZE = (1200, 630)  # what networks ask for
ALT = (
    "{title}, in large letters; above it: {book}. Beside it the book's mark, "
    "three rows of three squares, of which the diagonal is darkest."
)


def favicon() -> str:
    """Write the mark as SVG, which follows the reader's choice of light or dark."""
    light, dark = COLOURS["hi"]
    squares = "".join(
        f'<rect x="{1 + 10.5 * j}" y="{1 + 10.5 * i}" width="9" height="9" rx="2" opacity="{w}"/>'
        for i, row in enumerate(MARK)
        for j, w in enumerate(row)
    )
    scheme = f"rect{{fill:{light}}}@media(prefers-color-scheme:dark){{rect{{fill:{dark}}}}}"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f"<style>{scheme}</style>{squares}</svg>\n"
    )


def card(title: str, book: str) -> bytes:
    """Draw a page's card.

    Parameters
    ----------
    title : str
        The page's title.
    book : str
        The book's, which stands above it.

    Returns
    -------
    bytes
        A PNG of 1200 × 630 pixels.
    """
    with style():
        figure = Figure(figsize=(12, 6.3), dpi=100)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 12), ylim=(0, 6.3))
        axes.set_axis_off()
        for i, row in enumerate(MARK):
            for j, weight in enumerate(row):
                corner = (8.2 + 1.05 * j, 3.6 - 1.05 * i)
                box = FancyBboxPatch(corner, 0.7, 0.7, "round,pad=0.1", lw=0, fc=colour("hi"))
                box.set_alpha(weight)
                axes.add_patch(box)
        text = {"x": 0.8, "ha": "left", "color": colour("ink")}
        axes.text(y=5.2, s=book, fontsize=22, va="center", **text | {"color": colour("hi")})
        lines = "\n".join(wrap(title, 17))
        axes.text(y=4.3, s=lines, fontsize=46, va="top", linespacing=1.15, **text)
        buffer = BytesIO()
        figure.savefig(buffer, format="png", dpi=100, metadata={"Software": None})
    return buffer.getvalue()


def name(page: str) -> str:
    """Name a page's card."""
    return f"_static/cards/{page.replace('/', '-')}.png"


def describe(doctree: nodes.document, least: int = 90, most: int = 220) -> str:
    """Say what a page is about, in its own first words: whole paragraphs, up to a length."""
    said = ""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section) and len(said) < least:
            said += " " + " ".join(paragraph.astext().split())
    said = said.strip()
    return said if len(said) <= most else said[:most].rsplit(" ", 1)[0] + " …"


def write_favicon(app: Sphinx) -> None:
    """Write the icon beside the other tokens."""
    if app.builder.format == "html":
        file = Path(app.outdir) / "_static/favicon.svg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(favicon(), encoding="utf-8")


def tag(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Tell browsers, networks and search engines what a page is, and how it is pictured."""
    context["favicon_url"] = "favicon.svg"  # Sphinx adds where it lies
    if doctree is None:  # the index, the search
        return
    config = app.config
    base, book = config.html_baseurl, config.html_title
    title, about = app.env.titles[page].astext(), describe(doctree)
    image = ALT.format(title=title, book=book)
    said = {
        "og:type": "book" if page == config.root_doc else "article",
        "og:site_name": book,
        "og:title": title,
        "og:description": about,
        "og:url": f"{base}{page}.html",
        "og:image": f"{base}{name(page)}",
        "og:image:width": SIZE[0],
        "og:image:height": SIZE[1],
        "og:image:alt": image,
    }
    lines = [f'<meta property="{k}" content="{escape(str(v))}" />' for k, v in said.items()]
    lines.append(f'<meta name="description" content="{escape(about)}" />')
    lines.append('<meta name="twitter:card" content="summary_large_image" />')
    # The changelog of releases is the book's feed; GitHub writes it.
    feed = f"{config.html_theme_options['repository_url']}/releases.atom"
    lines.append(f'<link rel="alternate" type="application/atom+xml" title="{book}" href="{feed}">')
    context["metatags"] = context.get("metatags", "") + "\n".join(["", *lines, ""])


def draw_cards(app: Sphinx, error: Exception | None) -> None:
    """Draw the cards of all pages, and remove those of pages that are gone."""
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static/cards"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {Path(app.outdir) / name(page): page for page in app.env.found_docs}
    for file in set(folder.iterdir()) - wanted.keys():
        file.unlink()
    for file, page in wanted.items():
        file.write_bytes(card(app.env.titles[page].astext(), app.config.html_title))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_favicon)
    app.connect("html-page-context", tag, priority=400)  # before Sphinx turns the icon to a path
    app.connect("build-finished", draw_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Mend what bars the way to readers who use a keyboard or a screen reader."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# What others write into a page: what stands there better.
MENDED = {
    '<th class="head"><p></p></th>': "<td></td>",  # a table's empty corner heads nothing
    ' role="doc-biblioentry"': ' role="listitem"',  # the former is deprecated; they form a list
    # sphinx-exercise gives these ids to every exercise of a page
    '<section id="exercise-content">': "<section>",
    '<section id="solution-content">': "<section>",
    # a link begins with its first word, not with the blank before it
    "Solution to<a ": "Solution to <a ",
    '"> Exercise ': '">Exercise ',
    # the words below say more: "Show solution", "Show the code"
    '<summary aria-label="Toggle hidden content">': "<summary>",
}


def mend(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Mend the markup of one page's body."""
    for found, better in MENDED.items():
        context["body"] = context.get("body", "").replace(found, better)


def name_the_sidebar(app: Sphinx, error: Exception | None) -> None:
    """Make the whole sidebar a landmark: the book's name stands in it, outside the theme's own."""
    if error or app.builder.format != "html":
        return
    bare = 'id="pst-primary-sidebar" class='
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if bare in text:
            named = bare.replace("class=", 'role="navigation" aria-label="Book" class=')
            page.write_text(text.replace(bare, named), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", mend)
    app.connect("build-finished", name_the_sidebar)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

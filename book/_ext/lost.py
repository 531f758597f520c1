"""Make the page that a server shows for an address where nothing is: 404.html."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config

# What a page says relative to itself; neither a whole address nor a place on the page.
RELATIVE = re.compile(
    r'\b(href|src|action|data-content_root)="(?!#|/|[a-z][a-z+.-]*:)(?:\./)?([^"]*)"', re.IGNORECASE
)


def add_page(app: Sphinx, config: Config) -> None:
    """Have the page written from its template."""
    # Relative: it goes into .buildinfo, which is to be the same wherever the book lies.
    templates = Path(__file__).parents[1] / "_templates"
    config.templates_path.append(os.path.relpath(templates, app.confdir))
    config.html_additional_pages["404"] = "404.html"


def anchor(page: str, base: str) -> str:
    """Let all links of a page begin at the site's root.

    The server sends the page for any address, however deep, so nothing on it may depend on where
    the browser believes it is.

    Parameters
    ----------
    page : str
        HTML, as written for the root of the site.
    base : str
        The site's published address.

    Returns
    -------
    str
        The page, whose links hold at any depth.

    Examples
    --------
    >>> anchor('<a href="book/intro.html"><a href="#top">', "https://a.org/b/")
    '<a href="/b/book/intro.html"><a href="#top">'
    """
    root = urlsplit(base).path.rstrip("/")
    return RELATIVE.sub(rf'\1="{root}/\2"', page)


def anchor_page(app: Sphinx, error: Exception | None) -> None:
    """Rewrite the links of the written page."""
    file = Path(app.outdir) / "404.html"
    if error or app.builder.name != "html" or not file.exists():
        return
    page = anchor(file.read_text(encoding="utf-8"), app.config.html_baseurl)
    file.write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", add_page)
    app.connect("build-finished", anchor_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

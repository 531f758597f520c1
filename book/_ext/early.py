"""Copy two extensions' styles before the pages are written, not after.

A page names the checksum of each style, so that a browser asks for a changed one. Of a style that
is not there yet Sphinx names none: a first build's pages would not be those of a second one.
"""

from pathlib import Path

from myst_nb.sphinx_ext import add_global_html_resources
from sphinx.application import Sphinx
from sphinx_exercise import copy_asset_files


def copy_styles(app: Sphinx) -> None:
    """Let both extensions copy now what they would copy at the end."""
    if app.builder.format == "html":
        (Path(app.outdir) / "_static").mkdir(parents=True, exist_ok=True)
        add_global_html_resources(app, None)
        copy_asset_files(app, None)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", copy_styles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Give all explorers of the site the same scripts and styles, in files that a browser keeps."""

import hashlib
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from wheretolook.explore.assets import CORE

from .fonts import read_pages

# In a notebook every output carries its parts, since no other cell may be there.
PART = re.compile(r'<(style|script) data-wtl="([a-z]+)">(.*?)</\1>\s*', re.DOTALL)
SUFFIX = {"style": "css", "script": "js"}


def hoist(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Move the parts out of one page's body; a page links only to those that it uses."""
    parts = dict.fromkeys(PART.findall(context.get("body", "")))
    # the core's style stands before the views', and its script, which starts them, after theirs
    for kind, part, text in sorted(parts, key=lambda p: (p[1] == CORE) == (p[0] == "script")):
        name = f"explorer.{part}.{hashlib.sha256(text.encode()).hexdigest()[:8]}.{SUFFIX[kind]}"
        target = Path(app.outdir) / "_static" / name
        target.parent.mkdir(exist_ok=True)
        if not target.exists():
            target.write_text(text, encoding="utf-8")
        if kind == "style":
            app.add_css_file(name)
        else:
            app.add_js_file(name, defer="")
    if parts:
        context["body"] = PART.sub("", context["body"])


def prune(app: Sphinx, error: Exception | None) -> None:
    """Remove the files of earlier versions, which no page links to any more."""
    if error or app.builder.format != "html":
        return
    pages = read_pages(app)
    for file in (Path(app.outdir) / "_static").glob("explorer.*.*.*"):
        if file.name not in pages:
            file.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", hoist)
    app.connect("build-finished", prune)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Give all explorers of the site the same script and style, which a browser keeps."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from wheretolook.explore.assets import CORE, part, parts

# In a notebook every output carries its parts, since no other cell may be there.
PART = re.compile(r'<(style|script) data-wtl="[a-z]+">.*?</\1>\s*', re.DOTALL)


def write_parts(app: Sphinx) -> None:
    """Write all styles, the core's before the views', and all scripts, the core's behind them."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    views = [name for name in parts() if name != CORE]
    for ending, order in (("css", [CORE, *views]), ("js", [*views, CORE])):
        text = "\n".join(filter(None, (part(name, ending) for name in order)))
        (static / f"explorer.{ending}").write_text(text, encoding="utf-8")


def hoist(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Move the parts out of a page's body; a page without an explorer asks for no script."""
    body, count = PART.subn("", context.get("body", ""))
    if count:
        context["body"] = body
        app.add_js_file("explorer.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_parts)
    app.add_css_file("explorer.css")
    app.connect("html-page-context", hoist)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Give the explorers of a page one script with what they use, and all of the site one style."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from wheretolook.explore.assets import CORE, part, parts

# In a notebook every output carries its parts, since no other cell may be there.
PART = re.compile(r'<(style|script) data-wtl="([a-z]+)">.*?</\1>\s*', re.DOTALL)


def join(kinds: Iterable[str], ending: str) -> str:
    """Join the parts of some kinds of views: styles after the core's, scripts before it."""
    views = sorted(set(kinds) - {CORE})
    order = [CORE, *views] if ending == "css" else [*views, CORE]
    return "\n".join(filter(None, (part(name, ending) for name in order)))


def write_style(app: Sphinx) -> None:
    """Write the style of all views; the rules that no page needs are left out at the end."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    (static / "explorer.css").write_text(join(parts(), "css"), encoding="utf-8")


def hoist(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Move the parts out of a page's body into a script that is named after them.

    A page loads what it uses, in one file: pages with the same views share it, and a page without
    an explorer asks for none.
    """
    used = {name for tag, name in PART.findall(context.get("body", "")) if tag == "script"}
    if not used:
        return
    context["body"] = PART.sub("", context["body"])
    name = "-".join(["explorer", *sorted(used - {CORE})]) + ".js"
    (Path(app.outdir) / "_static" / name).write_text(join(used, "js"), encoding="utf-8")
    app.add_js_file(name, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_style)
    app.add_css_file("explorer.css")
    app.connect("html-page-context", hoist)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

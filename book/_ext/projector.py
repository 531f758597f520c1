"""Put the button of the projector mode into the header of each page."""

from typing import Any

from sphinx.application import Sphinx

# Before anything is laid out: a lecture goes over several pages, and none may jump.
BEGIN = """if (new URLSearchParams(location.search).has("projector") ||
sessionStorage.getItem("projector")) document.documentElement.dataset.projector = "";"""
BUTTON = {
    "type": "javascript",
    "javascript": "",  # projector.js listens: it is one with the key
    "tooltip": "Projector: large type, no side bars (Alt+P)",
    "icon": "fas fa-person-chalkboard",
    "label": "projector",
    "classes": "pst-navbar-icon pst-js-only",
}


def add_button(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Add it to those of the theme."""
    context.setdefault("header_buttons", []).append(BUTTON)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_js_file(None, body=BEGIN, priority=0)
    # The theme adds its buttons at priority 501.
    app.connect("html-page-context", add_button, priority=502)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

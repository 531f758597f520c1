"""Let a page work where the browser keeps nothing for it: cookies blocked, or a frame shut off.

There the mere name of a storage raises, and the theme's script and all that is joined to it stop.
"""

from typing import Any

from sphinx.application import Sphinx

# What stands in remembers for as long as the page is open.
STAND_IN = """<script>
for (const name of ["localStorage", "sessionStorage"]) try { window[name].length; } catch {
  const kept = new Map();
  Object.defineProperty(window, name, { value: {
    getItem: key => kept.get(key) ?? null,
    setItem: (key, value) => { kept.set(key, `${value}`); },
    removeItem: key => { kept.delete(key); },
  } });
}
</script>
"""


def stand_in(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Put it before the first script of the theme, which stands behind the meta elements."""
    context["metatags"] = context.get("metatags", "") + STAND_IN


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", stand_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

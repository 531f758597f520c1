"""Take out of the written site what is foreign, unused or much too large."""

import re
from pathlib import Path

from sphinx.application import Sphinx

from .fonts import subset

# The theme's icon script (1.5 MB) repeats what its icon font can do, and thebe
# is switched off but still names its foreign script on every page.
UNWANTED = re.compile(
    r"\s*(<script[^>]*(fontawesome|sphinx-thebe)\.js[^>]*></script>"
    r"|<script>const THEBE_JS_URL[^<]*</script>"
    r"|<link[^>]*sphinx-thebe\.css[^>]*/>)"
)
DEAD = ("*.map", "*.LICENSE.txt", "fontawesome.js", "sphinx-thebe.*", "fa-*.ttf", "sbt-webpack*")
DEAD += ("webpack-macros.html", "locales", "logo_deepnote.svg", "logo_jupyter*.svg")
ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\?([^"]+)"\}')


def icons(static: Path, pages: str) -> set[int]:
    """Find the icons in use: by class name in pages and scripts, by number in styles."""
    css = "".join(path.read_text(encoding="utf-8") for path in static.rglob("*.css"))
    js = "".join(path.read_text(encoding="utf-8") for path in static.rglob("*.js"))
    named = set(re.findall(r"\bfa-[a-z0-9-]+", pages + js))
    codes = {code for names, code in ICON_RULE.findall(css) if named & set(
        re.findall(r"fa-[\w-]+", names))}
    codes |= set(re.findall(r"\\(f[0-9a-f]{3})\b", ICON_RULE.sub("", css)))
    return {int(code, 16) if len(code) > 1 else ord(code) for code in codes}


def trim(app: Sphinx, error: Exception | None) -> None:
    """Clean the pages, drop dead files and keep only the icons in use."""
    if error or app.builder.format != "html":
        return
    out, static = Path(app.outdir), Path(app.outdir) / "_static"
    pages = ""
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        clean = UNWANTED.sub("", text)
        if clean != text:
            page.write_text(clean, encoding="utf-8")
        pages += clean
    for pattern in DEAD:
        for path in static.rglob(pattern):
            path.unlink() if path.is_file() else None
    codes = icons(static, pages)
    for font in static.rglob("fa-*.woff2"):
        font.write_bytes(subset(font, codes))
    (out / ".nojekyll").touch()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", trim, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

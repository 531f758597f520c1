"""Take out of the written site what is foreign, unused or much too large."""

import re
import shutil
from pathlib import Path

from docutils.nodes import document
from PIL import Image
from sphinx.application import Sphinx
from sphinx.config import Config

from .fonts import subset

# The theme's icon script (1.5 MB) repeats what its icon font can do.
ICON_SCRIPT = re.compile(r"\s*<script[^>]*fontawesome\.js[^>]*></script>")
# The search's tools and index (50 KB compressed): what the reader types is sent to the search page.
SEARCH_SCRIPT = re.compile(
    r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
)
DEAD = (
    *("*.map", "*.LICENSE.txt", "*webpack-macros.html", "fontawesome.js", "fa-*.ttf"),
    *("locales", "logo_deepnote.svg", "logo_jupyter*.svg"),
)
LOGO = (48, 48)  # pixels, of a picture that is shown at a third of that
ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:{1,2}before,?)+)\{content:"\\?([^"]+)"\}')
ICON_CODE = re.compile(r"\\(f[0-9a-f]{3})\b|([\ue000-\uf8ff])")


def switch_off_thebe(app: Sphinx, config: Config) -> None:
    """Disconnect thebe, which even when switched off names its foreign script on every page."""
    for listeners in app.events.listeners.values():
        for listener in list(listeners):
            if listener.handler.__module__ == "sphinx_thebe":
                app.disconnect(listener.id)
    app.registry.css_files = [file for file in app.registry.css_files if "thebe" not in file[0]]


def drop_widget_state(app: Sphinx, doctree: document) -> None:
    """Leave out the state of widgets, which nothing on the page could bring to life."""
    data = getattr(app.env, "nb_metadata", {})
    data.get(app.env.docname, {}).get("js_files", {}).clear()


def icons(static: Path, pages: str) -> set[int]:
    """Find the icons in use: by class name in pages and scripts, by number in styles."""
    css = "".join(path.read_text(encoding="utf-8") for path in static.rglob("*.css"))
    js = "".join(path.read_text(encoding="utf-8") for path in static.rglob("*.js"))
    named = set(re.findall(r"\bfa-[a-z0-9-]+", pages + js))
    used = {
        code
        for selectors, code in ICON_RULE.findall(css)
        if named & set(re.findall(r"fa-[a-z0-9-]+", selectors))
    }
    used |= {code or char for code, char in ICON_CODE.findall(ICON_RULE.sub("", css))}
    return {ord(code) if len(code) == 1 else int(code, 16) for code in used}


def shrink(picture: Path) -> None:
    """Make a logo as small as it is shown."""
    with Image.open(picture) as logo:
        if logo.width > LOGO[0]:
            logo.thumbnail(LOGO)
            logo.save(picture, optimize=True)


def search_quietly(options: Path) -> None:
    """Let the search, in a copy that lies in a folder, list pages without asking for their text.

    A browser lets no page read another file. The list itself is in a script, so it is complete.
    """
    line = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;\n'
    text = options.read_text(encoding="utf-8")
    if line not in text:
        options.write_text(f"{text}\n{line}", encoding="utf-8")


def trim(app: Sphinx, error: Exception | None) -> None:
    """Clean the pages, drop dead files and keep only the icons in use."""
    if error or app.builder.format != "html":
        return
    out, static, pages = Path(app.outdir), Path(app.outdir) / "_static", ""
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        clean = ICON_SCRIPT.sub("", text)
        if page.name != "search.html":
            clean = SEARCH_SCRIPT.sub("", clean)
        if clean != text:
            page.write_text(clean, encoding="utf-8")
        pages += clean
    for path in [path for pattern in DEAD for path in static.rglob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    codes = icons(static, pages)
    for font in static.rglob("fa-*.woff2"):
        font.write_bytes(subset(font, codes))
    for logo in (static / "images").glob("logo_*.png"):
        shrink(logo)
    options = static / "documentation_options.js"
    if options.exists():  # a build that had nothing to write has not brought it back
        search_quietly(options)
    (out / ".nojekyll").touch()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", switch_off_thebe)
    app.connect("doctree-read", drop_widget_state)
    app.connect("build-finished", trim, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

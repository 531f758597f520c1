"""Join what all pages ask for: every request costs a round trip, and an explorer waits for it.

An explorer comes alive when its page is parsed. So a page asks for one style sheet, the explorers'
script and one script for all the rest, and no other file holds the parser up.
"""

import hashlib
import posixpath
import re
from pathlib import Path

from sphinx.application import Sphinx

from .purge import names, purge

STYLE = re.compile(
    r'\s*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="([^"]*_static/)([^"?]+)[^>]*>'
)
PRELOAD = re.compile(r'\s*<link rel="preload" as="script"[^>]*>')
SCRIPT = re.compile(r'\s*<script\b[^>]*\ssrc="((?:[^":?]*_static/)?([^":?]+)[^"]*)"[^>]*></script>')
# What a page says of itself leans on this one, and can't wait: it is written into the page.
OPTIONS = "documentation_options.js"
# What only some pages ask for; the explorers' runs before all else, the search's after.
FIRST = "explorer"
LAST = ("searchtools.js", "language_data.js", "searchindex.js")
IMPORT = re.compile(r"""@import\s+(?:url\()?["']([^"']+)["']\)?\s*;""")
ADDRESS = re.compile(r"""url\((["']?)(?!data:|#|\w+://)([^"')]+)\1\)""")
MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


def sheet(static: Path, name: str) -> str:
    """Read a style sheet, with what it imports, as if it lay in `static` itself."""
    folder = posixpath.dirname(name)

    def moved(address: str) -> str:
        return posixpath.normpath(posixpath.join(folder, address))

    text = (static / name).read_text(encoding="utf-8").replace('@charset "UTF-8";', "")
    if folder:
        text = ADDRESS.sub(lambda found: f"url({moved(found[2])})", text)
    return IMPORT.sub(lambda found: sheet(static, moved(found[1])), text)


def script(static: Path, name: str) -> str:
    """Read a script, so that another may stand before it, and its "use strict" binds no other."""
    return f";{MAP.sub('', (static / name).read_text(encoding='utf-8'))}\n"


def lighten(page: str, options: str) -> str:
    """Let a page ask for what was joined, in place of the parts.

    Its style stands behind the lines of script in its head, which would wait for it; its scripts
    wait until the page is parsed.

    Parameters
    ----------
    page : str
        HTML as the theme wrote it.
    options : str
        The script on which the page's own lines lean.
    """
    static = STYLE.search(page)[1]
    own = {name: address for address, name in SCRIPT.findall(page)}
    first = [address for name, address in own.items() if name.startswith(FIRST)]
    last = [own[name] for name in LAST if name in own]
    tags = [f'<link rel="stylesheet" href="{static}site.css">']
    tags += [f'<script defer src="{a}"></script>' for a in (*first, f"{static}site.js", *last)]
    page = STYLE.sub("", PRELOAD.sub("", page))
    page = SCRIPT.sub(lambda tag: f"<script>{options}</script>" if tag[2] == OPTIONS else "", page)
    return page.replace("</head>", "\n".join(tags) + "\n</head>", 1)


def bundle(app: Sphinx, error: Exception | None) -> None:
    """Join styles and scripts, without the rules that no page needs, and name them in the pages.

    Sphinx leaves the pages alone that are as they were: those ask for the joined files already.
    """
    if error or app.builder.format != "html":
        return
    out, static = Path(app.outdir), Path(app.outdir) / "_static"
    pages = {file: file.read_text(encoding="utf-8") for file in sorted(out.rglob("*.html"))}
    new = {file: page for file, page in pages.items() if f"_static/{OPTIONS}" in page}
    if new:
        sheets = dict.fromkeys(name for page in new.values() for _, name in STYLE.findall(page))
        found = dict.fromkeys(name for page in new.values() for _, name in SCRIPT.findall(page))
        apart = (OPTIONS, *LAST)
        joined = [script(static, n) for n in found if n not in apart and not n.startswith(FIRST)]
        (static / "site.js").write_text("".join(joined), encoding="utf-8")
        scripts = (file.read_text(encoding="utf-8") for file in static.glob("*.js"))
        known = names("".join(pages.values()), "".join(scripts))
        css = "".join(purge(sheet(static, name), known) for name in sheets)
        (static / "site.css").write_text(f'@charset "UTF-8";{css}', encoding="utf-8")
        options = (static / OPTIONS).read_text(encoding="utf-8")
        pages |= {file: lighten(page, options) for file, page in new.items()}
    write(pages, static)


def write(pages: dict[Path, str], static: Path) -> None:
    """Write the pages, whose links tell a browser when a file is new; drop what none names."""
    for joined in [*static.glob("site.*"), *static.glob(f"{FIRST}*.js")]:
        digest = hashlib.sha256(joined.read_bytes()).hexdigest()[:8]
        linked = re.compile(rf'(_static/{re.escape(joined.name)})(\?v=\w*)?(?=")')
        pages = {file: linked.sub(rf"\1?v={digest}", page) for file, page in pages.items()}
    for file, page in pages.items():
        if page != file.read_text(encoding="utf-8"):
            file.write_text(page, encoding="utf-8")
    text = "".join(pages.values())
    for file in [*static.rglob("*.css"), *static.rglob("*.js")]:
        if f"_static/{file.relative_to(static).as_posix()}" not in text:
            file.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", bundle, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Write the visual tokens and the Chinese fonts that the pages share."""

import re
from html import unescape
from importlib.metadata import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from .fonts import read_pages, subset

# CJK punctuation, ideographs, compatibility and full-width forms.
CJK = ((0x3000, 0x303F), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF))


def write_tokens(app: Sphinx) -> None:
    """Write the package's visual tokens as a style sheet."""
    if app.builder.format != "html":
        return
    from wheretolook.tokens import css

    target = Path(app.outdir) / "_static/tokens.css"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(css(), encoding="utf-8")
    fonts = target.with_name("cjk.css")
    fonts.write_text("", encoding="utf-8")  # filled when all pages are there


def chinese(pages: str) -> set[int]:
    """Collect the Chinese characters of the pages, those escaped in explorers' data too."""
    escaped = {int(code, 16) for code in re.findall(r"\\u([0-9a-f]{4})", pages)}
    codes = escaped | set(map(ord, set(unescape(pages))))
    return {code for code in codes if any(low <= code <= high for low, high in CJK)}


def write_font(app: Sphinx, error: Exception | None) -> None:
    """Write exactly the Chinese characters of the site: those of the chapters, and all others.

    A reader's computer may have no Chinese font, and a whole one weighs 8 MB. Most of the
    characters stand in the glossary alone: a chapter need not bring them.
    """
    if error or app.builder.format != "html":
        return
    source = Path(find_spec("pylopdf_fonts_zh_cn").origin).with_name("NotoSansSC-Regular.otf")
    chapters = chinese(read_pages(app, "notebooks/*.html"))
    rules = []
    for name, codes in (("chapters", chapters), ("others", chinese(read_pages(app)) - chapters)):
        if codes:
            (Path(app.outdir) / f"_static/cjk-{name}.woff2").write_bytes(subset(source, codes))
            covered = ", ".join(f"U+{code:X}" for code in sorted(codes))
            rules.append(
                f'@font-face {{ font-family: "WTL CJK"; font-display: swap; '
                f'src: url(cjk-{name}.woff2) format("woff2"); unicode-range: {covered}; }}\n'
            )
    (Path(app.outdir) / "_static/cjk.css").write_text("".join(rules), encoding="utf-8")
    # Whoever passes on a font passes on its licence; all fonts of the site have the same.
    (licence,) = (f for f in files("pylopdf-fonts-zh-cn") if f.name == "LICENSE")
    (Path(app.outdir) / "_static/fonts-licence.txt").write_text(licence.read_text(), "utf-8")


def launch_notebooks_only(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Drop the launch buttons of Markdown pages, which Colab can't open."""
    if not context.get("sourcename", "").endswith(".ipynb"):
        buttons = context.get("header_buttons", [])
        context["header_buttons"] = [b for b in buttons if b.get("label") != "launch-buttons"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_tokens)
    # The theme adds its buttons at priority 501.
    app.connect("html-page-context", launch_notebooks_only, priority=502)
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

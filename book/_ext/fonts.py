"""Cut a font down to the characters that the site shows."""

import logging
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

# It reports every table, and Sphinx would print it all.
logging.getLogger("fontTools").setLevel(logging.ERROR)


def subset(source: Path, codes: Iterable[int], *, maths: bool = False) -> bytes:
    """Make a WOFF2 file of some characters of a font.

    Parameters
    ----------
    source : Path
        A TTF, OTF or WOFF2 file.
    codes : iterable of int
        The Unicode code points to keep.
    maths : bool
        Keep the MATH table and the larger forms of roots and brackets.

    Returns
    -------
    bytes
        The WOFF2 file.
    """
    options = Options()
    options.flavor = "woff2"
    options.hinting = False
    options.desubroutinize = False
    options.layout_features = ["ssty", "flac", "dtls"] if maths else []
    options.drop_tables += [] if maths else ["MATH"]
    cutter, result = Subsetter(options), BytesIO()
    cutter.populate(unicodes=set(codes))
    # Else the file would tell the second in which it was made, and differ from build to build.
    with TTFont(source, lazy=True, recalcTimestamp=False) as font:
        cutter.subset(font)
        font.flavor = "woff2"
        font.save(result)
    return result.getvalue()


def read_pages(app: Sphinx, pattern: str = "**/*.html") -> str:
    """Read every written page, those of earlier runs too."""
    pages = sorted(Path(app.outdir).glob(pattern))
    return "".join(page.read_text(encoding="utf-8") for page in pages)

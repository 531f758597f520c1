"""The book's pages, by its table of contents: so that a page which wasn't built is missed."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def documents() -> list[str]:
    """List the pages of _toc.yml."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    chapters = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [f"{name}.html" for name in (toc["root"], *chapters)]


PAGES = documents()
CHAPTERS = [page for page in PAGES if page.startswith("notebooks/")]

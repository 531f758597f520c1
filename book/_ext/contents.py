"""Put the index into the contents, with one part for its Chinese words."""

from typing import Any

from docutils.nodes import document
from sphinx.addnodes import toctree
from sphinx.application import Sphinx

CHINESE = "中文"


def list_index(app: Sphinx, doctree: document) -> None:
    """End the contents with the index, which _toc.yml can't name since it has no source."""
    if app.env.docname != app.config.root_doc:
        return
    trees = list(doctree.findall(toctree))
    if trees:
        trees[-1]["entries"].append((None, "genindex"))


def gather(groups: list[tuple[str, list]]) -> list[tuple[str, list]]:
    """Gather what begins with a Chinese character, each of which Sphinx calls a letter.

    Parameters
    ----------
    groups : list of (letter, entries)
        The index, as Sphinx made it.

    Returns
    -------
    list of (letter, entries)
        The same entries; the Chinese ones come last, under one heading.

    Examples
    --------
    >>> gather([("A", ["axis"]), ("批", ["批"]), ("轴", ["轴"])])
    [('A', ['axis']), ('中文', ['批', '轴'])]
    """
    latin = [(letter, entries) for letter, entries in groups if ord(letter[0]) < 0x2E80]
    chinese = [entry for letter, entries in groups if ord(letter[0]) >= 0x2E80 for entry in entries]
    return latin + ([(CHINESE, chinese)] if chinese else [])


def sort_index(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Rearrange the page of the index."""
    if page == "genindex":
        context["genindexentries"] = gather(context["genindexentries"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    # After _toc.yml has given the root its contents, before Sphinx collects them (at 500).
    app.connect("doctree-read", list_index, priority=400)
    app.connect("html-page-context", sort_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The directive `notebook-times`: how long each notebook took, read from the cache of its run."""

import platform
from importlib.metadata import version
from typing import Any

from docutils import nodes
from myst_nb.ext.execution_tables import METADATA_KEY
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

MADE_WITH = ("wheretolook", "torch", "numpy", "matplotlib")


class Times(nodes.General, nodes.Element):
    """Stands where the table will be."""


class NotebookTimes(SphinxDirective):
    """Ask for the table. MyST-NB writes the page anew whenever a notebook was run."""

    def run(self) -> list[nodes.Node]:
        """Leave a place for it, since not all notebooks have been run."""
        NbMetadataCollector.set_doc_data(self.env, self.env.docname, METADATA_KEY, True)
        return [Times()]


def clock(seconds: float) -> str:
    """Write a time in minutes and seconds.

    Examples
    --------
    >>> clock(3.2), clock(59.7), clock(125)
    ('0:03', '1:00', '2:05')
    """
    return "{}:{:02d}".format(*divmod(round(seconds), 60))


def row(*cells: nodes.Node) -> nodes.row:
    """Lay cells side by side."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def table(runs: dict[str, float], titles: dict[str, nodes.Node], here: str) -> nodes.table:
    """Lay out the table: a notebook, its time; at the end all together."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=w) for w in (80, 20)), cols=2)
    group += nodes.thead("", row(nodes.Text("page"), nodes.Text("min:s")))
    body = nodes.tbody()
    for page, seconds in runs.items():
        link = pending_xref(
            refdoc=here, reftarget=f"/{page}", reftype="doc", refdomain="std", refexplicit=True
        )
        link += nodes.inline(text=titles[page].astext())
        body += row(link, nodes.Text(clock(seconds)))
    body += row(nodes.strong(text="together"), nodes.strong(text=clock(sum(runs.values()))))
    group += body
    return nodes.table("", group, classes=["colwidths-auto"])


class FillTimes(SphinxPostTransform):
    """Put the table into its place, when all notebooks have been run."""

    default_priority = 8  # before references are resolved

    def run(self, **options: Any) -> None:
        """Replace each place."""
        for place in list(self.document.findall(Times)):
            known = NbMetadataCollector.get_doc_data(self.env)
            data = {page: known[page].get("exec_data") for page in sorted(known)}
            runs = {page: run["runtime"] or 0.0 for page, run in data.items() if run}
            made = ", ".join(f"{name} {version(name)}" for name in MADE_WITH)
            words = nodes.paragraph(text=f"Built with Python {platform.python_version()}, {made}.")
            place.replace_self([table(runs, self.env.titles, self.env.docname), words])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_node(Times)
    app.add_directive("notebook-times", NotebookTimes)
    app.add_post_transform(FillTimes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

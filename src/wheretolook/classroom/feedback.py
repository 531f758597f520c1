"""A page for each student: what was right, what was not, and what to look for."""

import io
import zipfile
from collections.abc import Iterable
from html import escape

from .chapter import Chapter
from .forms import Row
from .marking import shown

__all__ = ["moodle", "page"]

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.55 system-ui, sans-serif }}
body {{ max-width: 42rem; margin: 2rem auto; padding: 0 1rem }}
h1 {{ font-size: 1.4rem }} h2 {{ font-size: 1.05rem; margin: 1.6rem 0 .4rem }}
.total {{ font-size: 1.1rem }} li, p {{ overflow-wrap: anywhere }}
</style>
<h1>{title}</h1>
<p>{student}</p>
<p class="total"><strong>{total}</strong></p>
{notes}
{parts}
</html>
"""


def page(row: Row, chapter: Chapter, earlier: int = 0) -> str:
    """Write the page.

    Parameters
    ----------
    row : Row
        The student.
    chapter : Chapter
        What was set.
    earlier : int
        How many earlier submissions were not looked at.

    Returns
    -------
    str
        HTML that needs nothing else. All that came from the student is escaped.
    """
    result = row.result
    notes = [f"Your notebook could not be marked: {result.why}."] if result.why else []
    notes += [f"{n[:300]}." for n in result.notes]
    if earlier:
        notes.append(f"You handed in {earlier + 1} times; this is about the last one.")
    most = sum(task.points for task in chapter.tasks)
    total = "No points yet" if result.total is None else f"{result.total:g} of {most:g} points"
    parts = []
    for entry in result.marks.values():
        parts.append(f"<h2>{escape(entry['title'])}</h2>")
        if entry["points"] is None:
            why = escape(entry["findings"][0][1])
            parts.append(
                f'<p role="status">This could not be tried, so it has no points yet: {why}. '
                "Please talk to your teacher.</p>"
            )
        else:
            parts.append(shown(entry)._repr_html_())
    return _PAGE.format(
        title=f"Where to Look, chapter {int(chapter.name[:2])}: {escape(chapter.title)}",
        student=escape(row.student),
        total=total,
        notes="\n".join(f"<p>{escape(note)}</p>" for note in notes),
        parts="\n".join(parts),
    )


def moodle(pages: Iterable[tuple[Row, str]]) -> bytes:
    """Pack pages as Moodle takes them back: *Upload multiple feedback files in a zip*.

    They are named as Moodle names submissions without folders: it finds the student by the number
    behind the first underscore, wants the two words after it, and takes the rest for the file's
    own name.

    Parameters
    ----------
    pages : iterable of (Row, str)
        The page of each student. Those without a number are left out: Moodle could not tell whose
        they are.

    Returns
    -------
    bytes
        A zip file, the same for the same pages.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for row, text in pages:
            if row.id:
                name = row.student.replace("_", " ")
                file = zipfile.ZipInfo(f"{name}_{row.id}_assignsubmission_file_feedback.html")
                archive.writestr(file, text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()

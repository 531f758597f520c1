"""Turn a chapter's markdown, which is written for the site, into what any Jupyter shows.

The site knows roles (``{term}`…```), directives (``:::{admonition}``), labels (``(here)=``) and
numbered equations. A notebook outside of it knows none of them, and would show their markup.
"""

import re
from collections.abc import Mapping
from pathlib import Path

__all__ = ["Book", "plain_text"]


class Book:
    """What the markup refers to: works that are cited, equations, and what labels stand at.

    Parameters
    ----------
    references : Path
        The .bib file.
    texts : mapping
        All markdown of each chapter, by the chapter's name.
    """

    def __init__(self, references: Path, texts: Mapping[str, str]) -> None:
        self.works = dict(_works(references.read_text(encoding="utf-8")))
        self.equations, self.headings = {}, {}
        for chapter, text in texts.items():
            for number, found in enumerate(_EQUATION.finditer(text), 1):
                self.equations[found["label"]] = chapter, number
            for label, heading in re.findall(r"^\(([\w-]+)\)=\s*\n+(?:#+ +(.+))?", text, re.M):
                self.headings[label] = chapter, heading.strip()


_EQUATION = re.compile(r"\$\$(?P<formula>(?:(?!\$\$).)+?)\$\$ *\((?P<label>[\w-]+)\)", re.S)
_ROLE = re.compile(r"\{(?P<role>[a-z:]+)\}`(?P<text>[^`]+)`")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)")
_LABEL = re.compile(r"^\([\w-]+\)=[ \t]*\n+", re.M)
_BOX = re.compile(r"^:::+\{[a-z]+\} *(?P<title>.*)\n(?P<body>(?:.*\n)*?):::+ *$", re.M)


def plain_text(source: str, chapter: str, book: Book) -> str:
    """Rewrite one cell.

    Parameters
    ----------
    source : str
        Its markdown.
    chapter : str
        The chapter that it stands in.
    book : Book
        What it may refer to.

    Returns
    -------
    str
        Markdown without anything of the site's.
    """

    def role(found: re.Match) -> str:
        kind, text = found["role"], found["text"]
        if kind.startswith("cite"):
            return _cited([key.strip() for key in text.split(",")], kind, book)
        if kind == "eq":
            where, number = book.equations[text]
            return f"({number})" if where == chapter else f"({number}) of chapter {int(where[:2])}"
        return text.partition("<")[0].strip()

    def link(found: re.Match) -> str:
        text, target = found["text"], found["target"]
        if target.startswith(("http://", "https://")) or re.fullmatch(r"[\w-]+\.ipynb", target):
            return found[0]
        where, heading = book.headings.get(target.lstrip("#"), ("", ""))
        return f"[{text}](#{heading.replace(' ', '-')})" if heading and where == chapter else text

    def box(found: re.Match) -> str:
        lines = [x for x in found["body"].splitlines() if not re.match(r":[a-z-]+:", x)]
        text = "\n".join(lines).strip()
        return "\n".join(f"> {x}".rstrip() for x in f"**{found['title']}**\n\n{text}".splitlines())

    def equation(found: re.Match) -> str:
        _, number = book.equations[found["label"]]
        return f"$${found['formula'].rstrip()} \\tag{{{number}}}$$"

    source = _EQUATION.sub(equation, source)
    source = _LABEL.sub("", source)
    source = _BOX.sub(box, source)
    return _LINK.sub(link, _ROLE.sub(role, source))


def _works(bib: str) -> list[tuple[str, tuple[str, str]]]:
    """Read key, surnames and year of each entry."""
    works = []
    for entry in re.split(r"^@", bib, flags=re.M)[1:]:
        key = entry.partition("{")[2].partition(",")[0].strip()
        fields = dict(re.findall(r"^\s*(\w+)\s*=\s*[{\"](.*)[}\"],?\s*$", entry, re.M))
        people = re.split(r"\s+and\s+", fields.get("author", fields.get("title", key)))
        names = [re.sub(r"[{}\\]", "", p.partition(",")[0].strip()) for p in people]
        who = names[0] if len(names) == 1 else f"{names[0]} and {names[1]}"
        works.append((key, (f"{names[0]} et al." if len(names) > 2 else who, fields["year"])))
    return works


def _cited(keys: list[str], kind: str, book: Book) -> str:
    if kind == "cite:t":
        return ", ".join(f"{who} ({year})" for who, year in (book.works[k] for k in keys))
    return "(" + "; ".join(f"{who}, {year}" for who, year in (book.works[k] for k in keys)) + ")"

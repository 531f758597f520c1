"""Glossary and references: every word has its Chinese, every paper is told to somebody."""

import json
import re
from pathlib import Path

import pytest
from pybtex.database import parse_file

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAGES = sorted((ROOT / "book").glob("*.md"))
READ_IN_ORDER = [ROOT / f"book/{name}.md" for name in ("intro", "using", "primer", "notation")]
CHINESE = re.compile(r"[\u3400-\u9fff]")
TERM = re.compile(r"\{term\}`(?:[^`<]*?<([^`>]+)>|([^`]+))`", re.DOTALL)
# Words of the glossary that are everyday words too: no program tells which one is meant.
EVERYDAY = {"attention", "control", "gaze", "gist", "key", "leak", "link", "reach", "shape"}
EVERYDAY |= {"output", "peak", "score", "source", "spread", "target", "value"}


def prose(path: Path) -> str:
    """Read a page's prose: Markdown, or a notebook's Markdown cells."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def glossary() -> list[list[str]]:
    """List the entries: each is the names of one thing."""
    text = (ROOT / "book/glossary.md").read_text(encoding="utf-8")
    body = re.search(r"```\{glossary\}\n(.*?)\n```", text, re.DOTALL).group(1)
    entries = re.findall(r"((?:^[^\s:].*\n)+)(?=  )", body, re.M)
    return [entry.splitlines() for entry in entries]


ENTRIES = glossary()
ENTRY_OF = {name.lower(): entry[0] for entry in ENTRIES for name in entry}


def forms(name: str) -> set[str]:
    """List how a name is written: alone, and for several."""
    several = {name + "s", name + "es"}
    several |= {name[:-1] + "ies"} if name.endswith("y") else set()
    several |= {name[:-2] + "es"} if name.endswith("is") else set()
    return {name, *several}


ENTRY_OF_FORM = {
    form: entry
    for name, entry in ENTRY_OF.items()
    if not CHINESE.search(name)
    for form in forms(name)
}


def linked(text: str) -> list[str]:
    """Name the targets of all links to the glossary."""
    return [" ".join((target or name).split()) for target, name in TERM.findall(text)]


# --- the glossary -----------------------------------------------------------------------------


def test_every_term_has_a_chinese_name_and_one_place():
    assert len(ENTRIES) > 80
    for entry in ENTRIES:
        assert not CHINESE.search(entry[0]), entry
        assert any(CHINESE.search(name) for name in entry), entry
    names = [name.lower() for entry in ENTRIES for name in entry]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("path", [*NOTEBOOKS, *PAGES], ids=lambda path: path.stem)
def test_every_link_to_the_glossary_finds_its_term(path):
    assert [name for name in linked(prose(path)) if name.lower() not in ENTRY_OF] == []


def first_uses(text: str) -> dict[str, bool]:
    """Say of each glossary word in a text whether it is linked where it first stands."""
    text = TERM.sub(lambda m: f"\0{' '.join((m[1] or m[2]).split()).lower()}\0", text)
    text = re.sub(r"(?ms)^```(?:python|\{code-cell\}).*?^```$|\$\$.*?\$\$|<[^>]*>", " ", text)
    # Headings, a box's title and its options can't hold a link.
    text = re.sub(r"(?m)^(?:#|`{3,}|:{3,}|:\w+:|\([\w-]+\)=).*$", " ", text)
    text = re.sub(r"`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\)|\{\w+\}", " ", text)
    longest_first = sorted(ENTRY_OF_FORM, key=len, reverse=True)
    word = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in longest_first)
    uses: dict[str, bool] = {}
    for found in re.finditer(rf"\0([^\0]+)\0|(?<![\w-])({word})(?![\w-])", text, re.I):
        name = " ".join((found[1] or found[2]).lower().split())
        entry = ENTRY_OF[name] if found[1] else ENTRY_OF_FORM[name]
        uses.setdefault(entry, found[1] is not None)
    return uses


def test_a_first_use_is_told_from_a_later_one():
    text = "Its masks: {term}`mask`. A {term}`question <query>` and queries. `softmax`, $axis$.\n"
    text += "# Batch\n```{code-cell}\nseed\n```\n:::{admonition} Width\nTwo axes.\n:::\n"
    assert first_uses(text) == {"mask": False, "query": True, "axis": False}


@pytest.mark.parametrize("path", [*NOTEBOOKS, *READ_IN_ORDER], ids=lambda path: path.stem)
def test_a_page_links_a_term_where_it_first_stands(path):
    uses = first_uses(prose(path))
    misses = sorted(name for name, good in uses.items() if not good and name not in EVERYDAY)
    assert misses == []


# --- the references ---------------------------------------------------------------------------

BIBLIOGRAPHY = parse_file(ROOT / "book/references.bib").entries
WHERE = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}


def test_every_reference_is_cited_and_every_citation_is_there():
    texts = "\n".join(prose(path) for path in [*NOTEBOOKS, *PAGES])
    cited = {
        k.strip() for keys in re.findall(r"\{cite:\w+\}`([^`]+)`", texts) for k in keys.split(",")
    }
    assert cited == set(BIBLIOGRAPHY)


@pytest.mark.parametrize("key", BIBLIOGRAPHY)
def test_a_reference_says_all_that_is_needed_to_find_it(key):
    entry = BIBLIOGRAPHY[key]
    assert entry.persons["author"] and re.fullmatch(r"(19|20)\d\d", entry.fields["year"])
    assert entry.fields["title"] and entry.fields[WHERE.get(entry.type, "howpublished")]
    if entry.type == "article":
        assert {"volume", "pages"} <= set(entry.fields)
    assert {"doi", "url", "isbn"} & set(entry.fields), "nothing to click on"
    assert re.fullmatch(r"10\.\d{4,}/\S+", entry.fields.get("doi", "10.1000/none"))
    assert entry.fields.get("url", "https://").startswith("https://")

"""The students' notebooks: everything that a student needs, and nothing that a student must not."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from wheretolook import check
from wheretolook.classroom.__main__ import main
from wheretolook.classroom.chapter import chapters, chosen, joined, plain, tags
from wheretolook.classroom.plain import Book, plain_text
from wheretolook.classroom.release import release

ROOT = Path(__file__).parents[2]
BOOK = chapters(ROOT / "notebooks")
REFERENCES = ROOT / "book" / "references.bib"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The release, by chapter."""
    files = release(BOOK, REFERENCES, tmp_path_factory.mktemp("student"))
    return {file.stem: nbformat.read(file, as_version=nbformat.NO_CONVERT) for file in files}


def text_of(notebook):
    return "\n".join(cell.source for cell in notebook.cells)


def test_one_valid_notebook_for_each_chapter(released):
    assert list(released) == [chapter.name for chapter in BOOK]
    for notebook in released.values():
        nbformat.validate(notebook)
        assert all(not c.outputs for c in notebook.cells if c.cell_type == "code")


def test_there_is_no_solution_in_it(released):
    """Neither a solution's cell nor its function; a chapter itself may say one line of it."""
    for chapter in BOOK:
        text = text_of(released[chapter.name])
        sources = {plain(cell.source) for cell in released[chapter.name].cells}
        for cell in chapter.notebook["cells"]:
            if "book-only" not in tags(cell):
                continue
            assert plain(joined(cell)) not in sources
            if cell["cell_type"] == "code":
                for node in ast.parse(joined(cell)).body:
                    if isinstance(node, ast.FunctionDef):
                        assert ast.unparse(node) not in text
                        assert len(node.body) == 1 or ast.unparse(node.body) not in text
        assert not re.search(r"\bsolutions?\b", text, re.I)


def test_there_is_no_hidden_test_in_it(released):
    for chapter in BOOK:
        ids = {cell.id for cell in released[chapter.name].cells}
        hidden = {c["id"] for c in chapter.notebook["cells"] if "remove-cell" in tags(c)}
        assert hidden and not hidden & ids


@pytest.mark.parametrize(
    "markup",
    [
        r"\{[a-z:]+\}`",  # roles
        r"^:::|^```\{",  # directives
        r"^\([\w-]+\)=",  # labels
        r"\$\$ *\([\w-]+\)",  # of equations
        r"\]\((?!https?://|#|[\w-]+\.ipynb\))",  # links that lead nowhere outside the site
    ],
)
def test_there_is_no_markup_of_the_site_in_it(released, markup):
    for name, notebook in released.items():
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                assert not re.search(markup, cell.source, re.M), (name, cell.id, cell.source)
            assert "tags" not in cell.metadata and "mystnb" not in cell.metadata


def test_links_to_headings_lead_to_one(released):
    for notebook in released.values():
        text = text_of(notebook)
        headings = {h.replace(" ", "-") for h in re.findall(r"^#+ +(.+)$", text, re.M)}
        for target in re.findall(r"\]\(#([^)]+)\)", text):
            assert target in headings


def test_each_exercise_has_title_points_place_and_check(released):
    for chapter in BOOK:
        cells = {cell.id: cell for cell in released[chapter.name].cells}
        for task in chapter.tasks:
            assert cells[task.id].source.startswith(f"### {task.title} ({task.points:g} points)")
            answer = cells[f"{task.id}-answer"].metadata.nbgrader
            assert (answer.solution, answer.grade, answer.locked) == (True, False, False)
            graded = cells[f"{task.id}-check"].metadata.nbgrader
            assert (graded.solution, graded.grade, graded.locked) == (False, True, True)
            assert graded.points == task.points
            space = {"check": check}
            exec(cells[f"{task.id}-answer"].source, space)
            exec(f"marks = {cells[f'{task.id}-check'].source}", space)
            assert space["marks"].status == "blank"


def test_graded_forms_change_statement_and_check(tmp_path):
    file = tmp_path / "variant.toml"
    file.write_text('attention_weights.scale = "1/E"\nrunning_variance.momentum = 0.2\n')
    assert main(["student", "--notebooks", str(ROOT / "notebooks"), "--references",
                 str(REFERENCES), "--variant", str(file), "--out", str(tmp_path)]) == 0  # fmt: skip
    text = text_of(nbformat.read(tmp_path / "04-self-attention.ipynb", as_version=4))
    assert "the scale is $1/E$ instead of" in text
    assert 'check.varied("attention_weights", my_weights, points=2, scale="1/E")' in text
    assert "self_attention(my_attention, points=3)" in text  # still as practice


def test_a_wrong_choice_is_named(tmp_path, capsys):
    file = tmp_path / "variant.toml"
    file.write_text('attention_weights.scale = "1/D"')
    assert main(["student", "--notebooks", str(ROOT / "notebooks"), "--variant", str(file)]) == 2
    assert "accepted: scale = '1/E'" in capsys.readouterr().err
    file.write_text("attention_weight.scale = 1")
    with pytest.raises(ValueError, match="'attention_weight' is none of"):
        chosen(file)


def test_a_folder_that_cannot_be_written_is_named_in_one_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "student"
    given = ["--notebooks", str(ROOT / "notebooks"), "--references", str(REFERENCES)]
    assert main(["student", *given, "--out", str(out)]) == 2
    assert capsys.readouterr().err == (
        f"{out}: Not a directory. Mend that and give the same command again.\n"
    )


def test_markup_becomes_plain_markdown(tmp_path):
    bib = tmp_path / "some.bib"
    bib.write_text(
        "@article{a2015,\n author = {Li, Na and Ode, O. and Ek, E.},\n year = {2015},\n}\n"
    )
    source = (
        "(here)=\n## A place\n\n{cite:t}`a2015` and {term}`masks <mask>`, see {eq}`e` and "
        "[this](here), [that](../book/x.md) {cite:p}`a2015`.\n\n$$x$$ (e)\n\n"
        ":::{admonition} Note\n:class: tip\nBeware.\n:::\n"
    )
    book = Book(bib, {"01-x": source})
    assert plain_text(source, "01-x", book).strip() == (
        "## A place\n\nLi et al. (2015) and masks, see (1) and [this](#A-place), that "
        "(Li et al., 2015).\n\n$$x \\tag{1}$$\n\n> **Note**\n>\n> Beware."
    )

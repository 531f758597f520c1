"""The build itself, on a tiny book that uses the real extensions and settings."""

import shutil

import pytest
import yaml
from tiny_book import ROOT, Tiny


@pytest.fixture
def tiny(tmp_path):
    """A tiny book."""
    return Tiny(tmp_path)


def test_changed_package_runs_the_notebooks_again_and_a_failing_cell_is_named(tiny):
    code, said = tiny.build()
    assert code == 0, said
    assert "answer 1" in tiny.page.read_text()

    (tiny.root / "book/intro.md").write_text("# Tiny\n\nOther prose.\n")
    code, said = tiny.build()
    assert code == 0 and "Executing" not in said

    tiny.module("2")
    code, said = tiny.build()
    assert code == 0 and "answer 2" in tiny.page.read_text()
    assert len(list((tiny.root / "_build/.jupyter_cache").iterdir())) == 1

    tiny.cells("from tiny import answer", "print('before')", "raise RuntimeError('injected')")
    code, said = tiny.build()
    assert code != 0
    assert f"{tiny.root}/notebooks/one.ipynb: cell 3, id cell-3" in said
    assert "injected" in said
    assert not tiny.page.exists()


def test_a_changed_style_reaches_pages_that_are_as_they_were(tiny):
    look = tiny.root / "look"
    shutil.copytree(ROOT / "book/_static", look)
    config = yaml.safe_load((tiny.root / "_config.yml").read_text())
    config["sphinx"]["config"]["html_static_path"] = ["look"]
    (tiny.root / "_config.yml").write_text(yaml.safe_dump(config))
    assert tiny.build()[0] == 0
    before = tiny.page.read_text()
    with (look / "book.css").open("a") as style:
        style.write("p { letter-spacing: 3.25px }\n")
    code, said = tiny.build()
    assert code == 0 and "0 added, 0 changed, 0 removed" in said
    assert "3.25px" in (tiny.root / "_build/html/_static/site.css").read_text()
    assert tiny.page.read_text() != before  # its link names the new state


FAULTS = {
    "[nowhere](missing.md)": "missing.md",
    r"$\foo$": r"no MathML for \foo",
    "{func}`wheretolook.attention.nothing`": "reference target not found",
}


def test_every_fault_is_told_and_the_next_build_fails_too(tiny):
    tiny.cells("import sys; print('a warning', file=sys.stderr)")
    (tiny.root / "book/intro.md").write_text("# Tiny\n\n" + "\n\n".join(FAULTS))
    toc = yaml.safe_load((tiny.root / "_toc.yml").read_text())
    toc["chapters"].append({"file": "notebooks/two"})
    (tiny.root / "_toc.yml").write_text(yaml.safe_dump(toc))
    for _ in range(2):
        code, said = tiny.build()
        assert code != 0
        assert all(complaint in said for complaint in FAULTS.values())
        assert "intro.md" in said and "notebooks/two" in said and "stderr" in said

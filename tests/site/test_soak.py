"""The same book gives the same files anywhere, and a build that was broken off breaks no other.

On a tiny book; ``make soak`` does it with the real one.
"""

import os
import shutil
import signal
import time

import pytest
from soak.same import differences, read
from soak.trouble import full, in_trouble, is_possible, read_only
from tiny_book import Tiny

PAGE = """---
file_format: mystnb
kernelspec: {name: python3, display_name: Python 3}
---
# Tiny

```{index} pouch
```

我爱 $x^2$.

```{code-cell} ipython3
print("answer", 1)
```
"""
ELSEWHERE = {"TZ": "Asia/Shanghai", "LC_ALL": "C", "USER": "somebody", "PYTHONHASHSEED": "1"}


@pytest.fixture
def tiny(tmp_path):
    """A tiny book with code on a Markdown page, too."""
    book = Tiny(tmp_path / "book")
    (book.root / "book/intro.md").write_text(PAGE, encoding="utf-8")
    return book


def site(book):
    return read(book.root / "_build/html")


def whole(book):
    code, said = book.build()
    assert code == 0, said
    return site(book)


def test_another_place_time_zone_language_and_user_give_the_same_files(tiny, tmp_path):
    first = whole(tiny)
    other = Tiny(tmp_path / "other 书")
    shutil.copy(tiny.root / "book/intro.md", other.root / "book/intro.md")
    time.sleep(1.1)  # a date in a font counts seconds
    code, said = other.build(**ELSEWHERE)
    assert code == 0, said
    assert differences(first, site(other)) == []
    assert {
        name for name in first if name.endswith(".woff2")
    } and "_sources/book/intro.ipynb" in first


def test_a_changed_page_changes_all_that_show_it_and_back_again_nothing_is_left(tiny):
    first = whole(tiny)
    intro = tiny.root / "book/intro.md"
    intro.write_text(PAGE.replace("# Tiny", "# Quokka"), encoding="utf-8")
    changed = whole(tiny)
    assert b"quokka" in changed["searchindex.js"]
    assert b"Quokka" in changed["notebooks/one.html"]
    intro.write_text(PAGE, encoding="utf-8")
    assert differences(first, whole(tiny)) == []


def test_a_page_that_has_not_changed_keeps_its_entries_in_the_index(tiny):
    first = whole(tiny)
    assert b"pouch" in first["searchindex.js"]
    os.utime(tiny.root / "notebooks/one.ipynb")
    assert differences(first, whole(tiny)) == []


def test_a_build_killed_while_a_notebook_runs_leaves_nothing_behind(tiny):
    tiny.cells("import os, time", "time.sleep(float(os.environ.get('WAIT', 0)))", "print(1)")
    for how in (signal.SIGINT, signal.SIGKILL):
        building = tiny.begin(WAIT="600")
        assert any("one.ipynb: Executing" in line for line in building.stdout)
        time.sleep(2)
        os.killpg(building.pid, how)
        building.communicate(timeout=60)
        assert building.returncode != 0
    assert b"<pre>" in whole(tiny)["notebooks/one.html"]


HALVES = (
    # a page, what was read of the pages, a style, a notebook's outputs
    (
        "html/notebooks/one.html",
        ".doctrees/environment.pickle",
        "html/_static/site.css",
        ".jupyter_cache/*/executed/*/base.ipynb",
    ),
    (".jupyter_cache/*/global.db",),  # the list of the notebooks that were run
)


def test_what_a_killed_build_wrote_by_half_is_written_anew(tiny):
    first = whole(tiny)
    for written in HALVES:
        for pattern in written:
            (file, *_) = (tiny.root / "_build").glob(pattern)
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        (tiny.root / "_build/.doctrees/whole").unlink()  # it is made at the very end
        assert differences(first, whole(tiny)) == []


UNWRITABLE = {
    full("_build/html", "200k"): "the disk is full. Mend that and build again",
    full("_build/.jupyter_cache", "16k"): "the disk is full. Mend that and build again",
    read_only("_build"): "the folder is read-only. Mend that and build again",
}


@pytest.mark.skipif(not is_possible(), reason="this system makes no namespaces")
def test_a_disk_that_cannot_be_written_is_named_in_one_sentence(tiny):
    for trouble, words in UNWRITABLE.items():
        code, said = tiny.build(within=in_trouble(trouble, []))
        assert code != 0 and words in said
        assert "Traceback" not in said
    assert b"answer 1" in whole(tiny)["notebooks/one.html"]

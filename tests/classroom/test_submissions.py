"""Who handed in what is read from the names that platforms and people give."""

import os
import zipfile
from pathlib import PurePosixPath

import pytest

from wheretolook.classroom.submissions import collect, whose

TITLES = ["04-self-attention", "05-masking"]


@pytest.mark.parametrize(
    ("path", "name", "number"),
    [
        ("Li Na_1042_assignsubmission_file_/05-masking.ipynb", "Li Na", "1042"),
        ("Li Na_1042_assignsubmission_file_05-masking.ipynb", "Li Na", "1042"),
        ("export/Anne-Marie Dubois_7_assignsubmission_file/a/b.ipynb", "Anne-Marie Dubois", "7"),
        ("lina_77_905_05-masking.ipynb", "lina", "77"),
        ("lina_LATE_77_905_05-masking-2.ipynb", "lina", "77"),
        ("王小明/Copy of 05-masking.ipynb", "王小明", ""),
        ("05-masking_王小明.ipynb", "王小明", ""),
        ("05-masking的副本 - 陈静.ipynb", "陈静", ""),
        ("Copy of Copy of 05-masking (3) - Ida.ipynb", "Ida", ""),
        ("ida/05_masking-copy1.ipynb", "ida", ""),
        ("submitted/kim/05/notebook.ipynb", "05", ""),
        ("kim/Untitled.ipynb", "kim", ""),
        ("05-masking.ipynb", "05-masking.ipynb", ""),
    ],
)
def test_names(path, name, number):
    assert whose(PurePosixPath(path), TITLES) == (name, number)


def test_a_folder_with_zips_and_rubbish_in_it(tmp_path):
    (tmp_path / "ida").mkdir()
    (tmp_path / "ida" / "05-masking.ipynb").write_bytes(b"1")
    (tmp_path / "notes.txt").write_text("no notebook")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "x.ipynb").write_bytes(b"old")
    os.symlink("/etc/passwd", tmp_path / "link.ipynb")
    with zipfile.ZipFile(tmp_path / "王小明.zip", "w") as archive:
        archive.writestr("05-masking.ipynb", b"2")
        archive.writestr("__MACOSX/._05-masking.ipynb", b"3")
    assert {s.student: s.content for s in collect(tmp_path, TITLES)} == {
        "ida": b"1",
        "王小明": b"2",
    }


def test_a_zip_whose_names_lead_outside_writes_nothing(tmp_path):
    file = tmp_path / "all.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("../../eve/05-masking.ipynb", b"1")
    (found,) = collect(file, TITLES)
    assert found.content == b"1"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all.zip"]


def test_the_latest_of_a_student_counts(tmp_path):
    for number, name in enumerate(["05-masking (1).ipynb", "05-masking.ipynb"]):
        file = tmp_path / "ida" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(name)
        os.utime(file, (1000 - number, 1000 - number))
    (found,) = collect(tmp_path, TITLES)
    assert (found.content, found.earlier) == (b"05-masking (1).ipynb", 1)


def test_folders_are_students_where_all_files_have_one_name(tmp_path):
    for name in ("ida", "kim"):
        for file in ("answers.ipynb", "answers-2.ipynb"):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / file).write_text(name)
    assert [(s.student, s.earlier) for s in collect(tmp_path, TITLES)] == [("ida", 1), ("kim", 1)]


def test_two_of_one_name_are_two(tmp_path):
    for number in (7, 8):
        folder = tmp_path / f"Kim Lee_{number}_assignsubmission_file_"
        folder.mkdir()
        (folder / "05-masking.ipynb").write_text(str(number))
    assert [s.id for s in collect(tmp_path, TITLES)] == ["7", "8"]


@pytest.mark.parametrize("place", ["nowhere", "."])
def test_nothing_is_said_to_be_nothing(tmp_path, place):
    with pytest.raises(ValueError, match="neither a folder nor a zip|no notebooks"):
        collect(tmp_path / place, TITLES)

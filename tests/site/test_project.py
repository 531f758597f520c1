"""What a person needs who carries the book on: licences, citation, changelog, hooks, workflows."""

import re
import shlex
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml
from nbformat.v4 import new_code_cell, new_notebook, new_output, writes
from repository import ROOT, current, published

import wheretolook

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][\w-]*):(?!=)", MAKEFILE, re.M))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
# The keys of the Citation File Format 1.2.0, as far as a book needs them; those needed first.
NEEDED = {"cff-version", "message", "title", "authors"}
KNOWN = NEEDED | {"abstract", "date-released", "doi", "keywords", "license", "preferred-citation"}
KNOWN |= {"repository-code", "type", "url", "version"}


def text(name: str) -> str:
    """Read a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


# --- one version ------------------------------------------------------------------------------


def test_every_file_names_the_same_version():
    version = wheretolook.__version__
    assert f'\nversion = "{version}"\n' in text("pyproject.toml")
    assert CITATION["version"] == CITATION["preferred-citation"]["version"] == version
    assert re.findall(r"^## \[(\d.*?)\]", CHANGELOG, re.M)[0] == version


def test_the_changelog_keeps_its_form():
    sections = re.findall(r"^## (.+)$", CHANGELOG, re.M)
    assert sections[0] == "[Unreleased]"
    dated = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)", s) for s in sections[1:]]
    assert dated and all(dated)
    assert sorted((tuple(map(int, d.groups()[:3])) for d in dated), reverse=True) == [
        tuple(map(int, d.groups()[:3])) for d in dated
    ]
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", CHANGELOG, re.M)) <= kinds
    for section in sections:  # each number is a link to what it changed
        name = re.match(r"\[.+?\]", section).group()
        assert f"\n{name}: {current().url}/" in CHANGELOG
    assert str(CITATION["date-released"]) == dated[0].group(4)


# --- licences and citation --------------------------------------------------------------------


def test_code_and_text_have_a_licence_each():
    licence, readme = text("LICENSE"), text("README.md")
    for name in ("BSD-3-Clause", "CC BY 4.0"):
        assert name in licence and name in readme
    assert 'license = "BSD-3-Clause"' in text("pyproject.toml")
    assert (CITATION["license"], CITATION["preferred-citation"]["license"]) == (
        "BSD-3-Clause",
        "CC-BY-4.0",
    )


def test_the_site_carries_the_licence_of_its_fonts(html):
    licence = (html / "_static/fonts-licence.txt").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert "_static/fonts-licence.txt" in text("LICENSE")


def test_the_citation_can_be_read_by_those_who_make_references():
    assert CITATION["cff-version"] == "1.2.0" and CITATION["type"] == "software"
    assert NEEDED <= CITATION.keys() <= KNOWN
    date.fromisoformat(CITATION["date-released"])
    book = CITATION["preferred-citation"]
    assert {"type", "title", "authors"} <= book.keys()
    config = yaml.safe_load(text("_config.yml"))
    for entry in (CITATION, book):
        assert [author["name"] for author in entry["authors"]] == [config["author"]]
        assert entry["title"].startswith(config["title"])
        assert entry["url"] == published()
    assert CITATION["repository-code"] == current().url


# --- hooks ------------------------------------------------------------------------------------

HOOKS = [h for r in yaml.safe_load(text(".pre-commit-config.yaml"))["repos"] for h in r["hooks"]]
BAD = {  # for each hook, a file that it must refuse
    "ruff-check": ("bad.py", "import os\n"),
    "ruff-format": ("bad.py", "x = {'a':1}\n"),
    "outputs": (
        "bad.ipynb",
        writes(new_notebook(cells=[new_code_cell("1", outputs=[new_output("stream", text="1")])])),
    ),
}


def run_hook(hook: dict, file: Path) -> subprocess.CompletedProcess:
    """Run a hook's command as pre-commit does, with this environment's programs."""
    program, *rest = shlex.split(hook["entry"])
    assert program.startswith(".venv/bin/")
    here = Path(sys.executable).with_name(Path(program).name)
    return subprocess.run([here, *rest, file], cwd=ROOT, capture_output=True, text=True)


def test_hooks_download_nothing():
    assert {h["id"] for h in HOOKS} == BAD.keys()
    assert all(h["language"] == "system" for h in HOOKS)
    repos = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    assert [r["repo"] for r in repos] == ["local"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_refuses_what_it_is_for_and_passes_what_is_here(hook, tmp_path):
    name, content = BAD[hook["id"]]
    (tmp_path / name).write_text(content, encoding="utf-8")
    refused = run_hook(hook, tmp_path / name)
    assert refused.returncode == 1 and "bad" in refused.stdout + refused.stderr
    here = ROOT / ("notebooks/05-masking.ipynb" if name.endswith("ipynb") else "tools/outputs.py")
    assert run_hook(hook, here).returncode == 0


# --- workflows --------------------------------------------------------------------------------


def steps(workflow: Path) -> list[dict]:
    """List the steps of all jobs."""
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def test_every_occasion_has_a_workflow():
    # YAML 1.1 reads the key `on` as True
    occasions = {w.stem: set(yaml.safe_load(w.read_text())[True]) for w in WORKFLOWS}
    assert "pull_request" in occasions["check"] and "schedule" in occasions["weekly"]
    assert occasions["publish"] == {"push", "workflow_dispatch"}
    assert occasions["release"] == {"push"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_types_what_a_person_would(workflow):
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    called = [c.split()[1] for c in commands if c.startswith("make ")]
    assert set(called) <= TARGETS
    others = [c for c in commands if not c.startswith("make ")]
    assert all(c == ".ci/run" or c.startswith("gh release create ") for c in others)
    assert called or ".ci/run" in others


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_trusts_one_state_of_an_action_and_may_do_little(workflow):
    for step in steps(workflow):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"])
    whole = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    writes_ = {"release": {"contents": "write"}}
    assert whole["permissions"] == writes_.get(workflow.stem, {"contents": "read"})
    assert all(job["runs-on"] == "ubuntu-24.04" for job in whole["jobs"].values())


def test_the_checks_of_a_pull_request_are_those_of_the_server():
    assert re.findall(r"^make (.+)$", text(".ci/run"), re.M) == ["book", "test", "test-colab"]
    (check,) = (w for w in WORKFLOWS if w.stem == "check")
    assert [step["run"] for step in steps(check) if "run" in step] == [".ci/run"]


def test_every_target_is_told_at_the_top_of_the_makefile():
    told = set(re.findall(r"make ([a-z-]+)", MAKEFILE.split("\n\n")[0]))
    assert TARGETS - told == {"browser"}  # part of `make test`
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE.replace("\\\n", " "), re.M).group(1)
    assert set(phony.split()) == TARGETS

"""The book built twice cold and eight times warm, here and as if elsewhere: are the pages the same?

The second cold build has nothing in common with the first: not the folder, the time zone, the
language, the user, the home, the rights of new files, nor the order of Python's sets; and it trains
all models of the chapters anew.
"""

import locale
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .copies import Copy, line, table
from .same import differences, read

__all__ = ["run"]

PAGE = "book/using.md"


@dataclass(frozen=True)
class Where:
    """As what and where somebody builds."""

    name: str
    environment: dict[str, str] = field(default_factory=dict)
    umask: int = -1


def as_it_is(copy: Copy) -> None:
    """Change nothing."""


def touched(copy: Copy) -> None:
    """Give a page a new date."""
    os.utime(copy.root / PAGE)


def changed_and_back(copy: Copy) -> None:
    """Build with another title and other words on a page, and take them back."""
    page = copy.root / PAGE
    before = page.read_text(encoding="utf-8")
    page.write_text(f"{before.replace('# ', '# Quokka ', 1)}\nZyzzyva.\n", encoding="utf-8")
    copy.build()
    page.write_text(before, encoding="utf-8")


def read_anew(copy: Copy) -> None:
    """Let every page be read again, from the executed notebooks."""
    copy.forget_pages()


def chinese_locale(work: Path) -> dict[str, str]:
    """Return what sets zh_CN.UTF-8; made in the folder if the system lacks it but could have it."""
    name, before = "zh_CN.UTF-8", locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
        locale.setlocale(locale.LC_ALL, before)
        return {"LC_ALL": name}
    except locale.Error:
        folder = work / "locales"
        folder.mkdir(exist_ok=True)
        command = ["localedef", "-i", "zh_CN", "-f", "UTF-8", str(folder / name)]
        if shutil.which("localedef") and subprocess.call(command) == 0:
            return {"LC_ALL": name, "LOCPATH": str(folder)}
        return {"LC_ALL": "C.UTF-8"}


def run(work: Path) -> tuple[str, int]:
    """Build, compare with the first site, and report."""
    work.mkdir(parents=True, exist_ok=True)
    home = work / "home 王小明"
    home.mkdir(exist_ok=True)
    user = {"USER": "王小明", "LOGNAME": "王小明", "HOME": str(home)}
    chinese = {"TZ": "Asia/Shanghai"} | chinese_locale(work)
    new = {"PYTHONHASHSEED": "1", "WHERETOLOOK_CACHE": str(work / "weights")}
    here = Where("as here")
    losangeles = Where("TZ America/Los_Angeles", {"TZ": "America/Los_Angeles"})
    plain = Where("LC_ALL C, TZ UTC", {"LC_ALL": "C", "TZ": "UTC"})
    someone = Where("another user and home, hash seed 2", user | {"PYTHONHASHSEED": "2"})
    china = Where(f"TZ Asia/Shanghai, LC_ALL {chinese['LC_ALL']}", chinese)
    elsewhere = Where(
        f"{china.name}, another user and home, hash seed 1, umask 077, trained anew",
        user | chinese | new,
        0o077,
    )
    first, second = Copy(work / "first"), Copy(work / "a folder 第二")
    plan: list[tuple[Copy, str, Callable[[Copy], None], Where]] = [
        (first, "cold", as_it_is, here),
        (second, "cold", as_it_is, elsewhere),
        (first, "warm, nothing changed", as_it_is, here),
        (first, "warm, a page touched", touched, losangeles),
        (first, "warm, a page changed and back", changed_and_back, here),
        (first, "warm, all pages read anew", read_anew, plain),
        (first, "warm, all pages read anew", read_anew, someone),
        (second, "warm, nothing changed", as_it_is, elsewhere),
        (second, "warm, a page touched", touched, plain),
        (second, "warm, all pages read anew", read_anew, china),
    ]
    rows, reasons, reference, faults = [], {}, None, 0
    for number, (copy, how, prepare, where) in enumerate(plan, 1):
        prepare(copy)
        built = copy.build(where.umask, **where.environment)
        row = [number, how, where.name, f"{built.seconds:.0f}"]
        if built.code:
            faults += 1
            rows.append([*row, f"**failed**: {built.said[-2000:]}", ""])
            continue
        site = read(copy.html)
        reference = reference or site
        found = differences(reference, site)
        unknown = [d.file for d in found if not d.why]
        reasons |= {d.file: d.why for d in found if d.why}
        faults += len(unknown)
        rows.append([*row, f"{len(found)} of {len(site)}", ", ".join(unknown) or "none"])
        print(line(rows[-1]), flush=True)
    head = ("build", "how", "where", "seconds", "files that differ from the first", "unexplained")
    told = table(("file that may differ", "why"), reasons.items()) if reasons else "All are equal."
    return f"{table(head, rows)}\n\n{told}", faults

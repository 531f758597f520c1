"""Pack the built book into one archive that needs no network: ``make zip``.

`_build/where-to-look-<version>.zip` holds the site, which opens from a folder, the notebooks, and
the package that they import. The same files give the same bytes: entries are sorted and carry one
date.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

from repository import current

import wheretolook

ROOT = Path(__file__).parents[1]
# What stands beside the site: all that `pip install` and the notebooks need.
BESIDE = ("notebooks", "src", "pyproject.toml", "requirements.txt", "LICENSE", "CITATION.cff")
# Only a server needs them.
SERVED = {".nojekyll", ".buildinfo", "404.html", "objects.inv"}
DATE = (1980, 1, 1, 0, 0, 0)  # the first that the format knows

README = """\
# Where to Look, version {version}

**Read it.** Open `index.html` in a browser, by a double click. Everything works without a
network: the figures answer, the search finds. Only the buttons for Colab and Binder, and links to
other sites, need one.

**Run it.** The chapters lie in `notebooks/`, the package that they import in `src/`. With Python
3.10 or later, and a network for this once:

    python -m pip install ".[data]" jupyterlab
    jupyter lab notebooks

On Linux that brings the large build of PyTorch for graphics cards; how to have the small one is
told on https://pytorch.org/get-started/locally/

The newest version, and all that builds the book: {url}
Code under BSD-3-Clause, text and pictures under CC BY 4.0: see LICENSE.
"""


def beside(root: Path) -> dict[str, bytes]:
    """Read the tracked files that stand beside the site, by their names in the archive."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *BESIDE], cwd=root, capture_output=True, check=True
    )
    names = filter(None, listed.stdout.decode().split("\0"))
    return {name: (root / name).read_bytes() for name in names}


def pages(html: Path) -> dict[str, bytes]:
    """Read the site, by the names in the archive."""
    files = (path for path in html.rglob("*") if path.is_file() and path.name not in SERVED)
    return {path.relative_to(html).as_posix(): path.read_bytes() for path in files}


def pack(files: dict[str, bytes], target: Path, folder: str) -> Path:
    """Write an archive of files, all in one folder: all of it or nothing."""
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{name}", DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # the permissions below are read as Unix's, everywhere
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return part.replace(target)


def make(root: Path = ROOT, html: Path | None = None, out: Path | None = None) -> Path:
    """Make the archive of a built book.

    Parameters
    ----------
    root : Path
        The repository.
    html : Path, optional
        The built site, if not ``_build/html``.
    out : Path, optional
        The folder to write into, if not ``_build``.

    Returns
    -------
    Path
        The archive.
    """
    html, out = html or root / "_build/html", out or root / "_build"
    if not (html / "index.html").exists():
        raise FileNotFoundError(f"{html} holds no built site: run `make book` first")
    version = wheretolook.__version__
    readme = README.format(version=version, url=current(root).url).encode()
    site, repository = pages(html), beside(root)
    both = site.keys() & repository.keys()
    if both:
        raise ValueError(f"the site and the repository both have {sorted(both)}")
    folder = f"where-to-look-{version}"
    return pack(site | repository | {"README.md": readme}, out / f"{folder}.zip", folder)


def main() -> int:
    """Make it and say where it is."""
    try:
        target = make()
    except OSError as error:
        print(f"The archive could not be made: {error}", file=sys.stderr)
        return 1
    print(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())

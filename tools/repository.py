"""Give the book another address: rewrite `_config.yml`, and all that repeats or derives from it.

``python tools/repository.py https://github.com/owner/name`` — or ``make repository URL=…``

The address stands in `_config.yml`, with that of the site, which GitHub Pages derives from it.
Some files can't ask it there: a notebook that was opened on Colab, the README on GitHub, the
citation. They repeat both, and this script keeps them in step. A site with an address of its own
(change `html.baseurl`) keeps that.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parents[1]
ADDRESS = re.compile(r"https://github\.com/([\w-]+)/([\w.-]*[\w-])")


class Repository(NamedTuple):
    """A repository on GitHub; Colab, Binder and Pages know it by its owner and name."""

    owner: str
    name: str

    @classmethod
    def of(cls, url: str) -> "Repository":
        """Read an address, with or without a slash or `.git` at its end."""
        found = ADDRESS.fullmatch(url.removesuffix("/").removesuffix(".git"))
        if not found:
            raise ValueError(f"url is {url!r}; accepted is https://github.com/owner/name")
        return cls(*found.groups())

    @property
    def url(self) -> str:
        """Where the repository is."""
        return f"https://github.com/{self.owner}/{self.name}"

    @property
    def site(self) -> str:
        """Where GitHub Pages publishes the book, with a slash at the end."""
        host = f"{self.owner.lower()}.github.io"
        return f"https://{host}/" + ("" if self.name.lower() == host else f"{self.name}/")


def current(root: Path = ROOT) -> Repository:
    """Read the address in `_config.yml`."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return Repository.of(config["repository"]["url"])


def published(root: Path = ROOT) -> str:
    """Read where the site is published: on GitHub Pages, or where `_config.yml` says instead."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["html"]["baseurl"]


def moved(text: str, old: Repository, new: Repository) -> str:
    """Rewrite all mentions of a repository and of its site in a text."""
    text = re.sub(re.escape(old.site), new.site, text)
    # /owner/name, behind github.com, and behind what Colab (github) and Binder (gh) call it
    mention = rf"(?<=/){re.escape(old.owner)}/{re.escape(old.name)}(?![\w-])"
    return re.sub(mention, f"{new.owner}/{new.name}", text)


def move(root: Path, new: Repository) -> list[str]:
    """Rewrite every tracked text file that mentions the repository; return their names."""
    old, changed = current(root), []
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        file = root / name
        try:
            text = file.read_bytes().decode()
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # a picture, or a file that is about to be removed
        if (rewritten := moved(text, old, new)) != text:
            file.write_bytes(rewritten.encode())
            changed.append(name)
    return changed


def main() -> int:
    """Move the book, and say which files now have the new address."""
    if len(sys.argv) != 2 or not sys.argv[1]:
        print("Say where to: make repository URL=https://github.com/owner/name", file=sys.stderr)
        return 2
    try:
        changed = move(ROOT, Repository.of(sys.argv[1]))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(changed) if changed else "Nothing to do: that is its address.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

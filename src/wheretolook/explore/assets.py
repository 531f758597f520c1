"""Scripts and styles: what every explorer needs, and what each kind of view adds.

A view of kind *k* is drawn by ``k.js`` and ``k.css`` in this folder, if they exist. An output
carries the parts that its views use and no others; the site joins those of a page into one file.
"""

from collections.abc import Iterable
from functools import cache
from importlib import resources

from .. import tokens

__all__ = ["CORE", "has_script", "part", "parts", "scripts", "styles"]

CORE = "explorer"
_FOLDER = resources.files(__package__)


def parts() -> list[str]:
    """List all parts: the core and every kind of view that has a script or a style."""
    names = {file.name.rpartition(".") for file in _FOLDER.iterdir()}
    return sorted({stem for stem, _, ending in names if ending in ("js", "css")})


def has_script(kind: str) -> bool:
    """Tell whether views of this kind need a script of their own."""
    return _FOLDER.joinpath(f"{kind}.js").is_file()


@cache
def part(name: str, ending: str) -> str:
    """Return one part's script ("js") or style ("css"), without comment lines and indentation.

    Examples
    --------
    >>> part("picture", "js").startswith("(globalThis.wtl")
    True
    """
    file = _FOLDER.joinpath(f"{name}.{ending}")
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    kept = (line.strip() for line in lines)
    text = "\n".join(line for line in kept if line and not line.startswith(("//", "/*")))
    return tokens.css("wtl-explorer") + text if (name, ending) == (CORE, "css") else text


def styles(kinds: Iterable[str]) -> str:
    """Return the style elements for these kinds of views; the core's comes first."""
    return "".join(_element("style", name, "css") for name in [CORE, *sorted(set(kinds))])


def scripts(kinds: Iterable[str]) -> str:
    """Return the script elements for these kinds of views; the core's starts them, and is last."""
    return "".join(_element("script", name, "js") for name in [*sorted(set(kinds)), CORE])


def _element(tag: str, name: str, ending: str) -> str:
    text = part(name, ending)
    return f'<{tag} data-wtl="{name}">{text}</{tag}>' if text else ""

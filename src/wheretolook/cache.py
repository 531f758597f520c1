"""What was computed once: where it is kept, and how to tell that it is out of date.

Nothing is kept in the repository. The folder is ``WHERETOLOOK_CACHE`` if that is set, else the
platform's own place for caches; it may be deleted at any time.
"""

import ast
import hashlib
import json
import os
import platform
import sys
from functools import lru_cache
from pathlib import Path

import torch

__all__ = ["cache_folder", "fingerprint", "key", "versions"]

_PACKAGE = Path(__file__).parent


def cache_folder() -> Path:
    """Return the folder for what was computed once (made when something is first kept)."""
    if "WHERETOLOOK_CACHE" in os.environ:
        return Path(os.environ["WHERETOLOOK_CACHE"])
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "wheretolook"


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    return {"python": platform.python_version(), "torch": str(torch.__version__)}


@lru_cache
def fingerprint(*modules: str) -> str:
    """Hash modules of this package with all that they import from it.

    Comments, layout and docstrings do not count: only what runs can change a result.

    Parameters
    ----------
    *modules : str
        Names inside the package, such as ``"attention"`` or ``"data.links"``.

    Returns
    -------
    str
        Sixteen hexadecimal digits.

    Raises
    ------
    ValueError
        If there is no such module.

    Examples
    --------
    >>> fingerprint("masks") == fingerprint("masks"), len(fingerprint("masks"))
    (True, 16)
    """
    waiting, trees = list(modules), {}
    while waiting:
        module = waiting.pop()
        if module in trees:
            continue
        trees[module] = _parse(module)
        waiting += _imports(module, trees[module])
    digest = hashlib.sha256()
    for module in sorted(trees):
        digest.update(f"{module}\n{_skeleton(trees[module])}\n".encode())
    return digest.hexdigest()[:16]


def key(config: object, *modules: str) -> str:
    """Hash a configuration with the code and the versions that its result depends on."""
    text = json.dumps([config, fingerprint(*modules), versions()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _file(module: str) -> Path | None:
    path = _PACKAGE.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _parse(module: str) -> ast.Module:
    path = _file(module)
    if path is None:
        raise ValueError(f"module: no {module!r} in this package")
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(module: str, tree: ast.Module) -> list[str]:
    """Name the modules of this package that a module imports, wherever it does."""
    here = module.split(".")
    if _file(module).name != "__init__.py":
        here = here[:-1]
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            base = here[: len(here) - node.level + 1]
        elif (node.module or "").split(".")[0] == _PACKAGE.name:
            base = []
        else:
            continue
        named = (node.module or "").removeprefix(_PACKAGE.name).strip(".")
        path = ".".join([*base, *filter(None, [named])])
        # `from .data import links` names a module, `from .masks import padding_mask` does not
        candidates = [path] + [f"{path}.{alias.name}".strip(".") for alias in node.names]
        found += [name for name in candidates if name and _file(name)]
    return found


def _skeleton(node: object) -> str:
    """Write what a program does, the same under every Python (`ast.dump` is not)."""
    if isinstance(node, list):
        return f"[{','.join(map(_skeleton, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
        fields["body"] = fields["body"][1:]
    # a field that a later Python adds is empty in older code
    written = [f"{name}={_skeleton(x)}" for name, x in fields.items() if x is not None and x != []]
    return f"{type(node).__name__}({','.join(written)})"

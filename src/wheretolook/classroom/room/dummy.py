"""A stand-in for the book's package, so that no function of it can be handed in as an answer.

In the room, ``import wheretolook`` succeeds whatever is imported from it, so that a notebook's
cells go on; but each name is a `Blank`, which computes nothing. Calling one while an answer is
tried is noticed. Libraries that draw are stood in for as well, which saves their import.
"""

import sys
import types
from collections.abc import Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any, NoReturn

__all__ = ["Blank", "Borrowed", "install"]

_NAME = "wheretolook"
_DRAWS = ("matplotlib", "ipywidgets", "IPython", "seaborn", "plotly")


class Borrowed(Exception):
    """An answer has asked the book's package for help."""


class Blank:
    """Any name of the package: it can be asked for more names, called and shown."""

    trying = False  # whether an answer is being tried
    noticed = False

    def __call__(self, *_: Any, **__: Any) -> "Blank":
        """Stand for a result too, unless this is an answer."""
        return self._use() if Blank.trying else Blank()

    def __getattr__(self, name: str) -> "Blank":
        if name.startswith("__"):
            raise AttributeError(name)
        return Blank()

    def __getitem__(self, _: Any) -> "Blank":
        return Blank()

    def __iter__(self) -> Iterator:
        return iter(())

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> NoReturn:
        """Refuse to be computed with."""
        cls._use()

    @staticmethod
    def _use() -> NoReturn:
        Blank.noticed = True
        raise Borrowed("the package wheretolook can't be called here")


class Silent(Blank):
    """Any name of a library that draws: nobody looks, so that an answer may well call it."""

    def __call__(self, *_: Any, **__: Any) -> "Silent":
        """Draw nothing."""
        return self

    def __getattr__(self, name: str) -> "Silent":
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class _Module(types.ModuleType):
    __all__: list[str] = []
    __version__ = "0"

    def __getattr__(self, name: str) -> Blank:
        if name.startswith("__"):
            raise AttributeError(name)
        return Blank() if self.__name__.partition(".")[0] == _NAME else Silent()


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if name.partition(".")[0] not in (_NAME, *_DRAWS):
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Leave it empty."""


def install() -> None:
    """Let every import of the package, and of what only draws, find the stand-in from now on."""
    for name in [n for n in sys.modules if n.partition(".")[0] in (_NAME, *_DRAWS)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder())

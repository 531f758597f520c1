"""What holds the book to its word when things go on for long, or go wrong: ``make soak``.

It builds copies of the book that lie in temporary folders, as it was committed, with the set-up
that is there. Each part is a module with a function ``run(work)`` that returns Markdown and how
many faults it found, named in `PARTS`.
"""

from collections.abc import Callable
from pathlib import Path

from . import builds, interrupted, trouble

__all__ = ["PARTS"]

PARTS: dict[str, Callable[[Path], tuple[str, int]]] = {
    "trouble": trouble.run,
    "interrupted": interrupted.run,
    "builds": builds.run,
}

"""The book's evidence: tables over many seeds, with their controls.

``python -m wheretolook.evidence`` (or ``make evidence``) makes them; pages and notebooks read them
with `table` and hold their own live figures against them with `within`.
"""

from .experiments import EXPERIMENTS
from .tables import Figure, Table, table, within

__all__ = ["EXPERIMENTS", "Figure", "Table", "table", "within"]

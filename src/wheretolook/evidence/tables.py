"""Read the tables: figures with their seeds, as HTML and Markdown, and whether they are stale."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from ..cache import fingerprint
from .experiments import EXPERIMENTS, Experiment

__all__ = ["Figure", "Table", "table", "within"]

FOLDER = Path(__file__).parent / "tables"


@dataclass(frozen=True)
class Figure:
    """One figure of a table.

    Attributes
    ----------
    seeds : tuple of float
        What each seed gave, in the order of the table's seeds.
    """

    seeds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return sum(self.seeds) / len(self.seeds)

    @property
    def min(self) -> float:
        """The smallest."""
        return min(self.seeds)

    @property
    def max(self) -> float:
        """The largest."""
        return max(self.seeds)

    def __str__(self) -> str:
        mean, low, high = (_number(x) for x in (self.mean, self.min, self.max))
        return mean if low == high else f"{mean} ({low}–{high})"


@dataclass(frozen=True)
class Table:
    """Figures of all seeds.

    Attributes
    ----------
    name, title : str
        What it is called, and what it shows.
    hash : str
        Of the code and the configuration that made it.
    seeds : tuple of int
        Which seeds were run.
    versions : dict
        Of Python and torch.
    seconds : float
        CPU seconds of all runs together.
    columns : tuple of str
        Their headings.
    rows : dict
        (group, row) -> column -> `Figure`.
    """

    name: str
    title: str
    hash: str
    seeds: tuple[int, ...]
    versions: dict[str, str]
    seconds: float
    columns: tuple[str, ...]
    rows: dict[tuple[str, str], dict[str, Figure]]

    def __getitem__(self, place: tuple[str, str, str]) -> Figure:
        """Return the figure of (group, row, column).

        Raises
        ------
        ValueError
            If there is none; says which there are.
        """
        group, row, column = place
        if (group, row) not in self.rows:
            known = "; ".join(" / ".join(filter(None, key)) for key in self.rows)
            raise ValueError(f"row: {self.name} has no {group!r}, {row!r}; it has {known}")
        figures = self.rows[group, row]
        if column not in figures:
            raise ValueError(f"column: expected one of {', '.join(figures)}; got {column!r}")
        return figures[column]

    def select(
        self,
        *,
        group: str | None = None,
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> "Table":
        """Return a part of the table, in the order asked for.

        Parameters
        ----------
        group : str, optional
            One group only.
        rows, columns : sequences of str, optional
            These only.

        Raises
        ------
        ValueError
            If nothing is left.
        """
        kept = [key for key in self.rows if group in (None, key[0])]
        if rows is not None:
            kept = [key for row in rows for key in kept if key[1] == row]
        columns = self.columns if columns is None else tuple(columns)
        if not kept or not set(columns) <= set(self.columns):
            raise ValueError(
                f"select: {self.name} has columns {', '.join(self.columns)} and rows "
                f"{'; '.join(' / '.join(filter(None, key)) for key in self.rows)}; got "
                f"group={group!r}, rows={rows!r}, columns={columns!r}"
            )
        return replace(self, columns=columns, rows={key: self.rows[key] for key in kept})

    def stale(self) -> bool:
        """Tell whether code or configuration have changed since the table was made."""
        return self.hash != table_hash(EXPERIMENTS[self.name])

    @property
    def note(self) -> str:
        """Seeds, versions and time, as a caption says them."""
        seeds = ", ".join(map(str, self.seeds))
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return (
            f"Mean (smallest–largest) over {len(self.seeds)} seeds ({seeds}); {versions}; "
            f"{self.seconds:.0f} CPU seconds in all."
        )

    def _groups(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for group, row in self.rows:
            groups.setdefault(group, []).append(row)
        return groups

    def _cell(self, group: str, row: str, column: str) -> str:
        figure = self.rows[group, row].get(column)
        return "" if figure is None else str(figure)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(column)}</th>' for column in self.columns)
        parts = [
            '<div class="wtl-table" role="group" tabindex="0" style="overflow-x:auto" '
            f'aria-label="{escape(self.title)}"><table>',
            f"<caption>{escape(self.title)}. {escape(self.note)}</caption>",
            f"<thead><tr><td></td>{head}</tr></thead>",
        ]
        for group, rows in self._groups().items():
            parts.append("<tbody>")
            if group:
                span = len(self.columns) + 1
                left = 'scope="rowgroup" style="text-align: left"'
                parts.append(f'<tr><th {left} colspan="{span}">{escape(group)}</th></tr>')
            for row in rows:
                cells = (escape(self._cell(group, row, column)) for column in self.columns)
                filled = "".join(f'<td style="white-space: nowrap">{cell}</td>' for cell in cells)
                parts.append(f'<tr><th scope="row">{escape(row)}</th>{filled}</tr>')
            parts.append("</tbody>")
        return "".join([*parts, "</table></div>"])

    def _repr_markdown_(self) -> str:
        lines = [f"| | {' | '.join(self.columns)} |", "|---" * (len(self.columns) + 1) + "|"]
        for group, rows in self._groups().items():
            if group:
                lines.append(f"| **{group}** |" + " |" * len(self.columns))
            for row in rows:
                cells = " | ".join(self._cell(group, row, column) for column in self.columns)
                lines.append(f"| {row} | {cells} |")
        return "\n".join([*lines, "", f"{self.title}. {self.note}"])


@lru_cache
def table(name: str) -> Table:
    """Load a table.

    Parameters
    ----------
    name : str
        A name in `EXPERIMENTS`, such as ``"links-meaning"``.

    Returns
    -------
    Table
        Shown as HTML in a notebook.

    Raises
    ------
    ValueError
        If there is no such table, or it has not been made; says how to make it.
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"name: expected one of {', '.join(EXPERIMENTS)}; got {name!r}")
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"name: the table {name!r} is missing; run make evidence")
    kept = json.loads(path.read_text(encoding="utf-8"))
    rows = {
        (row["group"], row["row"]): {
            column: Figure(tuple(figure["seeds"])) for column, figure in row["figures"].items()
        }
        for row in kept["rows"]
    }
    return Table(
        name=name,
        title=kept["title"],
        hash=kept["hash"],
        seeds=tuple(kept["seeds"]),
        versions=kept["versions"],
        seconds=kept["seconds"],
        columns=tuple(kept["columns"]),
        rows=rows,
    )


def within(
    name: str, group: str, row: str, column: str, value: float, *, tolerance: float = 0.02
) -> bool:
    """Assert that a figure measured just now agrees with a table.

    Parameters
    ----------
    name, group, row, column : str
        Which figure of which table.
    value : float
        What was measured.
    tolerance : float
        How far outside the seeds' range it may lie: another build of torch sums in another order.

    Returns
    -------
    bool
        True.

    Raises
    ------
    AssertionError
        If it does not; says both.
    """
    figure = table(name)[group, row, column]
    if not figure.min - tolerance <= value <= figure.max + tolerance:
        raise AssertionError(
            f"{column} of {row} ({group}): measured {_number(value)}, but the table {name} has "
            f"{figure}, and {tolerance} is allowed beyond; run make evidence"
        )
    return True


def table_hash(experiment: Experiment) -> str:
    """Hash what a table depends on: configuration, seeds, and the code with all it imports."""
    jobs = [[job.group, job.config] for job in experiment.jobs]
    code = fingerprint(f"evidence.{experiment.module}")
    text = json.dumps([experiment.function, jobs, experiment.seeds, code], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def as_json(experiment: Experiment, results: dict[tuple[int, int], dict[str, Any]]) -> str:
    """Write a table: `results` holds for each (job, seed) its rows, seconds and versions."""
    figures: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for number, job in enumerate(experiment.jobs):
        for seed in experiment.seeds:
            for row, values in results[number, seed]["rows"].items():
                place = figures.setdefault((job.group, row), {})
                for column, value in values.items():
                    # a baseline that several jobs give stands in the table once, if they agree
                    kept = place.setdefault(column, {}).setdefault(seed, round(value, 4))
                    if kept != round(value, 4):
                        raise ValueError(
                            f"row: {row!r} of {job.group!r}, {column!r}, seed {seed}: two jobs "
                            f"give {kept} and {round(value, 4)}"
                        )
    rows = [
        {
            "group": group,
            "row": row,
            "figures": {c: _summary([*x.values()]) for c, x in place.items()},
        }
        for (group, row), place in figures.items()
    ]
    head = {
        "name": experiment.name,
        "title": experiment.title,
        "hash": table_hash(experiment),
        "seeds": experiment.seeds,
        "versions": next(iter(results.values()))["versions"],
        "seconds": round(sum(result["seconds"] for result in results.values()), 1),
        "config": [{"group": job.group, **job.config} for job in experiment.jobs],
        "columns": list(dict.fromkeys(column for place in figures.values() for column in place)),
    }
    # one entry, one row a line: a change can be read in a diff
    lines = [f'"{name}": {json.dumps(x, ensure_ascii=False)},' for name, x in head.items()]
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return "\n".join(["{", *lines, f'"rows": [\n{body}\n]', "}"]) + "\n"


def _summary(values: list[float]) -> dict[str, Any]:
    mean = round(sum(values) / len(values), 4)
    return {"mean": mean, "min": min(values), "max": max(values), "seeds": values}


def _number(value: float) -> str:
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"

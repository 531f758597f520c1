"""What an experiment is: a function, what it is run on, and how often."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Experiment", "Job"]


@dataclass(frozen=True)
class Job:
    """One configuration, run once for each seed.

    Attributes
    ----------
    group : str
        Under which heading its rows stand.
    config : dict
        Keyword arguments of the experiment's function.
    """

    group: str
    config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """What fills one table.

    Attributes
    ----------
    name, title : str
        Of the table.
    module, function : str
        A function of a seed and a configuration in a module beside this one; it returns rows.
    jobs : tuple of Job
        What it is run on.
    seeds : tuple of int
        Each job is run with each.
    """

    name: str
    title: str
    module: str
    function: str
    jobs: tuple[Job, ...]
    seeds: tuple[int, ...]

"""How to measure: time in turns, memory in a process that has done nothing else."""

import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TypeVar

__all__ = ["in_fresh_processes", "interleaved", "peaks"]

Call = Callable[[], object]
Job, Found = TypeVar("Job"), TypeVar("Found")


def interleaved(calls: dict[str, Call], repetitions: int) -> dict[str, float]:
    """Return each call's median seconds.

    They take turns, so that whatever else the machine does hits all of them alike. The first
    round, in which torch prepares things, does not count.
    """
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repetitions + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: median(taken[1:]) for name, taken in seconds.items()}


def in_fresh_processes(function: Callable[[Job], Found], jobs: list[Job]) -> list[Found]:
    """Call a function of a module once for each job, each time in a new process, one by one."""
    found = []
    for job in jobs:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            found.append(process.submit(function, job).result())
    return found


def peaks(calls: list[Call]) -> list[float]:
    """Return by how many MiB this process has grown at most, after each call.

    The system knows the highest mark of a process only. So the process must be fresh, and the
    calls must come in the order of their hunger. The first one is to warm up: not counted.
    """
    marks = []
    for call in calls:
        call()
        marks.append(_highest())
    return [mark - marks[0] for mark in marks[1:]]


def _highest() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # Linux, whose ru_maxrss would begin at the mark of the parent process
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS: bytes

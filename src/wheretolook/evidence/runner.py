"""Make the tables: ``python -m wheretolook.evidence [names] [--workers N] [--again]``.

Every run (a configuration with a seed) is kept in the cache folder as soon as it is done, so that
a second call goes on where the first one stopped. One thread a process, a process a core.
"""

import argparse
import importlib
import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import torch

from ..cache import cache_folder, key, versions
from .experiments import EXPERIMENTS, Experiment
from .tables import FOLDER, as_json

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing and write the tables; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m wheretolook.evidence", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"tables (all if none): {', '.join(EXPERIMENTS)}")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--again", action="store_true", help="forget what was kept")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in EXPERIMENTS]
    if unknown or options.workers < 1:
        parser.error(f"unknown table: {', '.join(unknown)}" if unknown else "workers: 1 or more")
    chosen = [EXPERIMENTS[name] for name in options.names or EXPERIMENTS]
    start = time.monotonic()
    _run([run for experiment in chosen for run in _runs(experiment)], options)
    FOLDER.mkdir(exist_ok=True)
    for experiment in chosen:
        results = {
            (number, seed): json.loads(path.read_text(encoding="utf-8"))
            for (number, seed), path in _places(experiment).items()
        }
        written = as_json(experiment, results)
        (FOLDER / f"{experiment.name}.json").write_text(written, encoding="utf-8")
        seconds = sum(result["seconds"] for result in results.values())
        print(f"{experiment.name}: {len(results)} runs, {seconds:.0f} CPU seconds")
    print(f"{len(chosen)} tables in {time.monotonic() - start:.0f} seconds")
    return 0


def _places(experiment: Experiment) -> dict[tuple[int, int], Path]:
    """Name the file of every (job, seed)."""
    return {
        (number, seed): cache_folder()
        / "evidence"
        / f"{_key(experiment.module, experiment.function, job.config, seed)}.json"
        for number, job in enumerate(experiment.jobs)
        for seed in experiment.seeds
    }


def _key(module: str, function: str, config: dict, seed: int) -> str:
    return key([module, function, config, seed], f"evidence.{module}")


def _runs(experiment: Experiment) -> list[tuple]:
    return [
        (experiment.module, experiment.function, experiment.jobs[number].config, seed, path)
        for (number, seed), path in _places(experiment).items()
    ]


def _run(runs: list[tuple], options: argparse.Namespace) -> None:
    missing = {run[-1]: run for run in runs if options.again or not run[-1].is_file()}
    print(f"{len(runs)} runs, {len(runs) - len(missing)} kept from before")
    # glibc gives large blocks back at every step and fetches them again: a third of the time
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
        os.environ.setdefault(name, str(2**32))
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    with ProcessPoolExecutor(options.workers, context, _one_thread) as pool:
        waiting = [pool.submit(_one, *run) for run in missing.values()]
        try:
            for done, future in enumerate(as_completed(waiting), start=1):
                print(f"{done}/{len(waiting)} {future.result()}", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _one_thread() -> None:
    torch.set_num_threads(1)
    os.environ["WHERETOLOOK_PROGRESS"] = "0"
    os.environ["WHERETOLOOK_RETRAIN"] = "1"  # evidence never leans on weights made elsewhere


def _one(module: str, function: str, config: dict, seed: int, path: Path) -> str:
    start = time.process_time()
    run = getattr(importlib.import_module(f"{__package__}.{module}"), function)
    rows = run(seed, **config)
    seconds = time.process_time() - start
    result = {"rows": rows, "seconds": seconds, "versions": versions()}
    path.parent.mkdir(parents=True, exist_ok=True)
    half_written = path.with_suffix(f".{os.getpid()}")
    half_written.write_text(json.dumps(result), encoding="utf-8")
    half_written.replace(path)
    return f"{function} {config} seed {seed}: {seconds:.0f} CPU seconds"

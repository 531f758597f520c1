"""Run all chapters with another Python, or under another arithmetic, and say which cells fail.

``python tools/run_notebooks.py [--python PYTHON] [--with NAME=VALUE …] [--cold] [notebooks]``

A notebook must hold wherever a reader runs it: with other versions of the libraries, and on a
processor that rounds differently, where a trained model becomes a slightly different one.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
MEASURE = """
import resource, time
_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time(), _peak)
"""
QUIET = {"WHERETOLOOK_PROGRESS": "0", "OMP_NUM_THREADS": "1"}


class Kernel(AsyncKernelManager):
    """A kernel of any Python, with no kernel spec installed for it."""

    python = sys.executable

    @property
    def kernel_spec(self) -> KernelSpec:
        """Say how to start it."""
        return KernelSpec(argv=[self.python, "-m", "ipykernel_launcher", "-f", "{connection_file}"])


def interpreter(name: str) -> str:
    """Find a Python by name or path; its path is absolute, as a kernel starts elsewhere."""
    found = shutil.which(name)
    if found is None:
        raise argparse.ArgumentTypeError(f"{name!r} is not found; give the path of a Python")
    return os.path.abspath(found)  # not resolved: a link is what makes it a virtual environment


def run(path: Path, python: str, environment: dict[str, str]) -> tuple[list[str], str]:
    """Run one notebook to its end; return what failed, a text a cell, and what it took."""
    notebook = nbformat.read(path, 4)
    notebook.cells.append(nbformat.v4.new_code_cell(MEASURE))
    manager = Kernel()
    manager.python = python
    with tempfile.TemporaryDirectory() as elsewhere:  # no notebook may need its own folder
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=900,
            allow_errors=True,
            resources={"metadata": {"path": elsewhere}},
        )
        client.execute(env=environment)
    failures = [
        f"{path.name}, cell {place}, id {cell.id}: {output.ename}: {output.evalue}\n{cell.source}\n"
        for place, cell in enumerate(notebook.cells)
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    seconds, peak = map(float, notebook.cells[-1].outputs[0].text.split())
    unit = 2**30 if sys.platform == "darwin" else 2**20  # ru_maxrss: bytes there, KiB elsewhere
    return failures, f"{seconds:.0f} CPU seconds, at most {peak / unit:.2f} GiB"


def main() -> int:
    """Run the notebooks one after another; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="all chapters if none")
    parser.add_argument(
        "--python", type=interpreter, default=sys.executable, help="whose kernel runs them"
    )
    parser.add_argument("--with", dest="given", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--cold", action="store_true", help="train anew, and keep nothing")
    options = parser.parse_args()
    environment = os.environ | QUIET | dict(pair.split("=", 1) for pair in options.given)
    if options.cold:
        kept = tempfile.TemporaryDirectory()
        environment["WHERETOLOOK_CACHE"] = kept.name
    failed = 0
    for path in options.notebooks or sorted(ROOT.glob("notebooks/*.ipynb")):
        failures, took = run(path, options.python, environment)
        failed += len(failures)
        result = "holds" if not failures else f"{len(failures)} cells fail"
        print(f"{path.name}: {result} ({took})", flush=True)
        print("\n".join(failures), end="", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

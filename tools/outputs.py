"""Name the notebooks that store outputs: ``python tools/outputs.py notebooks/*.ipynb``.

Outputs are made by the build; stored ones would grow old, and hide each change in noise.
"""

import sys
from pathlib import Path

import nbformat


def stored(path: Path) -> list[str]:
    """Name the cells that were run and saved with what came."""
    cells = nbformat.read(path, nbformat.NO_CONVERT).cells
    return [c.get("id", "?") for c in cells if c.get("outputs") or c.get("execution_count")]


def main() -> int:
    """Name them, with the command that clears them."""
    found = {name: cells for name in sys.argv[1:] if (cells := stored(Path(name)))}
    for name, cells in found.items():
        print(f"{name} stores outputs: {', '.join(cells)}", file=sys.stderr)
    if found:
        print("Clear them: jupyter nbconvert --clear-output --inplace", *found, file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

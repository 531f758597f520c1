"""Soak the book, or try some parts: ``python -m tools.soak interrupted``. Takes about 40 minutes.

Returns 1 if a page differs for no known reason, or if an interruption or a lack broke something.
"""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from . import PARTS


def main() -> int:
    """Print what each part found; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="part", help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--in", dest="folder", type=Path, help="a folder for the copies, kept")
    given = parser.parse_args()
    unknown = set(given.only) - set(PARTS)
    if unknown:
        parser.error(f"expected {', '.join(PARTS)}; got {', '.join(sorted(unknown))}")
    # What a shell starts in the background ignores Ctrl-C, and so would all that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="soak-") as temporary:
        work = (given.folder or Path(temporary)).resolve()
        for name in given.only or PARTS:
            report, found = PARTS[name](work)
            print(f"## {name}\n\n{report}\n", flush=True)
            faults += found
    print(f"{faults} faults" if faults else "No fault.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

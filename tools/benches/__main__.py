"""Run all benches, or those that are named: ``python -m tools.benches attention``."""

import argparse

from . import BENCHES


def main() -> None:
    """Print what the benches found."""
    parser = argparse.ArgumentParser(prog="python -m tools.benches", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="bench", help=f"one of {', '.join(BENCHES)}")
    only = parser.parse_args().only
    unknown = set(only) - set(BENCHES)
    if unknown:
        parser.error(f"expected {', '.join(BENCHES)}; got {', '.join(sorted(unknown))}")
    for name in only or BENCHES:
        print(f"## {name}\n\n{BENCHES[name]()}\n", flush=True)


if __name__ == "__main__":
    main()

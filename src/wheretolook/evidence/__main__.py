"""Make the tables; see `wheretolook.evidence.runner`."""

import sys

from .runner import main

if __name__ == "__main__":
    sys.exit(main())

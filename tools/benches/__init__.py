"""What is measured by ``make bench``: how fast, how large. No figure here is a test.

A bench is a module with a function ``run()`` that returns Markdown, named in `BENCHES`.
"""

from collections.abc import Callable

from . import attention, latency, weight

__all__ = ["BENCHES"]

BENCHES: dict[str, Callable[[], str]] = {
    "attention": attention.run,
    "latency": latency.run,
    "weight": weight.run,
}

"""What the benches of all chapters' checkers share."""

from collections.abc import Callable, Iterator

import pytest
import torch


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Many tiny products: threads would only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def bench(*entries: Callable | tuple[Callable, str]) -> list:
    """Turn functions (or pairs of function and message) into parameters named after their place."""
    return [
        pytest.param(*(e if isinstance(e, tuple) else (e,)), id=str(i))
        for i, e in enumerate(entries)
    ]


def over(benches: dict[Callable, tuple], kind: int) -> list:
    """Lay out one kind of answer (0 right, 1 wrong, 2 partly right) for all checkers."""
    return [
        pytest.param(checker, *p.values, id=f"{checker.__name__}-{p.id}")
        for checker, kinds in benches.items()
        for p in kinds[kind]
    ]

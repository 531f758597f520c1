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

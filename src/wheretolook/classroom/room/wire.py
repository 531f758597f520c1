"""What may cross between grader and student: JSON, and plain numbers with their shape.

Nothing that crosses is ever unpickled or run. A frame is a line of JSON and, behind it, the bytes
of the tensors that the line announces; a frame that is larger than allowed, or that does not add
up, ends the connection.
"""

import json
import math
import socket
import struct
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["Broken", "receive", "send"]

MOST_TEXT = 1 << 20
MOST_NUMBERS = 1 << 24
_LENGTH = struct.Struct("!I")
_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.complex64, torch.complex128),
    )
}


class Broken(Exception):
    """The other side sent what is no frame, or is gone."""


def send(link: socket.socket, message: dict[str, Any], tensors: list[Tensor] | None = None) -> None:
    """Send a message, and tensors behind it.

    Parameters
    ----------
    link : socket
        One end of a pair.
    message : dict
        Anything that JSON knows.
    tensors : list of Tensor, optional
        Plain ones; the message refers to them by their place.

    Raises
    ------
    ValueError
        For a tensor whose type can't cross, or that is too large.
    """
    plain = [x.detach().cpu().resolve_conj().resolve_neg().contiguous() for x in tensors or []]
    kinds = [[str(x.dtype).removeprefix("torch."), list(x.shape)] for x in plain]
    if unknown := [kind for kind, _ in kinds if kind not in _DTYPES]:
        raise ValueError(f"tensors of {unknown[0]} can't be handed over")
    bodies = [
        x.reshape(-1).view(torch.uint8).numpy().tobytes() if x.numel() else b"" for x in plain
    ]
    if sum(map(len, bodies)) > MOST_NUMBERS:
        raise ValueError("the result is too large to be handed over")
    text = json.dumps({**message, "tensors": kinds}).encode()
    link.sendall(_LENGTH.pack(len(text)) + text + b"".join(bodies))


def receive(
    link: socket.socket, wait: Callable[[], None] = lambda: None
) -> tuple[dict[str, Any], list[Tensor]]:
    """Read one message and its tensors.

    Parameters
    ----------
    link : socket
        One end of a pair.
    wait : callable, optional
        Called before each read; it may raise, when it has waited enough.

    Returns
    -------
    dict, list of Tensor
        What was sent.

    Raises
    ------
    Broken
        If the other side is gone, or sent anything else than a frame of allowed size.
    """
    (length,) = _LENGTH.unpack(_exactly(link, _LENGTH.size, MOST_TEXT, wait))
    text = _exactly(link, length, MOST_TEXT, wait)
    try:
        message = json.loads(text)
        kinds = [(_DTYPES[kind], [int(n) for n in shape]) for kind, shape in message.pop("tensors")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Broken("a message is malformed") from error
    if any(n < 0 for _, shape in kinds for n in shape):
        raise Broken("a shape is negative")
    tensors, left = [], MOST_NUMBERS
    for dtype, shape in kinds:
        size = math.prod(shape) * dtype.itemsize
        body = bytearray(_exactly(link, size, left, wait))
        left -= size
        flat = torch.frombuffer(body, dtype=torch.uint8) if body else torch.empty(0, dtype=dtype)
        if dtype == torch.bool:  # any other byte would be neither True nor False
            flat = flat != 0
        tensors.append(flat.view(dtype).reshape(shape))
    return message, tensors


def _exactly(link: socket.socket, size: int, most: int, wait: Callable[[], None]) -> bytes:
    if size > most:
        raise Broken("a message is too large")
    parts = []
    while size:
        wait()
        try:
            part = link.recv(min(size, 1 << 16))
        except OSError as error:
            raise Broken("the connection is lost") from error
        if not part:
            raise Broken("the connection is closed")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)

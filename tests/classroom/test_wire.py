"""Only plain numbers cross, and only frames that add up."""

import json
import socket
import struct

import pytest
import torch

from wheretolook.classroom.room import wire


@pytest.fixture
def pair():
    a, b = socket.socketpair()
    yield a, b
    a.close()
    b.close()


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6).view(2, 3),
        torch.randn(3, 1, 2, dtype=torch.float64).mT,
        torch.tensor(2.5),
        torch.tensor([True, False]),
        torch.randn(4).bfloat16(),
        torch.randn(2, 2, dtype=torch.complex64).conj(),
        torch.empty(0, 3),
        torch.tensor([torch.nan, torch.inf]).half(),
    ],
)
def test_tensors_arrive_as_they_were(pair, tensor):
    wire.send(pair[0], {"word": "王"}, [tensor, tensor])
    message, (first, second) = wire.receive(pair[1])
    assert message == {"word": "王"}
    assert (first.dtype, first.shape) == (tensor.dtype, tensor.shape)
    torch.testing.assert_close(first, tensor, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(first.isnan(), second.isnan())


def frame(text: bytes, body: bytes = b"") -> bytes:
    return struct.pack("!I", len(text)) + text + body


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"2.0",
        frame(b"no json"),
        frame(b"[]"),
        frame(b"{}"),
        frame(b"[" * 100_000),
        frame(b'{"tensors": [["object", [1]]]}', b"cos\nsystem\n"),
        frame(b'{"tensors": [["float32", [-1]]]}'),
        frame(b'{"tensors": [["float32", [1000000000000]]]}'),
        frame(b'{"tensors": [["float32", [2]]]}', b"1234"),
        struct.pack("!I", 1 << 31),
    ],
)
def test_anything_else_ends_the_connection(pair, sent):
    pair[0].sendall(sent)
    pair[0].close()
    with pytest.raises(wire.Broken):
        wire.receive(pair[1])


def test_many_empty_tensors_are_no_way_around_the_limit(pair):
    pair[0].sendall(frame(json.dumps({"tensors": [["float32", [1 << 23]]] * 3}).encode()))
    pair[0].settimeout(0.2)
    with pytest.raises(TimeoutError):
        pair[0].sendall(bytes(1 << 26))
    pair[0].close()
    with pytest.raises(wire.Broken):
        wire.receive(pair[1])


def test_what_can_not_cross_is_refused(pair):
    with pytest.raises(ValueError, match="too large"):
        wire.send(pair[0], {}, [torch.zeros(1 << 23)])
    with pytest.raises(ValueError, match="can't be handed over"):
        wire.send(pair[0], {}, [torch.zeros(2, dtype=torch.uint16)])

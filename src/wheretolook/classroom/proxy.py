"""The grader's side of a student's process: ask it, but not for ever, and believe nothing.

An `Answer` looks like the student's function and can be handed to any checker. What comes back was
built here, out of plain numbers: no object of a student's ever reaches the checker.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, NoReturn

import psutil
import torch
from torch import Tensor

from wheretolook.check.exercise import Reported

from .room import wire

__all__ = ["Answer", "Gone", "Limits", "Room"]

_PACKAGE = Path(__file__).parents[1]
_START = (
    "import sys; sys.path[:] = {path!r}; import room.pupil; from room.nursery import main; "
    "sys.path.pop(0); main({number}, {grader})"
)


PATIENCE = 6


class Gone(BaseException):
    """A student's process has ended or had to be ended; the text says why."""


@dataclass(frozen=True)
class Limits:
    """What a student's process may take.

    Seconds are those of a processor, so that a busy machine costs nobody marks. By the clock it may
    take `PATIENCE` times as long.

    Attributes
    ----------
    call : float
        Seconds for one call of a function; all calls of one exercise may take three times as much.
    cell : float
        Seconds for one cell.
    whole : float
        Seconds for a whole notebook.
    memory : int
        Bytes, of all its processes together.
    """

    call: float = 10
    cell: float = 20
    whole: float = 180
    memory: int = 2 << 30


class Room:
    """A process of its own for one student's notebook; `with` ends it and all that it started.

    Parameters
    ----------
    limits : Limits
        What it may take.
    uid : int
        The user to become, if this process is root.

    Attributes
    ----------
    guards : list of str
        What shuts it in: see `room.guard`.
    gone : str
        Why it had to end, if it has; a checker swallows the exception.
    """

    def __init__(self, limits: Limits, uid: int = 60000) -> None:
        self.limits = limits
        self.scratch = tempfile.mkdtemp(prefix="wheretolook-")
        self.gone = ""
        self.process: psutil.Process | None = None
        self._used = 0.0
        _, readable, hidden = _libraries()
        settings = {
            "readable": readable,
            "hidden": hidden,
            "uid": uid,
            "root": self.scratch,
            "memory": max(limits.memory, 4 << 30),  # of addresses: torch alone takes 2
            "seconds": int(limits.whole),
        }
        self.link, other = socket.socketpair()
        try:
            self.process = _nursery().start(json.dumps(settings), other)
            message, _ = self.hear(60)
            self.guards = [str(g) for g in message["guards"]]
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Room":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def say(self, message: dict[str, Any], tensors: Iterable[Tensor] = ()) -> None:
        """Send a message.

        Parameters
        ----------
        message : dict
            Plain JSON.
        tensors : iterable of Tensor
            To go with it.
        """
        self.link.settimeout(self.limits.call)
        try:
            wire.send(self.link, message, list(tensors))
        except OSError:
            self._end("its process has ended or does not listen")

    def hear(self, seconds: float) -> tuple[dict[str, Any], list[Tensor]]:
        """Wait for a message.

        Parameters
        ----------
        seconds : float
                For how long, of a processor's time.

        Returns
        -------
        dict, list of Tensor
            What was said.

        Raises
        ------
        Gone
            If nothing was, or the process took more than it may. It is ended then.
        """
        start, used = time.monotonic(), self.used()
        try:
            message, tensors = wire.receive(self.link, lambda: self._wait(start, used, seconds))
        except wire.Broken as reason:
            self._end(str(reason))
        if isinstance(code := message.get("ended"), int):
            self._end(_last_words(code))
        return message, tensors

    def ask(
        self, message: dict[str, Any], tensors: Iterable[Tensor] = ()
    ) -> tuple[dict[str, Any], list[Tensor]]:
        """Send a message, and wait for what is said to it: `say`, then `hear`."""
        self.say(message, tensors)
        return self.hear(self.limits.call)

    def close(self) -> None:
        """End the process with everything that it started, and remove its folder."""
        self.link.close()
        if self.process is not None:
            family = [self.process]
            with contextlib.suppress(psutil.Error):
                family = self._family()
            _kill(self.process.terminate)  # the one outside ends its world before itself
            for member in family[1:]:
                _kill(member.kill)
            psutil.wait_procs(family, timeout=5)
            for member in family:
                _kill(member.kill)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _family(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]

    def used(self) -> float:
        """Return how many seconds of a processor all its processes have used, as far as known."""
        total = 0.0
        with contextlib.suppress(psutil.Error):
            for member in self._family():
                total += sum(member.cpu_times()[:4])  # with those of children that have ended
        self._used = max(self._used, total)
        return self._used

    def _wait(self, start: float, used: float, seconds: float) -> None:
        """Wait for a byte; end the process if it has had its time, or takes too much memory."""
        late = start + PATIENCE * seconds
        while not (ready := select.select([self.link], [], [], 0.1)[0]) or time.monotonic() > late:
            if time.monotonic() > late or self.used() > used + seconds:
                self._end(f"no answer within {seconds:g} seconds")
            if self._memory() > self.limits.memory:
                self._end(f"more than {self.limits.memory / 2**30:g} GB of memory")
            if ready:
                return

    def _memory(self) -> int:
        """Count the bytes of the whole family; what is shared counts once, if that is needed."""
        try:
            family = self._family()
            total = sum(member.memory_info().rss for member in family)
            if total > self.limits.memory and sys.platform == "linux":
                return sum(member.memory_full_info().pss for member in family)
        except psutil.Error:  # one ended while it was looked at
            return 0
        return total

    def _end(self, why: str) -> NoReturn:
        self.gone = self.gone or why
        self.close()
        raise Gone(why)


class Answer:
    """A student's function, to be called from here.

    Parameters
    ----------
    room : Room
        Where it lives.
    name : str
        What it is called there.
    signature : list, optional
        Name, kind and default of each parameter, as told from there.
    """

    def __init__(self, room: Room, name: str, signature: Any) -> None:
        self.room, self.name = room, name
        self.most = room.used() + 3 * room.limits.call
        self.borrowed = False
        # Unknown or nonsense: then a call will show.
        with contextlib.suppress(TypeError, ValueError):
            parameters = [
                Parameter(n, kind, default=Parameter.empty if d is None else _Shown(str(d)))
                for n, kind, d in signature
            ]
            self.__signature__ = Signature(parameters)

    def __call__(self, *inputs: Any) -> Any:
        """Call it there, and build its result here."""
        if self.room.used() > self.most:
            self.room._end("too slow in all")
        tensors = [x for x in inputs if isinstance(x, Tensor)]
        places = iter(range(len(tensors)))
        arguments = [
            {"tensor": next(places)} if isinstance(x, Tensor) else {"number": x} for x in inputs
        ]
        trained = [i for i, x in enumerate(tensors) if x.requires_grad]
        message = {"do": "call", "name": self.name, "arguments": arguments, "trained": trained}
        try:
            reply, results = self.room.ask(message, tensors)
            self.borrowed |= reply["borrowed"] is True
            for i in reply["changed"]:
                _change(inputs[i])
            result = built(reply, results)
            if trained and reply.get("trains") is True:
                return _Through.apply(result, self, *(tensors[i] for i in trained))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            self.room._end(f"an answer in no known form ({type(error).__name__})")
        return result

    def train(self, gradient: Tensor, count: int) -> list[Tensor | None]:
        """Send a gradient back through the last result, to its `count` inputs."""
        reply, found = self.room.ask({"do": "train"}, [gradient])
        rest = iter(found)
        return [next(rest, None) if there else None for there in reply.get("reached", [])[:count]]


class Stranger(Answer):
    """An answer that is a name of the book's package: it is not even called."""

    def __init__(self) -> None:
        self.borrowed = True

    def __call__(self, *_: Any) -> Any:
        """Compute nothing."""
        raise Reported("Borrowed", "")


class _Through(torch.autograd.Function):
    """A result whose gradients are asked for in the other process."""

    @staticmethod
    def forward(ctx: Any, result: Tensor, answer: Answer, *inputs: Tensor) -> Tensor:
        ctx.answer, ctx.count = answer, len(inputs)
        return result.view_as(result)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple:
        found = ctx.answer.train(gradient, ctx.count)
        return None, None, *found, *(None,) * (ctx.count - len(found))


class _Shown:
    """A default, of which only the look is known."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def built(reply: dict[str, Any], tensors: list[Tensor]) -> Any:
    """Build a result from its description.

    Parameters
    ----------
    reply : dict
        As `room.pupil` describes it.
    tensors : list of Tensor
        Its numbers.

    Returns
    -------
    object
        A tensor, an array, a list, a tuple of that length, a number, a text, None, or an empty
        object whose type has that name.

    Raises
    ------
    Reported
        If an error was raised there.
    """
    word = reply["is"]
    if word in ("None", "...", "NotImplemented"):
        return {"None": None, "...": ..., "NotImplemented": NotImplemented}[word]
    if word == "plain" and isinstance(reply["value"], bool | int | float | str):
        return reply["value"]
    if word == "tensor":
        return tensors[0]
    if word == "array":
        return tensors[0].numpy() if tensors else type("ndarray", (), {})()
    if word == "list":
        return tensors[0].tolist() if tensors else [object()] * min(int(reply["length"]), 1000)
    if word == "tuple":
        return type(_name(reply["type"]), (tuple,), {})((None,) * min(int(reply["length"]), 1000))
    if word in ("object", "class"):
        made = type(_name(reply["type"]), (), {})
        return made if word == "class" else made()
    if word == "raised":
        raise _raised(reply)
    raise ValueError(f"unknown: {str(word)[:40]}")


def _raised(reply: dict[str, Any]) -> BaseException:
    name, text, line = _name(reply["type"]), str(reply["text"]), reply["line"]
    line = (int(line[0]), str(line[1])) if line else None
    if name == "KeyboardInterrupt":
        return KeyboardInterrupt()
    if reply["kind"] == "BaseException":
        return type(name, (BaseException,), {})()
    stub = (NotImplementedError,) if reply["kind"] == "NotImplementedError" else ()
    return type("Reported", (Reported, *stub), {})(name, text, line)


def _name(given: Any) -> str:
    return given if isinstance(given, str) and given.isidentifier() else "object"


def _change(x: Any) -> None:
    """Write into an input, since the student's function did: the checker compares."""
    inside = x.detach()
    inside.copy_(~inside if inside.dtype == torch.bool else inside + 1)


def _kill(action: Callable[[], None]) -> None:
    with contextlib.suppress(psutil.Error, OSError):
        action()


class _Nursery:
    """The process that forks students' processes; one for each marker."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.control, other = socket.socketpair()
        path, *_ = _libraries()
        start = _START.format(
            path=[str(Path(__file__).parent), *path], number=other.fileno(), grader=self.owner
        )
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", start],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[other.fileno()],
            env=_environment(),
            cwd="/",
        )
        other.close()

    def start(self, settings: str, link: socket.socket) -> psutil.Process:
        """Start a student's process that holds the other end of a connection."""
        with link:
            socket.send_fds(self.control, [settings.encode()], [link.fileno()])
        number = b""
        while not number.endswith(b"\n"):
            if not (part := self.control.recv(32)):
                raise RuntimeError("no process can be started for students")
            number += part
        return psutil.Process(int(number))


_running: list[_Nursery] = []


def _nursery() -> _Nursery:
    """Return this process's nursery, and start it when it is needed first."""
    if not _running or _running[0].owner != os.getpid() or _running[0].process.poll() is not None:
        _running[:] = [_Nursery()]
    return _running[0]


def _last_words(code: int) -> str:
    if -code in (signal.SIGXCPU, signal.SIGKILL):
        return "ended by the system: too much time or memory"
    return f"crashed (signal {-code})" if code < 0 else f"the process ended itself (exit {code})"


def _libraries() -> tuple[list[str], list[str], list[str]]:
    """Return where to import from, what must be readable for it, and what of that is hidden."""
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    # The book's own source may be on the path too: that stays outside.
    path = [
        folder
        for folder in filter(os.path.isdir, sys.path)
        if folder in libraries or not Path(folder, _PACKAGE.name).is_dir()
    ]
    folders = {sys.prefix, sys.base_prefix, str(Path(sys.executable).parent), *libraries, *path}
    readable = sorted({os.path.abspath(folder) for folder in folders} - {"/"}, key=len)
    return path, readable, [str(Path(folder, _PACKAGE.name)) for folder in libraries]


def _environment() -> dict[str, str]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**one, "HOME": "/tmp", "USER": "student", "LANG": "C.UTF-8", "MPLBACKEND": "agg",
            "MPLCONFIGDIR": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip

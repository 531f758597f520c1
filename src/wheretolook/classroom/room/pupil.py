"""The student's side: run a notebook's cells, then call their functions as asked.

This process belongs to the student. Whatever it says may be a lie, and can only ever be a lie
about plain numbers, which the grader compares with its own.
"""

import ast
import builtins
import contextlib
import inspect
import io
import json
import linecache
import numbers
import os
import re
import signal
import socket
import sys
import sysconfig
import traceback
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor

from . import dummy, guard, wire

__all__ = ["Pupil", "main"]

_HERE = str(Path(__file__).parent)
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


class Pupil:
    """A namespace that a notebook's cells have run in, and that answers questions about it.

    Parameters
    ----------
    link : socket
        To the grader.
    names : dict, optional
        What is defined already.
    """

    def __init__(self, link: socket.socket, names: dict[str, Any] | None = None) -> None:
        self.link = link
        self.names = names if names is not None else {"__name__": "__main__"}
        self.stubs: dict[str, Any] = {}
        self.own = os.getpid()
        self.failed: list[tuple[str, str]] = []
        self.graph: tuple[Tensor, list[Tensor]] | None = None

    def serve(self) -> None:
        """Answer until the grader hangs up."""
        while True:
            try:
                message, tensors = wire.receive(self.link)
            except wire.Broken:
                return
            reply, results = getattr(self, f"do_{message['do']}")(message, tensors)
            try:
                wire.send(self.link, reply, results)
            except (ValueError, RuntimeError, NotImplementedError) as error:
                told = {"is": "raised", **_described(error), "kind": "BaseException"}
                wire.send(self.link, {**reply, **told})

    # --- cells ---

    def do_run(self, message: dict, _: list[Tensor]) -> tuple[dict, list[Tensor]]:
        """Run the book's own lines, then the student's cells; an error ends only its cell."""
        for source in message["preamble"]:
            with contextlib.suppress(Exception):  # such as a library that is not here
                exec(compile(source, "<book>", "exec"), self.names)
        self.stubs = {name: self.names.get(name) for name in message["answers"]}
        self.failed += [(source, why) for source, why in message["skipped"]]
        for number, source in message["cells"]:
            wire.send(self.link, {"cell": number})
            try:
                with _time(message["seconds"]):
                    self._run(number, source)
            except BaseException as error:  # noqa: B036  even sys.exit ends only its cell
                told = _described(error)
                self.failed.append((source, f"{_told(told)} in cell {number}"))
            self._alone()
        return {"ran": len(message["cells"])}, []

    def _alone(self) -> None:
        """End here if this is a copy that a student's code has made: only one may speak."""
        if os.getpid() != self.own:
            os._exit(0)

    def _run(self, number: int, source: str) -> None:
        file = f"<cell {number}>"
        try:
            tree = ast.parse(source, file)
        except SyntaxError:
            source = _plain(source)
            tree = ast.parse(source, file)
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(tree, file, "exec"), self.names)

    # --- answers ---

    def do_look(self, message: dict, _: list[Tensor]) -> tuple[dict, list[Tensor]]:
        """Say what a name stands for."""
        name = message["name"]
        if name not in self.names or self.names[name] is self.stubs.get(name):
            pattern = re.compile(rf"\b(def|class)\s+{name}\b|^\s*{name}\s*[:=]", re.M)
            for source, why in self.failed:
                if pattern.search(source):
                    return {"is": "failed", "why": why}, []
        if name not in self.names:
            return {"is": "missing"}, []
        answer = self.names[name]
        if isinstance(answer, dummy.Blank):
            return {"is": "borrowed"}, []
        if isinstance(answer, type):
            return {"is": "class", "type": answer.__name__[:40]}, []
        if callable(answer):
            return {"is": "function", "signature": _signature(answer)}, []
        results: list[Tensor] = []
        return _value(answer, results), results

    def do_call(self, message: dict, tensors: list[Tensor]) -> tuple[dict, list[Tensor]]:
        """Call a function, and tell all that may be known about it."""
        leaves = [tensors[i].requires_grad_() for i in message["trained"]]
        given = [tensors[a["tensor"]].clone() if "tensor" in a else a["number"] for a in
                 message["arguments"]]  # fmt: skip
        before = [x.detach().clone() if isinstance(x, Tensor) else x for x in given]
        results: list[Tensor] = []
        dummy.Blank.trying, dummy.Blank.noticed = True, False
        try:
            with torch.set_grad_enabled(bool(leaves)):
                result = self.names[message["name"]](*given)
            reply = _value(result, results)
            if results and leaves and isinstance(result, Tensor):
                reply["trains"] = result.requires_grad
                self.graph = result, leaves
        except BaseException as error:  # noqa: B036  it is the answer, whatever it is
            reply, results = {"is": "raised", **_described(error)}, []
        dummy.Blank.trying = False
        self._alone()
        changed = [
            i
            for i, (x, y) in enumerate(zip(given, before, strict=True))
            if isinstance(x, Tensor) and not torch.equal(x, y)
        ]
        return {**reply, "changed": changed, "borrowed": dummy.Blank.noticed}, results

    def do_train(self, _: dict, tensors: list[Tensor]) -> tuple[dict, list[Tensor]]:
        """Send a gradient back through the last result."""
        try:
            result, leaves = self.graph
            found = torch.autograd.grad(result, leaves, tensors[0], allow_unused=True)
        except Exception as error:
            return {"is": "raised", **_described(error)}, []
        return {"reached": [g is not None for g in found]}, [g for g in found if g is not None]


def _value(result: Any, tensors: list[Tensor]) -> dict[str, Any]:
    """Describe a result by plain words, and add its numbers to a list of tensors."""
    for word, thing in {"None": None, "...": ..., "NotImplemented": NotImplemented}.items():
        if result is thing:
            return {"is": word}
    if isinstance(result, dummy.Blank):
        dummy.Blank.noticed = True
    if isinstance(result, bool | str):
        return {"is": "plain", "value": result[:300] if isinstance(result, str) else result}
    if isinstance(result, numbers.Real):
        short = type(result) is int and abs(result) < 1 << 53
        return {"is": "plain", "value": result if short else float(result)}
    if isinstance(result, Tensor):
        tensors.append(result.detach().to_dense())
        return {"is": "tensor"}
    kind = type(result).__name__[:40]
    if isinstance(result, tuple):
        return {"is": "tuple", "length": len(result), "type": kind}
    if kind == "ndarray" or isinstance(result, list):
        with contextlib.suppress(Exception):
            tensors.append(torch.as_tensor(result))
        length = len(result) if isinstance(result, list) else 0
        return {"is": "list" if isinstance(result, list) else "array", "length": length}
    return {"is": "object", "type": kind}


def _signature(answer: Any) -> list[list] | None:
    """Return name, kind and default of each parameter, or None where nobody knows."""
    try:
        found = inspect.signature(getattr(answer, "forward", answer)).parameters.values()
        return [
            [p.name, int(p.kind), None if p.default is p.empty else repr(p.default)[:40]]
            for p in found
        ]
    except Exception:
        return None


def _described(error: BaseException) -> dict[str, Any]:
    """Say what was raised, and in which of the student's lines."""
    try:
        text = " ".join(str(error).split())[:400]
    except Exception:
        text = ""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_HERE, *_LIBRARIES))
    ]
    return {
        "type": type(error).__name__[:40],
        "kind": next(k for k in (NotImplementedError, Exception, SystemExit, BaseException)
                     if isinstance(error, k)).__name__,
        "text": text,
        "line": [frames[-1].lineno, str(frames[-1].line)[:200]] if frames else None,
    }  # fmt: skip


def _told(told: dict[str, Any]) -> str:
    return f"{told['type']}: {told['text'][:200]}"


def _plain(source: str) -> str:
    """Take out what only IPython knows: %magics, !commands and questions?"""
    return re.sub(r"^(\s*)[%!?].*|^(\s*)\S.*\?$", r"\1\2pass", source, flags=re.M)


@contextlib.contextmanager
def _time(seconds: float) -> Any:
    def ring(*_: Any) -> NoReturn:
        raise TimeoutError(f"stopped after {seconds:g} seconds")

    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main(settings: str, number: int, parent: int) -> None:
    """Shut this process in, then serve.

    Parameters
    ----------
    settings : str
        What `guard.close_in` takes besides, as JSON.
    number : int
        Of the connection to the grader.
    parent : int
        The process that this one is to end with.
    """
    link = socket.socket(fileno=number)
    guards = guard.close_in(
        **json.loads(settings), parent=parent, ended=lambda code: wire.send(link, {"ended": code})
    )
    dummy.install()
    torch.set_num_threads(1)
    for name in ("get_ipython", "display"):
        setattr(builtins, name, lambda *_, **__: dummy.Blank())
    sys.stdin = io.StringIO()
    wire.send(link, {"guards": guards})
    Pupil(link).serve()

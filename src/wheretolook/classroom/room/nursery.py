"""Start students' processes quickly: import torch once, then fork for each of them.

This process runs no line of a student's and knows none of the book's. It gets a connection and
settings for each student, forks, and the child shuts itself in before it does anything else.
"""

import contextlib
import ctypes
import os
import signal
import socket
import sys

__all__ = ["main"]


def main(number: int, grader: int) -> None:
    """Fork a student's process for each request, until the grader hangs up.

    Parameters
    ----------
    number : int
        Of the connection to the grader.
    grader : int
        The grader's process.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM) if sys.platform == "linux" else None
    if os.getppid() != grader:  # it has died before that
        return
    from . import pupil

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=number)
    own = os.getpid()
    while True:
        settings, connections, _, _ = socket.recv_fds(control, 1 << 16, 1)
        if not settings or not connections:
            return
        child = os.fork()
        if not child:
            code = 1
            with contextlib.suppress(BaseException):
                control.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.setsid()
                pupil.main(settings.decode(), connections[0], own)
                code = 0
            os._exit(code)
        os.close(connections[0])
        control.sendall(f"{child}\n".encode())

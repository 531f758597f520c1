"""Close a process in, before a single line of a student's runs in it.

On Linux the process gets a world of its own, made of the kernel's namespaces: files (Python and
its libraries, read-only, and an empty /tmp in memory), processes, and no network. It is started as
a user that owns nothing, if the grader is root; if not, as the grader's own user inside a user
namespace, where the kernel allows that. Limits of time, memory, processes and file size hold
everywhere. What was not possible is not listed by `close_in`, and the grader says so.

This is a good fence and no vault: student and grader share one kernel.
"""

import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["close_in"]

_NEWUSER, _NEWNS, _NEWNET, _NEWPID = 0x10000000, 0x20000, 0x40000000, 0x20000000
_NEWIPC, _NEWUTS = 0x8000000, 0x4000000
_BIND, _REC, _REMOUNT, _PRIVATE = 0x1000, 0x4000, 0x20, 0x40000
_RDONLY, _NOSUID, _NODEV = 1, 2, 4
_DETACH = 2
_SET_PDEATHSIG, _CAPBSET_DROP, _NO_NEW_PRIVS, _SUBREAPER = 1, 24, 38, 36
_CAPABILITY_VERSION = 0x20080522
# What Python and torch read beside themselves.
_SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/opt/hostedtoolcache", "/nix/store")
_FILES = (
    *("/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system/cpu"),
    *("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"),
)


def close_in(
    readable: Iterable[str],
    hidden: Iterable[str],
    uid: int,
    root: str,
    memory: int,
    seconds: int,
    parent: int,
    ended: Callable[[int], None],
) -> list[str]:
    """Shut this process in, and return which guards hold.

    It forks where it gets a world of its own: the parent stays outside and ends with its child.

    Parameters
    ----------
    readable : iterable of str
        Folders that stay visible, read-only.
    hidden : iterable of str
        Folders inside of these that do not.
    uid : int
        Whom to become, if this process is root.
    root : str
        An empty folder that may become the root of the new world.
    memory : int
        Most bytes of address space for each process.
    seconds : int
        Most seconds of processor time for each process.
    parent : int
        The process that this one is to end with.
    ended : callable
        Called outside with the exit code (or minus the signal) when all is over inside.

    Returns
    -------
    list of str
        Of "user", "files", "network", "processes" and "limits".

    Examples
    --------
    In a process that is to be closed in, and not in this one::

        close_in(["/usr"], [], 65534, "/tmp/empty", 1 << 32, 60, os.getppid(), print)
    """
    guards = []
    _prctl(_SET_PDEATHSIG, signal.SIGTERM)  # if the grader dies, so does all of this
    if os.getppid() != parent:  # it has died already
        os._exit(1)
    privileged = os.geteuid() == 0
    alone = privileged  # whether this user runs nothing else
    if sys.platform == "linux" and _enter(privileged):
        alone = True
        _stay_outside(ended)
        with contextlib.suppress(OSError):
            _new_root(Path(root), list(readable), list(hidden))
            guards += ["files"]
        guards += ["network", "processes"]
    elif sys.platform == "linux":
        _prctl(_SUBREAPER, 1)
        _stay_outside(ended)
    _limit(memory, seconds, 64 + (0 if alone else _running()))
    if privileged:
        with contextlib.suppress(OSError):  # "root" of a container may know no other user
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            guards += ["user"]
    if sys.platform == "linux":
        _drop_capabilities()
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)  # again: a change of user forgets it
    with contextlib.suppress(OSError):
        os.chdir("/tmp")
    return [*guards, "limits"]


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc(), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _libc().prctl(option, ctypes.c_ulong(value), *(ctypes.c_ulong(0),) * 3)


def _enter(privileged: bool) -> bool:
    """Leave the grader's namespaces; say whether it was possible."""
    world = _NEWNS | _NEWNET | _NEWPID | _NEWIPC | _NEWUTS
    uid, gid = os.getuid(), os.getgid()
    try:
        _call("unshare", world if privileged else world | _NEWUSER)
        if not privileged:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    except (OSError, AttributeError):
        return False
    return True


def _stay_outside(ended: Callable[[int], None]) -> None:
    """Fork. The parent only waits, and takes its child with it when it is told to end."""
    child = os.fork()
    if not child:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(Exception):
        ended(os.waitstatus_to_exitcode(status))
    os._exit(0)


def _new_root(root: Path, readable: list[str], hidden: list[str]) -> None:
    """Make a world of a few folders, and step into it."""
    _mount("none", "/", None, _REC | _PRIVATE)
    # What lies in /tmp or below the new root must be reached before that is covered.
    _mount("tmpfs", str(root), "tmpfs", _NOSUID | _NODEV, "size=64m,mode=755")
    for path in (*_SYSTEM, *_FILES, *readable):
        _show(Path(path), root)
    for path in hidden:
        if (inside := root / path.lstrip("/")).is_dir():
            _mount("tmpfs", str(inside), "tmpfs", _RDONLY | _NOSUID | _NODEV, "size=4k,mode=755")
    for name in ("tmp", "dev/shm", "proc", "etc"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "dev/shm"):
        (root / name).chmod(0o1777)
    with contextlib.suppress(OSError):  # a container may have a part of it covered
        _mount("proc", str(root / "proc"), "proc", _NOSUID | _NODEV)
    os.chdir(root)
    _call("pivot_root", b".", b".")
    _call("umount2", b".", _DETACH)
    os.chdir("/")


def _show(path: Path, root: Path) -> None:
    """Make a folder or file visible, at the same place and read-only."""
    if not path.exists():
        return
    place = root / str(path).lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():  # as part of another
        return
    if path.is_symlink():
        place.symlink_to(os.readlink(path))
        return
    if path.is_dir():
        place.mkdir()
    else:
        place.touch()
    _mount(str(path), str(place), None, _BIND | _REC)
    kept = os.statvfs(place).f_flag & 0xC0E  # what is locked may not be let go
    if path.is_dir():
        _mount("none", str(place), None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV | kept)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    text = (x.encode() if x else None for x in (source, target, kind))
    _call("mount", *text, ctypes.c_ulong(flags), options.encode() or None)


def _limit(memory: int, seconds: int, processes: int) -> None:
    for name, most in {
        "RLIMIT_CPU": seconds,
        "RLIMIT_AS": memory,
        "RLIMIT_NPROC": processes,  # of this user, threads included
        "RLIMIT_FSIZE": 64 << 20,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
    }.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))


def _running() -> int:
    """Count what this user runs already and can see."""
    count = 0
    for entry in Path("/proc").glob("[0-9]*/task"):
        with contextlib.suppress(OSError):
            count += len(os.listdir(entry)) if entry.stat().st_uid == os.getuid() else 0
    return count


def _drop_capabilities() -> None:
    """Give up every privilege, for good."""
    for number in range(64):
        _prctl(_CAPBSET_DROP, number)
    _prctl(_NO_NEW_PRIVS, 1)
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    with contextlib.suppress(OSError):
        _call("capset", header, bytes(24))

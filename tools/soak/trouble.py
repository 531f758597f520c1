"""No room, no right to write, no network: does it work, or say in a sentence what is missing?

A disk is made full or read-only in a mount namespace of its own, which ends with its process.
"""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .copies import Built, Copy, line, table
from .same import read, unexplained

__all__ = ["full", "in_trouble", "no_network", "read_only", "run"]

LOOPBACK = """
import fcntl, socket, struct
with socket.socket() as s:  # kernels talk over 127.0.0.1, which a machine without network has
    fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x41))  # SIOCSIFFLAGS: up, running
"""
TRAINING = """
import torch
from wheretolook.training import Recipe, seeded, trained
def batches(generator):
    while True:
        yield torch.randn(8, 200, generator=generator)
with seeded(0):
    model = torch.nn.Linear(200, 200)
loss = lambda model, x: (model(x) - x / 2).square().mean()
trained(model, loss, batches, Recipe(steps=20), seed=0, label="", config={}, module="training")
print("trained", model.weight.sum().item())
"""
CORRUPT = 'mkdir -p weights/weights; for f in weights/weights/*.pt; do echo no weights > "$f"; done'


def full(folder: str, size: str) -> str:
    """Put a disk of so many bytes in the place of a folder."""
    return f"mkdir -p {folder} && mount -t tmpfs -o size={size} tmpfs {folder}"


def read_only(folder: str) -> str:
    """Let nobody write into a folder."""
    mount = f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}"
    return f"mkdir -p {folder} && {mount}"


def no_network() -> str:
    """Leave only the machine itself within reach."""
    return f"'{sys.executable}' -c '{LOOPBACK}'"


def in_trouble(prelude: str, command: list[str]) -> list[str]:
    """Return what runs a command in namespaces of its own, after the prelude."""
    shell = ["bash", "-c", f'{prelude} && exec "$@"', "bash"]
    network = ["--net"] if LOOPBACK in prelude else []
    return ["unshare", "--map-root-user", "--mount", *network, *shell, *command]


def is_possible() -> bool:
    """Tell whether this system lets its users make namespaces."""
    if not shutil.which("unshare"):
        return False
    try_it = in_trouble(f"mount -t tmpfs tmpfs /mnt && {no_network()}", ["true"])
    return subprocess.call(try_it, stderr=subprocess.DEVNULL) == 0


@dataclass(frozen=True)
class Trouble:
    """What is missing, what is tried, and the words that are expected; no words: it works."""

    name: str
    prelude: str
    command: list[str]
    says: str = ""

    def met_by(self, built: Built) -> str:
        """Return the line that says what was expected, or nothing."""
        lines = built.said.strip().splitlines() or [""]
        if not self.says:
            return f"works: {lines[-1]}" if built.code == 0 else ""
        said = next((line for line in lines if re.search(self.says, line)), "")
        return said if built.code else ""


def troubles(copy: Copy) -> list[Trouble]:
    """List them."""
    book, grade = copy.make("book"), copy.make("grade", "SUBMISSIONS=handed-in")
    student, train = copy.make("student"), [sys.executable, "-c", TRAINING]
    archive = [sys.executable, "tools/archive.py"]
    site, room, rights = "Mend that and build again", "No space left", "Read-only file system"
    return [
        Trouble("full disk: site", full("_build/html", "2m"), book, f"disk is full. {site}"),
        Trouble("full disk: pages read", full("_build/.doctrees", "1m"), book, site),
        Trouble("full disk: notebooks run", full("_build/.jupyter_cache", "40k"), book, site),
        Trouble("read-only: _build", read_only("_build"), book, f"read-only. {site}"),
        Trouble("no network: book", no_network(), book),
        Trouble("full disk: student", full("_build/student", "300k"), student, room),
        Trouble("read-only: student", read_only("_build/student"), student, rights),
        Trouble("no network: student", no_network(), student),
        Trouble("full disk: grade", full("_build/grades", "4k"), grade, room),
        Trouble("read-only: grade", read_only("_build/grades"), grade, rights),
        Trouble("no network: grade", no_network(), grade),
        Trouble("no file over 1 MB: archive", "ulimit -f 1000", archive, "File too large"),
        Trouble("no network: archive", no_network(), archive),
        Trouble("full disk: weights", full("weights", "16k"), train),
        Trouble("read-only: weights", read_only("weights"), train),
        Trouble("no network: training", no_network(), train),
        Trouble("damaged weights", CORRUPT, train),
    ]


def run(work: Path) -> tuple[str, int]:
    """Make each trouble, then build without one, and report."""
    if not is_possible():
        return "This system makes no namespaces (`unshare`): nothing was tried.", 0
    copy = Copy(work / "in trouble")
    built = copy.build_first()
    if built.code:
        return f"**The build failed**: {built.said[-2000:]}", 1
    before = read(copy.html)
    copy.run(copy.make("student"))
    (copy.root / "handed-in/ida").mkdir(parents=True)
    shutil.copy(copy.root / "_build/student/04-self-attention.ipynb", copy.root / "handed-in/ida")
    rows, faults = [], 0
    for trouble in troubles(copy):
        given = {"WHERETOLOOK_CACHE": "weights"} if TRAINING in trouble.command else {}
        done = copy.run(in_trouble(trouble.prelude, trouble.command), **given)
        said = trouble.met_by(done).replace(str(copy.root), "…")
        faults += not said
        rows.append([trouble.name, done.code, said or f"**unexpected**: {done.said[-500:]}"])
        print(line(rows[-1]), flush=True)
    again = copy.build()
    unknown = unexplained(before, read(copy.html))
    faults += bool(again.code or unknown)
    after = f"The build after all of them: exit code {again.code}, files that differ: {unknown}."
    return f"{table(('trouble', 'exit code', 'what it says'), rows)}\n\n{after}", faults

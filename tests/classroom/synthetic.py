"""A class that never was: 60 notebooks of chapter 4, right, partly right, wrong and hostile.

Each has its truth beside it: what every exercise should earn (None where it can't be tried), and a
pattern of the status. The names are those of learning platforms and of people.
"""

import copy
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from wheretolook.classroom.chapter import Chapter, joined

NAMES = ("my_weights", "my_attention", "my_scores", "my_share")
FULL = (2, 3, 3, 2)

WEIGHTS = """def my_weights(query, key):
    return (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)"""
ATTENTION = """def my_attention(x, w_query, w_key, w_value):
    return my_weights(x @ w_query, x @ w_key) @ (x @ w_value)"""
SCORES = """def my_scores(query, key, w_query, w_key, v):
    return ((query @ w_query).unsqueeze(-2) + (key @ w_key).unsqueeze(-3)).tanh() @ v"""
SHARE = """def my_share(weights):
    own = torch.arange(weights.shape[-1])
    return (weights.argmax(-1) == own).double().mean()"""
RIGHT = dict(zip(NAMES, (WEIGHTS, ATTENTION, SCORES, SHARE), strict=True))


class Student(NamedTuple):
    """Where a notebook lies, what is in it, and what it should get."""

    path: str
    content: bytes
    truth: tuple[float | None, ...]
    status: str = "marked"


class Maker:
    """Writes notebooks like a student's: the release, with some cells changed."""

    def __init__(self, release: dict[str, Any], other: bytes) -> None:
        self.release, self.other = release, other
        self.cells = {cell["id"]: i for i, cell in enumerate(release["cells"])}
        answers = {
            "my_weights": "ex-attention-weights",
            "my_attention": "ex-self-attention",
            "my_scores": "ex-additive-scores",
            "my_share": "ex-own-share",
        }
        self.place = {name: self.cells[f"{cell}-answer"] for name, cell in answers.items()}

    def notebook(self, answers: dict[str, str], *more: str) -> dict[str, Any]:
        """Fill in answers, and add cells at the end."""
        notebook = copy.deepcopy(self.release)
        for name, source in answers.items():
            notebook["cells"][self.place[name]]["source"] = source
        notebook["cells"] += [code(source) for source in more]
        return notebook

    def bytes(self, answers: dict[str, str], *more: str) -> bytes:
        """Do so, as a file."""
        return packed(self.notebook(answers, *more))


def packed(notebook: Any) -> bytes:
    return json.dumps(notebook, ensure_ascii=False).encode()


def code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": []}


def students(release: dict[str, Any], other: bytes, secret: str) -> list[Student]:
    """Make the class.

    `secret` is a file that must not be readable, `other` a notebook of another chapter.
    """
    make = Maker(release, other)
    return [*_honest(make), *_wrong(make), *_careless(make), *_hostile(make, secret)]


def _honest(make: Maker) -> list[Student]:
    ways = {
        "Li Na_1042_assignsubmission_file_/04-self-attention.ipynb": RIGHT,
        "王小明/Copy of 04-self-attention.ipynb": RIGHT
        | {"my_weights": "def my_weights(q, k):\n    s = torch.einsum('...le,...se->...ls', q, k)\n"
           "    return torch.softmax(s * q.shape[-1] ** -0.5, dim=-1)"},
        "Zoë O'Hara_1043_assignsubmission_file_04-self-attention.ipynb": RIGHT
        | {"my_weights": "class Mine(torch.nn.Module):\n    def forward(self, query, key):\n"
           "        return (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)\n\n"
           "my_weights = Mine()"},
        "garciajose_77_905_04-self-attention-1.ipynb": RIGHT
        | {"my_share": "def my_share(weights):\n    hits = [w[i].argmax() == i for w in weights "
           "for i in range(len(w))]\n    return sum(hits) / len(hits)"},
        "muellerj_LATE_78_906_04-self-attention.ipynb": RIGHT
        | {"my_scores": "import einops\n\ndef my_scores(query, key, w_query, w_key, v):\n"
           "    q, k = query @ w_query, key @ w_key\n"
           "    q = einops.rearrange(q, 'b l e -> b l 1 e')\n"
           "    k = einops.rearrange(k, 'b s e -> b 1 s e')\n"
           "    return einops.einsum(torch.tanh(q + k), v, 'b l s e, e -> b l s')"},
        "陈静_04-self-attention (1).ipynb": RIGHT,
        "04-self-attention - Amara Okafor.ipynb": RIGHT,
        "Nguyễn Văn An/04_self_attention.ipynb": RIGHT,
        "=SUM(A1)/04-self-attention.ipynb": RIGHT,
        "submissions/ida/04-self-attention-copy1.ipynb": RIGHT,
    }  # fmt: skip
    return [Student(path, make.bytes(answers), FULL) for path, answers in ways.items()]


def _wrong(make: Maker) -> list[Student]:
    def one(path: str, name: str, source: str, earned: float) -> Student:
        truth = tuple(earned if n == name else f for n, f in zip(NAMES, FULL, strict=True))
        return Student(path, make.bytes(RIGHT | {name: source}), truth)

    share = "def my_share(weights):\n    return "
    weights = "def my_weights(query, key):\n    return "
    apart = (
        "def my_attention(x, wq, wk, wv):\n"
        "    a = (x @ wq @ (x @ wk).mT / wq.shape[-1] ** 0.5).softmax(-1)\n    return a @ x @ wv"
    )
    own = {"my_attention": apart}
    scores = "def my_scores(query, key, w_query, w_key, v):\n    return "
    unscaled = f"{weights}(query @ key.mT).softmax(-1)"
    turned = f"{weights}(query @ key.mT / query.shape[-1] ** 0.5).softmax(-2)"
    cut = f"{weights}(query @ key.mT / query.shape[-1] ** 0.5).softmax(-1).detach()"
    return [
        Student("w01/x.ipynb", make.bytes({}), (0, 0, 0, 0)),
        Student("w02/x.ipynb", make.bytes({"my_weights": WEIGHTS}), (2, 0, 0, 0)),
        Student("w03/x.ipynb", make.bytes(RIGHT | own | {"my_weights": unscaled}), (0, 3, 3, 2)),
        Student("w04/x.ipynb", make.bytes(RIGHT | own | {"my_weights": turned}), (0, 3, 3, 2)),
        Student("w05/x.ipynb", make.bytes(RIGHT | own | {"my_weights": cut}), (1.8, 3, 3, 2)),
        one("w06/x.ipynb", "my_share", f"{share}weights.argmax(-1).double().mean()", 0),
        one("w07/x.ipynb", "my_share", f"{share}0.5", 0),
        one("w08/x.ipynb", "my_share", f"{share}None", 0),
        one("w09/x.ipynb", "my_share", "my_share = 0.25", 0),
        one("w10/x.ipynb", "my_scores", f"{scores}query @ w_query @ (key @ w_key).mT", 0),
        one("w11/x.ipynb", "my_scores", f"{scores}undefined_name", 0),
        one("w12/x.ipynb", "my_scores", f"{scores}1 / 0", 0),
        one("w13/x.ipynb", "my_scores", "def my_scores(query):\n    return query", 0),
    ]


def _careless(make: Maker) -> list[Student]:
    """Cells and files in disorder: answers are found all the same, or the status says why not."""
    whole = make.notebook(RIGHT)

    def change(edit: Callable[[dict], Any], base: dict[str, Any] = whole) -> bytes:
        notebook = copy.deepcopy(base)
        edit(notebook)
        return packed(notebook)

    def split(notebook: dict) -> None:
        cells = notebook["cells"]
        at = make.place["my_share"]
        cells[at]["source"] = "helper = lambda n: torch.arange(n)"
        cells.insert(at + 1, code(SHARE.replace("torch.arange(", "helper(")))

    def old(notebook: dict) -> None:
        cells = [
            {**cell, "input": joined(cell)} if cell["cell_type"] == "code" else cell
            for cell in notebook.pop("cells")
        ]
        for cell in cells:
            cell.pop("source", None)
        notebook.update(worksheets=[{"cells": cells}], nbformat=3)

    only = [make.place[name] for name in NAMES]
    stub = make.release["cells"][make.place["my_share"]]
    check = make.cells["ex-own-share-check"]
    syntax = RIGHT | {"my_share": "def my_share(weights:\n    return 1"}
    large = {"output_type": "stream", "name": "stdout", "text": "x" * (50 << 20)}
    return [
        Student("c01/deleted.ipynb",
                change(lambda n: n.update(cells=[n["cells"][i] for i in only])), FULL),
        Student("c02/doubled.ipynb",
                change(lambda n: n["cells"].append(copy.deepcopy(stub))), FULL),
        Student("c03/split.ipynb", change(split), FULL),
        Student("c04/reversed.ipynb", change(lambda n: n["cells"].reverse()), FULL),
        Student("c05/checks.ipynb", change(
            lambda n: n["cells"][check].update(source="check.own_rank(my_share, points=100)"),
            make.notebook({})), (0, 0, 0, 0)),
        Student("c06/json.ipynb", packed(whole)[:-200], (None,) * 4, "not run: .*JSON"),
        Student("c07/empty.ipynb", b"", (None,) * 4, "not run: the file is empty"),
        Student("c08/old.ipynb", change(old), FULL),
        Student("c09/kernel.ipynb", change(
            lambda n: n["metadata"].update(kernelspec={"name": "ir", "display_name": "R"})), FULL),
        Student("c10/large.ipynb", change(
            lambda n: n["cells"][make.place["my_share"]].update(outputs=[large])), FULL),
        Student("c11/05-masking.ipynb", make.other, (None,) * 4, "not run: .*another chapter, 05"),
        Student("c12/syntax.ipynb", make.bytes(syntax), (2, 3, 3, None), "partly .*SyntaxError"),
        Student("c13/list.ipynb", b"[1, 2]", (None,) * 4, "not run: the file is not a notebook"),
        Student("c14/magic.ipynb", make.bytes(RIGHT, "%matplotlib inline\n!ls\nx = 1"), FULL),
        Student("c15/deep.ipynb", b"[" * 100_000, (None,) * 4, "not run: .*JSON"),
    ]  # fmt: skip


def _hostile(make: Maker, secret: str) -> list[Student]:
    head = "import os, sys, time\n\ndef my_share(weights):\n"
    rest, none = (2, 3, 3, None), (2, 3, 3, 0)
    other = {name: source for name, source in RIGHT.items() if name != "my_share"}

    def answer(path: str, body: str, truth: tuple = rest, status: str = "partly run") -> Student:
        return Student(
            f"{path}/x.ipynb", make.bytes(RIGHT | {"my_share": head + body}), truth, status
        )

    def cell(path: str, source: str, answers: dict = RIGHT, truth: tuple = FULL) -> Student:
        return Student(f"{path}/x.ipynb", make.bytes(answers, source), truth)

    right = "    return (weights.argmax(-1) == torch.arange(weights.shape[-1])).double().mean()\n"
    stubborn = (
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass"
    )
    inner = stubborn.replace("\n", "\n    ")
    bomb = "import os\nwhile True:\n    os.fork()"
    clever = (
        "class Yes(torch.Tensor):\n"
        "    __eq__ = __ne__ = lambda *_: torch.tensor(True)\n"
        "    shape = property(lambda self: torch.Size([]))\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, *_, **__):\n        return torch.tensor(True)\n\n"
        "def my_share(weights):\n    return torch.zeros(7).as_subclass(Yes)"
    )
    liar = (
        "class Mark:\n    def __eq__(self, other): return True\n"
        "    def __float__(self): return 2.0\n    shape = ()\n\n"
        "def my_share(weights):\n    return Mark()"
    )
    forged = (
        "import sys\n"
        "wire = sys.modules['room.wire']\nsend = wire.send\n"
        "def lie(link, message, tensors=None):\n"
        "    message.update({'is': 'plain', 'value': 2.0, 'points': 2, 'status': 'right'})\n"
        "    send(link, message, tensors)\nwire.send = lie"
    )
    reader = f"    try:\n        open({secret!r}).read()\n    except OSError:\n        return 0\n"
    dial = "    import socket\n    try:\n        socket.create_connection(('127.0.0.1', 22), 1)\n"
    quiet = (
        "    except ConnectionRefusedError:\n        pass\n    except OSError:\n        return 0\n"
    )
    return [
        answer("h01", "    while True: pass"),
        Student("h02/x.ipynb", make.bytes(RIGHT, "while True: pass"), FULL),
        answer("h03", "    " + inner),
        cell("h04", stubborn),
        answer("h05", "    os._exit(0)"),
        cell("h06", "import os\nos._exit(0)"),
        answer("h07", "    sys.exit()", none, "marked"),
        cell("h08", "import sys\nsys.exit()"),
        answer("h09", "    return torch.zeros(50 << 28).sum()", none, "marked"),
        answer("h10", "    x = []\n    while True: x.append(b'1' * (1 << 26))", none,
               "marked|partly"),
        cell("h11", "while True: print('x' * 1000)"),
        answer("h12", "    while True: print('x' * 1000)"),
        cell("h13", bomb),
        answer("h14", "    while True:\n        try: os.fork()\n        except OSError: pass"),
        cell("h15", "check.own_rank = lambda *_, **__: 10", other, none),
        cell("h16", "import wheretolook.check as c\nc.exercise.Exercise.mark = lambda *_: 2.0",
             other, none),
        cell("h17", "ip = get_ipython()\nip.display_formatter.formatters['text/plain'].for_type("
             "float, lambda *_: '2.0')", other, none),
        Student("h18/x.ipynb", make.bytes(RIGHT | {"my_share": clever}), none),
        Student("h19/x.ipynb", make.bytes(RIGHT | {"my_share": liar}), none),
        cell("h20", "torch.equal = torch.allclose = lambda *_, **__: True", other, none),
        Student("h21/x.ipynb", make.bytes(other, forged), (0, 0, 0, 0)),
        answer("h22", reader + right, none, "marked"),
        answer("h23", dial + quiet + right, none, "marked"),
        answer("h24", "    for fd in range(3, 30):\n        try: os.write(fd, b'2.0' * 99)\n"
               "        except OSError: pass\n    return 2"),
        answer("h25", "    sys.setrecursionlimit(10**9)\n    return my_share(weights)", none,
               "marked|partly"),
        answer("h26", "    os.kill(-1, 9)\n    return 0", none, "marked|partly"),
        cell("h27", "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n"
             "        time.sleep(600)\n    os._exit(0)"),
        Student("h28/x.ipynb", make.bytes(RIGHT | {
            "my_share": "from wheretolook.attention import attention_weights as my_share"}), none),
        answer("h29", "    return torch.zeros(1 << 25)", none, "marked"),
        answer("h30", "    raise KeyboardInterrupt", none, "marked"),
        answer("h31", "    import ctypes\n    ctypes.string_at(0)"),
        cell("h32", "import os\nfor f in ('marks.csv', 'results'):\n    os.system(f'rm -rf /{f}')"),
    ]  # fmt: skip


def others(chapter: Chapter) -> bytes:
    """Return a notebook of another chapter."""
    return packed({"cells": chapter.cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

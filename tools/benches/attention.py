"""The book's attention beside torch's: time and peak memory, as ratios."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wheretolook.attention import MultiHeadAttention, attend, split_heads
from wheretolook.masks import causal_mask

from .measure import in_fresh_processes, interleaved, peaks

__all__ = ["LENGTHS", "PAIRS", "Pair", "Row", "report", "run", "times", "tops"]

LENGTHS = (64, 128, 256, 512, 1024, 2048)
WIDTH, HEADS = 512, 8
MASKS = ("none", "causal")
PASSES = ("forward", "forward + backward")


class Pair(NamedTuple):
    """What is compared with what; the most that the ratio of their times should be."""

    ours: str
    theirs: str
    target: float | None = None
    masks: tuple[str, ...] = MASKS  # where the target holds


PAIRS = (
    Pair("attend", "scaled_dot_product_attention"),
    Pair("MultiHeadAttention", "nn.MultiheadAttention", 2.5, ("causal",)),
    Pair("MultiHeadAttention, no weights", "nn.MultiheadAttention, no weights", 1.1),
)
NAMES = tuple(name for pair in PAIRS for name in pair[:2])


class Row(NamedTuple):
    """One case, and what each of `NAMES` measured there: seconds or MiB."""

    length: int
    mask: str
    pass_: str
    measured: dict[str, float]


def run() -> str:
    """Measure everything at full size: some five minutes."""
    torch.set_num_threads(1)
    return report(times(), tops())


def times(
    lengths: tuple[int, ...] = LENGTHS,
    width: int = WIDTH,
    heads: int = HEADS,
    repetitions: int | None = None,
) -> list[Row]:
    """Return the median seconds of every case, in `repetitions` rounds (more for short ones)."""
    made, rows = _implementations(width, heads), []
    for length, mask, pass_ in _cases(lengths):
        calls = {name: _call(made[name], length, width, mask, pass_) for name in NAMES}
        rounds = max(9, 6400 // length) if repetitions is None else repetitions
        rows.append(Row(length, mask, pass_, interleaved(calls, rounds)))
    return rows


def tops(lengths: tuple[int, ...] = LENGTHS, width: int = WIDTH, heads: int = HEADS) -> list[Row]:
    """Return the peak memory of every case in MiB: a process for each name, mask and pass."""
    lengths = tuple(sorted(lengths))
    jobs = [(name, mask, pass_) for mask in MASKS for pass_ in PASSES for name in NAMES]
    found = in_fresh_processes(partial(_peaks, lengths, width, heads), jobs)
    grown = {
        (*job, n): m
        for job, each in zip(jobs, found, strict=True)
        for n, m in zip(lengths, each, strict=True)
    }
    return [
        Row(length, mask, pass_, {name: grown[name, mask, pass_, length] for name in NAMES})
        for length, mask, pass_ in _cases(lengths)
    ]


def report(seconds: list[Row], mebibytes: list[Row]) -> str:
    """Write both tables and the verdict as Markdown."""
    setting = f"torch {torch.__version__}, {torch.get_num_threads()} thread, float32, B = 1"
    return "\n\n".join(
        [
            f"{setting}. Each cell: the book's figure divided by torch's, and the book's figure.",
            "Time: median of rounds in which all take turns; forward without gradients.",
            _table(seconds, lambda s: f"{1000 * s:.1f} ms"),
            "Memory: how far the highest mark of the process's resident memory rose beyond what a "
            "short sequence takes; a process for each column, mask and pass. – is less than 1 MiB.",
            _table(mebibytes, lambda m: f"{m:.0f} MiB", least=1.0),
            verdict(seconds),
        ]
    )


def verdict(seconds: list[Row]) -> str:
    """Say for each target how many cases meet it, and which is the worst."""
    lines = ["| target | cases | worst | met |", "|---|---|---|---|"]
    for pair in PAIRS:
        if pair.target is None:
            continue
        held = [row for row in seconds if row.mask in pair.masks]
        ratios = [_ratio(row, pair) for row in held]
        worst = max(ratios)
        at = held[ratios.index(worst)]
        good = sum(ratio <= pair.target for ratio in ratios)
        lines.append(
            f"| {pair.ours}, mask {' or '.join(pair.masks)}: at most {pair.target} × {pair.theirs} "
            f"| {good} of {len(ratios)} | {worst:.2f} (L = {at.length}, {at.mask}, {at.pass_}) "
            f"| {'yes' if good == len(ratios) else 'no'} |"
        )
    return "\n".join(lines)


def _table(rows: list[Row], figure: Callable[[float], str], least: float = 0.0) -> str:
    lines = ["| L | mask | pass |" + "".join(f" {p.ours} / {p.theirs} |" for p in PAIRS)]
    lines.append("|---:|---|---|" + "---:|" * len(PAIRS))
    for row in rows:
        cells = [
            f"{_ratio(row, pair):.2f} ({figure(row.measured[pair.ours])})"
            if min(row.measured[name] for name in pair[:2]) > least
            else "–"
            for pair in PAIRS
        ]
        lines.append(f"| {row.length} | {row.mask} | {row.pass_} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _ratio(row: Row, pair: Pair) -> float:
    return row.measured[pair.ours] / row.measured[pair.theirs]


def _cases(lengths: tuple[int, ...]) -> list[tuple[int, str, str]]:
    return [(length, mask, pass_) for length in lengths for mask in MASKS for pass_ in PASSES]


def _implementations(width: int, heads: int) -> dict[str, Callable]:
    """Return functions of tokens and a mask in both polarities: may attend, ignore."""
    ours = MultiHeadAttention(width, heads)
    # in training mode, where it is at its best: its own path for evaluation was slower on a CPU
    theirs = nn.MultiheadAttention(width, heads, batch_first=True)

    def bare(x: Tensor, may: Tensor | None, _: Tensor | None) -> Tensor:
        return attend(*[split_heads(x, heads)] * 3, attn_mask=may).output

    def bare_torch(x: Tensor, may: Tensor | None, _: Tensor | None) -> Tensor:
        return F.scaled_dot_product_attention(*[split_heads(x, heads)] * 3, attn_mask=may)

    def layer(x: Tensor, may: Tensor | None, _: Tensor | None, *, needed: bool) -> Tensor:
        return ours(x, x, x, may, need_weights=needed)[0]

    def layer_torch(x: Tensor, _: Tensor | None, not_: Tensor | None, *, needed: bool) -> Tensor:
        options = {"need_weights": needed, "average_attn_weights": False}  # a map for each head
        return theirs(x, x, x, attn_mask=not_, **options)[0]

    layers = [partial(f, needed=n) for n in (True, False) for f in (layer, layer_torch)]
    return dict(zip(NAMES, [bare, bare_torch, *layers], strict=True))


def _call(f: Callable, length: int, width: int, mask: str, pass_: str) -> Callable[[], None]:
    x = torch.randn(1, length, width, requires_grad=True)
    may = causal_mask(length) if mask == "causal" else None
    given = (x, may, None if may is None else ~may)

    def forward() -> None:
        with torch.no_grad():
            f(*given)

    def both() -> None:
        f(*given).sum().backward()

    return forward if pass_ == PASSES[0] else both


def _peaks(
    lengths: tuple[int, ...], width: int, heads: int, job: tuple[str, str, str]
) -> list[float]:
    torch.set_num_threads(1)
    name, mask, pass_ = job
    f = _implementations(width, heads)[name]
    calls = [_call(f, length, width, mask, pass_) for length in lengths]
    return peaks([_call(f, 8, width, mask, pass_), *calls])

"""Exercises that answer back: an exercise is its solution and the mistakes that people make.

A mistake is recognised by *making* it: each is a small function that computes what a reader with
that misconception would get. When an answer is wrong, it is compared with them all, and the one
that agrees knows what to say. So a new exercise is a solution, its shapes, and a list of mistakes.

Sizes differ from each other (B, L, S, D, E, Ev), so that no axis can pass for another, and each
case is drawn several times, so that no constant passes for a result.
"""

import contextlib
import inspect
import math
import os
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .marks import Finding, Marks

__all__ = ["Case", "Exercise", "Mistake", "Reported"]

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
# The machinery that may carry a call to the reader's function in another process.
_CARRIERS = (_PACKAGE + "classroom" + os.sep, __file__)
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
_SEEDS = (4, 9, 16)
# Loose enough for any order of float32 sums, far tighter than any mistake.
_TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}
# What an answer may do and is told. An interruption is not among them: it ends the check.
_FAULTS = (Exception, SystemExit)

_BORROWED = (
    "This answer calls a function of the package wheretolook. Write it yourself, with torch alone: "
    "the exercise asks for what stands inside that function."
)
_CONSTANT = (
    "The result is the same whatever goes in. Is a number, or a table of numbers, written into "
    "your function where it should be computed?"
)
_SQUARE = (
    "This is right only where all lengths and widths are equal. Look for two axes that you take "
    "for each other: a transpose too many or too few, or a size read from the wrong axis."
)
_UNBATCHED = (
    "This is right for a single table without a batch axis only. .T turns all axes, and "
    "transpose(0, 1) the first two, of which one is now the batch: count axes from the end."
)
_BLANK = "Your function gives nothing back. If you have written it already: is there a return?"


class Mistake(NamedTuple):
    """A misconception: what it computes, and what to answer.

    Attributes
    ----------
    function : callable
        Takes the exercise's inputs and returns the wrong result.
    message : str
        What the reader should hear. It says what is wrong, and why, not how to type it.
    """

    function: Callable[..., Tensor]
    message: str


@dataclass(frozen=True)
class Case:
    """Sizes to try an answer on.

    Attributes
    ----------
    name : str
        What this case shows, as the reader is told.
    batch : tuple of int
        The leading axes, B: one, none or several.
    sizes : mapping
        The length of every other axis, by its letter.
    """

    name: str
    batch: tuple[int, ...]
    sizes: Mapping[str, int]

    def shape(self, letters: str) -> tuple[int, ...]:
        """Turn letters such as "B L E" into lengths.

        Parameters
        ----------
        letters : str
            Axes with blanks between them; B stands for all leading axes.

        Examples
        --------
        >>> Case("two leading axes", (2, 3), {"L": 5}).shape("B L")
        (2, 3, 5)
        """
        lengths = [self.batch if a == "B" else (self.sizes[a],) for a in letters.split()]
        return sum(lengths, ())


ONE = Case("one sequence (B = 1)", (1,), {"L": 5, "S": 7, "D": 6, "E": 3, "Ev": 2})
BATCH = Case("a batch of sequences", (3,), {"L": 7, "S": 9, "D": 6, "E": 5, "Ev": 2})
SINGLE = Case("no batch axis at all", (), {"L": 6, "S": 5, "D": 4, "E": 7, "Ev": 2})
LEADING = Case("several leading axes", (2, 3), {"L": 5, "S": 9, "D": 8, "E": 6, "Ev": 7})
# Only to understand a wrong answer: what no rectangle lets through may pass here.
SQUARE = Case("equal sizes", (2,), dict.fromkeys(("L", "S", "D", "E", "Ev"), 5))


class Reported(Exception):
    """What an answer raised in another process, as it was told from there.

    Parameters
    ----------
    name : str
        The type of the error.
    text : str
        Its message.
    line : (int, str), optional
        The number of the reader's line, and the line.
    """

    def __init__(self, name: str, text: str, line: tuple[int, str] | None = None) -> None:
        super().__init__(text)
        self.name, self.line = name, line


class _Unreadable(Exception):
    """The answer returned something that is no result; the text says what."""


@dataclass
class _Asked:
    """The reader's function, watched while it is called."""

    function: Callable[..., Any]
    changed: set[str] = field(default_factory=set)
    borrowed: bool = False

    def __call__(self, inputs: dict[str, Tensor]) -> Any:
        given = {n: x.clone() if isinstance(x, Tensor) else x for n, x in inputs.items()}
        before = sys.getprofile()
        sys.setprofile(self._watch)
        try:
            return self.function(*given.values())
        finally:
            sys.setprofile(before)
            # One that stands for a function in another process was watched there.
            self.borrowed |= getattr(self.function, "borrowed", False) is True
            self.changed |= {n for n, x in _tensors(inputs).items() if not torch.equal(x, given[n])}

    def _watch(self, frame: Any, event: str, _: Any) -> None:
        """Notice when the function, or anything that it calls, belongs to this package."""
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(_PACKAGE) and not name.startswith(_CARRIERS):
            self.borrowed = True


@dataclass(frozen=True)
class Exercise:
    """An exercise, and how to answer what readers write.

    Attributes
    ----------
    returns : str
        What the result is called, such as "weights".
    shape : str
        The letters of the result's axes, such as "B L S"; "" for a single number.
    inputs : mapping
        The letters of each argument's axes, by its name, in order.
    solution : callable
        Takes the inputs and returns the right result.
    mistakes : tuple of Mistake
        Misconceptions. The first that agrees with an answer is the one that speaks.
    cases : tuple of Case
        What an answer is tried on. When none is right, the first says why.
    prepare : callable, optional
        Turns normally distributed numbers into valid inputs, such as weights.
    elsewhere : tuple of (Case, str)
        Tried only to understand an answer that these cases let fail: other sizes, and what to say
        if they let it through.
    dtypes : tuple of torch.dtype
        In which of them inputs come; the result should have the same.
    always : (torch.dtype, str), optional
        Which dtype the result has whatever goes in, and what to say of another, named by ``{}``.
    trains : bool, optional
        Whether gradients must reach every input of real numbers. If None, they must where the
        result is more than a single number.
    """

    returns: str
    shape: str
    inputs: Mapping[str, str]
    solution: Callable[..., Tensor]
    mistakes: tuple[Mistake, ...]
    cases: tuple[Case, ...] = (BATCH, ONE)
    prepare: Callable[[Tensor], Tensor] | None = None
    elsewhere: tuple[tuple[Case, str], ...] = ((SINGLE, _UNBATCHED), (SQUARE, _SQUARE))
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float64)
    always: tuple[torch.dtype, str] | None = None
    trains: bool | None = None

    def mark(self, answer: Any, points: float) -> Marks:
        """Try an answer, and say what is right and what is not.

        Parameters
        ----------
        answer : callable
            The reader's function.
        points : float
            What a right answer earns. Half of it is for right values with one batch axis, the
            rest in equal parts for each case and for good manners (dtype, gradients, inputs
            unchanged).

        Returns
        -------
        Marks
            Whatever the answer does, nothing is raised.
        """
        try:
            with _silence():
                return self._mark(answer, float(points))
        except KeyboardInterrupt:
            text = "Your function was interrupted before it was done."
        except BaseException as error:  # noqa: B036  a result can fight back in any way
            text = f"The result of your function can't be looked at: {type(error).__name__}."
        return _wrong(points, text)

    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Make the inputs of one trial.

        Parameters
        ----------
        case : Case
            The sizes.
        seed : int
            Which of its many trials.
        dtype : torch.dtype
            Of all inputs.

        Returns
        -------
        dict
            A tensor for each argument, in order. (An exercise that draws its inputs by itself may
            also give whole numbers.)
        """
        random = torch.Generator().manual_seed(seed)
        shapes = {name: case.shape(letters) for name, letters in self.inputs.items()}
        made = {
            name: torch.randn(shape, generator=random, dtype=torch.float64).to(dtype)
            for name, shape in shapes.items()
        }
        return {n: self.prepare(x) for n, x in made.items()} if self.prepare else made

    # --- the order in which things are looked at ---

    def _mark(self, answer: Any, points: float) -> Marks:
        if answer is None or answer is ...:
            return Marks(0, points)
        if objection := self._not_a_function(answer):
            return _wrong(points, objection)
        asked = _Asked(answer)
        if (blank := self._blank(asked)) is not None:
            return Marks(0, points, "blank", [Finding(None, blank)] if blank else [])
        results = [(case.name, self._values(asked, case)) for case in self.cases]
        if asked.borrowed:
            return _wrong(points, _BORROWED)
        # Without a batch axis, or with several, a wrong axis may happen to be the right one.
        good = [
            case
            for case, (_, bad) in zip(self.cases, results, strict=True)
            if not bad and len(case.batch) == 1
        ]
        if not good:
            return _wrong(points, results[0][1])
        trains = bool(self.shape) if self.trains is None else self.trains
        if self.shape or trains:
            results.append(("the dtype of the input", self._dtype(asked, good[0])))
        if trains:
            results.append(("gradients for every input", self._gradients(asked, good[0])))
        # Last, because every call so far has been watched.
        changed = ", ".join(name for name in self.inputs if name in asked.changed)
        results.append(("inputs left as they are", changed and _changed(changed)))
        findings = [Finding(not bad, f"{name}: {bad}" if bad else name) for name, bad in results]
        if all(f.good for f in findings):
            return Marks(points, points, "right", findings)
        share = 0.5 + 0.5 * sum(f.good for f in findings) / len(findings)
        # Down to tenths, so that "partly" is never rounded up to all.
        return Marks(math.floor(points * share * 10) / 10, points, "partly", findings)

    def _not_a_function(self, answer: Any) -> str:
        call = f"({', '.join(self.inputs)})"
        if isinstance(answer, type):
            return f"This is a class. Hand over an object made from it, to be called with {call}."
        if not callable(answer):
            return (
                f"This is {_kind(answer)}. Hand over the function itself, by its name and without "
                f"brackets: it will be called with {call}, again and again."
            )
        with contextlib.suppress(ValueError, TypeError):
            # A module's call takes anything; its forward says what.
            signature = inspect.signature(getattr(answer, "forward", answer))
            try:
                signature.bind(*self.inputs)
            except TypeError:
                return f"Your function should take {call}, in this order; it takes {signature}."
        return ""

    def _blank(self, asked: _Asked) -> str | None:
        """Return None if there is an answer, else a word about the stub."""
        try:
            result = asked(self.draw(self.cases[0], _SEEDS[0]))
        except NotImplementedError as error:
            return str(error)
        except _FAULTS:  # it will be raised again, and reported then
            return None
        if asked.borrowed:
            return None
        return _BLANK if result is None or result is ... or result is NotImplemented else None

    def _values(self, asked: _Asked, case: Case) -> str:
        """Return what is wrong with the values, or ""."""
        draws = [self.draw(case, seed) for seed in _SEEDS]
        right = [self.solution(*d.values()) for d in draws]
        got, problem = self._collect(asked, draws)
        if not problem and _all_agree(got, right):
            return ""
        fits = not problem and got[0].shape == right[0].shape
        return (
            self._mistake(draws, got)
            or (not problem and _all_agree(got[:-1], got[1:]) and _CONSTANT)
            or (case is self.cases[0] and not fits and self._elsewhere(asked))
            or problem
            or next(
                self._difference(g, r, case)
                for g, r in zip(got, right, strict=True)
                if not _agree(g, r)
            )
        )

    def _collect(self, asked: _Asked, draws: list[dict]) -> tuple[list[Tensor], str]:
        """Return the answer's results, or none of them and why."""
        try:
            return [self._read(asked(d)) for d in draws], ""
        except _Unreadable as objection:
            return [], str(objection)
        except _FAULTS as error:
            return [], _describe(error)

    def _read(self, result: Any) -> Tensor:
        """Turn what came back into a tensor, generously; its type is judged elsewhere."""
        if isinstance(result, Real) and not isinstance(result, bool):
            return torch.tensor(float(result))
        if isinstance(result, Tensor):
            return result.detach()
        with contextlib.suppress(Exception):
            if not isinstance(result, tuple):
                return torch.as_tensor(result)
        raise _Unreadable(f"Your function returns {_kind(result)}. Return the {self.returns} only.")

    def _mistake(self, draws: list[dict], got: list[Tensor]) -> str:
        """Return the message of the misconception that gives these very results."""
        for mistake in self.mistakes if got else ():
            # A mistake that these sizes don't allow can't be the one.
            with contextlib.suppress(Exception):
                if _all_agree(got, [mistake.function(*d.values()) for d in draws]):
                    return mistake.message
        return ""

    def _elsewhere(self, asked: _Asked) -> str:
        """Understand an answer that these sizes only let fail, by sizes that let it through."""
        lengths = set(" ".join(self.inputs.values()).split()) - {"B"}
        for case, message in self.elsewhere:
            if case is SQUARE and len(lengths) == 1:  # then the tables are always square
                continue
            draws = [self.draw(case, seed) for seed in _SEEDS]
            got, _ = self._collect(asked, draws)
            if _all_agree(got, [self.solution(*d.values()) for d in draws]):
                return message
            if objection := self._mistake(draws, got):
                return objection
        return ""

    def _difference(self, got: Tensor, right: Tensor, case: Case) -> str:
        """Say in what way a result differs, when nothing more is known."""
        shape, wanted = tuple(got.shape), tuple(right.shape)
        if shape != wanted:
            letters = f"({', '.join(self.shape.split())}) = " if len(case.batch) == 1 else ""
            should = f"have shape {letters}{wanted}" if self.shape else "be a single number"
            lost = " An axis is lost on the way." if len(shape) < len(wanted) else ""
            return f"The {self.returns} should {should}; yours has shape {shape}.{lost}"
        if got.isnan().any():
            return "There are NaN in the result: look for a division by 0, or inf - inf."
        same = torch.isclose(got.double(), right.double(), **_TOLERANCE)
        if right.ndim > 2 and same[0].all():
            return "Only the first sequence of the batch is right. Is [0] written somewhere?"
        rows = same.reshape(-1, shape[-1]).all(-1) if shape else same.reshape(1)
        if rows.any():
            return (
                f"{int(rows.sum())} of {len(rows)} rows are right, the others are not. Is a length "
                "written into your function as a number, or does a loop stop too early?"
            )
        if shape and _sums_to_one(right) and not _sums_to_one(got):
            return "The shape is right, but the rows do not sum to 1."
        return "The shape is right, the values are not." if shape else "The number is not right."

    # --- good manners ---

    def _dtype(self, asked: _Asked, case: Case) -> str:
        if self.always is not None:
            dtype, words = self.always
            result = asked(self.draw(case, _SEEDS[0]))
            if isinstance(result, Tensor) and result.dtype == dtype:
                return ""
            kind = _name(result.dtype) if isinstance(result, Tensor) else type(result).__name__
            return words.format(kind)
        for dtype in self.dtypes:
            inputs = self.draw(case, _SEEDS[0], dtype)
            try:
                result = asked(inputs)
            except _FAULTS as error:
                return f"{_name(dtype)} goes in. {_describe(error)}"
            if not isinstance(result, Tensor):
                return f"Your function returns {_kind(result)}. Stay with torch from end to end."
            if result.dtype != dtype:
                return f"{_name(dtype)} goes in, and {_name(result.dtype)} comes out."
        return ""

    def _gradients(self, asked: _Asked, case: Case) -> str:
        inputs = self.draw(case, _SEEDS[0], torch.float64)
        leaves = {
            n: x.requires_grad_() for n, x in _tensors(inputs).items() if x.is_floating_point()
        }
        try:
            with torch.enable_grad():
                got, right = asked(inputs), self.solution(*inputs.values())
                # Weights sum to 1, so their plain sum has no gradient: weigh them first.
                probe = torch.linspace(1, 2, right.numel(), dtype=right.dtype).view_as(right)
                reached, wanted = (
                    torch.autograd.grad((y * probe).sum(), list(leaves.values()), allow_unused=True)
                    for y in (got, right)
                )
            cut = [n for n, g, w in zip(leaves, reached, wanted, strict=True) if _cut(g, w)]
        except _FAULTS:
            cut = list(leaves)
        return cut and (
            f"They do not reach {', '.join(cut)}, so nothing could be trained through this. "
            "detach(), .data, .item(), torch.tensor(...), NumPy and no_grad() cut the path."
        )


def _tensors(inputs: Mapping[str, Any]) -> dict[str, Tensor]:
    """Leave out plain numbers, such as how many heads there are."""
    return {name: x for name, x in inputs.items() if isinstance(x, Tensor)}


def _cut(got: Tensor | None, wanted: Tensor | None) -> bool:
    # A looser tolerance: whether float64 survives is another finding's business.
    if wanted is None:  # no gradient can reach it: a place in whole pixels, say
        return False
    return got is None or not torch.allclose(got, wanted, rtol=1e-3, atol=1e-5)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Let prints and warnings go nowhere: nbgrader takes anything on stderr for a failure."""
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def _wrong(points: float, text: str) -> Marks:
    return Marks(0, points, "wrong", [Finding(False, text)])


def _changed(names: str) -> str:
    return (
        f"Your function changes its input ({names}). x += 1, x[...] = 1 and methods whose name "
        "ends in _ write into the caller's tensor: make a new one instead."
    )


def _sums_to_one(x: Tensor) -> bool:
    return torch.allclose(x.double().sum(-1), torch.ones((), dtype=torch.double), **_TOLERANCE)


def _agree(got: Tensor, right: Tensor) -> bool:
    return got.shape == right.shape and torch.allclose(got.double(), right.double(), **_TOLERANCE)


def _all_agree(got: list[Tensor], right: list[Tensor]) -> bool:
    return bool(got) and all(_agree(g, r) for g, r in zip(got, right, strict=True))


def _kind(thing: Any) -> str:
    names = {"ndarray": "a NumPy array", "Tensor": "a tensor", "NoneType": "nothing (None)"}
    name = type(thing).__name__
    if isinstance(thing, tuple | list):
        return f"a {name} of {len(thing)}"
    return names.get(name, f"an object of type {name}")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _describe(error: BaseException) -> str:
    """Say what was raised, and in which of the reader's lines."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    text = text if len(text) < 300 else text[:300] + " …"
    name, line = type(error).__name__, None
    if isinstance(error, Reported):
        name, line = error.name, error.line
    elif frames := [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_PACKAGE, *_LIBRARIES))
    ]:
        line = frames[-1].lineno, frames[-1].line
    where = f" (line {line[0]}: {line[1]})" if line else ""
    return f"Your function stops with {name}{where}{': ' if text else '.'}{text}"

"""Chapter 3, Soft and hard attention: its exercises, their solutions and mistakes people make."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .exercise import SINGLE, Case, Exercise, Mistake
from .marks import Marks

__all__ = ["choice_push", "gold_agreement", "step_weights", "weighted_context"]


# --- what several exercises share -------------------------------------------------------------


def _dice(seed: int) -> torch.Generator:
    """Make a generator of its own, so that nothing depends on how the numbers were drawn."""
    return torch.Generator().manual_seed(seed + 1000)


def _softmax(scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def _table_softmax(scores: Tensor) -> Tensor:
    return scores.flatten().softmax(0).view_as(scores)


# --- 1: one step of the decoder ---------------------------------------------------------------


def _step(
    query: Tensor,
    key: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    v: Tensor,
    *,
    project: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
    meet: Callable[[Tensor, Tensor], Tensor] = lambda q, k: (q + k).tanh(),
    read: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
    normalise: Callable[[Tensor], Tensor] = _softmax,
) -> Tensor:
    hidden = meet(project(query, w_query).unsqueeze(-2), project(key, w_key))
    return normalise(read(hidden, v))


def _steps(**changes: Callable) -> Callable[..., Tensor]:
    return partial(_step, **changes)


def _as_it_is(scores: Tensor) -> Tensor:
    return scores


_V_UNUSED = "The hidden units are put together as they are: v, which weighs them, is unused."
_NOT_A_SUM = "Query and key are {} inside the tanh. This scorer is called additive: add them."

_STEP_WEIGHTS = Exercise(
    returns="weights",
    shape="B S",
    inputs={"query": "B E", "key": "B S Ev", "w_query": "E D", "w_key": "Ev D", "v": "D"},
    solution=_step,
    elsewhere=(
        (
            Case("equal sizes", (5,), dict.fromkeys(("S", "D", "E", "Ev"), 5)),
            "This is right only where all lengths and widths are equal. Look for two axes that "
            "you take for each other.",
        ),
        (
            SINGLE,
            "This is right for one sentence only. With a batch, the one query of each sentence "
            "(B, D) has to meet all keys of the same sentence (B, S, D): it needs an axis of "
            "length 1 for S. Count the other axes from the end.",
        ),
    ),
    mistakes=(
        Mistake(
            _steps(normalise=_as_it_is),
            "These are the scores. Softmax over the keys makes weights of them.",
        ),
        Mistake(
            lambda query, key, *w: (_step(query, key, *w).unsqueeze(-2) @ key).squeeze(-2),
            "You have gone one step too far: this is the context, the sum of the keys by the "
            "weights. Return the weights themselves.",
        ),
        Mistake(
            _steps(normalise=lambda scores: scores.softmax(0)),
            "The softmax runs over the batch, so sentences share their attention with each other. "
            "The weights of one sentence, its row, should sum to 1.",
        ),
        Mistake(
            _steps(normalise=_table_softmax),
            "One softmax runs over the whole batch. The weights of each sentence should sum to 1 "
            "for themselves.",
        ),
        Mistake(
            _steps(normalise=lambda scores: scores / scores.sum(-1, keepdim=True)),
            "The scores are divided by their sum, without exp. Scores can be negative, weights "
            "can't: softmax takes exp first.",
        ),
        Mistake(
            _steps(normalise=torch.exp),
            "exp is taken, and then the division by the sum is missing: the weights of a sentence "
            "should sum to 1.",
        ),
        Mistake(
            _steps(normalise=torch.sigmoid),
            "A sigmoid judges each key for itself. Softmax lets the keys compete, so that the "
            "weights of a sentence sum to 1.",
        ),
        Mistake(
            _steps(normalise=lambda scores: scores.log_softmax(-1)),
            "These are the logarithms of the weights. Softmax without the log is asked for.",
        ),
        Mistake(
            _steps(normalise=lambda scores: (-scores).softmax(-1)),
            "The sign of the scores is turned around: the key that fits worst gets the largest "
            "weight.",
        ),
        Mistake(
            _steps(meet=torch.add),
            "The query has no influence; without tanh it adds the same number to every score of "
            "its sentence, and softmax takes that out again. It has to be added inside the tanh.",
        ),
        Mistake(
            _steps(meet=lambda q, k: k.tanh()),
            "The query has no influence. Is it left out, or added outside the tanh? There it adds "
            "the same number to every score of its sentence, and softmax takes that out again. "
            "Add first, then tanh.",
        ),
        Mistake(
            _steps(meet=torch.add, normalise=lambda scores: scores.tanh().softmax(-1)),
            "The tanh comes too late: it belongs to the hidden units, before v sums them.",
        ),
        Mistake(_steps(meet=lambda q, k: (q * k).tanh()), _NOT_A_SUM.format("multiplied")),
        Mistake(_steps(meet=lambda q, k: (q - k).tanh()), _NOT_A_SUM.format("subtracted")),
        Mistake(
            _steps(meet=lambda q, k: (q + k).sigmoid()),
            "The hidden units have a sigmoid. This scorer has tanh, which can be negative too.",
        ),
        Mistake(
            _steps(meet=lambda q, k: (q + k).relu()),
            "The hidden units have a ReLU. This scorer has tanh, which can be negative too.",
        ),
        Mistake(_steps(read=lambda hidden, v: hidden.sum(-1)), _V_UNUSED),
        Mistake(_steps(read=lambda hidden, v: hidden.mean(-1)), _V_UNUSED),
        Mistake(
            _steps(read=lambda hidden, v: hidden @ v / len(v) ** 0.5),
            "The scores are divided by the root of the number of hidden units. That scale belongs "
            "to a dot product of query and key; here the scores are taken as they are.",
        ),
        Mistake(
            _steps(normalise=_as_it_is, read=lambda hidden, v: hidden),
            "These are the hidden units of each key. Two steps are left: v makes one score of "
            "them, softmax makes weights of the scores.",
        ),
        Mistake(
            _steps(normalise=_as_it_is, read=torch.mul),
            "The hidden units are weighed by v, but not yet summed: a score is one number for "
            "each key. After it comes softmax.",
        ),
        Mistake(
            _steps(read=lambda hidden, v: hidden.softmax(-1) @ v, normalise=_as_it_is),
            "The softmax runs over the hidden units. First v makes one score for each key of "
            "them, then softmax runs over the keys.",
        ),
        Mistake(
            lambda query, *x: _step(query[:1].expand_as(query), *x),
            "The query of the first sentence is used for all. Each has its own.",
        ),
        Mistake(
            lambda query, key, *w: _step(query, key[:1].expand_as(key), *w),
            "All queries look at the first sentence. Each looks at the keys of its own.",
        ),
        # These need B = S or E = Ev = D: unequal sizes raise, equal ones let them through.
        Mistake(
            lambda query, key, w_query, w_key, v: _softmax(
                (query @ w_query + key @ w_key).tanh() @ v
            ),
            "The queries of the batch lie along the keys, so a key meets the query of another "
            "sentence. The query needs an axis of length 1 for S: (B, 1, D).",
        ),
        Mistake(
            lambda query, key, w_query, w_key, v: _step(query, key, w_key, w_query, v),
            "The matrices have changed places: w_query maps the query, w_key the keys.",
        ),
        Mistake(
            _steps(project=lambda x, w: x @ w.mT),
            "The matrices are transposed. Here they are (in, out): a row of numbers stands on the "
            "left of its matrix.",
        ),
        Mistake(
            _steps(project=lambda x, w: x),
            "Query and key are not projected: w_query and w_key are unused.",
        ),
    ),
)


def step_weights(answer: Any, points: float = 3) -> Marks:
    """Check a function that says where one step of a decoder looks, by additive scores.

    Parameters
    ----------
    answer : callable
        ``answer(query, key, w_query, w_key, v)``: query (B, E), one state of the decoder for each
        sentence, key (B, S, Ev), all states of the encoder, matrices (E, D) and (Ev, D) and vector
        (D,) → weights (B, S), the softmax over the keys of v · tanh(q W_q + k W_k).
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(step_weights(lambda query, key, w_query, w_key, v: (key @ w_key @ v).softmax(1)))
    0.0
    """
    return _STEP_WEIGHTS.mark(answer, points)


# --- 2: contexts, one for each step -----------------------------------------------------------


def _contexts(weights: Tensor, states: Tensor) -> Tensor:
    return weights @ states


def _pairs(weights: Tensor, states: Tensor) -> Tensor:
    """Return every state times every weight, (..., L, S, D)."""
    return weights[..., None] * states.unsqueeze(-3)


def _for_all(context: Tensor, weights: Tensor) -> Tensor:
    """Repeat one context for every step."""
    return context.unsqueeze(-2).expand(*weights.shape[:-1], -1)


def _hard(weights: Tensor) -> Tensor:
    return F.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights)


class _Weighted(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Make weights whose rows sum to 1, and states."""
        made = super().draw(case, seed, dtype)
        return {**made, "weights": _softmax(made["weights"])}


_UNWEIGHTED = (
    "The weights are unused: every step gets the same mean of all states. Each step has weights "
    "of its own."
)
_UNDIVIDED = "The weights are unused: this is the plain sum of the states."
_OVER_STEPS = (
    "The sum runs over the steps L as well, so that one context is left for the whole sentence. "
    "There is one for each step: (B, L, D)."
)

_WEIGHTED_CONTEXT = _Weighted(
    returns="contexts",
    shape="B L D",
    inputs={"weights": "B L S", "states": "B S D"},
    solution=_contexts,
    mistakes=(
        Mistake(lambda weights, states: _for_all(states.mean(-2), weights), _UNWEIGHTED),
        Mistake(lambda weights, states: states.mean(-2), _UNWEIGHTED),
        Mistake(lambda weights, states: _for_all(states.sum(-2), weights), _UNDIVIDED),
        Mistake(lambda weights, states: states.sum(-2), _UNDIVIDED),
        Mistake(lambda *x: _contexts(*x).sum(-2), _OVER_STEPS),
        Mistake(lambda *x: _contexts(*x).mean(-2), _OVER_STEPS),
        Mistake(
            lambda *x: _pairs(*x).sum(-3),
            "The sum runs over the steps, so what is left has a row for each state. Sum over the "
            "states: the axis that weights and states share is S.",
        ),
        Mistake(
            lambda *x: _pairs(*x).sum(-1),
            "The features are summed. Sum over the states and keep all D features.",
        ),
        Mistake(
            _pairs,
            "Every state is multiplied by its weight; what is left is the sum over the states.",
        ),
        Mistake(
            lambda *x: _pairs(*x).mean(-2),
            "The sum is divided by S. The weights of a step sum to 1 already, so it is a mean.",
        ),
        Mistake(
            lambda weights, states: _contexts(_hard(weights), states),
            "Only the state with the largest weight is taken. All states are summed here, each by "
            "its weight: that is what makes the attention soft.",
        ),
        Mistake(
            lambda weights, states: _contexts(_hard(weights) * weights, states),
            "Only the state with the largest weight is summed. All others have their share too.",
        ),
        Mistake(
            lambda weights, states: _contexts(_softmax(weights), states),
            "Softmax is taken once more. These are weights already, and a second softmax makes "
            "them nearly equal.",
        ),
        Mistake(
            lambda weights, states: _contexts(weights, states[:1]),
            "The states of the first sentence are summed for all. Each has its own.",
        ),
        Mistake(
            lambda weights, states: _contexts(weights[:1], states),
            "The weights of the first sentence are used for all. Each has its own.",
        ),
        Mistake(
            lambda weights, states: _for_all(_contexts(weights, states)[..., 0, :], weights),
            "Every step has the context of the first. Each has weights of its own.",
        ),
        Mistake(
            lambda *x: _contexts(*x).mT,
            "The contexts are right but turned: their rows should be steps, (B, L, D).",
        ),
        Mistake(
            lambda *x: _contexts(*x).cumsum(-2),
            "Each step's context is added to those before it. It is made from its own weights "
            "alone.",
        ),
        Mistake(lambda weights, states: weights, "These are the weights as they came in."),
        Mistake(lambda weights, states: states, "These are the states as they came in."),
        # These need L = S or S = D: unequal sizes raise, equal ones let them through.
        Mistake(
            lambda weights, states: _contexts(weights.mT, states),
            "The weights are transposed. Row i of the weights makes context i: rows are steps, "
            "columns are states.",
        ),
        Mistake(
            lambda weights, states: _contexts(weights, states.mT),
            "The states are transposed. Their rows, (S, D), are what is summed.",
        ),
        Mistake(
            lambda weights, states: weights * states,
            "Weights and states are multiplied entry by entry. A weight belongs to a whole state, "
            "with all its features, and then the states are summed.",
        ),
    ),
)


def weighted_context(answer: Any, points: float = 2) -> Marks:
    """Check a function that sums the states of the encoder by the weights of each step.

    Parameters
    ----------
    answer : callable
        ``answer(weights, states)``: weights (B, L, S), whose rows sum to 1, and states (B, S, D) →
        contexts (B, L, D): c_i is the sum over j of a_ij h_j.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(weighted_context(lambda weights, states: weights.softmax(-1) @ states).feedback)
    Not right yet: 0 of 2 points
    ✗ Softmax is taken once more. ...
    """
    return _WEIGHTED_CONTEXT.mark(answer, points)


# --- 3: does the peak lie on the gold? --------------------------------------------------------


def _hits(weights: Tensor, gold: Tensor) -> Tensor:
    """Return, for each row, whether its largest weight lies on a gold cell."""
    return gold.gather(-1, weights.argmax(-1, keepdim=True)).squeeze(-1)


def _among(rows: Tensor, gold: Tensor) -> Tensor:
    """Return the mean over the rows that have gold."""
    return rows[gold.any(-1)].double().mean()


def _agreement(weights: Tensor, gold: Tensor) -> Tensor:
    return _among(_hits(weights, gold), gold)


def _mass(weights: Tensor, gold: Tensor) -> Tensor:
    return (weights * gold).sum(-1)


def _first(weights: Tensor, gold: Tensor) -> Tensor:
    return weights.argmax(-1) == gold.int().argmax(-1)


def _sentence_shares(weights: Tensor, gold: Tensor) -> Tensor:
    return _hits(weights, gold).sum(-1) / gold.any(-1).sum(-1)


class _Gold(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Make gold of up to three cells in a row, some rows without, and weights drawn to it."""
        made = super().draw(case, seed, dtype)
        random = _dice(seed)
        steps, places = made["gold"].shape[-2:]

        def whole(least: int, most: int, *shape: int) -> Tensor:
            return torch.randint(least, most + 1, (*case.batch, *shape), generator=random)

        begin, width = whole(0, places - 1, steps, 1), whole(1, 3, steps, 1)
        place = torch.arange(places)
        # Words without a counterpart, and padding at the end of most sentences.
        real = torch.arange(steps)[:, None] < whole(steps // 2, steps, 1, 1)
        counted = real & (whole(0, 5, steps, 1) > 0)
        gold = (place >= begin) & (place < begin + width) & counted
        return {"weights": _softmax(1.5 * (made["weights"] + gold)), "gold": gold}


_ALL_ROWS = (
    "Rows without gold are counted too, as if they had missed. A word without a counterpart, or "
    "padding, can't be looked at rightly: leave such rows out."
)
_FIRST_CELL = (
    "The largest weight is compared with the first gold cell only. A word can have several, and "
    "each of them is right."
)
_COLUMNS = (
    "The largest weight is looked for in columns. Rows are target words: where a word looks "
    "stands in its row, the last axis."
)
_MASS = (
    "This is how much weight lies on gold cells on average. The question is how often the largest "
    "weight lies on one."
)
_HALF = (
    "This asks cell by cell whether a weight above one half is gold. The largest weight of a row "
    "can be far smaller, and a row counts once, however many cells it has."
)
_MISSED = "This is the share of rows whose largest weight misses the gold: the opposite."
_PER_SENTENCE = (
    "This is a share for each sentence. Put all counted rows of the batch into one number."
)
_YES_NO = "This says yes or no for each row. Return the share of yes among the rows with gold."

_GOLD_AGREEMENT = _Gold(
    returns="share",
    shape="",
    inputs={"weights": "B L S", "gold": "B L S"},
    solution=_agreement,
    cases=(
        # Many rows: two different rules seldom count the same.
        Case("several sentences", (4,), {"L": 17, "S": 9}),
        Case("one sentence (B = 1)", (1,), {"L": 23, "S": 7}),
    ),
    mistakes=(
        Mistake(lambda *x: _hits(*x).double().mean(), _ALL_ROWS),
        Mistake(
            lambda weights, gold: (_hits(weights, gold) | ~gold.any(-1)).double().mean(),
            "Rows without gold are counted as right. A word without a counterpart, or padding, is "
            "neither right nor wrong: leave such rows out.",
        ),
        Mistake(lambda weights, gold: _among(_mass(weights, gold), gold), _MASS),
        Mistake(lambda *x: _mass(*x).mean(), _MASS),
        Mistake(
            lambda weights, gold: _among(_mass(weights, gold) > 0.5, gold),
            "This asks whether the gold cells of a row hold more than half of it. The question is "
            "whether the largest weight is on one of them.",
        ),
        Mistake(lambda weights, gold: _among(_first(weights, gold), gold), _FIRST_CELL),
        Mistake(
            lambda *x: _first(*x).double().mean(),
            "The largest weight is compared with the first gold cell only, and rows without gold "
            "are counted as if their first cell were gold.",
        ),
        Mistake(lambda weights, gold: _agreement(weights.mT, gold.mT), _COLUMNS),
        Mistake(lambda weights, gold: _hits(weights.mT, gold.mT).double().mean(), _COLUMNS),
        Mistake(
            lambda *x: _sentence_shares(*x).mean(),
            "This is the mean of the sentences' shares: a word of a short sentence counts for "
            "more. Count the rows of the whole batch together.",
        ),
        Mistake(_sentence_shares, _PER_SENTENCE),
        Mistake(lambda *x: _hits(*x).double().mean(-1), _PER_SENTENCE),
        Mistake(
            lambda *x: _hits(*x).sum(-1),
            "This is a number of rows for each sentence. Return one share for the whole batch.",
        ),
        Mistake(_hits, _YES_NO),
        Mistake(lambda weights, gold: _hits(weights, gold)[gold.any(-1)], _YES_NO),
        Mistake(
            lambda *x: _hits(*x).sum(),
            "This is how many rows agree. A share is that number divided by that of the rows with "
            "gold.",
        ),
        Mistake(lambda *x: 100 * _agreement(*x), "This is a percentage. A share is from 0 to 1."),
        Mistake(lambda *x: 1 - _agreement(*x), _MISSED),
        Mistake(lambda *x: 1 - _hits(*x).double().mean(), _MISSED),
        Mistake(
            lambda weights, gold: _agreement(weights[:1], gold[:1]),
            "This is the share in the first sentence. Count the whole batch.",
        ),
        Mistake(
            lambda weights, gold: _hits(weights, gold).sum() / gold.sum(),
            "The number is divided by that of the gold cells. A row counts once, however many it "
            "has.",
        ),
        Mistake(
            lambda weights, gold: _hits(weights, gold).sum() / gold.any(-1).sum() / len(gold),
            "The share is divided by the number of sentences once more.",
        ),
        Mistake(lambda weights, gold: ((weights > 0.5) == gold).double().mean(), _HALF),
        Mistake(
            lambda weights, gold: ((weights > 0.5) == gold)[gold.any(-1)].double().mean(), _HALF
        ),
        Mistake(lambda weights, gold: (weights > 0.5)[gold].double().mean(), _HALF),
        Mistake(lambda weights, gold: gold[weights > 0.5].double().mean(), _HALF),
        Mistake(lambda weights, gold: ((weights > 0.5) & gold).double().mean(), _HALF),
        Mistake(
            lambda weights, gold: _among(((weights > 0.5) & gold).any(-1), gold),
            "This asks whether a gold cell has more than one half. The largest of many weights "
            "can be far smaller.",
        ),
        Mistake(
            lambda weights, gold: _among(gold.double().mean(-1), gold),
            "This is what a gaze at random would reach: the weights are unused.",
        ),
        Mistake(
            lambda weights, gold: gold.any(-1).double().mean(),
            "This is the share of rows that have gold: the weights are unused.",
        ),
    ),
)


def gold_agreement(answer: Any, points: float = 3) -> Marks:
    """Check a function that counts how often the largest weight lies on the gold alignment.

    Parameters
    ----------
    answer : callable
        ``answer(weights, gold)``: weights (B, L, S) and a boolean table (B, L, S), True where a
        source position belongs to a target word; a row can have several or none → the share, from
        0 to 1, of the rows with gold whose largest weight lies on a gold cell.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> print(gold_agreement(lambda weights, gold: (weights * gold).sum(-1).mean()).feedback)
    Not right yet: 0 of 3 points
    ✗ This is how much weight lies on gold cells on average. ...
    """
    return _GOLD_AGREEMENT.mark(answer, points)


# --- 4: which way reward pushes the scores ----------------------------------------------------


def _chosen(scores: Tensor, choice: Tensor) -> Tensor:
    return F.one_hot(choice, scores.shape[-1]).to(scores)


def _probability(scores: Tensor, choice: Tensor) -> Tensor:
    return scores.softmax(-1).gather(-1, choice[..., None])


def _push(
    scores: Tensor,
    choice: Tensor,
    reward: Tensor,
    baseline: Tensor,
    *,
    surprise: Callable[[Tensor, Tensor], Tensor] = torch.sub,
    weights: Callable[[Tensor], Tensor] = _softmax,
) -> Tensor:
    return surprise(reward, baseline)[..., None] * (_chosen(scores, choice) - weights(scores))


class _Choice(Exercise):
    def draw(self, case: Case, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Draw what was chosen from the weights, as hard attention does."""
        made = super().draw(case, seed, dtype)
        weights = _softmax(made["scores"].double())
        choice = torch.multinomial(weights, 1, generator=_dice(seed))
        return {**made, "choice": choice.squeeze(-1)}


_LOSS_ITSELF = (
    "This is the logarithm of the weights, times the surprise. What is asked for is how it "
    "changes with each of the scores."
)

_CHOICE_PUSH = _Choice(
    returns="push",
    shape="B S",
    inputs={"scores": "B S", "choice": "B", "reward": "B", "baseline": "B"},
    solution=_push,
    # It is a gradient itself: autograd inside may well end there.
    trains=False,
    cases=(
        Case("several sentences", (5,), {"S": 7}),
        Case("one sentence (B = 1)", (1,), {"S": 6}),
    ),
    elsewhere=(
        (
            SINGLE,
            "This is right for one sentence only. With a batch, each sentence has one surprise, "
            "(B,), and a row of scores, (B, S): to stand beside its row it needs an axis of "
            "length 1 at the end.",
        ),
    ),
    mistakes=(
        Mistake(
            lambda *x: -_push(*x),
            "The sign is turned around: what turned out better than expected becomes rarer. (A "
            "loss has that sign, since an optimiser goes downhill.)",
        ),
        *(
            Mistake(partial(_push, surprise=surprise), message)
            for surprise, message in (
                (
                    lambda r, b: r,
                    "The baseline is unused. Then any reward above 0 makes its choice likelier, "
                    "even one worse than expected.",
                ),
                (
                    lambda r, b: r + b,
                    "Reward and baseline are added. The surprise is their difference: what came, "
                    "less what was expected.",
                ),
                (
                    lambda r, b: (r - b).sign(),
                    "Every surprise pushes equally hard: only its sign is used. A larger one "
                    "pushes harder.",
                ),
                (
                    lambda r, b: (r - b).abs(),
                    "A bad surprise makes its choice likelier too: the sign of reward - baseline "
                    "is lost.",
                ),
                (
                    lambda r, b: r - r.mean(),
                    "The mean reward of the batch is subtracted, where each sentence has its own "
                    "baseline.",
                ),
                (
                    lambda r, b: torch.ones_like(r),
                    "Reward and baseline are unused: every choice is made likelier, good or bad.",
                ),
            )
        ),
        Mistake(
            partial(_push, weights=torch.zeros_like),
            "Only the chosen score is pushed. Softmax compares: the log of one weight changes "
            "with all scores, so the others are pushed the other way.",
        ),
        Mistake(
            lambda scores, choice, *r: _push(scores, choice, *r) * _chosen(scores, choice),
            "The push of the chosen score is right, but the others get none. Softmax compares: "
            "the log of one weight changes with all scores.",
        ),
        Mistake(
            partial(_push, weights=lambda scores: scores),
            "The scores are subtracted as they are. The weights are: softmax of the scores.",
        ),
        Mistake(
            partial(_push, weights=lambda scores: scores.log_softmax(-1)),
            "Logarithms of the weights are subtracted. The derivative of the log brings the "
            "weights themselves.",
        ),
        Mistake(
            partial(_push, weights=lambda scores: scores.softmax(0)),
            "The softmax runs over the batch. The choice was made among the S places of one "
            "sentence: the last axis.",
        ),
        Mistake(
            partial(_push, weights=_table_softmax),
            "One softmax runs over the whole batch. The choice was made among the S places of one "
            "sentence.",
        ),
        Mistake(
            partial(_push, weights=torch.sigmoid),
            "This has a sigmoid, as if each place were chosen or not for itself. One of them was "
            "chosen: softmax.",
        ),
        Mistake(
            lambda scores, choice, reward, baseline: (
                (reward - baseline)[..., None] * scores.softmax(-1)
            ),
            "All scores are pushed by their weights, and what was chosen is unused.",
        ),
        Mistake(
            lambda *x: _push(*x) * _probability(*x[:2]),
            "This is the gradient of the weight, not of its logarithm. The log divides by the "
            "weight, so that rare choices, which are seldom tried, push harder.",
        ),
        Mistake(
            lambda *x: _push(*x) / _probability(*x[:2]),
            "The push is divided by the weight of the choice. The log has done that already.",
        ),
        Mistake(
            lambda scores, choice, *r: _push(scores, scores.argmax(-1), *r),
            "The place with the largest score is taken for the chosen one. The choice was drawn "
            "at random: it is in `choice`.",
        ),
        Mistake(
            lambda *x: _push(*x).mean(0),
            "The pushes of all sentences are averaged. Return one row for each.",
        ),
        Mistake(
            lambda *x: _push(*x).sum(0),
            "The pushes of all sentences are summed. Return one row for each.",
        ),
        Mistake(
            lambda *x: _push(*x) / len(x[0]),
            "The push is divided by the number of sentences, as if a mean were taken. Each row "
            "should have its own push in full.",
        ),
        Mistake(
            lambda scores, choice, reward, baseline: (
                (reward - baseline)[..., None] * scores.log_softmax(-1)
            ),
            _LOSS_ITSELF,
        ),
        Mistake(
            lambda scores, choice, reward, baseline: (
                (reward - baseline) * _probability(scores, choice).squeeze(-1).log()
            ),
            _LOSS_ITSELF,
        ),
        Mistake(
            lambda scores, choice, reward, baseline: (reward - baseline)[..., None].expand_as(
                scores
            ),
            "This is the surprise alone. Which scores it pushes up and which down, is missing.",
        ),
    ),
)


def choice_push(answer: Any, points: float = 3) -> Marks:
    """Check a function that says which way a reward pushes the scores of a choice: REINFORCE.

    Parameters
    ----------
    answer : callable
        ``answer(scores, choice, reward, baseline)``: scores (B, S), choice (B,), a whole number
        drawn by the weights softmax(scores), reward and baseline (B,) → push (B, S): (reward -
        baseline) times the gradient of the log of the chosen weight with respect to the scores.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> choice_push(lambda scores, choice, reward, baseline: scores.softmax(-1))
    0.0
    """
    return _CHOICE_PUSH.mark(answer, points)

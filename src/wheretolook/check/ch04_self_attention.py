"""Chapter 4, Self-attention: its exercises, their solutions and the mistakes that people make."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .exercise import BATCH, LEADING, ONE, SINGLE, Case, Exercise, Mistake
from .marks import Marks

__all__ = ["additive_scores", "attention_weights", "own_rank", "self_attention"]


# --- what several exercises share -------------------------------------------------------------


def _dot(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT


def _scaled(query: Tensor, key: Tensor) -> Tensor:
    return _dot(query, key) / query.shape[-1] ** 0.5


def _softmax(scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def _late(query: Tensor, key: Tensor, scores: Callable) -> Tensor:
    return scores(query, key).softmax(-1) / query.shape[-1] ** 0.5


def _over_everything(scores: Tensor) -> Tensor:
    return scores.flatten(-2).softmax(-1).view_as(scores)


def _over_batch(scores: Tensor) -> Tensor:
    return scores.softmax(0)


def _over_queries(scores: Tensor) -> Tensor:
    return scores.softmax(-2)


_TOO_LATE = (
    "The scale comes after the softmax, so the rows no longer sum to 1. It belongs to the scores: "
    "divide them, then take softmax."
)
# Widths that examples have, in this book and elsewhere.
_NUMBERS = (4, 8, 16, 32, 64, 128, 512)


def _weighing(make: Callable[..., Callable[..., Tensor]]) -> tuple[Mistake, ...]:
    """Return the mistakes of comparing and normalising, for any exercise that does both.

    `make(scores=…)` and `make(normalise=…)` are its solution with that one step changed.
    """

    def scores(divide: Callable[[Tensor, Tensor], float], message: str) -> Mistake:
        return Mistake(make(scores=lambda q, k: _dot(q, k) / divide(q, k)), message)

    def normalise(function: Callable[[Tensor], Tensor], message: str) -> Mistake:
        return Mistake(make(normalise=function), message)

    by_number = "The scores are divided by the root of a fixed number. Read E from the last axis."
    by_length = (
        "The scores are divided by the root of a length. What makes them large is the number of "
        "terms in each dot product: the width E, not how many tokens there are."
    )
    return (
        normalise(
            _over_queries,
            "The softmax runs over the queries. Each query shares its attention among the keys, "
            "so it is the rows, not the columns, that should sum to 1.",
        ),
        normalise(
            _over_batch,
            "The softmax runs over the first axis, so sequences that have nothing to do with each "
            "other share their attention. Count axes from the end: they stay when more come first.",
        ),
        normalise(
            _over_everything,
            "The softmax runs over the whole table at once. Each row should sum to 1 by itself.",
        ),
        scores(
            lambda q, k: 1,
            "The scale is missing. Without it the scores grow with the width E, and softmax "
            "gives nearly everything to one key.",
        ),
        scores(
            lambda q, k: q.shape[-1],
            "The scores are divided by E. A sum of E terms spreads like √E, so that is what to "
            "divide by. (If you scale twice, once is enough.)",
        ),
        scores(
            lambda q, k: q.shape[-1] ** -0.5,
            "The scores are multiplied by √E. Divide: the scale is there to make them smaller.",
        ),
        scores(
            lambda q, k: q.shape[-1] ** 0.25,
            "The scores are divided by the fourth root of E. Is the root taken twice?",
        ),
        scores(lambda q, k: q.shape[-2] ** 0.5, by_length),
        scores(lambda q, k: k.shape[-2] ** 0.5, by_length),
        *(scores(lambda q, k, n=n: n**0.5, by_number) for n in _NUMBERS),
        normalise(
            lambda scores: scores / scores.sum(-1, keepdim=True),
            "The scores are divided by their sum, with no exp. Scores may be negative, weights "
            "may not: softmax takes exp first.",
        ),
        normalise(
            lambda scores: scores.exp(),
            "exp is taken, but the rows are not divided by their sums.",
        ),
        normalise(
            lambda scores: scores.masked_fill(
                torch.ones_like(scores).triu(1) > 0, -torch.inf
            ).softmax(-1),
            "A causal mask hides what comes later. None is asked for: every query sees every key.",
        ),
        normalise(
            torch.sigmoid,
            "This is a sigmoid: each weight by itself between 0 and 1. With softmax the keys "
            "compete, and each row sums to 1.",
        ),
        normalise(
            lambda scores: scores.log_softmax(-1),
            "These are logarithms of weights: log_softmax where softmax is asked for.",
        ),
        normalise(
            lambda scores: (-scores).softmax(-1),
            "The sign is turned around: the least similar key gets the largest weight.",
        ),
        Mistake(
            make(
                scores=lambda q, k: torch.cosine_similarity(
                    q[..., :, None, :], k[..., None, :, :], -1
                )
            ),
            "This compares directions only (a cosine). The scaled dot product keeps the lengths.",
        ),
    )


# --- 1: attention weights ---------------------------------------------------------------------


def _weights(
    query: Tensor, key: Tensor, *, scores: Callable = _scaled, normalise: Callable = _softmax
) -> Tensor:
    return normalise(scores(query, key))


_ATTENTION_WEIGHTS = Exercise(
    returns="weights",
    shape="B L S",
    inputs={"query": "B L E", "key": "B S E"},
    solution=_weights,
    cases=(BATCH, ONE, SINGLE, LEADING),
    mistakes=(
        Mistake(_scaled, "These are the scores. Softmax turns them into weights."),
        Mistake(_dot, "These are the scores, and not yet scaled. Scale them, then take softmax."),
        Mistake(
            lambda query, key: _weights(key, query),
            "Query and key have changed places. Rows are queries: row i says where query i looks.",
        ),
        Mistake(
            lambda query, key: _weights(query, key).mT,
            "The weights are right but turned. Rows are queries, columns are keys: (..., L, S).",
        ),
        Mistake(
            lambda query, key: _weights(query, key) @ key,
            "You have gone one step too far: this is a sum weighted by the weights. Return the "
            "weights themselves.",
        ),
        Mistake(
            lambda query, key: _softmax(query @ key.reshape(key.mT.shape) / query.shape[-1] ** 0.5),
            "The key is reshaped where it should be transposed. view and reshape keep the order "
            "of the numbers and only cut it anew, so entries of different keys get mixed.",
        ),
        Mistake(lambda query, key: _late(query, key, _dot), _TOO_LATE),
        Mistake(lambda query, key: _late(query, key, _scaled), _TOO_LATE),
        *_weighing(lambda **changes: partial(_weights, **changes)),
    ),
)


def attention_weights(answer: Any, points: float = 2) -> Marks:
    """Check a function that turns queries and keys into weights.

    Parameters
    ----------
    answer : callable
        ``answer(query, key)``: query (..., L, E) and key (..., S, E) → weights (..., L, S), the
        softmax over the keys of q · k / √E.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> attention_weights(lambda query, key: (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1))
    2.0
    """
    return _ATTENTION_WEIGHTS.mark(answer, points)


# --- 2: self-attention ------------------------------------------------------------------------


def _output(
    x: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    *,
    scores: Callable = _scaled,
    normalise: Callable = _softmax,
    project: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
) -> Tensor:
    query, key, value = (project(x, w) for w in (w_query, w_key, w_value))
    return normalise(scores(query, key)) @ value


def _all_as_one(x: Tensor, *w: Tensor) -> Tensor:
    batch, length, width = x.shape
    return _output(x.reshape(1, batch * length, width), *w).view(batch, length, -1)


_SELF_ATTENTION = Exercise(
    returns="output",
    shape="B L Ev",
    inputs={"x": "B L D", "w_query": "D E", "w_key": "D E", "w_value": "D Ev"},
    solution=_output,
    mistakes=(
        Mistake(
            lambda x, wq, wk, wv: _weights(x @ wq, x @ wk),
            "These are the weights. The output is what they are for: sum the values by them.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _scaled(x @ wq, x @ wk),
            "These are the scores. Two steps are left: softmax, then the sum of the values.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _scaled(x @ wq, x @ wk) @ x @ wv,
            "There is no softmax: the values are summed by the raw scores.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _weights(x @ wq, x @ wk) @ x,
            "The value is not projected: the weights sum the tokens x, and w_value is unused.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _weights(x @ wq, x @ wk) @ x @ wk,
            "The weights sum the keys. A key says where to look, a value what is found there: "
            "sum the values.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _output(x, wk, wq, wv),
            "Query and key have changed places. Rows are queries: q · k with q from row i.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _output(x, wq, wq, wv),
            "The queries are compared with themselves: w_key is unused.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _output(x, wk, wk, wv),
            "The keys are compared with themselves: w_query is unused.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _weights(x @ wq, x @ wk).mT @ x @ wv,
            "The weights are turned before the sum. Row i of the weights makes row i of the "
            "output.",
        ),
        Mistake(
            lambda x, wq, wk, wv: x @ wv,
            "These are the values, each by itself: no token has looked at another yet.",
        ),
        Mistake(
            _all_as_one,
            "Tokens look into other sequences of the batch. Each sequence attends to itself: keep "
            "the batch axis apart.",
        ),
        Mistake(
            lambda x, *w: _output(x, *w, scores=lambda q, k: _dot(q, k) / x.shape[-1] ** 0.5),
            "The scores are divided by √D, the root of the width of the tokens. Count the terms "
            "in q · k: they are as many as a query is wide, E.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _output(
                x, wq, wk, wv, scores=lambda q, k: _dot(q, k) / wv.shape[-1] ** 0.5
            ),
            "The scores are divided by the root of the width of the values, Ev. Count the terms "
            "in q · k: they are as many as a query is wide, E.",
        ),
        Mistake(lambda x, wq, wk, wv: _late(x @ wq, x @ wk, _dot) @ x @ wv, _TOO_LATE),
        Mistake(lambda x, wq, wk, wv: _late(x @ wq, x @ wk, _scaled) @ x @ wv, _TOO_LATE),
        *_weighing(lambda **changes: partial(_output, **changes)),
        # These need D = L or D = E: unequal sizes raise, equal ones let them through.
        Mistake(
            partial(_output, project=lambda x, w: w @ x),
            "The matrix stands on the wrong side: W X mixes the tokens. Rows are tokens, so it is "
            "X W that maps each token by itself.",
        ),
        Mistake(
            partial(_output, project=lambda x, w: x @ w.mT),
            "The matrix is transposed. nn.Linear and F.linear keep theirs as (out, in); here it "
            "is (in, out), to be used as X W.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _weights(x, x @ wk) @ x @ wv,
            "The query is not projected: w_query is unused.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _weights(x @ wq, x) @ x @ wv,
            "The key is not projected: w_key is unused.",
        ),
        Mistake(
            lambda x, wq, wk, wv: _weights(x, x) @ x @ wv,
            "Query and key are not projected: w_query and w_key are unused.",
        ),
    ),
)


def self_attention(answer: Any, points: float = 3) -> Marks:
    """Check a function that lets every token look at every token.

    Parameters
    ----------
    answer : callable
        ``answer(x, w_query, w_key, w_value)``: tokens (B, L, D) and matrices (D, E), (D, E) and
        (D, Ev) → output (B, L, Ev). Rows are tokens: Q = X W_Q.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> self_attention(lambda x, w_query, w_key, w_value: x @ w_value)
    0.0
    """
    return _SELF_ATTENTION.mark(answer, points)


# --- 3: additive scores -----------------------------------------------------------------------


def _additive(
    query: Tensor,
    key: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    v: Tensor,
    *,
    project: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
    meet: Callable[[Tensor, Tensor], Tensor] = lambda q, k: (q + k).tanh(),
    read: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
) -> Tensor:
    q, k = project(query, w_query), project(key, w_key)
    return read(meet(q.unsqueeze(-2), k.unsqueeze(-3)), v)


def _lined_up(query: Tensor, key: Tensor, *w: Tensor) -> Tensor:
    return (query @ w[0] + key @ w[1]).tanh() @ w[2]


_ADDITIVE_SCORES = Exercise(
    returns="scores",
    shape="B L S",
    inputs={"query": "B L D", "key": "B S D", "w_query": "D E", "w_key": "D E", "v": "E"},
    solution=_additive,
    mistakes=(
        Mistake(
            lambda *x: _additive(*x).softmax(-1),
            "These are weights. The scores are what goes into the softmax: leave it out here.",
        ),
        Mistake(
            lambda *x: _additive(*x).mT,
            "Rows and columns have changed places. Rows are queries: (B, L, S).",
        ),
        Mistake(
            lambda query, key, wq, wk, v: _additive(query, key, wk, wq, v),
            "The matrices have changed places: w_query belongs to the query, w_key to the key.",
        ),
        Mistake(
            lambda *x: _additive(*x, meet=lambda q, k: q + k),
            "The tanh is missing. Without it the key's part is the same for every query, and no "
            "query can choose.",
        ),
        Mistake(
            lambda *x: _additive(*x, meet=lambda q, k: q + k).tanh(),
            "The tanh comes too late: it belongs inside, before v sums the hidden units.",
        ),
        Mistake(
            lambda *x: _additive(*x, meet=lambda q, k: q.tanh() + k.tanh()),
            "tanh is taken of query and key apart. Add first: only then does a query change what "
            "a key is worth to it.",
        ),
        Mistake(
            lambda *x: _additive(*x, meet=lambda q, k: (q * k).tanh()),
            "Query and key are multiplied inside the tanh. This scorer is called additive: add.",
        ),
        Mistake(
            lambda *x: _additive(*x, meet=lambda q, k: (q - k).tanh()),
            "The key is subtracted inside the tanh. Add the two.",
        ),
        Mistake(
            lambda *x: _additive(*x, meet=lambda q, k: (q + k).sigmoid()),
            "This is a sigmoid where tanh is asked for: half as steep, and never negative.",
        ),
        Mistake(
            lambda *x: _additive(*x, meet=lambda q, k: (q + k).relu()),
            "This is a ReLU where tanh is asked for.",
        ),
        Mistake(
            lambda *x: _additive(*x, read=lambda hidden, v: hidden.sum(-1)),
            "The hidden units are summed as they are: v, which weighs them, is unused.",
        ),
        Mistake(
            lambda *x: _additive(*x, read=lambda hidden, v: hidden.mean(-1)),
            "The hidden units are averaged: v, which weighs them, is unused.",
        ),
        Mistake(
            lambda *x: _additive(*x, read=lambda hidden, v: hidden * v),
            "One step is left: v · hidden is a sum over the hidden units. Sum the last axis.",
        ),
        Mistake(
            lambda *x: _additive(*x, read=lambda hidden, v: hidden),
            "These are the hidden units of every pair. One step is left: their product with v.",
        ),
        Mistake(
            lambda *x: _additive(*x) / x[-1].shape[-1] ** 0.5,
            "The scores are divided by √E. That scale belongs to the dot product; tanh keeps this "
            "scorer's terms small by itself.",
        ),
        Mistake(
            lambda query, key, wq, wk, v: query @ wq @ (key @ wk).mT,
            "This is a dot product of the projected query and key: neither a sum, nor tanh, nor v.",
        ),
        # These need L = S or D = E or D = L: unequal sizes raise, equal ones let them through.
        Mistake(
            _lined_up,
            "Query i meets only key i. Every query should meet every key: give the two an axis "
            "each, so that their sum is (B, L, S, E).",
        ),
        Mistake(
            lambda *x: _additive(*x, project=lambda x, w: w @ x),
            "The matrix stands on the wrong side: W X mixes the tokens. Rows are tokens, so it is "
            "X W that maps each token by itself.",
        ),
        Mistake(
            lambda *x: _additive(*x, project=lambda x, w: x @ w.mT),
            "The matrices are transposed: here they are (in, out), to be used as X W.",
        ),
        Mistake(
            lambda *x: _additive(*x, project=lambda x, w: x),
            "Query and key are not projected: w_query and w_key are unused.",
        ),
    ),
)


def additive_scores(answer: Any, points: float = 3) -> Marks:
    """Check a function that compares by a small network: v · tanh(q W_q + k W_k).

    Parameters
    ----------
    answer : callable
        ``answer(query, key, w_query, w_key, v)``: query (B, L, D), key (B, S, D), matrices (D, E)
        and vector (E,) → scores (B, L, S), before softmax.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> additive_scores(lambda query, key, w_query, w_key, v: query @ key.mT)
    0.0
    """
    return _ADDITIVE_SCORES.mark(answer, points)


# --- 4: does a token attend most to itself? ---------------------------------------------------


def _own(weights: Tensor) -> Tensor:
    """Return, for each token, whether its largest weight is its own."""
    return weights.argmax(-1) == torch.arange(weights.shape[-1])


def _share(weights: Tensor) -> Tensor:
    return _own(weights).double().mean()


def _diagonal(weights: Tensor) -> Tensor:
    return weights.diagonal(dim1=-2, dim2=-1)


_OWN_RANK = Exercise(
    returns="share",
    shape="",
    inputs={"weights": "B L L"},
    solution=_share,
    # Long rows: two different rules seldom count the same.
    cases=(Case(BATCH.name, (3,), {"L": 11}), Case(ONE.name, (1,), {"L": 13})),
    # A little more on the diagonal, so that some tokens do attend most to themselves.
    prepare=lambda x: (x + 1.5 * torch.eye(x.shape[-1])).softmax(-1),
    mistakes=(
        Mistake(
            lambda weights: _diagonal(weights).mean(),
            "This is how much weight tokens give to themselves on average. The question is how "
            "often that weight is the largest of its row.",
        ),
        Mistake(
            lambda weights: _own(weights).sum(),
            "This is how many tokens do so. A share is that number divided by all tokens, B × L.",
        ),
        Mistake(
            lambda weights: 100 * _share(weights),
            "This is a percentage. A share lies between 0 and 1.",
        ),
        Mistake(
            lambda weights: 1 - _share(weights),
            "This is the share of tokens that attend most to another token: the opposite.",
        ),
        Mistake(
            lambda weights: _share(weights.mT),
            "The largest weight is looked for in columns. Rows are queries: a token's weights "
            "are its row, the last axis.",
        ),
        Mistake(
            lambda weights: _own(weights).double().mean(-1),
            "This is a share for each sequence. Put all tokens of the batch into one number.",
        ),
        Mistake(_own, "This says yes or no for each token. Return the share of yes."),
        Mistake(
            lambda weights: _own(weights).sum() / weights.shape[-1],
            "The number is divided by the length of one sequence. Divide by all tokens, B × L.",
        ),
        Mistake(
            lambda weights: _own(weights).sum() / weights.shape[0],
            "The number is divided by the number of sequences. Divide by all tokens, B × L.",
        ),
        Mistake(
            lambda weights: _own(weights).sum() / weights.numel(),
            "The number is divided by the number of weights, B × L × L. Divide by that of tokens.",
        ),
        Mistake(
            lambda weights: _share(weights[:1]),
            "This is the share in the first sequence. Count the whole batch.",
        ),
        Mistake(
            lambda weights: _share(weights.mean(0)),
            "The weights are averaged over the batch before looking: that is one sequence that "
            "never was. Look at each, then count.",
        ),
        Mistake(
            lambda weights: (_diagonal(weights) > 0.5).double().mean(),
            "This asks whether the own weight is above one half. The largest of many weights can "
            "be far smaller.",
        ),
        Mistake(
            lambda weights: (_diagonal(weights) > 1 / weights.shape[-1]).double().mean(),
            "This asks whether the own weight is above average. Compare it with the largest.",
        ),
        Mistake(
            lambda weights: (weights > _diagonal(weights)[..., None]).sum(-1).double().mean(),
            "This is the mean rank of the own weight. The question is how often that rank is 0.",
        ),
        Mistake(
            lambda weights: (weights > _diagonal(weights)[..., None]).sum(-1).double().mean() + 1,
            "This is the mean rank of the own weight. The question is how often that rank is 1.",
        ),
    ),
)


def own_rank(answer: Any, points: float = 2) -> Marks:
    """Check a function that counts how often a token attends most to itself.

    Parameters
    ----------
    answer : callable
        ``answer(weights)``: weights (B, L, L) → the share of tokens whose largest weight falls on
        themselves, a number between 0 and 1.
    points : float
        What a right answer earns.

    Returns
    -------
    Marks
        The points, and what to say about them.

    Examples
    --------
    >>> own_rank(lambda weights: ...).feedback.splitlines()[0]
    'Not answered yet: 0 of 2 points'
    """
    return _OWN_RANK.mark(answer, points)

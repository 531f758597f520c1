"""Exercise checkers: each tries the reader's function, and answers back.

``check.attention_weights(my_function)`` returns `Marks`: a number of points with feedback that
fits the misconception. One file a chapter; how they work stands in ``exercise``.
"""

from .ch01_human_attention import glimpse_cut, map_shares, reward_push
from .ch04_self_attention import additive_scores, attention_weights, own_rank, self_attention
from .exercise import Case, Exercise, Mistake
from .marks import Finding, Marks

__all__ = [
    "Case",
    "Exercise",
    "Finding",
    "Marks",
    "Mistake",
    "additive_scores",
    "attention_weights",
    "glimpse_cut",
    "map_shares",
    "own_rank",
    "reward_push",
    "self_attention",
]

"""Exercise checkers: each tries the reader's function, and answers back.

``check.attention_weights(my_function)`` returns `Marks`: a number of points with feedback that
fits the misconception. One file a chapter; how they work stands in ``exercise``.
"""

from .ch01_human_attention import glimpse_cut, map_shares, reward_push
from .ch02_encoder_decoder import pooled_context, sequence_loss, shifted_target
from .ch03_soft_hard_attention import (
    choice_push,
    gold_agreement,
    step_weights,
    weighted_context,
)
from .ch04_self_attention import additive_scores, attention_weights, own_rank, self_attention
from .ch05_masking import both_masks, future_cells, padding_columns, safe_weights
from .ch06_layer_and_batch_norm import feature_norm, running_variance, token_norm
from .ch07_multi_head import head_removed, heads_merged, heads_split, layer_cost
from .ch08_transformer import cross_weights, feed_forward, next_words, pre_norm
from .exercise import Case, Exercise, Mistake
from .marks import Finding, Marks
from .variants import varied

__all__ = [
    "Case",
    "Exercise",
    "Finding",
    "Marks",
    "Mistake",
    "additive_scores",
    "attention_weights",
    "both_masks",
    "choice_push",
    "future_cells",
    "cross_weights",
    "feature_norm",
    "feed_forward",
    "glimpse_cut",
    "gold_agreement",
    "head_removed",
    "heads_merged",
    "heads_split",
    "layer_cost",
    "map_shares",
    "next_words",
    "own_rank",
    "padding_columns",
    "pooled_context",
    "pre_norm",
    "reward_push",
    "safe_weights",
    "running_variance",
    "self_attention",
    "sequence_loss",
    "shifted_target",
    "step_weights",
    "token_norm",
    "varied",
    "weighted_context",
]

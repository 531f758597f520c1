"""What readers of chapter 5 answer, and what its checkers must say to it."""

import numpy as np
import torch
import torch.nn.functional as F
from bench import Answers, bench
from einops import rearrange, repeat

from wheretolook import check
from wheretolook.attention import attention_weights
from wheretolook.check import ch05_masking as chapter
from wheretolook.masks import causal_mask, padding_mask

# --- 1: which keys are real? ------------------------------------------------------------------


def columns_by_loops(ids):
    mask = torch.zeros(ids.shape[0], 1, ids.shape[1], dtype=torch.bool)
    for b, sentence in enumerate(ids):
        for j, number in enumerate(sentence):
            mask[b, 0, j] = number.item() != 0
    return mask


RIGHT_COLUMNS = [
    columns_by_loops,
    lambda ids: (ids > 0).unsqueeze(1),
    lambda ids: (ids != 0)[:, None],
    lambda ids: ids[:, None, :].bool(),
    lambda ids: ~rearrange(ids == 0, "b s -> b 1 s"),
    lambda ids: torch.logical_not(ids.eq(0).view(len(ids), 1, -1)),
    lambda ids: (ids > 0).unsqueeze(1).repeat(1, ids.shape[1], 1)[:, :1],
]
WRONG_COLUMNS = [
    (lambda ids: (ids == 0).unsqueeze(1), "other polarity"),
    (lambda ids: ids == 0, "other polarity"),
    (lambda ids: ids > 0, "no axis for the queries"),
    (lambda ids: (ids > 0)[..., None], "These are rows"),
    (lambda ids: (ids > 0)[:, None] & (ids > 0)[..., None], "hidden both"),
    (lambda ids: (ids > 0).unsqueeze(1).repeat(1, ids.shape[1], 1), "one copy for every query"),
    (
        lambda ids: (ids > 0).unsqueeze(1).repeat(1, ids.shape[1], 1).unsqueeze(1),
        "document A's form",
    ),
    (lambda ids: repeat(ids > 0, "b s -> b 1 1 s"), "four axes"),
    (lambda ids: (ids > 1)[:, None], "Token 1 is hidden"),
    (lambda ids: ids[:, None], "still the numbers"),
    (lambda ids: torch.where(ids > 0, 0.0, -torch.inf)[:, None], "what is added to the scores"),
    (lambda ids: torch.where(ids == 0, 0.0, -torch.inf)[:, None], "polarity is reversed"),
    (
        lambda ids: (ids > 0)[:, None] & torch.ones(ids.shape[1], ids.shape[1]).tril().bool(),
        "The future is hidden as well",
    ),
    (lambda ids: torch.ones(len(ids), 1, ids.shape[1], dtype=torch.bool), "whatever goes in"),
    (lambda ids: padding_mask(ids), "package wheretolook"),
    (lambda ids: (ids > 0).unsqueeze(1).tolist()[0], "should have shape"),
    (lambda ids: (ids > 0)[:, None] @ 1, "TypeError"),
]
PARTLY_COLUMNS = [
    (lambda ids: (ids > 0).unsqueeze(0), "right for one sentence only"),
    (lambda ids: (ids > 0).float().unsqueeze(1), "comes out as float32"),
    (lambda ids: (ids > 0).int().unsqueeze(1), "comes out as int32"),
    (lambda ids: np.asarray(ids > 0)[:, None], "comes out as ndarray"),
    (
        lambda ids: (torch.arange(ids.shape[1]) < (ids > 0).sum(1)[:, None]).unsqueeze(1),
        "padding in front: ",
    ),
    (lambda ids: ids.clamp_(max=1).bool().unsqueeze(1), r"changes its input \(ids\)"),
    (lambda ids: (ids[0] > 0)[None, None], "a batch of sentences: .*shape"),
]

# --- 2: padding and future together -----------------------------------------------------------


def triangle(ids, diagonal=0):
    return torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril(diagonal)


def both_by_loops(ids):
    length = ids.shape[1]
    return torch.tensor(
        [[[bool(s[j] > 0 and j <= i) for j in range(length)] for i in range(length)] for s in ids]
    )


RIGHT_BOTH = [
    both_by_loops,
    lambda ids: (ids > 0)[:, None] & triangle(ids),
    lambda ids: torch.logical_and((ids != 0).unsqueeze(1), triangle(ids)),
    lambda ids: (ids != 0).unsqueeze(1) * triangle(ids),
    lambda ids: ~((ids == 0)[:, None] | torch.ones(ids.shape[1], ids.shape[1]).triu(1).bool()),
    lambda ids: (ids > 0)[:, None].expand(-1, ids.shape[1], -1).tril(),
    lambda ids: (
        (ids > 0)[:, None] & (torch.arange(ids.shape[1])[:, None] >= torch.arange(ids.shape[1]))
    ),
]
WRONG_BOTH = [
    (lambda ids: triangle(ids).expand(len(ids), -1, -1), "pads can still be seen"),
    (triangle, "pads can still be seen"),
    (lambda ids: (ids > 0)[:, None].repeat(1, ids.shape[1], 1), "future can still be seen"),
    (lambda ids: (ids > 0)[:, None], "future can still be seen"),
    (lambda ids: (ids > 0)[:, None] | triangle(ids), "combined by \\*or\\*"),
    (lambda ids: (ids > 0)[:, None] ^ triangle(ids), "exactly one of the two"),
    (lambda ids: ~((ids > 0)[:, None] & triangle(ids)), "other polarity: True where nothing"),
    (lambda ids: (ids == 0)[:, None] | ~triangle(ids), "other polarity: True where nothing"),
    (lambda ids: (ids == 0)[:, None] & triangle(ids), "only pads can be seen"),
    (lambda ids: (ids > 0)[:, None] & ~triangle(ids), "sees what comes after it, and nothing"),
    (lambda ids: (ids > 0)[:, None] & triangle(ids).T, "turned over"),
    (lambda ids: (ids > 0)[:, None] & triangle(ids, -1), "does not see itself"),
    (lambda ids: (ids > 0)[:, None] & triangle(ids, 1), "Off by one"),
    (lambda ids: (ids > 0)[..., None] & triangle(ids), "rows of pads are hidden"),
    (lambda ids: ((ids > 0)[:, None] & triangle(ids))[:, None], "four axes"),
    (
        lambda ids: torch.where((ids > 0)[:, None] & triangle(ids), 0.0, -torch.inf),
        "what is added to the scores",
    ),
    (lambda ids: (ids > 1)[:, None] & triangle(ids), "Token 1 is hidden"),
    (lambda ids: padding_mask(ids) & causal_mask(ids.shape[1]), "package wheretolook"),
    (lambda ids: (ids > 0).T & triangle(ids), "RuntimeError|shape"),
    (lambda ids: ((ids > 0)[:, None], triangle(ids)), "a tuple of 2"),
]
PARTLY_BOTH = [
    (
        lambda ids: (ids > 0)[:, None] & triangle(ids) & (ids > 0)[..., None],
        "rows of pads are hidden",
    ),
    (lambda ids: ((ids > 0)[:, None] & triangle(ids)).float(), "comes out as float32"),
    (lambda ids: ((ids[0] > 0) & triangle(ids))[None], "a batch of sentences: .*shape"),
    (
        lambda ids: (
            (torch.arange(ids.shape[1]) < (ids > 0).sum(1)[:, None])[:, None] & triangle(ids)
        ),
        "padding in front: ",
    ),
    (
        lambda ids: ids.ne_(0).bool()[:, None] & triangle(ids),
        r"changes its input \(ids\)",
    ),
]

# --- 3: how many cells leak? ------------------------------------------------------------------


def future_by_loops(attn_mask):
    count = 0
    for mask in attn_mask.tolist():
        for i, row in enumerate(mask):
            count += sum(row[i + 1 :])
    return count


RIGHT_FUTURE = [
    future_by_loops,
    lambda m: m.triu(1).sum(),
    lambda m: m.triu(1).sum().item(),
    lambda m: m.sum() - m.tril().sum(),
    lambda m: torch.count_nonzero(m & ~torch.ones(m.shape[-2:], dtype=torch.bool).tril()),
    lambda m: np.triu(m.numpy(), 1).sum(),
    lambda m: sum(m.diagonal(d, 1, 2).sum() for d in range(1, m.shape[-1])),
]
WRONG_FUTURE = [
    (lambda m: m.triu().sum(), "diagonal is counted too"),
    (lambda m: m.triu(2).sum(), "One place is left out"),
    (lambda m: m.tril(-1).sum(), "counts the past"),
    (lambda m: m.mT.triu(1).sum(), "counts the past"),
    (lambda m: m.tril().sum(), "past and present"),
    (lambda m: (~m).triu(1).sum(), "as they should be"),
    (lambda m: (~m).tril().sum(), "too strict"),
    (lambda m: m.sum(), "all open cells"),
    (lambda m: m.diagonal(1, 1, 2).sum(), "next to the diagonal"),
    (lambda m: m.triu(1).any(-1).sum(), "queries that see some future"),
    (lambda m: m.triu(1).any(1).sum(), "keys that are seen too early"),
    (lambda m: m.triu(1).any(), "whether there is a leak|count"),
    (lambda m: m.triu(1).sum((1, 2)), "for each mask"),
    (lambda m: m.triu(1).sum(-1), "for each query"),
    (lambda m: m.triu(1), "Count them"),
    (lambda m: m.triu(1).float().mean(), "share of all cells"),
    (lambda m: m.triu(1).sum() / m.sum(), "share of the open cells"),
    (lambda m: 55, "whatever goes in"),
    (lambda m: "none", "type str"),
]
PARTLY_FUTURE = [
    (lambda m: m[0].triu(1).sum(), "first mask"),
    (lambda m: m[:1].triu(1).sum().item(), "first mask"),
    (lambda m: m.triu(1).sum((1, 2)).double().mean(), "mean over the masks"),
    (lambda m: m.logical_and_(torch.ones_like(m).triu(1)).sum(), "changes its input"),
]

# --- 4: weights of a row that may see nothing -------------------------------------------------


def hide(scores, mask, number=-torch.inf):
    return scores.masked_fill(~mask, number)


def weights_by_loops(scores, attn_mask):
    rows = []
    for row, seen in zip(scores.flatten(0, 1), attn_mask.flatten(0, 1), strict=True):
        e = [(s - row.max()).exp() if m else s * 0 for s, m in zip(row, seen, strict=True)]
        total = sum(e)
        rows.append(torch.stack([x / total if seen.any() else x for x in e]))
    return torch.stack(rows).view_as(scores)


def weights_by_sdpa(scores, attn_mask):
    eye = torch.eye(scores.shape[-1], dtype=scores.dtype).expand(len(scores), -1, -1)
    return F.scaled_dot_product_attention(scores, eye, eye, attn_mask=attn_mask, scale=1.0)


def weights_by_division(scores, attn_mask):
    e = (scores - scores.amax(-1, keepdim=True)).exp() * attn_mask
    return e / e.sum(-1, keepdim=True).clamp(min=1e-4)


RIGHT_SAFE = [
    weights_by_loops,
    weights_by_sdpa,
    weights_by_division,
    lambda s, m: hide(s, m).softmax(-1).nan_to_num(0),
    lambda s, m: torch.where(m.any(-1, keepdim=True), hide(s, m), 0.0).softmax(-1) * m,
    lambda s, m: hide(s, m, torch.finfo(s.dtype).min).softmax(-1) * m,
    lambda s, m: hide(s, m, -1e4).softmax(-1).masked_fill(~m, 0),
]
WRONG_SAFE = [
    (lambda s, m: hide(s, m).softmax(-1), "may see nothing is NaN"),
    (lambda s, m: hide(s, m, -1e9).softmax(-1), "among the very keys that are hidden"),
    (lambda s, m: hide(s, m, torch.finfo(s.dtype).min).softmax(-1), "very keys that are hidden"),
    (lambda s, m: s.softmax(-1) * m, "no longer sums to 1"),
    (lambda s, m: (s * m).softmax(-1), "A score of 0 is not nothing"),
    (lambda s, m: hide(s, m, 0).softmax(-1), "A score of 0 is not nothing"),
    (lambda s, m: hide(s, m, 0).softmax(-1) * m, "taken away after softmax"),
    (lambda s, m: s.softmax(-1), "mask is not used"),
    (lambda s, m: hide(s, ~m, -1e4).softmax(-1) * ~m, "polarity is reversed"),
    (lambda s, m: s.masked_fill(m, -torch.inf).softmax(-1).nan_to_num(0), "polarity is reversed"),
    (lambda s, m: s.masked_fill(m, -1e9).softmax(-1), "polarity is reversed"),
    (lambda s, m: hide(s, m).softmax(-2).nan_to_num(0), "over the queries"),
    (lambda s, m: m / m.sum(-1, keepdim=True).clamp(min=1), "scores have no part"),
    (lambda s, m: (s + m.float()).softmax(-1), "added as it is"),
    (lambda s, m: hide(s, m).exp(), "not divided by their sums"),
    (lambda s, m: hide(s, m), "masked scores"),
    (
        lambda s, m: hide(s, m | ~m.any(-1, keepdim=True)).softmax(-1),
        "as if it might see everything",
    ),
    (lambda s, m: hide(s, m).softmax(-1).nan_to_num(1 / s.shape[-1]), "very keys that are hidden"),
    (lambda s, m: hide(s, m).softmax(-1).nan_to_num(0).log(), "logarithms"),
    (lambda s, m: attention_weights(s, m), "package wheretolook"),
    (lambda s, m: torch.zeros_like(s), "whatever goes in"),
    (lambda s, m: hide(s, m).softmax(-1)[m], "shape"),
]
PARTLY_SAFE = [
    (lambda s, m: (s + hide(s * 0, m)).softmax(-1).nan_to_num(0), "They are NaN"),
    (lambda s, m: hide(s, m, -1e9).softmax(-1) * m, "float16 goes in. Your function stops"),
    (lambda s, m: hide(s.float(), m).softmax(-1).nan_to_num(0), "float64 goes in, and float32"),
    (lambda s, m: hide(s.detach(), m).softmax(-1).nan_to_num(0), "do not reach scores"),
    (lambda s, m: hide(s, m[:1]).softmax(-1).nan_to_num(0), "mask of the first sequence"),
    (
        lambda s, m: s.masked_fill_(~m, -torch.inf).softmax(-1).nan_to_num(0),
        r"changes its input \(scores\)",
    ),
]

# --- the bench --------------------------------------------------------------------------------

TestBench = bench(
    {
        check.padding_columns: Answers(RIGHT_COLUMNS, WRONG_COLUMNS, PARTLY_COLUMNS),
        check.both_masks: Answers(RIGHT_BOTH, WRONG_BOTH, PARTLY_BOTH),
        check.future_cells: Answers(RIGHT_FUTURE, WRONG_FUTURE, PARTLY_FUTURE),
        check.safe_weights: Answers(RIGHT_SAFE, WRONG_SAFE, PARTLY_SAFE),
    }
)


def test_the_solutions_are_those_of_the_package():
    ids = torch.tensor([[3, 1, 2, 0], [5, 0, 0, 0]])
    assert torch.equal(chapter._columns(ids), padding_mask(ids))
    assert torch.equal(chapter._both(ids), padding_mask(ids) & causal_mask(4))
    scores, mask = torch.randn(2, 4, 4), causal_mask(4).tril(-1).expand(2, -1, -1)
    assert torch.equal(chapter._safe(scores, mask), attention_weights(scores, mask))
    assert chapter._future_cells(causal_mask(4)[None]) == 0


def test_no_points_are_lost_for_a_sentence_that_is_whole():
    """Padding is drawn so that each case shows some; elsewhere there may be none."""
    for case in chapter._PADDING_COLUMNS.cases:
        assert (chapter._sentences(case, 4) == 0).any()

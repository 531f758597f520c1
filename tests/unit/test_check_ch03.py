"""What readers of chapter 3 answer, and what its checkers must say to it."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from bench import Answers, bench
from einops import einsum, rearrange
from torch.distributions import Categorical

from wheretolook import check
from wheretolook.attention import Additive, attend, attention_weights
from wheretolook.check import ch03_soft_hard_attention as chapter

# --- 1: one step of the decoder ---------------------------------------------------------------


def hidden_of(q, k, wq, wk):
    return (q @ wq).unsqueeze(1) + k @ wk


def scores_of(q, k, wq, wk, v):
    return hidden_of(q, k, wq, wk).tanh() @ v


def step_by_loops(query, key, w_query, w_key, v):
    out = torch.zeros(key.shape[:2], dtype=key.dtype)
    for b in range(len(query)):
        scores = [v @ torch.tanh(query[b] @ w_query + one @ w_key) for one in key[b]]
        out[b] = torch.stack(scores).softmax(0)
    return out


def step_by_concatenation(query, key, w_query, w_key, v):
    both = torch.cat([query[:, None].expand(-1, key.shape[1], -1), key], -1)
    return F.softmax((both @ torch.cat([w_query, w_key])).tanh() @ v, dim=-1)


def step_by_hand(query, key, w_query, w_key, v):
    e = einsum(hidden_of(query, key, w_query, w_key).tanh(), v, "b s d, d -> b s").exp()
    return e / e.sum(1, keepdim=True)


RIGHT_STEP = [
    step_by_loops,
    step_by_concatenation,
    step_by_hand,
    lambda q, k, wq, wk, v: scores_of(q, k, wq, wk, v).softmax(-1),
    lambda q, k, wq, wk, v: (
        (rearrange(q @ wq, "b d -> b 1 d") + k @ wk).tanh().mul(v).sum(-1).softmax(1)
    ),
    lambda q, k, wq, wk, v: torch.stack(
        [((a @ wq + b @ wk).tanh() @ v).softmax(0) for a, b in zip(q, k, strict=True)]
    ),
    lambda q, k, wq, wk, v: F.softmax(
        F.linear((F.linear(q, wq.T)[:, None] + F.linear(k, wk.T)).tanh(), v[None]).squeeze(-1), 1
    ),
    lambda q, k, wq, wk, v: (
        torch.einsum("bsd,d->bs", torch.tanh(k @ wk + q[:, None] @ wq), v).log_softmax(1).exp()
    ),
]
WRONG_STEP = [
    (scores_of, "These are the scores"),
    (lambda q, k, *w: (scores_of(q, k, *w).softmax(1)[:, None] @ k)[:, 0], "one step too far"),
    (lambda *x: scores_of(*x).softmax(0), "over the batch"),
    (lambda *x: scores_of(*x) / scores_of(*x).sum(1, keepdim=True), "without exp"),
    (lambda *x: scores_of(*x).exp(), "division by the sum is missing"),
    (lambda *x: scores_of(*x).sigmoid(), "A sigmoid judges"),
    (lambda *x: F.log_softmax(scores_of(*x), -1), "logarithms"),
    (lambda *x: F.softmin(scores_of(*x), -1), "The sign of the scores"),
    (lambda q, k, wq, wk, v: (hidden_of(q, k, wq, wk) @ v).softmax(1), "without tanh it adds"),
    (
        lambda q, k, wq, wk, v: (((q @ wq).tanh()[:, None] + (k @ wk).tanh()) @ v).softmax(1),
        "no influence",
    ),
    (lambda q, k, wq, wk, v: (hidden_of(q, k, wq, wk) @ v).tanh().softmax(1), "comes too late"),
    (lambda q, k, wq, wk, v: ((k @ wk).tanh() @ v).softmax(1), "no influence"),
    (
        lambda q, k, wq, wk, v: (((q @ wq)[:, None] * (k @ wk)).tanh() @ v).softmax(1),
        "multiplied inside",
    ),
    (lambda q, k, wq, wk, v: scores_of(-q, k, wq, wk, v).softmax(1), "subtracted|values are not"),
    (
        lambda q, k, wq, wk, v: (((q @ wq)[:, None] - k @ wk).tanh() @ v).softmax(1),
        "subtracted inside",
    ),
    (lambda q, k, wq, wk, v: (hidden_of(q, k, wq, wk).sigmoid() @ v).softmax(1), "a sigmoid"),
    (lambda q, k, wq, wk, v: (hidden_of(q, k, wq, wk).relu() @ v).softmax(1), "a ReLU"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh().sum(-1).softmax(1), "v, which weighs"),
    (lambda *x: (scores_of(*x) / len(x[-1]) ** 0.5).softmax(1), "scale belongs"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh(), "Two steps are left"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh() * v, "not yet summed"),
    (lambda q, k, wq, wk, v: hidden_of(q, k, wq, wk).tanh().softmax(-1) @ v, "over the hidden"),
    (lambda q, k, wq, wk, v: scores_of(q, k, wk, wq, v).softmax(1), "changed places"),
    (lambda q, k, wq, wk, v: scores_of(q, k, wq.T, wk.T, v).softmax(1), "transposed"),
    (lambda q, k, wq, wk, v: ((q[:, None] + k).tanh() @ v).softmax(1), "not projected"),
    (
        lambda q, k, wq, wk, v: (
            (
                ((q @ wq).unsqueeze(2) + (k @ wk).unsqueeze(1)).tanh() @ v  # as in chapter 4
            ).softmax(-1)
        ),
        "RuntimeError|shape",
    ),
    (lambda *x: torch.full(x[1].shape[:2], 1 / x[1].shape[1]), "whatever goes in"),
    (lambda *x: attention_weights(scores_of(*x)), "package wheretolook"),
    (lambda *x: scores_of(*x).softmax(1)[:, None], r"\(B, S\) = \(3, 9\); yours has shape"),
    (lambda *x: scores_of(*x).softmax(1) * math.nan, "NaN"),
]
PARTLY_STEP = [
    (lambda *x: scores_of(*x).flatten().softmax(0).view(x[1].shape[:2]), "whole batch"),
    (
        lambda q, k, wq, wk, v: ((q @ wq + k @ wk).tanh() @ v).softmax(-1),
        "the query of another sentence",
    ),
    (lambda q, *x: scores_of(q[:1], *x).softmax(1), "query of the first sentence"),
    (lambda q, k, *w: scores_of(q, k[:1], *w).softmax(1), "look at the first sentence"),
    (lambda *x: scores_of(*x).softmax(1).float(), "float64 goes in, and float32 comes out"),
    (lambda *x: scores_of(*x[:-1], x[-1].data).softmax(1), "do not reach v"),
    (lambda q, k, *w: scores_of(q, k.mul_(2) / 2, *w).softmax(1), r"changes its input \(key\)"),
]


# --- 2: contexts, one for each step -----------------------------------------------------------


def contexts_by_loops(weights, states):
    out = []
    for table, sentence in zip(weights, states, strict=True):
        out.append(torch.stack([sum(a * h for a, h in zip(r, sentence)) for r in table]))  # noqa: B905
    return torch.stack(out)


def hard(w):
    return F.one_hot(w.argmax(-1), w.shape[-1]).to(w)


RIGHT_CONTEXTS = [
    contexts_by_loops,
    lambda w, h: w @ h,
    torch.bmm,
    torch.matmul,
    lambda w, h: torch.einsum("bls,bsd->bld", w, h),
    lambda w, h: einsum(w, h, "batch step word, batch word width -> batch step width"),
    lambda w, h: (w.unsqueeze(3) * h.unsqueeze(1)).sum(2),
    lambda w, h: (h.mT @ w.mT).mT,
    lambda w, h: torch.stack([(w[:, i, :, None] * h).sum(1) for i in range(w.shape[1])], 1),
]
WRONG_CONTEXTS = [
    (lambda w, h: h.mean(1, keepdim=True).expand(-1, w.shape[1], -1), "weights are unused: every"),
    (lambda w, h: h.mean(1), "weights are unused: every"),
    (lambda w, h: h.sum(1), "plain sum"),
    (lambda w, h: (w @ h).sum(1), "over the steps L as well"),
    (lambda w, h: (w @ h).mean(1), "over the steps L as well"),
    (lambda w, h: (w[..., None] * h[:, None]).sum(1), "a row for each state"),
    (lambda w, h: (w[..., None] * h[:, None]).sum(-1), "features are summed"),
    (lambda w, h: w[..., None] * h[:, None], "what is left is the sum"),
    (lambda w, h: (w[..., None] * h[:, None]).mean(2), "divided by S"),
    (lambda w, h: w @ h / h.shape[1], "divided by S"),
    (lambda w, h: hard(w) @ h, "Only the state with the largest weight is taken"),
    (lambda w, h: h.gather(1, w.argmax(-1)[..., None].repeat(1, 1, h.shape[2])), "is taken"),
    (lambda w, h: (hard(w) * w) @ h, "have their share too"),
    (lambda w, h: w.softmax(-1) @ h, "once more"),
    (lambda w, h: (w @ h)[:, :1].expand(-1, w.shape[1], -1), "context of the first"),
    (lambda w, h: (w @ h).mT, "turned"),
    (lambda w, h: (w @ h).cumsum(1), "added to those before"),
    (lambda w, h: w, "weights as they came in"),
    (lambda w, h: h, "states as they came in"),
    (lambda w, h: w.mT @ h, "The weights are transposed"),
    (lambda w, h: w.transpose(1, 2).bmm(h), "The weights are transposed"),
    (lambda w, h: w @ h.mT, "The states are transposed"),
    (lambda w, h: w * h, "entry by entry"),
    (lambda w, h: torch.mm(w, h), "without a batch axis only"),
    (lambda w, h: attend(w, h.mT, h).output, "RuntimeError|wheretolook|ValueError"),
    (lambda w, h: torch.zeros(*w.shape[:2], h.shape[-1]), "whatever goes in"),
    (lambda w, h: torch.cat([(w @ h)[:, :4], 0 * (w @ h)[:, 4:]], 1), "12 of 21 rows"),
]
PARTLY_CONTEXTS = [
    (lambda w, h: w @ h[:1], "states of the first sentence"),
    (lambda w, h: w[0] @ h, "weights of the first sentence"),
    (lambda w, h: (w[0] @ h[0])[None], "a batch of sequences: .*shape"),
    (lambda w, h: (w @ h).squeeze(0), "An axis is lost"),
    (lambda w, h: w.float() @ h.float(), "float64 goes in, and float32 comes out"),
    (lambda w, h: w.detach() @ h, "do not reach weights"),
    (lambda w, h: np.matmul(w, h), "NumPy|gradients"),
    (lambda w, h: w.div_(w.sum(-1, keepdim=True).detach()) @ h, "changes its input|gradients"),
]


# --- 3: does the peak lie on the gold? --------------------------------------------------------


def peak_on_gold(w, gold):
    return gold.gather(-1, w.argmax(-1, keepdim=True))[..., 0]


def agreement_by_loops(weights, gold):
    right = rows = 0
    for table, links in zip(weights.tolist(), gold.tolist(), strict=True):
        for row, link in zip(table, links, strict=True):
            if any(link):
                rows += 1
                right += link[row.index(max(row))]
    return right / rows


def with_gold(rows, gold):
    return rows[gold.any(-1)].float().mean()


RIGHT_AGREEMENT = [
    agreement_by_loops,
    lambda w, g: with_gold(peak_on_gold(w, g), g),
    lambda w, g: peak_on_gold(w, g).sum() / g.any(-1).sum(),
    lambda w, g: ((w * g).amax(-1) == w.amax(-1)).sum().item() / g.any(2).sum().item(),
    lambda w, g: (hard(w) * g).sum() / g.any(-1).count_nonzero(),
    lambda w, g: (hard(w).bool() & g).any(-1)[g.any(-1)].double().mean(),
    lambda w, g: (
        g[g.any(-1)][torch.arange(int(g.any(-1).sum())), w[g.any(-1)].argmax(1)].float().mean()
    ),
    lambda w, g: np.take_along_axis(g.numpy(), w.numpy().argmax(-1)[..., None], -1)[
        g.numpy().any(-1)
    ].mean(),
]
WRONG_AGREEMENT = [
    (lambda w, g: peak_on_gold(w, g).float().mean(), "as if they had missed"),
    (lambda w, g: peak_on_gold(w, g).sum() / w[..., 0].numel(), "as if they had missed"),
    (lambda w, g: (peak_on_gold(w, g) | ~g.any(-1)).float().mean(), "counted as right"),
    (lambda w, g: with_gold((w * g).sum(-1), g), "how much weight lies"),
    (lambda w, g: w[g].sum() / g.any(-1).sum(), "how much weight lies"),
    (lambda w, g: (w * g).sum(-1).mean(), "how much weight lies"),
    (lambda w, g: with_gold((w * g).sum(-1) > 0.5, g), "hold more than half"),
    (lambda w, g: with_gold(w.argmax(-1) == g.int().argmax(-1), g), "first gold cell only. A"),
    (lambda w, g: (w.argmax(-1) == g.int().argmax(-1)).float().mean(), "as if their first cell"),
    (
        lambda w, g: g.gather(1, w.argmax(1, keepdim=True))[:, 0][g.any(1)].float().mean(),
        "in columns",
    ),
    (lambda w, g: g.gather(1, w.argmax(1, keepdim=True)).float().mean(), "in columns"),
    (lambda w, g: peak_on_gold(w, g).sum(1) / g.any(-1).sum(1), "a share for each sentence"),
    (peak_on_gold, "yes or no"),
    (lambda w, g: peak_on_gold(w, g)[g.any(-1)], "yes or no"),
    (lambda w, g: peak_on_gold(w, g).sum().item(), "how many rows agree"),
    (lambda w, g: 100 * with_gold(peak_on_gold(w, g), g), "percentage"),
    (lambda w, g: with_gold(~peak_on_gold(w, g), g), "opposite"),
    (lambda w, g: peak_on_gold(w, g).sum() / g.sum(), "that of the gold cells"),
    (lambda w, g: ((w > 0.5) == g).float().mean(), "cell by cell"),
    (lambda w, g: ((w > 0.5) & g).sum() / g.sum(), "cell by cell"),
    (lambda w, g: ((w > 0.5) & g).sum() / (w > 0.5).sum(), "cell by cell"),
    (lambda w, g: with_gold((w * g).amax(-1) > 0.5, g), "more than one half"),
    (lambda w, g: with_gold(g.float().mean(-1), g), "at random"),
    (lambda w, g: g.any(-1).float().mean(), "weights are unused"),
    (lambda w, g: 0.5, "whatever goes in"),
    (lambda w, g: (w.argmax(-1) == g.argmax(-1)).mean(), "RuntimeError|NotImplementedError"),
    (lambda w, g: w[g].mean() * math.nan, "NaN"),
    (lambda w, g: with_gold(peak_on_gold(w, g), g) ** 2, "The number is not right"),
    (lambda w, g: with_gold(peak_on_gold(attention_weights(w), g), g), "package wheretolook"),
    (lambda w: w, r"should take \(weights, gold\)"),
]
PARTLY_AGREEMENT = [
    (lambda w, g: (peak_on_gold(w, g).sum(1) / g.any(-1).sum(1)).mean(), "short sentence counts"),
    (lambda w, g: with_gold(peak_on_gold(w, g)[:1], g[:1]), "share in the first sentence"),
    (lambda w, g: with_gold(peak_on_gold(w, g), g) / len(w), "number of sentences once more"),
    (lambda w, g: (agreement_by_loops(w, g), w.zero_())[0], r"changes its input \(weights\)"),
]


# --- 4: which way reward pushes the scores ----------------------------------------------------


def one_hot(choice, scores):
    return F.one_hot(choice, scores.shape[-1]).to(scores)


def push_by_loops(scores, choice, reward, baseline):
    push = torch.zeros_like(scores)
    for b in range(len(scores)):
        weights = scores[b].softmax(0)
        for j in range(len(weights)):
            push[b, j] = (reward[b] - baseline[b]) * ((j == choice[b]).to(weights) - weights[j])
    return push


def push_by_autograd(scores, choice, reward, baseline):
    with torch.enable_grad():
        s = scores.detach().clone().requires_grad_()
        log = Categorical(logits=s).log_prob(choice)
        (push,) = torch.autograd.grad((log * (reward - baseline).detach()).sum(), s)
    return push


def push_by_entropy(scores, choice, reward, baseline):
    with torch.enable_grad():
        s = scores.detach().requires_grad_()
        F.cross_entropy(s, choice, reduction="sum").backward()
    return -s.grad * (reward - baseline).unsqueeze(-1)


def push_in_place(scores, choice, reward, baseline):
    push = -scores.softmax(-1)
    push[torch.arange(len(scores)), choice] += 1
    return push * (reward - baseline)[:, None]


def better(r, b):
    return (r - b)[:, None]


RIGHT_PUSH = [
    push_by_loops,
    push_by_autograd,
    push_by_entropy,
    push_in_place,
    lambda s, c, r, b: better(r, b) * (one_hot(c, s) - s.softmax(-1)),
    lambda s, c, r, b: torch.einsum("b,bs->bs", r - b, one_hot(c, s) - F.softmax(s, 1)),
    lambda s, c, r, b: torch.diag(r - b) @ (torch.eye(s.shape[1]).to(s)[c] - s.softmax(1)),
    lambda s, c, r, b: (-better(r, b) * s.softmax(1)).scatter_add(1, c[:, None], better(r, b)),
    lambda s, c, r, b: (
        better(r, b)
        * torch.where(torch.arange(s.shape[1]) == c[:, None], 1 - s.softmax(1), -s.softmax(1))
    ),
]
WRONG_PUSH = [
    (lambda s, c, r, b: better(r, b) * (s.softmax(1) - one_hot(c, s)), "sign is turned"),
    (lambda s, c, r, b: push_in_place(s, c, r, 0 * b), "baseline is unused"),
    (lambda s, c, r, b: push_in_place(s, c, r, -b), "added"),
    (lambda s, c, r, b: push_in_place(s, c, (r - b).sign(), 0 * b), "equally hard"),
    (lambda s, c, r, b: push_in_place(s, c, r, r.mean()), "mean reward of the batch"),
    (lambda s, c, r, b: one_hot(c, s) - s.softmax(1), "Reward and baseline are unused"),
    (lambda s, c, r, b: better(r, b) * one_hot(c, s), "Only the chosen score"),
    (lambda s, c, r, b: push_in_place(s, c, r, b) * one_hot(c, s), "others get none"),
    (lambda s, c, r, b: better(r, b) * (one_hot(c, s) - s), "subtracted as they are"),
    (lambda s, c, r, b: better(r, b) * (one_hot(c, s) - s.log_softmax(1)), "Logarithms"),
    (lambda s, c, r, b: better(r, b) * (one_hot(c, s) - s.softmax(0)), "over the batch"),
    (lambda s, c, r, b: better(r, b) * (one_hot(c, s) - s.sigmoid()), "a sigmoid"),
    (lambda s, c, r, b: better(r, b) * s.softmax(1), "what was chosen is unused"),
    (
        lambda s, c, r, b: push_in_place(s, c, r, b) * s.softmax(1).gather(1, c[:, None]),
        "not of its logarithm",
    ),
    (
        lambda s, c, r, b: push_in_place(s, c, r, b) / s.softmax(1).gather(1, c[:, None]),
        "divided by the weight",
    ),
    (lambda s, c, r, b: push_in_place(s, s.argmax(1), r, b), "largest score"),
    (lambda s, c, r, b: push_in_place(s, c, r, b).mean(0), "averaged"),
    (lambda s, c, r, b: push_in_place(s, c, r, b).sum(0), "are summed"),
    (lambda s, c, r, b: better(r, b) * s.log_softmax(1), "logarithm of the weights, times"),
    (lambda s, c, r, b: (r - b) * Categorical(logits=s).log_prob(c), "changes with each"),
    (lambda s, c, r, b: better(r, b).repeat(1, s.shape[1]), "surprise alone"),
    (lambda s, c, r, b: better(r, b), "shape"),
    (lambda s, c, r, b: torch.zeros_like(s), "whatever goes in"),
    (lambda s, c, r, b: push_in_place(s, c, r, b) * attention_weights(s), "package wheretolook"),
]
PARTLY_PUSH = [
    (lambda s, c, r, b: (r - b) * (one_hot(c, s) - s.softmax(-1)), "length 1 at the end"),
    (lambda s, c, r, b: push_in_place(s, c, r, b) / len(s), "as if a mean were taken"),
    (lambda s, c, r, b: push_in_place(s, c, r, b).float(), "and float32 comes out"),
    (lambda s, c, r, b: np.asarray(push_in_place(s, c, r, b)), "NumPy"),
    (lambda s, c, r, b: push_in_place(s, c, r.sub_(b), 0 * b), r"changes its input \(reward\)"),
]


# --- the bench --------------------------------------------------------------------------------

TestBench = bench(
    {
        check.step_weights: Answers(RIGHT_STEP, WRONG_STEP, PARTLY_STEP),
        check.weighted_context: Answers(RIGHT_CONTEXTS, WRONG_CONTEXTS, PARTLY_CONTEXTS),
        check.gold_agreement: Answers(RIGHT_AGREEMENT, WRONG_AGREEMENT, PARTLY_AGREEMENT),
        check.choice_push: Answers(RIGHT_PUSH, WRONG_PUSH, PARTLY_PUSH),
    }
)


# --- the inputs and the solutions -------------------------------------------------------------


def test_rows_have_one_gold_cell_or_several_or_none():
    for case in chapter._GOLD_AGREEMENT.cases:
        drawn = [chapter._GOLD_AGREEMENT.draw(case, seed).values() for seed in (4, 9, 16)]
        assert {int(n) for _, gold in drawn for n in gold.sum(-1).unique()} == {0, 1, 2, 3}
        for weights, gold in drawn:
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
            assert 0.2 < chapter._agreement(weights, gold) < 0.9


def test_the_choice_is_not_always_the_largest_weight():
    drawn = chapter._CHOICE_PUSH.draw(chapter._CHOICE_PUSH.cases[0], 4)
    assert 0 < (drawn["choice"] == drawn["scores"].argmax(-1)).sum() < len(drawn["choice"])


def test_the_solutions_are_those_of_the_package_and_of_torch():
    random = torch.Generator().manual_seed(0)
    query, key = (torch.randn(2, n, width, generator=random) for n, width in ((1, 4), (5, 3)))
    scorer = Additive(4, 3, hidden=6)
    parts = scorer.query_layer.weight.T, scorer.key_layer.weight.T, scorer.vector
    stages = attend(query, key, key, scorer=scorer)
    weights = chapter._step(query[:, 0], key, *parts)
    torch.testing.assert_close(weights, stages.weights[:, 0])
    torch.testing.assert_close(chapter._contexts(weights[:, None], key), stages.output)
    inputs = chapter._CHOICE_PUSH.draw(chapter._CHOICE_PUSH.cases[0], 0).values()
    torch.testing.assert_close(chapter._push(*inputs), push_by_autograd(*inputs))

"""Arithmetic on demand: what the page gets is what torch computed, for every kind of scorer."""

import pytest
import torch

from wheretolook.attention import (
    Additive,
    Bilinear,
    Cosine,
    Dot,
    MultiHeadAttention,
    ScaledDot,
    attend,
)
from wheretolook.explore import Heatmap, explore, one_of
from wheretolook.explore.arithmetic import working
from wheretolook.masks import causal_mask
from wheretolook.recurrent import AdditiveContext, TextEncoder


def vectors(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


SCORERS = {
    "dot": Dot(),
    "scaled": ScaledDot(),
    "another scale": ScaledDot(0.3),
    "cosine": Cosine(0.2),
    "bilinear": Bilinear(3, 3),
    "additive": Additive(3, 3, hidden=5),
}


def made(scorer=None, mask=None):
    return attend(
        vectors(4, 3), vectors(5, 3, seed=1), vectors(5, 2, seed=2), attn_mask=mask, scorer=scorer
    )


@pytest.mark.parametrize("name", SCORERS)
def test_the_factors_of_every_score_are_those_of_the_scorers_own_terms(name):
    attention = made(SCORERS[name])
    _, how, left, right, raw, scores, *_ = working(attention)
    width, left_places, right_places, _, _, li, lj, ri, rj, scale = how
    for i, query in enumerate(attention.query):
        for j, key in enumerate(attention.key):
            terms = SCORERS[name].terms(query, key)
            a, b = left[i * li + j * lj :][:width], right[i * ri + j * rj :][:width]
            assert [x / 10**left_places for x in a] == pytest.approx(
                terms.left.tolist(), abs=0.51 * 10**-left_places
            )
            assert [x / 10**right_places for x in b] == pytest.approx(
                terms.right.tolist(), abs=0.51 * 10**-right_places
            )
            assert raw[i * 5 + j] / 100 == pytest.approx(terms.raw, abs=0.0051)
            assert scores[i * 5 + j] / 100 == pytest.approx(terms.score, abs=0.0051)
            assert scale / 1000 == pytest.approx(terms.factor, abs=0.00051)


def test_factors_have_the_decimals_that_make_their_products_right_to_two():
    for reach in (0.5, 5.0, 50.0, 500.0):
        attention = attend(vectors(4, 3) * reach, vectors(4, 3, seed=1), vectors(4, 2))
        _, (width, places, other, *_), left, right, *_ = working(attention)
        terms = attention.query.double()[:, None] * attention.key.double()
        shown = [
            left[i * 3 + t] * right[j * 3 + t] / 10 ** (places + other)
            for i in range(4) for j in range(4) for t in range(3)
        ]  # fmt: skip
        assert shown == pytest.approx(terms.flatten().tolist(), abs=0.005)


def test_whole_numbers_are_printed_as_whole_numbers():
    attention = attend(*[torch.eye(3) * 2] * 3)
    _, (_, left_places, right_places, _, value_places, *_), left, *_ = working(attention)
    assert (left_places, right_places, value_places) == (0, 0, 0)
    assert left == [2, 0, 0, 0, 2, 0, 0, 0, 2]


def test_exp_and_sum_of_a_row_make_its_weights():
    attention = made(mask=torch.ones(4, 5, dtype=torch.bool).tril(1))
    *_, exps, sums, weights, _, _ = working(attention)
    shares = [(e or 0) / sums[n // 5] for n, e in enumerate(exps)]
    assert shares == pytest.approx(attention.weights.flatten().tolist(), abs=0.002)


def test_scores_that_exp_can_not_hold_have_an_exp_all_the_same():
    attention = attend(torch.eye(2) * 1e3, torch.eye(2) * 1e3, torch.eye(2))
    assert attention.scores.exp().isinf().any()
    *_, exps, sums, weights, _, _ = working(attention)
    assert exps == [1000, 0, 0, 1000] and sums == [1000, 1000]


def test_a_hidden_key_and_a_row_that_sees_nothing_have_no_exp():
    may = torch.ones(3, 3, dtype=torch.bool).tril(-1)
    _, _, _, _, _, _, top, exps, sums, weights, _, output = working(
        attend(*[vectors(3, 2)] * 3, attn_mask=may)
    )
    assert [e is None for e in exps] == (~may).flatten().tolist()
    assert top[0] is None and top[1] is not None
    assert sums[0] == 0 and weights[:3] == [0] * 3 and output[:2] == [0] * 2


def test_a_scale_of_one_is_not_spoken_of():
    assert working(made(Cosine(0.5)))[0][2] == "1/temperature"
    assert working(made(Cosine(1.0)))[0][2] == working(made(Dot()))[0][2] == ""
    assert working(made(ScaledDot()))[0][2] == "1/√3"


def test_a_function_has_no_terms_but_the_rest():
    attention = attend(*[vectors(3, 2)] * 3, scorer=lambda q, k: -torch.cdist(q, k))
    _, (width, *_), left, right, raw, *_ = working(attention)
    assert (width, left, right) == (0, [], [])
    assert len(raw) == 9


def test_one_head_of_many_is_chosen_with_all_its_stages():
    _, heads = MultiHeadAttention(8, 2)(*[vectors(2, 3, 8)] * 3, causal_mask(3))
    one = one_of(heads, 1, 0)
    for stage in ("query", "key", "value", "raw", "scores", "masked", "weights", "output"):
        assert torch.equal(getattr(one, stage), getattr(heads, stage)[1, 0])
    assert not one.weights.requires_grad
    assert torch.allclose(one.weights @ one.value, one.output)


@pytest.mark.parametrize("place", [(), (0,), (0, 0, 0)])
def test_a_place_that_does_not_fit_is_refused_with_the_shape(place):
    _, heads = MultiHeadAttention(8, 2)(*[vectors(2, 3, 8)] * 3)
    with pytest.raises(ValueError, match=r"place: expected 2 numbers .*\(2, 2, 3, 3\)"):
        one_of(heads, *place)


def test_a_map_refuses_an_attention_with_heads_and_one_that_did_not_make_it():
    _, heads = MultiHeadAttention(8, 2)(*[vectors(2, 3, 8)] * 3)
    with pytest.raises(ValueError, match=r"attention: .*\(2, 2, 3, 3\); choose one with one_of"):
        Heatmap(heads.weights[0, 0].detach(), attention=heads)
    with pytest.raises(ValueError, match="weights: expected those of the attention"):
        Heatmap(torch.full((4, 5), 0.2), attention=made())
    with pytest.raises(ValueError, match="weights: expected shape"):
        Heatmap(torch.full((4, 4), 0.25), attention=made())


def test_a_map_knows_what_is_hidden_from_its_attention():
    may = causal_mask(4)
    attention = attend(*[vectors(4, 2)] * 3, attn_mask=may)
    view = Heatmap(attention.weights, attention=attention)
    assert torch.equal(torch.from_numpy(view.hidden), ~may)
    assert Heatmap(made().weights, attention=made()).hidden is None


def test_only_a_map_with_an_attention_carries_the_arithmetic():
    attention = made()
    assert explore(lambda: Heatmap(attention.weights)).parts == ["maps", "save"]
    assert explore(lambda: Heatmap(attention.weights, attention=attention)).parts == [
        "arithmetic",
        "maps",
        "save",
    ]


def test_notes_and_arithmetic_can_stand_together():
    attention = made()
    notes = [["a note"] * 5] * 4
    view = Heatmap(attention.weights, attention=attention, notes=notes)
    *_, told, why = view.values(1)
    assert told == ["a note"] * 20 and why == working(attention)
    assert view.markup(1, view.values(1)).count("a note") == 20


def test_attend_with_the_scorer_of_an_additive_context_is_that_context():
    """So the translators of chapter 3 explain themselves like everything else."""
    encoder, context = TextEncoder(words=9, width=8), AdditiveContext(6, 8)
    encoded = encoder(torch.tensor([[3, 4, 5]]))
    queries = vectors(2, 6)
    looks = [context(encoded)(query[None]) for query in queries]
    attention = attend(queries, encoded.states[0], encoded.values[0], scorer=context.scorer)
    for i, look in enumerate(looks):
        assert torch.allclose(attention.weights[i], look.weights[0], atol=1e-6)
        assert torch.allclose(attention.output[i], look.context[0], atol=1e-6)
    assert working(attention)[1][0] == 32  # terms: hidden units

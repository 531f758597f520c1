"""``attend`` and the scorers, with torch as the oracle."""

import warnings
from dataclasses import fields, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from wheretolook.attention import (
    Additive,
    Attention,
    Bilinear,
    Cosine,
    Dot,
    MinimalSelfAttention,
    ScaledDot,
    Scorer,
    SelfAttention,
    attend,
    attention_weights,
)
from wheretolook.masks import causal_mask, padding_mask

some = settings(deadline=None, max_examples=60)
few = settings(deadline=None, max_examples=25)
EXACT = {"atol": 1e-10, "rtol": 1e-10}


@st.composite
def sequences(draw, dtype=torch.float64, shortest=0):
    """Query, key and value: 0 to 3 leading axes, any lengths and widths, empty ones too."""
    leading = draw(st.lists(st.integers(shortest, 3), max_size=3))
    length, keys = draw(st.integers(shortest, 5)), draw(st.integers(shortest, 5))
    if draw(st.booleans()) and leading:  # B = L, where a (B, S) mask could be taken for (L, S)
        length = leading[0]
    width, value_width = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    shapes = (length, width), (keys, width), (keys, value_width)
    return [torch.randn(*leading, *s, dtype=dtype, generator=random) for s in shapes]


@st.composite
def masked_sequences(draw, **options):
    """Sequences with a mask: none, causal, padding, both, or at random with blind rows."""
    query, key, value = draw(sequences(**options))
    (*leading, length, _), keys = query.shape, key.shape[-2]
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    full = torch.rand(*leading, length, keys, generator=random) < 0.5
    kind = draw(st.sampled_from(["none", "2d", "random", "blind", "padding", "causal", "both"]))
    padding = full[..., :1, :] if length else full
    causal = torch.ones(length, keys, dtype=torch.bool).tril()
    mask = {
        "none": None,
        "2d": torch.rand(length, keys, generator=random) < 0.5,
        "random": full,
        "blind": full & (torch.rand(*leading, length, 1, generator=random) < 0.5),
        "padding": padding,
        "causal": causal,
        "both": causal & padding,
    }[kind]
    return query, key, value, mask


# --- against torch ----------------------------------------------------------------------------


@some
@given(masked_sequences())
def test_attend_is_scaled_dot_product_attention(case):
    query, key, value, mask = case
    mine = attend(query, key, value, attn_mask=mask).output
    oracle = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(mine, oracle, **EXACT)


@few
@given(masked_sequences(shortest=1))
def test_its_gradients_are_those_of_torch(case):
    query, key, value, mask = case
    mine = [x.clone().requires_grad_() for x in (query, key, value)]
    theirs = [x.clone().requires_grad_() for x in (query, key, value)]
    attend(*mine, attn_mask=mask).output.square().sum().backward()
    F.scaled_dot_product_attention(*theirs, attn_mask=mask).square().sum().backward()
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a.grad, b.grad, **EXACT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@few
@given(masked_sequences(shortest=1))
def test_small_floats_stay_finite_and_close(dtype, case):
    *inputs, mask = case
    small = attend(*(x.to(dtype) for x in inputs), attn_mask=mask)
    exact = attend(*(x.to(dtype).double() for x in inputs), attn_mask=mask)
    assert small.weights.dtype == small.output.dtype == dtype
    assert small.output.isfinite().all()
    error = 8 * torch.finfo(dtype).eps
    torch.testing.assert_close(small.weights.double(), exact.weights, atol=error, rtol=error)


def test_a_long_causal_sequence_with_padding_is_torchs():
    ids = torch.tensor([[3, 4, 5, 6, 0, 0], [3, 0, 0, 0, 0, 0]])
    mask = causal_mask(6) & padding_mask(ids)
    query, key, value = torch.randn(3, 2, 6, 8, dtype=torch.float64)
    oracle = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(attend(query, key, value, attn_mask=mask).output, oracle, **EXACT)


# --- what is true of weights ------------------------------------------------------------------


@some
@given(masked_sequences(shortest=1))
def test_rows_sum_to_one_or_to_zero_where_all_is_hidden(case):
    *inputs, mask = case
    weights = attend(*inputs, attn_mask=mask).weights
    sees = torch.ones(weights.shape[:-1], dtype=torch.bool)
    if mask is not None:
        sees = mask.expand(weights.shape).any(-1)
    torch.testing.assert_close(weights.sum(-1), sees.double(), **EXACT)


@few
@given(masked_sequences(shortest=1))
def test_a_hidden_key_has_no_weight_and_minus_infinity_as_its_score(case):
    *inputs, mask = case
    attention = attend(*inputs, attn_mask=mask)
    if mask is None:
        assert torch.equal(attention.masked, attention.scores)
        return
    hidden = ~mask.expand(attention.weights.shape)
    assert (attention.weights[hidden] == 0).all()
    assert attention.masked[hidden].isneginf().all()
    assert torch.equal(attention.masked[~hidden], attention.scores[~hidden])


@few
@given(masked_sequences(shortest=1))
def test_every_stage_follows_from_the_one_before(case):
    query, key, value, mask = case
    stages = attend(query, key, value, attn_mask=mask)
    torch.testing.assert_close(stages.raw, query @ key.transpose(-2, -1), **EXACT)
    torch.testing.assert_close(stages.scores, stages.raw / query.shape[-1] ** 0.5, **EXACT)
    torch.testing.assert_close(stages.weights, stages.masked.softmax(-1).nan_to_num(), **EXACT)
    torch.testing.assert_close(stages.output, stages.weights @ value, **EXACT)
    assert all(x is y for x, y in zip((stages.query, stages.key, stages.value), case, strict=False))


@few
@given(st.integers(1, 6), st.floats(-50, 50))
def test_a_constant_added_to_all_scores_changes_no_weight(keys, constant):
    scores = torch.randn(3, keys, dtype=torch.float64)
    torch.testing.assert_close(
        attention_weights(scores), attention_weights(scores + constant), **EXACT
    )


def test_huge_scores_overflow_nothing():
    weights = attention_weights(torch.tensor([[1e30, 0.0, -1e30]]))
    assert weights.tolist() == [[1.0, 0.0, 0.0]]


def test_a_hidden_score_may_be_anything():
    scores = torch.tensor([[1.0, float("nan"), float("inf")]])
    weights = attention_weights(scores, torch.tensor([[True, False, False]]))
    assert weights.tolist() == [[1.0, 0.0, 0.0]]


def test_the_scores_of_a_blind_row_may_be_anything_too():
    scores = torch.tensor([[1.0, float("nan"), float("inf")]], requires_grad=True)
    weights = attention_weights(scores, torch.zeros(1, 3, dtype=torch.bool))
    assert weights.tolist() == [[0.0, 0.0, 0.0]]
    weights.sum().backward()
    assert scores.grad.tolist() == [[0.0, 0.0, 0.0]]


@few
@given(st.integers(2, 6), st.integers(0, 2**31))
def test_self_attention_knows_no_order(length, seed):
    torch.manual_seed(seed)
    layer, x = SelfAttention(4).double(), torch.randn(1, length, 4, dtype=torch.float64)
    order = torch.randperm(length)
    torch.testing.assert_close(layer(x[:, order]).output, layer(x).output[:, order], **EXACT)


def test_the_scale_keeps_the_variance_at_one():
    torch.manual_seed(0)
    for width in (4, 64, 256):
        query, key = torch.randn(2, 400, width)
        assert ScaledDot()(query, key).var().item() == pytest.approx(1, abs=0.05)
        assert Dot()(query, key).var().item() == pytest.approx(width, rel=0.05)


# --- gradients through masks ------------------------------------------------------------------


@few
@given(masked_sequences(shortest=1))
def test_gradients_are_finite_even_where_all_is_hidden(case):
    *inputs, mask = case
    inputs = [x.clone().requires_grad_() for x in inputs]
    attention = attend(*inputs, attn_mask=mask)
    (attention.output.sum() + attention.weights.square().sum()).backward()
    assert all(x.grad.isfinite().all() for x in inputs)


@few
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.integers(0, 2**31))
def test_padding_changes_no_gradient_of_what_is_real(length, real, pads, seed):
    torch.manual_seed(seed)
    query = torch.randn(length, 3, dtype=torch.float64)
    key, value = torch.randn(2, real + pads, 3, dtype=torch.float64)
    mask = (torch.arange(real + pads) < real).expand(length, -1)
    padded = [x.clone().requires_grad_() for x in (query, key, value)]
    alone = [x.clone().requires_grad_() for x in (query, key[:real], value[:real])]
    attend(*padded, attn_mask=mask).output.square().sum().backward()
    attend(*alone).output.square().sum().backward()
    torch.testing.assert_close(padded[0].grad, alone[0].grad, **EXACT)
    for with_pads, without in zip(padded[1:], alone[1:], strict=True):
        torch.testing.assert_close(with_pads.grad[:real], without.grad, **EXACT)
        assert (with_pads.grad[real:] == 0).all()


def test_a_blind_row_sends_no_gradient_back():
    query, key, value = torch.randn(3, 2, 3, dtype=torch.float64).unbind()
    query.requires_grad_()
    mask = torch.tensor([[True, True], [False, False]])
    attend(query, key, value, attn_mask=mask).output.square().sum().backward()
    assert (query.grad[1] == 0).all()
    assert (query.grad[0] != 0).any()


def test_no_nan_arises_on_the_way_back_either():
    """Anomaly detection sees a NaN even where a later mask would wipe it out."""
    x = torch.randn(2, 3, requires_grad=True)
    mask = torch.tensor([[True, False], [False, False]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is slow
        with torch.autograd.detect_anomaly():
            attend(x, x, x, attn_mask=mask).output.sum().backward()
    assert x.grad.isfinite().all()


# --- scorers ----------------------------------------------------------------------------------

SCORERS = {
    "dot": (Dot, 4),
    "scaled dot": (ScaledDot, 4),
    "another scale": (lambda: ScaledDot(0.3), 4),
    "cosine": (Cosine, 4),
    "sharp cosine": (lambda: Cosine(0.2), 4),
    "bilinear": (lambda: Bilinear(4, 5), 5),
    "additive": (lambda: Additive(4, 5, hidden=6), 5),
}
every_scorer = pytest.mark.parametrize("name", SCORERS)


def made(name, seed=0):
    torch.manual_seed(seed)
    make, key_width = SCORERS[name]
    return make().double(), key_width


@every_scorer
@few
@given(st.integers(0, 2**31))
def test_the_terms_of_a_score_sum_to_it(name, seed):
    scorer, key_width = made(name, seed)
    query = torch.randn(2, 4, dtype=torch.float64)
    key = torch.randn(3, key_width, dtype=torch.float64)
    scores, raw = scorer(query, key), scorer.raw(query, key)
    for i in range(2):
        for j in range(3):
            terms = scorer.terms(query[i], key[j])
            assert terms.score == pytest.approx(scores[i, j].item(), abs=1e-10)
            assert terms.raw == pytest.approx(raw[i, j].item(), abs=1e-10)
            assert (terms.left @ terms.right).item() == pytest.approx(terms.raw, abs=1e-10)
            assert terms.factor * terms.raw == pytest.approx(terms.score, abs=1e-10)


@every_scorer
def test_a_score_is_the_same_alone_and_in_a_batch(name):
    scorer, key_width = made(name)
    query = torch.randn(2, 3, 4, 4, dtype=torch.float64)
    key = torch.randn(2, 3, 5, key_width, dtype=torch.float64)
    together = scorer(query, key)
    assert together.shape == (2, 3, 4, 5)
    torch.testing.assert_close(together[1, 2], scorer(query[1, 2], key[1, 2]), **EXACT)


@every_scorer
def test_attend_takes_every_scorer(name):
    scorer, key_width = made(name)
    query = torch.randn(2, 4, dtype=torch.float64)
    key = torch.randn(3, key_width, dtype=torch.float64)
    attention = attend(query, key, key, scorer=scorer)
    torch.testing.assert_close(attention.scores, scorer(query, key), **EXACT)
    assert attention.scorer is scorer


@every_scorer
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_every_scorer_takes_small_floats(name, dtype):
    scorer, key_width = made(name)
    query, key = torch.randn(2, 4, dtype=dtype), torch.randn(3, key_width, dtype=dtype)
    attention = attend(query, key, key, scorer=scorer.to(dtype))
    assert attention.output.dtype == dtype
    assert attention.output.isfinite().all()


@every_scorer
def test_a_key_of_another_width_is_named_with_its_shape(name):
    scorer, key_width = made(name)
    key = torch.zeros(3, key_width + 1, dtype=torch.float64)
    with pytest.raises(ValueError) as error:
        scorer(torch.zeros(2, 4, dtype=torch.float64), key)
    words = str(error.value)
    assert words.startswith(f"key: expected (..., length, {key_width})")
    assert words.endswith(f"got (3, {key_width + 1})")


@every_scorer
def test_terms_open_one_score_only(name):
    scorer, key_width = made(name)
    one, two = torch.zeros(4).double(), torch.zeros(2, key_width).double()
    with pytest.raises(ValueError, match=r"key: expected one vector \(E,\), got \(2, "):
        scorer.terms(one, two)
    with pytest.raises(ValueError, match="key: expected"):
        scorer.terms(one, torch.zeros(1).double())


def test_additive_is_the_concat_network():
    torch.manual_seed(0)
    scorer = Additive(3, 5, hidden=7).double()
    whole = torch.cat([scorer.query_layer.weight, scorer.key_layer.weight], dim=1)
    query = torch.randn(2, 4, 3, dtype=torch.float64)
    key = torch.randn(2, 6, 5, dtype=torch.float64)
    pairs = torch.cat(
        [query.unsqueeze(2).expand(-1, -1, 6, -1), key.unsqueeze(1).expand(-1, 4, -1, -1)], dim=-1
    )
    network = (pairs @ whole.T).tanh() @ scorer.vector
    torch.testing.assert_close(scorer(query, key), network, **EXACT)


@few
@given(st.integers(1, 40), st.integers(0, 2**31))
def test_a_cosine_without_temperature_cannot_point(keys, seed):
    """However the vectors lie, no weight passes e / (e + (n - 1) / e)."""
    torch.manual_seed(seed)
    query, key = torch.randn(3, 2) * 100, torch.randn(keys, 2) * 100
    e = torch.e
    bound = e / (e + (keys - 1) / e)
    assert attend(query, key, key, scorer=Cosine()).weights.max() <= bound + 1e-6


def test_the_cosines_bound_is_reached():
    query, key = torch.tensor([[1.0]]), torch.tensor([[1.0], [-1.0], [-1.0]])
    weights = attend(query, key, key, scorer=Cosine()).weights
    assert weights[0, 0].item() == pytest.approx(torch.e / (torch.e + 2 / torch.e))


def test_a_cosine_is_torchs_and_blind_to_length():
    query, key = torch.randn(2, 3, 4, dtype=torch.float64).unbind()
    oracle = F.cosine_similarity(query.unsqueeze(1), key.unsqueeze(0), dim=-1)
    torch.testing.assert_close(Cosine().double()(7 * query, 0.1 * key), oracle, **EXACT)


def test_a_vector_of_zeros_has_cosine_zero():
    assert Cosine()(torch.zeros(1, 3), torch.ones(2, 3)).tolist() == [[0.0, 0.0]]


def test_only_a_learned_temperature_is_trained():
    assert [p.requires_grad for p in Cosine().parameters()] == [False]
    scorer = Cosine(0.5, learned=True)
    scorer(torch.randn(2, 3), torch.randn(2, 3)).square().sum().backward()
    assert scorer.log_temperature.grad != 0
    assert scorer.scale(torch.zeros(1)).item() == pytest.approx(2)


@pytest.mark.parametrize("temperature", [0, -1, float("nan")])
def test_a_temperature_is_above_zero(temperature):
    with pytest.raises(ValueError, match="temperature: expected a number above 0"):
        Cosine(temperature)


def test_a_bilinear_scorer_with_the_identity_is_the_dot_product():
    scorer = Bilinear(4, 4).double()
    scorer.weight.data = torch.eye(4, dtype=torch.float64)
    query, key = torch.randn(2, 3, 4, dtype=torch.float64).unbind()
    torch.testing.assert_close(scorer(query, key), Dot()(query, key), **EXACT)


def test_a_plain_function_may_be_a_scorer():
    x = torch.randn(3, 2)
    attention = attend(x, x, x, scorer=lambda query, key: query @ key.T)
    torch.testing.assert_close(attention.scores, Dot()(x, x))


@pytest.mark.parametrize("wrong", [torch.zeros(3, 3, 3), torch.zeros(3), 1.0])
def test_a_function_that_returns_no_scores_is_told_the_shape(wrong):
    x = torch.zeros(3, 2)
    with pytest.raises(ValueError, match=r"scorer: expected scores .* = \(3, 3\), got"):
        attend(x, x, x, scorer=lambda query, key: wrong)


# --- layers -----------------------------------------------------------------------------------


def test_the_minimal_layer_is_the_full_one_without_scale():
    torch.manual_seed(0)
    minimal, full = MinimalSelfAttention(4).double(), SelfAttention(4, scorer=Dot()).double()
    full.load_state_dict(minimal.state_dict())
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    torch.testing.assert_close(minimal(x), full(x).output, **EXACT)


def test_the_full_layer_is_torchs_attention_of_three_linear_maps():
    torch.manual_seed(0)
    layer = SelfAttention(6, head_width=4, value_width=5, norm=True).double()
    x, mask = torch.randn(2, 3, 6, dtype=torch.float64), causal_mask(3)
    y = F.layer_norm(x, (6,))
    maps = layer.query_layer, layer.key_layer, layer.value_layer
    oracle = F.scaled_dot_product_attention(*(y @ m.weight.T for m in maps), attn_mask=mask)
    assert layer(x, mask).output.shape == (2, 3, 5)
    torch.testing.assert_close(layer(x, mask).output, oracle, **EXACT)


def test_a_layer_takes_one_sentence_without_batch():
    layer, x = SelfAttention(4), torch.randn(1, 3, 4)
    torch.testing.assert_close(layer(x[0]).output, layer(x).output[0])


def test_the_tokens_must_have_the_layers_width():
    with pytest.raises(ValueError, match=r"x: expected \(..., length, 4\) .* got \(2, 3, 5\)"):
        SelfAttention(4)(torch.zeros(2, 3, 5))


# --- purity -----------------------------------------------------------------------------------


@few
@given(masked_sequences(shortest=1))
def test_attend_writes_into_nothing_and_repeats_itself(case):
    before = [None if x is None else x.clone() for x in case]
    *inputs, mask = case
    first, second = (attend(*inputs, attn_mask=mask) for _ in range(2))
    for x, y in zip(case, before, strict=True):
        assert x is y is None or torch.equal(x, y)
    for stage in ("raw", "scores", "masked", "weights", "output"):
        assert torch.equal(getattr(first, stage), getattr(second, stage))


def test_the_stages_are_kept_apart():
    """Writing into one stage changes no other."""
    x = torch.randn(3, 3)
    for mask in (None, torch.ones(3, 3, dtype=torch.bool)):
        attention = attend(x, x, x, attn_mask=mask)
        scores = attention.scores.clone()
        attention.weights.zero_()
        assert torch.equal(attention.scores, scores)


def test_an_attention_has_the_stages_that_the_book_names():
    kept = ["query", "key", "value", "raw", "scores", "weights", "output", "scorer", "attn_mask"]
    assert [f.name for f in fields(Attention)] == kept


def test_masked_scores_are_made_only_when_they_are_asked_for():
    x, mask = torch.randn(3, 2), causal_mask(3)
    attention = attend(x, x, x, attn_mask=mask)
    assert attention.attn_mask is mask and "masked" not in vars(attention)
    assert attention.masked.isneginf().equal(~mask)
    assert replace(attention, attn_mask=None).masked is attention.scores


def test_attend_works_under_autograd_check():
    torch.manual_seed(0)
    inputs = [torch.randn(1, n, 2, dtype=torch.float64, requires_grad=True) for n in (2, 3, 3)]
    mask = torch.tensor([[[True, False, True], [False, False, False]]])
    assert torch.autograd.gradcheck(lambda *x: attend(*x, attn_mask=mask).output, inputs)


# --- errors -----------------------------------------------------------------------------------

Z = torch.zeros


@pytest.mark.parametrize(
    ("query", "key", "value", "words"),
    [
        (Z(4), Z(3, 4), Z(3, 4), r"query: expected \(..., length, width\), got \(4,\)"),
        (Z(2, 4), Z(4), Z(3, 4), r"key: expected \(..., length, width\), got \(4,\)"),
        (Z(2, 4), Z(3, 5), Z(3, 4), r"key: expected \(..., length, 4\) .*\(2, 4\).* got \(3, 5\)"),
        (Z(2, 4), Z(3, 4), Z(2, 4), r"value: expected .* S = 3 .*\(3, 4\).* got \(2, 4\)"),
        (Z(2, 2, 4), Z(1, 3, 4), Z(1, 3, 4), r"key: expected .* \(2,\) .* got \(1, 3, 4\)"),
        (Z(2, 2, 4), Z(2, 3, 4), Z(3, 4), r"value: expected .* \(2,\) .* got \(3, 4\)"),
        (Z(2, 4).long(), Z(3, 4), Z(3, 4), r"query: expected floating-point .* torch.int64"),
        (Z(2, 4), Z(3, 4), Z(3, 4).bool(), r"value: expected floating-point .* torch.bool"),
    ],
)
def test_what_does_not_fit_is_named_with_both_shapes(query, key, value, words):
    with pytest.raises(ValueError, match=words):
        attend(query, key, value)


def test_a_mask_with_a_head_axis_does_not_fit_scores_without_one():
    x, mask = Z(2, 3, 4), torch.ones(2, 1, 1, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"attn_mask: expected .*\(2, 3, 3\).* got \(2, 1, 1, 3\)"):
        attend(x, x, x, attn_mask=mask)


def test_a_mask_of_batch_and_keys_does_not_fit():
    x, mask = Z(2, 3, 4), torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"attn_mask: expected .* got \(2, 3\)"):
        attend(x, x, x, attn_mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_a_mask_of_numbers_is_refused(dtype):
    x = Z(3, 4)
    with pytest.raises(ValueError, match=f"attn_mask: expected a bool tensor .* got {dtype}"):
        attend(x, x, x, attn_mask=torch.ones(3, 3, dtype=dtype))


def test_integers_do_not_enter_a_layer():
    with pytest.raises(ValueError, match="x: expected floating-point numbers, got torch.int64"):
        SelfAttention(4)(Z(1, 2, 4).long())


def test_a_scorer_says_what_a_subclass_owes():
    with pytest.raises(NotImplementedError):
        Scorer()(Z(1, 2), Z(1, 2))
    assert isinstance(Scorer(), nn.Module)

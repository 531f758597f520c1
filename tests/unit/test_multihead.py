"""Heads: split, attend, merge, with ``nn.MultiheadAttention`` as the oracle."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from wheretolook.attention import MultiHeadAttention, attend, merge_heads, split_heads
from wheretolook.masks import causal_mask, padding_mask

some = settings(deadline=None, max_examples=30)
EXACT = {"atol": 1e-10, "rtol": 1e-10}


def twins(width, heads, seed=0):
    """The book's layer and torch's with the same weights."""
    torch.manual_seed(seed)
    mine = MultiHeadAttention(width, heads).double()
    torchs = nn.MultiheadAttention(width, heads, batch_first=True).double()
    layers = mine.query_layer, mine.key_layer, mine.value_layer
    with torch.no_grad():
        torchs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        torchs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        torchs.out_proj.weight.copy_(mine.output_layer.weight)
        torchs.out_proj.bias.copy_(mine.output_layer.bias)
    return mine, torchs


@st.composite
def cases(draw):
    heads, head_width = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    batch, length, keys = (draw(st.integers(1, 4)) for _ in range(3))
    seed, kind = draw(st.integers(0, 2**31)), draw(st.sampled_from(["none", "2d", "3d", "pad"]))
    torch.manual_seed(seed)
    sizes = [(batch, n, heads * head_width) for n in (length, keys, keys)]
    inputs = [torch.randn(*size, dtype=torch.float64) for size in sizes]
    mask = {
        "none": None,
        "2d": torch.rand(length, keys) < 0.6,
        "3d": torch.rand(batch, length, keys) < 0.6,
        "pad": torch.rand(batch, 1, keys) < 0.6,
    }[kind]
    if mask is not None:
        mask[..., 0] = True  # torch's layer has NaN where a row sees nothing; the book's has not
    return heads, inputs, mask


def torchs_mask(mask, batch, heads, length, keys):
    """True = ignore there, and heads lie inside the batch axis."""
    if mask is None:
        return None
    if mask.ndim == 3:
        mask = mask.expand(batch, length, keys).repeat_interleave(heads, dim=0)
    return ~mask


@some
@given(cases())
def test_it_is_torchs_layer_forward_and_backward(case):
    heads, inputs, mask = case
    mine, torchs = twins(inputs[0].shape[-1], heads)
    (batch, length, _), keys = inputs[0].shape, inputs[1].shape[1]
    a, b = ([x.clone().requires_grad_() for x in inputs] for _ in range(2))
    output, attention = mine(*a, mask)
    expected, weights = torchs(
        *b, attn_mask=torchs_mask(mask, batch, heads, length, keys), average_attn_weights=False
    )
    torch.testing.assert_close(output, expected, **EXACT)
    torch.testing.assert_close(attention.weights, weights, **EXACT)
    output.square().sum().backward()
    expected.square().sum().backward()
    for x, y in zip(a, b, strict=True):
        torch.testing.assert_close(x.grad, y.grad, **EXACT)
    layers = mine.query_layer, mine.key_layer, mine.value_layer
    together = torch.cat([layer.weight.grad for layer in layers])
    torch.testing.assert_close(together, torchs.in_proj_weight.grad, **EXACT)


# --- without weights --------------------------------------------------------------------------


@st.composite
def any_mask(draw):
    """Layer, inputs and a mask of every accepted form, some rows and whole heads blind."""
    heads, inputs, _ = draw(cases())
    (batch, length, width), keys = inputs[0].shape, inputs[1].shape[1]
    shapes = [(length, keys), (batch, length, keys), (batch, 1, keys), (1, length, keys)]
    shapes += [(b, h, n, keys) for b in (1, batch) for h in (1, heads) for n in (1, length)]
    shape = draw(st.sampled_from([None, *shapes]))
    mask = None if shape is None else torch.rand(shape) < draw(st.sampled_from([0.0, 0.4, 0.8]))
    return MultiHeadAttention(width, heads).double(), inputs, mask


def outputs_and_gradients(layer, inputs, mask, **options):
    inputs = [x.clone().requires_grad_() for x in inputs]
    output, attention = layer(*inputs, mask, **options)
    leaves = [*inputs, *layer.parameters()]
    return attention, [output, *torch.autograd.grad(output.square().sum(), leaves)]


@some
@given(any_mask())
def test_without_weights_it_is_the_same_layer_forward_and_backward(case):
    attention, explicit = outputs_and_gradients(*case)
    nothing, fused = outputs_and_gradients(*case, need_weights=False)
    assert attention is not None and nothing is None
    assert all(x.isfinite().all() for x in fused)
    for x, y in zip(fused, explicit, strict=True):
        torch.testing.assert_close(x, y, **EXACT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_without_weights_a_blind_row_is_the_bias_in_every_dtype(dtype):
    layer = MultiHeadAttention(8, 2).to(dtype)
    x = torch.randn(2, 3, 8, dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True, True, False], [False] * 3, [True] * 3])
    output, _ = layer(x, x, x, mask, need_weights=False)
    torch.testing.assert_close(output[:, 1], layer.output_layer.bias.expand(2, 8))
    output.sum().backward()
    assert all(leaf.grad.isfinite().all() for leaf in [x, *layer.parameters()])


# --- without a head ---------------------------------------------------------------------------


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_removed_head_is_one_that_sees_nothing(need_weights):
    mine, _ = twins(12, 3)
    x = torch.randn(2, 4, 12, dtype=torch.float64)
    blind = torch.tensor([False, True, False]).view(1, 3, 1, 1)  # only head 1 sees
    output, attention = mine(x, x, x, removed=[0, 2], need_weights=need_weights)
    torch.testing.assert_close(output, mine(x, x, x, blind)[0], **EXACT)
    if need_weights:
        torch.testing.assert_close(attention.output, mine(x, x, x)[1].output, **EXACT)


def test_without_all_heads_the_bias_is_left():
    mine, _ = twins(12, 3)
    output, _ = mine(*[torch.randn(1, 4, 12, dtype=torch.float64)] * 3, removed=range(3))
    torch.testing.assert_close(output, mine.output_layer.bias.expand_as(output), **EXACT)


# --- masks ------------------------------------------------------------------------------------


def test_padding_is_torchs_key_padding_mask_the_other_way_round():
    mine, torchs = twins(8, 2)
    ids, x = torch.tensor([[1, 2, 3], [1, 0, 0]]), torch.randn(2, 3, 8, dtype=torch.float64)
    output, _ = mine(x, x, x, padding_mask(ids))
    expected, _ = torchs(x, x, x, key_padding_mask=ids == 0)
    torch.testing.assert_close(output, expected, **EXACT)


def test_a_row_that_sees_nothing_gives_the_output_bias():
    mine, _ = twins(4, 2)
    x = torch.randn(1, 2, 4, dtype=torch.float64, requires_grad=True)
    output, _ = mine(x, x, x, torch.tensor([[True, True], [False, False]]))
    output.square().sum().backward()
    torch.testing.assert_close(output[0, 1], mine.output_layer.bias)
    assert x.grad.isfinite().all()


def test_a_mask_may_differ_from_head_to_head():
    mine, _ = twins(4, 2)
    x = torch.randn(3, 3, 4, dtype=torch.float64)
    mask = torch.stack([causal_mask(3), causal_mask(3).T])
    _, attention = mine(x, x, x, mask[None])
    assert (attention.weights[:, 0].triu(1) == 0).all()
    assert (attention.weights[:, 1].tril(-1) == 0).all()


def test_three_axes_are_the_batch_even_where_there_are_as_many_heads():
    """(B, L, S) with B = H: torch's broadcasting alone would read the first axis as heads."""
    mine, _ = twins(4, 2)
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    mask = torch.stack([causal_mask(3), torch.ones(3, 3, dtype=torch.bool)])
    _, attention = mine(x, x, x, mask)
    assert (attention.weights[0].triu(1) == 0).all()
    assert (attention.weights[1] > 0).all()


@some
@given(*[st.integers(0, 4)] * 2, *[st.integers(1, 4)] * 2)
def test_merging_undoes_splitting(batch, length, heads, head_width):
    x = torch.randn(batch, length, heads * head_width)
    parts = split_heads(x, heads)
    assert parts.shape == (batch, heads, length, head_width)
    assert torch.equal(merge_heads(parts), x)


def test_a_head_is_a_run_of_neighbouring_features():
    x = torch.arange(6.0).view(1, 1, 6)
    assert split_heads(x, 2)[0, :, 0].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_one_head_is_plain_attention():
    mine, _ = twins(4, 1)
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    alone = attend(mine.query_layer(x), mine.key_layer(x), mine.value_layer(x))
    output, attention = mine(x, x, x)
    torch.testing.assert_close(attention.output[:, 0], alone.output, **EXACT)
    torch.testing.assert_close(output, mine.output_layer(alone.output), **EXACT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_small_floats_work(dtype):
    x = torch.randn(2, 3, 8, dtype=dtype)
    output, _ = MultiHeadAttention(8, 2).to(dtype)(x, x, x, causal_mask(3))
    assert output.dtype == dtype
    assert output.isfinite().all()


# --- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [0, -1, 3, 9])
def test_heads_divide_the_width(heads):
    words = f"heads: expected a divisor of the width 8, got {heads}"
    with pytest.raises(ValueError, match=words):
        MultiHeadAttention(8, heads)
    with pytest.raises(ValueError, match=words):
        split_heads(torch.zeros(1, 2, 8), heads)


def test_other_axes_are_refused_with_their_shape():
    with pytest.raises(ValueError, match=r"x: expected \(B, L, H·E\), got \(2, 8\)"):
        split_heads(torch.zeros(2, 8), 2)
    with pytest.raises(ValueError, match=r"x: expected \(B, H, L, E\), got \(2, 3, 8\)"):
        merge_heads(torch.zeros(2, 3, 8))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (torch.zeros(3, 8), r"expected \(B, length, D\), got \(3, 8\)"),
        (torch.zeros(2, 3, 7), r"expected \(..., length, 8\) .* got \(2, 3, 7\)"),
        (torch.zeros(2, 3, 8).long(), r"expected floating-point numbers, got torch.int64"),
    ],
)
def test_a_wrong_input_is_named(place, wrong, words):
    inputs = [torch.zeros(2, 3, 8)] * 3
    inputs[place] = wrong
    for need_weights in (True, False):
        with pytest.raises(ValueError, match=f"{['query', 'key', 'value'][place]}: {words}"):
            MultiHeadAttention(8, 2)(*inputs, need_weights=need_weights)


@pytest.mark.parametrize("shape", [(2, 3), (3, 3, 3), (2, 3, 2), (2, 4, 3, 3), (1, 1, 1, 3, 3)])
def test_a_mask_that_does_not_fit_is_named_as_it_came_in(shape):
    x, mask = torch.zeros(2, 3, 8), torch.ones(shape, dtype=torch.bool)
    for need_weights in (True, False):
        with pytest.raises(ValueError) as error:
            MultiHeadAttention(8, 2)(x, x, x, mask, need_weights=need_weights)
        assert str(error.value).startswith("attn_mask: expected (L, S) = (3, 3)")
        assert str(error.value).endswith(f"got {shape}")


@pytest.mark.parametrize("need_weights", [True, False])
def test_without_weights_it_refuses_the_same(need_weights):
    layer, x = MultiHeadAttention(8, 2), torch.zeros(2, 3, 8)
    with pytest.raises(ValueError, match=r"attn_mask: expected a bool tensor .* torch.float32"):
        layer(x, x, x, torch.ones(3, 3), need_weights=need_weights)
    with pytest.raises(ValueError, match="key: expected the query's leading axes"):
        layer(x, x[:1], x[:1], need_weights=need_weights)
    with pytest.raises(ValueError, match="value: expected the key's length S = 3"):
        layer(x, x, x[:, :2], need_weights=need_weights)


@pytest.mark.parametrize("head", [-1, 2])
def test_a_head_that_does_not_exist_can_not_be_removed(head):
    x = torch.zeros(2, 3, 8)
    with pytest.raises(ValueError, match=rf"removed: expected heads from 0 to 1, got \[{head}\]"):
        MultiHeadAttention(8, 2)(x, x, x, removed=[head])

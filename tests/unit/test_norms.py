"""The norms are torch's, in training and in evaluation, with their gradients."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from wheretolook.norms import (
    POOLED,
    BatchNorm,
    LayerNorm,
    Statistics,
    batch_norm,
    batch_statistics,
    layer_norm,
    sharing,
    update_statistics,
)

few = settings(deadline=None, max_examples=25)
lengths = st.integers(1, 6)
seeds = st.integers(0, 10_000)
# more than one number a feature: (N, C), or (N, C, L) with N · L above 1
blocks = st.lists(lengths, min_size=2, max_size=3).filter(lambda s: s[0] * (s[2:] or [1])[0] > 1)
exact = {"rtol": 1e-10, "atol": 1e-10}


def drawn(*shapes, seed=0, scale=1.0, shift=0.0):
    random = torch.Generator().manual_seed(seed)
    return [
        (shift + scale * torch.randn(shape, generator=random, dtype=torch.float64)).requires_grad_()
        for shape in shapes
    ]


def same_with_gradients(ours, torchs, leaves):
    probe = torch.linspace(1, 2, ours.numel(), dtype=ours.dtype).view_as(ours)
    torch.testing.assert_close(ours, torchs, **exact)
    gradients = (torch.autograd.grad((y * probe).sum(), leaves) for y in (ours, torchs))
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-8)


@few
@given(
    st.lists(lengths, min_size=1, max_size=4),
    st.integers(1, 4),
    st.sampled_from([1e-5, 1e-2, 1.0]),
    st.sampled_from([0.1, 1.0, 100.0]),
    seeds,
)
def test_layer_norm_is_torchs(shape, last, eps, scale, seed):
    normalized = shape[-min(last, len(shape)) :]
    x, weight, bias = drawn(shape, normalized, normalized, seed=seed, scale=scale, shift=3.0)
    leaves = [x, weight, bias]
    ours = layer_norm(x, normalized, weight, bias, eps=eps)
    same_with_gradients(ours, F.layer_norm(x, normalized, weight, bias, eps), leaves)
    plain = layer_norm(x, normalized, eps=eps)
    torch.testing.assert_close(plain, F.layer_norm(x, normalized, eps=eps), **exact)


@few
@given(blocks, st.sampled_from([1e-5, 1e-2, 1.0]), st.sampled_from([0.1, 1.0, 100.0]), seeds)
def test_batch_norm_is_torchs_in_training(shape, eps, scale, seed):
    features = (shape[1],)
    x, weight, bias = drawn(shape, features, features, seed=seed, scale=scale, shift=3.0)
    ours = batch_norm(x, weight, bias, eps=eps)
    theirs = F.batch_norm(x, None, None, weight, bias, training=True, eps=eps)
    same_with_gradients(ours, theirs, [x, weight, bias])


@few
@given(st.lists(lengths, min_size=2, max_size=3), st.sampled_from([1e-5, 1e-2]), seeds)
def test_batch_norm_is_torchs_in_evaluation(shape, eps, seed):
    features = (shape[1],)
    x, weight, bias, mean = drawn(shape, *[features] * 3, seed=seed)
    variance = drawn(features, seed=seed + 1)[0].detach().exp()
    running = Statistics(mean.detach(), variance)
    ours = batch_norm(x, weight, bias, statistics=running, eps=eps)
    theirs = F.batch_norm(x, *running, weight, bias, training=False, eps=eps)
    same_with_gradients(ours, theirs, [x, weight, bias])


@few
@given(blocks, st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(1, 4), seeds)
def test_the_module_keeps_the_statistics_that_torchs_keeps(shape, momentum, steps, seed):
    ours = BatchNorm(shape[1], momentum=momentum).double()
    theirs = nn.BatchNorm1d(shape[1], momentum=momentum).double()
    theirs.load_state_dict(ours.state_dict())  # the same names, the same shapes
    for step in range(steps):
        (x,) = drawn(shape, seed=seed + step, scale=2.0, shift=1.0)
        torch.testing.assert_close(ours(x), theirs(x), **exact)
    for name, kept in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name], kept, **exact)
    (x,) = drawn(shape, seed=seed)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x), **exact)


@few
@given(blocks, seeds)
def test_evaluation_moves_no_statistics_and_takes_a_batch_of_one(shape, seed):
    layer = BatchNorm(shape[1]).double().eval()
    before = {name: kept.clone() for name, kept in layer.state_dict().items()}
    layer(drawn((1, shape[1]), seed=seed)[0])
    assert all(torch.equal(kept, before[name]) for name, kept in layer.state_dict().items())


@few
@given(st.lists(lengths, min_size=2, max_size=4), st.integers(1, 4), *[st.booleans()] * 2, seeds)
def test_the_layer_module_is_torchs(shape, last, affine, fused, seed):
    normalized = shape[-min(last, len(shape)) :]
    ours = LayerNorm(normalized, elementwise_affine=affine, fused=fused).double()
    theirs = nn.LayerNorm(normalized, elementwise_affine=affine).double()
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    (x,) = drawn(shape, seed=seed)
    torch.testing.assert_close(ours.train()(x), theirs(x), **exact)
    torch.testing.assert_close(ours.eval()(x), theirs(x), **exact)


@few
@given(lengths, lengths, st.integers(2, 6), seeds)
def test_the_running_variance_is_the_unbiased_one(batch, length, features, seed):
    (x,) = drawn((batch + 1, features, length), seed=seed)
    none = Statistics(torch.zeros(features).double(), torch.zeros(features).double())
    moved = update_statistics(none, x, momentum=1.0)
    rows = x.transpose(0, 1).flatten(1)
    torch.testing.assert_close(moved.variance, rows.var(1, unbiased=True), **exact)
    torch.testing.assert_close(batch_statistics(x).variance, rows.var(1, unbiased=False), **exact)
    assert not moved.mean.requires_grad


@few
@given(lengths, lengths, st.integers(2, 6), seeds, st.floats(0.5, 50), st.floats(-9, 9))
def test_layer_norm_forgets_shift_and_scale_of_a_token(batch, length, width, seed, scale, shift):
    (x,) = drawn((batch, length, width), seed=seed)
    plain, moved = (layer_norm(y, width, eps=0) for y in (x, scale * x + shift))
    torch.testing.assert_close(plain, moved, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(plain.mean(-1), torch.zeros(batch, length).double(), **exact)
    torch.testing.assert_close(plain.square().mean(-1), torch.ones(batch, length).double())


# --- who shares a mean ------------------------------------------------------------------------

NORMS = {
    "LayerNorm(D)": lambda x: layer_norm(x, x.shape[2]),
    "LayerNorm([L, D])": lambda x: layer_norm(x, x.shape[1:]),
    "BatchNorm1d(D)": lambda x: batch_norm(x.transpose(1, 2)).transpose(1, 2),
    "BatchNorm1d(L)": lambda x: batch_norm(x),
}


@pytest.mark.parametrize("norm", POOLED)
@few
@given(st.tuples(*[st.integers(2, 4)] * 3), st.data(), seeds)
def test_a_cell_feels_exactly_those_cells_that_share_its_mean(norm, shape, data, seed):
    """The gradient of one output reaches the inputs of its own group, and no others."""
    cell = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    (x,) = drawn(shape, seed=seed)
    NORMS[norm](x)[cell].backward()
    shared = sharing(shape, cell, norm)
    assert shared[cell] and not x.grad[~shared].any()
    if shared.sum() > 2:  # of two numbers one becomes 1 and one -1, whatever they are
        assert (x.grad[shared] != 0).all()


@pytest.mark.parametrize(
    ("norm", "first", "others"),
    [
        ("LayerNorm(D)", False, False),
        ("LayerNorm([L, D])", True, False),
        ("BatchNorm1d(D)", True, True),
        ("BatchNorm1d(L)", False, True),
    ],
)
def test_who_sees_the_future_and_who_sees_the_neighbours(norm, first, others):
    (x,) = drawn((3, 4, 5))
    (NORMS[norm](x)[0, 0] * torch.arange(5)).sum().backward()
    assert bool(x.grad[0, 1:].any()) == first
    assert bool(x.grad[1:].any()) == others


# --- what they refuse -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "normalized", "message"),
    [
        ((2, 3), 2, r"x: expected \(..., 2\) \(normalized_shape \(2,\)\), got \(2, 3\)"),
        ((3,), (2, 3), r"x: expected \(..., 2, 3\)"),
        ((2, 3), (), "normalized_shape: expected one length or several"),
        ((2, 3), (3, 0), "normalized_shape: expected"),
    ],
)
def test_layer_norm_names_a_shape_that_does_not_fit(shape, normalized, message):
    calls = [lambda x: layer_norm(x, normalized)]
    calls += [lambda x, fused=fused: LayerNorm(normalized, fused=fused)(x) for fused in (0, 1)]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call(torch.zeros(shape))


@pytest.mark.parametrize("shape", [(1, 4), (1, 4, 1)])
def test_a_batch_of_one_has_no_variance_in_training(shape):
    """Torch refuses it, too."""
    x = torch.zeros(shape)
    with pytest.raises(ValueError, match=r"x: expected more than one number .* got \(1, 4"):
        BatchNorm(4)(x)
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        nn.BatchNorm1d(4)(x)
    assert BatchNorm(4).eval()(x).shape == shape
    assert BatchNorm(4)(torch.zeros(1, 4, 2)).shape == (1, 4, 2)


@pytest.mark.parametrize("shape", [(5, 80, 768), (768,), (5, 768, 4, 4)])
def test_batch_norm_wants_its_features_second(shape):
    with pytest.raises(ValueError, match=r"x: expected \(N, "):
        BatchNorm(768)(torch.zeros(shape))


@pytest.mark.parametrize("call", [lambda x: layer_norm(x, 3), batch_norm])
def test_whole_numbers_are_no_input(call):
    with pytest.raises(ValueError, match="x: expected floating-point numbers, got torch.int64"):
        call(torch.ones(2, 3, dtype=torch.int64))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x, bad: layer_norm(x, 3, bad), "weight"),
        (lambda x, bad: layer_norm(x, 3, None, bad), "bias"),
        (lambda x, bad: batch_norm(x, bad), "weight"),
        (lambda x, bad: batch_norm(x, None, bad), "bias"),
        (lambda x, bad: batch_norm(x, statistics=Statistics(bad, bad)), "mean"),
        (lambda x, bad: update_statistics(Statistics(bad, bad), x), "mean"),
    ],
)
def test_parameters_of_another_length_are_named(call, name):
    with pytest.raises(ValueError, match=rf"{name}: expected \(3,\), got \(2,\)"):
        call(torch.zeros(4, 3), torch.ones(2))


def test_other_bad_input_is_named():
    zero = Statistics(torch.zeros(3), torch.ones(3))
    with pytest.raises(ValueError, match="momentum: expected a share from 0 to 1, got 2"):
        update_statistics(zero, torch.zeros(4, 3), momentum=2)
    with pytest.raises(ValueError, match=r"norm: expected one of LayerNorm\(D\)"):
        sharing((2, 3, 4), (0, 0, 0), "GroupNorm")
    with pytest.raises(ValueError, match=r"cell: expected a place inside \(2, 3, 4\)"):
        sharing((2, 3, 4), (0, 3, 0), "LayerNorm(D)")
    with pytest.raises(ValueError, match=r"expected \(B, L, D\) and \(b, l, d\)"):
        sharing((2, 3), (0, 1), "LayerNorm(D)")


def test_nothing_is_written_into():
    x, running = torch.randn(4, 3), Statistics(torch.zeros(3), torch.ones(3))
    before = [t.clone() for t in (x, *running)]
    layer_norm(x, 3), batch_norm(x), update_statistics(running, x)
    assert all(torch.equal(a, b) for a, b in zip(before, (x, *running), strict=True))

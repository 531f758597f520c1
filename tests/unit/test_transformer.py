"""The Transformer is torch's Transformer, sees no future, and says what it can't read."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from wheretolook.masks import causal_mask, padding_mask
from wheretolook.recurrent import END, PAD, START, naming_loss
from wheretolook.transformer import (
    PLACES,
    AddNorm,
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    TokenEmbedding,
    Transformer,
)

CLOSE = {"rtol": 0, "atol": 1e-10}


def copied(ours, theirs):
    """Give torch's layer the weights of ours."""
    attentions = [(ours.attention, theirs.self_attn)]
    if isinstance(ours, DecoderLayer):
        attentions.append((ours.cross_attention, theirs.multihead_attn))
    with torch.no_grad():
        for mine, its in attentions:
            layers = (mine.query_layer, mine.key_layer, mine.value_layer)
            its.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
            its.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
            its.out_proj.load_state_dict(mine.output_layer.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.first_layer.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.second_layer.state_dict())
    for number, frame in enumerate(ours.frames, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(frame.norm.state_dict())
    return theirs


def stirred(module):
    """Move norms away from 1 and 0, so that forgetting one shows."""
    for p in module.parameters():
        nn.init.normal_(p, std=0.5)
    return module.double()


sizes = st.tuples(*[st.integers(1, 4)] * 2, st.integers(1, 6), st.integers(1, 6))


@settings(max_examples=25, deadline=None)
@given(sizes, st.sampled_from(PLACES), st.integers(0, 2**16))
def test_an_encoder_layer_is_torchs(size, norm, seed):
    torch.manual_seed(seed)
    batch, heads, length, _ = size
    width = 4 * heads
    ours = stirred(EncoderLayer(width, heads, hidden=7, norm=norm))
    options = {"dropout": 0.0, "batch_first": True, "norm_first": norm == "pre"}
    theirs = copied(ours, nn.TransformerEncoderLayer(width, heads, 7, **options).double())
    x = torch.randn(batch, length, width, dtype=torch.float64)
    real = torch.arange(length) < torch.randint(1, length + 1, (batch, 1))
    got, weights = ours(x, real.unsqueeze(1))
    torch.testing.assert_close(got, theirs(x, src_key_padding_mask=~real), **CLOSE)
    assert weights.shape == (batch, heads, length, length)


@settings(max_examples=25, deadline=None)
@given(sizes, st.sampled_from(PLACES), st.integers(0, 2**16))
def test_a_decoder_layer_is_torchs(size, norm, seed):
    torch.manual_seed(seed)
    batch, heads, length, source = size
    width = 4 * heads
    ours = stirred(DecoderLayer(width, heads, hidden=7, norm=norm))
    options = {"dropout": 0.0, "batch_first": True, "norm_first": norm == "pre"}
    theirs = copied(ours, nn.TransformerDecoderLayer(width, heads, 7, **options).double())
    x = torch.randn(batch, length, width, dtype=torch.float64)
    states = torch.randn(batch, source, width, dtype=torch.float64)
    real = torch.arange(source) < torch.randint(1, source + 1, (batch, 1))
    causal = causal_mask(length)
    got, own, cross = ours(x, states, causal, real.unsqueeze(1))
    right = theirs(x, states, tgt_mask=~causal, memory_key_padding_mask=~real)
    torch.testing.assert_close(got, right, **CLOSE)
    assert own.shape[2:] == (length, length) and cross.shape[2:] == (length, source)


def test_the_two_places_of_the_norm_are_two_functions():
    x, part = torch.randn(2, 3, 8), nn.Linear(8, 8)
    post, pre = AddNorm(8, "post"), AddNorm(8, "pre")
    by_hand = nn.functional.layer_norm(x + part(x), (8,))
    torch.testing.assert_close(post.after(x, part(post.before(x))), by_hand)
    by_hand = x + part(nn.functional.layer_norm(x, (8,)))
    torch.testing.assert_close(pre.after(x, part(pre.before(x))), by_hand)


def test_a_feed_forward_layer_sees_one_token_at_a_time():
    layer, x = FeedForward(8, 16), torch.randn(1, 5, 8)
    moved = x.clone()
    moved[0, 2] += 1
    differs = (layer(moved) != layer(x)).any(-1)[0]
    assert differs.tolist() == [False, False, True, False, False]


def test_embeddings_are_scaled_as_in_the_paper_and_start_as_large_as_the_positions():
    made = TokenEmbedding(2_000, 64, longest=10)
    plain = made(torch.tensor([[7]])) - made.positions[:1]
    torch.testing.assert_close(plain[0], 8 * made.words.weight[[7]])
    assert 0.95 < (made.words.weight * 8).std() < 1.05


def model(**options):
    torch.manual_seed(0)
    return Transformer(9, 8, 8, 2, **{"longest": 12, **options}).eval()


SOURCE = torch.tensor([[3, 4, 5, 6, 7], [8, 3, 0, 0, 0]])
TARGET = torch.tensor([[3, 4, 5, END], [6, END, 0, 0]])


@pytest.mark.parametrize("norm", PLACES)
def test_every_layer_and_head_hands_its_weights_out(norm):
    written = model(norm=norm, layers=3)(SOURCE, TARGET)
    assert written.logits.shape == (2, 4, 8)
    assert written.encoder.shape == (3, 2, 2, 5, 5)
    assert written.decoder.shape == (3, 2, 2, 4, 4)
    assert written.cross.shape == (3, 2, 2, 4, 5)
    for weights in written[2:]:
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    torch.testing.assert_close(written.weights, written.cross[2].mean(1))


@pytest.mark.parametrize("norm", PLACES)
def test_where_nobody_looks_the_words_are_the_same_and_no_weights_are_kept(norm):
    made = model(norm=norm).double()
    seen, unseen = made(SOURCE, TARGET), made(SOURCE, TARGET, need_weights=False)
    torch.testing.assert_close(unseen.logits, seen.logits, **CLOSE)
    assert unseen[2:] == (None, None, None) and unseen.weights is None
    loss, same = (naming_loss(written.logits, TARGET) for written in (seen, unseen))
    grads, others = (torch.autograd.grad(x, [*made.parameters()]) for x in (loss, same))
    for a, b in zip(grads, others, strict=True):
        torch.testing.assert_close(a, b, **CLOSE)


@pytest.mark.parametrize("norm", PLACES)
def test_no_word_sees_a_later_one(norm):
    made, changed = model(norm=norm), TARGET.clone()
    changed[0, 2] = 7  # stands before word 3 alone
    before, after = made(SOURCE, TARGET).logits[0], made(SOURCE, changed).logits[0]
    assert torch.equal(before[:3], after[:3]) and not torch.equal(before[3], after[3])
    assert not made(SOURCE, TARGET).decoder[..., ~causal_mask(4)].any()


def test_with_one_word_ahead_each_place_sees_the_word_that_it_writes():
    made, changed = model(ahead=1, layers=1), TARGET.clone()
    changed[0, 2] = 7
    before, after = made(SOURCE, TARGET).logits[0], made(SOURCE, changed).logits[0]
    assert torch.equal(before[:2], after[:2]) and not torch.equal(before[2], after[2])


@pytest.mark.parametrize("norm", PLACES)
def test_padding_changes_nothing(norm):
    made = model(norm=norm).double()
    both = made(SOURCE, TARGET).logits
    alone = made(SOURCE[1:, :2], TARGET[1:, :2]).logits
    torch.testing.assert_close(both[1:, :2], alone, **CLOSE)
    assert not made(SOURCE, TARGET).cross[:, 1, :, :, 2:].any()


def test_the_causal_mask_hides_the_targets_padding_as_well():
    made = model().double()
    loss = naming_loss(made(SOURCE, TARGET).logits, TARGET)
    made.target_mask = lambda inputs: causal_mask(inputs.shape[1])
    torch.testing.assert_close(naming_loss(made(SOURCE, TARGET).logits, TARGET), loss, **CLOSE)


def test_without_positions_the_order_of_the_source_does_not_matter():
    order = torch.tensor([3, 1, 4, 0, 2])
    for positions, same in ((False, True), (True, False)):
        made = model(positions=positions).double()
        logits = [made(source, TARGET[:1]).logits for source in (SOURCE[:1], SOURCE[:1, order])]
        assert torch.allclose(*logits, atol=1e-10) == same


@pytest.mark.parametrize("norm", PLACES)
def test_writing_is_reading_what_one_wrote(norm):
    """Under teacher forcing with its own words a model writes them again."""
    made = model(norm=norm)
    written = made.write(SOURCE, 9)
    ids = written.ids
    ended = (ids == END).cumsum(1) - (ids == END).int() > 0
    assert (ids[ended] == PAD).all()
    forced = made(SOURCE, ids)
    assert torch.equal(forced.ids[~ended], ids[~ended])
    torch.testing.assert_close(forced.cross[..., :2, :], written.cross[..., :2, :])


def test_writing_begins_with_the_start_token_and_keeps_to_its_limit():
    made = model()
    read = made.encode(SOURCE)
    first = made.decode(torch.full((2, 1), START), read).ids
    assert torch.equal(made.write(SOURCE, 1).ids, first)
    assert made.write(SOURCE, 12).ids.shape[1] <= 12


def test_dropout_is_off_unless_asked_for():
    made = model().train()
    assert torch.equal(made(SOURCE, TARGET).logits, made(SOURCE, TARGET).logits)
    made = model(dropout=0.5).train()
    assert not torch.equal(made(SOURCE, TARGET).logits, made(SOURCE, TARGET).logits)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Transformer(9, 8, 10, 4), "heads: expected a divisor of the width 10, got 4"),
        (lambda: Transformer(9, 8, 9, 3), "width: expected an even number"),
        (lambda: Transformer(9, 8, norm="both"), "norm: expected one of post, pre; got 'both'"),
        (lambda: Transformer(9, 8, layers=0), "layers: expected 1 or more"),
        (lambda: model()(torch.ones(1, 13).long(), TARGET[:1]), "source: expected at most 12"),
        (lambda: model()(SOURCE[:1], torch.ones(1, 13).long()), "target: expected at most 12"),
        (lambda: model()(SOURCE + 1, TARGET), "source: expected numbers from 0 to 8, got 9"),
        (lambda: model()(SOURCE, TARGET * 4), "target: expected numbers from 0 to 7, got 12"),
        (lambda: model()(SOURCE, TARGET[:1]), "target: expected 2 sentences, as the source has"),
        (lambda: model()(SOURCE.float(), TARGET), "source: expected integers of shape"),
        (lambda: model()(SOURCE[0], TARGET), "source: expected integers of shape"),
        (lambda: model().write(SOURCE, 0), "limit: expected 1 to 12 words, got 0"),
        (lambda: model().write(SOURCE, 13), "limit: expected 1 to 12 words, got 13"),
    ],
)
def test_what_can_not_be_read_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_reading_changes_no_input():
    source, target = SOURCE.clone(), TARGET.clone()
    model()(source, target)
    assert torch.equal(source, SOURCE) and torch.equal(target, TARGET)
    assert padding_mask(source).shape == (2, 1, 5)

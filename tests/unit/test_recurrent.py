"""Encoder, context, decoder: equal to torch, blind to padding, and one wire between them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from wheretolook.attention import attend
from wheretolook.recurrent import (
    END,
    FORMS,
    PAD,
    START,
    AdditiveContext,
    Decoder,
    Encoded,
    EncoderDecoder,
    FixedContext,
    SequenceEncoder,
    TextEncoder,
    naming_loss,
    shifted,
)

KINDS = [
    {"form": "last"},
    {"form": "mapped"},
    {"form": "pooled"},
    {"form": None},
    {"form": None, "two_way": True},
    {"form": None, "two_way": True, "values": "embeddings"},
    {"form": "last", "two_way": True},
]


def made(form="last", two_way=False, values="states"):
    torch.manual_seed(0)
    encoder = TextEncoder(11, 8, embedding=5, two_way=two_way, values=values)
    if form is None:
        context = AdditiveContext(6, 8, encoder.values_width, hidden=7)
    else:
        context = FixedContext(8, form)
    decoder = Decoder(13, context.width, 6, embedding=5)
    return EncoderDecoder(encoder, context, decoder).double().eval()


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**31))
def test_the_additive_context_is_attention_even_where_all_is_hidden(count, length, seed):
    torch.manual_seed(seed)
    context = AdditiveContext(6, 8, 3, hidden=7).double()
    states, values = torch.randn(count, length, 8).double(), torch.randn(count, length, 3).double()
    encoded = Encoded(states, values, states[:, -1], torch.rand(count, length) < 0.6)
    query = torch.randn(count, 6, dtype=torch.float64)
    look, mask = context(encoded)(query), encoded.attn_mask.unsqueeze(1)
    whole = attend(query.unsqueeze(1), states, values, attn_mask=mask, scorer=context.scorer)
    torch.testing.assert_close(look.weights, whole.weights.squeeze(1), atol=1e-10, rtol=0)
    torch.testing.assert_close(look.context, whole.output.squeeze(1), atol=1e-10, rtol=0)


def sentences(count=5, length=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(1, 11, (count, length), generator=generator)
    target = torch.randint(3, 13, (count, length), generator=generator)
    lengths = torch.randint(1, length + 1, (count, 1), generator=generator)
    place = torch.arange(length)
    source = source.masked_fill(place >= lengths, PAD)
    target = target.masked_fill(place == lengths - 1, END).masked_fill(place >= lengths, PAD)
    return source, target


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-10)


# the encoder


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(1, 9), st.booleans(), st.integers(0, 99))
def test_an_encoder_is_torch_s_packed_lstm(batch, length, two_way, seed):
    torch.manual_seed(seed)
    encoder = SequenceEncoder(3, 6, two_way=two_way).double()
    oracle = nn.LSTM(3, 6 // (1 + two_way), batch_first=True, bidirectional=two_way).double()
    with torch.no_grad():
        for name, weight in encoder.onward.named_parameters():
            oracle.get_parameter(name).copy_(weight)
        if two_way:
            for name, weight in encoder.backward.named_parameters():
                oracle.get_parameter(f"{name}_reverse").copy_(weight)
    lengths = torch.randint(1, length + 1, (batch,))
    x = torch.randn(batch, length, 3, dtype=torch.float64)
    encoded = encoder(x, torch.arange(length) < lengths[:, None])
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    states, (last, _) = oracle(packed)
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=length)
    close(encoded.states, states)
    close(encoded.last, torch.cat(tuple(last), -1))


def test_embeddings_as_values_know_nothing_of_their_neighbours():
    encoder = made(None, True, "embeddings").encoder
    a, b = encoder(torch.tensor([[1, 2, 3]])), encoder(torch.tensor([[4, 2, 5]]))
    assert torch.equal(a.values[0, 1], b.values[0, 1])
    assert not torch.equal(a.states[0, 1], b.states[0, 1])


# contexts


@pytest.mark.parametrize("form", FORMS)
def test_a_fixed_context_is_its_formula_and_the_same_for_every_query(form):
    model = made(form)
    source, _ = sentences()
    encoded = model.encoder(source)
    look = model.context(encoded)
    c = look(torch.zeros(5, 6)).context
    assert torch.equal(c, look(torch.randn(5, 6)).context)
    for row, ids in enumerate(source):
        states = encoded.states[row, : (ids != PAD).sum()]
        if form == "last":
            close(c[row], states[-1])
        else:
            layer = model.context.layer
            close(c[row], layer(states[-1] if form == "mapped" else states.mean(0)).tanh())


def test_additive_context_is_attend_with_the_additive_scorer():
    model = made(None, True)
    source, _ = sentences()
    encoded, query = model.encoder(source), torch.randn(5, 6, dtype=torch.float64)
    seen = model.context(encoded)(query)
    oracle = attend(
        query.unsqueeze(1),
        encoded.states,
        encoded.values,
        attn_mask=encoded.attn_mask.unsqueeze(1),
        scorer=model.context.scorer,
    )
    close(seen.weights, oracle.weights[:, 0])
    close(seen.context, oracle.output[:, 0])


# the whole


@pytest.mark.parametrize("kind", KINDS)
def test_padding_a_batch_further_changes_no_output_and_no_loss(kind):
    model, (source, target) = made(**kind), sentences()
    plain = model(source, target)
    wide_source, wide_target = (nn.functional.pad(x, (0, 4)) for x in (source, target))
    wide = model(wide_source, wide_target)
    close(wide.logits[:, : target.shape[1]], plain.logits)
    close(naming_loss(wide.logits, wide_target), naming_loss(plain.logits, target))
    assert torch.equal(model.write(wide_source, 6).ids, model.write(source, 6).ids)
    if plain.weights is not None:
        close(wide.weights[:, : target.shape[1], : source.shape[1]], plain.weights)
        assert not wide.weights[..., source.shape[1] :].any()


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_of_a_batch_do_not_see_each_other(kind):
    model, (source, target) = made(**kind), sentences()
    together = model(source, target).logits
    alone = [model(source[i : i + 1], target[i : i + 1]).logits for i in range(5)]
    close(torch.cat(alone), together)


def test_permuting_what_is_attended_to_permutes_the_weights_and_changes_no_context():
    model = made(None)
    encoded = model.encoder(sentences(length=7)[0])
    order = torch.tensor([4, 2, 6, 0, 1, 5, 3])
    moved = encoded._replace(
        states=encoded.states[:, order],
        values=encoded.values[:, order],
        attn_mask=encoded.attn_mask[:, order],
    )
    query = torch.randn(5, 6, dtype=torch.float64)
    plain, permuted = model.context(encoded)(query), model.context(moved)(query)
    close(permuted.weights, plain.weights[:, order])
    close(permuted.context, plain.context)


@pytest.mark.parametrize("kind", KINDS)
def test_c_is_the_only_way_from_the_source_to_the_target(kind):
    model, (source, target) = made(**kind), sentences()
    with torch.no_grad():
        model.decoder.core.weight_ih[:, 5:] = 0  # what c brings to the state …
        model.decoder.output_layer.weight[:, 6:] = 0  # … and to the word
    other = model(sentences(seed=1)[0], target).logits
    close(model(source, target).logits, other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_does_not_depend_on_the_words_after_it(kind):
    model, (source, target) = made(**kind), sentences()
    changed = target.clone()
    changed[:, 4:] = 3
    close(model(source, changed).logits[:, :5], model(source, target).logits[:, :5])


@pytest.mark.parametrize("kind", KINDS)
def test_writing_freely_is_teacher_forcing_on_its_own_words(kind):
    model, (source, _) = made(**kind), sentences()
    written = model.write(source, 9)
    forced = model(source, written.ids)
    real = written.ids != PAD
    close(forced.logits[real], written.logits[real])
    assert torch.equal(forced.logits.argmax(-1)[real], written.ids[real])


def test_after_its_end_a_sentence_goes_on_with_padding():
    model = made()
    with torch.no_grad():
        model.decoder.output_layer.bias[END] = 100.0
    written = model.write(sentences()[0], 9)
    assert written.ids.tolist() == [[END]] * 5


def test_writing_starts_from_the_start_token_and_stops_at_the_limit():
    model = made()
    with torch.no_grad():
        model.decoder.output_layer.bias[END] = -100.0
    assert model.write(sentences()[0], 4).ids.shape == (5, 4)
    assert shifted(torch.tensor([[7, 8, END, PAD]])).tolist() == [[START, 7, 8, END]]


def test_the_loss_is_the_mean_over_real_words():
    logits = torch.randn(2, 3, 5, dtype=torch.float64)
    target = torch.tensor([[3, 4, END], [END, PAD, PAD]])
    logs = logits.log_softmax(-1)
    real = [logs[0, 0, 3], logs[0, 1, 4], logs[0, 2, END], logs[1, 0, END]]
    close(naming_loss(logits, target), -torch.stack(real).mean())


# errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TextEncoder(9, 7, two_way=True), "width: expected an even number .* got 7"),
        (lambda: TextEncoder(9, 8, values="keys"), "values: expected 'states' or 'embeddings'"),
        (lambda: FixedContext(8, "mean"), "form: expected one of last, mapped, pooled; got 'mean'"),
        (lambda: made().encoder(torch.zeros(2, 3)), r"ids: expected integers .*float32 \(2, 3\)"),
        (lambda: made().encoder(torch.ones(3, dtype=torch.long)), r"ids: .* got .* \(3,\)"),
        (
            lambda: made().encoder(torch.tensor([[11]])),
            "ids: expected numbers from 0 to 10, got 11",
        ),
        (lambda: made().encoder(torch.tensor([[-1]])), "ids: expected numbers .* got -1"),
        (lambda: made().encoder(torch.zeros(1, 0, dtype=torch.long)), "ids: .* length 1 or more"),
        (lambda: made().encoder(torch.tensor([[3], [0]])), "something real .* row 1 is empty"),
        (lambda: made().encoder(torch.tensor([[3, 0, 4]])), "padding at the end alone, .* row 0"),
        (
            lambda: made()(torch.tensor([[3]]), torch.tensor([[4], [5]])),
            r"target: expected 1 sentences, as the source has, got \(2, 1\)",
        ),
        (lambda: made()(torch.tensor([[3]]), torch.tensor([[13]])), "target: .* 0 to 12, got 13"),
        (lambda: made().write(torch.tensor([[3]]), 0), "limit: expected 1 word or more, got 0"),
        (
            lambda: SequenceEncoder(3, 4)(torch.zeros(1, 2, 3), torch.ones(1, 3, dtype=torch.bool)),
            r"attn_mask: expected bool \(1, 2\)",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""The sentence model: batches and padding change nothing, masks do what they say."""

import pytest
import torch

from wheretolook.data.link_grammars import TASKS
from wheretolook.data.links import Examples, split
from wheretolook.sentences import SentenceModel

SHAPES = [
    {},
    {"heads": 2, "layers": 2},
    {"layers": 2, "values": "words"},
]


def model_of(**shape):
    torch.manual_seed(0)
    return SentenceModel(words=30, length=12, width=8, **shape).double().eval()


def batch(count=6, length=9):
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(1, 30, (count, length), generator=generator)
    lengths = torch.randint(3, length + 1, (count, 1), generator=generator)
    ids[torch.arange(length) >= lengths] = 0
    return ids, torch.randint(0, 3, (count,), generator=generator)


@pytest.mark.parametrize("shape", SHAPES)
def test_more_padding_changes_no_logit(shape):
    model, (ids, query) = model_of(**shape), batch()
    wider = torch.nn.functional.pad(ids, (0, 3))
    torch.testing.assert_close(
        model(wider, query).logits, model(ids, query).logits, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_sentences_of_a_batch_do_not_see_each_other(shape):
    model, (ids, query) = model_of(**shape), batch()
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    together = model(ids, query).logits
    torch.testing.assert_close(
        model(ids[order], query[order]).logits, together[order], rtol=0, atol=1e-12
    )
    alone = torch.cat([model(ids[i : i + 1], query[i : i + 1]).logits for i in range(6)])
    torch.testing.assert_close(alone, together, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_pads_have_no_weight_and_rows_sum_to_one(shape):
    model, (ids, query) = model_of(**shape), batch()
    for attention in model(ids, query).attentions:
        assert (attention.weights * (ids == 0)[:, None, None]).abs().max() == 0
        torch.testing.assert_close(
            attention.weights.sum(-1), torch.ones_like(attention.weights[..., 0])
        )


def test_hiding_one_word_gives_it_no_weight_and_hiding_all_removes_the_head():
    model, (ids, query) = model_of(), batch()
    rows = torch.arange(len(ids))
    mask = torch.ones(6, 1, 9, 9, dtype=torch.bool)
    mask[rows, 0, query, 1] = False
    reading = model(ids, query, {0: mask})
    assert (reading.attentions[0].weights[rows, 0, query, 1] == 0).all()
    mask[rows, 0, query] = False
    reading = model(ids, query, {0: mask})
    assert (reading.attentions[0].output[rows, 0, query] == 0).all()
    assert reading.logits.isfinite().all()


def test_words_are_what_the_last_layer_sums_if_asked():
    model, (ids, query) = model_of(values="words"), batch()
    before = model(ids, query).attentions[0].value
    with torch.no_grad():
        model.positions.weight.add_(1.0 * torch.arange(8))
    torch.testing.assert_close(model(ids, query).attentions[0].value, before, rtol=0, atol=0)


def test_a_model_of_the_book_takes_the_book_s_sentences():
    task = TASKS["agreement-en"]
    sentences = split("agreement-en", training=20, held_out=5)["training"]
    test = Examples.of(sentences, task.vocabulary)
    model = SentenceModel(len(task.vocabulary), task.vocabulary.max_length)
    assert model(test.ids, test.query).logits.shape == (20, len(task.vocabulary))


def test_errors_name_the_argument():
    ids, query = batch()
    with pytest.raises(ValueError, match="values: expected 'stream' or 'words', got 'x'"):
        SentenceModel(9, 9, values="x")
    with pytest.raises(ValueError, match="layers: expected 1 or more"):
        SentenceModel(9, 9, layers=0)
    with pytest.raises(ValueError, match="L at most 12"):
        model_of()(torch.ones(1, 13, dtype=torch.long), torch.tensor([0]))
    with pytest.raises(ValueError, match=r"query: expected \(6,\)"):
        model_of()(ids, query[:2])
    with pytest.raises(ValueError, match="attn_masks: expected layers 0 to 0"):
        model_of()(ids, query, {1: torch.ones(6, 1, 9, 9, dtype=torch.bool)})


@pytest.mark.parametrize("shape", SHAPES)
def test_where_nobody_looks_the_logits_are_the_same_and_no_attention_is_kept(shape):
    model, (ids, query) = model_of(**shape), batch()
    masks = {0: torch.rand(6, 1, 9, 9, generator=torch.Generator().manual_seed(1)) < 0.7}
    seen, unseen = (model(ids, query, masks, need_weights=needed) for needed in (True, False))
    torch.testing.assert_close(unseen.logits, seen.logits, rtol=0, atol=1e-10)
    assert unseen.attentions is None and len(seen.attentions) == len(model.layers)

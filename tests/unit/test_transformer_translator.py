"""The Transformer as a translator: reproducible, measured rightly, and its heads can be removed."""

import pytest
import torch

from wheretolook.data.grammar import pairs
from wheretolook.data.translation import batch, gold_cells
from wheretolook.evidence import table
from wheretolook.masks import causal_mask, padding_mask
from wheretolook.recurrent import shifted
from wheretolook.transformer_translator import (
    KINDS,
    best_head,
    forced_exact,
    head_agreement,
    make_transformer,
    reach,
    right_without_cells,
    train_transformer,
    without_head,
)
from wheretolook.translator import agreement, exact, translate, words_right

SMALL = {"width": 16, "heads": 2, "layers": 1}


def test_the_same_seed_gives_the_same_history_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    runs = [train_transformer(1, steps=3, **SMALL)[1].losses for _ in range(2)]
    other = train_transformer(2, steps=3, **SMALL)[1].losses
    assert runs[0] == runs[1] != other


def test_making_a_model_leaves_the_readers_random_numbers_alone():
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    make_transformer()
    assert torch.equal(torch.rand(1), expected)


def test_it_is_about_as_large_as_the_translators_of_chapters_2_and_3():
    size = sum(p.numel() for p in make_transformer().parameters())
    assert abs(size / 70_600 - 1) < 0.03


@pytest.fixture(scope="module")
def barely_trained():
    """Half the words right, so that right and wrong sentences are there to be counted."""
    return train_transformer(0, steps=150, width=32, heads=2, layers=1)[0]


def test_to_be_right_under_teacher_forcing_is_to_write_it_right(barely_trained):
    some = pairs("test", 1, 60) + pairs("test", 2, 60)
    forced = forced_exact(barely_trained, some)
    assert forced == pytest.approx(exact(barely_trained, some)) and 0 < forced < 1


def test_a_model_that_sees_ahead_is_right_under_teacher_forcing_and_can_not_write():
    leaky, _ = train_transformer(0, steps=150, ahead=1, width=32, heads=2, layers=1)
    some = pairs("test", 2, 60)
    forced, free = words_right(leaky, some)
    assert forced > 0.9 > 0.6 > free
    assert exact(leaky, some) == 0


def test_chapter_2_can_translate_with_it(barely_trained):
    translation = translate(barely_trained, "我爱中国")
    assert translation.words[0] == "I"
    assert translation.weights.shape == (len(translation.words), 4)


def test_a_removed_head_gives_nothing_and_the_others_stay():
    model, (source, target) = make_transformer(), batch(pairs("test", 1, 5))
    for kind in KINDS:
        made = without_head(model, kind, 1, 2)
        before, after = (m(source, target).logits for m in (model, made))
        assert not torch.equal(before, after)
    one_by_one = without_head(without_head(model, "cross", 0, 0, 1), "cross", 0, 2, 3)
    everything = without_head(model, "cross", 0)
    same = [made(source, target).logits for made in (one_by_one, everything)]
    torch.testing.assert_close(*same)
    layer = everything.decoder[0].cross_attention
    output, _ = layer(*[torch.randn(1, 3, 40)] * 3)
    torch.testing.assert_close(output, layer.output_layer.bias.expand_as(output))


def test_removing_a_head_is_hiding_everything_from_it():
    model, x = make_transformer(), torch.randn(2, 5, 40)
    may = torch.ones(2, 4, 5, 5, dtype=torch.bool)
    may[:, 3] = False
    hidden, _ = model.encoder[0].attention(x, x, x, may)
    removed, _ = without_head(model, "encoder", 0, 3).encoder[0].attention(x, x, x)
    torch.testing.assert_close(removed, hidden)


def test_reach_counts_real_rows_only_and_sums_to_1():
    some = pairs("test", 1, 20)
    source, target = batch(some)
    written = make_transformer()(source, target)
    for weights, ids in ((written.encoder, source), (written.decoder, shifted(target))):
        shares = reach(weights, ids)
        assert shares.itself.shape == (2, 4)
        torch.testing.assert_close(sum(shares), torch.ones(2, 4))
    alone = reach(written.encoder[:, :1, :, :7, :7], source[:1, :7])
    wide = torch.nn.functional.pad(written.encoder[:1, 0, :1, :7, :7], (0, 2, 0, 2))
    wide[..., 7:, :] = 1 / 9  # what padding looks at
    padded = torch.cat([source[0, :7], torch.zeros(2).long()])[None]
    torch.testing.assert_close(reach(wide, padded).near[0], alone.near[0, 0])


def test_the_best_head_is_the_one_whose_peak_is_gold_most_often():
    model, some = make_transformer(), pairs("training", 1, 40)
    layer, head = best_head(model, some)
    found = head_agreement(model, some)
    assert found.shape == (2, 4, 2) and found[layer, head, 0] == found[..., 0].max()
    cross = model(*batch(some)).cross[layer, :, head]
    assert found[layer, head].tolist() == pytest.approx(list(agreement(cross, gold_cells(some))))


def test_hiding_a_words_characters_hides_them_from_every_head():
    model, some = make_transformer(), pairs("test", 1, 10)
    gold = gold_cells(some)
    assert 0 <= right_without_cells(model, some, gold) <= 1
    source, target = batch(some)
    read = model.encode(source)
    read = read._replace(attn_mask=padding_mask(source) & ~gold)
    cross = model.decode(shifted(target), read).cross
    assert not cross[:, gold.unsqueeze(1).expand(-1, 4, -1, -1)].any()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: without_head(m, "self", 0, 0), "kind: expected one of encoder, decoder, cross"),
        (lambda m: without_head(m, "cross", 2, 0), "layer: expected 0 to 1, got 2"),
        (lambda m: without_head(m, "cross", 0, 4), "heads: expected 0 to 3, got 4"),
        (lambda m: reach(torch.ones(2, 4, 5, 5), torch.ones(2, 6)), "weights: expected"),
        (lambda m: right_without_cells(m, pairs("test", 1, 2), torch.ones(1).bool()), "hidden:"),
    ],
)
def test_what_can_not_be_asked_is_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(make_transformer())


def test_a_decoder_row_sees_the_words_before_it():
    source, target = batch(pairs("test", 1, 3))
    weights = make_transformer()(source, target).decoder
    assert not weights[..., ~causal_mask(target.shape[1])].any()


SAME = "1,000 updates, as in chapters 2 and 3"
TRAINED = ["1 clause", "2 clauses", "3 clauses", "4 clauses"]


@pytest.mark.parametrize("norm", ["post-norm", "pre-norm"])
def test_the_trained_lengths_are_translated_and_six_clauses_are_not(norm):
    kept = table("transformer")
    assert sum(kept[SAME, norm, length].mean for length in TRAINED) / 4 > 0.98
    assert kept[SAME, norm, "6 clauses"].max < 0.1
    longer = kept["2,000 updates", "pre-norm", "4 clauses"]
    assert longer.mean > 0.98


@pytest.mark.parametrize("norm", ["post-norm", "pre-norm"])
def test_a_head_is_near_gold_and_words_need_their_own_characters(norm):
    kept = table("transformer")
    assert kept[SAME, norm, "peak"].min > 0.7 > 0.35 > kept[SAME, f"{norm}, untrained", "peak"].max
    assert kept[SAME, norm, "right, own characters hidden"].max < 0.5
    assert kept[SAME, norm, "right, as many others hidden"].min > 0.97


def test_who_sees_ahead_can_not_write_and_a_bag_of_words_is_no_sentence():
    kept = table("transformer")
    leaky = kept.rows["200 updates", "one word ahead is seen"]
    assert leaky["2 clauses"].min > 0.8 and leaky["2 clauses, written freely"].max < 0.05
    assert kept["500 updates", "no positions", "2 clauses"].max < 0.1
    assert kept["200 updates", "translations shuffled", "2 clauses"].max == 0


def test_same_updates_and_as_many_parameters_as_chapter_3():
    kept, before = table("transformer"), table("translation")
    size = before["a c for each word", "attention, encoder reads both ways", "parameters"].mean
    for norm in ("post-norm", "pre-norm"):
        assert kept[SAME, norm, "updates"].mean == 1_000
        assert abs(kept[SAME, norm, "parameters"].mean / size - 1) < 0.03

"""The stage strip: every stage in its order, and linked."""

import re

import pytest
import torch

from wheretolook.attention import Additive, Dot, attend
from wheretolook.explore import explore, one_of, stages
from wheretolook.explore.strip import product_notes
from wheretolook.masks import causal_mask

TOKENS = list("我爱中国")


def vectors(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def kinds(views) -> list[str]:
    return [re.split(r"\W", view.title)[0] for view in views]


@pytest.fixture
def attention():
    return attend(vectors(4, 3), vectors(4, 3, seed=1), vectors(4, 2, seed=2))


def test_a_product_note_ends_with_the_entry_it_explains():
    left, right = vectors(2, 3), vectors(3, 4, seed=1)
    for row, notes in zip(left @ right, product_notes(left, right), strict=True):
        for entry, note in zip(row, notes, strict=True):
            assert number(note.rsplit("= ", 1)[1]) == pytest.approx(entry.item(), abs=0.006)


def test_the_terms_of_a_note_add_up_to_its_sum():
    note = product_notes(vectors(1, 3), vectors(3, 1, seed=1))[0][0]
    terms = [number(a) * number(b) for a, b in re.findall(r"(−?\d+\.\d+)×(−?\d+\.\d+)", note)]
    assert len(terms) == 3
    assert sum(terms) == pytest.approx(number(note.rsplit("= ", 1)[1]), abs=0.03)


def test_the_strip_has_the_stages_that_the_attention_had(attention):
    without = ["query", "key", "value", "scores", "scaled", "weights", "output"]
    assert kinds(stages(attention, TOKENS, TOKENS)) == without
    asked = attention.query, attention.key, attention.value
    masked = attend(*asked, attn_mask=causal_mask(4))
    with_mask = [*without[:5], "masked", *without[5:]]
    assert kinds(stages(masked, TOKENS, TOKENS)) == with_mask
    unscaled = attend(*asked, scorer=Dot())
    assert kinds(stages(unscaled, TOKENS, TOKENS)) == [k for k in without if k != "scaled"]


def test_the_same_stages_stand_for_one_head_of_many(attention):
    """Whether there was a mask is still known when one head has been chosen."""
    asked = [x[None] for x in (attention.query, attention.key, attention.value)]
    all_may = torch.ones(4, 4, dtype=torch.bool)
    for mask, count in ((None, 7), (all_may, 8)):
        assert len(stages(one_of(attend(*asked, attn_mask=mask), 0), TOKENS, TOKENS)) == count


def test_every_stage_shows_its_own_numbers(attention):
    views = stages(attention, TOKENS, TOKENS)
    names = ("query", "key", "value", "raw", "scores", "weights", "output")
    for view, name in zip(views, names, strict=True):
        assert torch.equal(torch.from_numpy(view.array).float(), getattr(attention, name))


def test_a_chosen_query_is_lit_where_it_asks_and_nowhere_else(attention):
    views = stages(attention, TOKENS, TOKENS, chosen=2)
    assert [view.lit for view in views] == [2, None, None, 2, 2, 2, 2]
    for view in views:
        rows = re.findall("<tr[^>]*>", view.markup(1, view.values(1)))[1:]
        lit = ["wtl-lit" in row for row in rows]
        assert lit == [view.lit == i for i in range(4)]


def test_each_stage_says_what_its_rows_and_columns_are(attention):
    links = [view.link for view in stages(attention, TOKENS, TOKENS)]
    pair = ("query", "key")
    assert links == [("query", ""), ("key", ""), ("key", ""), pair, pair, pair, ("query", "")]


def test_tokens_stand_before_their_queries_if_the_maps_are_given(attention):
    x, maps = vectors(4, 5), [vectors(5, 3, seed=s) for s in range(3)]
    made = attend(x @ maps[0], x @ maps[1], x @ maps[2])
    views = stages(made, TOKENS, TOKENS, maps=(x, *maps))
    assert kinds(views)[:4] == ["X", "query", "key", "value"]
    for view, map in zip(views[1:4], maps, strict=True):
        assert view.notes == product_notes(x, map)
    assert all(view.notes is None for view in stages(attention, TOKENS, TOKENS))


def test_the_weights_carry_the_arithmetic(attention):
    views = explore(lambda: stages(attention, TOKENS, TOKENS)).views()
    assert [view.title for view in views if "arithmetic" in view.parts()] == ["weights: softmax"]


def test_an_additive_strip_has_its_own_terms():
    scorer = Additive(3, 3, hidden=5)
    attention = attend(vectors(2, 3), vectors(2, 3, seed=1), vectors(2, 2), scorer=scorer)
    assert stages(attention, TOKENS[:2], TOKENS[:2])[-2].working[1][0] == 5


def test_a_batch_is_refused_with_its_shape():
    batch = attend(*[torch.zeros(2, 4, 3)] * 3)
    with pytest.raises(ValueError, match=r"attention: .*\(2, 4, 4\); choose one"):
        stages(batch, TOKENS, TOKENS)

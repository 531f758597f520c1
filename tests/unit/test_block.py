"""Who shares a mean: the view's numbers are those of the norms themselves."""

import pytest
import torch

from wheretolook.explore import Block, explore
from wheretolook.norms import POOLED, batch_norm, layer_norm, sharing

BLOCK = torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
# what each norm is, written with the book's own functions
NORMALISED = {
    "LayerNorm(D)": layer_norm(BLOCK, 4),
    "LayerNorm([L, D])": layer_norm(BLOCK, (2, 4)),
    "BatchNorm1d(D)": batch_norm(BLOCK.mT).mT,
    "BatchNorm1d(L)": batch_norm(BLOCK),
}


@pytest.mark.parametrize("norm", POOLED)
def test_what_a_number_becomes_is_what_the_norm_makes_of_it(norm):
    found = {row[0]: row for row in Block(BLOCK, POOLED, norm).statistics()}[norm]
    expected = [round(v * 100) for v in NORMALISED[norm].flatten().tolist()]
    assert found[5] == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("norm", POOLED)
@pytest.mark.parametrize("cell", [(0, 0, 0), (2, 1, 3), (1, 0, 2)])
def test_the_outline_is_the_group_that_shares_mean_and_deviation(norm, cell):
    view = Block(BLOCK, POOLED, norm, cell=cell)
    outlined = [view._shares(tuple(place)) for place in torch.ones(3, 2, 4).nonzero().tolist()]
    shared = sharing(BLOCK.shape, cell, norm)
    assert outlined == shared.flatten().tolist()
    assert view.markup(9, view.values(9)).count('class="wtl-mark"') == shared.sum()
    group = BLOCK[shared]
    (row,) = [r for r, name in zip(view._rows(), POOLED, strict=True) if name == norm]
    assert row[0] == str(len(group))
    words = f"{float(group.mean()):.2f}", f"{float(group.std(unbiased=False)):.2f}"
    assert row[1:3] == [word.replace("-", "−") for word in words]


def test_the_norm_changes_and_the_block_does_not():
    explorer = explore(lambda norm: Block(BLOCK, POOLED, norm), norm=list(POOLED))
    assert explorer.frames == 4 and explorer.parts == ["block", "maps", "save"]
    assert explorer.png().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"values": BLOCK[0]}, "values: expected shape"),
        ({"norm": "GroupNorm"}, "norm: expected one of LayerNorm"),
        ({"cell": (3, 0, 0)}, r"cell: expected a place inside \(3, 2, 4\)"),
        ({"cell": (0, 0)}, "cell: expected a place"),
    ],
)
def test_what_does_not_fit_is_named(changed, named):
    given = {"values": BLOCK, "pooled": POOLED, "norm": "LayerNorm(D)"} | changed
    with pytest.raises(ValueError, match=named):
        Block(**given)

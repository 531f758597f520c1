"""A query to move among keys: what Python computes, writes and says."""

import json
import re

import matplotlib.pyplot as plt
import pytest
import torch

from wheretolook.attention import Cosine, ScaledDot, attend
from wheretolook.explore import Plane, explore
from wheretolook.explore.assets import part

KEYS = torch.tensor([[1.5, 0.3], [0.4, 1.2], [-1.2, 0.6]], dtype=torch.float64)
VALUES = torch.tensor([[0.5, 1.8], [2.0, 0.4], [-1.6, -1.0]], dtype=torch.float64)
NAMES = ["k₁", "k₂", "k₃"]


def plane(query=(0.6, -0.9), **options) -> Plane:
    return Plane(KEYS, NAMES, VALUES, query=query, **options)


def test_its_attention_is_that_of_the_scorers():
    query = torch.tensor([[0.6, -0.9]], dtype=torch.float64)
    for ours, scorer in (
        (plane(scale=0.7), ScaledDot(0.7)),
        (plane(scale=4.0, cosine=True), Cosine(0.25)),
    ):
        theirs = attend(query, KEYS, VALUES, scorer=scorer)
        assert torch.allclose(ours.attention().weights, theirs.weights)
        assert torch.allclose(ours.attention().output, theirs.output)


def test_the_first_frame_shows_query_scores_weights_and_output():
    view = plane(scale=0.5)
    markup, found = view.markup(2.0, view.values(2.0)), view.attention()
    cells = re.findall(r"<td>([^<]+)</td>", markup)
    pairs = zip(found.scores[0].tolist(), found.weights[0].tolist(), strict=True)
    assert cells == [f"{n:.2f}".replace("-", "−") for pair in pairs for n in pair]
    x, y = found.output[0].tolist()
    words = [*("0.60", "−0.90", "1.08", "−56"), *(f"{n:.2f}".replace("-", "−") for n in (x, y))]
    assert re.findall(r"<span>([^<]+)</span>", markup) == words
    ends = [[50 * x, -50 * y] for x, y in [*KEYS.tolist(), (0.6, -0.9), *VALUES.tolist(), (x, y)]]
    tips = re.findall(r'd="M0 0L(\S+) (\S+?)M', markup)
    assert len(tips) == len(ends)
    for tip, end in zip(tips, ends, strict=True):
        assert list(map(float, tip)) == pytest.approx(end, abs=0.06)


def test_the_weighted_values_end_to_end_lead_to_the_output():
    view = plane()
    path = re.search(r'wtl-chain" d="M0 0([^"]+)"', view.markup(2.0, view.values(2.0)))[1]
    ends = [list(map(float, step.split())) for step in path.split("L")[1:]]
    assert len(ends) == len(KEYS)
    x, y = view.attention().output[0].tolist()
    assert ends[-1] == pytest.approx([50 * x, -50 * y], abs=0.06)


def test_a_frame_is_only_a_scale_and_a_comparison():
    def draw(temperature, cosine):
        return plane(scale=1 / temperature, cosine=cosine)

    html = explore(draw, temperature=[0.5, 1.0, 2.0], cosine=False).html(assets=False)
    (view,) = json.loads(re.search(r"<script[^>]*json[^>]*>(.*?)</script>", html, re.S)[1])["views"]
    assert view["skeletons"] == []
    assert view["frames"] == [[0, "", [1 / t, c]] for t in (0.5, 1.0, 2.0) for c in (0, 1)]


def test_the_arrow_keys_are_its_own_in_jupyter():
    markup = plane().markup(2.0, None)
    (grip,) = re.findall(r"<circle[^>]*>", markup)
    assert 'tabindex="0"' in grip and 'data-lm-suppress-shortcuts="true"' in grip


def test_script_and_style_stay_small():
    assert sum(len(part("plane", ending).encode()) for ending in ("js", "css")) <= 4 * 1024


def test_names_are_text():
    hostile = "</g><script>x</script>&"
    view = Plane(KEYS, [hostile] * 3, VALUES, value_names=[hostile] * 3, title=hostile)
    for slots in (None, view.values(2.0)):
        assert "<script>" not in view.markup(2.0, slots)
    assert view.markup(2.0, view.values(2.0)).count("&lt;script&gt;") == 10


def test_it_is_printed_with_its_weights():
    figure, axes = plt.subplots()
    plane(title="plane").plot(axes, 2.0)
    texts = [t.get_text() for t in axes.texts]
    weights = plane().attention().weights[0].tolist()
    assert axes.get_title() == "plane"
    assert {"q", *(f"{n} {w:.2f}" for n, w in zip(NAMES, weights, strict=True))} <= set(texts)
    plt.close(figure)


def test_it_says_itself_in_words():
    assert Plane([[2, 0]], "k", [[0, -1]], query=(1, 0), title="one key").describe() == (
        "one key: q (1.00, 0.00): k 1.00; output (0.00, −1.00)"
    )


def test_extreme_scales_and_queries_give_numbers():
    for query in ((0, 0), (1e6, -1e6)):
        for scale in (0, 1e12):
            for cosine in (False, True):
                found = plane(query, scale=scale, cosine=cosine).attention()
                assert found.output.isfinite().all()
                assert found.weights.sum().item() == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"query": (1, 2, 3)}, r"query: expected \(x, y\), got 3 numbers"),
        ({"keys": [[1, 2, 3]]}, r"keys: expected \(keys, 2\), at least one, got \(1, 3\)"),
        ({"keys": torch.zeros(0, 2)}, r"keys: expected \(keys, 2\), at least one, got \(0, 2\)"),
        ({"values": [[1, 2]]}, r"values: expected \(3, 2\), got \(1, 2\)"),
        ({"names": "ab"}, "names: expected 3 names, got 2"),
        ({"value_names": "ab"}, "value_names: expected 3 names, got 2"),
        ({"scale": -1.0}, "scale: expected a number from 0 to 1e.12, got -1.0"),
        ({"scale": float("inf")}, "scale: .* got inf"),
        ({"scale": float("nan")}, "scale: .* got nan"),
        ({"reach": 0}, "reach: expected a number above 0, got 0"),
        ({"keys": [[float("nan"), 0]] * 3}, "keys: expected numbers, got nan"),
    ],
)
def test_errors_name_what_came_and_what_is_accepted(options, error):
    with pytest.raises(ValueError, match=error):
        Plane(**{"keys": KEYS, "names": NAMES, "values": VALUES} | options)

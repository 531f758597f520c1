"""What the models of known links do over many seeds, with every control."""

from ..links import LinkModel, examples, train_links, untrained_links
from ..measures import (
    average_attention,
    chance,
    change_part,
    force,
    hide,
    measure,
    nearest_noun,
    other_noun,
    random_noun,
    shuffle_words,
)

__all__ = ["architectures", "controls"]

Rows = dict[str, dict[str, float]]


def controls(seed: int, *, task: str) -> Rows:
    """Train one model and hold it against everything that could explain it otherwise."""
    made = train_links(task, seed)
    test = examples(task, "A", seed)
    other = other_noun(made, test)
    control = train_links(task, seed, shuffled=True)
    rows = {
        "held-out sentences (A)": measure(made, test),
        "new distances (B)": measure(made, examples(task, "B", seed)),
        "new pairs (C)": measure(made, examples(task, "C", seed)),
        "owner hidden": measure(made, test, hide(made, test, test.is_link)),
        "other nouns hidden": measure(made, test, hide(made, test, test.nouns & ~test.is_link)),
        "head removed": measure(made, test, hide(made, test)),
        "head forced to the owner": measure(made, test, force(made, test, test.link)),
        "head forced to another noun: that noun's answer": measure(
            made, other, force(made, other, other.link)
        ),
        "words shuffled": measure(made, shuffle_words(test, seed)),
        "answers shuffled in training": measure(control, test),
        "untrained": measure(untrained_links(task, seed), test),
        "untrained, best of 50": measure(untrained_links(task, seed, tries=50), test),
    }
    if not made.task.by_character:
        rows["only the owned word changed"] = measure(made, change_part(made, test, seed))
    shares = {row: measured._asdict() for row, measured in rows.items()}
    for row in ("head forced to the owner", "head forced to another noun: that noun's answer"):
        shares[row] = {"accuracy": shares[row]["accuracy"]}  # where it looks was not its choice
    return shares | _baselines(made, task, seed)


def architectures(
    seed: int, *, task: str, label: str, heads: int = 1, layers: int = 1, values: str = "stream"
) -> Rows:
    """Train one model of some shape; is the link on its map?"""
    shape = {"heads": heads, "layers": layers, "values": values}
    made = train_links(task, seed, **shape)
    test, far = examples(task, "A", seed), examples(task, "B", seed)
    found, found_far = measure(made, test), measure(made, far)
    blind = measure(made, test, hide(made, test, test.is_link, everywhere=True))
    untrained = measure(untrained_links(task, seed, **shape), test)
    rows = {
        label: {
            **found._asdict(),
            "accuracy (B)": found_far.accuracy,
            "peak (B)": found_far.peak,
            "accuracy, link hidden": blind.accuracy,
            "peak, untrained": untrained.peak,
        }
    }
    # the baselines belong to the sentences, not to the shape: once is enough
    return rows | _baselines(made, task, seed) if shape == _PLAIN else rows


_PLAIN = {"heads": 1, "layers": 1, "values": "stream"}


def _baselines(made: LinkModel, task: str, seed: int) -> Rows:
    test = examples(task, "A", seed)
    return {
        "average map": {"peak": average_attention(made, examples(task, "training", seed), test)},
        "nearest noun": {"peak": nearest_noun(test)},
        "a noun at random": {"peak": random_noun(test)},
        "a word at random": {"peak": chance(test)},
    }

"""Leave out of a style sheet the rules for what no page shows: nine tenths of the theme's."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import tinycss2
from tinycss2.ast import Node

# In pages, and in the markup that explorers keep as JSON.
MARKED = re.compile(r'\b(?:class|id)=\\?"([^"\\]*)')
WORD = re.compile(r"[\w-]+")
# What a script puts together, such as `bs-${name}-auto`.
STEM = re.compile(r"""([\w-]*\w-)(?:\$\{|["']\s*\+)""")
NESTING = ("media", "supports", "layer", "container")


class Names(NamedTuple):
    """The classes and ids that pages have, or that a script may give them."""

    whole: frozenset[str]
    stems: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Tell whether anything may be called so."""
        return name in self.whole or name.startswith(self.stems)


def names(pages: str, scripts: str) -> Names:
    """Collect names: a script's every word may be one, since it opens, hides and marks.

    Examples
    --------
    >>> found = names('<p class="lead">', "e.classList.toggle('show'); `bs-${kind}`")
    >>> [name for name in ("lead", "show", "bs-tooltip", "card") if found.has(name)]
    ['lead', 'show', 'bs-tooltip']
    """
    whole = {word for marked in MARKED.findall(pages) for word in marked.split()}
    return Names(frozenset(whole | set(WORD.findall(scripts))), tuple(set(STEM.findall(scripts))))


def purge(css: str, known: Names) -> str:
    """Keep the selectors whose every class and id is known, and the rules that have one.

    What stands in brackets, such as ``:not(.open)``, decides nothing.

    Examples
    --------
    >>> purge("a.lead, .card {top: 0} @media print {.card {top: 0}}", names('class="lead"', ""))
    'a.lead{top: 0}'
    """
    return _rules(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), known)


def _rules(rules: Iterable[Node], known: Names) -> str:
    return "".join(_rule(rule, known) for rule in rules)


def _rule(rule: Node, known: Names) -> str:
    if rule.type == "qualified-rule":
        kept = ",".join(
            tinycss2.serialize(selector).strip()
            for selector in _split(rule.prelude)
            if all(map(known.has, _named(selector)))
        )
        return f"{kept}{{{tinycss2.serialize(rule.content).strip()}}}" if kept else ""
    if rule.type == "at-rule" and rule.lower_at_keyword in NESTING and rule.content is not None:
        inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
        kept = _rules(inner, known)
        return f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{kept}}}" if kept else ""
    return rule.serialize()


def _split(prelude: Sequence[Node]) -> list[list[Node]]:
    """Part a list of selectors at its commas; those in brackets are within one token."""
    selectors: list[list[Node]] = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        elif token.type != "comment":
            selectors[-1].append(token)
    return selectors


def _named(selector: Sequence[Node]) -> list[str]:
    classes = [name.value for dot, name in pairwise(selector) if dot == "."]
    return classes + [token.value for token in selector if token.type == "hash"]

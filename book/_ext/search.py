"""Let the site's search find Chinese words."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.search import js_index
from sphinx.search.en import SearchEnglish

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
RUN = re.compile(rf"[{HAN}]+|[^\W{HAN}]+")


class EnglishAndChinese(SearchEnglish):
    """English words as Sphinx takes them; Chinese, which has no spaces, in pairs of characters.

    A page is indexed under each Chinese character and each pair of neighbours. A query is split
    into pairs, and a page must have all of them: that needs no dictionary.
    """

    js_splitter_code = rf"""
const HAN = /^[{HAN}]/;
var splitQuery = query =>
  (query.match(/[{HAN}]+|(?:(?![{HAN}])[\p{{L}}\p{{N}}_])+/gu) ?? []).flatMap(run =>
    HAN.test(run) && run.length > 1 ? [...run].slice(1).map((c, i) => run[i] + c) : [run]);
"""

    def split(self, input: str) -> list[str]:
        """Return the words of a text, and the characters and pairs of its Chinese."""
        words = []
        for run in RUN.findall(input):
            han = re.match(f"[{HAN}]", run)
            words += [*run, *map("".join, zip(run, run[1:], strict=False))] if han else [run]
        return words


def forget(app: Sphinx, error: Exception | None) -> None:
    """Take out the words that no page has any more: Sphinx keeps them, with a list of no pages."""
    file = Path(app.outdir) / "searchindex.js"
    if error or app.builder.format != "html" or not file.exists():
        return
    index = js_index.loads(file.read_text(encoding="utf-8"))
    for words in (index["terms"], index["titleterms"]):
        for word in [word for word, pages in words.items() if pages == []]:
            del words[word]
    file.write_text(js_index.dumps(index), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_search_language(EnglishAndChinese)
    app.connect("build-finished", forget)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The explorers of the specimen page: every view and every kind of control, without the site."""

import ast
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from wheretolook.explore import Explorer
from wheretolook.explore.assets import scripts, styles

__all__ = ["PAGE", "explorers", "gallery"]

PAGE = Path(__file__).parents[2] / "book" / "specimen.md"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def explorers(text: str | None = None) -> list[Explorer]:
    """Run the page's cells and return what they show, as far as it is an explorer."""
    names, shown = {}, []
    with redirect_stdout(StringIO()):  # a cell may print
        for cell in CELL.findall(PAGE.read_text("utf-8") if text is None else text):
            code = "\n".join(line for line in cell.splitlines() if not line.startswith(":"))
            tree = ast.parse(code)
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, PAGE.name, "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), PAGE.name, "eval"), names)
                shown += [value] if isinstance(value, Explorer) else []
    return shown


def gallery(made: list[Explorer]) -> str:
    """Put explorers on one page, with style and script once, as the site does."""
    kinds = {kind for explorer in made for kind in explorer.parts}
    body = "".join(explorer.html(assets=False) for explorer in made)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
        f"{styles(kinds)}<body>{body}{scripts(kinds)}</body></html>"
    )

"""What CONTRIBUTING shows as an example works as it stands."""

import re
from pathlib import Path

from wheretolook.explore import explore

TEXT = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_example_of_a_view_is_a_view():
    (code,) = [c for c in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "(View)" in c]
    exec(code, given := {})  # as a reader would paste it
    explorer = explore(lambda x: given["Level"](x, "height"), x=(0.0, 1.0, 0.5))
    assert explorer.frames == 3 and explorer.parts == ["level", "save"]
    assert '<b class="wtl-level" data-v style="--w:0.5">0.50</b>' in explorer.html()
    assert '<b class="wtl-level" data-v></b>' in explorer.views()[0].markup(1.0, None)
    assert explorer.png().startswith(b"\x89PNG")

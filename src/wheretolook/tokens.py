"""The book's visual tokens, in one place: CSS and matplotlib both read them from here.

A colour is a pair (light, dark). Weights use one sequential ramp, from ``lo`` (0) to ``hi`` (1),
whose lightness falls evenly, so it also reads in greyscale and without red or green.
"""

__all__ = ["COLOURS", "FONTS", "SIZES", "css"]

COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#1c2430", "#dfe5ec"),
    "muted": ("#566171", "#9ba7b5"),
    "line": ("#dce2ea", "#2f3a47"),
    "surface": ("#ffffff", "#14181e"),
    "lo": ("#f3f6fb", "#1d242d"),
    "hi": ("#1746a2", "#8ec5ff"),
    "negative": ("#8f4a00", "#ffb86b"),  # the other side of a signed map
    "focus": ("#d9480f", "#ffa94d"),
    "gold": ("#b8860b", "#f2c94c"),  # a known link or alignment
    "good": ("#1b7a4b", "#6fd3a0"),
    "bad": ("#b3261e", "#ff8a80"),
    # curves: told apart by lightness and dash as well as by hue
    "series1": ("#1746a2", "#8ec5ff"),
    "series2": ("#b5510d", "#ffb86b"),
    "series3": ("#1b7a4b", "#6fd3a0"),
    "series4": ("#7a3e9d", "#d3a4ef"),
}

FONTS: dict[str, str] = {
    # "WTL CJK" is the subset that the site build writes. It holds Chinese only and stands first:
    # behind system-ui, Chromium draws some characters as boxes where no Chinese font is installed.
    "sans": '"WTL CJK", system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", '
    '"PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif',
    "mono": '"WTL CJK", ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", '
    '"PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", monospace',
}

SIZES: dict[str, str] = {
    "radius": "12px",
    "gap": "1rem",
    "cell-width": "3.1rem",
    "cell-height": "2.4rem",
    "figure-width": "44rem",
    "small": "0.85rem",
}


def css(selector: str = ":root") -> str:
    """Write the tokens as custom properties named ``--wtl-…``.

    Colours are ``light-dark(…)`` pairs: they follow the ``color-scheme`` of where they are used.

    Parameters
    ----------
    selector : str
        What carries the properties.

    Returns
    -------
    str
        One CSS rule.

    Examples
    --------
    >>> "--wtl-hi: light-dark(#1746a2, #8ec5ff)" in css()
    True
    """
    lines = [
        *(f"--wtl-{n}: light-dark({light}, {dark});" for n, (light, dark) in COLOURS.items()),
        *(f"--wtl-{n}: {stack};" for n, stack in FONTS.items()),
        *(f"--wtl-{n}: {size};" for n, size in SIZES.items()),
    ]
    return f"{selector} {{ {' '.join(lines)} }}\n"

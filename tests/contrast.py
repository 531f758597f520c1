"""How well one colour stands out from another: WCAG 2, relative luminance."""

from collections.abc import Sequence

__all__ = ["contrast", "linear", "luminance", "rgb"]


def rgb(colour: str) -> list[int]:
    """Read "#rrggbb" as numbers from 0 to 255."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def linear(channels: Sequence[int]) -> list[float]:
    """Undo the gamma of sRGB: numbers from 0 to 255 become shares of light."""
    shares = (c / 255 for c in channels)
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]


def luminance(channels: Sequence[int]) -> float:
    """Weigh the three kinds of light as an eye does."""
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(channels), strict=True))


def contrast(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the ratio, from 1 to 21; text needs 4.5."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)

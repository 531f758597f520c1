"""Explorers: views with sliders that are alive on any page."""

from .arrows import Arrows
from .curves import Curves
from .explorer import Explorer, explore, show
from .live import Live, live
from .maps import Heatmap, Matrix
from .picture import Picture
from .rows import Bars, Tokens
from .strip import stages
from .view import View

__all__ = [
    "Arrows",
    "Bars",
    "Curves",
    "Explorer",
    "Heatmap",
    "Live",
    "Matrix",
    "Picture",
    "Tokens",
    "View",
    "explore",
    "live",
    "show",
    "stages",
]

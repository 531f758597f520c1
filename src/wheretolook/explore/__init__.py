"""Explorers: views with sliders that are alive on any page."""

from .explorer import Explorer, explore
from .live import Live, live
from .views import Arrows, Bars, Curves, Heatmap, Matrix, Picture, Tokens, View

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
]

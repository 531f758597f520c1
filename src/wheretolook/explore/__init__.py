"""Explorers: views with sliders that are alive on any page."""

from .explorer import Explorer, explore, show
from .live import Live, live
from .stages import stages
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
    "show",
    "stages",
]

"""Explorers: views with sliders that are alive on any page."""

from .arithmetic import one_of
from .arrows import Arrows
from .block import Block
from .curves import Curves
from .explorer import Explorer, explore, show
from .fovea import Fovea
from .live import Live, live
from .maps import Heatmap, Matrix
from .overlay import Overlay
from .picture import Picture
from .plane import Plane
from .ribbons import Ribbons
from .rows import Bars, Tokens
from .scan import ScanPath
from .strip import stages
from .view import View

__all__ = [
    "Arrows",
    "Bars",
    "Block",
    "Curves",
    "Explorer",
    "Fovea",
    "Heatmap",
    "Live",
    "Matrix",
    "Overlay",
    "Picture",
    "Ribbons",
    "Plane",
    "ScanPath",
    "Tokens",
    "View",
    "explore",
    "live",
    "one_of",
    "show",
    "stages",
]

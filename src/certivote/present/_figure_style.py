"""How figures look: lines, type and shades, shared by all pictures that matplotlib draws.

The colour of a method is in its row of :data:`certivote.theory.methods.METHODS`.
"""

from typing import Any

STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.hashsalt": "certivote",
    "svg.fonttype": "none",
}
PALE = 0.35
"""Share of its colour that a bar in the background keeps."""


def mixed(colour: str, share: float) -> tuple[float, float, float]:
    """A colour and white: unlike a transparent one, it hides the grid."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return red, green, blue

"""How figures look: colours, lines and type, shared by all pictures that matplotlib draws."""

from typing import Any

__all__ = ["COLOURS", "PALE", "STYLE", "mixed"]

# Greys for the mean votes, blues for the random votes, oranges for the drawn votes, green for the fixed one: those of
# Okabe and Ito, which differ to the colour-blind too, and in lightness within each family.
COLOURS = {
    "fo": "#b0b0b0",
    "so": "#858585",
    "bin": "#595959",
    "c-bound": "#3d3d3d",
    "smv-exact": "#56b4e9",
    "smv-mc": "#0072b2",
    "dis-v": "#e69f00",
    "dis-r": "#d55e00",
    "dis-b": "#a34700",
    "holdout": "#009e73",
}

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

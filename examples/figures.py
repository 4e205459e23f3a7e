"""What the examples share: an option for where the figure goes, and saving it."""

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from certivote.present import STYLE

mpl.use("Agg")
mpl.rcParams.update(STYLE)


def figure_path(description: str | None, default: str) -> Path:
    """Where the figure is to be written, from the command line; by default a file in the current folder."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--figure", type=Path, default=Path(default), help="where to write the figure (PNG)")
    return parser.parse_args().figure


def new_axes() -> Any:
    """Axes in the style of the library's own figures."""
    return plt.subplots(figsize=(5.2, 2.9), layout="constrained")[1]


def save(ax: Any, path: Path) -> None:
    """Write the figure that these axes are on."""
    ax.figure.savefig(path, dpi=180)
    print(f"\nFigure written to {path}.")

"""The two figures of the paper: test error with bound, and training time."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certivote.paper._catalogue import DATASETS
from certivote.paper._protocol import PAPER_METHODS, task
from certivote.paper._runs import Run
from certivote.paper._tables import TASKS, Cell, cells
from certivote.present import PALE, STYLE, mixed
from certivote.theory.methods import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TIMED = {"smv-exact": "o", "smv-mc": "s", "dis-v": "^", "dis-r": "v"}
"""The paper's choice for its second figure, and a marker for each."""

_WHISKER: Any = {"ecolor": "black", "elinewidth": 0.7, "capsize": 1.6, "capthick": 0.7}
_DIAMOND: Any = {"ls": "", "marker": "D", "ms": 3.4, "mfc": "white", "mec": "black", "mew": 0.7}
_POINT: Any = {"ls": "", "ms": 4.5}
_COLUMNS = 5


def write_figures(runs: Sequence[Run], protocol: str, folder: Path) -> list[Path]:
    """Draw both figures, as SVG and as PNG; the files."""
    import matplotlib as mpl

    written = []
    names = [name for name in DATASETS if any((run.protocol, run.dataset) == (protocol, name) for run in runs)]
    with mpl.rc_context(STYLE):
        for stem, draw in (("error-and-bound", _errors_and_bounds), ("training-time", _training_times)):
            figure = draw(runs, protocol, names)
            for suffix, options in ((".svg", {"metadata": {"Date": None}}), (".png", {"dpi": 200})):
                figure.savefig(folder / f"{stem}{suffix}", **options)
                written.append(folder / f"{stem}{suffix}")
    return written


def _errors_and_bounds(runs: Sequence[Run], protocol: str, names: Sequence[str]) -> "Figure":
    """One panel per dataset, one bar per method: the test error in full colour, and on to the bound in a pale one."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    columns = min(_COLUMNS, len(names))
    rows = math.ceil(len(names) / columns)
    figure = _figure(max(4.6, 1.0 + 1.75 * columns), 0.9 + 1.55 * rows)
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    for axis, name in zip(axes.flat, names, strict=False):
        _bars(axis, cells(runs, protocol, "bound", name), PALE)
        _bars(axis, cells(runs, protocol, "test_error", name))
        axis.plot(_published(cells(runs, protocol, "bound", name)), PAPER_METHODS, clip_on=False, zorder=4, **_DIAMOND)
        axis.set_title(name)
        axis.set_xlim(0, None)
        axis.locator_params(axis="x", nbins=5)
        axis.grid(axis="x")
        axis.tick_params(axis="y", length=0)
    axes[0, 0].invert_yaxis()  # the first method on top; shared by all
    handles = [
        Patch(facecolor="#404040", label="test error"),
        Patch(facecolor=mixed("#404040", PALE), label="bound"),
        Line2D([], [], label="published bound", **_DIAMOND),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(f"Test error and bound in %\n{_splits(runs, protocol)}", fontsize=9)
    return figure


def _training_times(runs: Sequence[Run], protocol: str, names: Sequence[str]) -> "Figure":
    """One column per dataset on a logarithmic scale, the published times hollow."""
    from matplotlib.lines import Line2D

    groups = {kind: [name for name in names if task(name) == kind] for kind in TASKS}
    groups = {kind: found for kind, found in groups.items() if found}
    figure = _figure(max(4.6, 1.0 + 0.65 * len(names)), 3.9)
    widths = [len(found) for found in groups.values()]
    axes = figure.subplots(1, len(groups), width_ratios=widths, sharey=True, squeeze=False)
    for axis, (kind, found) in zip(axes.flat, groups.items(), strict=True):
        table = [cells(runs, protocol, "train_seconds", name) for name in found]
        for index, (method, marker) in enumerate(_TIMED.items()):
            row = [next(cell for cell in line if cell.method == method) for line in table]
            places = [position + 0.19 * (index - 1.5) for position in range(len(found))]
            look = {**_POINT, "marker": marker, "color": METHODS[method].colour}
            axis.plot(places, _published(row), mfc="white", **look)
            axis.plot(places, _means(row), zorder=3, **look)
            axis.errorbar(places, _means(row), _whiskers(row, floor=0.9), fmt="none", zorder=2, **_WHISKER)
        axis.set_yscale("log")
        axis.set_title(kind)
        axis.set_xlim(-0.5, len(found) - 0.5)
        axis.set_xticks(range(len(found)), found, rotation=30, ha="right", rotation_mode="anchor")
        axis.tick_params(axis="x", length=0)
        axis.grid(axis="y")
        for edge in range(1, len(found)):
            axis.axvline(edge - 0.5, color="#e4e4e4", lw=0.6, zorder=0)
    axes[0, 0].set_ylabel("seconds of one processor core")
    handles = [
        Line2D([], [], marker=marker, color=METHODS[method].colour, label=method, **_POINT)
        for method, marker in _TIMED.items()
    ]
    handles.append(
        Line2D([], [], marker="o", mfc="white", color="#404040", label="hollow: published, another machine", **_POINT)
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=5 if len(names) > 7 else 2, frameon=False)
    figure.suptitle(f"Training time\n{_splits(runs, protocol)}", fontsize=9)
    return figure


def _figure(width: float, height: float) -> "Figure":
    """A figure of no window system: the caller's own plots are left as they are."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _bars(axis: "Axes", row: Sequence[Cell], share: float = 1.0) -> None:
    """One bar per method, with that share of its colour."""
    colours = [mixed(METHODS[cell.method].colour, share) for cell in row]
    axis.barh(PAPER_METHODS, _means(row), 0.78, color=colours)
    axis.errorbar(_means(row), PAPER_METHODS, xerr=_whiskers(row), fmt="none", zorder=3, **_WHISKER)


def _means(row: Sequence[Cell]) -> list[float]:
    return [math.nan if cell.mean is None else cell.mean for cell in row]


def _published(row: Sequence[Cell]) -> list[float]:
    return [math.nan if cell.published_mean is None else cell.published_mean for cell in row]


def _whiskers(row: Sequence[Cell], floor: float = 1.0) -> list[list[float]]:
    """Deviations below and above, that below at most the share ``floor`` of the mean; none for a single run."""
    pairs = [(math.nan if cell.std is None else cell.std, mean) for cell, mean in zip(row, _means(row), strict=True)]
    return [[min(std, floor * mean) for std, mean in pairs], [std for std, _ in pairs]]


def _splits(runs: Sequence[Run], protocol: str) -> str:
    """How many random splits the figure shows, in words."""
    counts: dict[tuple[str, str], int] = {}
    for run in runs:
        if run.protocol == protocol:
            counts[run.dataset, run.method] = counts.get((run.dataset, run.method), 0) + 1
    least, most = min(counts.values()), max(counts.values())
    number = str(most) if least == most else f"{least} to {most}"
    over = "one random split" if most == 1 else f"mean and standard deviation over {number} random splits"
    return f"protocol {protocol}, {over}"

"""The two figures of the paper: test error with bound, and training time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from certivote.datasets import DATASETS
from certivote.experiments._protocol import METHODS, task
from certivote.experiments._runs import Run
from certivote.experiments._tables import TASKS, cells

__all__ = ["write_figures"]

_COLOURS = {
    "fo": "#b8b8b8",
    "so": "#8c8c8c",
    "bin": "#616161",
    "smv-exact": "#56a0d3",
    "smv-mc": "#1f5f99",
    "dis-v": "#f0a860",
    "dis-r": "#d1572a",
}
_TIMED = ("smv-exact", "smv-mc", "dis-v", "dis-r")
_STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "svg.hashsalt": "certivote",
    "svg.fonttype": "none",
}


def write_figures(runs: Sequence[Run], protocol: str, folder: Path) -> list[Path]:
    """Draw both figures, as SVG and as PNG; the files."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    written = []
    names = [name for name in DATASETS if any(run.dataset == name and run.protocol == protocol for run in runs)]
    with plt.rc_context(_STYLE):
        for stem, draw in (("error-and-bound", _errors_and_bounds), ("training-time", _training_times)):
            figure = draw(plt, runs, protocol, names)
            for suffix, options in ((".svg", {"metadata": {"Date": None}}), (".png", {"dpi": 160})):
                figure.savefig(folder / f"{stem}{suffix}", **options)
                written.append(folder / f"{stem}{suffix}")
            plt.close(figure)
    return written


def _errors_and_bounds(plt: Any, runs: Sequence[Run], protocol: str, names: Sequence[str]) -> Any:
    """A panel a dataset: the bound as a pale bar, the test error as a full one, the published bound as a diamond."""
    columns = min(5, len(names))
    rows = -(-len(names) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.2 * columns, 1.9 * rows + 0.7), squeeze=False, layout="constrained"
    )
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    positions = range(len(METHODS))
    colours = [_COLOURS[method] for method in METHODS]
    for axis, name in zip(axes.flat, names, strict=False):
        bounds, errors = (cells(runs, protocol, quantity, name) for quantity in ("bound", "test_error"))
        axis.bar(positions, _means(bounds), 0.8, color=colours, alpha=0.4, yerr=_deviations(bounds), error_kw=_WHISKER)
        axis.bar(positions, _means(errors), 0.8, color=colours, yerr=_deviations(errors), error_kw=_WHISKER)
        axis.plot(positions, [cell.published_mean for cell in bounds], "D", ms=3, mfc="white", mec="black", mew=0.7)
        axis.set_title(name)
        axis.set_xticks([])
        axis.set_ylim(0, None)
        axis.set_ylabel("%" if axis in axes[:, 0] else "")
    handles = [plt.Rectangle((0, 0), 1, 1, color=_COLOURS[method], label=method) for method in METHODS]
    handles += [
        plt.Rectangle((0, 0), 1, 1, color="black", alpha=0.25, label="bound (pale)"),
        plt.Rectangle((0, 0), 1, 1, color="black", alpha=0.75, label="test error (full)"),
        plt.Line2D([], [], ls="", marker="D", ms=3, mfc="white", mec="black", mew=0.7, label="published bound"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    figure.suptitle(f"Test error and bound, protocol {protocol}: mean and standard deviation", fontsize=10)
    return figure


def _training_times(plt: Any, runs: Sequence[Run], protocol: str, names: Sequence[str]) -> Any:
    """Groups of bars on a logarithmic scale, the published times as diamonds."""
    groups = {kind: [name for name in names if task(name) == kind] for kind in TASKS}
    groups = {kind: found for kind, found in groups.items() if found}
    figure, axes = plt.subplots(
        1,
        len(groups),
        figsize=(9.5, 3.4),
        width_ratios=[len(found) for found in groups.values()],
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axis, (kind, found) in zip(axes.flat, groups.items(), strict=True):
        table = {name: cells(runs, protocol, "train_seconds", name) for name in found}
        for index, method in enumerate(_TIMED):
            row = [next(cell for cell in table[name] if cell.method == method) for name in found]
            places = [position + 0.2 * (index - 1.5) for position in range(len(found))]
            axis.bar(
                places,
                _means(row),
                0.18,
                color=_COLOURS[method],
                yerr=_deviations(row),
                error_kw=_WHISKER,
                label=method,
            )
            axis.plot(places, [cell.published_mean for cell in row], "D", ms=3, mfc="white", mec="black", mew=0.6)
        axis.set_yscale("log")
        axis.set_title(kind)
        axis.set_xticks(range(len(found)), found, rotation=30, ha="right")
    axes[0, 0].set_ylabel("seconds (one core)")
    handles, _ = axes[0, 0].get_legend_handles_labels()
    handles.append(
        plt.Line2D([], [], ls="", marker="D", ms=3, mfc="white", mec="black", mew=0.6, label="published, other machine")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    figure.suptitle(f"Training time, protocol {protocol}: mean and standard deviation", fontsize=10)
    return figure


_WHISKER = {"elinewidth": 0.7, "capsize": 1.2, "capthick": 0.7}


def _means(row: Sequence[Any]) -> list[float]:
    return [float("nan") if cell.mean is None else cell.mean for cell in row]


def _deviations(row: Sequence[Any]) -> list[float]:
    return [cell.std or 0.0 for cell in row]

"""One figure of all rows: violation rates with their intervals against delta, honest rows and broken ones apart."""

from pathlib import Path

from study import Count, Row, verdict

from certivote.present import STYLE

COLOURS = {
    "honest": "#0072b2",
    "adversarial": "#e69f00",
    "entities": "#009e73",
    "given": "#cc79a7",
    "time": "#56b4e9",
    "promises": "#999900",
    "automatic": "#882255",
    "arranged": "#44aa99",
    "control": "#0072b2",
    "broken": "#d55e00",
}
"""Those of Okabe and Ito, and three more, which differ to the colour-blind too."""
MARKERS = {
    "honest": "o",
    "adversarial": "D",
    "entities": "s",
    "given": "^",
    "time": "v",
    "promises": "P",
    "automatic": ">",
    "arranged": "<",
    "control": "o",
    "broken": "X",
}
NAMES = {
    "honest": "as intended",
    "adversarial": "adversary",
    "entities": "rows that belong together",
    "given": "given models",
    "time": "order in time",
    "promises": "other promises",
    "automatic": "decided by rows that are not certified",
    "arranged": "sorted files",
    "broken": "assumption broken on purpose",
}
USUAL = 0.2
"""The delta of nearly all rows."""


def write_figure(sums: dict[Row, Count], folder: Path) -> None:
    """Draw it as SVG and as PNG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**STYLE, "svg.hashsalt": "validity"}):
        figure = Figure(figsize=(10.5, 7.4), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
        _kept(left, {row: count for row, count in sums.items() if row.part not in ("broken", "control")})
        _broken(right, {row: count for row, count in sums.items() if row.part in ("broken", "control")})
        runs = sum(count.runs for count in sums.values())
        figure.suptitle(f"How often the true error exceeds the bound: {runs:,} runs, 99 % intervals", fontsize=10)
        figure.legend(handles=_handles(), loc="outside lower center", ncols=4, frameon=False)
        for suffix, options in ((".svg", {"metadata": {"Date": None}}), (".png", {"dpi": 160})):
            figure.savefig(folder / f"validity{suffix}", **options)


def _kept(axis, sums):
    """A band a method; in it a point a row, sorted by its rate."""
    methods = list(dict.fromkeys(row.method for row in sums))
    for band, method in enumerate(methods):
        mine = sorted((row for row in sums if row.method == method), key=lambda row: (sums[row].rate, row.part))
        for rank, row in enumerate(mine):
            _point(axis, row, sums[row], band - 0.38 + 0.76 * (rank + 0.5) / len(mine), thin=True)
        if band % 2:
            axis.axhspan(band - 0.5, band + 0.5, color="#f4f4f4", lw=0, zorder=0)
    axis.set_yticks(range(len(methods)), methods)
    axis.set_ylim(len(methods) - 0.5, -0.5)
    axis.set_xlim(0, max(0.3, 1.02 * max(count.rate for count in sums.values())))
    axis.axvline(USUAL, color="black", lw=1.0, zorder=4)
    _finish(axis, "Promised: every row at or below δ")


def _broken(axis, sums):
    """A labelled line a row."""
    rows = list(sums)
    for place, row in enumerate(rows):
        _point(axis, row, sums[row], place)
        if place % 2:
            axis.axhspan(place - 0.5, place + 0.5, color="#f4f4f4", lw=0, zorder=0)
    names = [f"{row.setting.split(' (')[0]}, {row.method}" for row in rows]
    labels = [f"control: {name}" if row.part == "control" else name for row, name in zip(rows, names, strict=True)]
    axis.set_yticks(range(len(rows)), labels, fontsize=7)
    for label, row in zip(axis.get_yticklabels(), rows, strict=True):
        label.set_color(COLOURS[row.part])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_xlim(0, 1)
    _finish(axis, "Not covered, beside controls")


def _point(axis, row, count, height, thin=False):
    low, high = count.interval()
    colour = COLOURS[row.part]
    axis.plot(
        [low, high], [height, height], color=colour, lw=0.4 if thin else 1.2, alpha=0.55 if thin else 0.8, zorder=2
    )
    filled = verdict(row, count) in ("holds", "broken")
    look = {"marker": MARKERS[row.part], "ms": 2.6 if thin else 5.0, "mec": colour, "mew": 0.6}
    axis.plot(count.rate, height, color=colour, mfc=colour if filled else "white", zorder=3, clip_on=False, **look)
    if not thin or row.delta != USUAL:
        reach = 0.05 if thin else 0.4
        axis.plot([row.delta, row.delta], [height - reach, height + reach], color="black", lw=1.0, zorder=4)


def _finish(axis, title):
    axis.set_title(title)
    axis.set_xlabel("violation rate")
    axis.grid(axis="x")
    axis.tick_params(axis="y", length=0)


def _handles():
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=COLOURS[part], marker=MARKERS[part], ms=4, lw=1, label=name)
        for part, name in NAMES.items()
    ]
    hollow = Line2D(
        [], [], color="#808080", marker="o", mfc="white", ms=4, lw=0, label="hollow: not shown by these runs"
    )
    return [*lines, Line2D([], [], color="black", lw=1, label="δ, the promised rate"), hollow]

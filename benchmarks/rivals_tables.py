"""The runs of ``rivals.py`` as tables."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from rivals_data import DECIDE, NAMES, SEEDS, TUNED_BEFORE
from rivals_models import BEFORE, FOUR, OURS

Rows = list[dict[str, str]]
Split = dict[str, dict[str, float]]
"""What was measured of each model."""
Means = dict[tuple[str, str], float]
"""Of one dataset, over its splits: by a field and a model, or something made of several models."""

NUMBERS = ("rows", "bound", "test_error", "cv_error", "fit", "predict", "size")
EXCEPTION = 1.03
TITLES = {BEFORE: BEFORE, "now": "now", "boosted": "with boosters"}
ERROR_PARTS = {"chosen": "chosen by cross-validation", "oracle": "oracle"}

HEAD = (
    "Plurality loss, δ = 0.05, means over the splits; bounds and errors in %, times of the processor with one thread. "
    "All ratios are of means. *Hold-out*: the smallest of the four bounds of a split, each of a model fitted on one "
    "half of the training rows and certified on the other; it is not paid for that this is the best of four. *Chosen "
    "by cross-validation*: the one of the four, fitted on all training rows, that errs least in three folds of these. "
    "*Oracle*: the one that errs least on the test rows. *Fit*: divided by what RandomForest and CatBoost take "
    "together on all training rows; *predict*: divided by what RandomForest takes for the test rows at once."
)


def tables(rows: Rows) -> str:
    """All datasets with whole splits: those that have decided no setting, and the others."""
    rows = _newest(rows)
    ours = [what for what in OURS if any(row["what"] == what for row in rows)]
    whole = _whole_splits(rows, [*FOUR, *ours])
    text = [_progress(rows, whole, ours)]
    if whole and ours:
        found = {name: _means(whole[name], ours) for name in NAMES if name in whole}
        tuned = {name for name in NAMES if name in DECIDE or name in TUNED_BEFORE}
        untouched = {name: means for name, means in found.items() if name not in tuned}
        text += [HEAD, *_group("have decided no setting", untouched, ours)]
        text += _group("have decided settings", {name: means for name, means in found.items() if name in tuned}, ours)
    return "\n\n".join(text) + "\n"


def _newest(rows: Rows) -> Rows:
    """Of each certivote the version that was measured last."""
    last = {row["what"]: row["version"] for row in rows}
    return [row for row in rows if row["what"] in FOUR or row["version"] == last[row["what"]]]


def _whole_splits(rows: Rows, whats: Sequence[str]) -> dict[str, list[Split]]:
    """Of each dataset, the splits on which all models have been measured."""
    found: dict[tuple[str, str], Split] = defaultdict(dict)
    for row in rows:
        numbers = {field: float(row[field]) for field in NUMBERS if row[field]}
        found[row["dataset"], row["seed"]][row["what"]] = numbers
    whole: dict[str, list[Split]] = defaultdict(list)
    for (name, _), split in found.items():
        if all(what in split for what in whats):
            whole[name].append(split)
    return whole


def _progress(rows: Rows, whole: dict[str, list[Split]], ours: Sequence[str]) -> str:
    count = sum(map(len, whole.values()))
    measured = Counter(row["what"] for row in rows)
    versions = {row["what"]: row["version"] for row in rows}
    parts = [f"the four {min((measured[what] for what in FOUR), default=0)}"]
    parts += [
        f"{TITLES[what]} {measured[what]}{'' if what == BEFORE else f' (commit {versions[what]})'}" for what in ours
    ]
    return (
        f"Finished: {count} of {len(NAMES) * len(SEEDS)} splits, of {len(whole)} of {len(NAMES)} datasets. "
        f"Splits measured, of: {', '.join(parts)}."
    )


def _means(splits: Sequence[Split], ours: Sequence[str]) -> Means:
    def mean(of: Callable[[Split], float]) -> float:
        return statistics.fmean(map(of, splits))

    means = {
        (field, what): mean(lambda split, field=field, what=what: split[what][field])
        for field in ("bound", "test_error", "fit", "predict", "size")
        for what in (*FOUR, *ours)
    }
    return means | {
        ("splits", ""): float(len(splits)),
        ("rows", ""): mean(lambda split: split["forest"]["rows"]),
        ("bound", "hold-out"): mean(lambda split: min(split[what]["bound"] for what in FOUR)),
        ("test_error", "oracle"): mean(lambda split: min(split[what]["test_error"] for what in FOUR)),
        ("test_error", "chosen"): mean(lambda split: split[_chosen(split)]["test_error"]),
        ("fit", "usual"): means["fit", "forest"] + means["fit", "catboost"],
    }


def _chosen(split: Split) -> str:
    return min(FOUR, key=lambda what: split[what]["cv_error"])


def _group(title: str, found: dict[str, Means], ours: Sequence[str]) -> list[str]:
    if not found:
        return []
    return [
        f"### Datasets that {title}",
        _bounds(found, ours),
        _errors(found, ours),
        _times(found, ours),
        _summary(found, ours),
    ]


def _bounds(found: dict[str, Means], ours: Sequence[str]) -> str:
    later = [what for what in ours if what != BEFORE]
    whats = (*ours, "hold-out")
    head = ["training rows", "splits", *(f"bound, {TITLES.get(what, what)}" for what in whats)]
    head += [f"{TITLES[what]} / {BEFORE}" for what in later] + [f"{TITLES[what]} / hold-out" for what in ours]
    lines = [
        [
            *(f"{means['rows', '']:,.0f}", f"{means['splits', '']:.0f}"),
            *(_percent(means["bound", what]) for what in whats),
            *(_ratio(means, "bound", what, BEFORE) for what in later),
            *(_ratio(means, "bound", what, "hold-out") for what in ours),
        ]
        for means in found.values()
    ]
    return _table(found, head, lines)


def _errors(found: dict[str, Means], ours: Sequence[str]) -> str:
    whats = (*ours, "chosen", "oracle")
    head = [f"error, {(TITLES | ERROR_PARTS)[what]}" for what in whats]
    head += [f"{TITLES[what]} / {other}" for other in ("chosen", "oracle") for what in ours]
    lines = [
        [
            *(_percent(means["test_error", what]) for what in whats),
            *(_ratio(means, "test_error", what, other) for other in ("chosen", "oracle") for what in ours),
        ]
        for means in found.values()
    ]
    return _table(found, head, lines)


def _times(found: dict[str, Means], ours: Sequence[str]) -> str:
    kinds = ("fit", "predict", "file, kB")
    lines = [
        [
            *(_ratio(means, "fit", what, "usual") for what in ours),
            *(_ratio(means, "predict", what, "forest") for what in ours),
            *(f"{means['size', what] / 1000:,.0f}" for what in ours),
        ]
        for means in found.values()
    ]
    return _table(found, [f"{kind}, {TITLES[what]}" for kind in kinds for what in ours], lines)


def _summary(found: dict[str, Means], ours: Sequence[str]) -> str:
    """A line for each question and each of ours."""
    lines = []
    for what in ours:
        title = TITLES[what]
        if what != BEFORE:
            lines.append(f"Bound, {title} / {BEFORE}: {_spread(found, 'bound', what, BEFORE)}.")
        above = {name: means["bound", what] / means["bound", "hold-out"] for name, means in found.items()}
        above = {name: ratio for name, ratio in above.items() if ratio > EXCEPTION}
        listed = ", ".join(f"{name} {ratio:.3f}" for name, ratio in sorted(above.items(), key=lambda one: -one[1]))
        lines.append(
            f"Bound, {title} / hold-out: {_spread(found, 'bound', what, 'hold-out')}; above {EXCEPTION} on "
            f"{len(above)} of {len(found)}{': ' if listed else ''}{listed}."
        )
        more = statistics.fmean(means["test_error", what] - means["test_error", "chosen"] for means in found.values())
        lines.append(
            f"Test error, {title} / chosen: {_spread(found, 'test_error', what, 'chosen')}, {100 * more:+.2f} points "
            f"in the mean; {title} / oracle: {_spread(found, 'test_error', what, 'oracle')}."
        )
        sizes = {name: means["size", what] / 1000 for name, means in found.items()}
        largest = max(sizes, key=lambda name: sizes[name])
        lines.append(
            f"Fit, {title}: {_spread(found, 'fit', what, 'usual')}. Predict: "
            f"{_spread(found, 'predict', what, 'forest')}. Files: {statistics.median(sizes.values()):,.0f} kB in the "
            f"median, largest {sizes[largest]:,.0f} kB ({largest})."
        )
    return "\n".join(f"- {line}" for line in lines)


def _spread(found: dict[str, Means], field: str, what: str, other: str) -> str:
    """The geometric mean of the ratios and the largest one; where one of both is 0, there is none to speak of."""
    ratios = {
        name: means[field, what] / means[field, other]
        for name, means in found.items()
        if means[field, what] and means[field, other]
    }
    if not ratios:
        return "no dataset"
    worst = max(ratios, key=lambda name: ratios[name])
    left = len(found) - len(ratios)
    without = f" (without {left} where one of them is 0)" if left else ""
    return (
        f"geometric mean {statistics.geometric_mean(ratios.values()):.3f}{without}, worst {ratios[worst]:.3f} ({worst})"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _ratio(means: Means, field: str, what: str, other: str) -> str:
    return f"{means[field, what] / means[field, other]:.3f}" if means[field, other] else ""


def _table(names: Iterable[str], head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """With the datasets in the first column."""
    cells = [["dataset", *head], ["---", *("--:" for _ in head)]]
    cells += [[name, *line] for name, line in zip(names, lines, strict=True)]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)

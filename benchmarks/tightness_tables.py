"""The runs of ``tightness.py`` as tables."""

import statistics

from certivote.paper import DATASETS, PAPER_METHODS, published

Rows = list[dict[str, str]]
HELD = ("hold-out forest", "hold-out boosting", "auto")


def paper_tables(rows: Rows) -> str:
    """On the paper's datasets."""
    if not any(row["what"] == "same voters" for row in rows):
        return "No runs yet.\n"
    return "\n\n".join([_same_voters(rows), *_auto(rows, list(DATASETS), "the paper's datasets")]) + "\n"


def elsewhere_tables(rows: Rows) -> str:
    """On other datasets, for which nothing is published."""
    return "\n\n".join(_auto(rows, sorted({row["dataset"] for row in rows}), "KEEL's datasets")) + "\n"


def _auto(rows: Rows, names: list[str], whose: str) -> list[str]:
    whole = [name for name in names if all(_splits(rows, name, what) for what in HELD)]
    if not whole:
        return ["No dataset has all its runs."]
    return [_beside_holdout(rows, whole, whose), _worth(rows, whole, whose)]


def _splits(rows: Rows, name: str, what: str) -> int:
    return sum((row["dataset"], row["what"]) == (name, what) for row in rows)


def _mean(rows: Rows, name: str, what: str, field: str = "bound") -> float:
    return statistics.fmean(float(row[field]) for row in rows if (row["dataset"], row["what"]) == (name, what))


def _same_voters(rows: Rows) -> str:
    lines, ratios, below = [], [], 0
    for name in (name for name in DATASETS if _splits(rows, name, "same voters")):
        paper = {method: published()["bound", name, method][0] / 100.0 for method in PAPER_METHODS}
        bound, best = _mean(rows, name, "same voters"), min(paper.values())
        ratios.append(bound / paper["dis-r"])
        below += bound < best
        lines.append(
            f"| {name} | {_splits(rows, name, 'same voters')} | {100 * bound:.2f} | {100 * best:.2f} | "
            f"{100 * paper['dis-r']:.2f} | {ratios[-1]:.2f} | "
            f"{100 * _mean(rows, name, 'same voters', 'test_error'):.2f} |"
        )
    return "\n".join(
        [
            "### The paper's voters, one deterministic vote",
            "",
            'Plurality loss, dis-b with `prior="auto"`, constant exact, δ = 0.05, mean over the splits; bounds in %. '
            "Paper: half-weight loss, mean of 10 splits.",
            "",
            "| dataset | splits | bound | paper, best of seven | paper, dis-r | ratio to dis-r | test error |",
            "|---|--:|--:|--:|--:|--:|--:|",
            *lines,
            "",
            f"Below the paper's best on {below} of {len(lines)}; mean ratio to the paper's dis-r "
            f"{statistics.fmean(ratios):.3f}.",
        ]
    )


def _beside_holdout(rows: Rows, names: list[str], whose: str) -> str:
    lines, ratios = [], []
    for name in names:
        forest, boosting, auto = (_mean(rows, name, what) for what in HELD)
        ratios.append(auto / min(forest, boosting))
        lines.append(
            f"| {name} | {min(_splits(rows, name, what) for what in HELD)} | {100 * auto:.2f} | {100 * forest:.2f} | "
            f"{100 * boosting:.2f} | {ratios[-1]:.3f} |"
        )
    learned = [float(row["learned"]) for row in rows if row["what"] == "auto" and row["dataset"] in names]
    return "\n".join(
        [
            f'### `method="auto"` beside plain hold-out: {whose}',
            "",
            "Plurality loss, δ = 0.05, mean over the splits; bounds in %. Hold-outs: fitted on half of the training "
            "rows, Clopper–Pearson on the others.",
            "",
            "| dataset | splits | auto | forest, held out | boosting, held out | ratio to the better |",
            "|---|--:|--:|--:|--:|--:|",
            *lines,
            "",
            f"Mean ratio {statistics.fmean(ratios):.3f}; largest {max(ratios):.3f}. In {sum(learned):.0f} of "
            f"{len(learned)} runs, auto moved away from the informed hyper-prior.",
        ]
    )


def _worth(rows: Rows, names: list[str], whose: str) -> str:
    lines = []
    for name in names:
        share, own, forest = (
            _mean(rows, name, "auto", field) for field in ("training_share", "test_error", "forest_error")
        )
        first = [row for row in rows if row["seed"] == "0"]
        seconds, fitting = (_mean(first, name, "auto", field) for field in ("seconds", "training_seconds"))
        ratio = own / forest if forest else float(own > 0)
        lines.append(
            f"| {name} | {share:.2f} | {100 * own:.2f} | {100 * forest:.2f} | {ratio:.2f} | {seconds / fitting:.2f} |"
        )
    return "\n".join(
        [
            f"### What the vote of auto is worth, and what it takes: {whose}",
            "",
            "Test errors in %, mean over the splits; time in seconds of the processor, as a ratio to fitting the same "
            "voters on the same rows once, in the first split.",
            "",
            "| dataset | training share | test error | RandomForest on the same rows | ratio | time ratio |",
            "|---|--:|--:|--:|--:|--:|",
            *lines,
        ]
    )

"""The outcomes of ``all_pairs.py`` as Markdown."""

from collections import Counter

Rows = list[dict[str, str]]
PROCESSORS = {
    "AVX2": "without AVX-512",
    "SSE": "without AVX-512, AVX2 and FMA",
    "AMD": "OpenBLAS as on AMD Zen",
    "trees walked": "without scikit-learn's compiled trees",
}


def table(rows: Rows) -> str:
    """What was opened with what, and the reasons of refusals."""
    rows = [
        {
            **row,
            "writer": f"{row['writer']}, Python {row['written_on']}",
            "reader": f"{row['reader']}, Python {row['read_on']}",
        }
        for row in rows
    ]
    libraries = {row["reader"]: row["libraries"] for row in rows}
    plain = [row for row in rows if not row["brought"]]
    versions = [row for row in plain if not row["processor"]]
    brought = [row for row in rows if row["brought"] and not row["processor"]]
    elsewhere = [row for row in plain if row["processor"]]
    others = [{**row, "reader": PROCESSORS[row["processor"]]} for row in elsewhere]
    kinds = list(dict.fromkeys(row["kind"] for row in plain))
    return "\n".join(
        [
            f"Models of {len(kinds)} kinds ({'; '.join(kinds)}), written and opened with each of:",
            "",
            *(f"- {text}" for text in libraries.values()),
            "",
            *_grid(versions),
            "",
            "Classifiers of one's own, here a list of `LogisticRegression`, `RandomForestClassifier` and",
            "`HistGradientBoostingClassifier`:",
            "",
            *_grid(brought),
            "",
            f"The models of {len(kinds)} kinds with scikit-learn {elsewhere[-1]['reader']}, computed in another way:",
            "",
            *_grid(others),
            *_reasons([*versions, *brought, *others]),
            "",
        ]
    )


def _grid(rows: Rows) -> list[str]:
    readers = list(dict.fromkeys(row["reader"] for row in rows))
    lines = [f"| written with ↓, opened with → | {' | '.join(readers)} |"]
    lines.append(f"|---|{'---|' * len(readers)}")
    for writer in dict.fromkeys(row["writer"] for row in rows):
        own = [[row for row in rows if (row["writer"], row["reader"]) == (writer, reader)] for reader in readers]
        lines.append(f"| {writer} | {' | '.join(map(_cell, own))} |")
    return lines


def _cell(rows: Rows) -> str:
    counts = Counter(row["result"] for row in rows)
    if len(counts) == 1:
        return next(iter(counts)) if len(rows) == 1 else f"all {len(rows)} {next(iter(counts))}"
    return ", ".join(f"{count} {result}" for result, count in counts.items())


def _reasons(rows: Rows) -> list[str]:
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row["reason"]:
            key = row["kind"], row["result"], row["reason"].partition(" It was written with")[0]
            reasons.setdefault(key, []).append(f"{row['writer']} to {row['reader']}")
    if not reasons:
        return []
    return ["", *(f"- {kind}, {'; '.join(where)}: {result}: {why}" for (kind, result, why), where in reasons.items())]

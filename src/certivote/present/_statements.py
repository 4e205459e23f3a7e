"""What the statements of promises say, read out of their records, which may come from anywhere."""

import json
import math
from typing import Any

from certivote.certificate import PromiseRecord, Statement
from certivote.maths.rounding import all_but
from certivote.present._plain import plain_text

Pair = tuple[Statement, Statement]
"""Two statements that belong together."""


def rate(entry: Statement) -> float | None:
    """How often the event was seen; None without rows. With groups, in the mean over these where that is counted."""
    return entry.risks[0] if entry.n else None


def parameter(record: PromiseRecord, name: str) -> Any:
    """What was asked for under this name; None if it is not there."""
    return json.loads(dict(record.parameters).get(name, "null"))


def curve_points(record: PromiseRecord) -> list[Pair]:
    """At each threshold, from the largest on, what is wrong among the answers, and what is not answered."""
    wrong, silent = (
        [entry for entry in record.statements if entry.kind == kind] for kind in ("error when answered", "unanswered")
    )
    return sorted(zip(wrong, silent, strict=True), key=lambda pair: -(pair[0].threshold or 0.0))


def group_blocks(record: PromiseRecord) -> list[tuple[str, list[Pair]]]:
    """The name of each column, or combination of columns, and of each of its groups the statements that bound its error
    from above and from below.
    """
    pairs = list(zip(record.statements[::2], record.statements[1::2], strict=True))
    if any((error.kind, right.kind) != ("error", "right") for error, right in pairs):
        raise ValueError("statements about groups come in pairs")
    sizes = {each.what: bool(each.numbers) + len(each.numbers) + len(each.words) for each in record.fixed}
    found, rest = [], pairs
    for entry in parameter(record, "columns"):
        names = [plain_text(name) for name in ([entry] if isinstance(entry, str) else entry)]
        size = math.prod(sizes[name] for name in names)
        found.append((" and ".join(names), rest[:size]))
        rest = rest[size:]
    if rest or not all(pairs for _, pairs in found):
        raise ValueError("there are more or fewer statements than groups")
    return found


def limits(pair: Pair) -> tuple[float, float]:
    """Between which numbers the error of a group is."""
    error, right = pair
    return all_but(right.bound), min(error.bound, 1.0)

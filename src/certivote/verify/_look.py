"""What the first rows may have decided: how many rows train the voters, or into how many folds the others fall.

Rows come in a random order. The first of them are looked at, and none of these is certified, whatever they decide. What
is recorded of them must be such as the other numbers allow; that nothing else decided, only fitting again shows.
"""

from collections.abc import Iterator
from typing import Any

from certivote.certificate import Certificate
from certivote.verify._check import Check

_FIRST, _FOLDED_FIRST = 0.2, 0.1
"""Share of the rows that is looked at, and where there may be folds."""
_SHARES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
"""Shares of the rows that may be chosen to train the voters."""
_TOGETHER = ("repeated values", "neighbours alike", "near-duplicates")
"""Findings about rows that seem to belong together."""
_FOLDS = ("2", "3")
_FOLDED_BELOW = 10_000
"""Rows from which on folds are not chosen."""
_FEWEST, _MOST = 40, 0.3
"""First rows below which nothing is decided by them, and the share of all that they may be for that."""


def n_first(total: int) -> int:
    """Of so many rows, how many are looked at where there may be folds."""
    return max(round(_FOLDED_FIRST * total), min(_FEWEST, round(_MOST * total)))


def looks_first(parameters: dict[str, Any]) -> bool:
    """Whether it was left to the first rows how many train the voters."""
    return bool(parameters["train_share"] == "auto" and parameters["method"] == "auto")


def may_fold(c: Certificate, parameters: dict[str, Any]) -> bool:
    """Whether the first rows may have decided for the folds of a record."""
    return _looks_for_folds(c, parameters) and n_first(c.provenance.n_rows) >= _FEWEST and c.split in _FOLDS


def _looks_for_folds(c: Certificate, parameters: dict[str, Any]) -> bool:
    """Whether it was left to the first rows if the others shall be folds."""
    return (
        looks_first(parameters)
        and parameters["split"] == "auto"
        and c.provenance.n_rows < _FOLDED_BELOW
        and not (c.groups or c.order)
        and len(c.promises) <= 1
        and parameters["promises"] == []
    )


def is_folded(c: Certificate, parameters: dict[str, Any] | None) -> bool:
    """Whether the folds of a record are of the rows beyond the first only, which train the voters of all."""
    return parameters is not None and parameters["split"] == "auto" and c.split not in ("none", "single", "cross")


def check_looks(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[Check]:
    """Whether what was seen by looking at rows may have been seen, and may have decided what it did."""
    yield _choices(c, parameters)
    yield _sampling(c)
    yield _findings(c)


def _choices(c: Certificate, parameters: dict[str, Any] | None) -> Check:
    """Whether the first rows may have decided what they are said to have decided."""
    first, folded = c.first_rows, is_folded(c, parameters)
    if first is None:
        return Check("choices", not folded, "none, and nothing says why there are folds" if folded else "none")
    right = parameters is not None and looks_first(parameters) and c.division == "shuffled" and _are_rates(c)
    if folded:
        right = right and first.share is None and first.found == "learning curve"
        right = right and first.looked_at == n_first(c.provenance.n_rows)
    else:
        look = parameters is not None and _looks_for_folds(c, parameters)
        right = right and c.split == "single" and is_train_share(c, folds=look)
    n_rows, train = c.provenance.n_rows, c.deployed_part.training_rows
    told = f"by the first {first.looked_at:,} of {n_rows:,} rows, {train:,} train the voters"
    return Check("choices", right, told)


def _sampling(c: Certificate) -> Check:
    """Whether only rows that were divided by their numbers are said to be used in part, and then not all of them."""
    used = ((c.sample_rows, c.deployed_part.training_rows), (c.learned_rows, c.deployed_part.n))
    right = all(some is None or (c.division == "by row number" and 0 < some < every) for some, every in used)
    told = [f"{some:,} of {every:,}" for some, every in used if some is not None]
    return Check("rows that were used in part", right, ", ".join(told) or "none")


def _findings(c: Certificate) -> Check:
    """Rows are looked at for such as belong together where nothing says which do; columns, among training rows only."""
    kinds = [finding.kind for finding in c.findings]
    right = len(set(c.findings)) == len(kinds)
    right = right and not (c.groups and set(kinds) & set(_TOGETHER)) and not (c.order and "neighbours alike" in kinds)
    right = right and not (c.is_given and set(kinds) - set(_TOGETHER))
    return Check("findings", right, f"{len(kinds)}, such as these rows may call for")


def is_train_share(c: Certificate, entities: int | None = None, folds: bool = False) -> bool:
    """Whether the first rows may have chosen the share that trains the voters, and the part has the others.

    ``entities`` is how many there are in all, if that is known; ``folds``, whether there might have been some.
    """
    first = c.first_rows
    if first is None or first.share is None:
        return False
    share = first.share
    if share not in (_SHARES if first.found == "learning curve" else (0.5,)):
        return False
    totals = [c.provenance.n_rows]
    if entities is not None:
        totals = [entities]
    elif c.groups:  # how many entities there are, nothing else says
        near = round(first.looked_at / _FIRST)
        totals = list(range(max(near - 5, 1), near + 6))
    return any(
        first.looked_at == (n_first(total) if folds else round(_FIRST * total))
        and c.deployed_part.size == total - round(share * total)
        for total in totals
    )


def _are_rates(c: Certificate) -> bool:
    """Whether there are rates of error where there is a learning curve, of so many rows; of entities, any means."""
    first = c.first_rows
    assert first is not None
    rates = [rate for rate in (first.late, first.early) if rate is not None]
    if len(rates) != (2 if first.found == "learning curve" else 0):
        return False
    n = max(first.looked_at, 1)
    return bool(c.groups) or all(abs(rate * n - round(rate * n)) <= 1e-9 * n for rate in rates)

"""What the first rows may have decided: how many rows train the voters, or into how many folds the others fall.

Rows come in a random order. The first of them are looked at, and none of these is certified, whatever they decide. What
they said is recorded in words, which must be such as the other numbers allow; that nothing else decided, only fitting
again shows.
"""

import re
from typing import Any

from certivote.certificate import Certificate
from certivote.verify._check import Check

__all__ = ["check_choices", "is_folded", "is_train_share", "looks_first", "may_fold", "n_first"]

_FIRST, _EARLIER_FIRST = 0.2, 0.3
"""Share of the rows that is looked at, and the share that earlier versions looked at."""
_FOLDS = ("2", "3", "4")
_FOLDED_BELOW = 10_000
"""Rows from which on folds are not chosen."""
_FEWEST = 40
"""First rows below which nothing is decided by them."""

_COUNT = r"[1-9][0-9,]{0,15}"
_SHARES = "(?P<share>50|55|60|65|70|75|80)% of the (?P<what>rows|entities) train the voters: "
_ERRORS = (
    rf"on the first (?P<first>{_COUNT}) (?P=what), voters err on [0-9]+\.[0-9]{{2}}% of those they have not seen, on "
    r"half as many on [0-9]+\.[0-9]{2}%"
)
_SHARE = re.compile(_SHARES + _ERRORS)
_EARLIER = re.compile(
    rf"{_SHARES}a forest on the first (?P<first>{_COUNT}) (?P=what) errs on [0-9]+\.[0-9]{{2}}% of those it has not "
    r"seen, on half as many [0-9]+\.[0-9]{2}%"
)
_FEW = re.compile(
    rf"half of the (?P<what>rows|entities) train the voters: (?P<all>{_COUNT}) (?P=what) are too few for a learning "
    "curve"
)
_FOLDED = re.compile(rf"(?P<folds>[234]) votes, each certified on a fold of the other (?P<what>rows): {_ERRORS}")


def n_first(total: int) -> int:
    """Of so many rows, how many are looked at."""
    return round(_FIRST * total)


def looks_first(parameters: dict[str, Any]) -> bool:
    """Whether it was left to the first rows how many train the voters."""
    share = parameters["train_share"]
    return share is None or (share == "auto" and parameters["method"] == "auto")


def may_fold(c: Certificate, parameters: dict[str, Any]) -> bool:
    """Whether the first rows may have decided for folds of the others."""
    n_rows = c.provenance.n_rows
    return (
        looks_first(parameters)
        and parameters["split"] == "auto"
        and n_rows < _FOLDED_BELOW
        and n_first(n_rows) >= _FEWEST
        and not (c.groups or c.order)
        and len(c.promises) <= 1
        and parameters["promises"] == []
        and c.split in _FOLDS
    )


def is_folded(c: Certificate, parameters: dict[str, Any] | None) -> bool:
    """Whether the folds of a record are of the rows beyond the first only, which train the voters of all."""
    return parameters is not None and parameters["split"] == "auto" and c.split not in ("none", "single", "cross")


def check_choices(c: Certificate, parameters: dict[str, Any] | None) -> Check:
    """What the first rows decided is in the words, and they might decide it."""
    folded = is_folded(c, parameters)
    if not c.choices:
        return Check("choices", not folded, "none, and nothing says why there are folds" if folded else "none")
    text = c.choices[0]
    right = parameters is not None and looks_first(parameters) and len(c.choices) == 1
    if folded:
        right = right and _is_folds(c, text)
    else:
        right = right and c.split == "single" and is_train_share(c, text)
        # Before folds could be chosen, the first rows were others.
        right = right and (parameters is None or parameters["split"] != "auto" or not _EARLIER.fullmatch(text))
    n_rows, train = c.provenance.n_rows, c.deployed_part.training_rows
    return Check("choices", right, f"{text!r}, and {train:,} of {n_rows:,} rows train the voters")


def is_train_share(c: Certificate, text: str, entities: int | None = None) -> bool:
    """Whether a text gives the share of rows, or entities, that trains the voters, and the part has the others.

    ``entities`` is how many there are in all, if that is known.
    """
    few, earlier = _FEW.fullmatch(text), _EARLIER.fullmatch(text)
    found, n_rows = few or earlier or _SHARE.fullmatch(text), c.provenance.n_rows
    if found is None or found["what"] != ("entities" if c.groups else "rows"):
        return False
    number = _number(found["all" if few else "first"])
    if number is None or number > n_rows:
        return False
    part, percent = _EARLIER_FIRST if earlier else _FIRST, 50 if few else int(found["share"])
    totals = [n_rows]
    if entities is not None:
        totals = [entities]
    elif c.groups:  # how many entities there are, only this text says
        near = round(number / part)
        totals = [number] if few else list(range(max(near - 5, 1), near + 6))
    return any(
        number == (total if few else round(part * total))
        and c.deployed_part.size == total - round(percent / 100 * total)
        for total in totals
    )


def _is_folds(c: Certificate, text: str) -> bool:
    """Whether a text says that the first rows decided for the folds of the record."""
    found = _FOLDED.fullmatch(text)
    return found is not None and found["folds"] == c.split and _number(found["first"]) == n_first(c.provenance.n_rows)


def _number(said: str) -> int | None:
    """A whole number with a comma after every three digits; None if it is written in another way."""
    number = int(said.replace(",", ""))
    return number if f"{number:,}" == said else None

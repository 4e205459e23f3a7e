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

_FIRST, _FOLDED_FIRST = 0.2, 0.1
"""Share of the rows that is looked at, and where there may be folds."""
_FOLDS = ("2", "3")
_FOLDED_BELOW = 10_000
"""Rows from which on folds are not chosen."""
_FEWEST, _MOST = 40, 0.3
"""First rows below which nothing is decided by them, and the share of all that they may be for that."""

_COUNT = r"[1-9][0-9,]{0,15}"
_RATE = r"[0-9]{1,3}\.[0-9]{2}"
_SHARES = "(?P<share>50|55|60|65|70|75|80)% of the (?P<what>rows|entities) train the voters: "
_FIRST_ROWS = rf"on the first (?P<first>{_COUNT}) (?P=what), "
_ERRORS = rf"voters err on (?P<late>{_RATE})% of those they have not seen, on half as many on (?P<early>{_RATE})%"
_SHARE = re.compile(_SHARES + _FIRST_ROWS + _ERRORS)
_FEW = re.compile(
    rf"half of the (?P<what>rows|entities) train the voters: (?P<all>{_COUNT}) (?P=what) are too few for a learning "
    "curve"
)
_UNFITTED = re.compile(
    rf"half of the (?P<what>rows|entities) train the voters: on some of the first (?P<first>{_COUNT}) (?P=what) they "
    "cannot be fitted"
)
_FOLDED = re.compile(
    rf"(?P<folds>[23]) votes, each certified on a fold of its own: on the first (?P<first>{_COUNT}) (?P<what>rows), "
    rf"which are in no fold, {_ERRORS}"
)


_NUMBERS = (
    "rows were divided by their numbers, as on a cluster. Training there cannot be repeated: other partitions "
    "or workers train other voters. So the record holds the model, and not the recipe"
)
_SAMPLE = re.compile(
    rf"voters that are not trained where rows lie saw (?P<some>{_COUNT}) of (?P<all>{_COUNT}) training rows"
)
_LEARNED = re.compile(
    rf"weights were learned from (?P<some>{_COUNT}) of (?P<all>{_COUNT}) certification rows; all are counted"
)
"""What is said where rows were divided by their numbers."""


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


def check_choices(c: Certificate, parameters: dict[str, Any] | None) -> Check:
    """What the first rows decided is in the words, and they might decide it."""
    if c.division != "shuffled":
        return _by_number(c)
    folded = is_folded(c, parameters)
    if not c.choices:
        return Check("choices", not folded, "none, and nothing says why there are folds" if folded else "none")
    text = c.choices[0]
    right = parameters is not None and looks_first(parameters) and len(c.choices) == 1
    if folded:
        right = right and _is_folds(c, text)
    else:
        look = parameters is not None and _looks_for_folds(c, parameters)
        right = right and c.split == "single" and is_train_share(c, text, folds=look)
    n_rows, train = c.provenance.n_rows, c.deployed_part.training_rows
    return Check("choices", right, f"{text!r}, and {train:,} of {n_rows:,} rows train the voters")


def _by_number(c: Certificate) -> Check:
    """What is said of rows that were divided by their numbers: first that, then of how many which rows were used."""
    part, right, rest = c.deployed_part, c.choices[:1] == (_NUMBERS,), list(c.choices[1:])
    for pattern, total in ((_SAMPLE, part.training_rows), (_LEARNED, part.n)):
        found = pattern.fullmatch(rest[0]) if rest else None
        if found is not None:
            some, every = _number(found["some"]), _number(found["all"])
            right = right and some is not None and some < total and every == total
            rest = rest[1:]
    told = "as of rows that were divided by their numbers" if right and not rest else f"{c.choices!r:.300}"
    return Check("choices", right and not rest, told)


def is_train_share(c: Certificate, text: str, entities: int | None = None, folds: bool = False) -> bool:
    """Whether a text gives the share of rows, or entities, that trains the voters, and the part has the others.

    ``entities`` is how many there are in all, if that is known; ``folds``, whether there might have been some.
    """
    few, unfitted = _FEW.fullmatch(text), _UNFITTED.fullmatch(text)
    found, n_rows = few or unfitted or _SHARE.fullmatch(text), c.provenance.n_rows
    if found is None or found["what"] != ("entities" if c.groups else "rows"):
        return False
    number = _number(found["all" if few else "first"])
    if number is None or number > n_rows or not _are_rates(found, number):
        return False
    percent = 50 if few or unfitted else int(found["share"])
    totals = [n_rows]
    if entities is not None:
        totals = [entities]
    elif c.groups:  # how many entities there are, only this text says
        near = round(number / _FIRST)
        totals = [number] if few else list(range(max(near - 5, 1), near + 6))
    return any(
        number == (total if few else n_first(total) if folds else round(_FIRST * total))
        and c.deployed_part.size == total - round(percent / 100 * total)
        for total in totals
    )


def _is_folds(c: Certificate, text: str) -> bool:
    """Whether a text says that the first rows decided for the folds of the record."""
    found, first = _FOLDED.fullmatch(text), n_first(c.provenance.n_rows)
    if found is None or found["folds"] != c.split or _number(found["first"]) != first:
        return False
    return _are_rates(found, first)


def _are_rates(found: re.Match[str], n: int) -> bool:
    """Whether rates of error, if the text has some, are of so many rows; those of entities are means of rates."""
    said = [found[name] for name in ("late", "early") if name in found.re.groupindex]
    if found["what"] == "entities":
        return all(float(rate) <= 100.0 for rate in said)
    return all(any(f"{k / n:.2%}" == f"{rate}%" for k in _near(float(rate) / 100 * n, n)) for rate in said)


def _near(number: float, most: int) -> range:
    """Whole numbers not far from this one."""
    return range(max(round(number) - 1, 0), min(round(number) + 1, most) + 1)


def _number(said: str) -> int | None:
    """A whole number with a comma after every three digits; None if it is written in another way."""
    number = int(said.replace(",", ""))
    return number if f"{number:,}" == said else None

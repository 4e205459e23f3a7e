"""What looking at the rows has shown: facts of known kinds, which decide nothing or are recorded with what they did."""

from collections.abc import Sequence
from dataclasses import dataclass

FINDINGS = {
    "numbers the rows": ("share",),
    "tells the class": ("share",),
    "names each row": (),
    "constant": (),
    "empty": (),
    "columns looked at": ("count", "count"),
    "repeated values": ("count", "count", "count"),
    "neighbours alike": ("share",),
    "near-duplicates": ("share",),
}
"""The kinds of findings, and what the numbers of each are: see :class:`Finding`."""
_OF_TABLES = ("columns looked at", "neighbours alike", "near-duplicates")
"""The kinds that are about no single column."""
_MOST = 2.0**53


@dataclass(frozen=True)
class Finding:
    """Something that a reader should know about the table: nothing was decided by it, and no bound rests on it.

    Attributes
    ----------
    kind : str
        ``numbers the rows`` or ``tells the class``: each of the columns alone tells the class of a share of the
        training rows. ``names each row``: they have another value in nearly every row. ``constant``, ``empty``: they
        say nothing. ``columns looked at``: how many, of how many. ``repeated values``: a column seems to name what rows
        belong to; how many values it has, and the fewest and the most rows with one of them. ``neighbours alike``: how
        often rows are nearer to the next one than to one further on. ``near-duplicates``: the share of the
        certification rows that have some among the training rows, or among the others if there are none.
    places : tuple of int
        Numbers of the columns, counted from 0.
    columns : tuple of str
        Their names; empty if they have none.
    numbers : tuple of float
        The shares and counts.
    """

    kind: str
    places: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True)
class FirstRows:
    """What the first rows, in their random order, have decided about the others. None of them certifies.

    Attributes
    ----------
    looked_at : int
        How many were looked at; with groups, entities.
    found : {"learning curve", "too few", "not fitted"}
        Whether a learning curve could be drawn from them: there may be too few, or too few of a class; or voters could
        not be fitted to some of them.
    share : float or None
        The share of all rows, or entities, that trains the voters; None if the others fall into folds.
    late, early : float or None
        How often voters that were fitted to some of these rows were wrong on others of them; and voters that were
        fitted to half as many.
    """

    looked_at: int
    found: str
    share: float | None
    late: float | None
    early: float | None


def check_findings(findings: Sequence[Finding]) -> None:
    """Refuse findings of unknown kinds, or without what belongs to their kind."""
    for number, finding in enumerate(findings):
        where = f"findings[{number}]"
        kinds = FINDINGS.get(finding.kind)
        if kinds is None:
            raise ValueError(f"Not a certificate: {where}.kind must be one of {', '.join(FINDINGS)}.")
        if len(finding.numbers) != len(kinds) or not all(map(_is, finding.numbers, kinds)):
            raise ValueError(f"Not a certificate: {where}.numbers must be {', '.join(kinds) or 'empty'}.")
        if bool(finding.places) == (finding.kind in _OF_TABLES):
            raise ValueError(f"Not a certificate: {where}.places must name {'no' if finding.places else 'a'} column.")
        if len(finding.columns) not in (0, len(finding.places)):
            raise ValueError(f"Not a certificate: {where}.columns must be names of {len(finding.places)} columns.")


def _is(number: float, kind: str) -> bool:
    if kind == "share":
        return 0.0 <= number <= 1.0
    return number.is_integer() and 0.0 <= number <= _MOST

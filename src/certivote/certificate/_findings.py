"""What looking at the rows has shown: facts of known kinds, which decide nothing or are recorded with what they did."""

from dataclasses import dataclass
from typing import Annotated, Literal

from certivote.codec import CodecError, Count, Names, Share

FINDINGS = {
    "dates tell the class": ("share",),
    "copies the class": (),
    "numbers the rows": ("share",),
    "tells the class": ("share",),
    "filled for one class": ("share",),
    "without giveaways": ("share", "share"),
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
_OF_PAIRS = ("dates tell the class",)
"""The kinds that are about two columns."""
_MOST = 2.0**53


@dataclass(frozen=True)
class Finding:
    """Something that a reader should know about the table: nothing was decided by it, and no bound rests on it.

    Attributes
    ----------
    kind : str
        ``dates tell the class``: the time between two columns of dates tells the class of a share of the training rows.
        ``copies the class``: each value of these columns is one class, and each class one value, in all training rows.
        ``numbers the rows`` or ``tells the class``: each of the columns alone tells the class of a share of the
        training rows. ``filled for one class``: of the training rows in which they have a value, such a share is of one
        class. ``without giveaways``: how often small forests err out of sample on training rows, with all columns and
        without these, which give the class away. ``names each row``: they have another value in nearly every row.
        ``constant``, ``empty``: they say nothing. ``columns looked at``: how many, of how many. ``repeated values``: a
        column seems to name what rows belong to; how many values it has, and the fewest and the most rows with one of
        them. ``neighbours alike``: how often rows are nearer to the next one than to one further on.
        ``near-duplicates``: the share of the certification rows that have some among the training rows, or among the
        others if there are none.
    places : tuple of int
        Numbers of the columns, counted from 0.
    columns : tuple of str
        Their names; empty if they have none.
    numbers : tuple of float
        The shares and counts.
    """

    kind: Annotated[str, Names(FINDINGS)]
    places: tuple[Count, ...] = ()
    columns: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()

    def check(self) -> None:
        """Refuse one without what belongs to its kind."""
        kinds = FINDINGS[self.kind]
        if len(self.numbers) != len(kinds) or not all(map(_is, self.numbers, kinds)):
            raise CodecError(f"must have {' and '.join(kinds) or 'nothing'} in numbers")
        if bool(self.places) == (self.kind in _OF_TABLES):
            raise CodecError(f"must have {'no' if self.places else 'a'} column in places")
        if self.kind in _OF_PAIRS and len(self.places) != 2:
            raise CodecError("must have two columns in places")
        if len(self.columns) not in (0, len(self.places)):
            raise CodecError(f"must have names of {len(self.places)} columns")


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

    looked_at: Count
    found: Literal["learning curve", "too few", "not fitted"]
    share: Share | None
    late: Share | None
    early: Share | None


def _is(number: float, kind: str) -> bool:
    if kind == "share":
        return 0.0 <= number <= 1.0
    return number.is_integer() and 0.0 <= number <= _MOST

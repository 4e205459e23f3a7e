"""The frozen records of what else is said of a vote: promises, which are made of statements."""

from dataclasses import dataclass

from certivote.certificate._statements import Delta, Statement
from certivote.codec import Count


@dataclass(frozen=True)
class Fixed:
    """Something that was fixed before the rows were counted that the statements are about.

    Attributes
    ----------
    what : str
        What it is: ``thresholds``, ``costs``, the name of a column.
    numbers : tuple of float
    words : tuple of str
    """

    what: str
    numbers: tuple[float, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class PromiseRecord:
    """A promise about the deployed vote beside its bound: all of its statements hold at once, up to ``delta``.

    Attributes
    ----------
    name : str
        Which promise, see :mod:`certivote.promises`.
    parameters : tuple of (str, str)
        What was asked for, as names and JSON.
    delta : float
        Probability with which any of the statements may fail.
    fixed : tuple of Fixed
        What was fixed beforehand.
    guide_rows : int
        Rows that fixed it; 0 if none did.
    set_aside : int
        How many of these are certification rows. They were chosen at random and are not counted in any statement.
    statements : tuple of Statement
    chosen : int or None
        Of statements that were tested one after another until one failed, the number of the one in force; None if none
        is, and where all are.
    thresholds : tuple of float
        What decides about new cases: one number, or one per class; empty if nothing does.
    value : float or None
        What follows from the statements as a whole, if that is a number: the target that was met, an expected cost.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    delta: Delta
    fixed: tuple[Fixed, ...]
    guide_rows: Count
    set_aside: Count
    statements: tuple[Statement, ...]
    chosen: Count | None
    thresholds: tuple[float, ...]
    value: float | None

    def __str__(self) -> str:
        from certivote.present import promise_text

        return promise_text(self)

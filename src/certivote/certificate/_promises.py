"""The frozen records of what else is said of a vote: promises, and the statements that they are made of."""

from dataclasses import dataclass, field

from certivote.certificate._parts import Bound, Delta
from certivote.codec import Count, Share


@dataclass(frozen=True)
class Statement:
    """An upper bound on the probability of an event, given a condition: P[event | condition] <= bound.

    Attributes
    ----------
    kind : str
        What the event and the condition are; the promise that it belongs to says which kinds it has.
    label : str
        What it is about: a class, a group of rows, a cost.
    threshold : float or None
        Where the condition or the event compares a score with a number, that number.
    n : int
        Certification rows that satisfy the condition.
    entities : int
        Entities that have such rows; 0 if every row is by itself. The bound is then on the mean, over new entities that
        have such cases, of the share of these at which the event happens.
    errors : int or None
        At how many of the rows the event happens; None for the random vote, which has no fixed answers, and where
        there are no rows.
    losses : tuple of float
        With entities, of each the share of its rows at which the event happens, in the order of the bets. Where the
        loss of a row is not just 0 or 1 and rows are by themselves, that of each row, in the order of the bets.
    risks, delta, risk_draws, risk_delta, confidence, bound
        As in :class:`PartRecord`, for these rows. The penalty is the part's own. Without rows the bound is 1.
    """

    kind: str
    label: str
    threshold: float | None
    n: Count
    entities: Count
    errors: Count | None
    losses: tuple[Share, ...] = field(repr=False)
    risks: tuple[Share, ...]
    delta: Delta
    risk_draws: Count
    risk_delta: Share
    confidence: float
    bound: Bound

    @property
    def size(self) -> int:
        """Independent cases that the bound is computed from: entities, or rows."""
        return self.entities or self.n


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

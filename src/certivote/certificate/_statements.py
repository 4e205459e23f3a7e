"""What is said of a fixed vote: one type of record for bounds, promises and comparisons, and promises made of them."""

import math
from dataclasses import dataclass, field
from typing import Annotated

from certivote.codec import CodecError, Count, Share, Within

Delta = Annotated[float, Within(0.0, 1.0, closed="neither")]
Bound = Annotated[float, Within(0.0, 4.0)]
"""The second-order bound is four times a probability."""

COMPARISONS = ("hold-out", "majority", "candidate")
"""The kinds that are about the errors of another classifier than the certified vote, on the same rows."""


@dataclass(frozen=True)
class Statement:
    """An upper bound on the probability of an event, given a condition: P[event | condition] <= bound.

    Attributes
    ----------
    kind : str
        What the event and the condition are: ``error`` of the certified vote, ``hold-out``, ``majority`` and
        ``candidate`` of another classifier that it is compared with. The promise that a statement belongs to says which
        kinds it has.
    label : str
        What it is about: a class, a group of rows, a cost.
    threshold : float or None
        Where the condition or the event compares a score with a number, that number.
    n : int
        Certification rows that satisfy the condition.
    entities : int
        How many entities (patients, machines, documents) have such rows; 0 if every row is by itself. The bound is then
        on the mean, over new entities that have such cases, of the share of these at which the event happens.
    errors : int or None
        At how many of the rows the event happens; None for the random vote, which has no fixed answers, and where
        there are no rows.
    losses : tuple of float
        With entities, of each the share of its rows at which the event happens, in the order of the bets (drawn from
        the seed and the data). Where the loss of a row is not just 0 or 1 and rows are by themselves, that of each row,
        in the order of the bets. Empty where the theorem starts from counts or means.
    means : tuple of float
        What the theorem starts from where that follows neither from ``errors`` nor from ``losses``: the random vote's
        mean error rate; the mean vote's mean of a function of the wrong mass; for the C-bound, mean wrong mass and
        disagreement; the mean cost. With entities, means over these.
    delta : float
        Probability with which the bound may fail, over all draws and orders.
    risk_draws, risk_delta : int and float
        Votes drawn to bound the random vote's error rate from above where it has no closed form, and what of ``delta``
        that takes; otherwise 0.
    bound : float
        Without rows it is 1.
    """

    kind: str
    label: str
    threshold: float | None
    n: Count
    entities: Count
    errors: Count | None
    losses: tuple[Share, ...] = field(repr=False)
    means: tuple[Share, ...]
    delta: Delta
    risk_draws: Count
    risk_delta: Share
    bound: Bound

    @property
    def size(self) -> int:
        """Independent cases that the bound is computed from: entities, or rows."""
        return self.entities or self.n

    @property
    def risks(self) -> tuple[float, ...]:
        """The empirical risks: the mean loss, or the share of rows at which the event happens, or ``means``."""
        if self.means or self.errors is None:
            return self.means
        # Rounded once, whatever the order of the losses.
        return (math.fsum(self.losses) / len(self.losses) if self.losses else self.errors / self.n,)

    @property
    def statistics(self) -> tuple[float, ...]:
        """What the theorem starts from: the risks and, where it bets on losses, each of these."""
        return (*self.risks, *self.losses)


class Kind:
    """Statements of one kind, which may be all that fits in a place of the record."""

    def __init__(self, kind: str):
        self.kind = kind

    def __call__(self, statement: Statement) -> None:
        if statement.kind != self.kind:
            raise CodecError(f"must be of the kind {self.kind!r}; got {statement.kind!r:.60}")


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

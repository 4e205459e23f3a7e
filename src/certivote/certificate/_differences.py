"""The record of a difference: two fixed classifiers on the same rows, and between which limits their errors differ."""

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Annotated

from certivote.certificate._statements import Delta
from certivote.codec import CodecError, Count, Share, Within

Signed = Annotated[float, Within(-1.0, 1.0)]


@dataclass(frozen=True)
class Difference:
    """Limits for the error of one model minus that of another, from their answers to the same rows.

    Attributes
    ----------
    first, second : str
        What the models are called.
    n : int
        Rows that both have answered.
    entities : int
        How many entities (patients, machines, documents) these belong to; 0 if every row is by itself. The errors are
        then those on a random row of a new entity.
    first_only, second_only : int
        Rows at which the first alone is wrong, and the second alone. At all others both are right, or both wrong.
    losses : tuple of float
        With entities, of each the mean of ``(1 + D)/2`` over its rows, in the order of the bets: ``D`` is 1 where the
        first alone is wrong, -1 where the second alone is, and 0 elsewhere.
    delta : float
        Probability with which either limit may fail.
    margin : float or None
        By how much the error of the first may be larger and still count as not worse, if that was asked for.
    lower, upper : float
        With probability at least ``1 - delta`` the difference lies between them.

    Examples
    --------
    >>> from certivote import certify_difference
    >>> truth, first, second = [0, 1] * 500, [0, 1] * 500, [0, 1] * 500
    >>> for row in range(15):
    ...     first[row] = 1 - first[row]
    >>> for row in range(100, 130):
    ...     second[row] = 1 - second[row]
    >>> found = certify_difference(truth, first, second)
    >>> found.discordant, round(found.observed, 3), found.verdict
    ((15, 30), -0.015, 'better')
    >>> import textwrap
    >>> print(textwrap.fill(str(found), 90))
    With 95 % confidence: 'first' is better than 'second': its error is smaller by 0.16 to
    2.98 percentage points (wrong alone on 15 and 30 of 1,000 rows).
    """

    first: str
    second: str
    n: Annotated[int, Within(1, 2**53)]
    entities: Count
    first_only: Count
    second_only: Count
    losses: tuple[Share, ...] = field(repr=False)
    delta: Delta
    margin: Share | None
    lower: Signed
    upper: Signed

    def __str__(self) -> str:
        from certivote.present import difference_text

        return difference_text(self)

    @property
    def discordant(self) -> tuple[int, int]:
        """Rows at which the first alone is wrong, and at which the second alone is."""
        return self.first_only, self.second_only

    @property
    def size(self) -> int:
        """Independent cases: entities, or rows."""
        return self.entities or self.n

    @property
    def observed(self) -> float:
        """The error of the first minus that of the second on these rows; with entities, in the mean over these."""
        if self.losses:
            return 2.0 * math.fsum(self.losses) / len(self.losses) - 1.0
        return (self.first_only - self.second_only) / self.n

    @property
    def within_margin(self) -> bool:
        """Whether it is shown that the first is not worse by the margin that was asked for, or better."""
        return self.upper < (self.margin or 0.0)

    @property
    def verdict(self) -> str:
        """What follows from the limits of the first model.

        That is ``better``, ``worse``, ``not worse by more than`` the margin, or that they ``cannot be told apart``;
        all of these may be said of the same limits, at no further price.
        """
        within = f"not worse by more than {self.margin:g}" if self.margin and self.within_margin else ""
        if self.upper < 0.0:
            return "better"
        if self.lower > 0.0:
            return f"worse, but {within}" if within else "worse"
        return within or "cannot be told apart"

    def rows_needed(self, power: float = 0.8) -> int | None:
        """About how many rows would show it, if these shares stay as they are: an estimate, not a promise.

        Parameters
        ----------
        power : float in (0, 1), default=0.8
            Probability with which so many rows would show it.

        Returns
        -------
        int or None
            Rows after which the first would be told apart from the second, or shown to be not worse by more than the
            margin if there is one; None if no number would do: the same error was observed, or more than the margin.
        """
        if not 0.0 < power < 1.0:
            raise ValueError(f"power must lie strictly between 0 and 1; got {power!r}.")
        seen = self.observed
        gap = self.margin - seen if self.margin else abs(seen)
        if not gap > 0.0:
            return None
        # Limits and chance both shrink as one over the square root of the rows.
        near = self.upper - seen if self.margin or seen < 0.0 else seen - self.lower
        width = near + NormalDist().inv_cdf(power) * math.sqrt(self._variance / self.size)
        return max(math.ceil(self.n * (max(width, 0.0) / gap) ** 2), 1)

    @property
    def _variance(self) -> float:
        """Of the difference at a case, as far as is seen; never none."""
        if self.losses:
            mean = math.fsum(self.losses) / len(self.losses)
            return (4.0 * math.fsum((loss - mean) ** 2 for loss in self.losses) + 1.0) / (len(self.losses) + 1.0)
        return (self.first_only + self.second_only + 1.0) / (self.n + 1.0) - self.observed**2

    def check(self) -> None:
        """Refuse numbers that contradict one another."""
        if self.first_only + self.second_only > self.n:
            raise CodecError(f"has {self.first_only} and {self.second_only} discordant rows of {self.n}")
        if self.entities > self.n or len(self.losses) != self.entities:
            raise CodecError(f"has {len(self.losses)} losses of {self.entities} entities in {self.n} rows")
        if self.lower > self.upper:
            raise CodecError(f"has a lower limit of {self.lower} above {self.upper}")

"""What a certificate records of the one before it, and of what was watched meanwhile."""

from dataclasses import dataclass

from certivote.codec import Count


@dataclass(frozen=True)
class Earlier:
    """The certificate before, of the same vote.

    Attributes
    ----------
    digest : str
        Its :attr:`~certivote.Certificate.digest`.
    created, loss, groups, delta, bound
        As it has them.
    n : int
        Its certification rows.
    """

    digest: str
    created: str
    loss: str
    groups: str
    delta: float
    bound: float
    n: Count


@dataclass(frozen=True)
class AlarmRecord:
    """One statement that a monitor found not to hold.

    Attributes
    ----------
    name : str
        What it was about; empty where rows were compared without labels.
    bound : float or None
        The bound that did not hold, if there was one.
    after : int
        The number of the outcome, or of the row, that raised the alarm.
    when : str
    """

    name: str
    bound: float | None
    after: Count
    when: str


@dataclass(frozen=True)
class WatchRecord:
    """What a monitor has seen since the certificate before.

    Attributes
    ----------
    labelled : bool
        Whether outcomes were counted; otherwise rows were compared without labels.
    alpha : float
        The probability of a false alarm.
    first, last : str
        When it was first and last told something; empty if never.
    n : int
        Outcomes or rows; with groups, entities.
    errors : float or None
        Of the outcomes; with groups, the sum of the shares of wrong answers.
    error_limit : float or None
        What the mean error was at most.
    alarms : tuple of AlarmRecord
    moved : tuple of str
        The columns whose values had moved most when there was an alarm.
    """

    labelled: bool
    alpha: float
    first: str
    last: str
    n: Count
    errors: float | None = None
    error_limit: float | None = None
    alarms: tuple[AlarmRecord, ...] = ()
    moved: tuple[str, ...] = ()

"""What became of the rows that a monitor was given."""

from dataclasses import dataclass, fields

from certivote.codec import Count

MOST_CALLS = 500


@dataclass(frozen=True)
class Counted:
    """What became of the rows of one update, or of all of them.

    Attributes
    ----------
    rows : int
        Rows that were given.
    counted : int
        Rows that were counted.
    repeated : int
        Rows whose id was there before: they are counted once.
    later : int
        With entities, rows that are left out: of entities that were counted in an earlier update.
    entities : int
        With entities, those that were counted.
    """

    rows: Count = 0
    counted: Count = 0
    repeated: Count = 0
    later: Count = 0
    entities: Count = 0

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Counted)))


def noted(calls: list[tuple[int, str]], n: int, when: str) -> list[tuple[int, str]]:
    """How many outcomes there were when, with one more; every other one if there are too many.

    Examples
    --------
    >>> noted([(5, "Monday")], 9, "Tuesday")
    [(5, 'Monday'), (9, 'Tuesday')]
    """
    more = [*calls, (n, when)]
    return more if len(more) <= MOST_CALLS else [*more[:-1:2], more[-1]]

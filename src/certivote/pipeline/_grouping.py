"""What the rows come in: entities that must not be divided, or an order in time."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils.validation import check_consistent_length

from certivote.certificate import Certificate, Drift, missing_places, names_of
from certivote.pipeline._input import column_name, plain_values
from certivote.pipeline._streams import Streams
from certivote.theory.entities import Entities

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Grouping:
    """How rows may be divided into parts.

    Attributes
    ----------
    entities : array of int or None
        Of each row, the number of its entity; None if every row is by itself. They are numbered in the order in which
        bets are placed: as they come, and at random after :meth:`shuffled`.
    times : array or None
        What puts the rows in their order in time, if they have one.
    groups, order : str
        What they are called in a certificate; empty if there are none.
    beside : dict
        The names of the entities or the times, for the digest of the data.
    ties : array of int or None
        Of each row, its place among the rows of its entity.
    """

    entities: Codes | None = None
    times: NDArray[Any] | None = None
    groups: str = ""
    order: str = ""
    beside: dict[str, Any] = field(default_factory=dict)
    ties: Codes | None = None

    @property
    def _count(self) -> int:
        return 0 if self.entities is None else int(self.entities.max()) + 1

    def arranged(self, n_rows: int, rng: np.random.Generator) -> Codes:
        """The numbers of all entities, or rows, from the first that trains to the last that certifies.

        At random, or, of rows with an order in time, the earliest first and those of one moment at random: the order of
        a file may go with the labels.
        """
        if self.times is not None:
            return np.lexsort((rng.permutation(n_rows), self.times))
        return rng.permutation(n_rows if self.entities is None else self._count)

    def shuffled(self, streams: Streams) -> "Grouping":
        """The same with the entities numbered at random, and the rows of each in random order."""
        if self.entities is None:
            return self
        numbers = streams.of("bets").permutation(self._count)
        return replace(
            self, entities=numbers[self.entities], ties=streams.of("rows of entities").permutation(len(self.entities))
        )

    def rows_of(self, units: Codes) -> Codes:
        """The row numbers of some entities, in their order; rows that are by themselves stay as they come."""
        if self.entities is None:
            return units
        places = np.full(self._count, len(units))
        places[units] = np.arange(len(units))
        own = places[self.entities]
        ordered = np.argsort(own, kind="stable") if self.ties is None else np.lexsort((self.ties, own))
        return ordered[: np.count_nonzero(own < len(units))]

    def of(self, rows: Codes) -> Entities | None:
        """The entities of some rows."""
        return None if self.entities is None else Entities(self.entities).among(rows)

    def of_training(self, rows: Codes) -> Entities | None:
        """The same with entities numbered as they come: nothing but these rows has a part in their numbers."""
        if self.entities is None:
            return None
        _, first, codes = np.unique(self.entities[rows], return_index=True, return_inverse=True)
        return Entities(np.argsort(np.argsort(first))[codes])

    def places(self, units: Codes) -> Codes:
        """Of each entity, by its number, its place among some of them."""
        places = np.zeros(self._count, dtype=np.intp)
        places[units] = np.arange(len(units))
        return places


def make_grouping(n_rows: int, groups: ArrayLike | None, order: ArrayLike | None) -> Grouping:
    """Check the arguments ``groups`` and ``order``, and number the entities as they come.

    Examples
    --------
    >>> make_grouping(4, groups=["ann", "bob", "ann", "eve"], order=None).entities.tolist()
    [0, 1, 0, 2]
    """
    if groups is not None and order is not None:
        raise ValueError(
            "groups and order cannot be used together: entities are divided among the parts at random, rows with an "
            "order in time by their time. Give groups if new entities will come, order if later times will."
        )
    if groups is not None:
        names = names_of(_checked(groups, n_rows, "groups"))
        if len(set(names)) < 2:
            raise ValueError(f"groups must name at least two entities; all {n_rows:,} rows are of {names[0]!r:.80}.")
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        entities = np.array([numbers[name] for name in names])
        return Grouping(entities=entities, groups=column_name(groups) or "groups", beside={"groups": names})
    if order is not None:
        times = _times(_checked(order, n_rows, "order"), n_rows)
        return Grouping(times=times, order=column_name(order) or "order", beside={"order": times})
    return Grouping()


def require_repeatable(certificate: Certificate, groups: Any, order: Any) -> None:
    """Refuse to repeat a fit without its seed or what its rows belonged to, or when they were taken; or a cluster's."""
    if certificate.division != "shuffled":
        raise ValueError(
            "The vote was trained on a cluster, which cannot be repeated: other partitions or workers train other "
            "voters. The model file holds the model, and not the recipe."
        )
    for name, recorded, given in (("groups", certificate.groups, groups), ("order", certificate.order, order)):
        if recorded and given is None:
            raise ValueError(f"The vote was certified with {name} ({recorded!r}): give {name}= to repeat its fit.")


def required_grouping(earlier: Iterable[Certificate], groups: Any, order: Any) -> tuple[Any, Any]:
    """What rows of a vote that has certificates already belong to, or when they were taken; None for neither.

    Where these certificates are about entities or a time, it must be given, or False to leave it out on purpose.
    """
    for certificate in earlier:
        if certificate.groups and groups is None:
            raise ValueError(
                f"The vote was certified with groups ({certificate.groups!r}), whose rows are not independent: give "
                "groups=, what each row belongs to, or groups=False to certify rows as if they were independent."
            )
        if certificate.order and order is None and (groups is None or groups is False):
            raise ValueError(
                f"The vote was certified with order ({certificate.order!r}): give order=, when each row was taken, or "
                "order=False for a certificate that says nothing of time."
            )
    return None if groups is False else groups, None if order is False else order


def drift_of(wrong: NDArray[np.bool_], times: NDArray[Any]) -> tuple[Drift, ...]:
    """Fisher's exact test of whether later rows have another share of errors than earlier ones; none for one moment.

    The rows are divided at a moment, as near to one half as can be: rows of one moment have no order.

    Examples
    --------
    >>> wrong = np.array([False] * 10 + [True] * 6 + [False] * 4)
    >>> (drift,) = drift_of(wrong, np.arange(20))
    >>> drift.early_errors, drift.late_errors, round(drift.p_value, 4)
    (0, 6, 0.0108)
    """
    moments, counts = np.unique(times, return_counts=True)
    if len(moments) < 2:
        return ()
    earlier = np.cumsum(counts)[:-1]  # rows before the second moment, the third, ...
    place = int(np.argmin(np.abs(earlier - len(times) // 2)))
    is_late, n_early = times >= moments[place + 1], int(earlier[place])
    early, late = int(np.count_nonzero(wrong & ~is_late)), int(np.count_nonzero(wrong & is_late))
    n_late = len(times) - n_early
    p_value = stats.fisher_exact([[early, n_early - early], [late, n_late - late]]).pvalue
    return (Drift(n_early, early, n_late, late, float(min(p_value, 1.0))),)


def _checked(given: ArrayLike, n_rows: int, name: str) -> list[Any]:
    """One value per row, none of them missing."""
    values = plain_values(given, name)
    check_consistent_length(values, np.empty(n_rows))
    missing = missing_places(values)
    if missing:
        raise ValueError(
            f"{name} must have a value for every row; {len(missing):,} are missing, the first in row {missing[0]}."
        )
    return values


def _times(values: list[Any], n_rows: int) -> NDArray[Any]:
    """Numbers, or moments in UTC."""
    if all(isinstance(value, date) for value in values):
        moments = pd.to_datetime(pd.Series(values, dtype=object), utc=True)
        times: NDArray[Any] = moments.dt.tz_localize(None).to_numpy()
    elif all(isinstance(value, timedelta) for value in values):
        times = pd.to_timedelta(pd.Series(values, dtype=object)).to_numpy()
    elif all(isinstance(value, int | float) for value in values):
        times = np.array(values)
    else:
        raise ValueError(
            "order must hold numbers or dates, which say when each row was taken; got values such as "
            f"{values[0]!r:.80}. Text with dates becomes dates by pandas.to_datetime."
        )
    if len(np.unique(times)) < 2:
        raise ValueError(f"order must tell earlier rows from later ones; all {n_rows:,} values are equal.")
    return times

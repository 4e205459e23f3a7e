"""Which rows have been counted, told apart by digests of what identifies them, and what became of all of them."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.codec import Count
from certivote.monitor._inputs import names

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


def add_call(calls: list[tuple[int, str]], n: int, when: str) -> list[tuple[int, str]]:
    """How many outcomes there were when, with one more; every other one if there are too many.

    Examples
    --------
    >>> add_call([(5, "Monday")], 9, "Tuesday")
    [(5, 'Monday'), (9, 'Tuesday')]
    """
    more = [*calls, (n, when)]
    return more if len(more) <= MOST_CALLS else [*more[:-1:2], more[-1]]


Digests = NDArray[np.uint64]


def name_digests(texts: Iterable[str], purpose: str) -> Digests:
    """The first 64 bits of the SHA-256 of each name; of several purposes they have nothing in common.

    Among a million names two have the same digest with a probability of less than one in ten million.
    """
    start = hashlib.sha256(f"certivote {purpose}\0".encode())
    found = bytearray()
    for text in texts:
        own = start.copy()
        own.update(text.encode("utf-8", "surrogatepass"))
        found += own.digest()[:8]
    return np.frombuffer(bytes(found), dtype="<u8").astype(np.uint64)


class IdSet:
    """Digests of names, each once, in ascending order.

    Attributes
    ----------
    digests : array
    kind : str
        What names are, if that was said.

    Examples
    --------
    >>> seen = IdSet()
    >>> seen.news(np.array([5, 3, 5], dtype=np.uint64)).tolist()
    [True, True, False]
    >>> seen.add(np.array([5, 3], dtype=np.uint64))
    >>> seen.news(np.array([3, 4], dtype=np.uint64)).tolist()
    [False, True]
    """

    def __init__(self, digests: Digests | None = None, kind: str = ""):
        self.digests = np.empty(0, dtype=np.uint64) if digests is None else digests
        self.kind = kind

    def tell_by(self, kind: str) -> None:
        """From now on names are of this kind, such as ``ids``; refuse another than before, which would count twice."""
        known = self.kind or ("ids" if len(self.digests) else kind)
        if kind != known:
            raise ValueError(
                f"Rows were told apart by their {known} when this state was begun; by their {kind} those that were "
                "counted would count again: tell them apart as before, or begin another state."
            )
        self.kind = kind

    def news(self, digests: Digests) -> NDArray[np.bool_]:
        """Which of these occur for the first time."""
        first = np.zeros(len(digests), dtype=bool)
        first[np.unique(digests, return_index=True)[1]] = True
        return first & ~self.known(digests)

    def known(self, digests: Digests) -> NDArray[np.bool_]:
        """Which of these were added before."""
        if not len(self.digests):
            return np.zeros(len(digests), dtype=bool)
        places = np.minimum(np.searchsorted(self.digests, digests), len(self.digests) - 1)
        return np.asarray(self.digests[places] == digests)

    def add(self, digests: Digests) -> None:
        """Remember them."""
        self.digests = np.union1d(self.digests, digests)


@dataclass(frozen=True)
class NewRows:
    """Rows of one update that are to be counted.

    Attributes
    ----------
    places : array of int
        Rows that come for the first time, of entities that were not counted in an earlier update.
    ids, entities : array or None
        Digests of what identifies each row, and of the entity that it belongs to.
    repeated, later : int
        As in :class:`Counted`.
    """

    places: NDArray[np.intp]
    ids: Digests | None
    entities: Digests | None
    repeated: int
    later: int


class CountingMonitor(ABC):
    """What monitors of outcomes and of rows have in common: each row counts once, and so does each entity.

    Attributes
    ----------
    certificate_digest : str
    alpha : float
    groups : str
        What tells which rows belong together; empty if every row is by itself.
    total : Counted
        What became of all rows.
    calls : list of (int, str)
        How many had been counted when; after many updates, of every other one.
    ids, entities : IdSet
        Digests of those that were counted.
    """

    certificate_digest: str
    alpha: float
    groups: str
    one_row_each = False
    """Whether of the rows of an entity in an update only one is counted."""

    def __init__(self) -> None:
        self.total, self.calls = Counted(), list[tuple[int, str]]()
        self.ids, self.entities = IdSet(), IdSet()

    @property
    @abstractmethod
    def n(self) -> int:
        """What was counted; with entities, entities."""

    def _new_rows(self, count: int, ids: Any, groups: Any, beside: str) -> NewRows:
        """What of ``count`` rows is to be counted; nothing is changed yet."""
        if (groups is None) == bool(self.groups):
            raise ValueError(
                f"The certificate is about entities ({self.groups}): give groups=, what each row belongs to."
                if self.groups
                else "groups cannot be used here: the certificate is about single rows, not about entities."
            )
        own = None if ids is None else name_digests(names(ids, "ids", count, beside), "id")
        entities = None if groups is None else name_digests(names(groups, "groups", count, beside), "entity")
        fresh = np.arange(count) if own is None else np.flatnonzero(self.ids.news(own))
        places = fresh if entities is None else fresh[~self.entities.known(entities[fresh])]
        return NewRows(places, own, entities, count - len(fresh), len(fresh) - len(places))

    def _remember(self, count: int, new: NewRows, n_counted: int, n_entities: int, when: str) -> Counted:
        """Remember the ids and entities of an update that was counted, and tell what became of its rows."""
        if new.ids is not None:
            self.ids.add(new.ids)
        if new.entities is not None:
            self.entities.add(new.entities[new.places])
        counted = Counted(count, n_counted, new.repeated, new.later, n_entities)
        self.total = self.total + counted
        self.calls = add_call(self.calls, self.n, when)
        return counted


def row_ids(keys: Sequence[Any]) -> list[str]:
    """Names for rows that have none: what is in a row, and how many equal rows of the same file come before it.

    A file that has grown, given again, then counts its new rows only. But **equal rows in different files count once**:
    if two cases may have the same values, the same answer and the same outcome, give ids of your own.

    Parameters
    ----------
    keys : sequence
        What is in each row, such as :func:`certivote.certificate.row_keys`.

    Examples
    --------
    >>> row_ids([b"a", b"b", b"a"])
    ['61 1', '62 1', '61 2']
    """
    counts: dict[str, int] = {}
    ids = []
    for key in keys:
        name = key.hex() if isinstance(key, bytes) else str(key)
        counts[name] = counts.get(name, 0) + 1
        ids.append(f"{name} {counts[name]}")
    return ids

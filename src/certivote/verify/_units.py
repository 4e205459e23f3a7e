"""What the rows come in, from the data: entities that the auditor numbers itself, or rows in their order in time."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate
from certivote.verify._check import Check, trusted
from certivote.verify._simulation import Array, Labels
from certivote.verify._sizes import divided
from certivote.verify._words import is_train_share

__all__ = ["Units", "entity_losses", "read_units", "renumbered", "row_shares"]


@dataclass(frozen=True)
class Units:
    """What was given of the rows besides their values.

    Attributes
    ----------
    checks : tuple of Check
        What it says about the certificate as a whole.
    entities : array of int or None
        Of each row, the number of its entity in the order of the bets; None if every row is by itself, or if nothing
        says which belong together.
    times : array or None
        When each row was taken.
    named : bool
        Whether the name of the column was compared.
    """

    checks: tuple[Check, ...] = ()
    entities: Labels | None = None
    times: NDArray[Any] | None = None
    named: bool = False

    def of_rows(self, rows: NDArray[np.intp]) -> tuple[Labels | None, NDArray[Any] | None]:
        """Entities and times of some rows; entities are numbered among these."""
        entities = None if self.entities is None else renumbered(self.entities[rows])
        return entities, None if self.times is None else self.times[rows]

    def check_parts(
        self, c: Certificate, parameters: dict[str, Any] | None, parts: Sequence[Any], n_rows: int
    ) -> Iterator[Check]:
        """Whether every part has the entities, or the times, that its split gives it."""
        if self.entities is not None:
            yield from self._check_entities(c, parameters, parts)
        if self.times is not None and c.order:
            moments = self.times
            ordered = np.array(sorted(range(n_rows), key=lambda row: moments[row]), dtype=np.intp)
            for part in parts:
                first = len(part.train)
                right = np.array_equal(np.sort(ordered[:first]), part.train)
                right = right and np.array_equal(np.sort(ordered[first:]), part.certify)
                told = "the earliest train, the latest certify" if right else "NOT the latest rows certify"
                yield Check("order of the rows", right, told)

    def _check_entities(
        self, c: Certificate, parameters: dict[str, Any] | None, parts: Sequence[Any]
    ) -> Iterator[Check]:
        assert self.entities is not None
        found = [(len(set(self._of(part.train))), len(set(self._of(part.certify)))) for part in parts]
        both = sum(len(set(self._of(part.train)) & set(self._of(part.certify))) for part in parts)
        told = f"{both:,} have rows in BOTH" if both else "none has rows in both"
        yield Check("entities kept together", not both, f"of those that train and those that certify, {told}")
        total = len(set(self.entities.tolist()))
        right = [own for _, own in found] == [part.entities for part in c.parts]
        right = right and divided(c, total, parameters, found[0][0]) == found
        right = right and all(is_train_share(c, text, total) for text in c.choices)
        shown = ", ".join(f"{train:,} + {certify:,}" for train, certify in found)
        yield Check("entities of the parts", right, f"{shown} of {total:,}, split {c.split}")

    def _of(self, rows: NDArray[np.intp]) -> list[int]:
        assert self.entities is not None
        own: list[int] = self.entities[rows].tolist()
        return own


def read_units(c: Certificate, n_rows: int, groups: Any, order: Any) -> Units:
    """What the arguments ``groups`` and ``order`` say about so many rows, and whether the certificate says the same."""
    for what, given, name in (("groups", groups, c.groups), ("order in time", order, c.order)):
        if given is None:
            if name:
                needs = "which rows belong together" if what == "groups" else "when each row was taken"
                why = f"give {what.split()[0]}=, the column {name:.80}: without it nothing says {needs}"
                return Units((trusted(what, why),))
            continue
        values = np.asarray(given)
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        if values.shape != (n_rows,):
            return Units((Check(what, False, f"{values.shape} values for {n_rows:,} rows"),))
        plain = values.tolist()
        if any(value is None or value != value for value in plain):
            return Units((Check(what, False, "some rows have no value"),))
        if what == "groups":
            numbers = _numbers(plain)
            largest = int(np.bincount(numbers).max())
            right = bool(name) or largest == 1
            told = f"{int(numbers.max()) + 1:,} entities with up to {largest:,} rows"
            told += "" if right else ", and the certificate counts every row BY ITSELF"
            units = Units((Check(what, right, told),), entities=numbers if name else None)
        else:
            right = bool(name) and values.dtype.kind in "biufMm"
            told = f"{n_rows:,} rows in their order in time"
            told += (
                "" if right else ", and the certificate knows of NONE" if not name else ", but NOT by numbers or dates"
            )
            units = Units((Check(what, right, told),), times=values if right else None)
        if not right:
            return units
        label = _label(given)
        if label and name:
            same = label == name
            checks = (
                *units.checks,
                Check(f"name of the {what.split()[0]}", same, f"{label:.80} given, {name:.80} recorded"),
            )
            return Units(checks, units.entities, units.times, named=True)
        return units
    return Units()


def _label(given: Any) -> str:
    """The name of a column; empty if it has none."""
    name = given.columns[0] if hasattr(given, "columns") else getattr(given, "name", None)
    return "" if name is None else str(name)


def _numbers(values: list[Any]) -> Labels:
    """Entities in the order of the SHA-256 of their names as text, in which 7, 7.0 and "7" are one."""
    names = [str(int(value)) if isinstance(value, float) and value == int(value) else str(value) for value in values]
    digests = {name: hashlib.sha256(name.encode("utf-8")).hexdigest() for name in names}
    places = {name: place for place, name in enumerate(sorted(digests, key=lambda name: digests[name]))}
    return np.array([places[name] for name in names], dtype=np.intp)


def renumbered(entities: Labels) -> Labels:
    """Of some rows, the numbers of their entities among these: in the same order, and none left out."""
    places = {number: place for place, number in enumerate(sorted(set(entities.tolist())))}
    return np.array([places[number] for number in entities.tolist()], dtype=np.intp)


def entity_losses(wrong: NDArray[np.bool_], entities: Labels | None) -> tuple[float, ...]:
    """Of each entity, the share of its rows that are wrong; nothing where every row is by itself."""
    if entities is None:
        return ()
    sizes = np.bincount(entities)
    errors = np.bincount(entities[wrong], minlength=len(sizes))
    return tuple(mine / size for mine, size in zip(errors.tolist(), sizes.tolist(), strict=True))


def row_shares(entities: Labels | None) -> Array | None:
    """What each row counts for in the mean over entities; None where every row is by itself."""
    if entities is None:
        return None
    sizes = np.bincount(entities)
    return np.asarray(1.0 / (len(sizes) * sizes[entities]), dtype=float)

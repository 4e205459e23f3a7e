"""Labels, entities and times as the auditor reads them: the same values, whatever holds them, numbered once more."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from certivote.certificate import Certificate
from certivote.verify._check import Check, trusted
from certivote.verify._rows import check_division, divided, random_numbers
from certivote.verify._simulation import Array, Labels

# --- Rows of entities.


OTHER_LOSSES = ", but the losses of the entities are OTHER than recorded"
"""Said where errors are as many as recorded, and of other entities."""


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


# --- Values.


def values_of(given: Any, what: str) -> list[Any]:
    """One value for each row, as Python has it; what stands in a list is not made one type.

    Raises
    ------
    ValueError
        If it is no single column, or some rows have no value.
    """
    if isinstance(given, list | tuple) and not any(map(np.ndim, given)):
        values = [_plain(value) for value in given]
    else:
        held = given if hasattr(given, "shape") else np.asarray(given)
        if len(held.shape) == 2 and held.shape[1] == 1:
            held = held.iloc[:, 0] if hasattr(held, "iloc") else held[:, 0]
        if len(held.shape) != 1:
            raise ValueError(f"{what}: one value for each row needed, got shape {tuple(held.shape)}")
        values = pd.Series(held).tolist()
    if pd.Series(values, dtype=object).isna().any():
        raise ValueError(f"{what}: some rows have no value")
    return values


def columns_of(table: Any, names: Sequence[str] = ()) -> Callable[[str], list[Any]] | None:
    """The columns of a table by their names, or by number where they have none; None if it is no table.

    What is returned raises a ValueError where there is no such column.
    """
    if len(np.shape(table)) != 2:
        return None
    known = list(names) or [str(name) for name in getattr(table, "columns", range(np.shape(table)[1]))]

    def values(name: str) -> list[Any]:
        if name not in known:
            raise ValueError(f"there is no column {name:.80}")
        place = known.index(name)
        if hasattr(table, "iloc"):
            return list(table.iloc[:, place].tolist())
        column = table.tocsc()[:, [place]].toarray() if hasattr(table, "tocsc") else table
        return list(pd.Series(column[:, 0 if column.shape[1] == 1 else place]).tolist())

    return values


def _plain(value: Any) -> Any:
    """A number or a moment of numpy as one of Python; a moment would become a count of its unit."""
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    if isinstance(value, np.timedelta64):
        return pd.Timedelta(value)
    return value.item() if isinstance(value, np.generic) else value


def entity_numbers(names: list[str]) -> Labels:
    """Entities by their names, numbered as they come."""
    return _places(names, list(dict.fromkeys(names)))


def name_of(value: Any) -> str:
    """A value as text: 7, 7.0 and "7" are one."""
    if isinstance(value, date):  # moments are dates too
        return value.isoformat()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def moment_numbers(values: list[Any]) -> Labels | None:
    """Moments numbered from the earliest on, equal ones alike; None if the values are no times.

    Dates with a time zone are compared in UTC, and those without are taken to be in it.
    """
    if all(isinstance(value, date) for value in values):
        values = [_in_utc(pd.Timestamp(value)) for value in values]
    elif not all(isinstance(value, int | float) for value in values) and not all(
        isinstance(value, timedelta) for value in values
    ):
        return None
    return _places(values, sorted(set(values)))


def _in_utc(moment: Any) -> Any:
    return moment.tz_localize("UTC") if moment.tzinfo is None else moment.tz_convert("UTC")


def _places(values: list[Any], ordered: list[Any]) -> Labels:
    places = {value: place for place, value in enumerate(ordered)}
    return np.array([places[value] for value in values], dtype=np.intp)


# --- What the rows come in.


@dataclass(frozen=True)
class Grouping:
    """What was given of the rows besides their values.

    Attributes
    ----------
    checks : tuple of Check
        What it says about the certificate as a whole.
    entities : array of int or None
        Of each row, the number of its entity in the order of the bets; None if every row is by itself, or if nothing
        says which belong together.
    times : array of int or None
        Of each row, the number of the moment when it was taken, from the earliest on.
    named : bool
        Whether the name of the column was compared.
    beside : dict
        The names of the entities, or the moments: what the digest of the data has of them.
    """

    checks: tuple[Check, ...] = ()
    entities: Labels | None = None
    times: Labels | None = None
    named: bool = False
    beside: dict[str, Any] = field(default_factory=dict)

    def of_rows(self, rows: NDArray[np.intp]) -> tuple[Labels | None, Labels | None]:
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
            for part in parts:
                train, certify = self.times[part.train], self.times[part.certify]
                # Which rows of one moment train and which certify is left to chance.
                right = not len(train) or not len(certify) or bool(train.max() <= certify.min())
                detail = "the earliest train, the latest certify" if right else "NOT the latest rows certify"
                yield Check("order of the rows", right, detail)
            shuffled = np.lexsort((random_numbers(c, "split").permutation(n_rows), self.times))
            if c.provenance.entropy:
                yield check_division(c, [part.certify for part in parts], shuffled)

    def _check_entities(
        self, c: Certificate, parameters: dict[str, Any] | None, parts: Sequence[Any]
    ) -> Iterator[Check]:
        assert self.entities is not None
        found = [(len(set(self._of(part.train))), len(set(self._of(part.certify)))) for part in parts]
        both = sum(len(set(self._of(part.train)) & set(self._of(part.certify))) for part in parts)
        detail = f"{both:,} have rows in BOTH" if both else "none has rows in both"
        yield Check("entities kept together", not both, f"of those that train and those that certify, {detail}")
        total = len(set(self.entities.tolist()))
        if not both and not c.is_given:
            certified = [np.array(sorted(set(self._of(part.certify)))) for part in parts]
            yield check_division(c, certified, random_numbers(c, "split").permutation(total))
        right = [own for _, own in found] == [part.entities for part in c.parts]
        right = right and divided(c, total, parameters, found[0][0]) == found
        shown = ", ".join(f"{train:,} + {certify:,}" for train, certify in found)
        yield Check("entities of the parts", right, f"{shown} of {total:,}, split {c.split}")

    def _of(self, rows: NDArray[np.intp]) -> list[int]:
        assert self.entities is not None
        own: list[int] = self.entities[rows].tolist()
        return own


def read_units(c: Certificate, n_rows: int, groups: Any, order: Any) -> Grouping:
    """What the arguments ``groups`` and ``order`` say about so many rows, and whether the certificate says the same."""
    for what, given, name in (("groups", groups, c.groups), ("order in time", order, c.order)):
        if given is None:
            if name:
                needs = "which rows belong together" if what == "groups" else "when each row was taken"
                why = f"give {what.split()[0]}=, the column {name:.80}: without it nothing says {needs}"
                return Grouping((trusted(what, why),))
            continue
        try:
            values = values_of(given, what)
        except ValueError as error:
            return Grouping((Check(what, False, str(error)),))
        if len(values) != n_rows:
            return Grouping((Check(what, False, f"{len(values):,} values for {n_rows:,} rows"),))
        if what == "groups":
            names = [name_of(value) for value in values]
            numbers, beside = entity_numbers(names), {"groups": names}
            largest = int(np.bincount(numbers).max())
            right = bool(name) or largest == 1
            detail = f"{int(numbers.max()) + 1:,} entities with up to {largest:,} rows"
            detail += "" if right else ", and the certificate counts every row BY ITSELF"
            if c.bets == "in order":  # that in which they come is anybody's choice
                numbers = random_numbers(c, "bets").permutation(int(numbers.max()) + 1)[numbers]
            units = Grouping((Check(what, right, detail),), entities=numbers if name else None, beside=beside)
        else:
            times = moment_numbers(values)
            right = bool(name) and times is not None
            detail = f"{n_rows:,} rows in their order in time"
            detail += (
                "" if right else ", and the certificate knows of NONE" if not name else ", but NOT by numbers or dates"
            )
            units = Grouping((Check(what, right, detail),), times=times if right else None, beside={"order": values})
        if not right:
            return units
        label = _column_name(given)
        if label and name:
            same = label == name
            checks = (
                *units.checks,
                Check(f"name of the {what.split()[0]}", same, f"{label:.80} given, {name:.80} recorded"),
            )
            return replace(units, checks=checks, named=True)
        return units
    return Grouping()


def _column_name(given: Any) -> str:
    """The name of a column; empty if it has none."""
    name = given.columns[0] if hasattr(given, "columns") else getattr(given, "name", None)
    return "" if name is None else str(name)

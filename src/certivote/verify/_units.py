"""What the rows come in, from the data: entities that the auditor numbers itself, or rows in their order in time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate
from certivote.verify._check import Check, trusted
from certivote.verify._entities import renumbered
from certivote.verify._look import is_train_share
from certivote.verify._rows import check_division
from certivote.verify._simulation import Labels
from certivote.verify._sizes import divided
from certivote.verify._streams import random_numbers
from certivote.verify._values import entity_numbers, moment_numbers, name_of, values_of


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
                told = "the earliest train, the latest certify" if right else "NOT the latest rows certify"
                yield Check("order of the rows", right, told)
            shuffled = np.lexsort((random_numbers(c, "split").permutation(n_rows), self.times))
            if c.provenance.entropy:
                yield check_division(c, [part.certify for part in parts], shuffled)

    def _check_entities(
        self, c: Certificate, parameters: dict[str, Any] | None, parts: Sequence[Any]
    ) -> Iterator[Check]:
        assert self.entities is not None
        found = [(len(set(self._of(part.train))), len(set(self._of(part.certify)))) for part in parts]
        both = sum(len(set(self._of(part.train)) & set(self._of(part.certify))) for part in parts)
        told = f"{both:,} have rows in BOTH" if both else "none has rows in both"
        yield Check("entities kept together", not both, f"of those that train and those that certify, {told}")
        total = len(set(self.entities.tolist()))
        if not both and not c.is_given:
            certified = [np.array(sorted(set(self._of(part.certify)))) for part in parts]
            yield check_division(c, certified, random_numbers(c, "split").permutation(total))
        right = [own for _, own in found] == [part.entities for part in c.parts]
        right = right and divided(c, total, parameters, found[0][0]) == found
        right = right and (c.first_rows is None or is_train_share(c, total))
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
        try:
            values = values_of(given, what)
        except ValueError as error:
            return Units((Check(what, False, str(error)),))
        if len(values) != n_rows:
            return Units((Check(what, False, f"{len(values):,} values for {n_rows:,} rows"),))
        if what == "groups":
            names = [name_of(value) for value in values]
            numbers, beside = entity_numbers(names), {"groups": names}
            largest = int(np.bincount(numbers).max())
            right = bool(name) or largest == 1
            told = f"{int(numbers.max()) + 1:,} entities with up to {largest:,} rows"
            told += "" if right else ", and the certificate counts every row BY ITSELF"
            if c.bets == "in order":  # that in which they come is anybody's choice
                numbers = random_numbers(c, "bets").permutation(int(numbers.max()) + 1)[numbers]
            units = Units((Check(what, right, told),), entities=numbers if name else None, beside=beside)
        else:
            times = moment_numbers(values)
            right = bool(name) and times is not None
            told = f"{n_rows:,} rows in their order in time"
            told += (
                "" if right else ", and the certificate knows of NONE" if not name else ", but NOT by numbers or dates"
            )
            units = Units((Check(what, right, told),), times=times if right else None, beside={"order": values})
        if not right:
            return units
        label = _label(given)
        if label and name:
            same = label == name
            checks = (
                *units.checks,
                Check(f"name of the {what.split()[0]}", same, f"{label:.80} given, {name:.80} recorded"),
            )
            return replace(units, checks=checks, named=True)
        return units
    return Units()


def _label(given: Any) -> str:
    """The name of a column; empty if it has none."""
    name = given.columns[0] if hasattr(given, "columns") else getattr(given, "name", None)
    return "" if name is None else str(name)

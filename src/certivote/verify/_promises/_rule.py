"""What the auditor knows of a promise: which statements it makes, what must agree in them, and how to count them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from flint import arb
from numpy.typing import NDArray

from certivote.certificate import Certificate, Fixed, PartRecord, PromiseRecord, Statement
from certivote.verify._check import Check
from certivote.verify._proof import statistics
from certivote.verify._simulation import Array, Labels
from certivote.verify._theorems import Terms

Mask = NDArray[np.bool_]
_LARGEST = 1e300
"""Numbers beyond this are none that a record may ask for."""
Agreement = tuple[str, bool, str]
"""What must agree, whether it does, and the numbers."""


@dataclass(frozen=True)
class Expected:
    """A statement that a promise must make: one of ``of``, which need not be a whole number."""

    kind: str
    label: str
    threshold: float | None
    of: Fraction


@dataclass(frozen=True)
class StatementRows:
    """What a statement is about, row by row: where its condition is satisfied, and where its event happens.

    ``losses`` takes the place of the event where the loss of a row is not just 0 or 1.
    """

    among: Mask
    event: Mask
    losses: Array | None = None


@dataclass(frozen=True)
class PromiseRows:
    """The certification rows that a promise counts, as far as they are known.

    Attributes
    ----------
    labels, answers : array of int
    masses : array or None
        What stands behind each class.
    scores : array or None
        How sure each answer is.
    column : function or None
        A name to the values of that column, one for each row.
    entities : array of int or None
        Which rows belong together, by number in the order of the bets.
    order : array of int
        The rows in the order of bets on rows.
    holds : function
        Of rows, events and what the statement has of delta: whether its bound is proved to be at most a number.
    """

    labels: Labels
    answers: Labels
    masses: Array | None
    scores: Array | None
    column: Callable[[str], list[Any]] | None
    entities: Labels | None
    order: Labels
    holds: "Callable[[StatementRows, Statement, arb], bool]"

    @property
    def wrong(self) -> Mask:
        """Where the answer is not the true class."""
        return np.asarray(self.answers != self.labels)

    def everything(self) -> Mask:
        """All rows."""
        return np.ones(len(self.labels), dtype=bool)


@dataclass(frozen=True)
class Promised:
    """A promise of a certificate, and what was asked for."""

    c: Certificate
    record: PromiseRecord
    asked: dict[str, Any]

    @property
    def part(self) -> PartRecord:
        """The part whose rows are counted."""
        return self.c.deployed_part

    @property
    def fixed(self) -> tuple[Fixed, ...]:
        """What was fixed beforehand."""
        return self.record.fixed

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What is said."""
        return self.record.statements

    @property
    def is_trained(self) -> bool:
        """Whether there were training rows to look at."""
        return self.c.split != "none" and not self.c.is_given

    @property
    def n_counted(self) -> int:
        """Certification rows that are not set aside."""
        return self.part.n - self.record.set_aside

    @property
    def class_rows(self) -> dict[str, int]:
        """How many certification rows each class has, by the bounds by class."""
        return {entry.label: entry.n for entry in self.c.by_class if entry.kind == "error"}

    @property
    def wrong_answers(self) -> tuple[int, int]:
        """The fewest and the most wrong answers that there can be in the counted rows.

        The half-weight loss counts no fewer errors than there are wrong answers.
        """
        errors = self.part.errors or 0
        least = errors - self.record.set_aside if self.c.loss == "plurality" else 0
        return max(least, 0), min(errors, self.n_counted)


class Rule(ABC):
    """One promise as the auditor knows it.

    Attributes
    ----------
    name, called : str
        As it is recorded, and as the class that asks for it is called.
    names : tuple of str
        What its parameters are called, in this order.
    needs : {"answers", "scores", "masses", "columns"}
        What counting takes, besides the true classes.
    looks_at_votes : bool
        Whether rows that fix something do so by votes on them: of the training rows, up to a number are asked.
    rounds_value : bool
        Whether ``value`` is computed from bounds, and rounded.
    """

    name: ClassVar[str]
    called: ClassVar[str]
    names: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[Literal["answers", "scores", "masses", "columns"]] = "answers"
    looks_at_votes: ClassVar[bool] = False
    rounds_value: ClassVar[bool] = False

    def asked(self, promise: PromiseRecord) -> dict[str, Any]:
        """What was asked for.

        Raises
        ------
        ValueError
            If these are no parameters of this promise.
        """
        if tuple(name for name, _ in promise.parameters) != self.names:
            raise ValueError(f"its parameters are {', '.join(self.names) or 'none'}")
        try:
            found = {name: json.loads(text) for name, text in promise.parameters}
        except RecursionError:
            raise ValueError("a parameter is nested too deeply") from None
        if [json.dumps(value, ensure_ascii=False) for value in found.values()] != [t for _, t in promise.parameters]:
            raise ValueError("a parameter is written in another way than records have it")
        self.check(found)
        return found

    def check(self, asked: dict[str, Any]) -> None:
        """Raise a ValueError if nobody can ask for this."""
        return

    def shown(self, asked: dict[str, Any]) -> str:
        """What Python shows of the object that asks for this, as the parameters of a fit have it."""
        return f"{self.called}({', '.join(f'{name}={asked[name]!r}' for name in self.names)})"

    def is_guided(self, p: Promised) -> bool | None:
        """Whether rows that are not counted have fixed something; None if the record does not tell."""
        return False

    def is_fixed(self, p: Promised) -> str:
        """What is wrong with what was fixed beforehand; empty if nothing is."""
        return f"{len(p.fixed)} things, where nothing is to be fixed" if p.fixed else ""

    @abstractmethod
    def statements(self, p: Promised) -> list[Expected]:
        """The statements that this promise must make, in their order."""

    def decides(self, p: Promised) -> tuple[int | None, tuple[float, ...], float | None]:
        """What follows for ``chosen``, ``thresholds`` and ``value``, where that is no number to be rounded."""
        return None, (), None

    def proved_by(self, p: Promised, terms: Terms, said: Statement, where: str) -> tuple[Terms, Check]:
        """The terms of a statement, and whether its statistics can be."""
        return terms, statistics(p.c, p.part, terms, said, where)

    @abstractmethod
    def agreements(self, p: Promised) -> Iterator[Agreement]:
        """What must agree in the counts of the statements, and in what follows from them."""

    def count(self, p: Promised, rows: PromiseRows) -> Sequence[StatementRows]:
        """The rows of each statement, in their order; none if they are counted with the vote as a whole."""
        return ()

    def chosen_well(self, p: Promised, rows: PromiseRows) -> Iterator[Agreement]:
        """Whether what the counted rows themselves have chosen is what the rule of the promise chooses."""
        yield from ()


def threshold_of(entry: Statement) -> float:
    """What a score is compared with."""
    if entry.threshold is None:
        raise ValueError(f"{entry.kind:.80} without a threshold")
    return entry.threshold


def number(value: Any, low: float, high: float, what: str) -> float:
    """A number strictly between two others.

    Raises
    ------
    ValueError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{what} is no number")
    if abs(value) > _LARGEST or not low < value < high:
        raise ValueError(f"{what} does not lie between {low:g} and {high:g}")
    return float(value)

"""The statements of a certificate that can be watched, and what outcomes say of each."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate, Fixed, PromiseRecord, Statement, number_down
from certivote.codec import Longest, Share, Within
from certivote.maths.rounding import float_above
from certivote.monitor._evidence import Short
from certivote.monitor._views import plain
from certivote.promises import Subgroups, group_places

ONE = 1 << 32
"""A loss of 1: losses are stored as whole numbers, multiples of ``2**-32``, rounded down."""
BOUND = "bound"
Label = Annotated[str, Longest(1 << 16)]
"""A class or a group."""
Place = Annotated[int, Within(-1, 1 << 20)]

Mask = NDArray[np.bool_]
Losses = NDArray[np.int64]


@dataclass(frozen=True)
class Outcomes:
    """Some cases, what was said of them, and what they turned out to be.

    Attributes
    ----------
    labels, answers : array of int
        Places of the true classes, -1 where it is none of the certificate's; and of the answers.
    scores : array or None
        How sure the vote was.
    masses : array of shape (n, n_classes) or None
    columns : function or None
        The name of a column to its values.
    """

    labels: NDArray[np.intp]
    answers: NDArray[np.intp]
    scores: NDArray[np.float64] | None = None
    masses: NDArray[np.float64] | None = None
    columns: Callable[[str], list[Any]] | None = None

    @property
    def wrong(self) -> Mask:
        """Where the answer is not the true class."""
        return self.labels != self.answers

    def mass_of(self, places: NDArray[np.intp] | int) -> NDArray[np.float64]:
        """What stood behind a class, or behind one class for each case."""
        assert self.masses is not None
        return self.masses[np.arange(len(self.labels)), places]


@dataclass(frozen=True)
class WatchedStatement:
    """One :class:`~certivote.certificate.Statement` of a certificate: what new outcomes are compared with.

    Attributes
    ----------
    promise : str
        The promise that it belongs to; ``bound`` for the certificate's own.
    kind, label : str
        As in :class:`certivote.certificate.Statement`.
    place : int
        The number of the class that it is about; -1 if it is about none.
    threshold : float or None
    bound : float
    alpha : float
        Its share of the probability of a false alarm; 0 if it cannot be watched.
    columns : tuple of Fixed
        Of a subgroup, how its columns are divided.
    groups : tuple of int
        The number of its group in each.
    costs : tuple of int
        Of an expected cost, the loss of each pair of classes, as a multiple of ``2**-32``.
    """

    promise: Short
    kind: Short
    label: Label
    place: Place
    threshold: float | None
    bound: Annotated[float, Within(0.0, 1e300)]
    alpha: Share
    columns: tuple[Fixed, ...] = ()
    groups: tuple[Place, ...] = ()
    costs: tuple[Annotated[int, Within(0, ONE)], ...] = ()

    @property
    def name(self) -> str:
        """What is watched, in words."""
        words = _NAMES[self.promise, self.kind]
        return words.format(plain(self.label), "" if self.threshold is None else number_down(self.threshold))

    @property
    def cut(self) -> float:
        """The threshold; 0 if there is none."""
        return self.threshold or 0.0

    @property
    def needs(self) -> str:
        """What an update must be given for it, in addition to labels and answers."""
        return _NEEDS.get(self.promise, "")

    def losses(self, rows: Outcomes) -> tuple[Mask, Losses]:
        """Which cases it is about, and the loss of each case as a multiple of ``2**-32``."""
        among, event = KINDS[self.promise, self.kind](self, rows)
        return among, np.asarray(event * ONE if event.dtype == bool else event, dtype=np.int64)


def _of_class(watched: WatchedStatement, rows: Outcomes) -> Mask:
    return rows.labels == watched.place


def _everything(rows: Outcomes) -> Mask:
    return np.ones(len(rows.labels), dtype=bool)


def _in_group(watched: WatchedStatement, rows: Outcomes) -> Mask:
    assert rows.columns is not None
    values = [group_places(fixed, rows.columns(fixed.what)) for fixed in watched.columns]
    return np.all([own == group for own, group in zip(values, watched.groups, strict=True)], axis=0)


def _left_out(watched: WatchedStatement, rows: Outcomes) -> Mask:
    """A class that the certificate does not know is in no set."""
    mass = rows.mass_of(np.maximum(rows.labels, 0))
    return rows.wrong & ((mass < watched.cut) | (rows.labels < 0))


def _cost(watched: WatchedStatement, rows: Outcomes) -> Losses:
    """An unknown class costs the most."""
    size = math.isqrt(len(watched.costs))
    table = np.array([*watched.costs, *[ONE] * size], dtype=np.int64).reshape(size + 1, size)
    return table[rows.labels, rows.answers]  # the last row is that of -1


KINDS: dict[tuple[str, str], Callable[[WatchedStatement, Outcomes], tuple[Mask, NDArray[Any]]]] = {
    (BOUND, "error"): lambda own, rows: (_everything(rows), rows.wrong),
    ("by class", "error"): lambda own, rows: (_of_class(own, rows), rows.wrong),
    ("by class", "false alarm"): lambda own, rows: (~_of_class(own, rows), rows.answers == own.place),
    ("precision", "imprecision"): lambda own, rows: (rows.answers == own.place, rows.wrong),
    ("precision", "omission"): lambda own, rows: (rows.answers != own.place, _of_class(own, rows)),
    ("subgroups", "error"): lambda own, rows: (_in_group(own, rows), rows.wrong),
    ("abstention", "error when answered"): lambda own, rows: (_score(rows) >= own.cut, rows.wrong),
    ("abstention", "unanswered"): lambda own, rows: (_everything(rows), _score(rows) < own.cut),
    ("sensitivity", "missed"): lambda own, rows: (_of_class(own, rows), rows.mass_of(own.place) < own.cut),
    ("sensitivity", "false alarm when flagged"): lambda own, rows: (
        ~_of_class(own, rows),
        rows.mass_of(own.place) >= own.cut,
    ),
    ("sets", "left out"): lambda own, rows: (
        _everything(rows) if own.place < 0 else _of_class(own, rows),
        _left_out(own, rows),
    ),
    ("costs", "cost"): lambda own, rows: (_everything(rows), _cost(own, rows)),
}
"""Of each kind of statement, which cases it is about and what is counted of them."""
_NAMES = {
    (BOUND, "error"): "errors",
    ("by class", "error"): "errors within class {0}",
    ("by class", "false alarm"): "false alarms of class {0}",
    ("precision", "imprecision"): "wrong ones among the answers {0}",
    ("precision", "omission"): "class {0} among the other answers",
    ("subgroups", "error"): "errors where {0}",
    ("abstention", "error when answered"): "errors among answers from score {1} on",
    ("abstention", "unanswered"): "cases below score {1}, which get no answer",
    ("sensitivity", "missed"): "cases of class {0} that are not flagged",
    ("sensitivity", "false alarm when flagged"): "cases that are flagged and not of class {0}",
    ("sets", "left out"): "cases whose class is not in the set",
    ("costs", "cost"): "cost, as a share of the dearest error",
}
_NEEDS = {"subgroups": "table", "abstention": "scores", "sensitivity": "masses", "sets": "masses"}
"""What promises need in addition to true classes and answers."""
PROMISES_WATCHED = tuple(dict.fromkeys(promise for promise, _ in KINDS))
AUTOMATIC = tuple(name for name in PROMISES_WATCHED if name not in _NEEDS)
"""Those that need nothing else."""


def _score(rows: Outcomes) -> NDArray[np.float64]:
    assert rows.scores is not None
    return rows.scores


def watched_of(certificate: Certificate, names: Sequence[str]) -> tuple[WatchedStatement, ...]:
    """The statements of a certificate's bound and of the promises of these names, each still without its alpha."""
    found = [_watched(BOUND, certificate.deployed_part.statement, certificate.classes)]
    for record in certificate.promises:
        if record.name in names:
            found.extend(_of_promise(record, certificate.classes))
    return tuple(found)


def _watched(promise: str, said: Statement, classes: Sequence[str], **about: Any) -> WatchedStatement:
    """A statement that a certificate makes, still without its alpha; ``about``: what its label does not tell."""
    place = classes.index(said.label) if said.label in classes and not about else -1
    return WatchedStatement(promise, said.kind, said.label, place, said.threshold, said.bound, 0.0, **about)


def divide_alpha(watched: Sequence[WatchedStatement], alpha: float) -> tuple[WatchedStatement, ...]:
    """Each with its share of alpha: one half for the certificate's bound, the other half for all others alike.

    Bounds of 1 and more cannot be exceeded, so they get none; if only one of the two halves is needed it gets all.
    """
    useful = [0.0 < own.bound < 1.0 for own in watched]
    others = sum(useful[1:])
    first = (0.5 if others else 1.0) * alpha
    each = (0.5 if useful[0] else 1.0) * alpha / max(others, 1) * (1.0 - 2.0**-50)
    return tuple(
        replace(own, alpha=(first if place == 0 else each) if can else 0.0)
        for place, (own, can) in enumerate(zip(watched, useful, strict=True))
    )


def _of_promise(record: PromiseRecord, classes: Sequence[str]) -> Iterator[WatchedStatement]:
    """What of a promise can be watched."""
    if record.name == "costs":
        yield from _of_costs(record, classes)
        return
    groups = Subgroups.groups_of(record) if record.name == "subgroups" else []
    for number, said in enumerate(_in_force(record)):
        if (record.name, said.kind) in KINDS:
            about = dict(zip(("columns", "groups"), groups[number // 2], strict=True)) if groups else {}
            yield _watched(record.name, said, classes, **about)


def _in_force(record: PromiseRecord) -> Iterator[Statement]:
    """Its statements; of those that were tested in turn, the last that held, with its target as the bound.

    The bound of such a statement may be smaller than the target, but it was chosen by the rows, and promises no more.
    """
    if record.name == "abstention" and "max_error" in dict(record.parameters):
        asked = json.loads(dict(record.parameters)["max_error"])
        if asked is not None and record.chosen is None:
            return
        if record.chosen is not None and record.value is not None:
            yield replace(record.statements[record.chosen], bound=record.value)
            yield from (said for said in record.statements if said.kind == "unanswered")
            return
    target = {"sensitivity": "missed", "sets": "left out"}.get(record.name)
    for said in record.statements:
        if said.kind != target:
            yield said
        elif said.threshold:  # at 0 nothing is missed, and nothing need be watched
            yield replace(said, bound=float_above(1 - Fraction(record.value or 0.0)))


def _of_costs(record: PromiseRecord, classes: Sequence[str]) -> Iterator[WatchedStatement]:
    """The expected cost itself, as a share of the dearest error: it follows from all statements of the promise."""
    costs = next((fixed.numbers for fixed in record.fixed if fixed.what == "costs"), ())
    largest = max(costs, default=0.0)
    if record.value is None or not largest > 0.0 or not record.statements:
        return
    bound = float_above(Fraction(record.value) / Fraction(largest))
    shares = tuple(math.floor(Fraction(cost) / Fraction(largest) * ONE) for cost in costs)
    said = replace(record.statements[0], kind="cost", label="", threshold=None, bound=bound)
    yield _watched(record.name, said, classes, costs=shares)

"""As few labels as possible: rows are labelled in random order until it is proven that errors are rare enough."""

import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote._version import __version__
from certivote.certificate import (
    MOST_LABELLED,
    MOST_LABELS,
    SCHEMA_VERSION,
    Certified,
    StoppedCertificate,
    as_rows,
    check_aligned,
    confidence,
    counted,
    data_digest,
    missing_places,
    names_of,
    one_spelling,
    part_digest,
    percent_up,
    plain_percent,
    row_keys,
)
from certivote.io import check_writable
from certivote.maths.stopping import StoppingBets, capped_threshold, first_reached, fixed_number, pool_evidence
from certivote.maths.streams import stream
from certivote.monitor._counting import add_call
from certivote.monitor._inputs import time_text, values_of
from certivote.monitor._label_state import KIND, LabelState
from certivote.monitor._state import StateFileError, damaged, locked, read_state, write_state
from certivote.pipeline import Seed, Streams, Table, check_held, plain_values, provenance_now, seed_of

_POWER = 0.9
"""Of the fixed number of labels that a plan is compared with."""
_TIMES = 12
"""Times the fixed number of labels, until which the number that a plan takes is computed."""
_LONGEST = 100_000
"""Labels beyond which their number is not computed."""
_ERRORS = (0.2, 0.4, 0.6)
"""Shares of the target: errors for which a plan says how many labels it takes, where none was guessed."""


@dataclass(frozen=True)
class LabelsNeeded:
    """How many labels a plan takes, if the error is as assumed.

    Attributes
    ----------
    error : float
        The assumed error.
    mean : float
    quantiles : tuple of int
        The numbers that are enough with probability 10 %, 50 % and 90 %; without that many, where the plan ends.
    proven : float
        Probability that the target is proven before the plan ends.
    fixed : int
        The number, fixed beforehand, that would prove it with probability 90 % by Clopper and Pearson.
    """

    error: float
    mean: float
    quantiles: tuple[int, int, int]
    proven: float
    fixed: int

    def __str__(self) -> str:
        low, middle, high = self.quantiles
        often = "" if self.proven > 0.999 else f"; proven with probability {plain_percent(self.proven, 0)}"
        return (
            f"if the error is {plain_percent(self.error)}: {self.mean:,.0f} labels in the mean, {middle:,} or fewer in "
            f"half of all cases, {low:,} to {high:,} in eight of ten{often} (a fixed number: {self.fixed:,})"
        )


class LabelPlan:
    """Label rows in random order until it is proven that the error is at most a target.

    Parameters
    ----------
    target : float in (0, 1)
        What is to be proven: that the error is at most this.
    delta : float in (0, 1), default=0.05
        Probability with which it is ever said to be proven although it is not true, however often one looks.
    expected : float in (0, target), optional
        A guess of the error, fixed before any label is seen. A good one saves labels, a bad one costs some.
    certified : {"population", "pool"}
        What the labels are to tell the error of: new rows, of which those of the pool are a sample; or the rows of the
        pool themselves.
    max_labels : int, optional
        Label no more than this. The target is then proven sooner, but if it is not, nothing is.
    random_state : int, optional
        Of the order in which rows of a pool are labelled. By default fresh numbers from the system: prefer that.

    Attributes
    ----------
    n : int
        Rows that were labelled so far.
    wrong : list of int
        Which of them were answered wrong, counted from 1.
    missing : int
        How many of these had no label.
    calls : list of (int, str)
        How many rows had been labelled when.

    Notes
    -----
    The guarantee and its proof are in :mod:`certivote.maths.stopping`. It rests on which row is labelled next having
    nothing to do with the rows or with the answers to them: take those that :meth:`next` names, in its order, and leave
    none out. A row that cannot be labelled counts as wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote import LabelPlan
    >>> plan = LabelPlan(target=0.05, expected=0.01, random_state=0)
    >>> print(plan.labels_needed())
    if the error is 1.00 %: 124 labels in the mean, 115 or fewer in half of all cases, 75 to 194 in eight of ten (a \
fixed number: 153)
    >>> pool, truth = np.arange(1000.0), np.array(["well"] * 1000)
    >>> answers = np.where(pool % 100 == 7, "ill", "well")  # 1 % are wrong
    >>> while not plan.proven:
    ...     rows = plan.next(pool, 10)
    ...     _ = plan.update(truth[rows], answers[rows])
    >>> plan.n, len(plan.wrong), bool(plan.bound <= 0.05)
    (80, 0, True)
    """

    def __init__(
        self,
        target: float,
        delta: float = 0.05,
        expected: float | None = None,
        *,
        certified: Certified = "population",
        max_labels: int | None = None,
        random_state: int | None = None,
    ):
        self.target, self.delta = _share("target", target), _share("delta", delta)
        self.expected = None if expected is None else _share("expected", expected)
        if self.expected is not None and self.expected >= self.target:
            raise ValueError(f"expected must be below the target {self.target!r}; got {self.expected!r}.")
        if certified not in ("population", "pool"):
            raise ValueError(f"certified must be 'population' or 'pool'; got {certified!r:.80}.")
        if max_labels is not None and (isinstance(max_labels, bool) or not 1 <= int(max_labels) <= MOST_LABELS):
            raise ValueError(f"max_labels must be a whole number from 1 to {MOST_LABELS:,}; got {max_labels!r:.80}.")
        if max_labels is not None and certified == "pool":
            raise ValueError("max_labels is for certified='population': a pool is its own cap; leave it out.")
        self.certified: Certified = certified
        self.max_labels = None if max_labels is None else int(max_labels)
        self.seed: Seed = seed_of(random_state)
        self.n, self.wrong, self.missing = 0, list[int](), 0
        self.rows_digest, self.n_rows = "", 0
        self.outcomes_digest = hashlib.sha256(b"certivote outcomes").hexdigest()
        self.calls = list[tuple[int, str]]()

    # How many labels

    def labels_needed(self, error: float | None = None) -> LabelsNeeded:
        """How many labels the plan takes for an error, by default the guess, or else 0.4 of the target.

        The law of that number is computed row by row, exactly, for rows from a population.
        """
        error = _share("error", (self.expected or 0.4 * self.target) if error is None else error)
        if error >= self.target:
            raise ValueError(f"error must be below the target {self.target!r}: nothing larger can be proven to be.")
        fixed = fixed_number(self.target, self.delta, error, _POWER)
        horizon = self.max_labels or min(_TIMES * fixed, _LONGEST)
        reached = first_reached(self._bets.boundary(horizon, self.log_threshold), error)
        law = np.cumsum(reached)
        mean = float(reached @ np.arange(horizon + 1) + (1.0 - law[-1]) * horizon)
        low, middle, high = (min(int(np.searchsorted(law, share)), horizon) for share in (0.1, 0.5, 0.9))
        return LabelsNeeded(error, mean, (low, middle, high), float(min(law[-1], 1.0)), fixed)

    # Which rows, and what they were

    def next(self, rows: Any, count: int = 25) -> NDArray[np.intp]:
        """Which rows of a pool to label next, in this order; none if the plan has ended.

        Parameters
        ----------
        rows : table or array
            The pool: all rows that may be labelled, the same in every call.
        count : int, default=25
            How many at most.

        Returns
        -------
        array of int
            Their numbers, from 0 on.
        """
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"count must be a whole number from 1 on; got {count!r:.80}.")
        check_held(rows=rows)
        table = as_rows(rows)
        shape = np.shape(table)
        if not shape or not shape[0]:
            raise ValueError(f"rows must be a table with at least one row; got an array of shape {shape}.")
        n_rows, keys = shape[0], row_keys(table)
        digest = data_digest(part_digest(keys, np.full(n_rows, "", dtype=object), np.arange(n_rows)), {})
        if (self.n and not self.rows_digest) or (self.rows_digest and digest != self.rows_digest):
            raise ValueError(
                "The plan was begun with other rows than these: give the same pool, in the same order, or begin "
                "another plan."
            )
        self.rows_digest, self.n_rows = digest, n_rows
        order = stream("labels", seed=self.seed.words, digest=digest).permutation(n_rows)
        return order[self.n : self.n if self.ended else min(self.n + int(count), self._most)]

    def update(self, y_true: ArrayLike, y_pred: ArrayLike, *, when: Any = None) -> int:
        """Count labels, in the order in which :meth:`next` has named the rows; without a pool, as they come.

        Parameters
        ----------
        y_true : array-like
            The true labels. One that is missing (None or NaN) counts as a wrong answer.
        y_pred : array-like
            What the model answered. Labels are compared by value: 7, ``"7"`` and ``"7.0"`` are one.
        when : date, time or text, optional
            When they became known; by default now.

        Returns
        -------
        int
            How many were answered wrong.
        """
        check_aligned(y_true=y_true, y_pred=y_pred)
        truth, answers = plain_values(y_true, "y_true"), values_of(y_pred, "y_pred")
        if len(truth) != len(answers):
            raise ValueError(f"y_true has {len(truth):,} labels, and y_pred has {len(answers):,}: give one for each.")
        if self.certified == "pool" and not self.rows_digest:
            raise ValueError("The plan is about a pool: ask next(rows) first which of its rows to label.")
        if self.n + len(truth) > self._most:
            raise ValueError(f"{len(truth):,} labels are more than the {self._most - self.n:,} that the plan has left.")
        absent, moment = set(missing_places(truth)) if truth else set(), time_text(when)
        pairs = [
            (None if row in absent else _spelled(label), _spelled(answer))
            for row, (label, answer) in enumerate(zip(truth, answers, strict=True))
        ]
        wrong = [self.n + place for place, (label, answer) in enumerate(pairs, start=1) if label != answer]
        self.outcomes_digest = chained(self.outcomes_digest, pairs)
        self.n, self.missing = self.n + len(pairs), self.missing + len(absent)
        self.wrong.extend(wrong)
        self.calls = add_call(self.calls, self.n, moment)
        self.__dict__.pop("_evidence", None)
        self.__dict__.pop("bound", None)
        return len(wrong)

    # What they prove

    @property
    def log_threshold(self) -> float:
        """Natural logarithm of the evidence at which the target is proven."""
        if self.max_labels is not None:
            return capped_threshold(self.target, self.expected, self.delta, self.max_labels)
        return -math.log(self.delta) * (1.0 + 2.0**-50)

    @property
    def proven(self) -> bool:
        """Whether it has been proven that the error is at most the target; once it has, it stays so."""
        return bool(np.any(self._evidence >= self.log_threshold))

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to label: the target is proven, or no row is left."""
        return self.proven or self.n >= self._most

    @cached_property
    def bound(self) -> float:
        """Upper bound on the error at this moment; all that it ever was hold together with probability ``1 - delta``.

        For a pool or with ``max_labels`` it is the target if that is proven, and otherwise 1.
        """
        if self.certified == "pool" or self.max_labels is not None:
            return self.target if self.proven else 1.0
        if not self.n:
            return 1.0
        limit = self._bets.limit(np.arange(1, self.n + 1), self._errors, -self.log_threshold)
        return min(limit, self.target) if self.proven else limit

    def certificate(self) -> StoppedCertificate:
        """The record of what is proven at this moment."""
        if not self.n:
            raise ValueError("No row has been labelled yet: there is nothing to certify.")
        return self.record_of(self.bound, self.log_threshold)

    def record_of(self, bound: float, log_threshold: float) -> StoppedCertificate:
        """What was counted, with what is said to follow from it."""
        streams = Streams(self.seed, self.rows_digest)
        streams.used = bool(self.rows_digest)
        made = provenance_now(Table("", (), 0, ()), streams)
        return StoppedCertificate(
            kind="stopped",
            schema_version=SCHEMA_VERSION,
            library_version=__version__,
            target=self.target,
            delta=self.delta,
            expected=self.expected,
            certified=self.certified,
            max_labels=self.max_labels,
            log_threshold=log_threshold,
            n=self.n,
            wrong=tuple(self.wrong),
            missing=self.missing,
            bound=bound,
            rows_digest=self.rows_digest,
            outcomes_digest=self.outcomes_digest,
            provenance=replace(made, n_rows=self.n_rows),
        )

    def summary(self) -> str:
        """What the plan asks for, and what labels have proven so far, in plain words."""
        of = "of the rows of the pool" if self.certified == "pool" else "on new rows"
        sure = confidence(self.delta)
        lines = [f"To prove, with {sure} confidence: the error {of} is at most {100 * self.target:.10g} %."]
        if not self.n:
            guesses = [self.expected] if self.expected else [share * self.target for share in _ERRORS]
            return "\n".join([*lines, *(f"  {self.labels_needed(guess)}" for guess in guesses)])
        seen = f"{counted(len(self.wrong), 'wrong answer')} in {counted(self.n, 'label')}"
        seen += f", {self.missing:,} of them without a label" if self.missing else ""
        if self.proven:
            lines.append(f"Proven: {seen}; the error is at most {percent_up(self.bound)}. No more labels are needed.")
        else:
            rest = "nothing is proven" if self.bound >= 1.0 else f"the error is at most {percent_up(self.bound)}"
            lines.append(f"Not proven{' yet' if not self.ended else ', and no label is left'}: {seen}; {rest}.")
        return "\n".join(lines)

    __str__ = summary

    # Between two sessions

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that was counted to a state file, at once. It holds no rows, labels or answers."""
        write_state(path, KIND, LabelState.of(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "LabelPlan":
        """Read what :meth:`save` has written; a ValueError if it is not such a file, or contradicts itself."""
        state = read_state(path, KIND, LabelState)
        with damaged(path):
            return state.plan(cls)

    @classmethod
    @contextmanager
    def open(cls, path: str | os.PathLike[str], wait: float = 10.0, **settings: Any) -> Iterator["LabelPlan"]:
        """The plan of a state file, which is begun if there is none, and written when the block ends without error.

        Other processes cannot open it in this way meanwhile, as for :meth:`Monitor.open <certivote.Monitor.open>`.

        Parameters
        ----------
        path : path
        wait : float
            Seconds to wait for another process; a TimeoutError after that.
        **settings
            As for :class:`LabelPlan`; of a state that is there already, those given must be what it was begun with.
        """
        check_writable(path)
        with locked(path, wait):
            if os.path.lexists(path):
                plan = cls.load(path)
                for name, value in settings.items():
                    known = plan.seed.words if name == "random_state" else (getattr(plan, name),)
                    if value is not None and (value,) != known:
                        raise StateFileError(
                            f"{os.fspath(path)} was begun with {name}={known[0]!r}; got {value!r}. That cannot be "
                            "changed once labels may have been seen: leave it out, or begin another state."
                        )
            elif settings.get("target") is None:
                raise StateFileError(f"{os.fspath(path)} is not there yet: give target, what is to be proven.")
            else:
                plan = cls(**{name: value for name, value in settings.items() if value is not None})
            yield plan
            plan.save(path)

    @property
    def _most(self) -> int:
        """Rows that can be labelled."""
        return min(self.max_labels or MOST_LABELLED, self.n_rows or MOST_LABELLED)

    @cached_property
    def _bets(self) -> StoppingBets:
        return StoppingBets(self.target, self.expected)

    @property
    def _errors(self) -> NDArray[np.int64]:
        """How many were wrong after each of the labels."""
        return np.searchsorted(self.wrong, np.arange(1, self.n + 1), side="right")

    @cached_property
    def _evidence(self) -> NDArray[np.float64]:
        """The logarithm of the evidence after each of the labels."""
        if not self.n:
            return np.empty(0)
        if self.certified == "pool":
            wrong = np.zeros(self.n, dtype=bool)
            wrong[np.array(self.wrong, dtype=np.intp) - 1] = True
            return pool_evidence(self._bets, wrong, self.n_rows, math.log(self.delta))
        return self._bets.log_evidence(np.arange(1, self.n + 1), self._errors)


def chained(digest: str, pairs: list[tuple[str | None, str]]) -> str:
    """A digest of all outcomes so far, with more of them: true labels, or None, and answers."""
    for pair in pairs:
        digest = hashlib.sha256(f"{digest}{json.dumps(pair)}".encode()).hexdigest()
    return digest


def _spelled(label: Any) -> str:
    return one_spelling(names_of([label])[0])


def _share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, float | int) or not 0.0 < value < 1.0:
        raise ValueError(f"{name} must be a number between 0 and 1, such as 0.05; got {value!r:.80}.")
    return float(value)

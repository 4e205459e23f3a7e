"""New rows without labels: whether they look like those that certified the vote."""

import hashlib
import math
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from certivote._warn import warn
from certivote.certificate import Certificate, Witnesses, as_rows, check_aligned, witnessed
from certivote.io import check_writable, read_model
from certivote.maths.rank_bets import CHUNK, N_BETS, change_of_ranks, evidence_of_ranks, follow_ranks, ranks
from certivote.maths.streams import stream, stream_key
from certivote.monitor._counting import Counted, CountingMonitor
from certivote.monitor._drift_state import KIND, DriftState
from certivote.monitor._evidence import Alarm, ChangeDetector, History, SequentialTest
from certivote.monitor._inputs import checked_alpha, checked_seed, time_text
from certivote.monitor._state import check_alpha, check_certificate, damaged, locked, read_state, write_state
from certivote.monitor._views import Views, drift_summary
from certivote.pipeline import GRID, ColumnShares, Reference, check_held, check_rows, on_grid, table_columns
from certivote.theory.predictors import PREDICTORS
from certivote.voters import FittedVoters, VoterSet, arranged

DriftPoint = tuple[int, float, float]
"""Rows until then, and the logarithms of the evidence and of the evidence of a change."""
_LEVEL = 0.01
"""Of columns that have not moved, about this share of all monitors would name one."""


@dataclass(frozen=True)
class MovedColumn:
    """How far a column has moved.

    Attributes
    ----------
    column : str
    distance : float
        For numbers, the largest difference of the shares of rows up to some number (Kolmogorov-Smirnov); for words, of
        the shares that any set of words has (total variation). Missing values count like another word.
    by_chance : float
        What hardly any column exceeds that has not moved.
    """

    column: str
    distance: float
    by_chance: float


def moved(columns: tuple[ColumnShares, ...], counts: list[NDArray[np.int64]]) -> tuple[MovedColumn, ...]:
    """The columns that have moved by more than chance explains, those that have moved most first.

    Rows are taken as independent. For each set of words, and for each range from below, Hoeffding's inequality limits
    what chance does.
    """
    found = []
    for column, own in zip(columns, counts, strict=True):
        then, now = int(column.seen.sum()), int(own.sum())
        if not now:
            continue
        difference = own / now - column.seen / then
        distance = _of_words(difference) if column.edges is None else _of_numbers(difference)
        sets = len(difference) * math.log(2.0) if column.edges is None else math.log(len(difference))
        nats = sets + math.log(2.0 * len(columns) / _LEVEL)
        found.append(MovedColumn(column.name, distance, math.sqrt(0.5 * nats * (1.0 / then + 1.0 / now))))
    far = [each for each in found if each.distance > each.by_chance]
    return tuple(sorted(far, key=lambda each: each.by_chance - each.distance))


def _of_words(difference: NDArray[np.float64]) -> float:
    return float(0.5 * np.abs(difference).sum())


def _of_numbers(difference: NDArray[np.float64]) -> float:
    """The last place is that of missing values."""
    return float(max(np.abs(np.cumsum(difference[:-1])).max(), abs(difference[-1])))


def candidates_of(certificate: Certificate) -> int:
    """Among how many votes the certification rows have chosen, as far as what is compared with them depends on it.

    A vote that was learned is compared with none of them; but where they might have chosen a fixed one, both count.
    """
    if certificate.share < 1.0:
        return len(certificate.parts) + 1
    return 1 if PREDICTORS[certificate.certified].learns else len(certificate.parts) * certificate.n_draws


class DriftMonitor(SequentialTest, CountingMonitor, Views):
    """Whether new rows look like those that certified a model, judged without labels by how sure the vote is of them.

    Where the weights of the vote were learned from the certification rows, the vote is more sure of these than of new
    ones: then new rows are compared with the new rows before them. Give it first some hundred rows
    of the population that was certified; they need no labels.

    Parameters
    ----------
    model : fitted CertifiedVoteClassifier, or path of a saved one
    alpha : float in (0, 1), default=0.01
        If new rows are exchangeable with those that they are compared with for ever, an alarm is ever raised with at
        most this probability.
    trusted : sequence of str
        For the path of a model that holds what its user brought: see :func:`certivote.load`.
    random_state : int, optional
        Of the random numbers that break ties, which depend on it and on the rows. By default 128 bits from the system,
        which a state file remembers. Choosing it by what comes of it is trying again.

    Attributes
    ----------
    total : Counted
        What became of all rows.
    calls : list of (int, str)
        How many rows had been counted when; after many updates, of every other one.
    candidates : int
        Among how many votes the certification rows have chosen the one that is compared on them: one for each part of
        the split, and with ``method="auto"`` a learned one. The evidence for an alarm must be larger by this factor.

    Notes
    -----
    An alarm says that **the rows look different**. It does not say that the error has grown: the vote may be as right
    about them as before. Nor does silence say that it has not, since errors may grow where the vote is as sure as ever.
    The guarantee and its proof are in :mod:`certivote.maths.rank_bets`, and for votes that were chosen or learned on
    :ref:`the theory page <ranks>`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from certivote import CertifiedVoteClassifier, DriftMonitor
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X[:400], y[:400])
    >>> monitor = DriftMonitor(clf, random_state=0)
    >>> _ = monitor.update(X[400:])
    >>> monitor.alarm
    False
    >>> _ = monitor.update(X[400:] * 1.5)
    >>> monitor.alarm
    True
    """

    one_row_each = True

    def __init__(
        self, model: Any, alpha: float = 0.01, trusted: Sequence[str] = (), *, random_state: int | None = None
    ):
        super().__init__()
        self.alpha, self._model = checked_alpha(alpha), model_of(model, trusted)
        certificate = self._model.certificate
        self.certificate_digest, self.groups = certificate.digest, certificate.groups
        self.learned = PREDICTORS[certificate.certified].learns
        """Whether the certification rows had a part in the weights: then none of them is compared with."""
        self.candidates = candidates_of(certificate)
        self._reference = self._model.reference.masses[: 0 if self.learned else None]
        self.reference_digest = hashlib.sha256(self._reference.astype("<u2").tobytes()).hexdigest()
        self.begin(secrets.randbits(128) if random_state is None else checked_seed(random_state))
        self.new_scores = np.zeros(GRID + 1, dtype=np.int64)
        """How many new rows have each score."""
        self.sums, self.largest = np.zeros(2), 0.0
        self.first_alarm: Alarm | None = None
        self.changes = ChangeDetector(N_BETS)
        self.past = History()
        self.column_counts = [np.zeros(len(column.seen), dtype=np.int64) for column in self._model.reference.columns]

    def begin(self, seed: int) -> None:
        """Break ties anew, by the numbers of this seed."""
        self.seed = seed
        self.chain = stream_key("ties of drift", seed=(seed,), digest=self.reference_digest).to_bytes(32, "big")
        """SHA-256 of the seed, the reference and the scores of all rows so far: it breaks the tie of the last one."""

    # What the rows say

    @property
    def compared_with(self) -> str:
        """The rows that each new row is compared with, in addition to the new rows before it."""
        return "those before them" if self.learned else "those that certified the vote"

    @property
    def n(self) -> int:
        """Rows that were counted; with entities, entities."""
        return int(self.new_scores.sum())

    @property
    def log_evidence(self) -> float:
        return float(evidence_of_ranks(np.array(self.n), self.sums)) if self.n else 0.0

    @property
    def log_evidence_max(self) -> float:
        return self.largest

    @property
    def log_change(self) -> float:
        return float(change_of_ranks(self.changes.logs))

    @property
    def moved(self) -> tuple[MovedColumn, ...]:
        """Columns whose values have moved by more than chance explains, first those that have moved most: a hint."""
        return moved(self._model.reference.columns, self.column_counts)

    @property
    def history(self) -> tuple[DriftPoint, ...]:
        """At most 500 moments at equal distances, and now."""
        moments = self.past.until((self.n, self.log_evidence, self.log_change))
        return tuple((int(n), evidence, change) for n, evidence, change in moments)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What an alarm takes for granted."""
        return (
            f"Rows are compared with {_BEFORE if self.learned else _SUBSET}, by how sure the vote is of them alone: a "
            "change that leaves this as it was is not seen.",
            *((_ENTITIES,) if self.groups else ()),
            *((_LEARNED,) if self.learned else ()),
            *((_CHOSEN.format(self.candidates),) if self.candidates > 1 else ()),
        )

    def summary(self) -> str:
        """What the rows say, in plain words."""
        return drift_summary(self)

    def __str__(self) -> str:
        return self.summary()

    # What happens

    def update(
        self, X: Any, *, ids: ArrayLike | None = None, groups: ArrayLike | None = None, when: Any = None
    ) -> Counted:
        """Count new rows, in the order in which they came.

        Parameters
        ----------
        X : rows
            As the model takes them. Rows that it was made from say nothing of new ones: a warning tells how many.
        ids : array-like, optional
            What identifies each row, so that none is counted twice. Without ids every row counts.
        groups : array-like, optional
            For a certificate about groups, the one that each row belongs to: one row of each is counted, at random
            among its rows in the update in which it first appears.
        when : date, time or text, optional
            When the rows came; by default now.

        Returns
        -------
        Counted
        """
        check_aligned(X=X, ids=ids, groups=groups)
        check_held(X=X)
        X = as_rows(X)
        known = [own.name for own in self._model.reference.columns]
        if hasattr(X, "columns") and set(known) <= set(map(str, X.columns)):
            X = arranged(X, known or list(map(str, X.columns)))
        scores = self._model.scores(X)
        count, moment = len(scores), time_text(when)
        new = self._new_rows(count, ids, groups, "X")
        taken = new.places if new.entities is None else self._one_each(new.places, new.entities, scores)
        columns = [each for _, each in table_columns(X, (), taken)]
        more = [own.counts(each) for own, each in zip(self._model.reference.columns, columns, strict=False)]
        # Nothing is changed before all has been checked.
        self._take(scores[taken].astype(np.intp), moment)
        for kept, each in zip(self.column_counts, more, strict=False):
            kept += each
        return self._remember(count, new, len(taken), len(taken) if self.groups else 0, moment)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that was counted to a state file, at once; ids as digests, and no rows."""
        write_state(path, KIND, DriftState.of(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Any, trusted: Sequence[str] = ()) -> "DriftMonitor":
        """Read what :meth:`save` has written, for the same model.

        Raises
        ------
        ValueError
            If it is not such a file, is damaged, contradicts itself, or is the state of another model.
        """
        state, monitor = read_state(path, KIND, DriftState), cls(model, trusted=trusted)
        check_certificate(path, state.certificate, monitor._model.certificate)
        with damaged(path):
            state.fill(monitor)
        return monitor

    @classmethod
    @contextmanager
    def open(
        cls,
        path: str | os.PathLike[str],
        model: Any,
        alpha: float | None = None,
        trusted: Sequence[str] = (),
        wait: float = 10.0,
    ) -> Iterator["DriftMonitor"]:
        """The monitor of a state file, begun if there is none, written when the block ends: as :meth:`Monitor.open`."""
        check_writable(path)
        with locked(path, wait):
            if os.path.lexists(path):
                monitor = cls.load(path, model, trusted)
                check_alpha(path, monitor.alpha, alpha)
            else:
                monitor = cls(model, 0.01 if alpha is None else alpha, trusted)
            yield monitor
            monitor.save(path)

    def _one_each(
        self, rows: NDArray[np.intp], entities: NDArray[np.uint64], scores: NDArray[np.uint16]
    ) -> NDArray[np.intp]:
        """Of each entity one of these rows at random, in the order of the rows."""
        digest = hashlib.sha256(self.chain + scores[rows].astype("<u2").tobytes()).hexdigest()
        mixed = rows[stream("row of an entity", seed=(self.seed,), digest=digest).permutation(len(rows))]
        return np.sort(mixed[np.unique(entities[mixed], return_index=True)[1]])

    def _uniforms(self, scores: NDArray[np.intp]) -> NDArray[np.float64]:
        """A number for each row, the same however many rows an update has."""
        found = np.empty(len(scores))
        for place, score in enumerate(scores.tolist()):
            self.chain = hashlib.sha256(self.chain + score.to_bytes(2, "big")).digest()
            found[place] = (int.from_bytes(self.chain[:8], "big") >> 11) * 2.0**-53
        return found

    def _take(self, scores: NDArray[np.intp], when: str) -> None:
        uniforms = self._uniforms(scores)
        counts = self.new_scores + np.bincount(self._reference, minlength=GRID + 1)
        for start in range(0, len(scores), CHUNK):
            own = scores[start : start + CHUNK]
            self._bet(ranks(counts, own, uniforms[start : start + CHUNK]), when)
            np.add.at(counts, own, 1)
            np.add.at(self.new_scores, own, 1)

    def _bet(self, found: NDArray[np.float64], when: str) -> None:
        n = self.n + np.arange(1, len(found) + 1)
        sums = self.sums + np.cumsum(found, axis=0)
        sums = np.minimum(sums + 2.0**-52 * len(found) * np.abs(sums), 0.0)  # rounded up
        evidence = evidence_of_ranks(n, sums)
        self.largest = max(self.largest, float(evidence.max()))
        if self.first_alarm is None and self.largest >= self.log_threshold:
            self.first_alarm = Alarm(int(n[np.argmax(evidence >= self.log_threshold)]), 0, when)
        log_change = self.changes.take(
            lambda logs, rows: follow_ranks(logs, found[rows]), change_of_ranks, self.log_threshold, n, when
        )
        self.sums = sums[-1]
        self.past.add(n, evidence, log_change)


_ENTITIES = "Of each group one row is compared, as if the rows of an update were all that it has."
_BEFORE = "the new rows before them"
_SUBSET = f"a random subset of the certification rows and {_BEFORE}"
_CHOSEN = (
    "The certification rows have chosen the vote among {0:,}, so that the one which they suit may be surer of them "
    "than of new ones: an alarm needs {0:,} times the evidence."
)
_LEARNED = (
    "The weights of the vote were learned from the certification rows, of which it may therefore be surer than of new "
    "ones, so these are not compared with them: the first new rows are taken to be as those that were certified."
)


# The model


@dataclass(frozen=True)
class Model:
    """The vote, and its reference."""

    certificate: Certificate
    owner: Any
    voter_set: VoterSet
    voters: FittedVoters
    weights: NDArray[np.float64]
    reference: Reference
    witnesses: Witnesses | None

    def scores(self, X: Any) -> NDArray[np.uint16]:
        """How sure the vote is of each row: its largest mass, on the grid; of the random vote, that of its mean.

        Rows that the model was made from are warned of.
        """
        rows = check_rows(self.owner, self.voter_set, X, self.voters)
        if self.witnesses is not None and rows.shape[0]:
            used = witnessed(self.witnesses, rows, self.certificate)
            if used.found:
                said = f"X has rows that the model was made from: {used}. Give rows that came after that."
                warn(said)
        masses = self.voters.votes(rows).masses(self.weights)
        return on_grid(masses.max(axis=1))


def model_of(source: Any, trusted: Sequence[str] = ()) -> Model:
    """A fitted classifier, or the path of a saved one."""
    if isinstance(source, str | os.PathLike):
        stored, owner = read_model(source, trusted), BaseEstimator()
        owner.n_features_in_ = stored.n_features
        if stored.feature_names is not None:
            owner.feature_names_in_ = stored.feature_names
        parts = stored.certificate, owner, stored.voter_set, stored.voters, stored.weights
        reference, witnesses = stored.reference, stored.witnesses
    elif isinstance(getattr(source, "certificate_", None), Certificate) and hasattr(source, "voters_"):
        parts = source.certificate_, source, source.voter_set_, source.voters_, source.weights_
        reference, witnesses = source.reference_, source.witnesses_
    else:
        raise TypeError(
            "model must be a fitted CertifiedVoteClassifier or the path of a saved one: a certificate alone cannot "
            f"vote on new rows; got {type(source).__name__}."
        )
    return Model(*parts, reference, witnesses)

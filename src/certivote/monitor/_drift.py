"""New rows without labels: whether they look like those that certified the vote."""

import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate import as_rows, check_aligned
from certivote.io import check_writable
from certivote.maths.rank_bets import CHUNK, N_BETS, change_of_ranks, evidence_of_ranks, follow_ranks, ranks
from certivote.maths.streams import stream, stream_key
from certivote.monitor._columns import Moved, moved
from certivote.monitor._counted import Counted, noted
from certivote.monitor._drift_state import KIND, DriftState
from certivote.monitor._evidence import Alarm, Changes, Judged
from certivote.monitor._past import Thinned
from certivote.monitor._report import Reported
from certivote.monitor._rows import checked_alpha, checked_seed, names, time_text
from certivote.monitor._seen import Seen, name_digests
from certivote.monitor._state import check_alpha, check_certificate, damaged, locked, read_state, write_state
from certivote.monitor._votes import model_of
from certivote.monitor._words import drift_summary
from certivote.pipeline import GRID, check_held, table_columns
from certivote.theory.predictors import PREDICTORS
from certivote.voters import arranged

DriftPoint = tuple[int, float, float]
"""Rows until then, and the logarithms of the evidence and of the evidence of a change."""


class DriftMonitor(Judged, Reported):
    """Whether new rows look like those that certified a model, judged without labels by how sure the vote is of them.

    Where the weights of the vote were learned from the certification rows, the vote is surer of these than of new ones,
    and no price cures that: then new rows are compared with the new rows before them. Give it first some hundred rows
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
        the split. The evidence must be so many times as large for an alarm.

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

    def __init__(
        self, model: Any, alpha: float = 0.01, trusted: Sequence[str] = (), *, random_state: int | None = None
    ):
        self.alpha, self._model = checked_alpha(alpha), model_of(model, trusted)
        certificate = self._model.certificate
        self.certificate_digest, self.groups = certificate.digest, certificate.groups
        self.learned = PREDICTORS[certificate.certified].learns
        """Whether the certification rows had a part in the weights: then none of them is compared with."""
        self.candidates = 1 if self.learned else len(certificate.parts) * certificate.n_draws
        self._reference = self._model.reference.masses[: 0 if self.learned else None]
        self.reference_digest = hashlib.sha256(self._reference.astype("<u2").tobytes()).hexdigest()
        self.begin(secrets.randbits(128) if random_state is None else checked_seed(random_state))
        self.total, self.calls = Counted(), list[tuple[int, str]]()
        self.ids, self.entities = Seen(), Seen()
        self.new_scores = np.zeros(GRID + 1, dtype=np.int64)
        """How many new rows have each score."""
        self.sums, self.largest = np.zeros(2), 0.0
        self.first_alarm: Alarm | None = None
        self.changes = Changes(N_BETS)
        self.past = Thinned()
        self.column_counts = [np.zeros(len(column.seen), dtype=np.int64) for column in self._model.reference.columns]

    def begin(self, seed: int) -> None:
        """Break ties anew, by the numbers of this seed."""
        self.seed = seed
        self.chain = stream_key("ties of drift", seed=(seed,), digest=self.reference_digest).to_bytes(32, "big")
        """SHA-256 of the seed, the reference and the scores of all rows so far: it breaks the tie of the last one."""

    # What the rows say

    @property
    def compared_with(self) -> str:
        """The rows that each new row is compared with, besides the new rows before it."""
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
    def moved(self) -> tuple[Moved, ...]:
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
            For a certificate about entities, the one that each row belongs to: one row of each is counted, at random
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
        id_digests = None if ids is None else name_digests(names(ids, "ids", count, "X"), "id")
        entities = self._groups(groups, count)
        fresh = np.ones(count, dtype=bool) if id_digests is None else self.ids.news(id_digests)
        taken, n_fresh = np.flatnonzero(fresh), int(np.count_nonzero(fresh))
        later = 0
        if entities is not None:
            new = taken[~self.entities.known(entities[taken])]
            later, taken = n_fresh - len(new), self._one_each(new, entities, scores)
        columns = [each for _, each in table_columns(X, (), taken)]
        more = [own.counts(each) for own, each in zip(self._model.reference.columns, columns, strict=False)]
        # Nothing is changed before all has been checked.
        self._take(scores[taken].astype(np.intp), moment)
        for kept, each in zip(self.column_counts, more, strict=False):
            kept += each
        if id_digests is not None:
            self.ids.add(id_digests)
        if entities is not None:
            self.entities.add(entities[taken])
        counted = Counted(count, len(taken), count - n_fresh, later, len(taken) if self.groups else 0)
        self.total = self.total + counted
        self.calls = noted(self.calls, self.n, moment)
        return counted

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that was counted to a state file, at once; ids as digests, and no rows."""
        write_state(path, KIND, DriftState.of(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Any, trusted: Sequence[str] = ()) -> "DriftMonitor":
        """Read what :meth:`save` has written, for the same model.

        Raises
        ------
        ValueError
            If it is no such file, is damaged, says what cannot be, or is the state of another model.
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

    def _groups(self, groups: ArrayLike | None, count: int) -> NDArray[np.uint64] | None:
        if groups is None and self.groups:
            raise ValueError(
                f"The certificate is about entities ({self.groups}): give groups=, what each row belongs to."
            )
        if groups is not None and not self.groups:
            raise ValueError("groups cannot be used here: the certificate is about single rows, not about entities.")
        return None if groups is None else name_digests(names(groups, "groups", count, "X"), "entity")

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


_ENTITIES = "Of each entity one row is compared, as if the rows of an update were all that it has."
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

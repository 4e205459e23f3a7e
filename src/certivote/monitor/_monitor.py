"""Outcomes after deployment, against what a certificate promises."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate import Certificate, check_aligned
from certivote.io import check_writable
from certivote.monitor._counting import Counted, CountingMonitor
from certivote.monitor._inputs import (
    certificate_of,
    checked_alpha,
    columns_of,
    places,
    scores_and_masses,
    time_text,
    values_of,
)
from certivote.monitor._monitor_state import KIND, MonitorState
from certivote.monitor._state import (
    StateFileError,
    check_alpha,
    check_certificate,
    damaged,
    locked,
    read_state,
    write_state,
)
from certivote.monitor._statements import AUTOMATIC, PROMISES_WATCHED, Losses, Outcomes, divide_alpha, watched_of
from certivote.monitor._stream import Stream
from certivote.monitor._views import Views, assumptions, plain, summary
from certivote.theory.predictors import PREDICTORS


class Monitor(CountingMonitor, Views):
    """Whether a certificate still holds, judged by outcomes as they come, at every moment with the same guarantee.

    Parameters
    ----------
    source : Certificate, fitted CertifiedVoteClassifier, or path of a certificate or a model
    alpha : float in (0, 1), default=0.01
        If all watched bounds hold for ever, an alarm is ever raised with at most this probability. It is divided: one
        half is for the certificate's bound, the other half for all other statements, the same for each.
    watch : "auto", "all", or sequence of names of promises
        What is watched in addition to the certificate's bound: ``auto``, its statements by class and those of other
        promises that need only true classes and answers (precision, costs); ``all`` of its promises; or those that are
        named, such as ``["by class", "subgroups"]``. An empty sequence: nothing else.

    Attributes
    ----------
    streams : tuple of Stream
        What is watched, with the evidence on each; the first is the certificate's bound.
    total : Counted
        What became of all rows.
    calls : list of (int, str)
        How many outcomes had been counted when; after many updates, of every other one.
    ids, entities : IdSet
        Digests of those that were counted.

    Notes
    -----
    An alarm says that a bound **does not hold any more** (or never did, which a certificate allows for with probability
    delta). No alarm says nothing: there may not be evidence enough yet. The guarantee and its proof are in
    :mod:`certivote.maths.evidence`: outcomes need not be independent, and errors may become more and less frequent as
    long as they never exceed the bound. It does rest on which outcomes become known, and when, having nothing to do
    with whether the answer was right: if labels arrive for a selection only, it is about that selection.

    Where the certificate is about entities, the loss of one is the mean over its rows in the update in which it first
    appears; later rows of it are left out.

    Examples
    --------
    >>> from certivote import Monitor, certify_predictions
    >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
    >>> monitor = Monitor(certificate, alpha=0.01)
    >>> monitor.update(["ill", "well"] * 100, ["ill", "well"] * 100).counted
    200
    >>> monitor.alarm
    False
    >>> monitor.update(["ill", "well"] * 50, ["ill", "ill"] * 50).counted
    100
    >>> monitor.alarm, monitor.error_so_far
    (True, 0.16666666666666666)
    """

    def __init__(self, source: Any, alpha: float = 0.01, watch: str | Sequence[str] = "auto"):
        super().__init__()
        self.alpha, certificate = checked_alpha(alpha), certificate_of(source)
        self.certificate_digest = certificate.digest
        self.classes = certificate.classes
        self.groups = certificate.groups
        self.certified, self.loss = certificate.certified, certificate.loss
        watched = divide_alpha(watched_of(certificate, _promises(certificate, watch)), self.alpha)
        self.streams = tuple(Stream(own, bool(self.groups)) for own in watched)

    # What outcomes say

    @property
    def alarm(self) -> bool:
        """Whether any watched bound has ever been found not to hold."""
        return any(stream.alarm for stream in self.streams)

    @property
    def alarms(self) -> tuple[Stream, ...]:
        """The streams whose bounds have been found not to hold."""
        return tuple(stream for stream in self.streams if stream.alarm)

    @property
    def n(self) -> int:
        """Outcomes that were counted; with entities, entities."""
        return self.streams[0].n

    @property
    def bound(self) -> float:
        """The certified bound."""
        return self.streams[0].bound

    @property
    def e_value(self) -> float:
        """The evidence against the certified bound now: at most 1 in the mean, as long as it holds."""
        return self.streams[0].e_value

    @property
    def change_value(self) -> float:
        """The evidence of a change for the worse since some unknown moment (Shiryaev-Roberts)."""
        return self.streams[0].change_value

    @property
    def error_so_far(self) -> float | None:
        """The share of wrong answers so far; None before the first outcome."""
        return self.streams[0].error_so_far

    @property
    def error_limit(self) -> float:
        """Upper limit for the mean error until now, valid at all times together with probability ``1 - alpha``."""
        return self.streams[0].error_limit

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must be true of how outcomes become known."""
        return assumptions(self.groups, PREDICTORS[self.certified].is_random, self.loss)

    def summary(self) -> str:
        """What outcomes say, in plain words."""
        return summary(self)

    def __str__(self) -> str:
        return self.summary()

    # What happens

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        table: Any = None,
        scores: ArrayLike | None = None,
        when: Any = None,
        weights: ArrayLike | None = None,
    ) -> Counted:
        """Count outcomes: any number of them, in the order in which they became known.

        Parameters
        ----------
        y_true : array-like
            The true classes. A class that the certificate does not know counts as an error.
        y_pred : array-like
            What the classifier had answered.
        ids : array-like, optional
            What identifies each row, so that none is counted twice: the first counts, and later ones do not. Numbers
            are compared by value: 7, ``"7"``, ``"7.0"`` and ``"07"`` are one. Without ids every row counts.
        groups : array-like, optional
            For a certificate about entities, the one that each row belongs to.
        table : data frame, optional
            Columns that watched subgroups are made of.
        scores : array-like, optional
            How sure the classifier was of each answer; or the masses of all classes, one row for each case.
        when : date, time or text, optional
            When the outcomes became known; by default now.
        weights : array-like, optional
            Not supported, and refused: see the message.

        Returns
        -------
        Counted
        """
        if weights is not None:
            raise ValueError(
                "weights by labelling probabilities are not supported: a weighted loss of 1/probability is not between "
                "0 and 1, so these bets on it would not be fair; let a random sample of all cases be labelled instead."
            )
        check_aligned(y_true=y_true, y_pred=y_pred, ids=ids, groups=groups, table=table, scores=scores)
        truth = values_of(y_true, "y_true")
        rows = self._outcomes(truth, y_pred, table, scores)
        moment, new = time_text(when), self._new_rows(len(truth), ids, groups, "y_true")
        codes = None if new.entities is None else _by_appearance(new.entities[new.places])
        losses = [self._losses(stream, rows, new.places, codes) for stream in self.streams]
        # Nothing is changed before all has been checked.
        for stream, own in zip(self.streams, losses, strict=True):
            stream.take(own, moment)
        n_entities = 0 if codes is None or not len(codes) else int(codes.max()) + 1
        return self._remember(len(truth), new, len(new.places), n_entities, moment)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that was counted to a state file, at once.

        It holds no rows, and only digests of ids; these show whether a guessed name is among them.

        Where several processes may write the same file, use :meth:`open`.
        """
        write_state(path, KIND, MonitorState.of(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str], source: Any = None) -> "Monitor":
        """Read what :meth:`save` has written.

        Parameters
        ----------
        path : path
        source : Certificate, fitted CertifiedVoteClassifier, or path, optional
            What the state must be of. With it, all bounds are compared with those of the certificate; without it, the
            file is believed as to what is watched.

        Raises
        ------
        ValueError
            If it is not such a file, is damaged, contradicts itself, or is the state of another certificate. Evidence
            is computed anew from the counts. A digest shows damage; it does not prove who wrote the file.
        """
        state, monitor = read_state(path, KIND, MonitorState), cls.__new__(cls)
        with damaged(path):
            state.fill(monitor)
        if source is not None:
            certificate = certificate_of(source)
            check_certificate(path, monitor.certificate_digest, certificate)
            monitor._check_watched(path, certificate, [stream.promise for stream in monitor.streams])
        return monitor

    @classmethod
    @contextmanager
    def open(
        cls,
        path: str | os.PathLike[str],
        source: Any,
        alpha: float | None = None,
        watch: str | Sequence[str] | None = None,
        wait: float = 10.0,
    ) -> Iterator["Monitor"]:
        """The monitor of a state file, which is begun if there is none, and written when the block ends without error.

        Other processes cannot open it in this way meanwhile: a file of the same name with ``.lock`` is locked, and the
        system unlocks it when this process ends, however it ends. A process that is killed has written the whole update
        or nothing.

        Parameters
        ----------
        path : path
        source : Certificate, fitted CertifiedVoteClassifier, or path
        alpha, watch : optional
            As for :class:`Monitor`; of a state that is there already, they must be what it was begun with.
        wait : float
            Seconds to wait for another process; a TimeoutError after that.

        Examples
        --------
        >>> import tempfile
        >>> from certivote import Monitor, certify_predictions
        >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for batch in range(2):
        ...         with Monitor.open(f"{folder}/monitor.json", certificate) as monitor:
        ...             _ = monitor.update(["ill", "well"], ["ill", "well"], ids=[1, 2 + batch])
        >>> monitor.n, monitor.total.repeated
        (3, 1)
        """
        check_writable(path)
        with locked(path, wait):
            if os.path.lexists(path):
                certificate = certificate_of(source)
                monitor = cls.load(path, certificate)
                check_alpha(path, monitor.alpha, alpha)
                if watch is not None:
                    monitor._check_watched(path, certificate, _promises(certificate, watch))
            else:
                monitor = cls(source, 0.01 if alpha is None else alpha, "auto" if watch is None else watch)
            yield monitor
            monitor.save(path)

    def _check_watched(self, path: str | os.PathLike[str], certificate: Certificate, promises: Sequence[str]) -> None:
        """Refuse a state in which other statements are watched, or for other bounds."""
        wanted = divide_alpha(watched_of(certificate, promises), self.alpha)
        described = (certificate.classes, certificate.groups, certificate.certified, certificate.loss)
        if tuple(stream.statement for stream in self.streams) != wanted or described != (
            self.classes,
            self.groups,
            self.certified,
            self.loss,
        ):
            raise StateFileError(
                f"{os.fspath(path)} watches other statements of the certificate, or for other bounds, than were asked "
                "for: leave watch out, or begin another state."
            )

    def _outcomes(self, truth: list[Any], y_pred: ArrayLike, table: Any, scores: ArrayLike | None) -> Outcomes:
        said = values_of(y_pred, "y_pred", len(truth))
        answers = places(said, self.classes)
        if np.any(answers < 0):
            raise ValueError(
                f"y_pred has the label {said[int(np.argmin(answers))]!r:.80}, which is none of the certificate's "
                f"classes {plain(', '.join(self.classes[:10]))}: these are the answers of another classifier."
            )
        sure, masses = scores_and_masses(scores, len(truth), len(self.classes))
        columns = columns_of(table, len(truth))
        given = {"table": columns, "scores": sure, "masses": masses}
        for stream in self.streams:
            if stream.is_watched and stream.statement.needs and given[stream.statement.needs] is None:
                raise ValueError(_lacks(stream))
        return Outcomes(places(truth, self.classes), answers, sure, masses, columns)

    def _losses(
        self, stream: Stream, rows: Outcomes, taken: NDArray[np.intp], codes: NDArray[np.intp] | None
    ) -> Losses:
        """The losses that a statement is about: of rows, or of entities in the order in which they appear."""
        if stream.promise != self.streams[0].promise and not stream.is_watched:
            return np.empty(0, dtype=np.int64)
        among, losses = stream.statement.losses(rows)
        among, losses = among[taken], losses[taken]
        if codes is None:
            return losses[among]
        numbers, own = np.unique(codes[among], return_inverse=True)
        sums = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(sums, own, losses[among])
        return sums // np.maximum(np.bincount(own, minlength=len(numbers)), 1)


def _promises(certificate: Certificate, watch: str | Sequence[str]) -> Sequence[str]:
    """The names of promises to watch."""
    there = [promise.name for promise in certificate.promises if promise.name in PROMISES_WATCHED]
    if watch == "all":
        return there
    if watch == "auto":
        return [name for name in there if name in AUTOMATIC]
    named = [watch] if isinstance(watch, str) or not np.iterable(watch) else list(watch)
    unknown = [name for name in named if name not in there and name != PROMISES_WATCHED[0]]
    if unknown:
        known = ", ".join(dict.fromkeys(there)) or "none"
        raise ValueError(
            f"watch has {unknown[0]!r:.80}, which the certificate does not promise; 'auto', 'all', or some of its "
            f"promises can be watched: {known}."
        )
    return named


def _lacks(stream: Stream) -> str:
    what = {
        "table": "table=, a data frame with the columns of the rows",
        "scores": "scores=, how sure the classifier was of each answer",
        "masses": "scores=, the masses of all classes, a row for each case",
    }[stream.statement.needs]
    return f"{stream.name!s:.200} cannot be told from true classes and answers: give {what}, or do not watch it."


def _by_appearance(digests: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Numbers for entities in the order in which they first appear."""
    _, first, codes = np.unique(digests, return_index=True, return_inverse=True)
    places = np.empty(len(first), dtype=np.intp)
    places[np.argsort(first)] = np.arange(len(first))
    return places[codes.reshape(-1)]

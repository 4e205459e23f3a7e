"""Rows in memory: an array, a data frame or a sparse matrix, with labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from certivote.certificate import Finding, Subject, Witnesses, check_aligned, data_digest, part_digest, row_keys
from certivote.frames import as_frame
from certivote.pipeline._blocks import LocalBlocks
from certivote.pipeline._division import ROWS_BY_NUMBER, NumberedRows, PartRows, split_rows
from certivote.pipeline._duplicates import count_duplicates
from certivote.pipeline._grouping import Grouping, make_grouping
from certivote.pipeline._input import check_labelled, column_name
from certivote.pipeline._pilot import choose_division
from certivote.pipeline._plan import Plan
from certivote.pipeline._progress import Stage
from certivote.pipeline._promises import GUIDE_ROWS, OutOfSampleRows, PromiseData, columns_of
from certivote.pipeline._reference import KeptRows, probe_rows, reference_rows
from certivote.pipeline._rows import CertificationRows, Division, RowsWithVotes, Table, TrainingRows, unseen_classes
from certivote.pipeline._streams import Streams
from certivote.promises import Columns
from certivote.remarks import related_rows
from certivote.theory.risks import Labels
from certivote.voters import FittedVoters, VoterSet

Places = NDArray[np.intp]


class RowsInMemory:
    """Rows that voters are fitted on and that certify their vote; see :class:`certivote.pipeline.Rows`.

    Parameters
    ----------
    voters : VoterSet
        Rows are checked as these need them.
    X, y : array-like
        All rows.
    groups, order : array-like, optional
        For each row, the entity that it belongs to; or when it was taken.
    table : data frame, optional
        Other columns of the rows, to look for such that belong together.
    """

    subject: Subject = "vote"

    def __init__(self, voters: VoterSet, X: Any, y: Any, *, groups: Any = None, order: Any = None, table: Any = None):
        check_aligned(X=X, y=y, groups=groups, order=order, table=table)
        X, table = as_frame(X), as_frame(table)
        self.names = tuple(map(str, getattr(X, "columns", ())))
        self.X, self.y, features = check_labelled(voters, X, y)
        self.classes = np.unique(np.concatenate([self.y, np.asarray(voters.known_classes(), dtype=self.y.dtype)]))
        self.codes: Labels = np.searchsorted(self.classes, self.y)
        self.table = Table.of(features, column_name(y), np.bincount(self.codes, minlength=len(self.classes)))
        self.beside = table
        self.grouping = make_grouping(len(self.y), groups, order)

    @property
    def columns(self) -> Columns | None:
        return columns_of(self.X, self.names, np.arange(len(self.y)))

    @cached_property
    def keys(self) -> Sequence[bytes]:
        """Of each row, for digests and to find equal ones."""
        return row_keys(self.X)

    def digest(self) -> str:
        return data_digest(self.digest_of(np.arange(len(self.y))), self.grouping.beside)

    def digest_of(self, rows: Places) -> str:
        """Of some rows with their labels."""
        return part_digest(self.keys, self.y, rows)

    def divide(self, plan: Plan, streams: Streams, stage: Stage) -> Division:
        plan.voters.check_room(len(self.y), len(self.classes))
        if plan.by_number is not None:
            return self._by_number(plan, streams)
        grouping = self.grouping.shuffled(streams)
        shuffled = grouping.arranged(len(self.y), streams.of("split"))
        look = choose_division(
            plan,
            self.X,
            self.y,
            self.classes,
            shuffled,
            grouping,
            lambda rows: streams.over(self.digest_of(rows)),
            stage,
        )
        parts = []
        for number, part in enumerate(split_rows(shuffled, look.split, look.share, look.first)):
            # Voters get rows in the order of the split: how the table was arranged may tell something of the others.
            fitted = grouping.rows_of(part.train)
            rows = PartRows(np.sort(fitted), np.sort(grouping.rows_of(part.certify)))
            parts.append(_PartInMemory(self, plan, number, rows, fitted, grouping, streams))
        return Division(parts, look.split, look.first_rows, self._worries(plan.voters, parts))

    def _by_number(self, plan: Plan, streams: Streams) -> Division:
        """As on a cluster."""
        assert plan.by_number is not None
        if self.grouping.groups or self.grouping.order or plan.split not in ("auto", "single"):
            raise ValueError("Rows are divided by their numbers with split='single', and without groups and order.")
        rule = NumberedRows(streams.key(ROWS_BY_NUMBER), len(self.y), plan.train_share or 0.5).checked()
        rows = rule.in_memory()
        fitted = rows.train[plan.by_number.sample(streams, rows.n_train)]
        parts = [_PartInMemory(self, plan, 0, rows, fitted, self.grouping, streams)]
        return Division(parts, "single", None, self._worries(plan.voters, parts))

    def _worries(self, voters: VoterSet, parts: "Sequence[_PartInMemory]") -> list[str]:
        if voters.needs_training:
            counts = [np.bincount(part.training_labels, minlength=len(self.classes)) for part in parts]
            return unseen_classes(self.classes[np.min(counts, axis=0) == 0].tolist())
        if not parts[0].n_train:
            doubt = voters.doubt(self.X)
            return [doubt] if doubt else []
        return [
            f"{type(voters).__name__} needs no training rows, so the split only sets rows aside: "
            "split='none' certifies on all of them."
        ]


@dataclass(frozen=True)
class _PartInMemory:
    """The rows of one part; ``fitted`` are those that voters are fitted on, in their order."""

    whole: RowsInMemory
    plan: Plan
    number: int
    rows: PartRows
    fitted: Places
    grouping: Grouping
    streams: Streams

    @property
    def n_train(self) -> int:
        return self.rows.n_train

    @property
    def training_labels(self) -> Labels:
        return self.whole.codes[self.rows.train]

    @cached_property
    def own(self) -> Streams:
        """Streams that depend on the rows alone that voters are fitted on."""
        return self.streams.over(self.whole.digest_of(self.fitted))

    def training(self) -> TrainingRows:
        whole, rows = self.whole, self.fitted
        X, entities = _safe_indexing(whole.X, rows), self.grouping.of_training(rows)
        return TrainingRows(X, whole.y[rows], whole.codes[rows], entities, self.own)

    def fit(self, training: TrainingRows | None, rng: np.random.Generator | None) -> FittedVoters:
        assert training is not None
        assert rng is not None
        belong = {} if training.entities is None else {"entities": training.entities.codes}
        return self.plan.voters.fit(training.X, training.y, self.whole.classes, rng, **belong)

    def vote(self, voters: FittedVoters) -> RowsWithVotes:
        whole, rows, by_number = self.whole, self.rows, self.plan.by_number
        votes, labels = voters.votes(_safe_indexing(whole.X, rows.certify)), whole.codes[rows.certify]
        blocks = by_number is not None and by_number.in_blocks(len(labels))
        return RowsWithVotes(
            votes=votes,
            labels=labels,
            digests=(whole.digest_of(rows.certify), whole.digest_of(rows.train)),
            duplicates=count_duplicates(whole.keys, rows),
            entities=self.grouping.of(rows.certify),
            times=None if self.grouping.times is None else self.grouping.times[rows.certify],
            blocks=LocalBlocks.divided(votes, labels, by_number.block_rows) if by_number and blocks else None,
            learned_from=by_number.learned_from(self.streams, len(labels)) if by_number else None,
        )

    def findings(self) -> tuple[Finding, ...]:
        # On a cluster rows of both kinds are nowhere side by side; with groups it is known which belong together.
        if self.plan.by_number is not None or self.grouping.entities is not None:
            return ()
        return related_rows(
            self.whole.X,
            self.rows.train,
            self.rows.certify,
            self.whole.table.columns,
            digest=self.streams.digest,
            table=self.whole.beside,
            in_time=bool(self.grouping.order),
        )

    def promise_data(self, voters: FittedVoters) -> PromiseData:
        whole, rows = self.whole, self.fitted
        columns = columns_of(whole.X, whole.names, self.rows.certify)
        if not len(rows):
            return PromiseData(columns)
        labels, entities = whole.codes[rows], self.grouping.of_training(rows)
        # Chosen once: the same for all promises and methods.
        places = np.sort(self.own.of("guide", self.number).permutation(len(labels))[:GUIDE_ROWS])

        def out_of_sample() -> OutOfSampleRows:
            votes = voters.out_of_sample(_safe_indexing(whole.X, rows), labels, places)
            chosen = places if votes.rows is None else votes.rows
            own = columns_of(whole.X, whole.names, rows[chosen])
            return OutOfSampleRows(votes, labels[chosen], own, None if entities is None else entities.among(chosen))

        return PromiseData(columns, columns_of(whole.X, whole.names, rows), out_of_sample)

    def kept(self, certification: CertificationRows) -> KeptRows:
        whole, number, certify = self.whole, self.number, self.rows.certify
        known, entities = self.fitted if len(self.fitted) else certify, self.grouping.of(certify)
        return KeptRows(
            probe_rows(whole.X, known, self.own.of("probe", number)),
            reference_rows(whole.X, whole.names, certify, entities, self.streams.of("reference", number)),
            Witnesses.of(whole.X, self.fitted, certify, self.streams.of("witnesses", number)),
        )

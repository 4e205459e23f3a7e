"""The rows of a table in partitions, as the pipeline asks for them."""

import dataclasses
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from certivote.certificate import Finding, Subject, data_digest, part_digest, row_keys
from certivote.dask import _passes
from certivote.dask._blocks import ClusterBlocks
from certivote.dask._boosters import train_booster
from certivote.dask._cluster import Passes, sent
from certivote.dask._partition import Layout, Part
from certivote.maths.tree_digest import join_pieces, together
from certivote.pipeline import (
    COMPARED_ROWS,
    ROWS_BY_NUMBER,
    CertificationRows,
    Count,
    Division,
    Grouping,
    KeptRows,
    NumberedRows,
    Plan,
    PromiseData,
    Stage,
    Streams,
    Table,
    TrainingRows,
    trains,
    unseen_classes,
)
from certivote.promises import CountedVote
from certivote.theory.methods import Method
from certivote.theory.predictors import Tally, Vote
from certivote.theory.risks import Labels, Loss
from certivote.voters import FittedVoters, Mixed, fit_sample, with_booster, with_grown
from certivote.votes import Votes, stack_votes

Places = NDArray[np.intp]

_TREES = 100
"""Trees that are grown where rows lie, in all partitions together."""


class ClusterRows:
    """Rows in partitions; see :class:`certivote.pipeline.Rows`.

    Given the same voters, what comes of them is what would come of the same rows in memory, divided by their numbers,
    to the bit: no step depends on where rows lie.

    Parameters
    ----------
    passes : Passes
    plan : Plan
    has_own_voters : bool
        Whether voters may be fitted where rows lie too.

    Attributes
    ----------
    seconds : dict of str to float
        What each pass took.
    held : ClusterBlocks or None
        Votes that stay on the workers, where weights are learned from all rows.
    """

    subject: Subject = "vote"
    grouping = Grouping()
    columns = None

    def __init__(self, passes: Passes, plan: Plan, has_own_voters: bool):
        self.passes, self.has_own_voters = passes, has_own_voters
        self.seconds: dict[str, float] = {}
        self.held: ClusterBlocks | None = None
        self.parts = [Part(place, None, plan.voters) for place in range(len(passes.table.pairs))]
        found, counts, seen = self._labels()
        self.classes = np.unique(np.concatenate([found, np.asarray(plan.voters.known_classes(), dtype=found.dtype)]))
        every = np.zeros(len(self.classes), dtype=np.intp)
        every[np.searchsorted(self.classes, found)] = counts
        self.table = Table.of(seen, passes.table.target, every)

    def _labels(self) -> tuple[NDArray[Any], NDArray[np.intp], Any]:
        """All labels that occur, ascending, and how often; and the features."""
        looked = self.run("look", "reading the labels", _passes.look)
        whole = [own for own in looked if own.n_rows]
        if not whole:
            raise ValueError(f"None of the {len(looked)} partitions has a row.")
        layout: Layout = whole[0].layout
        for place, own in enumerate(looked):
            if own.layout is not None:
                layout.refuse(place, own.layout)
        sums = np.array([own.index for own in whole if own.index is not None], dtype=object).reshape(-1, 2)
        if np.any(sums[:, 0] != sums[:, 1]) and len({total % (1 << 64) for total in sums.sum(axis=0)}) == 1:
            raise ValueError(
                "The partitions of y have the index labels of X in another order, and rows are matched by position: "
                "take both from one table."
            )
        seen = whole[0].seen
        firsts = np.cumsum([0, *(own.n_rows for own in looked)])
        self.parts = [
            dataclasses.replace(part, n_rows=own.n_rows, rows=own.rows, layout=layout, first=int(first), seen=seen)
            for part, own, first in zip(self.parts, looked, firsts, strict=False)
        ]
        labels, places = np.unique(np.concatenate([own.labels for own in whole]), return_inverse=True)
        counts = np.zeros(len(labels), dtype=np.intp)
        np.add.at(counts, places, np.concatenate([own.counts for own in whole]))
        return labels, counts, seen

    def digest(self) -> str:
        pieces = self.run("digest", "reading all rows, for their digest", _passes.digest)
        return data_digest(join_pieces(piece for piece in pieces if piece is not None), {})

    def divide(self, plan: Plan, streams: Streams, stage: Stage) -> Division:
        part = PartOnCluster(self, plan, self.rule_of(plan, streams), streams)
        unseen = self.classes[part.training_counts == 0].tolist() if plan.voters.needs_training else []
        return Division((part,), "single", worries=unseen_classes(unseen))

    def rule_of(self, plan: Plan, streams: Streams) -> NumberedRows:
        """Which rows train and which certify; workers are told."""
        n_rows = sum(part.n_rows or 0 for part in self.parts)
        rule = NumberedRows(streams.key(ROWS_BY_NUMBER), n_rows, plan.train_share or 0.5).checked()
        self.parts = [dataclasses.replace(part, rule=rule, classes=self.classes) for part in self.parts]
        return rule

    def run(self, name: str, what: str, function: Any, *more: Sequence[Any], common: Sequence[Any] = ()) -> list[Any]:
        """One pass over the table."""
        start = time.perf_counter()
        found = self.passes.run(what, function, self.parts, *more, common=common)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        return found


class PartOnCluster:
    """The only part of these rows; see :class:`certivote.pipeline.RowsOfPart`. A sample of its training rows is here.

    Parameters
    ----------
    whole : ClusterRows
    plan : Plan
    rule : NumberedRows
        Which rows train and which certify.
    streams : Streams
    """

    def __init__(self, whole: ClusterRows, plan: Plan, rule: NumberedRows, streams: Streams):
        assert plan.by_number is not None
        self.whole, self.plan, self.by_number, self.rows, self.streams = whole, plan, plan.by_number, rule, streams
        n_train = [
            int(np.count_nonzero(trains(rule.key, own.first, own.n_rows or 0, rule.share))) for own in whole.parts
        ]
        n_certify = [(own.n_rows or 0) - n for own, n in zip(whole.parts, n_train, strict=True)]
        self.train, self.certify = np.cumsum([0, *n_train]), np.cumsum([0, *n_certify])
        self.places = plan.by_number.sample(streams, rule.n_train)
        what, within = "gathering training rows", _within(self.places, self.train)
        found = [own for own in whole.run("sample", what, _passes.sample, within) if own]
        self.X = _stacked([own[0] for own in found])
        self.y = np.concatenate([own[1] for own in found])
        self.training_counts = np.sum([own[2] for own in found], axis=0)

    @property
    def n_train(self) -> int:
        return self.rows.n_train

    @property
    def training_labels(self) -> Labels:
        return np.array([self.training_counts.argmax()])

    @cached_property
    def own(self) -> Streams:
        """Streams that depend on the sample alone."""
        return self.streams.over(part_digest(row_keys(self.X), self.y, np.arange(len(self.y))))

    def training(self) -> TrainingRows:
        return TrainingRows(self.X, self.y, np.searchsorted(self.whole.classes, self.y), None, self.own)

    def fit(self, training: TrainingRows | None, rng: np.random.Generator | None) -> FittedVoters:
        assert rng is not None
        voters, classes, whole = self.plan.voters, self.whole.classes, self.whole
        if not whole.has_own_voters or self.train[-1] <= len(self.places):
            return voters.fit(self.X, self.y, classes, rng)
        within = _within(self.places, self.train)
        # Each partition has its share of the trees, by its training rows.
        n_trees = np.diff(np.round(_TREES * self.train / self.train[-1])).astype(int).tolist()
        seeds = self.own.of("voters where rows lie").integers(2**32, size=len(n_trees)).tolist()
        grown = whole.run("grow", "growing trees where the rows lie", _passes.grow, n_trees, seeds, within)
        own = with_grown(fit_sample(voters, self.X, self.y, classes, rng), grown, [len(each) for each in within])
        if not isinstance(voters, Mixed):
            return own
        start = time.perf_counter()
        booster = train_booster(whole.passes, whole.parts, self.train, within, self.X.shape[1], seeds[0])
        whole.seconds["boost"] = time.perf_counter() - start
        return own if booster is None else with_booster(own, booster, self.X, len(classes))

    def vote(self, voters: FittedVoters) -> "CertificationRowsOnCluster":
        whole, n_rows = self.whole, int(self.certify[-1])
        if self.by_number.in_blocks(n_rows):
            start = time.perf_counter()
            size = self.by_number.block_rows
            whole.held = ClusterBlocks(whole.passes, whole.parts, self.certify, sent(voters), size)
            whole.seconds["hold"] = time.perf_counter() - start
        places = self.by_number.voted_on(self.streams, n_rows)
        what = f"{voters.n_voters:,} voters vote on {len(places):,} rows"
        within = _within(places, self.certify)
        found = [own for own in whole.run("vote", what, _passes.vote, within, common=[sent(voters)]) if own]
        votes, labels = stack_votes([votes for votes, _ in found]), np.concatenate([codes for _, codes in found])
        return CertificationRowsOnCluster(self, voters, votes, labels, whole.held)

    def findings(self) -> tuple[Finding, ...]:
        return ()  # rows of both kinds are nowhere side by side

    def promise_data(self, voters: FittedVoters) -> PromiseData:
        return PromiseData(answers_only=True)

    def kept(self, certification: CertificationRows) -> KeptRows:
        return KeptRows.of_sample(self.X, certification.votes.n_rows, self.own, self.streams)


@dataclasses.dataclass(frozen=True)
class CertificationRowsOnCluster:
    """All certification rows, where they lie, and the votes on some; see :class:`certivote.pipeline.CertificationRows`.

    ``votes`` and ``labels`` are of the rows that weights are learned from, or with ``blocks`` of any.
    """

    part: PartOnCluster
    voters: FittedVoters
    votes: Votes
    labels: Labels
    blocks: ClusterBlocks | None
    entities: None = None
    times: None = None

    @property
    def n_rows(self) -> int:
        return int(self.part.certify[-1])

    def to_learn(self) -> tuple[Votes, Labels]:
        return self.votes, self.labels

    def count(
        self, method: Method, loss: Loss, votes: Sequence[Vote], fixed: NDArray[np.float64], rng: Any = None
    ) -> Count:
        part, whole, n_rows = self.part, self.part.whole, self.n_rows
        if whole.held is not None:
            whole.held.release()
        with_keys = bool(part.train[-1] + part.certify[-1] <= COMPARED_ROWS)
        firsts = list(zip(part.train[:-1].tolist(), part.certify[:-1].tolist(), strict=True))
        common = [sent(self.voters), [*(vote.weights for vote in votes), fixed], loss]
        every = [with_keys] * len(firsts)
        found = whole.run("count", f"counting on {n_rows:,} rows", _passes.count, firsts, every, common=common)
        kinds = [_kinds(np.sum(own, axis=0)) for own in zip(*(each.counts for each in found), strict=True)]
        if any(int(repeats.sum()) != n_rows for *_, repeats in kinds):
            raise RuntimeError(f"Other rows were counted than the {n_rows:,} that certify: fit again.")
        _, wrong, repeats = kinds[-1]
        return Count(
            votes=tuple(
                CountedVote(method, loss, self.votes, labels, None, vote, tally, repeats)
                for vote, (labels, tally, repeats) in zip(votes, kinds, strict=False)
            ),
            wrong=wrong.wrong[0],
            repeats=repeats,
            digests=(_digest([own.certify for own in found]), _digest([own.train for own in found])),
            votes_digest=together(
                [join_pieces(own) for own in zip(*(pieces for each in found for pieces in each.votes), strict=True)]
            ),
            duplicates=_duplicates(found) if with_keys else (None, None),
        )


def _within(places: Places, firsts: NDArray[np.int64]) -> list[Places]:
    """Ascending places among all rows of a kind, partition by partition."""
    cuts = np.searchsorted(places, firsts)
    return [places[a:b] - first for a, b, first in zip(cuts[:-1], cuts[1:], firsts[:-1], strict=True)]


def _stacked(pieces: Sequence[Any]) -> Any:
    """Rows one below another."""
    if hasattr(pieces[0], "iloc"):
        return pd.concat(pieces, ignore_index=True)
    if hasattr(pieces[0], "tocsr"):
        from scipy import sparse

        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def _digest(pieces: Sequence[Sequence[Any]]) -> str:
    return join_pieces(piece for own in pieces for piece in own)


def _kinds(counts: NDArray[np.int64]) -> tuple[Labels, Tally, NDArray[np.int64]]:
    """The kinds of rows that there are: their classes, what was counted on one of each, and how many there are."""
    labels, answers, wrong = np.nonzero(counts)
    return labels, Tally(1, wrong.astype(bool)[None, :], answers), counts[labels, answers, wrong]


def _duplicates(found: Sequence[_passes.PartitionCounts]) -> tuple[int, int]:
    """Certification rows that equal an earlier one, and that equal a training row."""
    certify, train = (
        pd.DataFrame(np.frombuffer(b"".join(keys), np.uint64).reshape(-1, 2), columns=["one", "two"])
        for keys in ([own.certify_keys for own in found], [own.train_keys for own in found])
    )
    return int(certify.duplicated().sum()), len(certify.merge(train.drop_duplicates(), how="inner"))

"""From rows that lie elsewhere to what certification needs: no more of them than a part is ever brought here."""

import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Witnesses, data_digest, part_digest, row_keys
from certivote.pipeline._blocks import Blocks
from certivote.pipeline._division import ROWS_BY_NUMBER, NumberedRows, PartRows, chosen_rows
from certivote.pipeline._grouping import Grouping
from certivote.pipeline._plan import Plan
from certivote.pipeline._prepare import check_plan, unseen_classes
from certivote.pipeline._prepared import Elsewhere, Prepared, PreparedPart
from certivote.pipeline._progress import Stage
from certivote.pipeline._promises import PromiseData
from certivote.pipeline._provenance import Table
from certivote.pipeline._reference import MOST_ROWS, probe_rows, reference_among
from certivote.pipeline._streams import Streams, seed_of
from certivote.pipeline._train import Fit, train_voters
from certivote.theory.risks import Labels
from certivote.voters import FittedVoters
from certivote.votes import Votes


class RowsElsewhere(Protocol):
    """Rows that lie elsewhere, such as on the workers of a cluster; in the order of their table."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; empty if they have none."""

    @property
    def n_columns(self) -> int:
        """How many features there are."""

    @property
    def target(self) -> str:
        """Name of the labels; empty if they have none."""

    def labels(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """All labels that occur, ascending, and how often."""

    def digest(self) -> str:
        """Of all rows with their labels, in their order."""

    def divide(self, rows: NumberedRows, classes: NDArray[Any]) -> None:
        """Say which rows train and which certify."""

    def sample(self, places: NDArray[np.intp]) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
        """Some of the training rows, by their places, and their labels; and how many training rows have each class."""

    def fitting(self, plan: Plan, rng: np.random.Generator, places: NDArray[np.intp]) -> Fit | None:
        """What fits voters to the sample and to rows where they lie; None if the plan's voters do it alone."""

    def vote(self, voters: FittedVoters, places: NDArray[np.intp]) -> tuple[Votes, Labels]:
        """Votes on some of the certification rows, by their places, and codes of their classes."""

    def blocks(self, voters: FittedVoters, size: int) -> Blocks:
        """Votes on all certification rows, in blocks of so many, which stay where they are."""

    def certifiable(self, voters: FittedVoters) -> Elsewhere:
        """All certification rows, ready to be counted."""


def prepare_elsewhere(plan: Plan, source: RowsElsewhere, stage: Stage | None = None) -> Prepared:
    """Divide rows by their numbers, fit the voters on some, and let them vote on those that weights are learned from.

    Given the same voters, what comes of it is what :func:`~certivote.pipeline.prepare` would make of the same rows in
    memory, divided by their numbers, to the bit: no step depends on where rows lie.
    """
    stage = stage or Stage()
    assert plan.by_number is not None
    stage.begin("reading the labels")
    found, counts = source.labels()
    classes = np.unique(np.concatenate([found, np.asarray(plan.voters.known_classes(), dtype=found.dtype)]))
    check_plan(plan, (plan.method,), classes)
    every = np.zeros(len(classes), dtype=np.intp)
    every[np.searchsorted(classes, found)] = counts
    stage.begin("reading all rows once, for their digest")
    streams = Streams(seed_of(plan.random_state), data_digest(source.digest(), {}))
    rows = NumberedRows(streams.key(ROWS_BY_NUMBER), int(counts.sum()), plan.train_share or 0.5).checked()
    n_certify = rows.n_rows - rows.n_train
    source.divide(rows, classes)
    stage.begin("gathering training rows")
    places = plan.by_number.sample(streams, rows.n_train)
    X, y, training_counts = source.sample(places)
    own = streams.over(part_digest(row_keys(X), y, np.arange(len(y))))
    if plan.voters.needs_training:
        for message in unseen_classes(classes[training_counts == 0].tolist()):
            warnings.warn(message, UserWarning, stacklevel=3)
    codes = np.searchsorted(classes, y)
    fit = source.fitting(plan, own.of("voters where rows lie"), places)
    trained = train_voters(plan, X, y, codes, classes, own.of("voters", 0), source.columns, stage, fit=fit)
    places = plan.by_number.learned_from(streams, n_certify)
    stage.begin(f"{trained.voters.n_voters:,} voters vote on {len(places):,} rows")
    blocks = None
    if plan.by_number.in_blocks(n_certify):  # then only the rows that new ones are compared with vote here
        blocks = source.blocks(trained.voters, plan.by_number.block_rows)
        places = chosen_rows(streams.of("reference", 0), n_certify, MOST_ROWS)
    votes, labels = source.vote(trained.voters, places)
    part = PreparedPart(
        rows=rows,
        voters=trained.voters,
        votes=votes,
        labels=labels,
        training_labels=np.array([training_counts.argmax()]),
        entities=None,
        times=None,
        hyper_priors=trained.hyper_priors,
        duplicates=(None, None),
        digests=("", ""),
        findings=trained.findings,
        probe=probe_rows(X, PartRows(np.arange(len(y)), np.arange(0)), own.of("probe", 0)),
        sight=PromiseData(is_given=True),
        reference=reference_among(len(labels), streams.of("reference among", 0)),
        elsewhere=source.certifiable(trained.voters),
        blocks=blocks,
        # The certification rows are not here.
        witnesses=Witnesses.of(X, np.arange(len(y)), np.arange(0), streams.of("witnesses", 0)),
    )
    return Prepared(
        classes=classes,
        parts=(part,),
        split="single",
        streams=streams,
        table=Table(source.target, source.columns, source.n_columns, tuple(every.tolist())),
        units=Grouping(),
        came_fitted=bool(plan.voters.learned_before()),
    )

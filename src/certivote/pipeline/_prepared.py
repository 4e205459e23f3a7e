"""What is ready to learn from and to certify: rows, voters and votes of every part; also of rows that lie elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Finding, FirstRows, Subject, Witnesses
from certivote.pipeline._blocks import Blocks
from certivote.pipeline._division import NumberedRows, PartRows, Split
from certivote.pipeline._duplicates import Duplicates
from certivote.pipeline._grouping import Grouping
from certivote.pipeline._priors import HyperPrior
from certivote.pipeline._promises import PromiseData
from certivote.pipeline._provenance import Table
from certivote.pipeline._reference import ReferenceRows
from certivote.pipeline._streams import Streams
from certivote.promises import Repeats
from certivote.theory.entities import Entities
from certivote.theory.predictors import Tally
from certivote.theory.risks import Labels, Loss
from certivote.voters import FittedVoters
from certivote.votes import Votes, stack_votes


@dataclass(frozen=True)
class CountedRows:
    """Rows of which only one of each kind is at hand: how many there are of it, and the digest of all their votes."""

    repeats: Repeats
    votes_digest: str


@dataclass(frozen=True)
class Count:
    """What a vote does on certification rows, by kinds of rows.

    Attributes
    ----------
    labels : array of int
        Of each kind, the code of the true class.
    tally : Tally
        Of each kind, whether the vote errs, and its answer.
    repeats : array of int
        How many rows are of each kind.
    """

    labels: Labels
    tally: Tally
    repeats: Repeats


@dataclass(frozen=True)
class FullCount:
    """What one pass over rows that lie elsewhere finds: the counts of several votes; digests and duplicates."""

    counts: tuple[Count, ...]
    digests: tuple[str, str]
    votes_digest: str
    duplicates: Duplicates


class Elsewhere(Protocol):
    """Certification rows that lie elsewhere, such as on the workers of a cluster."""

    @property
    def n_rows(self) -> int:
        """How many there are."""

    def count(self, weights: Sequence[NDArray[np.float64]], loss: Loss) -> FullCount:
        """Count what the votes with these weights do on all of them."""


@dataclass(frozen=True)
class PreparedPart:
    """One part: its rows, the voters fitted on some of them, and their votes on the others.

    Attributes
    ----------
    rows : PartRows
    voters : FittedVoters
    votes : Votes
        On the certification rows.
    labels, training_labels : array of int
        Classes of the certification rows, and of the training rows; where these lie elsewhere, the most frequent one.
    entities : Entities or None
        Which certification rows belong together.
    times : array or None
        When the certification rows were taken.
    hyper_priors : tuple of HyperPrior
        Those that the learner may choose from.
    duplicates : (int or None, int or None)
        Certification rows that equal an earlier one, and that equal a training row.
    digests : (str, str)
        Of the certification rows and of the training rows.
    findings : tuple of Finding
        What its rows show about the table.
    probe : rows
        Some that are none of these, see :func:`~certivote.pipeline._reference.probe_rows`.
    sight : PromiseData
        What promises may see besides.
    counted : CountedRows or None
        Where rows were counted in pieces: what the rows of ``votes`` and ``labels`` stand for.
    learned_from : array of int or None
        The places of the certification rows that weights are learned from; None if it is all of them, as they are.
    reference : ReferenceRows or None
        Certification rows that new rows can be compared with later.
    elsewhere : Elsewhere or None
        Certification rows that lie elsewhere, where they are counted. Then ``votes`` and ``labels`` are those that
        weights are learned from, and digests and duplicates become known when all are counted.
    witnesses : Witnesses or None
        By which its rows are recognised later.
    blocks : Blocks or None
        All certification rows in blocks, where weights are learned from these; ``votes`` are then on any of them.
    """

    rows: PartRows | NumberedRows
    voters: FittedVoters
    votes: Votes
    labels: Labels
    training_labels: Labels
    entities: Entities | None
    times: NDArray[Any] | None
    hyper_priors: tuple[HyperPrior, ...]
    duplicates: Duplicates
    digests: tuple[str, str]
    findings: tuple[Finding, ...]
    probe: Any
    sight: PromiseData
    counted: CountedRows | None = None
    learned_from: NDArray[np.intp] | None = None
    reference: ReferenceRows | None = None
    elsewhere: Elsewhere | None = None
    blocks: Blocks | None = None
    witnesses: Witnesses | None = None

    @property
    def n_rows(self) -> int:
        """How many certification rows there are."""
        if self.elsewhere is not None:
            return self.elsewhere.n_rows
        return self.votes.n_rows if self.counted is None else int(self.counted.repeats.sum())

    @property
    def to_learn(self) -> tuple[Votes, Labels]:
        """Votes and labels that the weights are learned from."""
        if self.learned_from is None or self.blocks is not None:
            return self.votes, self.labels
        return stack_votes([self.votes.take(self.learned_from)]), self.labels[self.learned_from]


@dataclass(frozen=True)
class Prepared:
    """All parts, ready to learn from, the streams that all randomness comes from, and what the rows were.

    Attributes
    ----------
    subject : {"vote", "models", "answers"}
        What will be certified.
    came_fitted : bool
        Whether some voters may know something that the fit has not taught them.
    first_rows : FirstRows or None
        What they have decided, if they were to decide something.
    """

    classes: NDArray[Any]
    parts: tuple[PreparedPart, ...]
    split: Split | int
    streams: Streams
    table: Table
    units: Grouping
    subject: Subject = "vote"
    came_fitted: bool = False
    first_rows: FirstRows | None = None

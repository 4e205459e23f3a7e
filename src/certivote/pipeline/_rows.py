"""Labelled rows, wherever they lie: what a run asks of them, and what it has of them when votes are learned.

Rows in memory, rows on a cluster, and rows that given models have answered, one by one or counted in pieces, are asked
the same: how many there are, which belong together, their digests, the rows that train voters, the votes of these on
the rows that certify, and how often votes err on all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Finding, FirstRows, Subject
from certivote.pipeline._blocks import Blocks
from certivote.pipeline._division import NumberedRows, PartRows, Split
from certivote.pipeline._duplicates import Duplicates
from certivote.pipeline._grouping import Grouping
from certivote.pipeline._plan import Plan
from certivote.pipeline._priors import HyperPrior
from certivote.pipeline._progress import Stage
from certivote.pipeline._promises import PromiseData
from certivote.pipeline._reference import KeptRows
from certivote.pipeline._streams import Streams
from certivote.promises import Columns, CountedVote, Repeats, count_votes
from certivote.theory.entities import Entities
from certivote.theory.methods import Method
from certivote.theory.predictors import Vote
from certivote.theory.risks import Labels, Loss, answers_and_mistakes
from certivote.voters import FittedVoters
from certivote.votes import Votes, stack_votes


@dataclass(frozen=True)
class Table:
    """What a certificate records of the rows as they were given.

    Attributes
    ----------
    target : str
        Name of the labels; empty if they have none.
    columns : tuple of str
        Names of the features; empty if they have none.
    n_columns : int
    class_counts : tuple of int
        How many rows have each class.
    """

    target: str
    columns: tuple[str, ...]
    n_columns: int
    class_counts: tuple[int, ...]

    @classmethod
    def of(cls, features: Any, target: str, class_counts: NDArray[Any]) -> "Table":
        """Of features as scikit-learn has checked them."""
        names = tuple(map(str, getattr(features, "feature_names_in_", ())))
        return cls(target, names, int(features.n_features_in_), tuple(class_counts.tolist()))


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a part that its voters are fitted on, in the order in which they get them.

    Attributes
    ----------
    X, y, codes : rows, array, array of int
        The rows, and their classes as they are and as codes.
    entities : Entities or None
        Which of them belong together.
    streams : Streams
        Those that depend on the seed and on these rows alone.
    """

    X: Any
    y: NDArray[Any]
    codes: Labels
    entities: Entities | None
    streams: Streams


@dataclass(frozen=True)
class Count:
    """What one pass over all certification rows finds.

    Attributes
    ----------
    votes : iterable of CountedVote
        Of each vote that was asked for, what was counted.
    wrong : array of bool
        On which rows the vote errs that was fixed beforehand.
    repeats : array of int or None
        How many rows each of these stands for; None if for itself.
    digests : (str, str)
        Of the certification rows and of the training rows, with their labels.
    votes_digest : str
    duplicates : (int or None, int or None)
        Certification rows that equal an earlier one, and that equal a training row.
    """

    votes: Iterable[CountedVote]
    wrong: NDArray[np.bool_]
    repeats: Repeats | None
    digests: tuple[str, str]
    votes_digest: str
    duplicates: Duplicates


class CertificationRows(Protocol):
    """The rows that certify the vote of a part, with the votes of its voters.

    Attributes
    ----------
    n_rows : int
        How many there are.
    votes : Votes
        On those that are at hand: all, or of rows that lie elsewhere some.
    entities : Entities or None
        Which of them belong together.
    times : array or None
        When they were taken.
    blocks : Blocks or None
        All of them in blocks, where weights are learned from these.
    """

    @property
    def n_rows(self) -> int: ...
    @property
    def votes(self) -> Votes: ...
    @property
    def entities(self) -> Entities | None: ...
    @property
    def times(self) -> NDArray[Any] | None: ...
    @property
    def blocks(self) -> Blocks | None: ...

    def to_learn(self) -> tuple[Votes, Labels]:
        """Votes and labels that weights are learned from, where this is not done block by block."""

    def count(
        self, method: Method, loss: Loss, votes: Sequence[Vote], fixed: NDArray[np.float64], rng: Any = None
    ) -> Count:
        """Count what votes do on all of them, and the vote with the ``fixed`` weights; ``rng`` is for random votes."""


class RowsOfPart(Protocol):
    """The rows of one part: some train its voters, the others certify their vote.

    Attributes
    ----------
    rows : PartRows or NumberedRows
        Their numbers.
    n_train : int
        How many are known to have trained the voters.
    training_labels : array of int
        Codes of all training rows; of rows that lie elsewhere, of the most frequent class.
    """

    @property
    def rows(self) -> PartRows | NumberedRows: ...
    @property
    def n_train(self) -> int: ...
    @property
    def training_labels(self) -> Labels: ...

    def training(self) -> TrainingRows | None:
        """Those that voters are fitted on; None for given models."""

    def fit(self, training: TrainingRows | None, rng: np.random.Generator | None) -> FittedVoters:
        """The voters."""

    def vote(self, voters: FittedVoters) -> CertificationRows:
        """The certification rows with their votes."""

    def findings(self) -> tuple[Finding, ...]:
        """What the rows of both kinds show about rows that belong together."""

    def promise_data(self, voters: FittedVoters) -> PromiseData:
        """What promises may see besides."""

    def kept(self, certification: CertificationRows) -> KeptRows:
        """What a model keeps of them."""


@dataclass(frozen=True)
class Division:
    """How rows were divided into parts.

    Attributes
    ----------
    parts : tuple of RowsOfPart
    split : {"none", "single", "cross"} or int
    first_rows : FirstRows or None
        What the first rows have decided, if they were to decide something.
    worries : list of str
        What is allowed but probably not meant.
    """

    parts: Sequence[RowsOfPart]
    split: Split | int
    first_rows: FirstRows | None = None
    worries: Sequence[str] = ()


class Rows(Protocol):
    """All rows.

    Attributes
    ----------
    classes : array
        All classes that they or the voters have, ascending.
    table : Table
        What a certificate records of them.
    grouping : Grouping
        Which belong together, or when they were taken.
    subject : {"vote", "models", "answers"}
        What is certified on them.
    """

    @property
    def classes(self) -> NDArray[Any]: ...
    @property
    def table(self) -> Table: ...
    @property
    def grouping(self) -> Grouping: ...
    @property
    def subject(self) -> Subject: ...

    @property
    def columns(self) -> Columns | None:
        """What gives the values of a column by its name; None where there is no table."""

    def digest(self) -> str:
        """Of all rows in their order, with what says how they depend on one another."""

    def divide(self, plan: Plan, streams: Streams, stage: Stage) -> Division:
        """The parts."""


@dataclass(frozen=True)
class RowsWithVotes:
    """Certification rows whose votes are in memory: all of them, or one of each kind.

    Attributes
    ----------
    votes, labels : Votes, array of int
    digests, duplicates
        As for :class:`Count`.
    entities, times, blocks
        As for :class:`CertificationRows`.
    learned_from : array of int or None
        The places of those that weights are learned from; None if it is all of them, as they are.
    repeats : array of int or None
        How many rows each stands for, where they were counted in pieces.
    votes_digest : str
        Of the votes of all rows, where these are not at hand.
    """

    votes: Votes
    labels: Labels
    digests: tuple[str, str]
    duplicates: Duplicates
    entities: Entities | None = None
    times: NDArray[Any] | None = None
    blocks: Blocks | None = None
    learned_from: NDArray[np.intp] | None = None
    repeats: Repeats | None = None
    votes_digest: str = ""

    @property
    def n_rows(self) -> int:
        return self.votes.n_rows if self.repeats is None else int(self.repeats.sum())

    def to_learn(self) -> tuple[Votes, Labels]:
        if self.learned_from is None or self.blocks is not None:
            return self.votes, self.labels
        return stack_votes([self.votes.take(self.learned_from)]), self.labels[self.learned_from]

    def count(
        self, method: Method, loss: Loss, votes: Sequence[Vote], fixed: NDArray[np.float64], rng: Any = None
    ) -> Count:
        return Count(
            # One at a time: of many that were drawn, the counts of one are kept.
            votes=(
                count_votes(method, loss, self.votes, self.labels, vote, rng, self.entities, self.repeats)
                for vote in votes
            ),
            wrong=answers_and_mistakes(self.votes, fixed, self.labels, loss)[1],
            repeats=self.repeats,
            digests=self.digests,
            votes_digest=self.votes_digest or self.votes.digest(),
            duplicates=self.duplicates,
        )


@dataclass(frozen=True)
class PreparedPart:
    """One part: its voters, fitted on some of its rows, and their votes on the others.

    Attributes
    ----------
    source : RowsOfPart
    voters : FittedVoters
    hyper_priors : tuple of HyperPrior
        Those that the learner may choose from.
    certification : CertificationRows
    findings : tuple of Finding
        What its rows show about the table.
    promise_data : PromiseData
    kept : KeptRows
    """

    source: RowsOfPart
    voters: FittedVoters
    hyper_priors: tuple[HyperPrior, ...]
    certification: CertificationRows
    findings: tuple[Finding, ...]
    promise_data: PromiseData
    kept: KeptRows

    @property
    def rows(self) -> PartRows | NumberedRows:
        """Their numbers."""
        return self.source.rows


@dataclass(frozen=True)
class Prepared:
    """Rows and their parts, ready to learn from, and the streams that all randomness comes from."""

    rows: Rows
    division: Division
    parts: tuple[PreparedPart, ...]
    streams: Streams


def unseen_classes(unseen: Sequence[Any]) -> list[str]:
    """A warning of classes that no training row has, if there are some."""
    if not unseen:
        return []
    shown = ", ".join(repr(label) for label in unseen[:5]) + (", ..." if len(unseen) > 5 else "")
    return [f"No training row has class {shown}: the voters cannot vote for it, and each such row counts as an error."]

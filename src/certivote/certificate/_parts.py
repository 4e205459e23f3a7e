"""The frozen records inside a certificate: its parts, and other candidates."""

from dataclasses import dataclass, field
from typing import Annotated

from certivote.certificate._statements import Kind, Statement
from certivote.codec import LARGEST, Count, Names, Share, Within
from certivote.theory.families import FAMILIES

RenyiOrder = Annotated[float, Within(1.0, float("inf"), closed="neither")]


@dataclass(frozen=True)
class Drift:
    """Whether errors were more frequent late than early among certification rows that have an order in time.

    Attributes
    ----------
    early_rows, early_errors, late_rows, late_errors : int
        The certification rows before some moment and from it on, as near to two halves as moments allow.
    p_value : float
        Of Fisher's exact test, two-sided: the probability that a random order would divide the errors at least as
        unevenly.
    """

    early_rows: Count
    early_errors: Count
    late_rows: Count
    late_errors: Count
    p_value: Share


@dataclass(frozen=True)
class Candidate:
    """One of several given models, certified on the same rows at its part of delta, so that any may be chosen.

    Attributes
    ----------
    name : str
    statement : Statement
        About its error, at delta divided by the number of candidates, one of which is the vote of them.
    chosen : bool
        Whether the certificate is about this one; if it is about none, it is about the vote.
    weight : float
        Its weight in what the certificate is about, a multiple of ``2**-52``: in the vote as it was counted, or 1 of
        the chosen one and 0 of the others.
    """

    name: str
    statement: Annotated[Statement, Kind("candidate")]
    chosen: bool
    weight: Share

    @property
    def errors(self) -> int:
        """Certification rows that it gets wrong."""
        return self.statement.errors or 0

    @property
    def bound(self) -> float:
        """Upper bound on its error."""
        return self.statement.bound


@dataclass(frozen=True)
class PartRecord:
    """One part of the rows and the vote certified on it: all that its own bound is computed from.

    Attributes
    ----------
    statement : Statement
        About the error of this part's vote: what was counted, and the bound. ``n``, ``entities``, ``errors``,
        ``losses``, ``risks``, ``delta`` and ``bound`` of the part are those of this statement.
    holdout : Statement
        For comparison, about the error of the vote with the prior's mean weights, which no certification row has
        influenced: its Clopper-Pearson bound (with entities, by bets) at the certificate's full delta, divided among
        the parts; of several given models, at delta divided by the number of candidates.
    majority : Statement
        For comparison, about always answering the most frequent class of the training rows, of several the first, which
        is the ``label``: the same at the certificate's full delta. Without training rows it is the most frequent class
        of the certification rows, and delta is divided by the number of classes, since these rows have chosen among
        them.
    penalty : float
        Nats: what the theorem charges for having learned the weights. All statements about this vote pay it.
    family : str
        The family of distributions that ``alpha`` and ``beta`` are parameters of.
    n_voters : int
    raced, kept : tuple of str
        Of mixed voters, the kinds that were tried on training rows, and those among them that vote; else empty.
    alpha, beta : tuple of float
        Parameters of the hyper-posterior and the hyper-prior: of Dirichlets, one per voter (``dirichlet``); of
        independent Gaussians, the means of all voters and then the precisions (``logistic-normal``); or posterior and
        prior weights (``categorical``).
    prior_weight : float
        Weight of this hyper-prior among those that were to choose from; 1 if it was the only one.
    renyi_order : float or None
        Order of the Rényi divergence, for dis-v.
    log_weights : tuple of float
        Logarithms of the weights that were drawn (``logistic-normal``: up to a common summand); empty where none were.
    draw : int
        Which of the draws, counted from 0, this is.
    certification_digest, training_digest : str
        SHA-256 of the certification rows and of the training rows with their labels.
    votes_digest : str
        The same of the voters' votes on the certification rows.
    training_rows : int
        Rows that the voters were fitted on.
    duplicates, duplicates_of_training_rows : int or None
        Certification rows that equal an earlier one, and that equal a training row; None where they were not counted,
        of more than 20 million rows.
    drift : tuple of Drift
        One, if the rows have an order in time and the vote has fixed answers.
    """

    statement: Annotated[Statement, Kind("error")]
    holdout: Annotated[Statement, Kind("hold-out")]
    majority: Annotated[Statement, Kind("majority")]
    penalty: float
    family: Annotated[str, Names(FAMILIES)]
    n_voters: Annotated[int, Within(1, LARGEST)]
    raced: tuple[str, ...]
    kept: tuple[str, ...]
    alpha: tuple[float, ...] = field(repr=False)
    beta: tuple[float, ...] = field(repr=False)
    prior_weight: Annotated[float, Within(0.0, 1.0, closed="right")]
    renyi_order: RenyiOrder | None
    log_weights: tuple[float, ...] = field(repr=False)
    draw: Count
    certification_digest: str
    training_digest: str
    votes_digest: str
    training_rows: Count
    duplicates: Count | None
    duplicates_of_training_rows: Count | None
    drift: tuple[Drift, ...]

    @property
    def n(self) -> int:
        """Certification rows."""
        return self.statement.n

    @property
    def entities(self) -> int:
        """How many entities the certification rows belong to; 0 if every row is by itself."""
        return self.statement.entities

    @property
    def size(self) -> int:
        """Independent cases that the bound is computed from: entities, or rows."""
        return self.statement.size

    @property
    def errors(self) -> int | None:
        """Certification rows that the vote gets wrong; None for the random vote, which has no fixed answers."""
        return self.statement.errors

    @property
    def losses(self) -> tuple[float, ...]:
        """Of each entity, the share of its rows that the vote gets wrong."""
        return self.statement.losses

    @property
    def risks(self) -> tuple[float, ...]:
        """The empirical risks that the theorem starts from."""
        return self.statement.risks

    @property
    def delta(self) -> float:
        """Probability with which this part's own bound may fail."""
        return self.statement.delta

    @property
    def bound(self) -> float:
        """Upper bound on the error of this part's vote."""
        return self.statement.bound

"""The frozen records inside a certificate: its parts, what they pay, and other candidates."""

from dataclasses import dataclass, field
from typing import Annotated

from certivote.codec import LARGEST, Count, Names, Share, Within
from certivote.theory.families import FAMILIES

Delta = Annotated[float, Within(0.0, 1.0, closed="neither")]
RenyiOrder = Annotated[float, Within(1.0, float("inf"), closed="neither")]
Bound = Annotated[float, Within(0.0, 4.0)]
"""The second-order bound is four times a probability."""


@dataclass(frozen=True)
class Payment:
    """One item of what a bound pays for, in nats.

    Attributes
    ----------
    what : str
        ``draw``, or ``weights`` where none are drawn: for what was learned. ``occam``: for a level that depends on the
        draw (dis-b). ``prior``: for choosing among hyper-priors. ``grid``: for several draws and orders. ``constant``:
        Maurer's. ``confidence``: for delta, as divided among the parts.
    nats : float
    """

    what: str
    nats: float


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
    errors : int
        Certification rows that it gets wrong.
    losses : tuple of float
        As in :class:`PartRecord`.
    bound : float
        Upper bound on its error, at delta divided by the number of candidates, one of which is the vote of them.
    chosen : bool
        Whether the certificate is about this one; if it is about none, it is about the vote.
    weight : float
        Its weight in what the certificate is about, a multiple of ``2**-52``: in the vote as it was counted, or 1 of
        the chosen one and 0 of the others.
    """

    name: str
    errors: Count
    losses: tuple[Share, ...] = field(repr=False)
    bound: Bound
    chosen: bool
    weight: Share


@dataclass(frozen=True)
class PartRecord:
    """One part of the rows and the vote certified on it: all that its own bound is computed from.

    Attributes
    ----------
    n : int
        Certification rows.
    errors : int or None
        How many of them the vote gets wrong; None for the random vote, which has no fixed answers.
    entities : int
        How many entities (patients, machines, documents) the certification rows belong to; 0 if every row is by
        itself. Bounds then start from means over entities, and this number takes the place of ``n``.
    losses : tuple of float
        Of each entity, the share of its rows that the vote gets wrong, in the order of the bets (drawn from
        the seed and the data). Empty without entities, and for methods that do not start from errors.
    risks : tuple of float
        The empirical statistics in the bound: the vote's error rate; the random vote's mean error rate; the mean vote's
        mean of a function of the wrong mass; for the C-bound, mean wrong mass and disagreement. With entities, means
        over these.
    delta : float
        Probability with which this part's own bound may fail.
    risk_draws, risk_delta : int and float
        Votes drawn to bound the random vote's error rate from above where it has no closed form, and what of ``delta``
        that takes; otherwise 0.
    penalty, confidence : float
        Nats: what the theorem charges for having learned the weights, and for holding with probability
        ``1 - (delta - risk_delta)``.
    payments : tuple of Payment
        The same sum, item by item.
    bound : float
        Upper bound on the error of this part's vote.
    family : str
        The family of distributions that ``alpha`` and ``beta`` are parameters of.
    n_voters : int
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
    holdout_errors : int
        Errors of the vote with the prior's mean weights, which no certification row has influenced.
    holdout_bound : float
        The Clopper-Pearson bound on its error at the certificate's full delta, for comparison; of several given models,
        at delta divided by the number of candidates.
    majority_class : str
        The most frequent class of the training rows, of several the first; without training rows, of the certification
        rows.
    majority_errors : int
        Certification rows of other classes: what always answering ``majority_class`` gets wrong.
    majority_bound : float
        The Clopper-Pearson bound on the error of always answering it, at the certificate's full delta; without training
        rows at delta divided by the number of classes, since the certification rows have chosen among these.
    holdout_losses, majority_losses : tuple of float
        With entities, what these two bounds start from, as ``losses``.
    drift : tuple of Drift
        One, if the rows have an order in time and the vote has fixed answers.
    """

    n: Count
    entities: Count
    errors: Count | None
    losses: tuple[Share, ...] = field(repr=False)
    risks: tuple[Share, ...]
    delta: Delta
    risk_draws: Count
    risk_delta: Share
    penalty: float
    confidence: float
    payments: tuple[Payment, ...]
    bound: Bound
    family: Annotated[str, Names(FAMILIES)]
    n_voters: Annotated[int, Within(1, LARGEST)]
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
    holdout_errors: Count
    holdout_bound: Share
    majority_class: str
    majority_errors: Count
    majority_bound: Share
    holdout_losses: tuple[Share, ...] = field(repr=False)
    majority_losses: tuple[Share, ...] = field(repr=False)
    drift: tuple[Drift, ...]

    @property
    def size(self) -> int:
        """Independent cases that the bound is computed from: entities, or rows."""
        return self.entities or self.n

    @property
    def statistics(self) -> tuple[float, ...]:
        """What the theorem starts from: the risks and, where it bets on entities, their losses."""
        return (*self.risks, *self.losses)

"""The frozen records that a certificate consists of: numbers and words, and no methods."""

from dataclasses import dataclass, field

__all__ = ["SCHEMA_VERSION", "ClassBound", "Payment", "Record", "Sample"]

SCHEMA_VERSION = 3


@dataclass(frozen=True)
class Payment:
    """One item of what a bound pays for, in nats.

    Attributes
    ----------
    what : str
        ``draw``, or ``weights`` where none are drawn: for what was learned. ``occam``: for a level that depends on the
        draw (dis-b). ``prior``: for choosing among hyper-priors. ``grid``: for several draws and orders. ``constant``:
        Maurer's. ``confidence``: for delta, as divided among the samples.
    nats : float
    """

    what: str
    nats: float


@dataclass(frozen=True)
class Sample:
    """One certified sample and the vote certified on it: all that its own bound is computed from.

    Attributes
    ----------
    n : int
        Certified rows.
    errors : int or None
        How many of them the vote gets wrong; None for the random vote, which has no fixed answers.
    risks : tuple of float
        The empirical statistics in the bound: the vote's error rate; the random vote's mean error rate; the mean vote's
        mean of a function of the wrong mass; for the C-bound, mean wrong mass and disagreement.
    delta : float
        Probability with which this sample's own bound may fail.
    risk_draws, risk_delta : int and float
        Votes drawn to bound the random vote's error rate from above where it has no closed form, and what of ``delta``
        that takes; otherwise 0.
    penalty, confidence : float
        Nats: what the theorem charges for having learned the weights, and for holding with probability
        ``1 - (delta - risk_delta)``.
    payments : tuple of Payment
        The same sum, item by item.
    bound : float
        Upper bound on the error of this sample's vote.
    distribution : {"dirichlet", "categorical"}
        What ``alpha`` and ``beta`` are.
    alpha, beta : tuple of float
        Dirichlet parameters of the hyper-posterior and the hyper-prior, one a voter; or posterior and prior weights.
    prior_weight : float
        Weight of this hyper-prior among those that were to choose from; 1 if it was the only one.
    order : float or None
        Order of the Rényi divergence, for dis-v.
    log_weights : tuple of float
        Logarithms of the weights that were drawn; empty where none were.
    draw : int
        Which of the draws, counted from 0, this is.
    certified_digest, teaching_digest : str
        SHA-256 of the certified and of the teaching rows with their labels.
    votes_digest : str
        SHA-256 of the voters' votes on the certified rows.
    teaching_rows : int
        Rows that taught the voters.
    copies, copies_of_teaching_rows : int
        Certified rows that equal an earlier certified row, and that equal a teaching row.
    holdout_errors : int
        Errors of the vote with the prior's mean weights, which no certified row has influenced.
    holdout_bound : float
        The Clopper-Pearson bound on its error at the certificate's full delta, for comparison.
    """

    n: int
    errors: int | None
    risks: tuple[float, ...]
    delta: float
    risk_draws: int
    risk_delta: float
    penalty: float
    confidence: float
    payments: tuple[Payment, ...]
    bound: float
    distribution: str
    alpha: tuple[float, ...] = field(repr=False)
    beta: tuple[float, ...] = field(repr=False)
    prior_weight: float
    order: float | None
    log_weights: tuple[float, ...] = field(repr=False)
    draw: int
    certified_digest: str
    teaching_digest: str
    votes_digest: str
    teaching_rows: int
    copies: int
    copies_of_teaching_rows: int
    holdout_errors: int
    holdout_bound: float


@dataclass(frozen=True)
class ClassBound:
    """A bound about one class, by the same theorem as the whole certificate's; see :mod:`certivote.by_class`.

    Attributes
    ----------
    label : str
        The class.
    kind : {"error", "false alarm"}
        ``error``: that a case of this class counts as an error. ``false alarm``: that the vote gives this class to a
        case of another.
    n : int
        Certified rows of this class; for false alarms, of the other classes.
    errors, risks, delta, risk_draws, risk_delta, confidence, bound
        As in :class:`Sample`, for these rows. The penalty is the sample's own. Without rows the bound is 1.
    """

    label: str
    kind: str
    n: int
    errors: int | None
    risks: tuple[float, ...]
    delta: float
    risk_draws: int
    risk_delta: float
    confidence: float
    bound: float


@dataclass(frozen=True)
class Record:
    """The fields of a :class:`certivote.Certificate`, which explains them."""

    schema_version: int
    library_version: str
    method: str
    certified: str
    theorem: str
    loss: str
    split: str
    delta: float
    bound: float
    vacuous: bool
    average_bound: float | None
    deployed: int
    shares: tuple[float, ...]
    order: float | None
    orders: tuple[float, ...]
    n_draws: int
    gamma_atoms: tuple[tuple[float, ...], ...]
    gamma_scales: tuple[tuple[float, ...], ...]
    constant: str
    prior: str
    choices: tuple[str, ...]
    solver: str
    classes: tuple[str, ...]
    parts: tuple[Sample, ...]
    by_class: tuple[ClassBound, ...]
    remarks: tuple[str, ...]
    assumptions: tuple[str, ...]

    @property
    def deployed_part(self) -> Sample:
        """The sample of the deployed vote."""
        return self.parts[self.deployed]

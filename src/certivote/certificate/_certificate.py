"""The certificate: what is promised, from which numbers, under which assumptions."""

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate._alignment import check_aligned
from certivote.certificate._differences import Difference
from certivote.certificate._findings import Finding, FirstRows
from certivote.certificate._parts import Candidate, PartRecord, RenyiOrder
from certivote.certificate._provenance import Provenance
from certivote.certificate._reading import certificate_from, check_certificate
from certivote.certificate._statements import Bound, Delta, PromiseRecord, Statement
from certivote.certificate._theory import Payment, method_of, payments_of
from certivote.certificate._values import check_text, class_place
from certivote.certificate._views import Views
from certivote.codec import LARGEST, Count, Names, Share, Within, write
from certivote.maths.shift import shifted_bound
from certivote.theory.methods import METHODS
from certivote.votes import build_votes, plurality

Subject = Literal["vote", "models", "answers"]
"""What a certificate is about: a vote that was learned, models that were given, or answers alone."""
PriorKind = Literal["none", "equal", "grid", "informed", "given"]
"""How the hyper-prior was chosen."""


@dataclass(frozen=True)
class Certificate(Views):
    """What is promised about a vote: *with probability at least 1 - delta, its error on new data is at most bound*.

    Print it for a paragraph in plain words and the numbers behind it; ``to_json`` for the record that lets anyone
    recompute the bound with the paper at hand.

    Attributes
    ----------
    delta : float
        Probability, over the sample and the draw, that the bound fails.
    subject : {"vote", "models", "answers"}
        What it is about: a vote that was fitted; models that were given, one of them or a vote of them; or the same of
        which only the answers were given.
    method : str
        How the bound was made.
    loss : {"plurality", "half-weight"}
        What counts as an error.
    split : str
        ``none``, ``single``, ``cross``, or the number of folds.
    average_bound : float or None
        With several parts, the bound on the average error of their votes (for two, Theorem 8 or 9).
    deployed : int
        Which entry of ``parts`` is the deployed vote.
    average_weights : tuple of float
        The weights of the parts in the average.
    findings : tuple of Finding
        What the rows of the deployed part show about the table. :attr:`remarks` puts them in words.
    came_fitted : bool
        Whether some voters came fitted, or may know something that the fit has not taught them.
    share : float
        What the vote has of delta. It is 1 unless the certification rows have chosen between a vote that was fixed
        beforehand and one that was learned from them, which is what ``method="auto"`` does.
    renyi_orders : tuple of float
        The orders that were to choose from.
    n_draws : int
        Votes that were drawn, each at its part of delta; the one with the smallest bound was kept.
    price_atoms, price_scales : tuple of (place, weight)
        The price list of dis-b, see :class:`certivote.maths.occam.PriceList`.
    constant : {"paper", "exact"}
        ``2 sqrt(n)`` or Maurer's constant itself.
    prior : {"none", "equal", "grid", "informed", "given"}
        Where the hyper-prior comes from: there is none, since nothing was learned; equal weights; one of several, each
        paid for; out-of-sample votes on training rows; the user. :attr:`hyper_prior` puts it in words.
    solver : str
    classes : tuple of str
    parts : tuple of PartRecord
        One per vote that was certified, on rows of its own.
    promises : tuple of PromiseRecord
        What else is said of the deployed vote: first the bounds by class, then what was asked for. Each holds with its
        own ``delta``, beside ``bound``.
    together : bool
        Whether ``bound`` and all promises hold at once up to ``delta``, which is then divided among them.
    groups : str
        What tells which rows belong together, the name of a column or just ``groups``; empty if every row is by itself.
        The bound is then on the error of a random row of a new entity.
    division : {"shuffled", "by row number"}
        How rows were divided into training and certification rows: all of them were shuffled; or each by itself, by a
        random number that belongs to its number, the seed and the digest of all rows, wherever it lay.
    first_rows : FirstRows or None
        What the first rows have decided about the others, where ``method="auto"`` left it to them.
    sample_rows : int or None
        On a cluster, the training rows that voters were fitted on which are not trained where rows lie; None if it is
        all of them.
    learned_rows : int or None
        On a cluster, the certification rows that weights were learned from; None if it is all of them.
    bets : {"in order", "at once"}
        How bets are placed where they bound a mean loss, of entities or of costs: one after another in a random order;
        or on all losses at once, which needs no order, where answers are all that was given, and the seed too.
    order : str
        What gives the rows their order in time, the name of a column or just ``order``; empty if there is none.
    candidates : tuple of Candidate
        Of :func:`certivote.certify` with several models: all of them, with bounds that hold together. The certificate
        itself is about the one with the smallest, or about the vote of them that was learned if its bound is smaller.
    differences : tuple of Difference
        Of several given models, each pair: limits for the error of one minus that of the other. All of them hold at
        once, with a delta of their own beside ``bound``, or with their part of it if ``together``.
    provenance : Provenance
        When, from which data, with which parameters, seed and versions of libraries it was made.
    """

    schema_version: int
    library_version: str
    subject: Subject
    method: Annotated[str, Names(METHODS)]
    loss: Literal["plurality", "half-weight"]
    split: str
    delta: Delta
    average_bound: Bound | None
    deployed: Count
    average_weights: tuple[Share, ...]
    share: Annotated[float, Within(0.0, 1.0, closed="right")]
    renyi_orders: tuple[RenyiOrder, ...]
    n_draws: Annotated[int, Within(1, LARGEST)]
    price_atoms: tuple[tuple[float, ...], ...]
    price_scales: tuple[tuple[float, ...], ...]
    constant: Literal["paper", "exact"]
    prior: PriorKind
    solver: str
    classes: tuple[str, ...]
    parts: tuple[PartRecord, ...]
    promises: tuple[PromiseRecord, ...]
    together: bool
    findings: tuple[Finding, ...]
    came_fitted: bool
    groups: str
    order: str
    division: Literal["shuffled", "by row number"]
    first_rows: FirstRows | None
    sample_rows: Count | None
    learned_rows: Count | None
    bets: Literal["in order", "at once"]
    candidates: tuple[Candidate, ...]
    differences: tuple[Difference, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        check_text(self)

    @property
    def is_given(self) -> bool:
        """Whether models were given: it is about one of them, or about a vote of them."""
        return self.subject != "vote"

    @property
    def certified(self) -> str:
        """Whose error the bound is about, such as ``the drawn vote``."""
        return method_of(self).predictor.name

    @property
    def is_random(self) -> bool:
        """Whether it is about a vote that is drawn for every case anew, which has no fixed answers."""
        return method_of(self).predictor.is_random

    @property
    def theorem(self) -> str:
        """Where the bound is proved."""
        own, n_parts = method_of(self).theorem, len(self.parts)
        share = "" if self.share == 1.0 else f"{self.share:g} "
        if n_parts == 1:
            return f"{own.name} at {share}delta" if share else own.name
        average = own.average_name if self.constant == "paper" else "the mean of the bounds of the parts"
        return f"{own.name} at {share}delta/{n_parts} on its own part (the average: {average})"

    @property
    def bound(self) -> float:
        """Upper bound on the error of the deployed vote."""
        return self.deployed_part.bound

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What the bound pays, item by item."""
        return payments_of(self, self.deployed_part)

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: it is 1 or more."""
        return self.bound >= 1.0

    @property
    def renyi_order(self) -> float | None:
        """Order of the Rényi divergence, for dis-v."""
        return self.deployed_part.renyi_order

    @property
    def deployed_part(self) -> PartRecord:
        """The part of the deployed vote."""
        return self.parts[self.deployed]

    @property
    def by_class(self) -> tuple[Statement, ...]:
        """Bounds on the errors within each class and on its false alarms."""
        return next((promise.statements for promise in self.promises if promise.name == "by class"), ())

    def statements(self) -> Iterator[tuple[str, Statement]]:
        """Everything that is said of a fixed vote, with its place in the record.

        Examples
        --------
        >>> from certivote import certify_predictions
        >>> from certivote.certificate import percent_up
        >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
        >>> for place, said in certificate.statements():
        ...     print(f"{place}: {said.errors} in {said.n}, at most {percent_up(said.bound)}")
        parts[0].statement: 1 in 200, at most 2.35 %
        parts[0].holdout: 1 in 200, at most 2.35 %
        parts[0].majority: 100 in 200, at most 57.14 %
        promises[0].statements[0]: 1 in 100, at most 5.45 %
        promises[0].statements[1]: 0 in 100, at most 3.63 %
        """
        for number, part in enumerate(self.parts):
            yield f"parts[{number}].statement", part.statement
            yield f"parts[{number}].holdout", part.holdout
            yield f"parts[{number}].majority", part.majority
        for number, promise in enumerate(self.promises):
            for place, statement in enumerate(promise.statements):
                yield f"promises[{number}].statements[{place}]", statement
        for number, candidate in enumerate(self.candidates):
            yield f"candidates[{number}].statement", candidate.statement

    def with_source(self, name: str, digest: str) -> "Certificate":
        """The same certificate with the file that the rows came from.

        Parameters
        ----------
        name : str
            Name of the file; the folders of a path are left out.
        digest : str
            SHA-256 of the bytes that were read, as 64 hexadecimal digits.

        Examples
        --------
        >>> import hashlib
        >>> from sklearn.datasets import load_iris
        >>> from certivote import CertifiedVoteClassifier
        >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(*load_iris(return_X_y=True))
        >>> digest = hashlib.sha256(b"the bytes of the file").hexdigest()
        >>> clf.certificate_.with_source("flowers/iris.csv", digest).provenance.source
        'iris.csv'
        """
        return dataclasses.replace(self, provenance=self.provenance.with_source(name, digest))

    def under_shift(self, *, kl: float = 0.0, total_variation: float = 0.0, label_noise: float = 0.0) -> float:
        r"""The bound for populations that differ from the certified one by no more than this; it costs nothing.

        Nothing can tell beforehand how much a population will differ: this says what a difference would do. It is about
        ``bound`` alone, not about the other promises, and with entities about populations of entities.

        Parameters
        ----------
        kl : float from 0 on
            Largest Kullback-Leibler divergence :math:`KL(P' \| P)` of the other population from the certified one, in
            nats.
        total_variation : float in [0, 1]
            Largest difference of the probabilities that both give to any event.
        label_noise : float in [0, 1]
            Largest probability with which a recorded class is not the true one: the bound is then on the error with
            respect to the true ones.

        Returns
        -------
        float
            Never below the exact value, and at most 1.

        Notes
        -----
        With :math:`B` the bound, the error elsewhere is at most :math:`\max\{q : kl(q \| B) \le \rho\}` for a
        divergence of up to :math:`\rho`, by the data processing inequality: whether there is an error is an event, and
        the divergence of two Bernoullis is no larger than that of the populations. It is at most
        :math:`B + \varepsilon` for a total variation of up to :math:`\varepsilon`, and :math:`B + \eta` for label noise
        of up to :math:`\eta`.
        Several of them together stand for a population that is reached in several steps, whatever their order, and the
        largest over all orders is returned: see :mod:`certivote.maths.shift` for the proofs.

        Examples
        --------
        >>> from certivote import certify_predictions
        >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
        >>> print(f"{certificate.bound:.4f} {certificate.under_shift(kl=0.01):.4f}")
        0.0235 0.0479
        """
        return shifted_bound(self.bound, kl=kl, total_variation=total_variation, label_noise=label_noise)

    def combine(self, predictions: Sequence[ArrayLike]) -> NDArray[Any]:
        """The answers that this certificate is about, from those of the models that were given to :func:`certify`.

        Parameters
        ----------
        predictions : sequence of array-like
            For each of the models, in the order of ``candidates``, its answers to the same cases.

        Returns
        -------
        array
            The answers of the chosen model; or of the weighted vote of all of them, where ties go to the class that
            comes first in ``classes``.

        Examples
        --------
        >>> from certivote import certify_predictions
        >>> certificate = certify_predictions(["a", "b"] * 50, {"first": ["a", "b"] * 50, "second": ["a"] * 100})
        >>> certificate.combine([["a", "b", "b"], ["a", "a", "a"]]).tolist()
        ['a', 'b', 'b']
        """
        check_aligned(predictions=list(predictions))
        if any(np.ma.is_masked(each) for each in predictions):
            raise ValueError("predictions has masked answers; leave these cases out.")
        answers = [np.asarray(each).reshape(-1) for each in predictions]
        count = len(self.candidates) or 1
        if len(answers) != count or len({len(each) for each in answers}) != 1:
            raise ValueError(
                f"predictions must hold the answers of {count} {'models' if count > 1 else 'model'} to the same cases; "
                f"got {len(answers)} of lengths {[len(each) for each in answers]}."
            )
        chosen = [own for own, candidate in zip(answers, self.candidates, strict=False) if candidate.chosen]
        if chosen or not self.candidates:
            return (chosen or answers)[0]
        columns = [each.tolist() for each in answers]
        codes = np.array([[self._place(value) for value in column] for column in columns]).T
        masses = build_votes(codes=codes, n_classes=len(self.classes)).masses(
            np.array([candidate.weight for candidate in self.candidates])
        )
        first = (codes == plurality(masses)[:, None]).argmax(axis=1)
        return np.array([columns[place][row] for row, place in enumerate(first.tolist())])

    def _place(self, label: Any) -> int:
        """The number of a class."""
        place = class_place(label, self.classes)
        if place is None:
            raise ValueError(f"predictions has the label {str(label)!r}, which is none of {', '.join(self.classes)}.")
        return place

    @property
    def digest(self) -> str:
        """SHA-256 of the certificate as JSON: what later records call it by."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self, indent: int | None = 2) -> str:
        """The certificate as JSON; :meth:`from_json` gives back an equal one."""
        return write(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """Read a certificate.

        Raises
        ------
        ValueError
            If the text is not a certificate, holds numbers that cannot be what they are said to be, or is one of
            another schema.
        """
        return certificate_from(cls, text)

    def check(self) -> None:
        """Raise a ValueError if its numbers contradict one another: a certificate that is read is asked."""
        check_certificate(self)

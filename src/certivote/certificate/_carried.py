"""The record of a changed model: what the certificate of the old one still says of it, from rows without labels."""

from dataclasses import dataclass
from typing import Annotated, Literal

from certivote.certificate._certificate import Certificate
from certivote.certificate._provenance import Provenance
from certivote.certificate._records import Record
from certivote.certificate._statements import Delta, Kind, Statement
from certivote.codec import CodecError, Share, at


@dataclass(frozen=True)
class CarriedClass:
    """A bound by class, carried from the old model to the new one.

    With ``A`` the condition of the old statement (the class is ``label``, or is another one), the new model fails on
    ``A`` only if the old one does, or if they differ in a way that matters; ``bound`` is at least ``old`` plus
    ``differ.bound / share``.

    Attributes
    ----------
    kind : {"error", "false alarm"}
    label : str
        The class.
    delta : float
        Probability with which it may fail.
    old : float
        The old model's bound, at its part of ``delta``.
    differ : Statement
        How often the old model answers the class and the new one does not; of false alarms, the other way round.
    share : float
        A lower limit of the probability of ``A``, from the rows that certified the old model; 0 if there is none.
    bound : float
    """

    kind: Literal["error", "false alarm"]
    label: str
    delta: Delta
    old: Share
    differ: Annotated[Statement, Kind("disagreement")]
    share: Share
    bound: Share


@dataclass(frozen=True)
class CarriedCertificate(Record):
    """What is promised of a changed model: its error is at most that of the old one plus how often they differ.

    Made by :func:`certivote.carry`.

    Attributes
    ----------
    delta : float
        Probability with which ``bound`` may fail: that of the certificate of the old model.
    delta_share : float
        The part of it that the comparison has; the bound of the old model has the rest.
    old_bound : float
        The bound of the old model at ``(1 - delta_share) delta``.
    disagreement : Statement
        How often the two differ on rows that trained and certified neither, at ``delta_share delta``.
    bound : float
        The sum.
    by_class : tuple of CarriedClass
        Bounds class by class, which hold together with probability ``1 - delta``, beside ``bound``; empty with groups.
    rows_digest, answers_digest : str
        SHA-256 of the rows, empty where only answers were given; and of both models' answers to them.
    old : Certificate
        The certificate of the old model, as it was.
    provenance : Provenance
    """

    kind: Literal["carried"]
    schema_version: int
    library_version: str
    delta: Delta
    delta_share: Delta
    old_bound: Share
    disagreement: Annotated[Statement, Kind("disagreement")]
    bound: Share
    by_class: tuple[CarriedClass, ...]
    rows_digest: str
    answers_digest: str
    old: Certificate
    provenance: Provenance

    @property
    def follows(self) -> str:
        """Digest of the certificate of the old model."""
        return self.old.digest

    def check(self) -> None:
        """Raise a ValueError if its numbers contradict one another."""
        with at(".old"):
            if self.old.schema_version != self.schema_version:
                raise CodecError("has another schema version")
            self.old.check()
        for said in (self.disagreement, *(entry.differ for entry in self.by_class)):
            if said.errors is None or said.errors > said.n or said.n < 1 or said.means or said.risk_draws:
                raise CodecError("must have counts of rows that differ among rows")
            if len(said.losses) != said.entities or bool(said.entities) != bool(self.old.groups):
                raise CodecError("must have a share of each group, as the certificate of the old model")
        if self.old.groups and self.by_class:
            raise CodecError("has bounds by class of groups")

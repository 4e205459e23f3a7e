"""The record of labelling that went on until a target was proven: which of the labelled rows were answered wrong."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Literal

from certivote.certificate._provenance import Provenance
from certivote.certificate._records import Record
from certivote.certificate._statements import Bound, Delta
from certivote.codec import CodecError, Count, Within

Certified = Literal["population", "pool"]
"""What labelled rows tell the error of: new rows, of which they are a sample; or all rows of a pool."""
MOST_LABELS = 20_000
"""The largest number of labels of a plan that is capped: its threshold is computed row by row."""
MOST_LABELLED = 1_000_000
"""The largest number of labels of any plan: who reads a certificate follows them one by one."""


@dataclass(frozen=True)
class StoppedCertificate(Record):
    """What labels in random order have proven of a model's error, with a number of labels that was not fixed before.

    Made by :meth:`certivote.LabelPlan.certificate`.

    Attributes
    ----------
    target : float
        What was to be proven: that the error is at most this.
    delta : float
        Probability with which ``bound`` may fail, at whichever moment it was looked at.
    expected : float or None
        The guess of the error that the bets were made for.
    certified : {"population", "pool"}
        Whether ``bound`` is about new rows, of which the labelled ones are a sample; or about all rows of the pool.
    max_labels : int or None
        The cap of a plan that has one.
    log_threshold : float
        Natural logarithm of the evidence at which the target is proven.
    n : int
        Rows that were labelled, or counted as wrong without a label.
    wrong : tuple of int
        Which of them were answered wrong, counted from 1 in the order of labelling.
    missing : int
        How many of the wrong ones had no label.
    bound : float
        Upper bound on the error; 1 if nothing was proven.
    rows_digest : str
        SHA-256 of the pool that rows were drawn from; empty if there was none.
    outcomes_digest : str
        SHA-256 of true labels and answers in the order of labelling.
    provenance : Provenance
        When it was made, with which seed and libraries; ``n_rows`` are those of the pool.
    """

    kind: Literal["stopped"]
    schema_version: int
    library_version: str
    target: Delta
    delta: Delta
    expected: Delta | None
    certified: Certified
    max_labels: Annotated[int, Within(1, MOST_LABELS)] | None
    log_threshold: Annotated[float, Within(0.0, 1e6)]
    n: Annotated[int, Within(1, MOST_LABELLED)]
    wrong: tuple[Count, ...] = field(repr=False)
    missing: Count
    bound: Bound
    rows_digest: str
    outcomes_digest: str
    provenance: Provenance

    @property
    def proven(self) -> bool:
        """Whether the error was proven to be at most the target."""
        return self.bound <= self.target

    @property
    def errors(self) -> int:
        """Labelled rows that were answered wrong."""
        return len(self.wrong)

    def check(self) -> None:
        """Raise a ValueError if its numbers contradict one another."""
        places = (0, *self.wrong, self.n + 1)
        if any(later <= place for place, later in pairwise(places)):
            raise CodecError(f"must have places of wrong rows in ascending order from 1 to {self.n} in wrong")
        if self.missing > self.errors:
            raise CodecError(f"has {self.missing} missing labels among {self.errors} wrong rows")
        if self.expected is not None and self.expected >= self.target:
            raise CodecError("must have a guess below its target in expected")
        if self.bound > 1.0:
            raise CodecError("must have a probability in bound")
        if self.max_labels is not None and (self.n > self.max_labels or self.certified == "pool"):
            raise CodecError("has a cap of labels that does not fit")
        if bool(self.rows_digest) != bool(self.provenance.n_rows) or (
            self.certified == "pool" and not self.rows_digest
        ):
            raise CodecError("must have a pool with its digest, or neither")
        if self.rows_digest and self.n > self.provenance.n_rows:
            raise CodecError(f"has {self.n} labels of {self.provenance.n_rows} rows")

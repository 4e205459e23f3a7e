"""Decision stumps: one feature against one threshold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certivote.voters._base import OutOfSampleVotes, VoterSet, out_of_sample_by_voting
from certivote.votes import Votes, build_votes


class Stumps(VoterSet):
    """Decision stumps for two classes, both polarities of each threshold.

    Feature ``f`` with range ``(lo, hi)`` gets the thresholds ``lo + t (hi - lo) / n_thresholds``, ``t`` from 0; one
    stump says the second class above the threshold and the first elsewhere, its twin the opposite.

    Parameters
    ----------
    n_thresholds : int, default=10
        Thresholds per feature, from 1 to 255.
    ranges : sequence of (low, high), one per feature, or None
        What the features can be, known without looking at the certification rows. None takes the least and the largest
        value among the training rows, and therefore needs a split.

    Notes
    -----
    Stumps do not look at labels, so groups change nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.voters import Stumps
    >>> stumps = Stumps(n_thresholds=2, ranges=[(0.0, 1.0)])
    >>> fitted = stumps.fit(None, None, np.array([0, 1]), np.random.default_rng(0))
    >>> fitted.n_voters  # two thresholds, two polarities
    4
    """

    input_checks: ClassVar[dict[str, Any]] = {"dtype": float}
    multi_class = False

    def __init__(self, n_thresholds: int = 10, ranges: Sequence[tuple[float, float]] | None = None):
        self.n_thresholds = n_thresholds
        self.ranges = ranges

    @property
    def needs_training(self) -> bool:
        return self.ranges is None

    def doubt(self, X: NDArray[np.float64]) -> str:
        if self.ranges is None or np.shape(self.ranges) != (X.shape[1], 2):
            return ""
        for f, ends in enumerate(np.asarray(self.ranges, dtype=float).tolist()):
            # Ends such as 100 or 17.5 are often reached; with more digits, they are those of a sample.
            odd = all(float(f"{end:.3g}") != end for end in ends)
            if odd and ends[0] == X[:, f].min() and ends[1] == X[:, f].max():
                return (
                    f"The declared range of feature {f}, {ends[0]!r} to {ends[1]!r}, is exactly that of the "
                    "certification rows. Ranges that were taken from these rows void the certificate: declare what is "
                    "known without them, or leave ranges out and let training rows set them (split='single')."
                )
        return ""

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        classes: NDArray[Any],
        rng: np.random.Generator,
        entities: NDArray[np.intp] | None = None,
    ) -> "FittedStumps":
        if not 1 <= self.n_thresholds <= 255:
            raise ValueError(f"n_thresholds must lie between 1 and 255; got {self.n_thresholds}.")
        if self.ranges is None:
            ranges = np.stack([X.min(axis=0), X.max(axis=0)], axis=1)
        else:
            try:
                ranges = np.asarray(self.ranges, dtype=float)
            except OverflowError as error:
                raise ValueError("ranges holds a whole number that is too large for a float.") from error
        if (
            ranges.ndim != 2
            or ranges.shape[1] != 2
            or not np.all(np.isfinite(ranges))
            or np.any(ranges[:, 0] > ranges[:, 1])
        ):
            raise ValueError(
                "ranges must hold one (low, high) per feature, finite and with low <= high; "
                f"got an array of shape {ranges.shape}."
            )
        steps = np.arange(self.n_thresholds) / self.n_thresholds
        return FittedStumps(ranges[:, :1] + steps * (ranges[:, 1:] - ranges[:, :1]))


@dataclass(frozen=True)
class FittedStumps:
    """Stumps at these thresholds, of shape (n_features, n_thresholds) and ascending in each row."""

    thresholds: NDArray[np.float64]

    def check(self, width: int, n_classes: int) -> None:
        """Raise a ValueError unless they can vote on rows with this many columns, for this many classes."""
        if n_classes != 2 or self.thresholds.ndim != 2 or not 1 <= self.thresholds.shape[1] <= 255:
            raise ValueError("stumps vote between two classes by at most 255 thresholds")
        if len(self.thresholds) != width or not np.all(np.isfinite(self.thresholds)):
            raise ValueError("stumps ask for columns that there are not")

    @property
    def n_voters(self) -> int:
        return 2 * self.thresholds.size

    def votes(self, X: NDArray[np.float64]) -> Votes:
        n_features, n_thresholds = self.thresholds.shape
        if X.shape[1] != n_features:
            raise ValueError(f"ranges were given for {n_features} features, but X has {X.shape[1]}.")
        bins = np.empty(X.shape, dtype=np.uint8)
        for f in range(n_features):
            # Thresholds strictly below x: a stump says "above" for x > threshold.
            bins[:, f] = np.searchsorted(self.thresholds[f], X[:, f], side="left")
        return build_votes(bins=bins, n_thresholds=n_thresholds)

    def only(self, voters: NDArray[np.intp]) -> "tuple[FittedStumps, NDArray[np.intp]]":
        return self, np.arange(self.n_voters)  # a stump is two numbers

    def out_of_sample(self, X: NDArray[np.float64], y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        # Of the training rows, the thresholds know the extremes at most.
        return out_of_sample_by_voting(self, X[rows])

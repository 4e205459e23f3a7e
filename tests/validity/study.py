"""A study counts how often a bound is below the truth: cases to repeat, their counts, and what they show."""

import hashlib
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from unittest.mock import patch

import numpy as np
from scipy import stats

CHUNKS = 10
"""The repetitions of a case are done and recorded in so many parts."""
_ROUNDING = 1e-9
"""True risks are sums of floats: so far above a bound, they are no violation."""


@dataclass(frozen=True)
class Row:
    """What is promised, of what, and where."""

    part: str
    method: str
    setting: str
    world: str
    n: int
    delta: float


@dataclass(frozen=True)
class Case:
    """One simulation, and the rows that each of its repetitions adds to.

    ``trial`` takes a random generator and gives a pair (bound, true risk) a row; none at all where no certificate was
    issued, which counts as a repetition without violation.
    """

    rows: tuple[Row, ...]
    runs: int
    trial: Callable[[np.random.Generator], Sequence[tuple[float, float]]]

    @property
    def chunk(self) -> int:
        """Repetitions in a part."""
        return self.runs // CHUNKS


@dataclass(frozen=True)
class Count:
    """Counts of one chunk of a row, or of all of them."""

    runs: int
    violations: int
    bounds: float
    risks: float
    seconds: float

    def __add__(self, other: "Count") -> "Count":
        pairs = zip(asdict(self).values(), asdict(other).values(), strict=True)
        return Count(*(mine + its for mine, its in pairs))

    @property
    def rate(self) -> float:
        return self.violations / self.runs

    def interval(self) -> tuple[float, float]:
        """The 99 % interval of Clopper and Pearson for the probability of a violation."""
        return _interval(self.violations, self.runs)


@cache
def _interval(violations: int, runs: int) -> tuple[float, float]:
    found = stats.binomtest(violations, runs).proportion_ci(0.99, "exact")
    return float(found.low), float(found.high)


def verdict(row: Row, count: Count) -> str:
    """What the counts of a row show."""
    low, high = count.interval()
    if row.part == "broken":
        return "broken" if low > row.delta else "not seen" if high <= row.delta else "unclear"
    return "holds" if high <= row.delta else "FAILS" if low > row.delta else "too few runs"


def do_chunk(case: Case, chunk: int) -> list[tuple[Row, Count]]:
    """Repeat a case with the random numbers of this chunk: always the same ones."""
    name = hashlib.sha256(repr(case.rows).encode()).digest()
    rng = np.random.default_rng([int.from_bytes(name[:8], "big"), chunk])
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few rows in a class
        with patch("secrets.randbits", lambda bits: int.from_bytes(rng.bytes(bits // 8), "big")):  # fresh seeds
            outcomes = [case.trial(rng) for _ in range(case.chunk)]
    seconds = (time.process_time() - start) / len(case.rows)
    counts = []
    for number, row in enumerate(case.rows):
        pairs = [outcome[number] for outcome in outcomes if outcome]
        violations = sum(risk > bound + _ROUNDING for bound, risk in pairs)
        bounds = sum(min(bound, 1.0) for bound, _ in pairs) + case.chunk - len(pairs)
        counts.append((row, Count(case.chunk, violations, bounds, sum(risk for _, risk in pairs), seconds)))
    return counts

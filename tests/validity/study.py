"""A study counts how often a bound is below the truth: cases to repeat, counts on disk, and what they show."""

import csv
import hashlib
import io
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

import joblib
import numpy as np
from digest import source_digest
from scipy import stats

from certivote.io import write_atomically

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
        outcomes = [case.trial(rng) for _ in range(case.chunk)]
    seconds = (time.process_time() - start) / len(case.rows)
    counts = []
    for number, row in enumerate(case.rows):
        pairs = [outcome[number] for outcome in outcomes if outcome]
        violations = sum(risk > bound + _ROUNDING for bound, risk in pairs)
        bounds = sum(min(bound, 1.0) for bound, _ in pairs) + case.chunk - len(pairs)
        counts.append((row, Count(case.chunk, violations, bounds, sum(risk for _, risk in pairs), seconds)))
    return counts


_META = [field.name for field in fields(Row)]
_COUNTS = [field.name for field in fields(Count)]
_HEADER = ["source", *_META, "chunk", *_COUNTS]
Counts = dict[tuple[Row, int], Count]


class CountStore:
    """Counts of finished chunks in a CSV file, all of one source."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)

    def read(self) -> tuple[str, Counts]:
        """The source, and the counts by row and chunk; a line that a crash cut off is left out."""
        content = self.path.read_bytes() if self.path.exists() else b""
        lines = list(csv.reader(io.StringIO(content[: content.rfind(b"\n") + 1].decode())))
        if lines and lines[0] != _HEADER:
            raise ValueError(f"{self.path} has other columns than this version writes; delete it or name another file.")
        source = lines[-1][0] if len(lines) > 1 else ""
        counts = {}
        for _, *cells in (line for line in lines[1:] if line[0] == source):
            row = Row(*(f.type(cell) for f, cell in zip(fields(Row), cells, strict=False)))
            count = Count(*(f.type(cell) for f, cell in zip(fields(Count), cells[len(_META) + 1 :], strict=True)))
            counts[row, int(cells[len(_META)])] = count
        return source, counts

    def begin(self, source: str) -> Counts:
        """What is there of this source. What other code counted is no evidence about this one, and is dropped."""
        found, counts = self.read()
        kept = counts if found == source else {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = [",".join(_HEADER) + "\n", *(self._line(source, *key, count) for key, count in kept.items())]
        write_atomically(self.path, "".join(lines).encode())
        return kept

    def append(self, source: str, chunk: int, counts: Iterable[tuple[Row, Count]]) -> None:
        with open(self.path, "a", newline="", encoding="utf-8") as file:
            file.write("".join(self._line(source, row, chunk, count) for row, count in counts))

    @staticmethod
    def _line(source: str, row: Row, chunk: int, count: Count) -> str:
        text = io.StringIO()
        numbers = [round(value, 4) if isinstance(value, float) else value for value in asdict(count).values()]
        csv.writer(text, lineterminator="\n").writerow([source, *asdict(row).values(), chunk, *numbers])
        return text.getvalue()


def totals(counts: Counts) -> dict[Row, Count]:
    """The counts of all chunks of each row."""
    sums: dict[Row, Count] = {}
    for (row, _), count in counts.items():
        sums[row] = sums[row] + count if row in sums else count
    return sums


def missing(cases: Sequence[Case], scale: float, counts: Counts) -> list[tuple[int, int]]:
    """Numbers of case and chunk that are still to do, whole rounds of all cases first."""
    todo = [
        (chunk, number)
        for number, case in enumerate(cases)
        for chunk in range(max(1, round(scale * CHUNKS)))
        if any((row, chunk) not in counts for row in case.rows)
    ]
    return [(number, chunk) for chunk, number in sorted(todo)]


def forecast(cases: Sequence[Case], scale: float, counts: Counts) -> float:
    """Processor seconds that the missing chunks will take, if each case has been measured by one chunk at least."""
    sums = totals(counts)
    todo = [cases[number] for number, _ in missing(cases, scale, counts)]
    return sum(case.chunk * sums[row].seconds / sums[row].runs for case in todo for row in case.rows)


def run_study(
    cases: Sequence[Case],
    store: CountStore,
    scale: float = 1.0,
    jobs: int = 1,
    rebuild: Callable[[], Sequence[Case]] | None = None,
) -> Iterator[tuple[int, int]]:
    """Do the missing chunks, record each as it finishes, and say after each how many are done of how many.

    With several jobs, processes of their own find the cases by calling ``rebuild``.
    """
    source = source_digest()
    todo = missing(cases, scale, store.begin(source))
    if jobs == 1 or rebuild is None:
        results = ((chunk, do_chunk(cases[number], chunk)) for number, chunk in todo)
    else:
        work = (joblib.delayed(_elsewhere)(rebuild, number, chunk) for number, chunk in todo)
        results = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(work)
    for done, (chunk, counts) in enumerate(results, 1):
        store.append(source, chunk, counts)
        yield done, len(todo)


def _elsewhere(rebuild: Callable[[], Sequence[Case]], number: int, chunk: int) -> tuple[int, list[tuple[Row, Count]]]:
    return chunk, do_chunk(rebuild()[number], chunk)

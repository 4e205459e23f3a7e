"""Finished runs on disk: one line per run, appended as it finishes, in a file that several processes may share."""

import csv
import dataclasses
import functools
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

Key = tuple[str, str, str, int]
"""Protocol, dataset, method and seed: what makes a run the same run."""


@dataclass(frozen=True)
class Run:
    """One method on one split of one dataset.

    Attributes
    ----------
    protocol, dataset, method : str
    seed : int
        Of the split, and of everything random after it.
    bound : float
        What the paper's tables show: the certificate's bound, with split cross that on the average of both votes.
    own_bound : float
        The deployed vote's own bound.
    test_error : float
        Half-weight error on the test rows, the mean of both votes with split cross; for the random vote, in
        expectation.
    deployed_error : float
        Share of the test rows that the deployed vote answers wrongly (plurality); for the random vote, the vote with
        its mean weights.
    empirical_risk, penalty : float
        Means over the certified parts, in the bound's own statistic and in nats.
    train_seconds, voter_seconds : float
        Of the processor, all threads together: learning and certifying; and splitting, fitting the voters and voting,
        once for all methods.
    n, test_rows, voters : int
        Certification rows in all, test rows, voters of one vote.
    delta : float
        The share of samples on which the bound may fail.
    version : str
        Of the package that did it.
    """

    protocol: str
    dataset: str
    method: str
    seed: int
    bound: float
    own_bound: float
    test_error: float
    deployed_error: float
    empirical_risk: float
    penalty: float
    train_seconds: float
    voter_seconds: float
    n: int
    test_rows: int
    voters: int
    delta: float
    version: str

    @property
    def key(self) -> Key:
        """What makes it the same run as another."""
        return self.protocol, self.dataset, self.method, self.seed


_FIELDS = dataclasses.fields(Run)
_HEADER = [field.name for field in _FIELDS]


class RunStore:
    """The file ``runs.csv`` of a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> from certivote.paper import RunStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RunStore(folder)
    ...     store.read()
    ...     with store.claim("fast-haberman-0") as mine:
    ...         mine
    []
    True
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        self.path = self.folder / "runs.csv"

    def read(self) -> list[Run]:
        """All finished runs; the beginning of a line that a crash cut off is left out."""
        rows = csv.reader(io.StringIO(self._whole_lines().decode()))
        next(rows, None)
        try:
            return [
                Run(*(field.type(cell) for field, cell in zip(_FIELDS, row, strict=True)))  # type: ignore[operator]
                for row in rows
            ]
        except ValueError as error:
            raise ValueError(f"{self.path}, line {rows.line_num} is not a run: {error}") from error

    def append(self, run: Run) -> None:
        """Add a finished run at once: readers see all of its line or nothing."""
        line = io.StringIO()
        writer = csv.DictWriter(line, _HEADER, lineterminator="\n")
        with self._writing:
            kept = len(self._whole_lines())
            if not kept:
                writer.writeheader()
            writer.writerow(dataclasses.asdict(run))
            with open(self.path, "ab") as file:
                file.truncate(kept)
                file.write(line.getvalue().encode())

    @functools.cached_property
    def _writing(self) -> FileLock:
        # Kept: an interrupt that falls into the removal of a lock is lost.
        return self.alone("runs")

    def _whole_lines(self) -> bytes:
        """The file up to its last line end; its columns must be those of a run."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if whole and whole.splitlines()[0] != ",".join(_HEADER).encode():
            raise ValueError(f"{self.path} has other columns than this version writes; choose another folder.")
        return whole

    @contextmanager
    def claim(self, name: str) -> Iterator[bool]:
        """Take a piece of work, and say whether no other process has it. A process that dies gives up its claims."""
        lock = self.alone(name)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def alone(self, name: str) -> FileLock:
        """For one process at a time, the others wait: a lock to enter with ``with``."""
        locks = self.folder / ".locks"
        locks.mkdir(parents=True, exist_ok=True)
        return FileLock(locks / f"{name}.lock")

"""Finished runs on disk: one line a run, appended as it finishes, in a file that several processes may share."""

import csv
import dataclasses
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

__all__ = ["Key", "Run", "RunStore"]

Key = tuple[str, str, str, int]
"""Protocol, dataset, method and seed: what makes a run the same run."""


@dataclass(frozen=True)
class Run:
    """One method on one split of one dataset.

    Attributes
    ----------
    bound : float
        What the paper's tables show: the certificate's bound, with split cross that on the average of both votes.
    own_bound : float
        The deployed vote's own bound.
    test_error : float
        Half-weight error on the test rows, the mean of both votes with split cross; for the random vote, in
        expectation.
    deployed_error : float
        Share of the test rows that the deployed vote answers wrongly (plurality).
    empirical_risk, penalty : float
        Means over the certified samples, in the bound's own statistic and in nats.
    train_seconds, voter_seconds : float
        Of the processor, all threads together: learning and certifying; and splitting, teaching the voters and voting,
        once for all methods.
    n, test_rows, voters : int
        Certified rows in all, test rows, voters of one vote.
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
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        self.path = self.folder / "runs.csv"

    def read(self) -> list[Run]:
        """All finished runs; the beginning of a line that a crash cut off is left out."""
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8")
        rows = list(csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1])))
        if rows and list(rows[0]) != _HEADER:
            raise ValueError(f"{self.path} has other columns than this version writes; choose another folder.")
        return [
            Run(**{field.name: field.type(row[field.name]) for field in _FIELDS})  # type: ignore[operator]
            for row in rows
        ]

    def append(self, run: Run) -> None:
        """Add a finished run at once: readers see all of its line or nothing."""
        line = io.StringIO()
        writer = csv.DictWriter(line, _HEADER, lineterminator="\n")
        with self._lock("runs"):
            kept = _whole_lines(self.path)
            if not kept:
                writer.writeheader()
            writer.writerow(dataclasses.asdict(run))
            with open(self.path, "ab") as file:
                file.truncate(kept)
                file.write(line.getvalue().encode())

    @contextmanager
    def claim(self, name: str) -> Iterator[bool]:
        """Take a piece of work, and say whether no other process has it. A process that dies gives up its claims."""
        lock = self._lock(name)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def _lock(self, name: str) -> FileLock:
        locks = self.folder / ".locks"
        locks.mkdir(parents=True, exist_ok=True)
        return FileLock(locks / f"{name}.lock")


def _whole_lines(path: Path) -> int:
    """Length of the file up to its last line end."""
    return path.read_bytes().rfind(b"\n") + 1 if path.exists() else 0

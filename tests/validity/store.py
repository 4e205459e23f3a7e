"""Counts on disk: which code counted each line, and which code it stands for."""

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from study import Count, Row

from certivote.io import write_atomically

Key = tuple[Row, int]
"""A row, and the number of a chunk."""
Counts = dict[Key, Count]

_META = [field.name for field in fields(Row)]
_COUNTS = [field.name for field in fields(Count)]
_HEADER = ["source", "counted_by", *_META, "chunk", *_COUNTS]


@dataclass
class Records:
    """Counts that stand for one code, in the order of the file, and by which code each was counted."""

    source: str = ""
    counts: Counts = field(default_factory=dict)
    counted_by: dict[Key, str] = field(default_factory=dict)

    def runs_by_code(self) -> dict[str, int]:
        """Runs that each code has counted: this one first, then those with the most."""
        runs: Counter[str] = Counter()
        for key, count in self.counts.items():
            runs[self.counted_by[key]] += count.runs
        return {self.source: runs.pop(self.source, 0), **dict(runs.most_common())}


class CountStore:
    """Counts of finished chunks in a CSV file.

    All lines stand for one code. Only while a confirmation is under way, what the present code has repeated so far
    stands behind them.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)

    def read(self) -> Records:
        """The counts of the code that the first line names; none if there is no line."""
        return next(iter(self._by_source().values()), Records())

    def of(self, source: str) -> Records:
        """The counts of this code, wherever they stand."""
        return self._by_source().get(source, Records(source))

    def keep(self, *kept: Records) -> None:
        """Write these, and nothing else."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = [",".join(_HEADER) + "\n"]
        for records in kept:
            lines += [_line(records.source, records.counted_by[key], *key, c) for key, c in records.counts.items()]
        write_atomically(self.path, "".join(lines).encode())

    def begin(self, source: str, anew: bool = False) -> Counts:
        """What there is of this code: the rest is dropped; with ``anew``, also what another code has counted for it."""
        records = self.of(source)
        if anew:
            mine = {key: count for key, count in records.counts.items() if records.counted_by[key] == source}
            records = Records(source, mine, records.counted_by)
        self.keep(records)
        return records.counts

    def append(self, source: str, chunk: int, counts: Iterable[tuple[Row, Count]]) -> None:
        with open(self.path, "a", newline="", encoding="utf-8") as file:
            file.write("".join(_line(source, source, row, chunk, count) for row, count in counts))

    def _by_source(self) -> dict[str, Records]:
        """In the order of the file; a line that a crash cut off is left out."""
        content = self.path.read_bytes() if self.path.exists() else b""
        lines = list(csv.reader(io.StringIO(content[: content.rfind(b"\n") + 1].decode())))
        if lines and lines[0] != _HEADER:
            raise ValueError(f"{self.path} has other columns than this version writes; delete it or name another file.")
        found: dict[str, Records] = {}
        for source, counted_by, *cells in lines[1:]:
            row = Row(*(f.type(cell) for f, cell in zip(fields(Row), cells, strict=False)))
            count = Count(*(f.type(cell) for f, cell in zip(fields(Count), cells[len(_META) + 1 :], strict=True)))
            records = found.setdefault(source, Records(source))
            records.counts[row, int(cells[len(_META)])] = count
            records.counted_by[row, int(cells[len(_META)])] = counted_by
        return found


def as_recorded(count: Count) -> list[int | float]:
    """The numbers that a line holds: runs, violations, bounds, risks and seconds."""
    return [round(value, 4) if isinstance(value, float) else value for value in asdict(count).values()]


def _line(source: str, counted_by: str, row: Row, chunk: int, count: Count) -> str:
    text = io.StringIO()
    cells = [source, counted_by, *asdict(row).values(), chunk, *as_recorded(count)]
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def totals(counts: Mapping[Key, Count]) -> dict[Row, Count]:
    """The counts of all chunks of each row."""
    sums: dict[Row, Count] = {}
    for (row, _), count in counts.items():
        sums[row] = sums[row] + count if row in sums else count
    return sums

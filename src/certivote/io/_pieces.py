"""Tables that are larger than memory, in pieces: rows that can be read by themselves, wherever the files are seen.

A parquet file is divided at its row groups, a CSV file at ends of rows. Every piece knows the size of its file and when
that was changed, and refuses to read another one.
"""

import codecs
import glob
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from certivote.io._csv_tables import csv_side, raw_csv
from certivote.io._parquet_tables import parquet_file, raw_parquet
from certivote.io._side_columns import SideColumn
from certivote.io._table_files import TableError, TableFile
from certivote.io._tables import column_names, reading

_BLOCK = 1 << 25
"""Bytes of a CSV file in a piece, about."""
_ROWS = 1 << 18
"""Rows of a parquet file in a piece, about; a row group is never divided."""
_AT_ONCE = 1 << 22
"""Bytes in which the end of a row is looked for."""
_BYTEWISE = ("ascii", "utf-8", "iso8859", "cp", "koi8", "mac")
"""How names of encodings begin in which a line end and a quotation mark are bytes that mean nothing else."""


@dataclass(frozen=True)
class FilePiece:
    """Some consecutive rows of a file, which must stay as it was.

    Attributes
    ----------
    file : TableFile
    names : list of str
        Of its columns.
    state : (int, int)
        The size of the file, and when it was changed.
    """

    file: TableFile
    names: list[str]
    state: tuple[int, int]

    def raw(self, kept: Sequence[str], sides: Sequence[str], text: Collection[str]) -> dict[str, Any]:
        """Columns as they are stored: see :func:`~certivote.io._csv_tables.raw_csv`; ``sides`` as :class:`SideColumn`.

        Raises
        ------
        TableError
            If they cannot be read, or the file is gone or was changed.
        """
        self._check_state()
        with reading(self.file):
            found = self._read(kept, sides, text)
        self._check_state()
        return found

    def _check_state(self) -> None:
        if _state(self.file) != self.state:
            raise TableError(f"{self.file}: the file was changed while it was read.")

    def _read(self, kept: Sequence[str], sides: Sequence[str], text: Collection[str]) -> dict[str, Any]:
        return _csv(self.file, self.names, kept, sides, text, ends=True)


@dataclass(frozen=True)
class _RowGroups(FilePiece):
    """Row groups of a parquet file."""

    groups: tuple[int, ...]

    def _read(self, kept: Sequence[str], sides: Sequence[str], text: Collection[str]) -> dict[str, Any]:
        raw = raw_parquet(self.file, self.names, kept, sides, self.groups)
        return raw | {name: SideColumn(self.file, name, *raw[name]) for name in sides}


@dataclass(frozen=True)
class _Bytes(FilePiece):
    """Bytes of a CSV file, from the beginning of a row to the end of another.

    Attributes
    ----------
    head : int
        Bytes of the header, and what is above it.
    start, stop : int
    lines : int
        Lines between the header and the first row of the piece.
    """

    head: int
    start: int
    stop: int
    lines: int

    def _read(self, kept: Sequence[str], sides: Sequence[str], text: Collection[str]) -> dict[str, Any]:
        return _csv(_Block(self), self.names, kept, sides, text, ends=self.stop == self.state[0])


class _Block(TableFile):
    """The header and some rows of a file, as a file."""

    def __init__(self, piece: _Bytes) -> None:
        whole = piece.file
        super().__init__(whole.path, whole.separator, whole.decimal, whole.encoding)
        self._piece = piece

    @cached_property
    def content(self) -> bytes | None:
        """The bytes of the header and of the rows."""
        piece = self._piece
        with self.path.open("rb") as file:
            head = file.read(piece.head)
            file.seek(piece.start)
            return head + file.read(piece.stop - piece.start)

    def line(self, number: int) -> int:
        return number + self._piece.lines


def files_of(pattern: str) -> list[Path]:
    """The files that a name or a pattern such as ``rows/*.parquet`` stands for, in the order of their names.

    Raises
    ------
    TableError
        If there is none.
    """
    found = [pattern] if os.path.exists(pattern) else sorted(glob.glob(pattern, recursive=True))
    found = [name for name in found if name == pattern or not os.path.isdir(name)]
    if not found:
        raise TableError(f"{pattern}: there is no file of this name, and none whose name fits it as a pattern.")
    if os.path.isdir(found[0]):
        raise TableError(
            f"{pattern}: this is a folder; give a pattern for the files in it, in quotation marks, such as "
            f"'{os.path.join(pattern, '*.parquet')}'."
        )
    return [Path(name) for name in found]


def divided(files: Sequence[TableFile]) -> list[FilePiece]:
    """All pieces of some files of one kind with the same columns, in the order of the rows.

    A CSV file that is packed by gzip is one piece.
    """
    pieces: list[FilePiece] = []
    first = files[0]
    for file in files:
        with reading(file):
            if file.is_workbook:
                raise TableError(f"{file}: a workbook cannot be read in pieces; give it as CSV or parquet.")
            if file.content is not None:
                raise TableError(f"{file}: a pipe can be read only once, and so not in pieces; give a file.")
        state, names = _state(file), column_names(file)
        if "" in names:
            raise TableError(
                f"{file}: column {names.index('') + 1} has no name in the header; give every column a name."
            )
        if file.is_parquet != first.is_parquet:
            raise TableError(f"{file}: {first} is of another kind; give files that are all parquet or all CSV.")
        if pieces and set(names) != set(pieces[0].names):
            other = sorted(set(names) ^ set(pieces[0].names))[0]
            has, lacks = (file, first) if other in names else (first, file)
            raise TableError(
                f"{lacks}: there is no column {other!r}, which {has} has; all files need the same columns."
            )
        with reading(file):
            found = list(_row_groups(file, names, state) if file.is_parquet else _blocks(file, names, state))
        if not found:
            raise TableError(f"{file}: there are no rows{'' if file.is_parquet else ' below the header'}.")
        pieces.extend(found)
    return pieces


def _state(file: TableFile) -> tuple[int, int]:
    with reading(file):
        found = file.path.stat()
    return found.st_size, found.st_mtime_ns


def _csv(
    file: TableFile, names: list[str], kept: Sequence[str], sides: Sequence[str], text: Collection[str], ends: bool
) -> dict[str, Any]:
    raw = raw_csv(file, names, kept, sides, text, ends)
    return raw | {name: csv_side(file, names, name, *raw[name]) for name in sides}


def _row_groups(file: TableFile, names: list[str], state: tuple[int, int]) -> Iterator[FilePiece]:
    metadata = parquet_file(file).metadata
    groups: list[int] = []
    n_rows = 0
    for group in range(metadata.num_row_groups):
        own = metadata.row_group(group).num_rows
        if n_rows and n_rows + own > _ROWS:
            yield _RowGroups(file, names, state, tuple(groups))
            groups, n_rows = [], 0
        groups.append(group)
        n_rows += own
    if n_rows:
        yield _RowGroups(file, names, state, tuple(groups))


def _blocks(file: TableFile, names: list[str], state: tuple[int, int]) -> Iterator[FilePiece]:
    file = TableFile(file.path, file.separator, file.decimal, file.encoding)  # what was found in the first lines
    if file.packed:
        yield FilePiece(file, names, state)
        return
    if not codecs.lookup(file.codec).name.startswith(_BYTEWISE):
        raise TableError(f"{file}: a text in {file.codec} cannot be read in pieces; give it in UTF-8, or as parquet.")
    size, head = state[0], 0
    with file.open() as stream:
        blank = True
        while blank and head < size:
            above, (head, _) = head, _row_end(stream, head, 0, size)
            stream.seek(above)
            blank = not stream.read(head - above).removeprefix(codecs.BOM_UTF8).strip()
        start, lines = head, 0
        while start < size:
            stop, more = _row_end(stream, start, _BLOCK, size)
            stream.seek(stop)
            if not stream.read(_AT_ONCE).strip() and size - stop <= _AT_ONCE:
                stop = size  # nothing but line ends behind
            yield _Bytes(file, names, state, head, start, stop, lines)
            start, lines = stop, lines + more


def _row_end(stream: BinaryIO, start: int, least: int, size: int) -> tuple[int, int]:
    """Where the first row ends whose end is ``least`` bytes or more behind ``start``, and the lines up to there.

    A line end between quotation marks does not end a row. A stray mark may move the end into a value: then the piece
    ends with an open quotation, and cannot be read.
    """
    stream.seek(start)
    lines, quotes, begin = 0, 0, start
    while chunk := stream.read(_AT_ONCE):
        at = max(start + least - begin, 0)
        while at < len(chunk) and (end := chunk.find(b"\n", at) + 1):
            if (quotes + chunk.count(b'"', 0, end)) % 2 == 0:
                return begin + end, lines + chunk.count(b"\n", 0, end)
            at = end
        lines, quotes, begin = lines + chunk.count(b"\n"), quotes + chunk.count(b'"'), begin + len(chunk)
    return size, lines

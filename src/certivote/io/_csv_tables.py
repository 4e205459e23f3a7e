"""CSV files: columns of numbers and of text, read some rows at a time, with errors that name the line."""

import csv
import itertools
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from certivote.io._decimal_marks import categorical
from certivote.io._side_columns import SideColumn
from certivote.io._table_files import TableError, TableFile
from certivote.voters.text_columns import MISSING, coded

_CHUNK = 1 << 16
"""Rows of a CSV file that are parsed at a time."""
_GLANCE = 1_000
"""Rows by which a first guess is made which columns are text."""


def csv_names(file: TableFile) -> list[str]:
    """The names in the header, as they are written; spreadsheets leave some empty."""
    with file.text() as text:
        reader = csv.reader(text, delimiter=file.separator)
        rows = (row for row in reader if row)
        try:
            names = next(rows, [])
            wider = len(next(rows, names)) > len(names)
        except csv.Error as error:
            raise _unreadable(file, reader.line_num, error) from error
    if not names:
        raise TableError(f"{file}: the file is empty.")
    if names[0].strip().lower().startswith("sep="):
        raise TableError(f"{file}, line 1: this line is for a spreadsheet program, and no header; remove it.")
    if wider:  # which the fast reader takes for commas at the ends of all lines
        check_widths(file)
    return names


def named_or_filled(file: TableFile, names: Sequence[str]) -> list[str]:
    """The names but for empty columns without a name, which spreadsheets leave behind."""
    unnamed = [place for place, name in enumerate(names) if not name]
    empty = set(unnamed)
    for _, row, _ in _lines(file) if unnamed else ():
        empty -= {place for place in empty if place < len(row) and row[place].strip()}
        if not empty:
            break
    filled = [str(place + 1) for place in unnamed if place not in empty]
    if filled and len(unnamed) > 1:
        which = (
            f"columns {', '.join(filled[:-1])} and {filled[-1]} have" if len(filled) > 1 else f"column {filled[0]} has"
        )
        raise TableError(f"{file}: the {which} no name in the header; give a name to every column that holds values.")
    return [name for place, name in enumerate(names) if place not in empty]


def read_csv(
    file: TableFile, names: list[str], kept: Sequence[str], sides: Sequence[str]
) -> tuple[dict[str, Any], dict[str, SideColumn]]:
    """Columns of features, as numbers or categories, and others as text."""
    raw = raw_csv(file, names, kept, sides)
    columns: dict[str, Any] = {}
    for name in kept:
        if isinstance(raw[name], tuple):
            codes, texts = raw.pop(name)
            columns[name] = categorical(file, codes, texts)
        else:
            columns[name] = raw.pop(name)
    return columns, {name: csv_side(file, names, name, *raw[name]) for name in sides}


def raw_csv(
    file: TableFile,
    names: list[str],
    kept: Sequence[str],
    sides: Sequence[str],
    text: Collection[str] = (),
    ends: bool = True,
) -> dict[str, Any]:
    """Columns as they are stored: arrays of finite numbers, or codes and the texts that they stand for.

    Parameters
    ----------
    file : TableFile
    names : list of str
        Of all columns.
    kept, sides : sequence of str
        Columns of features, and others, which are text.
    text : collection of str
        Features that are text too, for any values.
    ends : bool
        Whether the table ends here, so that rows without values at the end are none.
    """
    settings: dict[str, Any] = {
        "keep_default_na": False,
        "na_values": sorted(MISSING),
        "decimal": file.decimal or ".",
    }
    glance = next(csv_chunks(file, _GLANCE, names, **settings), None)
    if glance is None or not len(glance):
        raise TableError(f"{file}: there are no rows below the header.")
    text = {*sides, *text, *(name for name in kept if glance[name].dtype.kind not in "iuf")}
    while True:
        found: dict[str, list[Any]] = {name: [] for name in (*kept, *sides)}
        texts: dict[str, dict[str, int]] = {name: {} for name in text}
        surprises: set[str] = set()
        missing = blank = False
        for chunk in csv_chunks(file, _CHUNK, names, dtype={names.index(name): str for name in text}, **settings):
            missing = missing or bool(chunk.iloc[:, -1].isna().any())
            blank = bool(chunk.iloc[-1].isna().all())
            for name in found:
                if name in text:
                    found[name].append(_known(chunk[name], texts[name]))
                elif chunk[name].dtype.kind in "iuf":
                    found[name].append(chunk[name].to_numpy(dtype=float))
                else:
                    surprises.add(name)
        if not surprises:
            break
        text |= surprises
    if missing:
        check_widths(file)
    end = None if not blank or not ends else -_blank_tail(file) or None
    columns: dict[str, Any] = {}
    for name in (*kept, *sides):
        values = np.concatenate(found.pop(name))[:end]
        if name in text:
            columns[name] = values, list(texts.pop(name))
        else:
            check_finite(values, name, lambda row, name=name: _cell(file, row, names.index(name)))  # type: ignore[misc]
            columns[name] = values
    return columns


def csv_side(file: TableFile, names: list[str], name: str, codes: NDArray[np.integer], texts: list[str]) -> SideColumn:
    """A column that is not a feature."""
    if not len(codes):
        raise TableError(f"{file}: there are no rows below the header.")
    return SideColumn(file, name, codes, texts, lambda row: _cell(file, row, names.index(name)))


def csv_chunks(file: TableFile, n_rows: int, names: Sequence[str], **settings: Any) -> Iterator[Any]:
    """Frames of at most ``n_rows`` rows, by pandas; if several columns lack a name, these cannot be asked for."""
    import pandas as pd

    if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
        settings["float_precision"] = "round_trip"  # as Python's float reads numbers; later the only way
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            with file.text() as text:
                for chunk in pd.read_csv(
                    text,
                    sep=file.separator,
                    header=0,
                    names=range(len(names)),
                    index_col=False,
                    chunksize=n_rows,
                    low_memory=False,
                    **settings,
                ):
                    chunk.columns = list(names)
                    yield chunk
        except (pd.errors.ParserError, pd.errors.ParserWarning, UnicodeDecodeError) as error:
            check_widths(file)
            raise TableError(f"{file}: {str(error).splitlines()[0]}") from error


def _known(column: Any, texts: dict[str, int]) -> NDArray[np.int32]:
    """Codes of the texts of some rows; those that were not seen before are added."""
    codes, new = coded(column)
    places = np.array([*(texts.setdefault(text, len(texts)) for text in new), -1], dtype=np.int32)
    return places[codes]


def check_widths(file: TableFile) -> None:
    """Look for the first line that is not a row of the table, and complain about it."""
    named = 0
    for line, row, header in _lines(file):
        # Where the last columns have no name, spreadsheets end some lines before them.
        named = named or max((place for place, name in enumerate(header, start=1) if name.strip()), default=len(header))
        if not named <= len(row) <= len(header):
            raise TableError(f"{file}, line {line}: {len(row)} fields, but the header has {len(header)}.")


def _blank_tail(file: TableFile) -> int:
    """How many rows at the end hold nothing, not even a word for a missing value."""
    count = 0
    for _, row, _ in _lines(file):
        count = 0 if any(cell.strip() for cell in row) else count + 1
    return count


def _cell(file: TableFile, number: int, place: int) -> tuple[str, str]:
    """Where in the file the row of that number is, and what it holds in a column."""
    line, row, _ = next(itertools.islice(_lines(file), number, None))
    return f"{file}, line {line}", row[place]


def _lines(file: TableFile) -> Iterator[tuple[int, list[str], list[str]]]:
    """Every row below the header with its line number, and the header: slow, to find what is wrong."""
    with file.text() as text:
        reader = csv.reader(_decodable(file, text), delimiter=file.separator, strict=True)
        header: list[str] = []
        try:
            for row in reader:
                # Lines of nothing but blanks are skipped, as the fast reader does.
                if not row or (len(row) == 1 and not row[0].strip() and len(header) != 1):
                    continue
                if header:
                    yield file.line(reader.line_num), row, header
                header = header or row
        except csv.Error as error:
            raise _unreadable(file, reader.line_num, error) from error


def _unreadable(file: TableFile, line: int, error: csv.Error) -> TableError:
    return TableError(f"{file}, line {file.line(line)}: {error}; are quotation marks closed?")


def _decodable(file: TableFile, text: TextIO) -> Iterator[str]:
    lines = iter(text)
    for number in itertools.count(1):
        try:
            line = next(lines, None)
        except UnicodeDecodeError as error:
            raise file.not_decodable(f"{error.reason} after line {file.line(number - 1)}") from error
        if line is None:
            return
        yield line


def check_finite(values: NDArray[np.float64], name: str, cell: Callable[[int], tuple[str, str]]) -> None:
    """Refuse infinite numbers; ``cell`` tells of a row where it is, and what is written there."""
    wrong = np.flatnonzero(np.isinf(values))
    if len(wrong):
        where, text = cell(int(wrong[0]))
        raise TableError(f"{where}: column {name!r} holds {text!r}; only finite numbers can be used.")

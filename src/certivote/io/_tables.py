"""Tables in files, CSV or parquet: features and labels, with errors that name the line and the column.

A column is kept as numbers if every value of the file is one, otherwise as text. That is storage: what a column *is* is
decided by the training rows alone, see :class:`certivote.voters.ColumnEncoder`, to which the text of a number and the
number are the same.
"""

import csv
import difflib
import gzip
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from certivote.io._decimal_marks import with_points
from certivote.io._table_files import TableError, TableFile
from certivote.voters.text_columns import MISSING, coded

__all__ = ["Table", "check_columns", "column_names", "read_table", "stream_text"]

_CHUNK = 1 << 16
"""Rows of a CSV file that are parsed at a time."""
_GLANCE = 1_000
"""Rows by which a first guess is made which columns are text."""
_CLASSES = 100
"""Labels beyond which there must be two rows of each, on average."""


@dataclass(frozen=True)
class Table:
    """Features as a pandas frame of float64, datetime64 and categorical columns, and labels as a series of texts.

    Attributes
    ----------
    digest : str
        The SHA-256 of the bytes that were read.
    """

    X: Any
    y: Any
    digest: str


def column_names(source: Path | TableFile) -> list[str]:
    """The names in the header, in order."""
    file = _file(source)
    with _reading(file):
        if file.is_parquet:
            names = _parquet(file).schema_arrow.names
        else:
            with file.text() as text:
                rows = (row for row in csv.reader(text, delimiter=file.separator) if row)
                names = next(rows, [])
                wider = len(next(rows, names)) > len(names)
            if not names:
                raise TableError(f"{file}: the file is empty.")
            if wider:  # which the fast reader takes for commas at the ends of all lines
                _check_widths(file)
    names = [name.strip() for name in names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TableError(f"{file}: the column {twice!r} occurs more than once in the header.")
    return names


def check_columns(source: Path | TableFile, wanted: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a file that lacks columns, and name them all, with the names that may be meant.

    Examples
    --------
    >>> try:
    ...     check_columns(Path("new.csv"), ["age", "town"], ["Age", "Town"])
    ... except TableError as error:
    ...     print(error)
    new.csv: there are no columns 'age' (did you mean 'Age'?) and 'town' (did you mean 'Town'?).
    """
    absent = list(dict.fromkeys(name for name in wanted if name not in names))
    if not absent:
        return
    # A column that is wanted under its own name is not what another name means.
    folded = {name.casefold(): name for name in names if name not in wanted}
    near = {name: difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5) for name in absent}
    meant = {name: f"did you mean {folded[close[0]]!r}?" for name, close in near.items() if close}
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    hint = "" if meant else f"; the columns are {shown}."
    if len(absent) == 1:
        raise TableError(f"{source}: there is no column {absent[0]!r}{hint or f'; {meant[absent[0]]}'}")
    listed = [f"{name!r} ({meant[name]})" if name in meant else repr(name) for name in absent]
    raise TableError(f"{source}: there are no columns {', '.join(listed[:-1])} and {listed[-1]}{hint or '.'}")


def read_table(
    source: Path | TableFile, target: str, drop: Sequence[str] = (), features: Sequence[str] | None = None
) -> Table:
    """Read features and labels.

    Parameters
    ----------
    source : Path or TableFile
        A CSV file with a header line, or a parquet file; a path is one that is read without any options.
    target : str
        Column of the labels. They are text: ``1`` and ``1.0`` are two labels.
    drop : sequence of str
        Columns to leave out.
    features : sequence of str, optional
        The columns to take, in this order; by default all others, in the order of the file.
    """
    file = _file(source)
    with _reading(file):
        digest = file.digest()
    names = column_names(file)
    check_columns(file, [target, *drop, *(features or ())], names)
    if target in drop:
        raise TableError(f"{file}: the target {target!r} cannot be dropped.")
    kept = list(features or (name for name in names if name != target and name not in drop))
    if not kept:
        besides = f" and what is dropped ({', '.join(drop)})" if drop else ""
        raise TableError(f"{file}: there is no column besides the target {target!r}{besides}.")
    with _reading(file):
        columns, labels = (_read_parquet if file.is_parquet else _read_csv)(file, names, kept, target)
        if file.digest() != digest:
            raise TableError(f"{file}: the file was changed while it was read.")
    import pandas as pd

    return Table(pd.DataFrame(columns, copy=False), pd.Series(labels, dtype=object, name=target), digest)


def stream_text(source: Path | TableFile, n_rows: int) -> Iterator[Any]:
    """The whole table as frames of at most so many rows; of a CSV file every value as the text that is written there.

    Columns have the names of the file as they are written. Parquet columns keep their types.
    """
    file = _file(source)
    with _reading(file):
        if file.is_parquet:
            for batch in _parquet(file).iter_batches(n_rows):
                yield batch.to_pandas(date_as_object=False)
            return
        with file.text() as text:
            header = next(row for row in csv.reader(text, delimiter=file.separator) if row)
        checked = False
        for chunk in _chunks(file, n_rows, names=header, dtype=str, na_filter=False):
            if not checked and (chunk.iloc[:, -1] == "").any():
                _check_widths(file)
                checked = True
            yield chunk


def _file(source: Path | TableFile) -> TableFile:
    return source if isinstance(source, TableFile) else TableFile(source)


# CSV -----------------------------------------------------------------------------------------------------------------


def _read_csv(file: TableFile, names: list[str], kept: list[str], target: str) -> tuple[dict[str, Any], NDArray[Any]]:
    import pandas as pd

    settings = {"names": names, "keep_default_na": False, "na_values": sorted(MISSING), "decimal": file.decimal or "."}
    glance = next(_chunks(file, _GLANCE, **settings), None)
    if glance is None or not len(glance):
        raise TableError(f"{file}: there are no rows below the header.")
    text = {target, *(name for name in kept if glance[name].dtype.kind not in "iuf")}
    while True:
        found: dict[str, list[Any]] = {name: [] for name in (*kept, target)}
        texts: dict[str, dict[str, int]] = {name: {} for name in text}
        surprises: set[str] = set()
        missing = False
        for chunk in _chunks(file, _CHUNK, dtype=dict.fromkeys(text, str), **settings):
            missing = missing or bool(chunk.iloc[:, -1].isna().any())
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
        _check_widths(file)
    columns: dict[str, Any] = {}
    for name in kept:
        values = np.concatenate(found.pop(name))
        if name in text:
            columns[name] = pd.Categorical.from_codes(values, with_points(file, name, list(texts.pop(name))))
        else:
            _check_finite(values, name, lambda row, name=name: _cell(file, row, names.index(name)))  # type: ignore[misc]
            columns[name] = values
    codes = np.concatenate(found[target])
    return columns, _labels(
        file, codes, list(texts[target]), target, lambda row: _cell(file, row, names.index(target))[0]
    )


def _chunks(file: TableFile, n_rows: int, **settings: Any) -> Iterator[Any]:
    import pandas as pd

    if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
        settings["float_precision"] = "round_trip"  # as Python's float reads numbers; later the only way
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            with file.text() as text:
                yield from pd.read_csv(
                    text,
                    sep=file.separator,
                    header=0,
                    index_col=False,
                    chunksize=n_rows,
                    low_memory=False,
                    **settings,
                )
        except (pd.errors.ParserError, pd.errors.ParserWarning, UnicodeDecodeError) as error:
            _check_widths(file)
            raise TableError(f"{file}: {str(error).splitlines()[0]}") from error


def _known(column: Any, texts: dict[str, int]) -> NDArray[np.int32]:
    """Codes of the texts of some rows; those that were not seen before are added."""
    codes, new = coded(column)
    places = np.array([*(texts.setdefault(text, len(texts)) for text in new), -1], dtype=np.int32)
    return places[codes]


def _check_widths(file: TableFile) -> None:
    """Look for the first line that is no row of the table, and complain about it."""
    for line, row, width in _lines(file):
        if len(row) != width:
            raise TableError(f"{file}, line {line}: {len(row)} fields, but the header has {width}.")


def _cell(file: TableFile, number: int, place: int) -> tuple[str, str]:
    """Where in the file the row of that number is, and what it holds in a column."""
    line, row, _ = next(itertools.islice(_lines(file), number, None))
    return f"{file}, line {line}", row[place]


def _lines(file: TableFile) -> Iterator[tuple[int, list[str], int]]:
    """Every row below the header with its line number and the number of columns: slow, to find what is wrong."""
    with file.text() as text:
        reader = csv.reader(_decodable(file, text), delimiter=file.separator, strict=True)
        width = 0
        try:
            for row in reader:
                # Lines of nothing but blanks are skipped, as the fast reader does.
                if not row or (len(row) == 1 and not row[0].strip() and width != 1):
                    continue
                if width:
                    yield reader.line_num, row, width
                width = width or len(row)
        except csv.Error as error:
            raise TableError(f"{file}, line {reader.line_num}: {error}; are quotation marks closed?") from error


def _decodable(file: TableFile, text: TextIO) -> Iterator[str]:
    lines = iter(text)
    for number in itertools.count(1):
        try:
            line = next(lines, None)
        except UnicodeDecodeError as error:
            raise file.not_decodable(f"{error.reason} after line {number - 1}") from error
        if line is None:
            return
        yield line


# Parquet -------------------------------------------------------------------------------------------------------------


def _parquet(file: TableFile) -> Any:
    if file.text_options:
        raise TableError(f"{file}: {file.text_options} is for CSV files, and this is a parquet file; leave it out.")
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise TableError(f"{file}: parquet files need the package pyarrow: install certivote[parquet].") from error
    return pyarrow.parquet.ParquetFile(file.path if file.content is None else pyarrow.BufferReader(file.content))


def _read_parquet(
    file: TableFile, names: list[str], kept: list[str], target: str
) -> tuple[dict[str, Any], NDArray[Any]]:
    import pandas as pd

    stored = _parquet(file)
    if not stored.metadata.num_rows:
        raise TableError(f"{file}: there are no rows.")
    written = dict(zip(names, stored.schema_arrow.names, strict=True))

    def read(name: str) -> Any:
        return stored.read([written[name]]).to_pandas(date_as_object=False).iloc[:, 0]

    columns: dict[str, Any] = {}
    for name in kept:
        column = read(name)
        if column.dtype.kind in "iuf":
            columns[name] = column.to_numpy(dtype=float)
            _check_finite(
                columns[name],
                name,
                lambda row, column=column: (f"{file}, row {row + 1}", str(column.iloc[row])),  # type: ignore[misc]
            )
        elif column.dtype.kind == "M":
            columns[name] = column
        else:
            try:
                codes, texts = coded(column)
            except TypeError:
                kind = stored.schema_arrow.field(written[name]).type
                raise TableError(
                    f"{file}: column {name!r} holds values of type {kind}, which are neither numbers nor text; "
                    f"leave it out by --drop {name}."
                ) from None
            columns[name] = pd.Categorical.from_codes(codes, with_points(file, name, texts))
    return columns, _labels(file, *coded(read(target)), target, lambda row: f"{file}, row {row + 1}")


# Both ----------------------------------------------------------------------------------------------------------------


def _check_finite(values: NDArray[np.float64], name: str, cell: Callable[[int], tuple[str, str]]) -> None:
    wrong = np.flatnonzero(np.isinf(values))
    if len(wrong):
        where, text = cell(int(wrong[0]))
        raise TableError(f"{where}: column {name!r} holds {text!r}; only finite numbers can be used.")


def _labels(
    file: TableFile, codes: NDArray[np.integer], texts: list[str], target: str, where: Callable[[int], str]
) -> NDArray[Any]:
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise TableError(
            f"{where(int(missing[0]))}: the target {target!r} is empty. "
            "Remove such rows only if they are missing at random."
        )
    if len(texts) > max(_CLASSES, len(codes) / 2):
        raise TableError(
            f"{file}: the target {target!r} has {len(texts):,} different values in {len(codes):,} rows; a vote chooses "
            "among classes. Is another column meant, or should numbers be cut into ranges first?"
        )
    return np.array(texts)[codes]


@contextmanager
def _reading(file: TableFile) -> Iterator[None]:
    """What can go wrong with a file, as one sentence."""
    try:
        yield
    except TableError:
        raise
    except UnicodeDecodeError as error:
        raise file.not_decodable(error.reason) from error
    except (gzip.BadGzipFile, EOFError) as error:
        raise TableError(f"{file}: not a gzip file, or cut off ({error}).") from error
    except OSError as error:
        raise TableError(f"{file}: {error.strerror or error}.") from error
    except ValueError as error:
        if not file.is_parquet:
            raise
        raise TableError(f"{file}: not a parquet file, or damaged ({str(error).splitlines()[0]}).") from error

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

from certivote.voters.text_columns import MISSING, coded

__all__ = ["Table", "TableError", "check_columns", "column_names", "is_parquet", "read_table", "stream_text"]

_CHUNK = 1 << 16
"""Rows of a CSV file that are parsed at a time."""
_GLANCE = 1_000
"""Rows by which a first guess is made which columns are text."""
_CLASSES = 100
"""Labels beyond which there must be two rows of each, on average."""


class TableError(ValueError):
    """The file cannot be used as it is; the message says where and why."""


@dataclass(frozen=True)
class Table:
    """Features as a pandas frame of float64, datetime64 and categorical columns, and labels as text."""

    X: Any
    y: NDArray[Any]


def is_parquet(path: Path) -> bool:
    """Whether the name says that this is a parquet file; anything else is read as CSV."""
    return path.suffix.lower() in (".parquet", ".pq")


def column_names(path: Path) -> list[str]:
    """The names in the header, in order."""
    with _reading(path):
        if is_parquet(path):
            names = _parquet(path).schema_arrow.names
        else:
            with _open(path) as file:
                rows = (row for row in csv.reader(file) if row)
                names = next(rows, [])
                wider = len(next(rows, names)) > len(names)
            if not names:
                raise TableError(f"{path}: the file is empty.")
            if wider:  # which the fast reader takes for commas at the ends of all lines
                _check_widths(path)
    names = [name.strip() for name in names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TableError(f"{path}: the column {twice!r} occurs more than once in the header.")
    return names


def check_columns(path: Path, wanted: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a column that the file does not have, with the name that may be meant."""
    absent = [name for name in wanted if name not in names]
    if not absent:
        return
    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(absent[0].casefold(), folded, n=1, cutoff=0.5)
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    hint = f"did you mean {folded[close[0]]!r}?" if close else f"the columns are {shown}."
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        hint = "the header has no comma, and commas must separate the columns."
    others = f" (and {len(absent) - 1} more that are needed)" if len(absent) > 1 else ""
    raise TableError(f"{path}: there is no column {absent[0]!r}{others}; {hint}")


def read_table(path: Path, target: str, drop: Sequence[str] = (), features: Sequence[str] | None = None) -> Table:
    """Read features and labels.

    Parameters
    ----------
    path : Path
        Of a CSV file (``.csv`` or ``.csv.gz``, UTF-8, commas, a header line) or a parquet file (``.parquet``, ``.pq``).
    target : str
        Column of the labels. They are text: ``1`` and ``1.0`` are two labels.
    drop : sequence of str
        Columns to leave out.
    features : sequence of str, optional
        The columns to take, in this order; by default all others, in the order of the file.
    """
    names = column_names(path)
    check_columns(path, [target, *drop, *(features or ())], names)
    if target in drop:
        raise TableError(f"{path}: the target {target!r} cannot be dropped.")
    kept = list(features or (name for name in names if name != target and name not in drop))
    if not kept:
        besides = f" and what is dropped ({', '.join(drop)})" if drop else ""
        raise TableError(f"{path}: there is no column besides the target {target!r}{besides}.")
    with _reading(path):
        columns, labels = (_read_parquet if is_parquet(path) else _read_csv)(path, names, kept, target)
    import pandas as pd

    return Table(pd.DataFrame(columns, copy=False), labels)


def stream_text(path: Path, n_rows: int) -> Iterator[Any]:
    """The whole table as frames of at most so many rows; of a CSV file every value as the text that is written there.

    Columns have the names of the file as they are written. Parquet columns keep their types.
    """
    with _reading(path):
        if is_parquet(path):
            for batch in _parquet(path).iter_batches(n_rows):
                yield batch.to_pandas(date_as_object=False)
            return
        with _open(path) as file:
            header = next(row for row in csv.reader(file) if row)
        checked = False
        for chunk in _chunks(path, n_rows, names=header, dtype=str, na_filter=False):
            if not checked and (chunk.iloc[:, -1] == "").any():
                _check_widths(path)
                checked = True
            yield chunk


# CSV -----------------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, names: list[str], kept: list[str], target: str) -> tuple[dict[str, Any], NDArray[Any]]:
    import pandas as pd

    settings = {"names": names, "keep_default_na": False, "na_values": sorted(MISSING)}
    glance = next(_chunks(path, _GLANCE, **settings), None)
    if glance is None or not len(glance):
        raise TableError(f"{path}: there are no rows below the header.")
    text = {target, *(name for name in kept if glance[name].dtype.kind not in "iuf")}
    while True:
        found: dict[str, list[Any]] = {name: [] for name in (*kept, target)}
        texts: dict[str, dict[str, int]] = {name: {} for name in text}
        surprises: set[str] = set()
        missing = False
        for chunk in _chunks(path, _CHUNK, dtype=dict.fromkeys(text, str), **settings):
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
        _check_widths(path)
    columns: dict[str, Any] = {}
    for name in kept:
        values = np.concatenate(found.pop(name))
        if name in text:
            columns[name] = pd.Categorical.from_codes(values, list(texts.pop(name)))
        else:
            _check_finite(values, name, lambda row, name=name: _cell(path, row, names.index(name)))  # type: ignore[misc]
            columns[name] = values
    codes = np.concatenate(found[target])
    return columns, _labels(
        path, codes, list(texts[target]), target, lambda row: _cell(path, row, names.index(target))[0]
    )


def _chunks(path: Path, n_rows: int, **settings: Any) -> Iterator[Any]:
    import pandas as pd

    if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
        settings["float_precision"] = "round_trip"  # as Python's float reads numbers; later the only way
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            yield from pd.read_csv(
                path, header=0, index_col=False, chunksize=n_rows, low_memory=False, encoding="utf-8", **settings
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning, UnicodeDecodeError) as error:
            _check_widths(path)
            raise TableError(f"{path}: {str(error).splitlines()[0]}") from error


def _known(column: Any, texts: dict[str, int]) -> NDArray[np.int32]:
    """Codes of the texts of some rows; those that were not seen before are added."""
    codes, new = coded(column)
    places = np.array([*(texts.setdefault(text, len(texts)) for text in new), -1], dtype=np.int32)
    return places[codes]


def _check_widths(path: Path) -> None:
    """Look for the first line that is no row of the table, and complain about it."""
    for line, row, width in _lines(path):
        if len(row) != width:
            raise TableError(f"{path}, line {line}: {len(row)} fields, but the header has {width}.")


def _cell(path: Path, number: int, place: int) -> tuple[str, str]:
    """Where in the file the row of that number is, and what it holds in a column."""
    line, row, _ = next(itertools.islice(_lines(path), number, None))
    return f"{path}, line {line}", row[place]


def _lines(path: Path) -> Iterator[tuple[int, list[str], int]]:
    """Every row below the header with its line number and the number of columns: slow, to find what is wrong."""
    with _open(path) as file:
        reader = csv.reader(_decodable(path, file), strict=True)
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
            raise TableError(f"{path}, line {reader.line_num}: {error}; are quotation marks closed?") from error


def _decodable(path: Path, file: TextIO) -> Iterator[str]:
    lines = iter(file)
    for number in itertools.count(1):
        try:
            line = next(lines, None)
        except UnicodeDecodeError as error:
            raise TableError(f"{path}: not a UTF-8 text file ({error.reason} after line {number - 1}).") from error
        if line is None:
            return
        yield line


def _open(path: Path) -> TextIO:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", newline="", encoding="utf-8-sig")
    return path.open(newline="", encoding="utf-8-sig")


# Parquet -------------------------------------------------------------------------------------------------------------


def _parquet(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise TableError(f"{path}: parquet files need the package pyarrow: install certivote[parquet].") from error
    return pyarrow.parquet.ParquetFile(path)


def _read_parquet(path: Path, names: list[str], kept: list[str], target: str) -> tuple[dict[str, Any], NDArray[Any]]:
    import pandas as pd

    file = _parquet(path)
    if not file.metadata.num_rows:
        raise TableError(f"{path}: there are no rows.")
    written = dict(zip(names, file.schema_arrow.names, strict=True))

    def read(name: str) -> Any:
        return file.read([written[name]]).to_pandas(date_as_object=False).iloc[:, 0]

    columns: dict[str, Any] = {}
    for name in kept:
        column = read(name)
        if column.dtype.kind in "iuf":
            columns[name] = column.to_numpy(dtype=float)
            _check_finite(
                columns[name],
                name,
                lambda row, column=column: (f"{path}, row {row + 1}", str(column.iloc[row])),  # type: ignore[misc]
            )
        elif column.dtype.kind == "M":
            columns[name] = column
        else:
            try:
                columns[name] = pd.Categorical.from_codes(*coded(column))
            except TypeError:
                kind = file.schema_arrow.field(written[name]).type
                raise TableError(
                    f"{path}: column {name!r} holds values of type {kind}, which are neither numbers nor text; "
                    f"leave it out by --drop {name}."
                ) from None
    return columns, _labels(path, *coded(read(target)), target, lambda row: f"{path}, row {row + 1}")


# Both ----------------------------------------------------------------------------------------------------------------


def _check_finite(values: NDArray[np.float64], name: str, cell: Callable[[int], tuple[str, str]]) -> None:
    wrong = np.flatnonzero(np.isinf(values))
    if len(wrong):
        where, text = cell(int(wrong[0]))
        raise TableError(f"{where}: column {name!r} holds {text!r}; only finite numbers can be used.")


def _labels(
    path: Path, codes: NDArray[np.integer], texts: list[str], target: str, where: Callable[[int], str]
) -> NDArray[Any]:
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise TableError(
            f"{where(int(missing[0]))}: the target {target!r} is empty. "
            "Remove such rows only if they are missing at random."
        )
    if len(texts) > max(_CLASSES, len(codes) / 2):
        raise TableError(
            f"{path}: the target {target!r} has {len(texts):,} different values in {len(codes):,} rows; a vote chooses "
            "among classes. Is another column meant, or should numbers be cut into ranges first?"
        )
    return np.array(texts)[codes]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What can go wrong with a file, as one sentence."""
    try:
        yield
    except TableError:
        raise
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: not a UTF-8 text file ({error.reason}).") from error
    except (gzip.BadGzipFile, EOFError) as error:
        raise TableError(f"{path}: not a gzip file, or cut off ({error}).") from error
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}.") from error
    except ValueError as error:
        if not is_parquet(path):
            raise
        raise TableError(f"{path}: not a parquet file, or damaged ({str(error).splitlines()[0]}).") from error

"""Digests of rows: what ties a certificate to the data it was made from.

They are canonical in values. A number has the digest of that number whether it stands in a list, an array of float32, a
nullable column or an Arrow table; a text, a date and a missing value have theirs. So the same table has the same digest
whatever holds it.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from numbers import Number
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.frames import as_frame
from certivote.maths.tree_digest import Piece, join_pieces, make_piece

_CHUNK = 1 << 20
"""Values that are laid out for digests at a time."""
_EXACT = 1 << 53
"""Whole numbers below it are floats; larger ones may lie between two."""
_NUMBER = b"\xff" * 8
"""What follows a number in a cell of 16 bytes. In a moment, fewer than 2^47 nanoseconds of a day stand there."""
_EPOCH = date(1970, 1, 1).toordinal()


def part_digest(keys: Sequence[bytes], y: NDArray[Any], rows: NDArray[np.intp]) -> str:
    """A digest of some rows with their labels, in the order given; ``keys`` are the :func:`row_keys` of all rows."""
    return join_pieces([row_piece([keys[row] for row in rows.tolist()], y[rows])])


def data_digest(rows: str, beside: Mapping[str, Any]) -> str:
    """A digest of all that losses are computed from, in the order given.

    Parameters
    ----------
    rows : str
        Digest of all rows, or of all answers, with their labels.
    beside : mapping of str to column
        What else belongs to the rows, such as groups or times.

    Examples
    --------
    >>> data_digest("tree:ab", {"groups": [7, 8]}) == data_digest("tree:ab", {"groups": np.array([7.0, 8.0])})
    True
    >>> data_digest("tree:ab", {"groups": [7, 8]}) == data_digest("tree:ab", {"groups": [8, 7]})
    False
    """
    digests = [("rows", rows)]
    for name, values in sorted(beside.items()):
        digests.append((name, join_pieces([make_piece(name.encode(), _cells(values).content)])))
    return "data:" + hashlib.sha256(repr(digests).encode()).hexdigest()


def row_piece(keys: Sequence[bytes], y: NDArray[Any], first: int = 0) -> Piece:
    """What rows with these keys and labels contribute to their digest, if the first of them has this number.

    Rows of one part are numbered from 0 in the order of the table. Pieces of consecutive rows are joined by
    :func:`~certivote.maths.tree_digest.join_pieces`.
    """
    contents = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, 16)
    return make_piece(b"rows", np.concatenate([contents, _cells(y).content], axis=1), first)


def as_rows(X: Any) -> Any:
    """Rows that can be taken some at a time: frames become those of pandas, and lists an array.

    In it, numbers that stand beside text stay such.

    Examples
    --------
    >>> as_rows([[1, "a"], [2, None]]).tolist()
    [[1, 'a'], [2, None]]
    """
    X = as_frame(X)
    if hasattr(X, "iloc") or hasattr(X, "tocsr"):
        return X
    rows = np.asarray(X)
    return np.asarray(X, dtype=object) if rows.dtype.kind in "US" and not hasattr(X, "dtype") else rows


def rows_digest(X: Any) -> int:
    """A number that stands for these rows in this order."""
    return int.from_bytes(_digest(b"".join(row_keys(X))), "big")


def row_keys(X: Any) -> list[bytes]:
    """A digest of each row: rows with equal values have equal keys, and others in practice never.

    Numbers are compared as float64, truth values as 0 and 1, moments in UTC, and all missing values are one. Text is
    never a number: the text "1" has another key. Rows of a sparse matrix have keys of their own kind.
    """
    X = as_rows(X)
    places = X.tocsr() if scipy.sparse.issparse(X) else getattr(X, "iloc", X)
    n_rows, *shape = np.shape(X)
    step = max(_CHUNK // max(math.prod(shape), 1), 1)
    return [key for start in range(0, n_rows, step) for key in _keys(places[start : start + step])]


def _keys(rows: Any) -> list[bytes]:
    if scipy.sparse.issparse(rows):
        return _sparse_keys(rows)
    numbers = _numbers(rows)
    if numbers is not None:
        return [_digest(row) for row in numbers]
    columns = [_cells(column) for column in _columns(rows)]
    plain = np.all([column.is_number for column in columns], axis=0)
    numbers = np.stack([column.numbers for column in columns], axis=1)
    contents = np.concatenate([column.content for column in columns], axis=1)
    # A row of numbers has one key, whatever stands in the rows around it.
    return [
        _digest(number if is_plain else content, b"" if is_plain else b"cells")
        for is_plain, number, content in zip(plain.tolist(), numbers, contents, strict=True)
    ]


def _sparse_keys(rows: Any) -> list[bytes]:
    matrix = scipy.sparse.csr_array(rows, dtype=float, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.data[np.isnan(matrix.data)] = np.nan
    columns = matrix.indices.astype(np.int64)
    bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    return [_digest(columns[a:b].tobytes() + matrix.data[a:b].tobytes(), b"sparse") for a, b in bounds]


def _numbers(rows: Any) -> NDArray[np.float64] | None:
    """Rows as a table of floats; None if not all of them are numbers that floats can hold."""
    if hasattr(rows, "iloc"):
        dtypes = list(rows.dtypes) if rows.ndim == 2 else [rows.dtype]
        if not all(_is_numeric(dtype) for dtype in dtypes):
            return None
        values = _flat(rows.to_numpy(dtype=float, na_value=np.nan))
        whole = values[:, [dtype.kind in "iu" for dtype in dtypes]]
    else:
        if not _is_numeric(rows.dtype):
            return None
        values = _flat(rows).astype(float)
        whole = values if rows.dtype.kind in "iu" else values[:, :0]
    return None if np.any(np.abs(whole) >= _EXACT) else _canonical(values)


def _flat(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows of one dimension each."""
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))


def _is_numeric(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "biuf" and getattr(dtype, "itemsize", 8) <= 8


def _canonical(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Floats with one zero and one missing value."""
    return np.ascontiguousarray(np.where(np.isnan(values), np.nan, values + 0.0))


def _columns(rows: Any) -> list[Any]:
    if hasattr(rows, "iloc"):
        return [rows.iloc[:, place] for place in range(rows.shape[1])] if rows.ndim == 2 else [rows]
    return list(_flat(rows).T)


@dataclass(frozen=True)
class _Cells:
    """The values of a column: which are numbers, these, and 16 bytes for each value."""

    is_number: NDArray[np.bool_]
    numbers: NDArray[np.float64]
    content: NDArray[np.uint8]

    @classmethod
    def of(cls, numbers: NDArray[np.float64]) -> "_Cells":
        """Those of a column of numbers."""
        content = np.empty((len(numbers), 16), dtype=np.uint8)
        content[:, :8] = _canonical(numbers).view(np.uint8).reshape(-1, 8)
        content[:, 8:] = np.frombuffer(_NUMBER, np.uint8)
        return cls(np.ones(len(numbers), dtype=bool), _canonical(numbers), content)

    def at(self, places: NDArray[np.intp]) -> "_Cells":
        return _Cells(self.is_number[places], self.numbers[places], self.content[places])


def _cells(column: Any) -> _Cells:
    """The cells of a column, whatever holds it."""
    import pandas as pd

    if isinstance(column, list | tuple):  # an array would make text of numbers that stand beside text
        held = np.empty(len(column), dtype=object)
        held[:] = column
        column = held
    numbers = _numbers(column)
    if numbers is not None:
        return _Cells.of(numbers[:, 0])
    # Texts stay what they are: pandas may know another type for text, which cannot hold all of it.
    as_it_is = isinstance(column, np.ndarray) and column.dtype.kind in "OU"
    column = pd.Series(column, dtype=object if as_it_is else None)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "M":
        return _moments(column.to_numpy())
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, kept = column.cat.codes.to_numpy(), column.cat.categories
    else:
        try:
            codes, kept = pd.factorize(column)
        except (TypeError, UnicodeEncodeError):  # lists, or text that no file could hold: pandas cannot look them up
            codes, kept = np.where(column.isna(), -1, np.arange(len(column))), column
    found = [_cell(value) for value in kept.tolist()]
    is_number = np.array([*(isinstance(each, float) for each in found), True])
    table = _Cells.of(np.array([*(each if isinstance(each, float) else 0.0 for each in found), np.nan]))
    texts = b"".join(each for each in found if isinstance(each, bytes))
    table.content[~is_number] = np.frombuffer(texts, np.uint8).reshape(-1, 16)
    # The code -1 of a missing value finds the last place.
    return _Cells(is_number, np.where(is_number, table.numbers, 0.0), table.content).at(codes)


def _moments(values: NDArray[Any]) -> _Cells:
    """Days since 1970 and nanoseconds of the day: pandas keeps moments in other units from version to version."""
    missing = np.isnat(values)
    days = values.astype("datetime64[D]")
    moments = np.stack([days.view(np.int64), (values - days).astype("timedelta64[ns]").view(np.int64)], axis=1)
    found = _Cells.of(np.full(len(values), np.nan))
    found.content[~missing] = moments.view(np.uint8).reshape(-1, 16)[~missing]
    return _Cells(missing, found.numbers, found.content)


def _cell(value: Any) -> float | bytes:
    """A number that is a float; or 16 bytes that stand for another value."""
    if isinstance(value, str):
        return _digest(value.encode("utf-8", "surrogatepass"), b"text")
    if isinstance(value, np.datetime64):
        return _moments(np.array([value])).content[0].tobytes()
    if isinstance(value, np.timedelta64):
        import pandas as pd

        value = pd.Timedelta(value)
    if isinstance(value, np.generic):  # numpy would compare large integers as floats
        value = value.item()
    if isinstance(value, timedelta):
        whole = (value.days * 86_400 + value.seconds) * 10**6 + value.microseconds
        return _digest(str(whole * 1000 + getattr(value, "nanoseconds", 0)).encode(), b"duration")
    if isinstance(value, date):  # datetimes and timestamps are dates too
        return _moment(value)
    if isinstance(value, Number | np.generic):
        try:
            number = float(cast(float, value))
            if number == value or number != number:
                return number
        except (ArithmeticError, TypeError, ValueError):
            pass
    if isinstance(value, list | tuple | np.ndarray):  # the same for all, as files of one table are read in many ways
        held = value if np.ndim(value) == 1 and isinstance(value, np.ndarray) else list(value)
        return _digest(_cells(held).content.tobytes(), b"list")
    exact = f"{value:x}" if isinstance(value, int) else repr(value)  # long integers have no decimal text
    return _digest(exact.encode("utf-8", "surrogatepass"), type(value).__name__.encode()[:16])


def _moment(value: date) -> bytes:
    if not isinstance(value, datetime):
        return np.array([value.toordinal() - _EPOCH, 0], dtype=np.int64).tobytes()
    # In whole seconds: the first and the last moment of a calendar have no other time zone.
    away = value.utcoffset() or timedelta()
    seconds = (value.hour * 60 + value.minute) * 60 + value.second - away.days * 86_400 - away.seconds
    days, seconds = divmod((value.toordinal() - _EPOCH) * 86_400 + seconds, 86_400)
    nanoseconds = (seconds * 10**6 + value.microsecond) * 1000 + getattr(value, "nanosecond", 0)
    return np.array([days, nanoseconds], dtype=np.int64).tobytes()


def _digest(content: Any, kind: bytes = b"") -> bytes:
    return hashlib.blake2b(content, digest_size=16, person=kind).digest()

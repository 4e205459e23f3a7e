"""Witnesses: keyed digests of some rows, by which they are recognised later, one by one and wherever they stand.

What holds the values of a row makes no difference. Truth values and texts that read as numbers are numbers, moments are
in UTC, all missing values are one. Numbers that are not whole are rounded to nearly four digits, so that a row is the
same after it was in single precision or in a file with six digits, and after a pipeline has scaled it. Labels have no
part.
"""

import datetime
import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

MOST_WITNESSES = 10_000
"""Training rows that a model keeps witnesses of, and certification rows."""
_CELLS = 1 << 22
"""Cells that are laid out at a time."""
_SMALLEST = 1e-8
"""Numbers below it count as zero, as otherwise any noise would make another number of a zero."""
_HALF = np.uint32(1 << 10)
"""Half of the last place that is kept of numbers that are not whole: 12 of 23 bits, or nearly four digits."""
_MISSING = 0x7FC00000
"""A missing value: no number in single precision."""

Digests = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Keyed digests of rows that trained a vote and of rows that certified it, in a random order.

    Whoever has them can test whether a row that they know, or guess, was among these. The key is no secret: it keeps
    witnesses of one model from being compared with those of another.

    Attributes
    ----------
    key : str
        Of 32 hexadecimal digits.
    train, certify : array of uint64
        At most 10,000 each; empty where there are no such rows, or where they were not at hand.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> witnesses = Witnesses.of(X, np.arange(3), np.arange(3, 6), np.random.default_rng(0))
    >>> np.isin(witnesses.digests(X[::-1].astype(np.float32)), witnesses.train).tolist()
    [False, False, False, True, True, True]
    """

    key: str
    train: Digests
    certify: Digests

    @classmethod
    def of(cls, X: Any, train: NDArray[np.intp], certify: NDArray[np.intp], rng: np.random.Generator) -> "Witnesses":
        """Of some of these rows, at random.

        Parameters
        ----------
        X : array, CSR matrix or data frame
            All rows.
        train, certify : array of int
            The numbers of those that train and of those that certify.
        rng : Generator
            Of a stream that nothing else uses.
        """
        from sklearn.utils import _safe_indexing

        key = rng.bytes(16).hex()
        chosen = [rng.permutation(rows)[:MOST_WITNESSES] for rows in (train, certify)]
        return cls(key, *(value_digests(_safe_indexing(X, rows), key) for rows in chosen))

    def digests(self, X: Any) -> Digests:
        """Digests of rows, to be compared with these."""
        return value_digests(X, self.key)

    def check(self) -> None:
        """Raise a ValueError unless these can be witnesses: those from a file are asked."""
        if not isinstance(self.key, str) or len(self.key) != 32 or set(self.key) - set("0123456789abcdef"):
            raise ValueError("the key of its witnesses is not one of 32 hexadecimal digits")
        for digests in (self.train, self.certify):
            if digests.dtype != np.uint64 or digests.ndim != 1 or len(digests) > MOST_WITNESSES:
                raise ValueError(f"its witnesses are not at most {MOST_WITNESSES:,} digests of 8 bytes")


def value_digests(X: Any, key: str = "") -> Digests:
    """A digest of 8 bytes for each row, of the values alone: equal rows have equal ones, others in practice never.

    Parameters
    ----------
    X : array, sparse matrix or data frame
    key : str
        Of hexadecimal digits.

    Examples
    --------
    >>> import pandas as pd
    >>> same = value_digests(np.array([[1.0, 0.1]])), value_digests(pd.DataFrame({"a": ["1"], "b": [np.float32(0.1)]}))
    >>> bool(same[0] == same[1])
    True
    """
    if scipy.sparse.issparse(X):
        X = scipy.sparse.csr_array(X)
    elif not hasattr(X, "iloc"):
        X = np.asarray(X)
        X = X if X.ndim == 2 else X.reshape(len(X), -1)
    at_once = max(1, _CELLS // max(1, X.shape[1] if len(X.shape) > 1 else 1))
    places, secret = getattr(X, "iloc", X), bytes.fromhex(key)
    found = [_digests(places[start : start + at_once], secret) for start in range(0, X.shape[0], at_once)]
    return np.concatenate([np.empty(0, dtype=np.uint64), *found])


def _digests(rows: Any, key: bytes) -> Digests:
    """Of a row its cells that are not zero, with their columns: so a sparse matrix has the digests of a dense one."""
    if scipy.sparse.issparse(rows):
        table = scipy.sparse.coo_array(rows)
        table.sum_duplicates()
        codes = _numbers(table.data)
        order = np.lexsort((table.coords[1], table.coords[0]))
        order = order[codes[order] != 0]
        at, columns, codes = table.coords[0][order], table.coords[1][order], codes[order]
    else:
        cells = _cells(rows)
        at, columns = np.nonzero(cells)
        codes = cells[at, columns]
    content = np.stack([columns.astype("<u4"), codes.astype("<u4")], axis=1).tobytes()
    ends = 8 * np.searchsorted(at, np.arange(rows.shape[0] + 1))
    digests = b"".join(
        hashlib.blake2b(content[start:end], digest_size=8, key=key).digest()
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _cells(rows: Any) -> NDArray[np.uint32]:
    """What stands in each cell, by its value."""
    if not hasattr(rows, "iloc"):
        if rows.dtype.kind in "biuf":
            return _numbers(rows)
        columns = list(rows.T)
    else:
        columns = [rows.iloc[:, place] for place in range(rows.shape[1])] if rows.ndim == 2 else [rows]
    return np.stack([_column(column) for column in columns], axis=1)


def _column(column: Any) -> NDArray[np.uint32]:
    import pandas as pd

    if getattr(column.dtype, "kind", "O") in "biuf":
        return _numbers(column.to_numpy(dtype=float, na_value=np.nan) if hasattr(column, "iloc") else column)
    if column.dtype.kind == "S":
        column = column.astype(object)
    try:
        codes, distinct = pd.factorize(column)
    except TypeError:  # lists and other values that cannot be compared
        codes, distinct = pd.factorize(np.array([repr(value) for value in column], dtype=object))
    values = list(distinct)
    numbers = np.array([_number(value) for value in values], dtype=float)
    # The code -1 of a missing value finds the last place.
    found = np.append(_numbers(numbers), np.uint32(_MISSING))
    for place in np.flatnonzero(np.isnan(numbers)).tolist():
        found[place] = _text(values[place])
    return found[codes]


def _numbers(values: Any) -> NDArray[np.uint32]:
    """Numbers as bits of single precision; those that are not whole are rounded further. Zero has no bits."""
    with np.errstate(over="ignore"):
        single = np.asarray(values).astype(np.float32)
    bits = np.where(np.abs(single) < _SMALLEST, np.float32(0.0), single).view(np.uint32)
    bits = np.where(single == np.rint(single), bits, (bits + _HALF) & ~(2 * _HALF - 1))
    return np.where(np.isnan(single), np.uint32(_MISSING), bits)


def _number(value: Any) -> float:
    """The number that a value is, or that its text reads as; NaN if it is another text, or too large."""
    if isinstance(value, np.timedelta64 | np.datetime64 | np.complexfloating) or (
        isinstance(value, str) and "_" in value
    ):
        return np.nan
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return np.nan


def _text(value: Any) -> int:
    """A digest of what is no number."""
    text = _moment(value) if isinstance(value, datetime.date | np.datetime64) else str(value).strip()
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=4).digest(), "big") or 1


def _moment(value: Any) -> str:
    """A date as it is usually written, with the time of the day if it is not midnight, in UTC."""
    import pandas as pd

    try:
        moment = pd.Timestamp(value)
    except (OverflowError, ValueError):  # years that pandas does not know
        return str(value)
    moment = moment.tz_convert("UTC").tz_localize(None) if moment.tzinfo is not None else moment
    return moment.isoformat(sep=" ").removesuffix(" 00:00:00")

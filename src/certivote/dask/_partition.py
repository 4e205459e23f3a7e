"""One partition of a table, as a worker has it: checked, and read the same in every pass."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from certivote.certificate import row_keys
from certivote.pipeline import NumberedRows, check_labelled, trains
from certivote.voters import VoterSet


@dataclass(frozen=True)
class Layout:
    """What all partitions have in common: columns and their types, as texts, and the types of the labels."""

    columns: tuple[str, ...] | None
    kinds: tuple[str, ...]
    label: str

    @classmethod
    def of(cls, X: Any, y: Any) -> "Layout":
        """That of a partition."""
        if hasattr(X, "columns"):
            kinds = tuple(_kind(dtype) for dtype in X.dtypes)
            return cls(tuple(map(str, X.columns)), kinds, _kind(getattr(y, "dtype", None)))
        return cls(None, (_kind(X.dtype),) * np.shape(X)[1], _kind(getattr(y, "dtype", None)))

    def refuse(self, place: int, other: "Layout") -> None:
        """Raise a ValueError that says in what another partition differs."""
        if self == other:
            return
        if self.columns != other.columns or len(self.kinds) != len(other.kinds):
            told = f"other columns than the first: {_shown(other)} instead of {_shown(self)}"
        elif self.label != other.label:
            told = f"labels of type {other.label}, and the first has {self.label}"
        else:
            at = next(at for at, (one, two) in enumerate(zip(self.kinds, other.kinds, strict=True)) if one != two)
            name = at if self.columns is None else repr(self.columns[at])
            told = f"column {name} of type {other.kinds[at]}, and the first has {self.kinds[at]}"
        raise ValueError(f"Partition {place} has {told}; give all partitions the same columns and types.")


def _kind(dtype: Any) -> str:
    # Of categories this does not say which there are: they may differ from partition to partition.
    return str(dtype)


def _shown(layout: Layout) -> str:
    if layout.columns is None:
        return f"{len(layout.kinds)}"
    return ", ".join(map(repr, layout.columns[:10])) + (", ..." if len(layout.columns) > 10 else "")


@dataclass(frozen=True)
class Part:
    """What a worker is told of the partition that it reads.

    Attributes
    ----------
    place : int
        Number of the partition.
    n_rows : int or None
        How many rows it had in the first pass; None in the first.
    rows : bytes
        The :func:`fingerprint` of its rows in the first pass.
    layout : Layout or None
        What the first partition with rows is like.
    first : int
        Number of its first row in the table.
    rule : NumberedRows or None
        Which rows train, and which certify.
    classes : array
        All classes.
    voters : VoterSet
        How rows are checked.
    seen : Features or None
        Of the first pass.
    """

    place: int
    n_rows: int | None
    voters: VoterSet
    rows: bytes = b""
    layout: Layout | None = None
    first: int = 0
    rule: NumberedRows | None = None
    classes: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    seen: Any = None


@dataclass(frozen=True)
class Target:
    """In place of labels: that they are this column of the table, whose other columns are the rows."""

    name: Any


@dataclass(frozen=True)
class Rows:
    """The rows of a partition as voters get them, their labels, and which of them train."""

    X: Any
    y: NDArray[Any]
    codes: NDArray[np.intp]
    train: NDArray[np.intp]
    certify: NDArray[np.intp]

    def take(self, places: NDArray[np.intp]) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
        """Rows, labels and codes of some."""
        return _safe_indexing(self.X, places), self.y[places], self.codes[places]


@contextmanager
def working_on(place: int) -> Iterator[None]:
    """Say which partition an error is about; and stay on the core of this worker, which may start no processes."""
    try:
        with joblib.parallel_config("threading", n_jobs=1):
            yield
    except (TypeError, ValueError) as error:
        if str(error).startswith("Partition "):
            raise
        raise ValueError(f"Partition {place} cannot be used: {error}") from error


def apart(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows and labels, where these may be a column of the rows."""
    return (X.drop(columns=[y.name]), X[y.name]) if isinstance(y, Target) else (X, y)


def check(part: Part, X: Any, y: Any) -> tuple[Any, NDArray[Any], Any]:
    """Rows and labels as voters get them, and their features."""
    X, y = apart(X, y)
    if part.n_rows is not None and part.n_rows != len(X):
        raise ValueError(
            f"Partition {part.place} had {part.n_rows:,} rows when it was first read, and has {len(X):,} now: nothing "
            "is certified on rows that change."
        )
    if len(X) != len(y):
        raise ValueError(f"Partition {part.place} has {len(X):,} rows and {len(y):,} labels.")
    if part.layout is not None and len(X):
        part.layout.refuse(part.place, Layout.of(X, y))
    if not len(X):
        return X, np.asarray(y), None
    return check_labelled(part.voters, X, y, part.seen)


def same_rows(part: Part, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    """Rows and labels as voters get them, if they are those of the first pass."""
    X, y, _ = check(part, X, y)
    if len(y) and fingerprint(X, y) != part.rows:
        # Rows are divided by their numbers: in another order, some that trained the voters would certify them.
        raise ValueError(
            f"Partition {part.place} has other rows, or the same in another order, than when it was first read: store "
            "the table first, or make it by steps that always give the same rows in the same order."
        )
    return X, y


def read(part: Part, X: Any, y: Any) -> Rows | None:
    """The rows of a partition; None if it has none."""
    X, y = same_rows(part, X, y)
    if not len(y):
        return None
    assert part.rule is not None
    codes = np.minimum(np.searchsorted(part.classes, y), len(part.classes) - 1)
    if np.any(part.classes[codes] != y):
        raise ValueError(f"Partition {part.place} has other labels than when it was first read.")
    mask = trains(part.rule.key, part.first, len(y), part.rule.share)
    return Rows(X, y, codes, np.flatnonzero(mask), np.flatnonzero(~mask))


def fingerprint(X: Any, y: NDArray[Any]) -> bytes:
    """What tells rows with their labels, in this order, from others."""
    digest = hashlib.blake2b(pd.util.hash_array(y).tobytes(), digest_size=16)
    if hasattr(X, "iloc"):
        try:
            tables = [pd.util.hash_pandas_object(X, index=False).to_numpy()]
        except TypeError:  # lists and other values that cannot be hashed
            tables = [np.frombuffer(b"".join(row_keys(X)), np.uint8)]
    elif hasattr(X, "tocsr"):
        matrix = X.tocsr()
        tables = [matrix.data, matrix.indices, matrix.indptr]
    else:
        tables = [X if X.dtype.kind in "biuf" else np.frombuffer(b"".join(row_keys(X)), np.uint8)]
    for table in tables:
        digest.update(np.ascontiguousarray(table).reshape(-1).view(np.uint8).data)
    return digest.digest()

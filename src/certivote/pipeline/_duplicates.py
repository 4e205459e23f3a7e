"""Rows that occur more than once: in one table, or among the rows that a given model was trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from certivote.certificate import are_own_rows, part_digest, row_keys
from certivote.pipeline._division import PartRows

COMPARED_ROWS = 20_000_000
"""Rows among which duplicates are counted, at most."""
Duplicates = tuple[int | None, int | None]


def count_duplicates(keys: Sequence[bytes], part: PartRows) -> Duplicates:
    """Count certification rows that equal an earlier one, and those that equal a training row.

    ``keys`` are the :func:`~certivote.certificate.row_keys` of all rows. Among more than 20 million they are not
    counted.

    Duplicates are natural in discrete data and are never dropped; where they come from oversampling or from repeated
    entities, the certificate is void, so it states how many there are.
    """
    if len(part.certify) + len(part.train) > COMPARED_ROWS:
        return None, None
    certify = [keys[i] for i in part.certify]
    train = {keys[i] for i in part.train}
    return len(certify) - len(set(certify)), sum(key in train for key in certify)


@dataclass(frozen=True)
class TrainingOverlap:
    """How many training rows there are, their digest, and how many certification rows occur among them."""

    n: int
    digest: str
    duplicates: int

    @classmethod
    def of(cls, X: Any, training: Any) -> "TrainingOverlap":
        """Compare rows by their values: columns by name, numbers whatever their type.

        Raises
        ------
        ValueError
            If columns are not of one kind in both, or all rows are training rows and chance does not explain it.
        """
        keys = row_keys(training)
        nobody = np.full(len(keys), "", dtype=object)
        aligned = _aligned(training, X)
        _check_kinds(aligned, X)
        own, theirs = row_keys(_comparable(X, aligned)), row_keys(_comparable(aligned, X))
        seen = set(theirs)
        again = sum(key in seen for key in own)
        if again == len(own) and are_own_rows(own, theirs):
            raise ValueError(
                f"training has all {again:,} rows of X, more than chance explains. A certificate needs rows that the "
                "model has never seen."
            )
        return cls(len(keys), part_digest(keys, nobody, np.arange(len(keys))), again)


def _aligned(training: Any, X: Any) -> Any:
    """The columns that the certification rows have, in their order."""
    if hasattr(training, "columns") and hasattr(X, "columns"):
        absent = [str(name) for name in X.columns if name not in training.columns]
        if absent:
            raise ValueError(
                f"training must have the columns of X, to be compared with it; it lacks {', '.join(absent[:5])}."
            )
        return training[list(X.columns)]
    if np.shape(training)[1:] != np.shape(X)[1:]:
        raise ValueError(
            f"training must have the columns of X, to be compared with it; got shape {np.shape(training)} beside "
            f"{np.shape(X)}."
        )
    return training


_WORDS = {
    "numbers": {"boolean", "complex", "decimal", "floating", "integer", "integer-na", "mixed-integer-float"},
    "text": {"bytes", "string"},
    "dates": {"date", "datetime", "datetime64"},
}
"""Kinds of values, none of which ever equals one of another kind, and what pandas calls them."""


def _check_kinds(training: Any, X: Any) -> None:
    """Refuse a column that has values of one kind here and of another there: no row would ever equal another."""
    kinds = _kinds(X), _kinds(training)
    for name, own, other in zip(getattr(X, "columns", range(len(kinds[0]))), *kinds, strict=True):
        if own and other and own != other:
            raise ValueError(
                f"training has {other} in the column {name!r:.80}, and X has {own}: give it the same types as X, so "
                "that equal rows are recognised."
            )


def _kinds(table: Any) -> list[str]:
    """The kind of the values of each column; empty where they are of several kinds, or all missing."""
    if sparse.issparse(table):
        return ["numbers"] * table.shape[1]
    columns = pd.DataFrame(table.reshape(len(table), -1) if isinstance(table, np.ndarray) else table)
    held = [columns.iloc[:, place] for place in range(columns.shape[1])]
    found = [
        pd.api.types.infer_dtype(column.cat.categories if hasattr(column, "cat") else column, skipna=True)
        for column in held
    ]
    return [next((kind for kind, words in _WORDS.items() if each in words), "") for each in found]


def _comparable(rows: Any, others: Any) -> Any:
    """Numbers of one type: single precision where either table has that, since more cannot be had back."""
    if hasattr(rows, "columns") and hasattr(others, "columns"):
        pairs = [(rows.iloc[:, place], others.iloc[:, place]) for place in range(rows.shape[1])]
        return pd.concat([_numbers(column, other) for column, other in pairs], axis=1)
    kind: Any = np.float32 if np.float32 in {*_types(rows), *_types(others)} else np.float64
    if sparse.issparse(rows):
        numbers = rows.astype(kind).astype(np.float64)
        return numbers if sparse.issparse(others) else numbers.toarray()
    values = np.asarray(rows)
    return values.astype(kind).astype(np.float64) if values.dtype.kind in "biuf" else values


def _numbers(column: Any, other: Any) -> Any:
    """A column of numbers as floats, with NaN where they are missing; another one as it is."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return column
    kind: Any = np.float32 if np.float32 in {*_types(column), *_types(other)} else np.float64
    values = column.to_numpy(dtype=kind, na_value=np.nan).astype(np.float64)
    return pd.Series(values, index=column.index, name=column.name)


def _types(table: Any) -> set[Any]:
    kinds = table.dtypes if hasattr(table, "columns") else [getattr(table, "dtype", None)]
    return {kind.type for kind in kinds if isinstance(kind, np.dtype)}

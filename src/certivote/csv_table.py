"""Reading a CSV file into features and labels, with errors that name the line and the column."""

import csv
import difflib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CsvTable", "TableError", "read_csv"]

_MISSING = frozenset({"", "na", "nan", "null", "none", "?"})


class TableError(ValueError):
    """The file cannot be used as it is; the message says where and why."""


@dataclass(frozen=True)
class CsvTable:
    """Features as numbers (missing ones NaN), labels as text, and the features' names."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    names: list[str]


def read_csv(path: Path, target: str) -> CsvTable:
    """Read a CSV with a header line; the column ``target`` holds the labels and all others must be numeric."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, rows = _rows(path, csv.reader(file))
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: not a UTF-8 text file ({error.reason} at byte {error.start}).") from error
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}.") from error
    if target not in header:
        close = difflib.get_close_matches(target, header, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"the columns are {', '.join(header[:20])}."
        raise TableError(f"{path}: there is no column {target!r}; {hint}")
    if len(header) < 2:
        raise TableError(f"{path}: there is no column besides the target {target!r}.")
    place = header.index(target)
    labels = []
    for line, row in rows:
        if row[place].strip().lower() in _MISSING:
            raise TableError(
                f"{path}, line {line}: the target {target!r} is empty. "
                "Remove such rows only if they are missing at random."
            )
        labels.append(row[place].strip())
    features = [i for i in range(len(header)) if i != place]
    X = np.empty((len(rows), len(features)))
    for k, i in enumerate(features):
        X[:, k] = [_number(path, line, header[i], row[i]) for line, row in rows]
    return CsvTable(X, np.array(labels), [header[i] for i in features])


def _rows(path: Path, reader: Any) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        header = [name.strip() for name in next(reader, [])]
        if not header:
            raise TableError(f"{path}: the file is empty.")
        if len(set(header)) < len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise TableError(f"{path}: the column {twice!r} occurs more than once in the header.")
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise TableError(f"{path}, line {reader.line_num}: {error}.") from error
    for line, row in rows:
        if len(row) != len(header):
            raise TableError(f"{path}, line {line}: {len(row)} fields, but the header has {len(header)}.")
    if not rows:
        raise TableError(f"{path}: there are no rows below the header.")
    return header, rows


def _number(path: Path, line: int, column: str, text: str) -> float:
    if text.strip().lower() in _MISSING:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        raise TableError(
            f"{path}, line {line}: column {column!r} holds {text!r}, which is not a number. Encode it as numbers first."
        ) from None
    if not math.isfinite(value):
        raise TableError(f"{path}, line {line}: column {column!r} holds {text!r}; only finite numbers can be used.")
    return value

"""Tables of what happened after deployment: cases, what was answered, what they turned out to be, if that is known."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import one_spelling
from certivote.io._decimal_marks import COMMA
from certivote.io._side_columns import SideColumn, group_names
from certivote.io._table_files import TableError, TableFile
from certivote.io._tables import check_columns, column_names, read_columns, stream_text

_CHUNK = 50_000
"""Rows in memory at a time, where only their text is looked at."""


@dataclass(frozen=True)
class OutcomeTable:
    """What was read from a file.

    Attributes
    ----------
    X : pandas.DataFrame
        Features.
    digest : str
        The SHA-256 of the bytes that were read.
    known : array of bool
        Of each row, whether its true class is there; all where no column of true classes was asked for.
    truth, answers : array of str or None
        True classes and answers, as they are written; None where no such column was asked for.
    ids : array of str or None
        What identifies each row, if a column says so; every number in one spelling.
    contents : list of bytes
        What tells rows with other values from one another: a digest of all that is written in each, by values.
    groups : array of str or None
        What each row belongs to, as text.
    """

    X: Any
    digest: str
    known: NDArray[np.bool_]
    truth: NDArray[Any] | None = None
    answers: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    contents: list[bytes] = field(default_factory=list)
    groups: NDArray[Any] | None = None

    def take(self, rows: NDArray[Any]) -> "OutcomeTable":
        """Some of the rows."""

        def of(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[rows]

        contents = np.array(self.contents, dtype=object)[rows].tolist()
        columns = (of(self.truth), of(self.answers), of(self.ids))
        return OutcomeTable(self.X[rows], self.digest, self.known[rows], *columns, contents, of(self.groups))


def read_outcomes(
    source: Path | TableFile,
    truth: str | None = None,
    predicted: str | None = None,
    features: Sequence[str] | None = (),
    *,
    identity: str | None = None,
    group: str | None = None,
) -> OutcomeTable:
    r"""Read outcomes. Some may not be known yet, and there may be as few as one.

    Parameters
    ----------
    source : Path or TableFile
        As for :func:`read_table`.
    truth, predicted : str, optional
        Columns of true classes, which may be empty where they are not known yet, and of answers.
    features : sequence of str or None
        Other columns to take; None takes all that are nothing else.
    identity, group : str, optional
        Columns that identify rows, and say what they belong to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "outcomes.csv")
    ...     _ = path.write_text("case,outcome,label\n7,ill,ill\n8,,well\n")
    ...     read = read_outcomes(path, "outcome", "label", identity="case")
    >>> read.known.tolist(), read.take(read.known).ids.tolist()
    ([True, False], ['7'])
    """
    file = source if isinstance(source, TableFile) else TableFile(source)
    purposes = {"true classes": truth, "answers": predicted, "ids": identity, "groups": group}
    sides = [name for name in purposes.values() if name is not None]
    twice = next((name for name in sides if sides.count(name) > 1), None)
    if twice is not None:
        raise TableError(
            f"{file}: the column {twice!r} cannot be for two purposes: {', '.join(_named(purposes, twice))}."
        )
    names = column_names(file)
    check_columns(file, [*sides, *(features or ())], names)
    kept = [name for name in names if name and name not in sides] if features is None else list(features)
    X, read, digest = read_columns(file, kept, sides)
    n_rows = len(next(iter(read.values())).codes) if sides else len(X)
    for name, what in ((predicted, "the answer"), (identity, "the id")):
        if name is not None:
            read[name].check_complete(what)
    contents = list(_contents(file))
    if len(contents) != n_rows:
        raise TableError(f"{file}: the file was changed while it was read.")
    return OutcomeTable(
        X if kept else X.reindex(range(n_rows)),
        digest,
        np.ones(n_rows, dtype=bool) if truth is None else read[truth].codes >= 0,
        None if truth is None else _texts(read[truth]),
        None if predicted is None else _texts(read[predicted]),
        None if identity is None else _by_value(file, read[identity].texts)[read[identity].codes],
        contents,
        None if group is None else group_names(read[group]).to_numpy(),
    )


def _named(purposes: dict[str, str | None], name: str) -> list[str]:
    return [what for what, column in purposes.items() if column == name]


def _texts(column: SideColumn) -> NDArray[Any]:
    """Each row's text; None where it is missing."""
    return np.array([*column.texts, None], dtype=object)[column.codes]


def _by_value(file: TableFile, texts: Sequence[str]) -> NDArray[Any]:
    """Texts, each number among them in one spelling."""
    pointed = (text.replace(",", ".") if file.decimal == "," and COMMA.fullmatch(text) else text for text in texts)
    return np.array([*map(one_spelling, pointed), None], dtype=object)


def _contents(file: TableFile) -> Iterator[bytes]:
    """A digest of the values in each row, the same for any order of the columns and any way of writing a value."""
    import pandas as pd

    for chunk in stream_text(file, _CHUNK):
        columns = []
        for place in range(chunk.shape[1]):
            name = str(chunk.columns[place]).strip()
            codes, texts = pd.factorize(chunk.iloc[:, place].astype(str).to_numpy(dtype=object), use_na_sentinel=False)
            if not name and not any(texts):  # a separator at the end of every line makes such a column
                continue
            columns.append((name, _by_value(file, texts)[codes].tolist()))
        columns.sort()
        names = repr([name for name, _ in columns])
        for row in zip(*(values for _, values in columns), strict=True):
            yield hashlib.sha256(f"{names}{row!r}".encode("utf-8", "surrogatepass")).digest()[:16]

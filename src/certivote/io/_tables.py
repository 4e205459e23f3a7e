"""Tables in files, CSV or parquet: features and labels, with errors that name the line and the column.

A column is kept as numbers if every value of the file is one, otherwise as text. That is storage: what a column *is* is
decided by the training rows alone, see :class:`certivote.voters.ColumnEncoder`, to which the text of a number and the
number are the same.
"""

import difflib
import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from certivote.io._csv_tables import check_widths, csv_chunks, csv_names, named_or_filled, read_csv
from certivote.io._labels import true_and_predicted
from certivote.io._parquet_tables import parquet_file, read_typed
from certivote.io._side_columns import SideColumn, finite_numbers, group_names, target_labels, times
from certivote.io._table_files import TableError, TableFile
from certivote.io._workbooks import workbook_frame


@dataclass(frozen=True)
class Table:
    """What was read from a file.

    Attributes
    ----------
    X : pandas.DataFrame
        Features, in columns of float64, datetime64 and categories.
    y : pandas.Series
        Labels.
    digest : str
        The SHA-256 of the bytes that were read.
    groups : pandas.Series or None
        What each row belongs to, as text, if a column says so.
    order : pandas.Series or None
        When each row was taken, as numbers or dates, if a column says so.
    predicted : dict of str to pandas.Series
        Answers of models, by the names of their columns.
    scores : pandas.Series or None
        How sure the model is of each answer, if a column says so.
    """

    X: Any
    y: Any
    digest: str
    groups: Any = None
    order: Any = None
    predicted: dict[str, Any] = field(default_factory=dict)
    scores: Any = None


def column_names(source: Path | TableFile) -> list[str]:
    """The names in the header, in order; only columns of a CSV file may be without a name."""
    file = _file(source)
    with reading(file):
        written = _typed_names(file) if file.has_types else csv_names(file)
    names = [name.strip() for name in written]
    twice = next((name for name in names if names.count(name) > 1 and (name or file.has_types)), None)
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
    shown = ", ".join(filter(None, names[:20])) + (", ..." if len(names) > 20 else "")
    hint = "" if meant else f"; the columns are {shown}."
    if len(absent) == 1:
        raise TableError(f"{source}: there is no column {absent[0]!r}{hint or f'; {meant[absent[0]]}'}")
    listed = [f"{name!r} ({meant[name]})" if name in meant else repr(name) for name in absent]
    raise TableError(f"{source}: there are no columns {', '.join(listed[:-1])} and {listed[-1]}{hint or '.'}")


def read_table(
    source: Path | TableFile,
    target: str,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    *,
    group: str | None = None,
    time: str | None = None,
) -> Table:
    """Read features and labels.

    Parameters
    ----------
    source : Path or TableFile
        A CSV file with a header line, a parquet file or an Excel workbook; a path is one that is read without any
        options.
    target : str
        Column of the labels. They are text: ``1`` and ``1.0`` are two labels.
    drop : sequence of str
        Columns to leave out.
    features : sequence of str, optional
        The columns to take, in this order; by default all others, in the order of the file.
    group, time : str, optional
        Columns that say what each row belongs to, and when it was taken. They are no features, unless ``features`` has
        them.
    """
    file = _file(source)
    digest, names = _digest(file), column_names(file)
    sides = [name for name in (target, group, time) if name is not None]
    check_columns(file, [*sides, *drop, *(features or ())], names)
    if target in drop:
        raise TableError(f"{file}: the target {target!r} cannot be dropped.")
    _check_apart(file, ("target", target), ("group column", group), ("time column", time))
    kept = list(features or (name for name in _named(file, names) if name not in sides and name not in drop))
    if not kept:
        besides = f" and what is dropped ({', '.join(drop)})" if drop else ""
        others = f", the column {sides[1]!r}" if len(sides) > 1 else ""
        raise TableError(f"{file}: there is no column besides the target {target!r}{others}{besides}.")
    X, read = _read(file, digest, names, kept, sides)
    return Table(X, target_labels(read[target]), digest, *_units(read, group, time))


def read_predictions(
    source: Path | TableFile,
    truth: str,
    predicted: Sequence[str],
    features: Sequence[str] = (),
    *,
    group: str | None = None,
    time: str | None = None,
    score: str | None = None,
) -> Table:
    r"""Read true labels, and the answers of models that stand beside them.

    Parameters
    ----------
    source : Path or TableFile
        As for :func:`read_table`.
    truth : str
        Column of the true labels. Unlike those of :func:`read_table`, they are what their text stands for, so that
        answers can be compared with them: ``1`` and ``1.0`` are one.
    predicted : sequence of str
        Columns of answers.
    features : sequence of str
        Other columns to take.
    group, time : str, optional
        As for :func:`read_table`.
    score : str, optional
        Column of numbers that say how sure the model is of each answer.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "predictions.csv")
    ...     _ = path.write_text("outcome,label\n1,1.0\n0,1.0\n")
    ...     read = read_predictions(path, "outcome", ["label"])
    >>> (read.y == read.predicted["label"]).tolist()
    [True, False]
    """
    file = _file(source)
    digest, names = _digest(file), column_names(file)
    sides = [name for name in (truth, *predicted, group, time, score) if name is not None]
    check_columns(file, [*sides, *features], names)
    answered = [("column of answers", name) for name in predicted]
    others = ("group column", group), ("time column", time), ("column of scores", score)
    _check_apart(file, ("column of true classes", truth), *answered, *others)
    X, read = _read(file, digest, names, list(features), sides)
    y, answers = true_and_predicted(read[truth], [read[name] for name in predicted])
    scores = None if score is None else finite_numbers(read[score], "the score")
    return Table(X, y, digest, *_units(read, group, time), answers, scores)


def read_columns(
    file: TableFile, features: Sequence[str], sides: Sequence[str]
) -> tuple[Any, dict[str, SideColumn], str]:
    """Features as a frame, other columns as text, and the digest of what was read; the names are there."""
    digest = _digest(file)
    return *_read(file, digest, column_names(file), list(features), list(sides)), digest


def side_columns(source: Path | TableFile, wanted: Sequence[str]) -> dict[str, SideColumn]:
    """Some columns as text; each knows where in the file its values are."""
    file = _file(source)
    digest, names = _digest(file), column_names(file)
    check_columns(file, wanted, names)
    return _read(file, digest, names, [], list(wanted))[1]


def stream_text(source: Path | TableFile, n_rows: int) -> Iterator[Any]:
    """The whole table as frames of at most ``n_rows`` rows; values of a CSV file are the texts that are written there.

    Columns have the names of the file as they are written. Parquet columns keep their types.
    """
    file = _file(source)
    with reading(file):
        if file.is_workbook:
            frame = workbook_frame(file)
            for start in range(0, len(frame), n_rows):
                yield frame.iloc[start : start + n_rows].reset_index(drop=True)
            return
        if file.is_parquet:
            for batch in parquet_file(file).iter_batches(n_rows):
                yield batch.to_pandas(date_as_object=False)
            return
        checked = False
        for chunk in csv_chunks(file, n_rows, csv_names(file), dtype=str, na_filter=False):
            if not checked and (chunk.iloc[:, -1] == "").any():
                check_widths(file)
                checked = True
            yield chunk


def _typed_names(file: TableFile) -> list[str]:
    names = workbook_frame(file).columns if file.is_workbook else parquet_file(file).schema_arrow.names
    return [str(name) for name in names]


def _file(source: Path | TableFile) -> TableFile:
    return source if isinstance(source, TableFile) else TableFile(source)


def _digest(file: TableFile) -> str:
    with reading(file):
        return file.digest()


def _named(file: TableFile, names: list[str]) -> list[str]:
    with reading(file):
        return names if file.has_types else named_or_filled(file, names)


def _check_apart(file: TableFile, *columns: tuple[str, str | None]) -> None:
    """Refuse one column for two purposes."""
    seen: dict[str | None, str] = {}
    for what, name in columns:
        if name is not None and name in seen:
            both = f"the {seen[name]} and the {what}" if seen[name] != what else f"the {what} of two models"
            raise TableError(f"{file}: the column {name!r} cannot be {both}.")
        seen[name] = what


def _read(
    file: TableFile, digest: str, names: list[str], kept: list[str], sides: list[str]
) -> tuple[Any, dict[str, SideColumn]]:
    """Features as a frame, and the other columns."""
    import pandas as pd

    read = read_typed if file.has_types else read_csv
    with reading(file):
        if set(kept) & set(sides):  # as a feature, it is what it would be without being the other as well
            (columns, _), (_, others) = read(file, names, kept, ()), read(file, names, (), sides)
        else:
            columns, others = read(file, names, kept, sides)
        if file.digest() != digest:
            raise TableError(f"{file}: the file was changed while it was read.")
    return pd.DataFrame(columns, copy=False), others


def _units(read: dict[str, SideColumn], group: str | None, time: str | None) -> tuple[Any, Any]:
    return (
        None if group is None else group_names(read[group]),
        None if time is None else times(read[time]),
    )


@contextmanager
def reading(file: TableFile) -> Iterator[None]:
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

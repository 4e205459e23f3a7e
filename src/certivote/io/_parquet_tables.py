"""Files whose values have types, parquet files and workbooks: columns of features, and others as text."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.io._csv_tables import check_finite
from certivote.io._decimal_marks import categorical
from certivote.io._side_columns import SideColumn
from certivote.io._table_files import TableError, TableFile
from certivote.io._workbooks import workbook_frame
from certivote.voters.text_columns import coded, distinct


def parquet_file(file: TableFile) -> Any:
    """The file as pyarrow opens it."""
    if file.text_options:
        raise TableError(f"{file}: {file.text_options} is for CSV files, and this is a parquet file; leave it out.")
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise TableError(f"{file}: parquet files need the package pyarrow: install certivote[parquet].") from error
    return pyarrow.parquet.ParquetFile(file.path if file.content is None else pyarrow.BufferReader(file.content))


def read_typed(
    file: TableFile, names: list[str], kept: Sequence[str], sides: Sequence[str]
) -> tuple[dict[str, Any], dict[str, SideColumn]]:
    """Columns of features, as numbers, dates or categories, and others as text."""
    raw = raw_workbook(file, kept, sides) if file.is_workbook else raw_parquet(file, names, kept, sides)
    columns: dict[str, Any] = {}
    for name in kept:
        columns[name] = raw.pop(name)
        if isinstance(columns[name], tuple):
            columns[name] = categorical(file, *columns[name])
    return columns, {name: SideColumn(file, name, *raw[name]) for name in sides}


def raw_workbook(file: TableFile, kept: Sequence[str], sides: Sequence[str]) -> dict[str, Any]:
    """As :func:`raw_parquet`, from the sheet of a workbook."""
    frame = workbook_frame(file)
    if not len(frame):
        raise TableError(f"{file}: there are no rows below the header.")
    rows = frame.index.tolist()

    def read(name: str) -> Any:
        return frame[name].reset_index(drop=True)

    return _raw(file, kept, sides, read, lambda row: f"{file}, row {rows[row]}", lambda name: str(frame[name].dtype))


def raw_parquet(
    file: TableFile, names: list[str], kept: Sequence[str], sides: Sequence[str], groups: Sequence[int] | None = None
) -> dict[str, Any]:
    """Columns as they are stored: arrays of finite numbers, moments, or codes and the values that they stand for.

    Those that are no features come as codes, texts, and a function that says of a row where it is and what it holds.

    Parameters
    ----------
    file : TableFile
    names : list of str
        Of all columns.
    kept, sides : sequence of str
        Columns of features, and others, which are text.
    groups : sequence of int, optional
        Row groups to read; all by default.
    """
    stored = parquet_file(file)
    every = range(stored.num_row_groups)
    sizes = [stored.metadata.row_group(group).num_rows for group in every]
    chosen = every if groups is None else groups
    if not sum(sizes[group] for group in chosen):
        raise TableError(f"{file}: there are no rows.")
    first = sum(sizes[: chosen[0]])
    written = dict(zip(names, stored.schema_arrow.names, strict=True))

    def read(name: str) -> Any:
        table = stored.read_row_groups(list(chosen), [written[name]])
        return table.to_pandas(date_as_object=False).iloc[:, 0]

    def kind_of(name: str) -> str:
        return str(stored.schema_arrow.field(written[name]).type)

    return _raw(file, kept, sides, read, lambda row: f"{file}, row {first + row + 1}", kind_of)


def _raw(
    file: TableFile,
    kept: Sequence[str],
    sides: Sequence[str],
    read: Callable[[str], Any],
    where: Callable[[int], str],
    kind_of: Callable[[str], str],
) -> dict[str, Any]:
    """Columns that ``read`` gives by their names."""

    def different(name: str, column: Any, coding: Callable[[Any], Any], advice: str) -> Any:
        try:
            return coding(column)
        except TypeError:
            kind = kind_of(name)
            raise TableError(
                f"{file}: column {name!r} holds values of type {kind}, which are neither numbers nor text{advice}."
            ) from None

    def side(name: str) -> tuple[NDArray[np.intp], list[str], Callable[[int], tuple[str, str]]]:
        column = read(name)

        def cell(row: int) -> tuple[str, str]:
            value = column.iloc[row]
            return where(row), value if isinstance(value, str) else ""

        return *different(name, column, coded, ""), cell

    columns: dict[str, Any] = {}
    for name in kept:
        column = read(name)
        if column.dtype.kind in "iuf":
            columns[name] = column.to_numpy(dtype=float)
            check_finite(
                columns[name],
                name,
                lambda row, column=column: (where(row), str(column.iloc[row])),  # type: ignore[misc]
            )
        elif column.dtype.kind == "M":
            columns[name] = column
        else:
            coding = distinct if file.is_workbook else coded
            columns[name] = different(name, column, coding, f"; leave it out by --drop {name}")
    return columns | {name: side(name) for name in sides}

"""Excel workbooks: the rows of one sheet, with the values that are stored, not as they are formatted.

A workbook may come from a stranger. It is unpacked and read a row at a time, within bounds that its size warrants, and
is refused if its texts could stand for more than they hold.
"""

import math
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from certivote.io._table_files import TableError, TableFile

_SPARE, _RATIO, _LARGEST = 1 << 26, 200, 1 << 32
"""A workbook may unpack to so many bytes, so many times its own size beyond, and never to more than this."""
_ENTRIES = 10_000
_PIECE = 1 << 20
_SHOWN = 10


def workbook_frame(file: TableFile) -> Any:
    """The rows below the first that is not empty, which has the names; the index has their numbers in the sheet."""
    if file.frame is None:
        file.frame = _frame(file)
    return file.frame


def _frame(file: TableFile) -> Any:
    import pandas as pd

    try:
        import openpyxl
    except ImportError as error:
        raise TableError(f"{file}: Excel workbooks need the package openpyxl: install certivote[excel].") from error
    try:
        with file.open() as stream:
            _check(file, stream)
            stream.seek(0)
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
            try:
                rows = list(_rows(_sheet(file, book)))
            finally:
                book.close()
    except TableError:
        raise
    except MemoryError as error:
        raise TableError(f"{file}: the workbook needs more memory than there is.") from error
    except Exception as error:  # whatever an XML file can make its readers say
        raise TableError(f"{file}: not an Excel workbook, or damaged ({str(error)[:200]}).") from error
    if not rows:
        raise TableError(f"{file}: the sheet is empty.")
    (_, header), *below = rows
    names = ["" if value is None else str(value).strip() for value in header]
    for number, row in below:
        if len(row) > len(names):
            raise TableError(f"{file}, row {number}: {len(row)} cells, but the header has {len(names)}.")
    columns = {}
    for place, name in enumerate(names):
        column = [row[place] if place < len(row) else None for _, row in below]
        if not name and any(value is not None for value in column):
            raise TableError(f"{file}: column {place + 1} has no name in the header, and holds values.")
        if name in columns:
            raise TableError(f"{file}: the column {name!r} occurs more than once in the header.")
        if name:
            columns[name] = _typed(column)
    return pd.DataFrame(columns, index=[number for number, _ in below])


def _typed(column: list[Any]) -> Any:
    """Numbers as floats, moments as such, and anything else as it is."""
    import pandas as pd

    if all(type(value) in (int, float, type(None)) for value in column):
        return [math.nan if value is None else float(value) for value in column]
    if all(isinstance(value, datetime | None) for value in column):
        return pd.to_datetime(column)
    return pd.Series(column, dtype=object).to_numpy()


def _check(file: TableFile, stream: Any) -> None:
    """Refuse an archive that unpacks to more than its size warrants, and texts that stand for others."""
    most = min(_SPARE + _RATIO * stream.seek(0, 2), _LARGEST)
    with zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        if len(entries) > _ENTRIES or sum(entry.file_size for entry in entries) > most:
            raise TableError(f"{file}: the workbook would unpack to more than {most:,} bytes, which its size warrants.")
        for entry in entries:
            if not entry.filename.lower().endswith((".xml", ".rels")):
                continue
            before = b""
            with archive.open(entry) as unpacked:
                while piece := unpacked.read(_PIECE):
                    window = before + piece
                    # A declaration names what other texts stand for. No spreadsheet program writes one, nor UTF-16.
                    if b"\0" in piece or b"<!DOCTYPE" in window or b"<!ENTITY" in window:
                        raise TableError(f"{file}: the workbook declares texts that stand for others; save it anew.")
                    before = piece[-16:]


def _sheet(file: TableFile, book: Any) -> Any:
    """The sheet that is asked for, or the only one that holds something."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if file.sheet is not None:
        if file.sheet not in sheets:
            raise TableError(f"{file}: there is no sheet {file.sheet!r}; there are {_listed(list(sheets))}.")
        return sheets[file.sheet]
    filled = [name for name, sheet in sheets.items() if next(_rows(sheet), None) is not None]
    if len(filled) > 1:
        raise TableError(f"{file}: the sheets {_listed(filled)} hold values; say which by --sheet {filled[0]!r}.")
    if not filled:
        raise TableError(f"{file}: the workbook is empty.")
    return sheets[filled[0]]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"{name!r:.60}" for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _rows(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """Rows that are not empty, with their numbers, as far as they hold something."""
    sheet.reset_dimensions()  # rows are as long as they are, whatever the sheet says of itself
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        held = [place for place, value in enumerate(row) if value is not None and value != ""]
        if held:
            yield number, [_value(value) for value in row[: held[-1] + 1]]


def _value(value: Any) -> Any:
    """What a cell holds: a number, a text, a truth value or a moment."""
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    if isinstance(value, bool | int | float | datetime | str) or value is None:
        return value
    return value.isoformat() if isinstance(value, time) else str(value)

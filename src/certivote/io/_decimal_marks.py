"""Numbers with decimal commas: read where that is asked for, and never taken for something else."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from certivote.io._table_files import TableError, TableFile
from certivote.voters.text_columns import as_number, coded

COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_POINT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")


def with_points(file: TableFile, column: str, texts: Sequence[str]) -> list[str]:
    """The different texts of a column, numbers among them with a decimal point.

    Raises
    ------
    TableError
        If it is not certain what a mark in a number stands for: a comma where no decimal mark was given and most of the
        texts are numbers; a point where the comma is the decimal mark.
    """
    texts = list(texts)
    if file.decimal == ",":
        wrong = next((text for text in texts if _POINT.fullmatch(text) or _POINT_THOUSANDS.fullmatch(text)), None)
        if wrong is not None:
            raise TableError(
                f"{file}: column {column!r} holds {wrong!r}, but --decimal says that the comma is the decimal mark. "
                "Remove points that separate thousands; or leave out --decimal, if no number has a comma."
            )
        return [text.replace(",", ".") if COMMA.fullmatch(text) else text for text in texts]
    if file.decimal is None:
        doubtful = [text for text in texts if "," in text and _has_commas(text)]
        if doubtful and 2 * sum(_has_commas(text) or as_number(text) == as_number(text) for text in texts) >= len(
            texts
        ):
            raise TableError(
                f"{file}: column {column!r} holds {doubtful[0]!r}. Where the comma is the decimal mark, give "
                "--decimal ,; where it separates thousands, remove it; where such values are categories, give "
                "--decimal ."
            )
    return texts


def readable_columns(file: TableFile, rows: Any) -> Any:
    """Columns as :func:`stream_text` gives them, numbers in texts with a decimal point."""
    import pandas as pd

    marks = ",." if file.decimal == "," else ","
    columns = {}
    for name in rows.columns:
        column = columns[name] = rows[name]
        if column.dtype.kind in "iufbMm" or (_is_text(column) and not _any_has(column, marks)):
            continue
        with suppress(TypeError):  # lists and the like are none of them
            codes, texts = coded(column)
            columns[name] = pd.Categorical.from_codes(codes, with_points(file, name, texts))
    return pd.DataFrame(columns, index=rows.index)


def _is_text(column: Any) -> bool:
    """Whether it is certain, at a glance, that all values are texts or missing."""
    import pandas as pd

    return isinstance(column.dtype, pd.StringDtype)


def _any_has(column: Any, marks: str) -> bool:
    return any(column.str.contains(mark, regex=False, na=False).any() for mark in marks)


def _has_commas(text: str) -> bool:
    return any(kind.fullmatch(text) for kind in (COMMA, _COMMA_THOUSANDS)) or bool(
        "," in text and _POINT_THOUSANDS.fullmatch(text)
    )

"""Numbers with decimal commas, where the user says which mark is the decimal one."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.io._table_files import TableError, TableFile
from certivote.voters.text_columns import as_number, distinct
from certivote.voters.text_numbers import NumberForm

COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_POINT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")
_FORMS = {",": NumberForm(",", "."), ".": NumberForm(".", ",")}


def categorical(file: TableFile, codes: NDArray[np.integer], texts: Sequence[str | float]) -> Any:
    """A column of features that is not stored as numbers: texts, and numbers where the decimal mark is given.

    Without it, :class:`certivote.voters.ColumnEncoder` finds out how numbers are written.
    """
    import pandas as pd

    if file.decimal is None:
        return pd.Categorical.from_codes(codes, texts)
    form, places = _FORMS[file.decimal], dict[str | float, int]()
    values = [text if isinstance(text, float) or (read := form.read(text)) != read else read for text in texts]
    renamed = np.array([*(places.setdefault(value, len(places)) for value in values), -1])
    return pd.Categorical.from_codes(renamed[codes], list(places))


def readable_columns(file: TableFile, rows: Any) -> Any:
    """Columns as :func:`stream_text` gives them, with numbers where the decimal mark is given."""
    import pandas as pd

    if file.decimal is None:
        return rows
    columns = {}
    for name in rows.columns:
        columns[name] = rows[name]
        if columns[name].dtype.kind not in "iufbMm":
            with suppress(TypeError):  # lists and the like are not text
                columns[name] = categorical(file, *distinct(columns[name]))
    return pd.DataFrame(columns, index=rows.index)


def with_points(file: TableFile, column: str, texts: Sequence[str]) -> list[str]:
    """The different texts of a column of classes, groups, times or scores, numbers among them with a decimal point.

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
        n_numbers = sum(_has_commas(text) or as_number(text) == as_number(text) for text in texts)
        if doubtful and 2 * n_numbers >= len(texts):
            raise TableError(
                f"{file}: column {column!r} holds {doubtful[0]!r}. Where the comma is the decimal mark, give "
                "--decimal ,; where it separates thousands, remove it; where such values are categories, give "
                "--decimal ."
            )
    return texts


def _has_commas(text: str) -> bool:
    return any(kind.fullmatch(text) for kind in (COMMA, _COMMA_THOUSANDS)) or bool(
        "," in text and _POINT_THOUSANDS.fullmatch(text)
    )

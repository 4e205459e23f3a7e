"""Columns of a table that are no features: classes, what rows belong to, and when they were taken."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote._warn import warn
from certivote.io._decimal_marks import with_points
from certivote.io._table_files import TableError, TableFile
from certivote.voters.text_dates import moments

_CLASSES = 100
"""Labels beyond which there must be two rows of each, on average."""
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class SideColumn:
    """A column as text.

    Attributes
    ----------
    file : TableFile
    name : str
    codes : array of int
        Of each row, the place of its text; -1 where it is missing.
    texts : list of str
        All different texts.
    cell : function of a row number
        Where in the file that row is, and what is written there.
    """

    file: TableFile
    name: str
    codes: NDArray[np.integer]
    texts: list[str]
    cell: Callable[[int], tuple[str, str]]

    def check_complete(self, what: str, advice: str = "", *, one: str = "") -> None:
        """Refuse a missing value, and say where the first is.

        A word that counts as missing, such as ``none``, may be what ``one`` says, as which it would not be missing.
        """
        missing = np.flatnonzero(self.codes < 0)
        if not len(missing):
            return
        where, text = self.cell(int(missing[0]))
        if text.strip():
            rename = f"; if it is a {one}, rename it" if one else ""
            raise TableError(f"{where}: {what} {self.name!r} holds {text!r}, which counts as missing{rename}.")
        raise TableError(f"{where}: {what} {self.name!r} is empty.{advice}")

    def check_classes(self, what: str, advice: str) -> None:
        """Refuse a column that has too many different values for classes."""
        if len(self.texts) > max(_CLASSES, len(self.codes) / 2):
            raise TableError(
                f"{self.file}: {what} {self.name!r} has {len(self.texts):,} different values in {len(self.codes):,} "
                f"rows; {advice}"
            )

    def where(self, row: int) -> str:
        """Where in the file a row is."""
        return self.cell(row)[0]

    def where_first(self, text: str) -> str:
        """Where in the file a text is first."""
        return self.where(int(np.flatnonzero(self.codes == self.texts.index(text))[0]))

    def replaced(self, values: Sequence[Any]) -> Any:
        """The column as a pandas series, with other values in the place of its texts."""
        import pandas as pd

        kind = type(values[0])
        plain = kind in (bool, int, float) and all(type(value) is kind for value in values)
        table = np.array(values) if plain else np.array([*values, None], dtype=object)[:-1]
        return pd.Series(table[self.codes], name=self.name)


def target_labels(column: SideColumn) -> Any:
    """The classes that a vote learns: texts, so ``1`` and ``1.0`` are two."""
    column.check_complete("the target", " Remove such rows only if they are missing at random.", one="class")
    check_target(column)
    return column.replaced(column.texts)


def check_target(column: SideColumn) -> None:
    """Refuse too many classes, and warn of spellings that may be one class."""
    column.check_classes(
        "the target",
        "a vote chooses among classes. Is another column meant, or should numbers be cut into ranges first?",
    )
    warn_of_spellings([(column, text) for text in column.texts])


def warn_of_spellings(classes: Sequence[tuple[SideColumn, str]]) -> None:
    """Say so, if two classes, each with a column that holds it, differ by case or by blanks only."""
    columns = {text: column for column, text in reversed(classes)}
    twice = _alike((text, _spelled(text)) for _, text in classes)
    if twice:
        first, second = (f"the column {columns[text].name!r} holds {text!r}" for text in twice)
        warn(
            f"{columns[twice[0]].file}: {first} and {second}, which count as two classes; if they are one, write them "
            "in one way."
        )


def group_names(column: SideColumn) -> Any:
    """What each row belongs to, as text.

    Numbers are the same by value, if all are numbers. What may be one name in two spellings is refused or warned about:
    rows of one entity under two names would count as independent.
    """
    column.check_complete("the group column", one="group")
    texts = with_points(column.file, column.name, column.texts)
    values = [as_value(text) for text in texts]
    if not any(isinstance(value, str) for value in values):
        return column.replaced([_number_name(value) for value in values])
    twice = _alike(((text, value) for text, value in zip(texts, values, strict=True) if value != text))
    if twice:
        raise TableError(
            f"{column.file}: the group column {column.name!r} holds {twice[0]!r} and {twice[1]!r}, which are one "
            "number; write it in one way, so that no group has two names."
        )
    twice = _alike((text, _spelled(text)) for text in texts)
    if twice:
        warn(
            f"{column.file}: the group column {column.name!r} holds {twice[0]!r} and {twice[1]!r}, which count as two "
            "groups; if they are one, write them in one way, or the certificate is void."
        )
    return column.replaced(texts)


def times(column: SideColumn) -> Any:
    """When each row was taken: numbers, or moments that are read from dates without a doubt."""
    column.check_complete("the time column")
    texts = with_points(column.file, column.name, column.texts)
    values = [as_value(text) for text in texts]
    if not any(isinstance(value, str) for value in values):
        return column.replaced([float(value) for value in values])
    import pandas as pd

    try:
        read = moments(texts)
    except ValueError as error:
        raise TableError(f"{column.file}: the time column {column.name!r} {error}") from None
    return pd.Series(read[column.codes], name=column.name)


def finite_numbers(column: SideColumn, what: str) -> Any:
    """A column of numbers; the first value that is none is refused."""
    column.check_complete(what)
    values = [as_value(text) for text in with_points(column.file, column.name, column.texts)]
    for text, value in zip(column.texts, values, strict=True):
        if isinstance(value, str):
            where = column.where_first(text)
            raise TableError(f"{where}: {what} {column.name!r} holds {text!r:.80}, which is no number.")
    return column.replaced([float(value) for value in values])


def as_value(text: str) -> int | float | str:
    """The number that a text is, as a spreadsheet would take it; otherwise the text.

    Examples
    --------
    >>> as_value("07"), as_value("1.0"), as_value("1_0"), as_value("ill")
    (7, 1.0, '1_0', 'ill')
    """
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) <= 18 else text
    value = float(text) if _NUMBER.fullmatch(text) else np.inf
    return value if np.isfinite(value) else text


def _number_name(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _spelled(text: str) -> str:
    """What spellings of one name have in common: neither case nor more blanks than one make a difference."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _alike(forms: Iterable[tuple[str, Any]]) -> tuple[str, str] | None:
    """The first two texts that have the same form."""
    seen: dict[Any, str] = {}
    for text, form in forms:
        if seen.setdefault(form, text) != text:
            return seen[form], text
    return None

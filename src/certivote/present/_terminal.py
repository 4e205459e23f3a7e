"""Text for a terminal: tables, comparisons, and text from anywhere made printable."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from certivote.present._wording import percent_up

__all__ = ["comparison_text", "plain_text", "text_table"]


def text_table(head: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """Columns as wide as they need to be; those with whole numbers are aligned to the right.

    Examples
    --------
    >>> print(text_table(["method", "rows"], [["dis-r", 1234], ["fo", 56]]))
    method   rows
    dis-r   1,234
    fo         56
    """
    lines = [list(head), *([f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows)]
    columns = []
    for name, *cells in zip(*lines, strict=True):
        width = max(map(len, (name, *cells)))
        whole = any(cell.replace(",", "").isdigit() for cell in cells)
        columns.append([cell.rjust(width) if whole else cell.ljust(width) for cell in (name, *cells)])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def comparison_text(table: pd.DataFrame) -> str:
    """A comparison of methods as text, one line per method, and below it what may be done with several bounds at once.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`certivote.compare` returns.

    Examples
    --------
    >>> numbers = {"certified": ["the drawn vote"], "bound": [0.04930001], "empirical risk": [0.02], "penalty": [3.0]}
    >>> table = pd.DataFrame(numbers, index=pd.Index(["dis-r"], name="method"))
    >>> table.attrs["note"] = "It holds with probability at least 0.95."
    >>> print(comparison_text(table))
    method  certified       bound   empirical risk  penalty
    dis-r   the drawn vote  4.94 %  2.00%           3.00
    <BLANKLINE>
    It holds with probability at least 0.95.
    """
    names = list(table.columns)
    values = zip(*(table[name].tolist() for name in names), strict=True)
    rows = [[str(method), *map(_cell, names, row)] for method, row in zip(table.index.tolist(), values, strict=True)]
    text = text_table(["method", *names], rows)
    note = table.attrs.get("note")
    return f"{text}\n\n{note}" if note else text


def _cell(name: str, value: Any) -> str:
    if name == "bound":
        return percent_up(value) + (" (vacuous)" if value >= 1 else "")
    if name == "empirical risk":
        return f"{value:.2%}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def plain_text(text: str) -> str:
    r"""The text with whatever cannot be printed, such as a file may bring, written as an escape.

    Examples
    --------
    >>> print(plain_text("a\x1b[31mb\n"))
    a\x1b[31mb\n
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

"""Text for a terminal: certificates, tables and comparisons."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from certivote.certificate import Certificate, plain_percent
from certivote.present._cautions import no_better_than_majority
from certivote.present._plain import plain_text, printable
from certivote.present._promise import how
from certivote.present._provenance import seed_words
from certivote.present._sections import headline, sections
from certivote.present._wording import bound_text, majority

if TYPE_CHECKING:
    import pandas as pd

_WIDTH = 100


def certificate_text(certificate: Certificate) -> str:
    """What everybody reads, in at most ten lines but for cautions: the promise, and the numbers beside it."""
    certificate = printable(certificate)
    said = headline(certificate)
    paragraphs = [filled(said.promise), *map(filled, said.cautions)]
    return "\n\n".join([*paragraphs, fact_lines(said.rows, cut=True)])


def details_text(certificate: Certificate) -> str:
    """The same, and all sections behind it."""
    certificate = printable(certificate)
    found = [certificate_text(certificate), *filter(None, [how(certificate)])]
    found += [f"{section.title}\n{fact_lines(section.rows)}" for section in sections(certificate)]
    return "\n\n".join(found)


def fact_lines(rows: Sequence[tuple[str, str]], cut: bool = False) -> str:
    """Names and what they name, in two columns; long texts are cut, or go on below."""
    plain = [(plain_text(name), plain_text(text)) for name, text in rows]
    width = max(len(name) for name, _ in plain)
    width, lines = width + 2 if width else 0, []
    for name, text in plain:
        start = f"  {name:<{width}}"
        if cut:
            lines.append(start + textwrap.shorten(text, _WIDTH - len(start), placeholder=" ..."))
        else:
            lines.append(filled(text, start))
    return "\n".join(lines)


def filled(text: str, start: str = "") -> str:
    """A paragraph in lines; all but the first are indented as far as the start is long."""
    # A number and its per cent sign stay on one line.
    filled = textwrap.fill(
        plain_text(text).replace(" %", "\u00a0%"),
        width=_WIDTH,
        initial_indent=start,
        break_on_hyphens=False,
        subsequent_indent=" " * len(start),
    )
    return filled.replace("\u00a0", " ")


def text_table(head: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """Columns as wide as they need to be; those with whole numbers are aligned to the right.

    Examples
    --------
    >>> print(text_table(["method", "rows"], [["dis-r", 1234], ["fo", 56]]))
    method   rows
    dis-r   1,234
    fo         56
    """
    lines = [list(head)]
    lines += [[f"{cell:,}" if isinstance(cell, int) else plain_text(cell) for cell in row] for row in rows]
    columns = []
    for name, *cells in zip(*lines, strict=True):
        width = max(map(len, (name, *cells)))
        whole = any(cell.replace(",", "").isdigit() for cell in cells)
        columns.append([cell.rjust(width) if whole else cell.ljust(width) for cell in (name, *cells)])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def comparison_text(table: "pd.DataFrame") -> str:
    """A comparison of methods as text, one line per method, and below it what may be done with several bounds at once.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`certivote.compare` returns.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers = {"certified": ["the drawn vote"], "bound": [0.04930001], "empirical risk": [0.02], "penalty": [3.0]}
    >>> table = pd.DataFrame(numbers, index=pd.Index(["dis-r"], name="method"))
    >>> table.attrs["note"] = "It holds with probability at least 0.95."
    >>> print(comparison_text(table))
    method  certified       bound   empirical risk  penalty
    dis-r   the drawn vote  4.94 %  2.00 %          3.00
    <BLANKLINE>
    It holds with probability at least 0.95.
    """
    names = list(table.columns)
    values = zip(*(table[name].tolist() for name in names), strict=True)
    rows = [[str(method), *map(_cell, names, row)] for method, row in zip(table.index.tolist(), values, strict=True)]
    text = text_table(["method", *names], rows)
    read = {name: Certificate.from_json(text) for name, text in table.attrs.get("certificates", {}).items()}
    seeds = dict.fromkeys(seed_words(one.provenance) for one in read.values())  # one for all methods
    made = [f"Made with {words}." for words in seeds if words]
    notes = [*_of_entities(read), *_against_majority(read), *made, *filter(None, [table.attrs.get("note")])]
    return "\n\n".join([text, *map(plain_text, notes)])


def _of_entities(read: Mapping[str, Certificate]) -> list[str]:
    """What the bounds are about, where rows belong to groups."""
    named = sorted({one.groups for one in read.values() if one.groups})
    return [
        f"These bounds are about a random row of a new group: rows with the same '{name}' are one group."
        for name in named
    ]


def _against_majority(read: Mapping[str, Certificate]) -> list[str]:
    """What the most frequent class alone would achieve on the same rows, and which methods are no better."""
    known = {majority(one.deployed_part) for one in read.values()}
    worse = [name for name, one in read.items() if no_better_than_majority(one)]
    found = [f"{text[0].upper()}{text[1:]}." for text in sorted(known)]
    if worse:
        found.append(f"Caution: no better than that {'is' if len(worse) == 1 else 'are'} {', '.join(worse)}.")
    return [" ".join(found)] if found else []


def _cell(name: str, value: Any) -> str:
    if name == "bound":
        return bound_text(value)
    if name == "empirical risk":
        return plain_percent(value)
    return f"{value:.2f}" if isinstance(value, float) else str(value)

"""Text that may come from anywhere, such as a certificate's file: nothing in it can steer a terminal or a page."""

import dataclasses
from typing import Any

from certivote.certificate import Certificate


def plain_text(text: str) -> str:
    r"""The text with whatever cannot be printed, such as a file may bring, written as an escape.

    That is control characters, escape sequences, line ends, marks that turn the direction of text, and blanks other
    than the space.

    Examples
    --------
    >>> print(plain_text("a\x1b[31mb\n\u202e"))
    a\x1b[31mb\n\u202e
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable(certificate: Certificate) -> Certificate:
    """The same certificate with every text in it made plain: what every view of it shows."""
    found: Certificate = plain(certificate)
    return found


def plain(value: Any) -> Any:
    """The same record, or part of one, with every text in it made plain."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, tuple):
        # Thousands of weights are numbers: there is nothing to do.
        return value if value and isinstance(value[0], float) else tuple(map(plain, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **changed)
    return value

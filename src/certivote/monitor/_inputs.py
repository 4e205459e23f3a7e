"""What users give to a monitor, checked: certificates, true classes, answers, and what else is known of the rows."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate, class_place, missing_places, names_of, one_spelling
from certivote.io import read_certificate
from certivote.pipeline import as_floats, check_held, plain_values
from certivote.promises import margins

_LONGEST = 64
"""Characters of a time."""


def checked_alpha(alpha: Any) -> float:
    """The probability of a false alarm."""
    if isinstance(alpha, bool) or not isinstance(alpha, float | int) or not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must be a number between 0 and 1, such as 0.01; got {alpha!r:.80}.")
    return float(alpha)


def checked_seed(random_state: Any) -> int:
    """A number from which random ones follow."""
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not whole or not 0 <= int(random_state) < 2**128:
        raise ValueError(f"random_state must be None or a whole number from 0 on; got {random_state!r:.80}.")
    return int(random_state)


def values_of(given: Any, name: str, count: int | None = None, beside: str = "y_true") -> list[Any]:
    """One value for each row as Python has it, none missing."""
    if isinstance(given, str | bytes) or np.ndim(given) > 2:
        raise ValueError(f"{name} must have one value for each row; got {given!r:.80}.")
    values = plain_values(given, name)
    if count is not None and len(values) != count:
        raise ValueError(f"{name} has {len(values):,} values, and {beside} has {count:,}: give one for each row.")
    missing = missing_places(values) if values else []
    if missing:
        raise ValueError(
            f"{name} has no value in {len(missing):,} of {len(values):,} rows, the first of them row {missing[0]}: "
            "leave such rows out, and give them when it is known."
        )
    return values


def places(values: list[Any], classes: Sequence[str]) -> NDArray[np.intp]:
    """The places of labels among the classes, matched by value; -1 for others."""
    known: dict[tuple[type, Any], int] = {}
    found = np.empty(len(values), dtype=np.intp)
    for row, value in enumerate(values):
        key = type(value), value
        if key not in known:
            place = class_place(value, classes)
            known[key] = -1 if place is None else place
        found[row] = known[key]
    return found


def names(given: Any, name: str, count: int, beside: str = "y_true") -> list[str]:
    """What rows or entities are called, the same in every spelling of a number: see :func:`one_spelling`."""
    values = [
        value.decode(errors="surrogateescape") if isinstance(value, bytes) else value
        for value in values_of(given, name, count, beside)
    ]
    return list(map(one_spelling, names_of(values)))


def scores_and_masses(
    given: Any, count: int, n_classes: int
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """How sure the vote was of its answers; and the masses of all classes, if they are given instead."""
    if given is None:
        return None, None
    found = as_floats("scores", given)
    if found.shape not in ((count,), (count, n_classes)) or not np.all(np.isfinite(found)):
        raise ValueError(
            f"scores must hold a number for each of the {count:,} rows, or a row of {n_classes} masses, one for each "
            f"class, none of them missing; got an array of shape {found.shape}."
        )
    return (found, None) if found.ndim == 1 else (margins(found), found)


def columns_of(table: Any, count: int) -> Callable[[str], list[Any]] | None:
    """The columns of a table by name, or by number where they have no names."""
    if table is None:
        return None
    check_held(table=table)
    shape = np.shape(table)
    if len(shape) != 2 or shape[0] != count:
        raise ValueError(f"table must have a row for each of the {count:,} outcomes; got an array of shape {shape}.")
    known = [str(name) for name in getattr(table, "columns", range(shape[1]))]

    def values(name: str) -> list[Any]:
        if known.count(name) != 1:
            raise ValueError(f"table must have one column {name!r}, which is watched; its columns are {known[:20]}.")
        place = known.index(name)
        column = table.iloc[:, place] if hasattr(table, "iloc") else np.asarray(table)[:, place]
        return list(column.tolist())

    return values


def time_text(when: Any) -> str:
    """A moment as text, by default now."""
    text = datetime.now(UTC).isoformat(timespec="seconds") if when is None else names_of([when])[0]
    if not text or len(text) > _LONGEST or not text.isprintable():
        raise ValueError(f"when must be a date, a time or a short text; got {when!r:.80}.")
    return text


def certificate_of(source: Any) -> Certificate:
    """The certificate itself, that of a fitted classifier, or that in a file."""
    if isinstance(source, Certificate):
        return source
    if isinstance(source, str | os.PathLike):
        return read_certificate(source)
    found = getattr(source, "certificate_", None)
    if isinstance(found, Certificate):
        return found
    raise TypeError(
        "source must be a certificate, a fitted CertifiedVoteClassifier, or the path of a certificate or a model; got "
        f"{type(source).__name__}."
    )

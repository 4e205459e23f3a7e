"""Whether the voters of two models are made of the same numbers: such as agree on some rows may differ on others."""

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["ABSOLUTE", "RELATIVE", "made_alike"]

RELATIVE, ABSOLUTE = 1e-7, 1e-10
"""How far numbers may be off: another processor may round the last digits of what is learned in another way."""


def made_alike(old: Any, new: Any) -> bool | None:
    """Whether two fitted voters hold the same; None if nothing differs but there is what cannot be compared here.

    That is what users bring: classifiers and transformers of other libraries.
    """
    if type(old) is not type(new):
        return False
    if dataclasses.is_dataclass(old):
        stored = [field.name for field in dataclasses.fields(old) if field.metadata.get("stored", True)]
        return _all(made_alike(getattr(old, name), getattr(new, name)) for name in stored)
    if isinstance(old, tuple | list):
        return len(old) == len(new) and _all(map(made_alike, old, new))
    if isinstance(old, np.ndarray):
        if old.dtype.kind == "f" == new.dtype.kind:
            return old.shape == new.shape and bool(np.allclose(old, new, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))
        return bool(np.array_equal(old, new))
    if isinstance(old, float):
        return math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if old is None or isinstance(old, str | int | np.generic):
        return bool(old == new)
    return None


def _all(found: Iterable[bool | None]) -> bool | None:
    """Of several answers: no, if one is no; otherwise nothing, if one says nothing."""
    answers = list(found)
    return False if False in answers else None if None in answers else True

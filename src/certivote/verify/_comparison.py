"""Two models, or two records, value by value: what differs, what hardly does, and what cannot be compared."""

import math
from collections.abc import Collection
from typing import Any

import numpy as np

_RELATIVE, _ABSOLUTE = 1e-7, 1e-10
"""How far numbers may be off: another processor may round the last digits of what is learned in another way."""
_PLAIN = (type(None), bool, int, float, str, np.ndarray)
_NOTHING = object()


class Comparison:
    """How two nests of dictionaries, lists, numbers, texts and arrays differ, by the paths of their values.

    Parameters
    ----------
    old, new : dict
    path : str
        What all paths begin with.
    besides : collection of str
        Names that are not compared.

    Attributes
    ----------
    other : list of str
        Values that differ.
    rounded : list of str
        Numbers that differ in their last digits only.
    unknown : list of str
        Objects of the same type, into which nothing here can look, each with its type.
    """

    def __init__(self, old: Any, new: Any, path: str = "", besides: Collection[str] = ()):
        self.other: list[str] = []
        self.rounded: list[str] = []
        self.unknown: list[str] = []
        self._besides = besides
        self._compare(old, new, path)

    def _compare(self, old: Any, new: Any, path: str) -> None:
        old, new = _texts(old), _texts(new)
        if isinstance(old, dict) and isinstance(new, dict):
            for name in dict.fromkeys((*old, *new)):
                if name not in self._besides:
                    inner = f"{path}.{name}" if path else str(name)
                    self._compare(old.get(name, _NOTHING), new.get(name, _NOTHING), inner)
        elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
            # Of a list of numbers or texts, all entries have the path of the list.
            nested = any(isinstance(value, dict | list) for value in (*old, *new))
            for number, (one, another) in enumerate(zip(old, new, strict=True)):
                self._compare(one, another, f"{path}[{number}]" if nested else path)
        elif type(old) is not type(new) or isinstance(old, list | tuple):
            _add(self.other, path)
        elif not isinstance(old, _PLAIN):
            _add(self.unknown, f"{path} ({type(old).__module__}.{type(old).__qualname__})")
        elif not are_close(old, new):
            _add(self.other, path)
        elif not _are_equal(old, new):
            _add(self.rounded, path)


def are_close(old: Any, new: Any) -> bool:
    """Whether two values of one type are the same, numbers up to their last digits."""
    if isinstance(old, np.ndarray):
        if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
            return False
        if old.dtype.kind == "f":
            return bool(np.allclose(old, new, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True))
    elif isinstance(old, float):
        return math.isclose(old, new, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE) or _are_equal(old, new)
    return _are_equal(old, new)


def _are_equal(old: Any, new: Any) -> bool:
    if isinstance(old, np.ndarray):
        return np.array_equal(old, new, equal_nan=old.dtype.kind == "f")
    return bool(old == new or (old != old and new != new))


def _texts(value: Any) -> Any:
    """An array of anything but numbers as a list: texts are the same in whatever width they are stored."""
    return value.tolist() if isinstance(value, np.ndarray) and value.dtype.kind not in "biufc" else value


def _add(paths: list[str], path: str) -> None:
    if path not in paths[-1:]:
        paths.append(path)

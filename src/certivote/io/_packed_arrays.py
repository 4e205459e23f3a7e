"""Arrays in as few bytes as hold them exactly, before the archive compresses these.

Whole numbers are kept in the shortest type that holds them all, truth values eight to a byte, floats in single
precision where that is exact; and where few different values occur, these once and then their numbers. Of numbers of
several bytes come all first bytes, then all second ones, and so on: neighbouring numbers are often alike in some.
"""

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from certivote.codec import Longest, Names, Within

ARRAY_TYPES = {
    kind: np.dtype(kind) for kind in ("<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
}
"""What arrays may hold, in little-endian order."""
_BITS = "bits"
"""How truth values are kept."""
_LONGEST = 1 << 34
"""Entries of an array along one direction."""
_MOST_VALUES = 1 << 12
"""Different values that are worth a list of their own."""
_Kind = Annotated[str, Names(ARRAY_TYPES)]
Declared = tuple[
    _Kind,
    Annotated[tuple[Annotated[int, Within(0, _LONGEST)], ...], Longest(8)],
    Annotated[str, Names((*ARRAY_TYPES, _BITS))],
    Annotated[int, Within(0, _MOST_VALUES)],
]
"""What a file declares of an array: its type, its shape, the type in which its entries are kept, and how many different
values come first, if these entries are numbers of theirs; else 0."""
_SAMPLE = 1 << 13
"""Entries that tell whether there are so few."""


def pack_array(array: NDArray[Any]) -> tuple[Declared, bytes]:
    """What is declared of an array of one of the types above, and its bytes."""
    kind, shape, flat = array.dtype.str, array.shape, array.ravel()
    if array.dtype.kind == "b":
        return (kind, shape, _BITS, 0), np.packbits(flat).tobytes()
    values = _few_values(flat)
    if values is not None:
        numbers = np.searchsorted(values, flat)
        short = np.dtype("|u1" if len(values) <= 1 << 8 else "<u2")
        return (kind, shape, short.str, len(values)), values.tobytes() + _planes(numbers.astype(short))
    short = _shortest(flat)
    return (kind, shape, short.str, 0), _planes(flat.astype(short))


def unpack_array(declared: Declared, content: bytes | bytearray) -> NDArray[Any]:
    """The array of :func:`pack_array`, in this machine's order of bytes; a ValueError if these are not its bytes."""
    kind, shape, kept, n_values = declared
    dtype, count = ARRAY_TYPES[kind], math.prod(shape)
    if (dtype.kind == "b") != (kept == _BITS):
        raise ValueError("an array is kept in another way than arrays are")
    flat: NDArray[Any]
    if kept == _BITS:
        if n_values or len(content) != (count + 7) // 8:
            raise ValueError("an array has another size than its shape takes")
        flat = np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=count).view(bool)
    else:
        short, first = ARRAY_TYPES[kept], n_values * dtype.itemsize
        if len(content) != first + count * short.itemsize:
            raise ValueError("an array has another size than its shape takes")
        planes = np.frombuffer(content, dtype=np.uint8, offset=first).reshape(short.itemsize, count)
        flat = np.ascontiguousarray(planes.T).view(short).reshape(count)
        if n_values:
            if short.kind != "u" or (count and int(flat.max()) >= n_values):
                raise ValueError("an array refers to values that there are not")
            flat = np.frombuffer(content, dtype=dtype, count=n_values)[flat]
        elif not np.can_cast(short, dtype):
            raise ValueError("an array is kept in a longer type than its own")
    array = flat.astype(dtype.newbyteorder("="), copy=False).reshape(shape)
    array.flags.writeable = False
    return array


def _few_values(flat: NDArray[Any]) -> NDArray[Any] | None:
    """All different values in ascending order, if they are few; None for floats that are no numbers or -0.0 too."""
    if flat.dtype.itemsize <= 2 or len(flat) < _SAMPLE or len(np.unique(flat[:_SAMPLE])) > _MOST_VALUES // 2:
        return None
    if flat.dtype.kind == "f" and (np.isnan(flat).any() or np.any(np.signbit(flat) & (flat == 0.0))):
        return None
    values = np.unique(flat)
    return values if len(values) <= min(_MOST_VALUES, len(flat) // 8) else None


def _shortest(flat: NDArray[Any]) -> np.dtype[Any]:
    """The shortest type that holds all entries exactly."""
    if flat.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            single = flat.astype("<f4")
        exact = single.astype(flat.dtype).tobytes() == flat.tobytes()
        return np.dtype("<f4") if exact else flat.dtype
    least, largest = (int(flat.min()), int(flat.max())) if len(flat) else (0, 0)
    for kind in ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4"):
        limits = np.iinfo(kind)
        if limits.min <= least and largest <= limits.max and np.can_cast(kind, flat.dtype):
            return np.dtype(kind)
    return flat.dtype


def _planes(flat: NDArray[Any]) -> bytes:
    """The first bytes of all numbers, then the second ones, and so on."""
    return flat.view(np.uint8).reshape(len(flat), flat.dtype.itemsize).T.tobytes()

"""Which rows have been counted: digests of what identifies them."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Digests = NDArray[np.uint64]


def name_digests(names: Iterable[str], purpose: str) -> Digests:
    """The first 64 bits of the SHA-256 of each name; of several purposes they have nothing in common.

    Among a million names two have the same digest with a probability of less than one in ten million.
    """
    start = hashlib.sha256(f"certivote {purpose}\0".encode())
    found = bytearray()
    for name in names:
        own = start.copy()
        own.update(name.encode("utf-8", "surrogatepass"))
        found += own.digest()[:8]
    return np.frombuffer(bytes(found), dtype="<u8").astype(np.uint64)


class KnownNames:
    """Digests of names, each once, in ascending order.

    Attributes
    ----------
    digests : array
    kind : str
        What names are, if that was said.

    Examples
    --------
    >>> seen = KnownNames()
    >>> seen.news(np.array([5, 3, 5], dtype=np.uint64)).tolist()
    [True, True, False]
    >>> seen.add(np.array([5, 3], dtype=np.uint64))
    >>> seen.news(np.array([3, 4], dtype=np.uint64)).tolist()
    [False, True]
    """

    def __init__(self, digests: Digests | None = None, kind: str = ""):
        self.digests = np.empty(0, dtype=np.uint64) if digests is None else digests
        self.kind = kind

    def tell_by(self, kind: str) -> None:
        """From now on names are of this kind, such as ``ids``; refuse another than before, which would count twice."""
        known = self.kind or ("ids" if len(self.digests) else kind)
        if kind != known:
            raise ValueError(
                f"Rows were told apart by their {known} when this state was begun; by their {kind} those that were "
                "counted would count again: tell them apart as before, or begin another state."
            )
        self.kind = kind

    def news(self, digests: Digests) -> NDArray[np.bool_]:
        """Which of these occur for the first time."""
        first = np.zeros(len(digests), dtype=bool)
        first[np.unique(digests, return_index=True)[1]] = True
        return first & ~self.known(digests)

    def known(self, digests: Digests) -> NDArray[np.bool_]:
        """Which of these were added before."""
        if not len(self.digests):
            return np.zeros(len(digests), dtype=bool)
        places = np.minimum(np.searchsorted(self.digests, digests), len(self.digests) - 1)
        return np.asarray(self.digests[places] == digests)

    def add(self, digests: Digests) -> None:
        """Remember them."""
        self.digests = np.union1d(self.digests, digests)


def row_ids(keys: Sequence[Any]) -> list[str]:
    """Names for rows that have none: what is in a row, and how many equal rows of the same file come before it.

    A file that has grown, given again, then counts its new rows only. But **equal rows in different files count once**:
    if two cases may have the same values, the same answer and the same outcome, give ids of your own.

    Parameters
    ----------
    keys : sequence
        What is in each row, such as :func:`certivote.certificate.row_keys`.

    Examples
    --------
    >>> row_ids([b"a", b"b", b"a"])
    ['61 1', '62 1', '61 2']
    """
    counts: dict[str, int] = {}
    ids = []
    for key in keys:
        name = key.hex() if isinstance(key, bytes) else str(key)
        counts[name] = counts.get(name, 0) + 1
        ids.append(f"{name} {counts[name]}")
    return ids

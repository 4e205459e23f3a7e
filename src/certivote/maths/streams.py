"""Streams of random numbers that depend on a purpose, a seed and the data, and on nothing else.

A stream is a generator seeded by the SHA-256 of what it is for, of a seed and of a digest of the data. Taking that hash
for a random oracle, the streams of different purposes are uniform and independent of one another and, given a seed that
was not chosen by looking at its results, of the data. So what they permute is exchangeable, for any order of the
rows in a file and any names: a permutation that is a function of a seed and of positions alone would be one
constant permutation, which a sorted file defeats.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

__all__ = ["stream", "stream_key"]


def stream(purpose: str, *which: int | str, seed: Sequence[int], digest: str) -> np.random.Generator:
    """A generator for one purpose, from its beginning; see :func:`stream_key`.

    Examples
    --------
    >>> draw = stream("draw", 0, seed=(7,), digest="sha256:ab")
    >>> again = stream("draw", 0, seed=(7,), digest="sha256:ab")
    >>> draw.random() == again.random() != stream("draw", 1, seed=(7,), digest="sha256:ab").random()
    True
    """
    return np.random.default_rng(stream_key(purpose, *which, seed=seed, digest=digest))


def stream_key(purpose: str, *which: int | str, seed: Sequence[int], digest: str) -> int:
    """A number below 2^256 that stands for a purpose, what it is about, a seed and the data.

    Parameters
    ----------
    purpose : str
        What the numbers are for. Each purpose has a name of its own, used in one place.
    *which : int or str
        Which of several, such as the number of a part or of a draw.
    seed : sequence of int
    digest : str
        Of the data: of all rows, or of those that the numbers may depend on.
    """
    # Every item has its type and its length before it, so that different items are never one text.
    items = [repr(item).encode() for item in (purpose, which, tuple(map(int, seed)), digest)]
    content = b"certivote stream" + b"".join(len(item).to_bytes(8, "big") + item for item in items)
    return int.from_bytes(hashlib.sha256(content).digest(), "big")

"""Where all randomness of a run comes from: a seed, the data, and a purpose for every stream."""

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np

from certivote.maths.streams import stream, stream_key


@dataclass(frozen=True)
class Seed:
    """What was given as ``random_state``, or was taken from the system.

    Attributes
    ----------
    words : tuple of int
    fresh : bool
        Whether the system gave it for this run alone. A number that somebody chose could have been chosen by what
        comes of it.
    """

    words: tuple[int, ...]
    fresh: bool


def seed_of(random_state: Any) -> Seed:
    """The seed that a certificate records of ``random_state``: without one, 128 fresh bits from the system.

    That of an earlier run, a :class:`Seed`, stays as it is.
    """
    if isinstance(random_state, Seed):
        return random_state
    if random_state is None:
        return Seed(tuple(secrets.randbits(32) for _ in range(4)), fresh=True)
    if isinstance(random_state, np.random.RandomState):
        return Seed(tuple(random_state.randint(2**31, size=4).tolist()), fresh=False)
    return Seed((int(random_state),), fresh=False)


class Streams:
    """The streams of a run, each for one purpose; see :mod:`certivote.maths.streams`.

    Parameters
    ----------
    seed : Seed
    digest : str
        Of the rows that the streams may depend on: all data; of what trains the voters, the training rows alone.

    Attributes
    ----------
    used : bool
        Whether anything was random.
    """

    def __init__(self, seed: Seed, digest: str):
        self.seed, self.digest, self.used = seed, digest, False

    def of(self, purpose: str, *which: int) -> np.random.Generator:
        """A generator that starts anew with every call."""
        self.used = True
        return stream(purpose, *which, seed=self.seed.words, digest=self.digest)

    def key(self, purpose: str) -> int:
        """128 bits, for a generator that is a function of a counter."""
        self.used = True
        return stream_key(purpose, seed=self.seed.words, digest=self.digest) >> 128

    def over(self, digest: str) -> "Streams":
        """The streams with the same seed that depend on other rows."""
        self.used = True
        return Streams(self.seed, digest)

"""Where all randomness of a run comes from: a seed, the data, and a purpose for every stream.

What is random, by the rows that it depends on besides the seed:

======================  ===============================================================================================
all rows                ``split``: which rows train and which certify. ``draw``: the weights that are deployed.
                        ``learning``: starts and batches of the solver. ``random vote``, ``prediction``: votes of a
                        randomised predictor. ``promises``: rows that are set aside, and the order of bets on costs.
                        ``bets``, ``rows of entities``: the order of bets on groups, and of the rows in each.
                        ``reference``, ``reference among``, ``witnesses``: rows that a model remembers.
the training rows       ``voters``: how they are fitted, and then how they are weighed. ``guide``: rows by which
                        promises fix thresholds. ``probe``: rows that no data have.
the first rows          ``pilot``: the learning curve.
rows by their numbers   ``rows by number``, ``training sample``, ``rows to learn from``: on a cluster, or as there.
======================  ===============================================================================================

``voters where rows lie`` is that of the voters that a cluster trains. Remarks on a table have two streams without a
seed, since nothing depends on them: ``looks``, at pairs of rows, and ``left out``, for the forests that estimate the
error without columns that give the class away, by the training rows.
"""

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

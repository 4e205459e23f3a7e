"""Where all randomness of a run comes from."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["Seeds", "entropy_of"]


def entropy_of(random_state: Any) -> tuple[int, ...]:
    """The numbers that a certificate records of ``random_state``; of an earlier run, those that it has recorded."""
    if isinstance(random_state, tuple):
        return random_state
    if random_state is None:
        return tuple(int(word) for word in np.random.SeedSequence().generate_state(4))
    if isinstance(random_state, np.random.RandomState):
        return tuple(check_random_state(random_state).randint(2**31, size=4).tolist())
    return (int(random_state),)


class Seeds:
    """Independent seeds for all that is random."""

    def __init__(self, entropy: tuple[int, ...]):
        seeds = np.random.SeedSequence(entropy).spawn(12)
        self.split, self.voters, self.learning, self.prediction, self.pilot, self.looks, self.promises = seeds[:7]
        self.reference, self.sample, self.learned, self.places, self.witnesses = seeds[7:]

"""The voters that decide a vote: those of some weight."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.voters._base import FittedVoters

Array = NDArray[np.float64]


class DecisiveVoters:
    """Finds the voters that need to be asked, and remembers them; a copy has to find them again.

    A mass is a sum of multiples of ``2**-52``, which is exact in any order: without terms that are 0 it is the same to
    the bit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from certivote.voters import DecisiveVoters
    >>> from certivote.voters import Forest
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = Forest().fit(X, y, np.arange(3), np.random.default_rng(0))
    >>> weights = np.zeros(100)
    >>> weights[[3, 7]] = 0.5
    >>> few, own = DecisiveVoters().among(forest, weights)
    >>> few.n_voters, own.tolist()
    (2, [0.5, 0.5])
    >>> bool(np.all(few.votes(X).masses(own) == forest.votes(X).masses(weights)))
    True
    """

    def __init__(self) -> None:
        self._known: tuple[FittedVoters, Array, FittedVoters, Array] | None = None

    def among(self, voters: FittedVoters, weights: Array) -> tuple[FittedVoters, Array]:
        """Those without which the vote would be another one, perhaps with a few more; and their weights."""
        some = weights != 0.0
        if some.all() or not some.any():
            return voters, weights
        if self._known is None or self._known[0] is not voters or not np.array_equal(self._known[1], weights):
            few, kept = voters.only(np.flatnonzero(some))
            self._known = voters, weights.copy(), few, weights[kept]
        return self._known[2], self._known[3]

    def __reduce__(self) -> Any:
        return DecisiveVoters, ()

"""A hyper-prior that knows the voters: weights learned from how they vote on teaching rows they have not seen.

The certified rows play no part in it, so it costs the certificate nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from certivote.maths.categorical import kl_divergence, softmax, softmax_chain
from certivote.risks import Labels, Loss, drawn_risk
from certivote.voters import TaughtVoters

__all__ = ["informed_weights"]

Array = NDArray[np.float64]

_ROWS = 20_000
"""Teaching rows that suffice to weigh a few dozen groups of voters."""
_CAUTION = 4.0
"""Nats of divergence from equal weights that outweigh one error."""
_SLOPE = 12.0
"""Steepness of the sigmoid that stands for the loss: gentle, so that wide margins count and not just errors."""


def informed_weights(taught: TaughtVoters, X: Any, y: Labels, loss: Loss, rng: np.random.Generator) -> Array:
    """Weights of the voters that minimise the errors on rows they have not seen, kept near equal weights.

    Parameters
    ----------
    taught : TaughtVoters
    X, y : array and codes
        The teaching rows and their classes.
    loss : {"plurality", "half-weight"}
    rng : numpy Generator
        Picks the rows, where there are more than are needed.

    Returns
    -------
    array of shape (n_voters,)
        Positive, with sum 1; equal within each group of voters.
    """
    rows = np.sort(rng.permutation(len(y))[:_ROWS])
    rehearsal = taught.rehearse(X, y, rows)
    votes, labels = rehearsal.votes, y[rows]
    n = votes.n_rows
    equal = np.full(votes.n_voters, 1.0 / votes.n_voters)
    risk = drawn_risk(votes, labels, loss, _SLOPE)

    def objective(x: Array) -> tuple[float, Array]:
        weights = softmax(x)
        value, gradient = risk(weights)
        divergence, divergence_gradient = kl_divergence(weights, equal)
        total = gradient + _CAUTION / n * divergence_gradient
        return value + _CAUTION / n * divergence, softmax_chain(weights, total)

    limits = [(-10.0, 10.0)] * votes.n_voters
    x = optimize.minimize(
        objective, np.zeros(votes.n_voters), jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": 100}
    ).x
    sizes = np.bincount(rehearsal.groups, minlength=votes.n_voters)
    return (softmax(x) / sizes)[rehearsal.groups]

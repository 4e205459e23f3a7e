r"""Evidence that rows have changed, from the ranks of their scores: a conformal test martingale.

*The hypothesis* is that reference rows and new rows are exchangeable: that any order of them is as probable as any
other, as it is if all are independent draws from one population. Each new score is ranked among the reference scores
**and all new scores before it**. With ``G`` of these ``N`` scores (itself included) above it and ``E`` equal to it,
itself included,

    p = (G + U E) / N,    U uniform on [0, 1] and independent of everything.

*These p are independent and uniform.* Proof. Take the ``N`` scores as a bag, without their order. Given the bag and all
that comes later, each of its members is equally probable to be the last one. So it has the value ``v`` with
probability ``E_v / N``, and then ``p`` is uniform on ``[G_v / N, (G_v + E_v) / N]``. These intervals divide [0, 1], so
that ``p`` is uniform on [0, 1], given the bag and all that comes later. The later p are functions of these and of their
own ``U``, so ``p`` is independent of them. Ties, however many, change nothing of that; so scores are rounded to a grid,
on which counts say all.

**The bets.** For ``0 < eps < 1`` the integral of ``eps p^(eps-1)`` over [0, 1] is 1: it bets on small ``p``, which come
of scores larger than before, and its mirror image ``eps (1-p)^(eps-1)`` on smaller ones. Products of such bets depend
on the number of rows and the sum of ``ln p`` (of ``ln(1-p)``) alone. They are martingales that start at 1, and so is
the mixture over several ``eps`` and both images: it ever reaches ``1/alpha`` with probability at most ``alpha``
(Ville). The Shiryaev-Roberts form of the same bets reaches ``1/alpha`` for the first time after ``1/alpha`` rows or
more in the mean: see :mod:`certivote.maths.evidence`.

**Rounding.** ``U`` is drawn with 53 digits, the true one would have more: both ``p`` and ``1-p`` are computed
for the end of its interval where they are larger, and rounded up. So every bet gains no more than the exact one, and
logarithms of evidence are rounded down.
"""

import numpy as np
from numpy.typing import NDArray

from certivote.maths.evidence import follow_bets, log_sum_below

__all__ = ["CHUNK", "N_BETS", "RankSums", "change_of_ranks", "evidence_of_ranks", "follow_ranks", "ranks"]

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
RankSums = Array
"""Sums of ``ln p`` and of ``ln(1-p)``, of shape (..., 2)."""

_POWERS = np.array([0.1, 0.25, 0.45, 0.65, 0.8, 0.9, 0.96, 0.99])
"""The ``eps`` of the mixture."""
_FIXED = np.concatenate([np.log(_POWERS), np.log(_POWERS)]) * (1.0 + 2.0**-50)
_SLOPES = np.concatenate([_POWERS, _POWERS]) - 1.0
N_BETS = len(_FIXED)
_EPS = 2.0**-52
CHUNK = 256
"""Rows that are ranked at a time."""


def ranks(counts: Counts, scores: NDArray[np.integer], uniforms: Array) -> RankSums:
    """Logarithms of ``p`` and ``1-p`` of at most ``CHUNK`` scores, one after another, rounded up.

    Parameters
    ----------
    counts : array of int
        How many scores there were before at each place of the grid.
    scores : array of int
        The places of the new ones.
    uniforms : array
        Multiples of ``2**-53`` below 1.

    Examples
    --------
    >>> counts = np.array([0, 8, 0])
    >>> np.exp(ranks(counts, np.array([2, 0]), np.array([0.5, 0.5]))).round(3).tolist()
    [[0.056, 0.944], [0.95, 0.05]]
    """
    at = np.cumsum(counts)
    equal, below = counts[scores].astype(float), (at - counts)[scores].astype(float)
    earlier = np.tri(len(scores), k=-1, dtype=bool)
    equal += 1.0 + np.count_nonzero(earlier & (scores[None, :] == scores[:, None]), axis=1)
    below += np.count_nonzero(earlier & (scores[None, :] < scores[:, None]), axis=1)
    size = float(at[-1]) + np.arange(1, len(scores) + 1)
    above = size - below - equal
    both = np.stack([above + (uniforms + 0.5 * _EPS) * equal, below + (1.0 - uniforms) * equal], axis=1) / size[:, None]
    logs = np.log(np.minimum(both * (1.0 + 4.0 * _EPS), 1.0))
    return np.asarray(np.minimum(logs + 2.0 * _EPS * np.abs(logs), 0.0))


def evidence_of_ranks(n: NDArray[np.integer], sums: RankSums) -> Array:
    """Logarithm of the evidence after ``n`` rows with these sums of :func:`ranks`, rounded down; element by element."""
    each = np.repeat(np.asarray(sums), len(_POWERS), axis=-1)
    count = np.asarray(n, dtype=float)[..., None]
    logs = count * _FIXED + _SLOPES * each
    return log_sum_below(logs - np.log(N_BETS) - 8.0 * _EPS * (1.0 + np.abs(count * _FIXED) + np.abs(each)))


def follow_ranks(logs: Array, found: RankSums) -> Array:
    """The Shiryaev-Roberts form of all bets after each of some rows, of shape (n_rows, n_bets), rounded down."""
    steps = _FIXED + _SLOPES * np.repeat(found, len(_POWERS), axis=-1)
    return follow_bets(logs, steps - 8.0 * _EPS * (1.0 + np.abs(steps)))


def change_of_ranks(logs: Array) -> Array:
    """Logarithm of the mixture of what :func:`follow_ranks` gives, rounded down."""
    return log_sum_below(logs - np.log(N_BETS))

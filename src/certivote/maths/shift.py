r"""What a bound on an error becomes in populations that differ from the one it was proved for.

**KL divergence.** If ``KL(P' || P) <= rho`` and the error under ``P`` is ``R <= B``, then the error ``R'`` under ``P'``
is at most ``max{q : kl(q || B) <= rho}``. *Proof.* An error is an event, and seeing only whether it happens can not
increase the divergence (the data processing inequality): ``kl(R' || R) <= rho``. Either ``R' <= B``, or ``R <= B <
R'``, where ``kl(R' || .)`` does not increase up to ``R'``, so that ``kl(R' || B) <= kl(R' || R) <= rho``.

**Total variation.** If no event's probability differs by more than ``eps``, then ``R' <= B + eps``: an error is one.

**Label noise.** If recorded classes are wrong with probability at most ``eta``, the error with respect to the true ones
is at most ``B + eta``: where the vote is wrong, either it differs from what is recorded, or that is wrong.

Means of losses in [0, 1], such as those over entities, are errors too: that a number drawn uniformly from [0, 1] is at
most the loss is an event with this probability, and such a number, the same under both, changes neither divergence.

**Several at once.** A population that is reached in several steps, each of one of these kinds, has what the steps give
one after another. Noise and total variation commute. The divergence does not commute with them, and which came
first is not given: the largest over all orders is returned. It covers all readings, among them that all describe one
and the same difference.
"""

import math
from fractions import Fraction

from certivote.maths.binary_kl import kl
from certivote.maths.rounding import float_above

__all__ = ["kl_ball_upper", "shifted_bound"]

_SMALLEST = 1e-300
"""Smaller probabilities are taken for this one: floats lose the digits of their logarithms' differences."""
_OUTWARD = 1e-11
"""Relative amount by which a divergence must exceed what is allowed. Its evaluation errs by less than 1e-12."""


def kl_ball_upper(p: float, rho: float) -> float:
    r"""Return ``max{q : kl(q || p) <= rho}``, from above.

    Parameters
    ----------
    p : float in [0, 1]
    rho : float from 0 on
        Allowed divergence, in nats.

    Returns
    -------
    float
        Never below the exact value and, from ``p = 1e-300`` on, above it by less than 1e-10 of the distance to ``p``,
        plus two units in the last place. It is 1 from ``rho = -ln p`` on.

    Examples
    --------
    >>> round(kl_ball_upper(0.05, 0.01), 4), kl_ball_upper(0.0, 1.0), kl_ball_upper(0.5, 1.0)
    (0.0836, 0.0, 1.0)
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p must lie between 0 and 1; got {p}.")
    if not rho >= 0.0:
        raise ValueError(f"rho must be a number of nats from 0 on; got {rho}.")
    if rho == 0.0 or p == 1.0:
        return float(p)
    if math.isinf(rho):
        return 1.0
    if p == 0.0:
        return 0.0
    centre = max(p, _SMALLEST)
    needed = rho * (1.0 + _OUTWARD)
    low, high = centre, 1.0
    # At the upper end the divergence is reached for certain, or it is 1.
    while low < (middle := 0.5 * (low + high)) < high:
        if float(kl(middle, centre)) >= needed:
            high = middle
        else:
            low = middle
    return high


def shifted_bound(bound: float, *, kl: float = 0.0, total_variation: float = 0.0, label_noise: float = 0.0) -> float:
    r"""What a bound on an error becomes in populations that differ so much from the one it is about.

    Parameters
    ----------
    bound : float from 0 on
    kl : float from 0 on
        Largest Kullback-Leibler divergence of the other population from this one, in nats.
    total_variation : float in [0, 1]
        Largest difference of the probabilities of any event.
    label_noise : float in [0, 1]
        Largest probability with which a recorded class is not the true one.

    Returns
    -------
    float
        Never below the exact value, and at most 1.

    Examples
    --------
    >>> round(shifted_bound(0.05, kl=0.01), 4), round(shifted_bound(0.05, total_variation=0.01, label_noise=0.02), 4)
    (0.0836, 0.08)
    """
    if not bound >= 0.0:
        raise ValueError(f"bound must be a number from 0 on; got {bound}.")
    if not 0.0 <= kl < math.inf:
        raise ValueError(f"kl must be a finite number of nats from 0 on; got {kl}.")
    added = {"total_variation": total_variation, "label_noise": label_noise}
    for name, value in added.items():
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} must lie between 0 and 1; got {value}.")
    if bound >= 1.0:
        return 1.0
    noise, variation = Fraction(label_noise), Fraction(total_variation)
    sums = {Fraction(0), noise, variation, noise + variation}

    def after(before: Fraction) -> float:
        """Some of the additions before the divergence, the others after it."""
        centre = kl_ball_upper(min(float_above(Fraction(bound) + before), 1.0), kl)
        return min(float_above(Fraction(centre) + noise + variation - before), 1.0)

    return max(map(after, sums))

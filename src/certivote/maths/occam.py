"""Occam's hammer (Blanchard and Fleuret 2007): what a level costs that depends on the draw.

Let ``theta = Q(rho)/P(rho)`` be the density ratio at the draw and ``Gamma`` a probability on ``(0, inf)`` that does not
depend on the certification rows. A test of each fixed ``rho`` at level ``delta * b(1/theta)``, with
``b(x) = int_{(0, x]} u dGamma(u)``, fails for the drawn one with probability at most ``delta``.

*Proof.* Let ``p`` be the p-value of ``rho``: super-uniform under ``P`` for every ``rho``, since ``P`` does not
look at the sample. Let ``b^{-1}(t) = inf{x : b(x) >= t}``. Failure means ``p <= delta b(1/theta)``, hence ``theta
<= 1/b^{-1}(p/delta)``, and the right side does not increase in ``p``. So the probability of failure is ``E_S
E_{rho~P} theta 1[p <= delta b(1/theta)] <= E_{rho~P} E_S 1/b^{-1}(p/delta) <= int_0^1 du / b^{-1}(u/delta) <= delta
int x^{-1} db(x) = delta Gamma(0, inf) = delta``.
"""

import math
from dataclasses import dataclass

__all__ = ["PriceList"]

_JUST_ABOVE = 1e-9
"""A mixture puts its atoms so far above the ratio they are meant for, or a rounding error in it would miss them."""


_FADE = 4.0
"""How fast an atom fades beyond its place in the stand-in for training: like ``theta`` to this power."""


@dataclass(frozen=True)
class PriceList:
    r"""The paper's ``Gamma``, a mixture of atoms and a smooth family, as a price list: nats of the draw to nats paid.

    An atom of weight ``w`` at ``exp(-c)`` allows the level ``w exp(-c)`` to every draw with ``ln theta <= c``. The
    member ``j`` of the smooth family, with density proportional to :math:`u^{1/j - 1}` on (0, 1], allows
    :math:`\theta^{-(1 + 1/j)}/(j+1)`, and ``1/(j+1)`` where ``theta < 1``; best for ``ln theta`` near ``j``.

    Parameters
    ----------
    atoms : tuple of (c, weight)
    scales : tuple of (j, weight)
        The weights of both together sum to 1, and some scale has weight: every draw gets a positive level.

    Examples
    --------
    The point mass at 1 charges nothing for a draw from the prior itself; the smooth family charges for any draw:

    >>> hammer = PriceList(atoms=((1e-9, 0.95),), scales=((4.0, 0.05),))
    >>> round(hammer.price(0.0), 3), round(hammer.price(5.0), 3)
    (0.041, 10.855)
    """

    atoms: tuple[tuple[float, float], ...]
    scales: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        weights = [weight for _, weight in (*self.atoms, *self.scales)]
        if not all(weight > 0 for weight in weights) or abs(math.fsum(weights) - 1.0) > 1e-12:
            raise ValueError(f"The weights of a price list must be positive and sum to 1; got {weights}.")
        if not self.scales or not all(scale > 0 for scale, _ in self.scales):
            raise ValueError(f"A price list needs at least one scale, and all above 0; got {self.scales}.")
        if not all(math.isfinite(place) for place, _ in self.atoms):
            raise ValueError(f"The places of the atoms of a price list must be finite; got {self.atoms}.")

    @classmethod
    def mixture(cls, atoms: tuple[tuple[float, float], ...] = ()) -> "PriceList":
        """The given atoms, and the rest of the weight spread evenly over the scales 1, 4, 16, 64 and 256.

        Where the atoms leave less than 5 % they are scaled down to 95 %, so that a draw beyond them is not lost.
        """
        total = math.fsum(weight for _, weight in atoms)
        shrink = min(1.0, 0.95 / total) if total > 0 else 1.0
        kept = tuple((float(place) + _JUST_ABOVE, float(weight) * shrink) for place, weight in atoms)
        rest = (1.0 - math.fsum(weight for _, weight in kept)) / len(_SCALES)
        return cls(kept, tuple((scale, rest) for scale in _SCALES))

    def price(self, log_ratio: float) -> float:
        """``-ln b(1/theta)``, rounded up: the level is ``delta`` times ``exp`` of minus this."""
        if log_ratio > _ENDLESS:
            return math.inf
        terms = [math.log(weight) - place for place, weight in self.atoms if log_ratio <= place]
        terms += [self._smooth(scale, weight, max(log_ratio, 0.0)) for scale, weight in self.scales]
        return -_log_sum_exp(terms) + 1e-14 * (1.0 + abs(log_ratio))

    def steering_price(self, log_ratio: float) -> tuple[float, float]:
        """A smooth stand-in for :meth:`price` to train on, and its derivative: atoms fade out from two nats early."""
        terms, slopes = [], []
        for place, weight in self.atoms:
            distance = _FADE * (place - 1.0 - log_ratio)
            terms.append(math.log(weight) - place + min(distance, 0.0) - math.log1p(math.exp(-abs(distance))))
            slopes.append(-_FADE / (1.0 + math.exp(min(distance, 700.0))))
        for scale, weight in self.scales:
            terms.append(self._smooth(scale, weight, max(log_ratio, 0.0)))
            slopes.append(-(1.0 + 1.0 / scale) if log_ratio > 0 else 0.0)
        top = _log_sum_exp(terms)
        return -top, -math.fsum(math.exp(term - top) * slope for term, slope in zip(terms, slopes, strict=True))

    @staticmethod
    def _smooth(scale: float, weight: float, log_ratio: float) -> float:
        return math.log(weight) - (1.0 + 1.0 / scale) * log_ratio - math.log(scale + 1.0)


_ENDLESS = 1e100
"""Nats beyond which no draw is worth anything."""
_SCALES = (1.0, 4.0, 16.0, 64.0, 256.0)


def _log_sum_exp(terms: list[float]) -> float:
    top = max(terms)
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))

"""The general theorems of the paper (1, 3 and 4) and what they have in common: constants, nats, and confidence.

They bound any function of a hypothesis and the sample; :mod:`certivote.theory.bounds` has their instances.
"""

import math
from typing import Literal

from certivote.maths.binomial import log_maurer

__all__ = [
    "Constant",
    "add_up",
    "check_delta",
    "check_size",
    "confidence",
    "disintegrated_ratio",
    "disintegrated_renyi",
    "log_constant",
    "pac_bayes",
    "renyi_confidence",
]

Constant = Literal["paper", "exact"]
"""``paper``: every constant as printed, with Maurer's upper bound ``2 sqrt(n)``. ``exact``: the same theorems with
nothing given away: the constant ``xi(n)`` itself, delta divided in the best way where a proof divides it, and averages
of inverted bounds in place of inverted averages."""


_ENDLESS = 1e100
"""Nats beyond which a bound says nothing."""


def log_constant(n: int, constant: Constant = "paper") -> float:
    r"""Logarithm of a bound on :math:`E\,e^{n\,kl(\hat R \| R)}` over samples of size ``n`` (Maurer 2004).

    Examples
    --------
    >>> round(log_constant(100), 4), round(log_constant(100, "exact"), 4)
    (2.9957, 2.581)
    """
    if constant not in ("paper", "exact"):
        raise ValueError(f"constant must be 'paper' or 'exact'; got {constant!r}.")
    check_size(n)
    return math.log(2.0 * math.sqrt(n)) if constant == "paper" else log_maurer(n)


def add_up(*nats: float) -> float:
    """A sum of nats, rounded up: terms of opposite sign may leave less than their own rounding errors."""
    if any(term < -_ENDLESS for term in nats):
        raise ValueError(f"Nats must be above {-_ENDLESS:g}; got {list(nats)}.")
    if any(term > _ENDLESS for term in nats):
        return math.inf
    return math.fsum(nats) + 1e-15 * math.fsum(abs(term) for term in nats)


def confidence(log_moment: float, delta: float) -> float:
    """What a theorem pays to hold with probability ``1 - delta``: the moment over delta, in nats."""
    check_delta(delta)
    return add_up(log_moment, -math.log(delta))


def pac_bayes(divergence: float, log_moment: float, delta: float) -> float:
    r"""Theorem 1 (Germain et al.), the right side: for every posterior at once, with probability ``1 - delta``.

    .. math:: E_{h\sim\rho}\,\varphi(h, S) \le KL(\rho\|\pi)
              + \ln\Bigl(\tfrac1\delta E_{S'} E_{h'\sim\pi} e^{\varphi(h', S')}\Bigr)

    Parameters
    ----------
    divergence : float
        ``KL(rho || pi)``, in nats.
    log_moment : float
        Logarithm of the expectation on the right, or of an upper bound on it.
    delta : float in (0, 1)

    Examples
    --------
    McAllester's bound, from ``phi = 2 n (R - r)^2 <= n kl(r || R)``, whose moment is at most ``2 sqrt(n)``:

    >>> n, risk = 1000, 0.1
    >>> right = pac_bayes(5.0, log_constant(n), 0.05)
    >>> round(risk + (right / (2 * n)) ** 0.5, 4)
    0.1779
    """
    return add_up(divergence, confidence(log_moment, delta))


def disintegrated_ratio(log_ratio: float, log_moment: float, delta: float) -> float:
    r"""Theorem 3 (Rivasplata et al.), the right side: with probability ``1 - delta`` over the sample and the draw.

    .. math:: \varphi(h, S) \le \ln\frac{\rho_S(h)}{\pi(h)}
              + \ln\Bigl(\tfrac1\delta E_{S'} E_{h'\sim\pi} e^{\varphi(h', S')}\Bigr), \qquad h \sim \rho_S

    The arguments are as in :func:`pac_bayes`, with the log-density ratio at the draw in place of the divergence.
    """
    return add_up(log_ratio, confidence(log_moment, delta))


def disintegrated_renyi(
    renyi: float, log_moment: float, delta: float, renyi_order: float, constant: Constant = "paper"
) -> float:
    r"""Theorem 4 (Viallard et al.), the right side: with probability ``1 - delta`` over the sample and the draw.

    .. math:: \tfrac{\lambda}{\lambda-1} \ln\varphi(h, S) \le \tfrac{2\lambda-1}{\lambda-1}\ln\tfrac2\delta
              + D_\lambda(\rho_S\|\pi) + \ln E_{S'} E_{h'\sim\pi}\,\varphi(h', S')^{\lambda/(\lambda-1)},
              \qquad h \sim \rho_S

    Parameters
    ----------
    renyi : float
        ``D_lambda(rho_S || pi)``.
    log_moment : float
        Logarithm of the expectation on the right, or of an upper bound on it.
    delta : float in (0, 1)
    renyi_order : float
        ``lambda``, greater than 1.
    constant : {"paper", "exact"}
        The proof applies Markov's inequality twice: once to ``phi``, which costs
        :math:`\tfrac{\lambda}{\lambda-1}\ln\tfrac1{\delta_1}`, and once to its moment, which costs
        :math:`\ln\tfrac1{\delta_2}`. The paper takes half of delta each; ``exact`` takes
        :math:`\delta_1 = \delta\lambda/(2\lambda-1)`, which is best, and the rest.
    """
    return add_up(renyi, renyi_confidence(log_moment, delta, renyi_order, constant))


def renyi_confidence(log_moment: float, delta: float, renyi_order: float, constant: Constant = "paper") -> float:
    """What Theorem 4 pays to hold with probability ``1 - delta``; see :func:`disintegrated_renyi`."""
    check_delta(delta)
    order = renyi_order
    if not 1 < order < _ENDLESS:
        raise ValueError(f"renyi_order must be greater than 1; got {order}.")
    first = delta / 2 if constant == "paper" else delta * order / (2 * order - 1)
    return add_up(log_moment, -order / (order - 1) * math.log(first), -math.log(delta - first))


def check_size(n: int) -> None:
    """Refuse a sample size that is none."""
    if not n >= 1:
        raise ValueError(f"n must be at least 1; got {n}.")
    if n > 2**53 or n != int(n):
        raise ValueError(f"n must be a whole number, at most 2**53; got {n}.")


def check_delta(delta: float) -> None:
    """Refuse a probability of failure that is none."""
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie strictly between 0 and 1; got {delta}.")

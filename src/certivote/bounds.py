"""One function a theorem of the paper: from an empirical risk and a penalty in nats to a bound on the true risk.

The penalty is whatever the theorem asks for, of any pair of distributions: with Dirichlets it comes from
:mod:`certivote.maths.dirichlet`, which makes the theorems their corollaries 1 to 4.

All bounds have the form ``kl^{-1}(risk || (penalty + confidence) / n)``, where the confidence is what the theorem pays
for holding with probability ``1 - delta``. They are returned from above: never below the exact value.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from certivote.maths.binary_kl import kl_inverse_upper
from certivote.maths.binomial import binomial_upper, log_maurer

__all__ = [
    "Constant",
    "average_bound",
    "dis_r",
    "dis_r_confidence",
    "dis_r_cross",
    "dis_v",
    "dis_v_confidence",
    "dis_v_cross",
    "holdout",
    "sample_bound",
]

Constant = Literal["paper", "exact"]
"""``paper``: Maurer's upper bound ``2 sqrt(n)``; ``exact``: the constant ``xi(n)`` itself, which is smaller."""


def _log_constant(n: int, constant: Constant) -> float:
    """Logarithm of the constant that bounds ``E exp(n kl(empirical || true))`` (Maurer 2004)."""
    if constant not in ("paper", "exact"):
        raise ValueError(f"constant must be 'paper' or 'exact'; got {constant!r}.")
    return math.log(2.0 * math.sqrt(n)) if constant == "paper" else log_maurer(n)


def sample_bound(risk: float, nats: float, n: int) -> float:
    """``kl^{-1}(risk || nats / n)``: the form of every bound on one sample."""
    # A risk such as k/n is rounded to the nearest float: one step up covers it. That nats / n is rounded is covered by
    # the outward move of the inverse.
    upward = math.nextafter(risk, 1.0) if risk > 0 else risk
    return float(kl_inverse_upper(upward, nats / n))


def average_bound(
    risks: Sequence[float], nats: Sequence[float], sizes: Sequence[int], shares: Sequence[float]
) -> float:
    """``kl^{-1}(sum_k share_k risk_k || sum_k share_k nats_k / n_k)``: the form of the bounds on an average."""
    if abs(math.fsum(shares) - 1.0) > 1e-12 or min(shares) < 0:
        raise ValueError(f"shares must be non-negative and sum to 1; got {list(shares)}.")
    risk = math.fsum(share * r for share, r in zip(shares, risks, strict=True))
    eps = math.fsum(share * max(nat, 0.0) / n for share, nat, n in zip(shares, nats, sizes, strict=True))
    return sample_bound(min(risk * (1 + 4e-16), 1.0), eps, 1)


def dis_r_confidence(n: int, delta: float, constant: Constant = "paper") -> float:
    r"""Nats that Theorem 6 adds to its penalty: :math:`\ln(2\sqrt n/\delta)`."""
    _check(n, delta)
    return _log_constant(n, constant) - math.log(delta)


def dis_v_confidence(n: int, delta: float, order: float, constant: Constant = "paper") -> float:
    r"""Nats that Theorem 7 adds to its penalty: :math:`\frac{2\lambda-1}{\lambda-1}\ln\frac2\delta + \ln(2\sqrt n)`."""
    _check(n, delta)
    if not order > 1:
        raise ValueError(f"order must be greater than 1; got {order}.")
    return (2 * order - 1) / (order - 1) * math.log(2 / delta) + _log_constant(n, constant)


def dis_r(risk: float, log_ratio: float, n: int, delta: float, constant: Constant = "paper") -> float:
    r"""Theorem 6: risk of one vote drawn from the hyper-posterior ``Q``.

    With probability at least ``1 - delta`` over the sample and the draw of ``rho``,

    .. math:: R(MV_\rho) \le \mathrm{kl}^{-1}\Bigl(\hat R(MV_\rho) \Big\| \frac1n
              \bigl[\ln\tfrac{Q(\rho)}{P(\rho)} + \ln\tfrac{2\sqrt n}\delta\bigr]\Bigr).

    Parameters
    ----------
    risk : float in [0, 1]
        Empirical risk of the drawn vote on the ``n`` examples.
    log_ratio : float
        ``ln Q(rho)/P(rho)`` at the draw. May be negative.
    n : int
    delta : float in (0, 1)
    constant : {"paper", "exact"}

    Examples
    --------
    >>> round(dis_r(0.05, 5.0, 2000, 0.05), 4), round(dis_r(0.05, 5.0, 2000, 0.05, "exact"), 4)
    (0.0781, 0.0776)
    """
    return sample_bound(risk, log_ratio + dis_r_confidence(n, delta, constant), n)


def dis_v(risk: float, renyi: float, n: int, delta: float, order: float, constant: Constant = "paper") -> float:
    r"""Theorem 7: as :func:`dis_r`, paying the Rényi divergence ``D_lambda(Q || P)`` instead of the ratio at the draw.

    .. math:: R(MV_\rho) \le \mathrm{kl}^{-1}\Bigl(\hat R(MV_\rho) \Big\| \frac1n
              \bigl[\tfrac{2\lambda-1}{\lambda-1}\ln\tfrac2\delta + D_\lambda(Q\|P) + \ln(2\sqrt n)\bigr]\Bigr).

    Examples
    --------
    >>> round(dis_v(0.05, 5.0, 2000, 0.05, order=2.0), 4)
    0.0875
    """
    return sample_bound(risk, renyi + dis_v_confidence(n, delta, order, constant), n)


def dis_r_cross(
    risks: Sequence[float],
    log_ratios: Sequence[float],
    sizes: Sequence[int],
    delta: float,
    shares: Sequence[float],
    constant: Constant = "paper",
) -> float:
    r"""Theorem 8: average risk of votes whose voters were learned on the other part.

    With ``shares`` :math:`(\tau, 1-\tau)`, the bound on :math:`\tau R(MV_{\rho_1}) + (1-\tau) R(MV_{\rho_2})` is
    :math:`\mathrm{kl}^{-1}(\tau\hat R_1 + (1-\tau)\hat R_2 \| \tau\epsilon_1 + (1-\tau)\epsilon_2)`, with each
    :math:`\epsilon_k` that of Theorem 6 at ``delta / 2``.

    Examples
    --------
    >>> round(dis_r_cross([0.05, 0.06], [5.0, 4.0], [2000, 2000], 0.05, [0.5, 0.5]), 4)
    0.0839
    """
    each = delta / len(sizes)
    nats = [ratio + dis_r_confidence(n, each, constant) for ratio, n in zip(log_ratios, sizes, strict=True)]
    return average_bound(risks, nats, sizes, shares)


def dis_v_cross(
    risks: Sequence[float],
    renyis: Sequence[float],
    sizes: Sequence[int],
    delta: float,
    order: float,
    shares: Sequence[float],
    constant: Constant = "paper",
) -> float:
    r"""Theorem 9: as :func:`dis_r_cross`, with each :math:`\epsilon_k` that of Theorem 7 at ``delta / 2``."""
    each = delta / len(sizes)
    nats = [renyi + dis_v_confidence(n, each, order, constant) for renyi, n in zip(renyis, sizes, strict=True)]
    return average_bound(risks, nats, sizes, shares)


def holdout(errors: int, n: int, delta: float) -> float:
    """Clopper-Pearson: risk of a classifier fixed before the ``n`` examples were seen, of which it errs on ``errors``.

    Examples
    --------
    >>> round(holdout(5, 100, 0.05), 4)
    0.1023
    """
    _check(n, delta)
    return float(binomial_upper(errors, n, math.log(delta)))


def _check(n: int, delta: float) -> None:
    if not n >= 1:
        raise ValueError(f"n must be at least 1; got {n}.")
    if not 0 < delta < 1 or np.isnan(delta):
        raise ValueError(f"delta must lie strictly between 0 and 1; got {delta}.")

"""One function per theorem of the paper: from an empirical risk and a penalty in nats to a bound on the true risk.

Theorem 2 and the concrete bounds (5 to 9, the surrogates, Occam's hammer) are instances of the general theorems in
:mod:`certivote.theory.general_bounds`, and certificates are made by calling these functions.
The penalty is the one of the theorem, for any pair of distributions: with Dirichlets it comes from
:mod:`certivote.maths.dirichlet`, which makes the theorems their corollaries 1 to 4.

Bounds on a risk are returned from above: never below the exact value. Those over 1 are returned as they come.
"""

import math
from collections.abc import Sequence

from certivote.maths.binary_kl import kl_inverse_lower, kl_inverse_upper
from certivote.maths.binomial import binomial_upper
from certivote.theory.general_bounds import (
    Constant,
    add_up,
    check_delta,
    check_size,
    confidence,
    disintegrated_ratio,
    disintegrated_renyi,
    log_constant,
    pac_bayes,
)

__all__ = [
    "SMALLEST_DELTA",
    "average_bound",
    "average_of_bounds",
    "c_bound",
    "dis_b",
    "dis_r",
    "dis_r_cross",
    "dis_v",
    "dis_v_cross",
    "holdout",
    "moment_limits",
    "pac_bayes_c_bound",
    "pac_bayes_c_bound_cross",
    "sample_bound",
    "seeger_maurer",
    "seeger_maurer_cross",
]

SMALLEST_DELTA = 1e-100
"""Below it, nothing that delta is divided into could be told from 0."""


def sample_bound(risk: float, nats: float, n: int) -> float:
    """``kl^{-1}(risk || nats / n)``: the form of every bound on one sample."""
    # A risk such as k/n is rounded to the nearest float: one step up covers it. That nats / n is rounded is covered by
    # the outward move of the inverse.
    upward = math.nextafter(risk, 1.0) if risk > 0 else risk
    return float(kl_inverse_upper(upward, nats / n))


def average_bound(
    risks: Sequence[float], nats: Sequence[float], sizes: Sequence[int], weights: Sequence[float]
) -> float:
    """``kl^{-1}(sum_k w_k risk_k || sum_k w_k nats_k / n_k)``: the form of the paper's bounds on an average."""
    _check_average(weights)
    risk = math.fsum(weight * r for weight, r in zip(weights, risks, strict=True))
    eps = math.fsum(weight * max(nat, 0.0) / n for weight, nat, n in zip(weights, nats, sizes, strict=True))
    return sample_bound(min(risk * (1 + 4e-16), 1.0), eps, 1)


def average_of_bounds(bounds: Sequence[float], weights: Sequence[float]) -> float:
    """A bound on the average error of several votes: the average of their bounds, which all hold at once.

    Never looser than :func:`average_bound` at the same nats, since ``kl^{-1}`` is jointly concave.
    """
    _check_average(weights)
    return math.fsum(weight * bound for weight, bound in zip(weights, bounds, strict=True)) * (1 + 4e-16)


def seeger_maurer(risk: float, divergence: float, n: int, delta: float, constant: Constant = "paper") -> float:
    r"""Theorem 2 (Seeger, Maurer): Theorem 1 with :math:`\varphi = n\,kl(\hat R\|R)`.

    With probability ``1 - delta``, for every posterior at once, the mean risk under it is at most
    :math:`kl^{-1}\bigl(\text{risk} \| \frac1n[KL + \ln\frac{2\sqrt n}\delta]\bigr)`. Theorem 5 is this bound with
    weight vectors in place of voters: ``risk`` the mean risk of votes drawn from the hyper-posterior.

    The surrogates of the mean vote follow from it: twice the bound on the mean wrong mass (factor two); four times that
    on its square, with twice the divergence (second order); twice that on ``P[Bin(N, w) >= N/2]``, with ``N`` times it.

    Examples
    --------
    >>> round(seeger_maurer(0.05, 5.0, 2000, 0.05), 4)
    0.0781
    """
    return sample_bound(risk, pac_bayes(divergence, log_constant(n, constant), delta), n)


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
    return sample_bound(risk, disintegrated_ratio(log_ratio, log_constant(n, constant), delta), n)


def dis_v(risk: float, renyi: float, n: int, delta: float, renyi_order: float, constant: Constant = "paper") -> float:
    r"""Theorem 7: as :func:`dis_r`, paying the Rényi divergence ``D_lambda(Q || P)`` instead of the ratio at the draw.

    .. math:: R(MV_\rho) \le \mathrm{kl}^{-1}\Bigl(\hat R(MV_\rho) \Big\| \frac1n
              \bigl[\tfrac{2\lambda-1}{\lambda-1}\ln\tfrac2\delta + D_\lambda(Q\|P) + \ln(2\sqrt n)\bigr]\Bigr).

    Examples
    --------
    >>> round(dis_v(0.05, 5.0, 2000, 0.05, renyi_order=2.0), 4)
    0.0875
    """
    nats = disintegrated_renyi(renyi, log_constant(n, constant), delta, renyi_order, constant)
    return sample_bound(risk, nats, n)


def seeger_maurer_cross(
    risks: Sequence[float],
    divergences: Sequence[float],
    sizes: Sequence[int],
    deltas: Sequence[float],
    weights: Sequence[float],
    constant: Constant = "paper",
) -> float:
    """Theorem 2 or 5 on each part, put together as Theorem 8 does: a bound on the average of the parts' mean risks."""
    nats = [
        pac_bayes(divergence, log_constant(n, constant), delta)
        for divergence, n, delta in zip(divergences, sizes, deltas, strict=True)
    ]
    return average_bound(risks, nats, sizes, weights)


def dis_r_cross(
    risks: Sequence[float],
    log_ratios: Sequence[float],
    sizes: Sequence[int],
    deltas: Sequence[float],
    weights: Sequence[float],
    constant: Constant = "paper",
) -> float:
    r"""Theorem 8: average risk of votes whose voters were learned on the other part.

    With ``weights`` :math:`(\tau, 1-\tau)`, the bound on :math:`\tau R(MV_{\rho_1}) + (1-\tau) R(MV_{\rho_2})` is
    :math:`\mathrm{kl}^{-1}(\tau\hat R_1 + (1-\tau)\hat R_2 \| \tau\epsilon_1 + (1-\tau)\epsilon_2)`, with each
    :math:`\epsilon_k` that of Theorem 6 at its own part of delta; the paper takes ``deltas`` of ``delta / 2`` each.

    Examples
    --------
    >>> round(dis_r_cross([0.05, 0.06], [5.0, 4.0], [2000, 2000], [0.025, 0.025], [0.5, 0.5]), 4)
    0.0845
    """
    nats = [
        disintegrated_ratio(ratio, log_constant(n, constant), delta)
        for ratio, n, delta in zip(log_ratios, sizes, deltas, strict=True)
    ]
    return average_bound(risks, nats, sizes, weights)


def dis_v_cross(
    risks: Sequence[float],
    renyis: Sequence[float],
    sizes: Sequence[int],
    deltas: Sequence[float],
    renyi_orders: Sequence[float],
    weights: Sequence[float],
    constant: Constant = "paper",
) -> float:
    r"""Theorem 9: as :func:`dis_r_cross`, with each :math:`\epsilon_k` that of Theorem 7 at its own part of delta."""
    nats = [
        disintegrated_renyi(renyi, log_constant(n, constant), delta, order, constant)
        for renyi, n, delta, order in zip(renyis, sizes, deltas, renyi_orders, strict=True)
    ]
    return average_bound(risks, nats, sizes, weights)


def dis_b(errors: float, price: float, n: int, delta: float) -> float:
    r"""Occam's hammer with the binomial tail: risk of one vote drawn from the hyper-posterior, wrong on ``k`` rows.

    With probability at least ``1 - delta`` over the sample and the draw, :math:`R(MV_\rho)` is at most the
    Clopper-Pearson limit of ``errors`` among ``n`` at the level :math:`\delta\,b(1/\theta)`. The proof is in
    :mod:`certivote.maths.occam`: the p-value of a fixed vote is the binomial tail at its true risk.

    Parameters
    ----------
    errors : float
    price : float
        :math:`-\ln b(1/\theta)`, what a price list that was fixed without looking at the certification rows asks for
        the log-density ratio at the draw. At price 0 this is the limit of Clopper and Pearson.
    n : int
    delta : float in (0, 1)

    Examples
    --------
    >>> from certivote.maths.occam import PriceList
    >>> round(dis_b(100, PriceList.mixture().price(5.0), 2000, 0.05), 4)
    0.0742
    >>> round(dis_b(100, PriceList.mixture(atoms=((5.0, 1.0),)).price(5.0), 2000, 0.05), 4)
    0.0688
    """
    _check_counts(errors, n)
    check_delta(delta)
    return float(binomial_upper(errors, n, min(-add_up(price, -math.log(delta)), 0.0)))


def holdout(errors: float, n: int, delta: float) -> float:
    """Clopper-Pearson: risk of a classifier fixed before the ``n`` examples were seen, wrong on ``errors`` of them.

    Examples
    --------
    >>> round(holdout(5, 100, 0.05), 4)
    0.1023
    """
    _check_counts(errors, n)
    check_delta(delta)
    return float(binomial_upper(errors, n, math.log(delta)))


def c_bound(gibbs_risk: float, disagreement: float) -> float:
    r"""C-bound: risk of the mean vote, from its mean wrong mass and the disagreement of its voters.

    .. math:: 1 - \frac{(1 - 2r)^2}{1 - 2d} \quad\text{for } r < \tfrac12,

    It increases in ``r`` and decreases in ``d``, so an upper bound on ``r`` and a lower bound on ``d`` give a
    certificate. At ``r >= 1/2`` the Cantelli-Chebyshev inequality behind it says nothing and 1 is returned. (Paper,
    Section 3.1, where ``1 - 2r`` is written with the joint error ``e``: ``r = e + d/2``.)

    Examples
    --------
    >>> round(c_bound(0.2, 0.3), 4)
    0.1
    """
    if gibbs_risk >= 0.5:
        return 1.0
    # The quotient is at most 1 and five roundings deep.
    return min(1.0 - (1.0 - 2.0 * gibbs_risk) ** 2 / (1.0 - 2.0 * disagreement) + 8e-16, 1.0)


def moment_limits(risk: float, disagreement: float, nats: tuple[float, float], n: int) -> tuple[float, float]:
    """Upper limit of the mean wrong mass and lower limit of the disagreement, for :func:`c_bound`."""
    upper = sample_bound(risk, nats[0], n)
    lower = float(kl_inverse_lower(math.nextafter(max(disagreement, 0.0), 0.0), max(nats[1], 0.0) / n))
    return upper, lower


def pac_bayes_c_bound(
    risks: tuple[float, float], divergence: float, n: int, delta: float, constant: Constant = "paper"
) -> float:
    """C-bound with both statistics bounded by Theorem 2: mean wrong mass and disagreement, at ``delta / 2`` each.

    The disagreement is that of pairs of voters, so it pays the divergence twice.
    """
    return c_bound(*_c_limits(risks, divergence, n, delta, constant))


def pac_bayes_c_bound_cross(
    risks: Sequence[tuple[float, float]],
    divergences: Sequence[float],
    sizes: Sequence[int],
    deltas: Sequence[float],
    weights: Sequence[float],
    constant: Constant = "paper",
) -> float:
    """C-bound of an average of votes, from the averages of the limits of each part."""
    _check_average(weights)
    limits = [
        _c_limits(risk, divergence, n, delta, constant)
        for risk, divergence, n, delta in zip(risks, divergences, sizes, deltas, strict=True)
    ]
    upper = math.fsum(weight * limit[0] for weight, limit in zip(weights, limits, strict=True)) * (1 + 4e-16)
    lower = math.fsum(weight * limit[1] for weight, limit in zip(weights, limits, strict=True)) * (1 - 4e-16)
    return c_bound(upper, lower)


def _c_limits(
    risks: tuple[float, float], divergence: float, n: int, delta: float, constant: Constant
) -> tuple[float, float]:
    rest = confidence(log_constant(n, constant), delta) + math.log(2.0)
    return moment_limits(*risks, (divergence + rest, 2 * divergence + rest), n)


def _check_average(weights: Sequence[float]) -> None:
    if abs(math.fsum(weights) - 1.0) > 1e-12 or min(weights) < 0:
        raise ValueError(f"The weights of an average must be non-negative and sum to 1; got {list(weights)}.")


def _check_counts(errors: float, n: int) -> None:
    check_size(n)
    if not 0 <= errors <= n:
        raise ValueError(f"errors must lie between 0 and n; got {errors}.")

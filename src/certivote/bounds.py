"""One function a theorem of the paper: from an empirical risk and a penalty in nats to a bound on the true risk.

The general theorems (1, 3, 4) bound any function of a hypothesis and the sample; Theorem 2 and the concrete bounds
(5 to 9, the surrogates) are instances of them. The penalty is whatever the theorem asks for, of any pair of
distributions: with Dirichlets it comes from :mod:`certivote.maths.dirichlet`, which makes the theorems their
corollaries 1 to 4.

Bounds on a risk are returned from above: never below the exact value. Those over 1 are returned as they come.
"""

import math
from collections.abc import Sequence
from typing import Literal

from certivote.maths.binary_kl import kl_inverse_lower, kl_inverse_upper
from certivote.maths.binomial import binomial_upper, log_maurer
from certivote.maths.occam import Gamma

__all__ = [
    "Constant",
    "add_up",
    "average_bound",
    "c_bound",
    "check_shares",
    "dis_b",
    "dis_r",
    "dis_r_cross",
    "dis_v",
    "dis_v_cross",
    "disintegrated_ratio",
    "disintegrated_renyi",
    "holdout",
    "log_constant",
    "moment_limits",
    "pac_bayes",
    "sample_bound",
    "seeger_maurer",
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
    _check_size(n)
    return math.log(2.0 * math.sqrt(n)) if constant == "paper" else log_maurer(n)


def add_up(*nats: float) -> float:
    """A sum of nats, rounded up: terms of opposite sign may leave less than their own rounding errors."""
    if any(term < -_ENDLESS for term in nats):
        raise ValueError(f"Nats must be above {-_ENDLESS:g}; got {list(nats)}.")
    if any(term > _ENDLESS for term in nats):
        return math.inf
    return math.fsum(nats) + 1e-15 * math.fsum(abs(term) for term in nats)


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
    _check_delta(delta)
    return add_up(divergence, log_moment, -math.log(delta))


def disintegrated_ratio(log_ratio: float, log_moment: float, delta: float) -> float:
    r"""Theorem 3 (Rivasplata et al.), the right side: with probability ``1 - delta`` over the sample and the draw.

    .. math:: \varphi(h, S) \le \ln\frac{\rho_S(h)}{\pi(h)}
              + \ln\Bigl(\tfrac1\delta E_{S'} E_{h'\sim\pi} e^{\varphi(h', S')}\Bigr), \qquad h \sim \rho_S

    The arguments are as in :func:`pac_bayes`, with the log-density ratio at the draw in place of the divergence.
    """
    _check_delta(delta)
    return add_up(log_ratio, log_moment, -math.log(delta))


def disintegrated_renyi(
    renyi: float, log_moment: float, delta: float, order: float, constant: Constant = "paper"
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
    order : float
        ``lambda``, greater than 1.
    constant : {"paper", "exact"}
        The proof applies Markov's inequality twice: once to ``phi``, which costs
        :math:`\tfrac{\lambda}{\lambda-1}\ln\tfrac1{\delta_1}`, and once to its moment, which costs
        :math:`\ln\tfrac1{\delta_2}`. The paper takes half of delta each; ``exact`` takes
        :math:`\delta_1 = \delta\lambda/(2\lambda-1)`, which is best, and the rest.
    """
    _check_delta(delta)
    if not 1 < order < _ENDLESS:
        raise ValueError(f"order must be greater than 1; got {order}.")
    first = delta / 2 if constant == "paper" else delta * order / (2 * order - 1)
    return add_up(renyi, log_moment, -order / (order - 1) * math.log(first), -math.log(delta - first))


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
    check_shares(shares)
    risk = math.fsum(share * r for share, r in zip(shares, risks, strict=True))
    eps = math.fsum(share * max(nat, 0.0) / n for share, nat, n in zip(shares, nats, sizes, strict=True))
    return sample_bound(min(risk * (1 + 4e-16), 1.0), eps, 1)


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


def dis_v(risk: float, renyi: float, n: int, delta: float, order: float, constant: Constant = "paper") -> float:
    r"""Theorem 7: as :func:`dis_r`, paying the Rényi divergence ``D_lambda(Q || P)`` instead of the ratio at the draw.

    .. math:: R(MV_\rho) \le \mathrm{kl}^{-1}\Bigl(\hat R(MV_\rho) \Big\| \frac1n
              \bigl[\tfrac{2\lambda-1}{\lambda-1}\ln\tfrac2\delta + D_\lambda(Q\|P) + \ln(2\sqrt n)\bigr]\Bigr).

    Examples
    --------
    >>> round(dis_v(0.05, 5.0, 2000, 0.05, order=2.0), 4)
    0.0875
    """
    nats = disintegrated_renyi(renyi, log_constant(n, constant), delta, order, constant)
    return sample_bound(risk, nats, n)


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
    0.0845
    """
    _check_delta(delta)
    each = delta / len(sizes)
    nats = [
        disintegrated_ratio(ratio, log_constant(n, constant), each) for ratio, n in zip(log_ratios, sizes, strict=True)
    ]
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
    _check_delta(delta)
    each = delta / len(sizes)
    nats = [
        disintegrated_renyi(renyi, log_constant(n, constant), each, order, constant)
        for renyi, n in zip(renyis, sizes, strict=True)
    ]
    return average_bound(risks, nats, sizes, shares)


def dis_b(errors: float, log_ratio: float, n: int, delta: float, gamma: Gamma) -> float:
    r"""Occam's hammer with the binomial tail: risk of one vote drawn from the hyper-posterior, of which ``k`` err.

    With probability at least ``1 - delta`` over the sample and the draw, :math:`R(MV_\rho)` is at most the
    Clopper-Pearson limit of ``errors`` among ``n`` at the level :math:`\delta\,b(1/\theta)`, where
    :math:`\ln\theta` is ``log_ratio``. The proof is in :mod:`certivote.maths.occam`: the p-value of a fixed vote is
    the binomial tail at its true risk.

    Parameters
    ----------
    gamma : Gamma
        Fixed without looking at the certified sample.

    Examples
    --------
    >>> round(dis_b(100, 5.0, 2000, 0.05, Gamma.mixture()), 4)
    0.0742
    >>> round(dis_b(100, 5.0, 2000, 0.05, Gamma.mixture(atoms=((5.0, 1.0),))), 4)
    0.0688
    """
    _check_counts(errors, n)
    _check_delta(delta)
    return float(binomial_upper(errors, n, -add_up(gamma.price(log_ratio), -math.log(delta))))


def holdout(errors: float, n: int, delta: float) -> float:
    """Clopper-Pearson: risk of a classifier fixed before the ``n`` examples were seen, of which it errs on ``errors``.

    Examples
    --------
    >>> round(holdout(5, 100, 0.05), 4)
    0.1023
    """
    _check_counts(errors, n)
    _check_delta(delta)
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


def check_shares(shares: Sequence[float]) -> None:
    """Refuse weights of an average that are negative or do not sum to 1."""
    if abs(math.fsum(shares) - 1.0) > 1e-12 or min(shares) < 0:
        raise ValueError(f"shares must be non-negative and sum to 1; got {list(shares)}.")


def _check_size(n: int) -> None:
    if not n >= 1:
        raise ValueError(f"n must be at least 1; got {n}.")
    if n > 2**53 or n != int(n):
        raise ValueError(f"n must be a whole number, at most 2**53; got {n}.")


def _check_counts(errors: float, n: int) -> None:
    _check_size(n)
    if not 0 <= errors <= n:
        raise ValueError(f"errors must lie between 0 and n; got {errors}.")


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie strictly between 0 and 1; got {delta}.")

"""Occam's hammer in mpmath, by brute force."""

from functools import cache

from mpmath import mp, mpf


@cache
def smooth_share(scale, log_ratio):
    """``int_(0, x] u dGamma_j(u)`` with ``x = exp(-log_ratio)``, by quadrature of the density of member ``j``."""
    with mp.workdps(30):
        j, x = mpf(scale), mp.exp(-mpf(log_ratio))
        return mp.quad(lambda u: u * mp.power(u, 1 / j - 1) / j, [0, min(x, mpf(1))])


def exact_level(price_list, log_ratio):
    """``b(1/theta)``: the integral of ``u`` over (0, 1/theta], atom by atom and density by density."""
    with mp.workdps(30):
        x = mp.exp(-mpf(log_ratio))
        places = [(mp.exp(-mpf(place)), mpf(weight)) for place, weight in price_list.atoms]
        level = mp.fsum(weight * u for u, weight in places if u <= x)
        return level + mp.fsum(mpf(weight) * smooth_share(scale, log_ratio) for scale, weight in price_list.scales)


def binomial_tail(errors, n, p):
    """``P[Bin(n, p) <= errors]``, summed term by term."""
    p = mpf(p)
    if p == 1:
        return mpf(int(errors == n))
    term = total = (1 - p) ** n
    for i in range(errors):
        term *= mpf(n - i) / (i + 1) * p / (1 - p)
        total += term
    return total


def assert_limit(got, errors, n, level, relative="1e-9"):
    """That ``got`` is the Clopper-Pearson limit at this level: not below it, and above it by next to nothing."""
    if errors == n:
        assert got == 1
        return
    with mp.workdps(40):
        assert binomial_tail(errors, n, got) <= level, "below the exact limit"
        assert binomial_tail(errors, n, mpf(got) * (1 - mpf(relative))) >= level, "well above the exact limit"

"""Failure probabilities without simulation: of one classifier that learns nothing, by adding up binomial chances."""

from collections.abc import Callable
from functools import cache

from scipy import stats
from study import Row

from certivote.maths.occam import PriceList
from certivote.theory.bounds import dis_b, dis_r, dis_v, holdout, seeger_maurer

Bound = Callable[[int, int, float], float]
"""Errors, rows and delta to a bound."""
STAYING = PriceList.mixture(((0.0, 0.95),))
BOUNDS: dict[str, Bound] = {
    "holdout": holdout,
    "dis-b, staying at the prior": lambda k, n, delta: dis_b(k, STAYING.price(0.0), n, delta),
    "dis-r, exact": lambda k, n, delta: dis_r(k / n, 0.0, n, delta, "exact"),
    "dis-r, paper": lambda k, n, delta: dis_r(k / n, 0.0, n, delta, "paper"),
    "dis-v, exact": lambda k, n, delta: dis_v(k / n, 0.0, n, delta, 1.5, "exact"),
    "dis-v, paper": lambda k, n, delta: dis_v(k / n, 0.0, n, delta, 1.5, "paper"),
    "Theorems 2 and 5, exact": lambda k, n, delta: seeger_maurer(k / n, 0.0, n, delta, "exact"),
    "Theorems 2 and 5, paper": lambda k, n, delta: seeger_maurer(k / n, 0.0, n, delta, "paper"),
}
SIZES = (1, 2, 5, 10, 20, 50, 100)
LEVELS = (0.01, 0.05, 0.2)


def worst_failure(bound: Bound, n: int, delta: float) -> float:
    """The largest probability, over all true errors, that the bound is below the true error.

    The bound grows with the errors seen, so it fails exactly if at most some number ``k`` are seen, and that is most
    probable where the true error is just above the bound at ``k``.
    """
    limits = [bound(k, n, delta) for k in range(n + 1)]
    return max((float(stats.binom.cdf(k, n, limit)) for k, limit in enumerate(limits) if limit < 1.0), default=0.0)


@cache
def worst_failures() -> list[tuple[str, float, float]]:
    """Bound, delta, and the largest failure probability over all true errors and sizes."""
    return [
        (name, delta, max(worst_failure(bound, n, delta) for n in SIZES))
        for name, bound in BOUNDS.items()
        for delta in LEVELS
    ]


def enumerated_rate(row: Row) -> float | None:
    """The exact violation rate of a hold-out row, where the true error is the same for every vote; otherwise None.

    Clopper and Pearson's limit comes from SciPy here, not from the library.
    """
    known = {"2 classes, pure noise": 1 / 2, "3 classes, pure noise": 2 / 3}
    split = "split none" if (row.method, row.setting) == ("certify", "one model") else row.setting.split(",")[0]
    plain = row.part != "broken" and row.method in ("holdout", "certify") and split in ("split none", "split single")
    if not plain or row.world not in known or "half-weight" in row.setting:
        return None
    n, truth = row.n if split == "split none" else row.n // 2, known[row.world]
    return float(
        sum(
            stats.binom.pmf(k, n, truth)
            for k in range(n)  # n errors in n rows: the limit is 1
            if stats.beta.ppf(1.0 - row.delta, k + 1, n - k) < truth
        )
    )

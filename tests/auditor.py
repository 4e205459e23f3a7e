"""A stranger with the theorems at hand and mpmath: every bound of a certificate from the numbers in its JSON alone."""

import json
from fractions import Fraction
from functools import cache

from bets import exact_mean, log_wealths
from mpmath import mp, mpf
from reference import exact_inverse, last_inside

from certivote.certificate import payments_of

COEFFICIENT = {"fo": 2, "so": 4, "bin": 2}
MULTIPLE = {"fo": 1, "so": 2, "bin": 100, "c-bound": 1}
"""Divergences that the surrogates pay."""


def log_beta(x):
    return mp.fsum(mp.loggamma(value) for value in x) - mp.loggamma(mp.fsum(x))


def clopper_pearson(errors, n, level):
    """Root of ``P[Bin(n, p) <= errors] = level``."""

    def lacking(p):
        odds = p / (1 - p) if p < 1 else mp.inf
        term = tail = (1 - p) ** n
        for k in range(errors):
            term *= odds * (n - k) / (k + 1)
            tail += term
        return level - tail

    return last_inside(lacking, mpf(0), mpf(1)) if errors < n else mpf(1)


def by_bets(losses, log_level, log_target):
    """The smallest mean, and none below that of the losses, at which the wealth of the bets has reached 1/level."""
    low, high = exact_mean(losses), mpf(1)
    if max(log_wealths(losses, log_target, high)) < -log_level:
        return high
    for _ in range(50):
        mean = (low + high) / 2
        low, high = (low, mean) if max(log_wealths(losses, log_target, mean)) >= -log_level else (mean, high)
    return high


def with_counts(part):
    """A part of a record with what its own bound starts from and says, under the same names as for any statement."""
    return {**part, **part["statement"]}


def size(part):
    """Independent cases: entities, or rows."""
    return part["entities"] or part["n"]


def exact_losses(part):
    """The shares of rows that recorded losses stand for."""
    return [Fraction(loss).limit_denominator(part["n"]) for loss in part["losses"]]


@cache
def maurer(n):
    """``sum_k C(n, k) (k/n)^k (1 - k/n)^(n - k)``, term by term."""
    with mp.workdps(40):
        return mp.fsum(mp.binomial(n, k) * (mpf(k) / n) ** k * (1 - mpf(k) / n) ** (n - k) for k in range(n + 1))


def exact(numbers):
    return [mpf(number) for number in numbers]


def dirichlet_log_ratio(alpha, beta, log_weights):
    """``ln Q(rho)/P(rho)`` of two Dirichlets at the draw."""
    drawn = mp.fsum((a - b) * w for a, b, w in zip(alpha, beta, log_weights, strict=True))
    return log_beta(beta) - log_beta(alpha) + drawn


def dirichlet_renyi(alpha, beta, order):
    tilted = [order * a + (1 - order) * b for a, b in zip(alpha, beta, strict=True)]
    return log_beta(beta) - log_beta(alpha) + (log_beta(tilted) - log_beta(alpha)) / (order - 1)


def dirichlet_kl(alpha, beta):
    total = mp.psi(0, mp.fsum(alpha))
    drawn = mp.fsum((a - b) * (mp.psi(0, a) - total) for a, b in zip(alpha, beta, strict=True))
    return log_beta(beta) - log_beta(alpha) + drawn


def categorical_kl(alpha, beta):
    return mp.fsum(a * mp.log(a / b) for a, b in zip(alpha, beta, strict=True) if a > 0)


def gaussians(alpha, beta):
    """Mean and standard deviation of each voter in both distributions, from all means and then all precisions."""
    half = len(alpha) // 2
    for m, p, m0, p0 in zip(alpha[:half], alpha[half:], beta[:half], beta[half:], strict=True):
        yield (m, 1 / mp.sqrt(p)), (m0, 1 / mp.sqrt(p0))


def gaussian_log_ratio(alpha, beta, point):
    """The difference of the log-densities."""
    return mp.fsum(
        mp.log(mp.npdf(z, *own)) - mp.log(mp.npdf(z, *old))
        for z, (own, old) in zip(point, gaussians(alpha, beta), strict=True)
    )


def gaussian_kl(alpha, beta):
    return mp.fsum(
        mp.log(s0 / s) + (s**2 + (m - m0) ** 2) / (2 * s0**2) - mpf(1) / 2
        for (m, s), (m0, s0) in gaussians(alpha, beta)
    )


def gaussian_renyi(alpha, beta, order):
    """As Gil, Alajaji and Linder (2013) state it."""
    terms = []
    for (m, s), (m0, s0) in gaussians(alpha, beta):
        between = order * s0**2 + (1 - order) * s**2
        terms.append(
            mp.log(s0 / s) + mp.log(s0**2 / between) / (2 * (order - 1)) + order * (m - m0) ** 2 / (2 * between)
        )
    return mp.fsum(terms)


FAMILIES = {
    "dirichlet": (dirichlet_log_ratio, dirichlet_renyi, dirichlet_kl),
    "logistic-normal": (gaussian_log_ratio, gaussian_renyi, gaussian_kl),
    "categorical": (None, None, categorical_kl),
}


def divergence(record, part):
    """What the theorem charges for the weights, from the two distributions and the draw, with this hyper-prior."""
    method = record["method"]
    if method == "holdout":
        return mpf(0)
    log_ratio, renyi, kl = FAMILIES[part["family"]]
    alpha, beta = exact(part["alpha"]), exact(part["beta"])
    if method in ("dis-r", "dis-b"):
        return log_ratio(alpha, beta, exact(part["log_weights"]))
    if method == "dis-v":
        return renyi(alpha, beta, mpf(part["renyi_order"]))
    return kl(alpha, beta)


def occam_price(record, ratio):
    """Minus the logarithm of what Occam's hammer leaves of delta at this log-ratio: ``-ln b(1/theta)``."""
    level = mpf(0)
    for place, weight in record["price_atoms"]:
        place = mpf(place)
        level += mpf(weight) * mp.exp(-place) if ratio <= place else 0
    for scale, weight in record["price_scales"]:
        scale = mpf(scale)
        level += mpf(weight) * mp.exp(-(1 + 1 / scale) * max(ratio, 0)) / (scale + 1)
    return -mp.log(level)


def penalty(record, part):
    """With the choice of the hyper-prior: the mixture of all is at least its weight times the chosen one."""
    nats = divergence(record, part) - mp.log(mpf(part["prior_weight"]))
    if record["method"] == "dis-b":
        return occam_price(record, nats)
    return MULTIPLE.get(record["method"], 1) * nats


def share_of_vote(record):
    """What the vote has of delta: beside a learned vote there may be one that was fixed beforehand, and 1 in all."""
    method, prices = as_given(record)
    if method != "auto" or prices != "auto":
        return mpf(1)
    fixed = mpf("0.95") if record["prior"] == "informed" else mpf("0.5")
    return fixed if record["method"] == "holdout" else 1 - fixed


def as_given(record):
    """The method that the fit was given, and its price list; of models that were given, none."""
    given = dict(record["provenance"]["parameters"]).get("method", "null")
    found = json.loads(given)
    return (found["name"], found.get("price_list", "auto")) if isinstance(found, dict) else (found, "auto")


def delta_of_one(record, part):
    """What is left of delta for one of all parts, draws and orders, and beside a simulation."""
    events = len(record["parts"]) * record["n_draws"] * max(len(record["renyi_orders"]), 1)
    share = mpf(4) / 5 if record["together"] else 1
    return mpf(record["delta"]) * share * share_of_vote(record) / events - mpf(part["risk_delta"])


def log_constant(record, part):
    return mp.log(2 * mp.sqrt(size(part)) if record["constant"] == "paper" else maurer(size(part)))


def confidence(record, part):
    """What the theorem charges for holding with probability 1 - delta."""
    method, delta = record["method"], delta_of_one(record, part)
    if method in ("holdout", "dis-b"):
        return -mp.log(delta)
    if method == "dis-v":
        order = mpf(part["renyi_order"])
        first = delta / 2 if record["constant"] == "paper" else delta * order / (2 * order - 1)
        return log_constant(record, part) - order / (order - 1) * mp.log(first) - mp.log(delta - first)
    return log_constant(record, part) - mp.log(delta) + (mp.log(2) if method == "c-bound" else 0)


def empirical_risk(record, part):
    """The vote's own error rate where that is in the bound, else the statistic that the record states."""
    if part["losses"]:
        return exact_mean(exact_losses(part))
    if record["method"] in ("dis-b", "dis-r", "dis-v", "holdout"):
        return mpf(part["errors"]) / part["n"]
    return mpf(part["means"][0])


def c_limits(part, cost, sure):
    upper = exact_inverse(part["means"][0], (cost + sure) / size(part), 1)
    return upper, exact_inverse(part["means"][1], (2 * cost + sure) / size(part), 0)


def c_bound(upper, lower):
    return mpf(1) if upper >= 0.5 else 1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower)


def recomputed(record):
    """Own bound of each part, and the bound on the average."""
    parts, method = list(map(with_counts, record["parts"])), record["method"]
    costs = [(penalty(record, part), confidence(record, part)) for part in parts]
    risks = [empirical_risk(record, part) for part in parts]
    weights = exact(record["average_weights"])
    times = COEFFICIENT.get(method, 1)
    eps = [sum(cost) / size(part) for part, cost in zip(parts, costs, strict=True)]
    limits = [c_limits(part, *cost) for part, cost in zip(parts, costs, strict=True)] if method == "c-bound" else []

    def mean(values):
        return mp.fsum(weight * value for weight, value in zip(weights, values, strict=True))

    if method in ("holdout", "dis-b"):
        own = [
            by_bets(exact_losses(part), -sum(cost), mp.log(delta_of_one(record, part)))
            if part["losses"]
            else clopper_pearson(part["errors"], part["n"], mp.exp(-sum(cost)))
            for part, cost in zip(parts, costs, strict=True)
        ]
    elif method == "c-bound":
        own = [c_bound(*limit) for limit in limits]
    else:
        own = [times * exact_inverse(risk, e, 1) for risk, e in zip(risks, eps, strict=True)]
    if record["constant"] == "exact" or method in ("holdout", "dis-b"):
        return own, mean(own)
    if method == "c-bound":
        return own, c_bound(*(mean(side) for side in zip(*limits, strict=True)))
    return own, times * exact_inverse(mean(risks), mean(eps), 1)


def assert_close_above(got, true):
    assert got >= true, f"below by {mp.nstr(true - got, 3)} of {mp.nstr(true, 12)}"
    assert got - true <= mpf("1e-9"), f"above by {mp.nstr(got - true, 3)} of {mp.nstr(true, 12)}"


def assert_recomputable(certificate):
    """All bounds, from above within 1e-9, and what was paid for them."""
    record = json.loads(certificate.to_json())
    parts = list(map(with_counts, record["parts"]))
    with mp.workdps(35):
        own, average = recomputed(record)
        for part, true, shown in zip(parts, own, certificate.parts, strict=True):
            assert_close_above(part["bound"], true)
            assert_close_above(part["penalty"], penalty(record, part))
            paid = mp.fsum(payment.nats for payment in payments_of(certificate, shown))
            assert abs(paid - part["penalty"] - confidence(record, part)) < 1e-9
        assert_close_above(certificate.bound, min(own))
        assert (record["average_bound"] is not None) == (len(parts) > 1)
        if len(parts) > 1:
            assert_close_above(record["average_bound"], average)
    assert certificate.bound == min(part["bound"] for part in parts) == parts[record["deployed"]]["bound"]
    assert certificate.vacuous == (certificate.bound >= 1)
    assert len(parts) == {"none": 1, "single": 1, "cross": 2}.get(record["split"]) or len(parts) == int(record["split"])
    share = mpf(record["delta"]) * (mpf(4) / 5 if record["together"] else 1) * share_of_vote(record)
    assert abs(record["share"] - share_of_vote(record)) <= mpf("1e-16")
    assert all(abs(part["delta"] - share / len(parts)) <= mpf("1e-16") for part in parts)
    assert all(part["renyi_order"] in (record["renyi_orders"] or [None]) for part in parts)
    assert all(0 <= part["draw"] < record["n_draws"] for part in parts)
    assert certificate.renyi_order == parts[record["deployed"]]["renyi_order"]


def recomputed_by_class(record):
    """Each statement about a class: the theorem of the whole, on the rows of the class, at its part of delta."""
    (statements,) = (promise["statements"] for promise in record["promises"] if promise["name"] == "by class")
    return recomputed_statements(record, statements, [len(statements)] * len(statements))


def recomputed_statements(record, statements, parts):
    """Each statement of a promise at one of so many parts of what the promise has, on the rows that it is about."""
    deployed = record["parts"][record["deployed"]]
    promises = len(record["promises"]) + bool(record["differences"])
    whole = mpf(record["delta"]) / (5 * promises if record["together"] else 1)
    bounds = []
    for entry, of in zip(statements, parts, strict=True):
        if not entry["n"]:
            bounds.append(mpf(1))
            continue
        part = {**deployed, "statement": entry}
        alone = {**record, "delta": whole / of, "together": False, "parts": [part] * len(record["parts"])}
        bounds.append(recomputed(alone)[0][0])
    return bounds

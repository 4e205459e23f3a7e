"""Recompute a certificate from its record, in ball arithmetic: every number comes with a proven enclosure.

Nothing here is shared with the code that makes certificates. Theorems are as in the paper and in
:mod:`certivote.maths.occam`; each bound is proved by its defining inequality at the reported value, so no inverse is
taken: ``kl^{-1}(r || e) <= B`` where ``kl(r || B) >= e`` and ``r <= B``, and the Clopper-Pearson limit is at most ``B``
where ``P[Bin(n, B) <= k]`` is at most the level.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from flint import arb, ctx

from certivote.ball_maths import (
    BITS,
    binomial_limit_holds,
    categorical_kl,
    dirichlet_kl,
    kl_limit_holds,
    log_constant,
    log_ratio,
    positive,
    renyi,
    smallest,
)
from certivote.certificate import Certificate, ClassBound, Sample
from certivote.checks import Check

__all__ = ["verify_record"]

_SURROGATES = {"fo": (2, 1), "so": (4, 2), "bin": (2, 100)}
"""Factor of the inequality, and multiple of the divergence."""
_SLACK = arb("1e-8")
"""How far above the theorem's value the recorded numbers may be; more means that one of them is another's."""
_DRAWN = ("dis-b", "dis-r", "dis-v")
_HYPER = (*_DRAWN, "smv-exact", "smv-mc")
_CERTIFIED = {
    **dict.fromkeys(_DRAWN, "the drawn vote"),
    **dict.fromkeys(("smv-exact", "smv-mc"), "the random vote"),
    **dict.fromkeys((*_SURROGATES, "c-bound"), "the mean vote"),
    "holdout": "the fixed vote",
}


def verify_record(certificate: Certificate) -> list[Check]:
    """Every check that the record alone allows.

    Parameters
    ----------
    certificate : Certificate

    Returns
    -------
    list of Check
        The certificate is proved if all have passed: its bound is at least the value of its theorem at the recorded
        numbers. Whether the recorded numbers are those of the data takes the data.
    """
    before = ctx.prec
    ctx.prec = BITS
    try:
        return list(_checks(certificate))
    finally:
        ctx.prec = before


def _checks(c: Certificate) -> Iterator[Check]:
    yield from _consistency(c)
    for number, part in enumerate(c.parts):
        where = f"part {number + 1}" if len(c.parts) > 1 else "sample"
        yield from _sample(c, part, where)
    own = c.parts[c.deployed].bound if 0 <= c.deployed < len(c.parts) else float("nan")
    yield Check("bound", c.bound == own, f"{c.bound!r} is that of the deployed vote ({own!r})")
    best = min(part.bound for part in c.parts)
    yield Check("deployed vote", own == best, f"its bound {own!r} is the smallest of the parts ({best!r})")
    yield Check("vacuous", c.vacuous == (c.bound >= 1.0), f"{c.vacuous} with a bound of {c.bound!r}")
    if c.average_bound is not None:
        yield _average(c)
    yield from _by_class(c)


def _consistency(c: Certificate) -> Iterator[Check]:
    known = c.method in _CERTIFIED and _CERTIFIED[c.method] == c.certified
    yield Check(
        "method", known, f"{c.method} certifies {_CERTIFIED.get(c.method, 'nothing known')}; stated: {c.certified}"
    )
    yield Check("delta", 0.0 < c.delta < 1.0, f"{c.delta!r} lies strictly between 0 and 1")
    yield Check("constant", c.constant in ("paper", "exact"), f"{c.constant!r}")
    total = sum((arb(share) for share in c.shares), arb(0))
    right = len(c.shares) == len(c.parts) > 0 and min(c.shares) >= 0 and bool(abs(total - 1) < arb("1e-12"))
    yield Check("shares", right, f"{len(c.shares)} shares of {len(c.parts)} parts, non-negative with sum 1")
    yield Check("draws", c.n_draws >= 1, f"{c.n_draws} draws are paid for")
    if c.method == "dis-b":
        weights = [weight for _, weight in (*c.gamma_atoms, *c.gamma_scales)]
        total = sum((arb(weight) for weight in weights), arb(0))
        right = bool(total < 1 + arb("1e-12")) and min(weights, default=-1.0) > 0
        yield Check("gamma", right, "the weights are positive and sum to at most 1")


def _sample(c: Certificate, s: Sample, where: str) -> Iterator[Check]:
    expected = arb(c.delta) / len(c.parts)
    right = bool(abs(arb(s.delta) - expected) <= expected * arb("1e-15"))
    yield Check(f"{where}, delta", right, f"{s.delta!r} is its part of {c.delta!r}")
    sound = s.n >= 1 and 0 <= s.draw < c.n_draws and 0.0 < s.prior_weight <= 1.0 and 0.0 <= s.risk_delta < s.delta
    yield Check(
        f"{where}, counts", sound, f"{s.n} rows, draw {s.draw + 1} of {c.n_draws}, prior of weight {s.prior_weight!r}"
    )
    if not sound:
        return
    yield from _account(c, s, where)
    yield _payments(c, s, where)


def _account(c: Certificate, s: Sample, where: str) -> Iterator[Check]:
    """What one bound starts from and pays, and the bound itself."""
    yield _risk(c, s, where)
    try:
        nats, level = _nats(c, s)
    except (ValueError, ZeroDivisionError) as error:
        yield Check(f"{where}, penalty", False, f"it cannot be computed: {error}")
        return
    recorded = arb(s.penalty) + arb(s.confidence)
    near = _SLACK * (1 + abs(nats))
    right = bool(nats <= recorded * (1 + arb("1e-14")) + arb("1e-12")) and bool(recorded <= nats + near)
    detail = f"recorded {s.penalty + s.confidence:.9f}, proved {float(nats.upper()):.9f}"
    yield Check(f"{where}, nats", right, detail)
    if s.bound >= 1.0 and c.method not in _SURROGATES:
        yield Check(f"{where}, bound", True, "it promises nothing")
        return
    proved = level(arb(s.bound))
    yield Check(f"{where}, bound", proved, f"the theorem's value is {'' if proved else 'not '}at most {s.bound!r}")
    # Far out, where levels are no floats, the library takes the Chernoff limit, which is larger.
    if s.bound < 1.0 and nats < 690:
        same = not level(arb(s.bound) * (1 - _SLACK))
        yield Check(
            f"{where}, numbers", same, f"they give {'this bound' if same else 'a smaller bound: one was changed'}"
        )


def _by_class(c: Certificate) -> Iterator[Check]:
    """The bounds by class: that none is missing, that delta is divided among all, and each as the sample's own."""
    if not c.by_class or not 0 <= c.deployed < len(c.parts):
        return
    sample = c.parts[c.deployed]
    counted = c.certified in ("the drawn vote", "the fixed vote")
    kinds = ("error", "false alarm") if counted and len(c.classes) > 2 else ("error",)
    named = [(entry.label, entry.kind) for entry in c.by_class]
    right = named == [(label, kind) for label in c.classes for kind in kinds]
    yield Check("by class", right, f"{len(named)} statements: {' and '.join(kinds)} of {len(c.classes)} classes")
    rows = [entry.n for entry in c.by_class if entry.kind == "error"]
    others = [sample.n - entry.n for entry in c.by_class if entry.kind == "false alarm"]
    right = sum(rows) == sample.n and others in ([], rows)
    yield Check("by class, rows", right, f"those of the classes are {sum(rows):,} of {sample.n:,}")
    if sample.errors is not None:
        errors = sum(entry.errors or 0 for entry in c.by_class if entry.kind == "error")
        alarms = sum(entry.errors or 0 for entry in c.by_class if entry.kind == "false alarm")
        # An error of the plurality is one class's false alarm; the half-weight loss counts no fewer.
        right = errors == sample.errors and (
            kinds == ("error",) or alarms == errors or (c.loss == "half-weight" and alarms < errors)
        )
        yield Check("by class, errors", right, f"those of the classes are {errors:,} of {sample.errors:,}")
    for entry in c.by_class:
        where = f"{entry.kind}s, class {entry.label}"
        expected = arb(c.delta) / len(c.parts) / len(c.by_class)
        right = bool(abs(arb(entry.delta) - expected) <= expected * arb("1e-15"))
        yield Check(f"{where}, delta", right, f"{entry.delta!r} is its part of {c.delta!r}")
        if not entry.n:
            yield Check(f"{where}, bound", entry.bound >= 1.0, f"{entry.bound!r} without a row")
        elif 0.0 <= entry.risk_delta < entry.delta:
            yield from _account(c, _as_sample(sample, entry), where)
        else:
            yield Check(f"{where}, risk", False, f"{entry.risk_delta!r} of {entry.delta!r} was spent on it")


def _as_sample(sample: Sample, entry: ClassBound) -> Sample:
    """The rows of a class, on which the same vote was certified."""
    own = ("n", "errors", "risks", "delta", "risk_draws", "risk_delta", "confidence", "bound")
    return replace(sample, **{name: getattr(entry, name) for name in own})


def _payments(c: Certificate, s: Sample, where: str) -> Check:
    """The items of the bill: their sum, and what was paid for learning."""
    alpha, beta = [arb(x) for x in s.alpha], [arb(x) for x in s.beta]
    try:
        learned = _learned(c, s, alpha, beta)
    except (ValueError, ZeroDivisionError) as error:
        return Check(f"{where}, payments", False, f"they cannot be computed: {error}")
    stated = sum((arb(payment.nats) for payment in s.payments if payment.what in ("draw", "weights")), arb(0))
    rest = abs(sum((arb(payment.nats) for payment in s.payments), arb(0)) - arb(s.penalty) - arb(s.confidence))
    tolerance = arb("1e-7") * (1 + abs(learned))
    right = bool(abs(stated - learned) < tolerance) and bool(rest < tolerance)
    return Check(f"{where}, payments", right, f"{float(stated):.6f} nats for what was learned, and they add up")


def _learned(c: Certificate, s: Sample, alpha: list[arb], beta: list[arb]) -> arb:
    """The divergence or the ratio that learning cost."""
    if c.method in ("dis-b", "dis-r"):
        return log_ratio(alpha, beta, [arb(x) for x in s.log_weights])
    if c.method == "dis-v":
        return renyi(alpha, beta, arb(s.order or 2.0))
    if c.method in _HYPER:
        return dirichlet_kl(alpha, beta)
    return _SURROGATES.get(c.method, (1, int(c.method == "c-bound")))[1] * categorical_kl(alpha, beta)


def _risk(c: Certificate, s: Sample, where: str) -> Check:
    if c.certified in ("the drawn vote", "the fixed vote"):
        right = s.errors is not None and 0 <= s.errors <= s.n and abs(s.risks[0] * s.n - s.errors) < 1e-6
        return Check(f"{where}, risk", right, f"{s.errors} errors in {s.n} rows, risk {s.risks[0]!r}")
    right = all(0.0 <= risk <= 1.0 for risk in s.risks) and len(s.risks) == (2 if c.method == "c-bound" else 1)
    return Check(
        f"{where}, risk", right, f"statistics {', '.join(map(repr, s.risks))}; the data are needed to recompute them"
    )


def _nats(c: Certificate, s: Sample) -> tuple[arb, Callable[[arb], bool]]:
    """What the theorem pays, and the test whether a number is at least its bound."""
    alpha, beta = [arb(x) for x in s.alpha], [arb(x) for x in s.beta]
    if not alpha or len(alpha) != len(beta) or min(s.alpha) < 0 or min(s.beta) <= 0:
        raise ValueError("alpha and beta must be as long as one another and positive")
    if s.distribution != ("dirichlet" if c.method in _HYPER else "categorical"):
        raise ValueError(f"{c.method} does not learn a {s.distribution} distribution")
    prior = -arb(s.prior_weight).log()
    orders = max(len(c.orders), 1)
    delta = arb(s.delta) / (c.n_draws * orders) - arb(s.risk_delta)
    constant = log_constant(s.n, c.constant)
    if c.method in _DRAWN:
        log_weights = [arb(x) for x in s.log_weights]
        if len(log_weights) != len(alpha):
            raise ValueError("log_weights must be as long as alpha")
        total = sum((x.exp() for x in log_weights), arb(0))
        if not abs(total - 1) < arb("1e-9"):
            raise ValueError("the drawn weights do not sum to 1")
    if c.method in ("holdout", "dis-b"):
        price = arb(0)
        if c.method == "dis-b":
            price = _price(c, log_ratio(alpha, beta, log_weights) + prior)
        nats = price - delta.log()
        errors = s.errors
        assert errors is not None
        return nats, lambda bound: binomial_limit_holds(errors, s.n, bound, (-nats).exp())
    if c.method == "dis-r":
        nats = log_ratio(alpha, beta, log_weights) + prior + constant - delta.log()
    elif c.method == "dis-v":
        if s.order is None or s.order not in c.orders or not s.order > 1:
            raise ValueError("dis-v needs one of the recorded orders, greater than 1")
        order = arb(s.order)
        first = delta / 2 if c.constant == "paper" else delta * order / (2 * order - 1)
        spent = -order / (order - 1) * first.log() - (delta - first).log()
        nats = renyi(alpha, beta, order) + prior + constant + spent
    elif c.method in _HYPER:
        nats = dirichlet_kl(alpha, beta) + prior + constant - delta.log()
    else:
        factor, multiple = _SURROGATES.get(c.method, (1, 1))
        nats = multiple * (categorical_kl(alpha, beta) + prior) + constant - delta.log()
        if c.method == "c-bound":
            return _c_nats(c, s)[0], lambda bound: _c_bound(*_moment_limits(s, *_c_nats(c, s)), bound)
        return nats, lambda bound: kl_limit_holds(s.risks[0], nats / s.n, bound / factor)
    return nats, lambda bound: kl_limit_holds(s.risks[0], nats / s.n, bound)


def _average(c: Certificate) -> Check:
    """The bound on the average: the mean of the parts' bounds, or the paper's inverse of the means."""
    assert c.average_bound is not None
    reported = arb(c.average_bound)
    shares = [arb(share) for share in c.shares]
    if c.constant == "exact" or c.method in ("dis-b", "holdout"):
        mean = sum((share * arb(part.bound) for share, part in zip(shares, c.parts, strict=True)), arb(0))
        return Check("average", bool(mean <= reported), f"the mean of the parts' bounds is at most {c.average_bound!r}")
    if c.method == "c-bound":
        limits = [_moment_limits(part, *_c_nats(c, part)) for part in c.parts]
        upper, lower = (
            sum((share * pair[side] for share, pair in zip(shares, limits, strict=True)), arb(0)) for side in (0, 1)
        )
        proved = _c_bound(upper, lower, reported)
        return Check("average", proved, f"the theorem's value is {'' if proved else 'not '}at most {c.average_bound!r}")
    nats = [_nats(c, part)[0] for part in c.parts]
    risk = sum((share * arb(part.risks[0]) for share, part in zip(shares, c.parts, strict=True)), arb(0))
    rate = sum((share * positive(nat) / part.n for share, nat, part in zip(shares, nats, c.parts, strict=True)), arb(0))
    factor = _SURROGATES.get(c.method, (1, 1))[0]
    proved = kl_limit_holds(risk, rate, reported / factor)
    return Check("average", proved, f"the theorem's value is {'' if proved else 'not '}at most {c.average_bound!r}")


def _c_nats(c: Certificate, s: Sample) -> tuple[arb, arb]:
    """What the C-bound pays for its two statistics: each at half of delta, one divergence and two."""
    divergence = categorical_kl([arb(x) for x in s.alpha], [arb(x) for x in s.beta]) - arb(s.prior_weight).log()
    rest = log_constant(s.n, c.constant) - (arb(s.delta) / 2).log()
    return divergence + rest, 2 * divergence + rest


def _moment_limits(s: Sample, first: arb, second: arb) -> tuple[arb, arb]:
    """An upper limit of the mean wrong mass and a lower one of the disagreement, by bisection."""
    risk, agreement = arb(s.risks[0]), 1 - arb(s.risks[1])
    upper = smallest(lambda p: kl_limit_holds(risk, first / s.n, p), risk, arb(1))
    return upper, 1 - smallest(lambda p: kl_limit_holds(agreement, second / s.n, p), agreement, arb(1))


def _c_bound(upper: arb, lower: arb, bound: arb) -> bool:
    """Whether the C-bound at these limits is at most ``bound``."""
    if bound >= 1:
        return True
    return bool(upper < arb(0.5)) and bool(1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower) <= bound)


def _price(c: Certificate, log_ratio: arb) -> arb:
    """``-ln b(1/theta)``."""
    level = arb(0)
    for place, weight in c.gamma_atoms:
        if log_ratio <= arb(place):
            level += arb(weight) * (-arb(place)).exp()
    for scale, weight in c.gamma_scales:
        size = arb(scale)
        above = log_ratio if log_ratio > 0 else (arb(0) if log_ratio <= 0 else arb(0).union(log_ratio))
        level += arb(weight) / (size + 1) * (-(1 + 1 / size) * above).exp()
    return -level.log()

"""How far reported bounds are above the proven ones, over random certificates; and that none is below.

Certificates of all ten methods are made up: sizes, errors, hyper-posteriors, draws and settings are random, penalty and
bound come from the library's own functions. Each is proved by ``certivote.recompute`` in ball arithmetic, and for the
bound ``B`` of each part the largest relative gap ``g`` is found with ``B (1 - g)`` still proved. A bound of 1 or more
promises nothing and has no gap. Where a binomial level is no float (beyond 690 nats) the library takes Chernoff's
limit, and the gap is the one to that.

Ends in an error if a certificate is not proved, or if a gap is 1e-9 or more.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np
import typer
from flint import arb, ctx, fmpq
from rich.progress import track

from certivote import recompute
from certivote.ball_maths import BITS, kl_limit_holds
from certivote.certificate import Certificate, Sample
from certivote.certify import Plan, _assemble, _Attempt, _Learned, _payments, _penalty
from certivote.evidence import Evidence
from certivote.forms import BinomialForm, CForm
from certivote.maths import dirichlet
from certivote.maths.occam import Gamma
from certivote.methods import METHODS, Setting
from certivote.votes import fixed_point

ALLOWED = 1e-9
_FLOAT_LEVELS = 690.0


def main(
    certificates: Annotated[int, typer.Option(help="How many to make.")] = 10_000,
    seed: int = 0,
) -> None:
    unproved, largest = 0, (0.0, "")
    for number in track(range(certificates), "proving", transient=True):
        certificate = random_certificate(np.random.default_rng([seed, number]))
        for check in recompute.verify_record(certificate):
            if not check.passed:
                unproved += 1
                typer.echo(f"{number}, {certificate.method}: {check}", err=True)
        largest = max(largest, *((gap, f"{certificate.method}, number {number}") for gap in gaps(certificate)))
    typer.echo(
        f"{certificates:,} certificates: {unproved} checks failed; largest relative gap {largest[0]:.1e} ({largest[1]})"
    )
    if unproved or largest[0] >= ALLOWED:
        raise typer.Exit(1)


def random_certificate(rng: np.random.Generator) -> Certificate:
    """Legal numbers over wide ranges, and the bound that the library computes from them."""
    method = METHODS[str(rng.choice(list(METHODS)))]
    parts = int(rng.choice([1, 1, 2, 3]))
    orders = tuple(np.sort(1.0 + _log_uniform(rng, 0.05, 20.0, size=int(rng.integers(1, 4)))).tolist())
    atoms = tuple((float(rng.uniform(-5.0, 50.0)), float(rng.uniform(0.1, 0.4))) for _ in range(rng.integers(0, 3)))
    constant = "exact" if rng.random() < 0.5 else "paper"
    plan = Plan(
        method=method.name,
        loss="plurality",
        split="none" if parts == 1 else parts,
        setting=Setting(
            float(_log_uniform(rng, 1e-6, 0.5)), orders[0], constant, gamma=Gamma.mixture(((0.0, 0.2), *atoms))
        ),
        shares=tuple(rng.dirichlet(np.ones(parts)).tolist()),
        solver="lbfgs",
        orders=orders,
        n_draws=int(rng.choice([1, 1, 5, 100])),
    )
    samples = [_random_sample(plan, rng) for _ in range(parts)]
    deployed = int(np.argmin([sample.bound for sample in samples]))
    return _assemble(plan, samples, deployed, (), np.array(["no", "yes"]), ())


def _random_sample(plan: Plan, rng: np.random.Generator) -> Sample:
    method = METHODS[plan.method]
    n, voters = int(_log_uniform(rng, 1.0, 1e6)), int(rng.integers(1, 51))
    weight = float(rng.choice([1.0, 1.0 / 3.0]))
    setting = replace(plan.candidates()[rng.integers(len(plan.candidates()))], prior_nats=-math.log(weight))
    beta = _log_uniform(rng, 1e-2, 1e2, size=voters)
    # From the hyper-prior itself to a posterior that has nothing to do with it.
    alpha = beta * np.exp(rng.choice([0.0, 0.01, 0.3, 2.0]) * rng.normal(size=voters))
    log_weights = np.empty(0)
    if method.distribution == "categorical":
        beta = beta / beta.sum()
        alpha = fixed_point(np.log(alpha / alpha.sum())) if method.learns else fixed_point(np.log(beta))
    else:
        alpha = np.maximum(alpha, method.floor(beta, setting) * (1.0 + 1e-3))
    if method.certified == "the drawn vote":
        log_weights, _, _ = dirichlet.draw(alpha, rng)
    evidence = _random_evidence(plan, n, setting, rng)
    paid = replace(setting, delta=setting.delta - evidence.risk_delta)
    penalty, confidence = _penalty(method, alpha, beta, log_weights, paid), method.confidence(n, paid)
    bound = method.form.bound(evidence.risks, penalty, confidence, n)
    draw = int(rng.integers(plan.n_draws)) if method.certified == "the drawn vote" else 0
    attempt = _Attempt(draw, alpha, log_weights, None, evidence, paid, penalty, confidence, bound)
    return Sample(
        n=n,
        errors=evidence.errors,
        risks=evidence.risks,
        delta=plan.sample_delta,
        risk_draws=evidence.risk_draws,
        risk_delta=evidence.risk_delta,
        penalty=penalty,
        confidence=confidence,
        payments=_payments(plan, _Learned(alpha, beta, weight, setting), attempt, n),
        bound=bound,
        distribution=method.distribution,
        alpha=tuple(alpha.tolist()),
        beta=tuple(beta.tolist()),
        prior_weight=weight,
        order=setting.order if method.uses_order else None,
        log_weights=tuple(log_weights.tolist()),
        draw=draw,
        certified_digest="",
        teaching_digest="",
        votes_digest="",
        teaching_rows=0,
        copies=0,
        copies_of_teaching_rows=0,
        holdout_errors=0,
        holdout_bound=1.0,
    )


def _random_evidence(plan: Plan, n: int, setting: Setting, rng: np.random.Generator) -> Evidence:
    method = METHODS[plan.method]
    risk = float(rng.choice([0.0, 1.0, _log_uniform(rng, 1e-4, 1.0), rng.random()], p=[0.1, 0.02, 0.48, 0.4]))
    errors = int(rng.binomial(n, risk))
    if isinstance(method.form, CForm):
        risk *= 0.45  # or the C-bound would mostly not apply
        return Evidence(errors, (risk, float(rng.random() * 2.0 * risk * (1.0 - risk))))
    if method.certified == "the mean vote":
        return Evidence(errors, (risk,))
    if method.certified == "the random vote":
        simulated = rng.random() < 0.5
        return Evidence(None, (risk,), 200_000 if simulated else 0, 0.01 * setting.delta if simulated else 0.0)
    return Evidence(errors, (errors / n,))


def _log_uniform(rng: np.random.Generator, low: float, high: float, size: int | None = None):
    return np.exp(rng.uniform(math.log(low), math.log(high), size))


def gaps(certificate: Certificate) -> Iterator[float]:
    """The relative gap of each part's bound, rounded up by at most a third; 1 stands for anything above 1e-8."""
    before = ctx.prec
    ctx.prec = BITS
    try:
        for sample in certificate.parts:
            yield _gap(certificate, sample)
    finally:
        ctx.prec = before


def _gap(certificate: Certificate, sample: Sample) -> float:
    form = METHODS[certificate.method].form
    if sample.bound <= 0.0 or sample.bound >= getattr(form, "coefficient", 1.0):
        return 0.0
    nats, proves = recompute._nats(certificate, sample)
    if isinstance(form, BinomialForm) and nats > _FLOAT_LEVELS:
        rate = arb(fmpq(sample.errors, sample.n))

        def proves(bound: arb) -> bool:
            return kl_limit_holds(rate, nats / sample.n, bound)

    def is_proved(log_gap: float) -> bool:
        return proves(arb(sample.bound) * (1 - arb(10) ** arb(log_gap)))

    low, high = -17.0, -8.0
    if is_proved(high):
        return 1.0
    while high - low > 0.125:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_proved(middle) else (low, middle)
    return 10.0**high


if __name__ == "__main__":
    typer.run(main)

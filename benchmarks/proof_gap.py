"""How far reported bounds are above the proven ones, over random certificates; and that none is below.

Certificates of all ten methods, and of all families that they can learn, are made up: sizes, errors, hyper-posteriors,
draws and settings are random, penalty and bound come from the library's own functions. Each is proved by
``certivote.verify`` in ball arithmetic, and for the bound ``B`` of each part the largest relative gap ``g`` is found
with ``B (1 - g)`` still proved. A bound of 1 or more promises nothing and has no gap. Where a binomial level is no
float (beyond 690 nats) the library takes Chernoff's limit, and the gap is the one to that.

Ends in an error if a certificate is not proved, or if a gap is 1e-9 or more.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import typer
from flint import arb, ctx, fmpq
from rich.progress import track

from certivote.certificate import SCHEMA_VERSION, Certificate, PartRecord, Provenance
from certivote.maths.occam import PriceList
from certivote.promises import by_theorem, stated
from certivote.theory import bounds
from certivote.theory.families import FAMILIES, Family
from certivote.theory.methods import METHODS, Method
from certivote.theory.predictors import Evidence
from certivote.theory.theorems import Account, CBound, ClopperPearson, OccamsHammer, Setting
from certivote.verify._balls import BITS, kl_limit_holds
from certivote.verify._record import verify_record
from certivote.verify._theorems import terms_of
from certivote.votes import fixed_point

ALLOWED = 1e-9
_FLOAT_LEVELS = 690.0
_CLASSES = ("no", "yes", "perhaps")


def main(
    certificates: Annotated[int, typer.Option(help="How many to make.")] = 10_000,
    seed: int = 0,
) -> None:
    unproved, largest = 0, (0.0, "")
    for number in track(range(certificates), "proving", transient=True):
        certificate = random_certificate(np.random.default_rng([seed, number]))
        for check in verify_record(certificate):
            if not check.passed:
                unproved += 1
                typer.echo(f"{number}, {certificate.method}: {check}", err=True)
        largest = max(largest, *((gap, f"{certificate.method}, number {number}") for gap in gaps(certificate)))
    typer.echo(
        f"{certificates:,} certificates: {unproved} checks failed; largest relative gap {largest[0]:.1e} ({largest[1]})"
    )
    if unproved or largest[0] >= ALLOWED:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Case:
    """What all parts of a made-up certificate have in common."""

    method: Method
    family: Family
    n_classes: int
    setting: Setting
    parts: int
    orders: tuple[float, ...]
    n_draws: int

    @property
    def part_delta(self) -> float:
        return self.setting.delta / self.parts


def random_certificate(rng: np.random.Generator) -> Certificate:
    """Legal numbers over wide ranges, and the bound that the library computes from them."""
    method = METHODS[str(rng.choice(list(METHODS)))]
    theorem = method.theorem
    orders = tuple(np.sort(1.0 + _log_uniform(rng, 0.05, 20.0, size=int(rng.integers(1, 4)))).tolist())
    atoms = tuple((float(rng.uniform(-5.0, 50.0)), float(rng.uniform(0.1, 0.4))) for _ in range(rng.integers(0, 3)))
    case = _Case(
        method=method,
        family=FAMILIES[str(rng.choice(method.families()))],
        n_classes=2 if theorem.two_classes else int(rng.choice([2, 3])),
        setting=Setting(
            delta=float(_log_uniform(rng, 1e-6, 0.5)),
            renyi_order=orders[0],
            constant="exact" if rng.random() < 0.5 else "paper",
            price_list=PriceList.mixture(((0.0, 0.2), *atoms)),
        ),
        parts=int(rng.choice([1, 1, 2, 3])),
        orders=orders if theorem.uses_order else (),
        n_draws=int(rng.choice([1, 1, 5, 100])) if method.predictor.draws else 1,
    )
    weights = tuple(rng.dirichlet(np.ones(case.parts)).tolist())
    records, accounts = zip(*(_random_part(case, rng) for _ in range(case.parts)), strict=True)
    deployed = int(np.argmin([record.bound for record in records]))
    average = None
    if case.parts > 1 and case.setting.constant == "paper":
        average = theorem.average(accounts, weights)
    elif case.parts > 1:
        average = bounds.average_of_bounds([record.bound for record in records], weights)
    prices = case.setting.price_list if theorem.uses_prices else None
    return Certificate(
        schema_version=SCHEMA_VERSION,
        library_version="",
        subject="vote",
        method=method.name,
        loss="plurality",
        split="none" if case.parts == 1 else str(case.parts),
        delta=case.setting.delta,
        average_bound=average,
        deployed=deployed,
        average_weights=weights,
        share=1.0,
        renyi_orders=case.orders,
        n_draws=case.n_draws,
        price_atoms=prices.atoms if prices else (),
        price_scales=prices.scales if prices else (),
        constant=case.setting.constant,
        prior="given",
        solver="lbfgs",
        classes=_CLASSES[: case.n_classes],
        parts=records,
        promises=(),
        together=False,
        findings=(),
        came_fitted=False,
        groups="",
        order="",
        division="shuffled",
        first_rows=None,
        sample_rows=None,
        learned_rows=None,
        bets="in order",
        candidates=(),
        differences=(),
        provenance=Provenance(),
    )


def _random_part(case: _Case, rng: np.random.Generator) -> tuple[PartRecord, Account]:
    method, family, theorem = case.method, case.family, case.method.theorem
    n, voters = int(_log_uniform(rng, 1.0, 1e6)), int(rng.integers(1, 51))
    weight = float(rng.choice([1.0, 1.0 / 3.0]))
    order = float(rng.choice(case.orders)) if case.orders else case.setting.renyi_order
    delta = case.part_delta / (case.n_draws * max(len(case.orders), 1))
    setting = replace(case.setting, delta=delta, renyi_order=order, prior_nats=-math.log(weight))
    alpha, beta = _random_distributions(case, setting, voters, rng)
    point = family.draw(alpha, rng).point if method.predictor.draws else np.empty(0)
    evidence = _random_evidence(case, n, delta, rng)
    penalty = theorem.charge(family, alpha, beta, point, setting)
    statement = stated(evidence, case.part_delta, by_theorem(theorem, setting, penalty), "error")
    record = PartRecord(
        statement=statement,
        holdout=replace(statement, kind="hold-out"),
        majority=replace(statement, kind="majority"),
        penalty=penalty,
        family=family.name,
        raced=(),
        kept=(),
        n_voters=voters,
        alpha=tuple(alpha.tolist()),
        beta=tuple(beta.tolist()),
        prior_weight=weight,
        renyi_order=order if case.orders else None,
        log_weights=tuple(point.tolist()),
        draw=int(rng.integers(case.n_draws)),
        certification_digest="",
        training_digest="",
        votes_digest="",
        training_rows=0,
        duplicates=0,
        duplicates_of_training_rows=0,
        drift=(),
    )
    paid = replace(setting, delta=delta - evidence.risk_delta)
    return record, Account(statement.statistics, penalty, n, paid)


def _random_distributions(
    case: _Case, setting: Setting, voters: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Parameters of a posterior and of a prior: from the prior itself to one that has nothing to do with it."""
    moved = float(rng.choice([0.0, 0.01, 0.3, 2.0]))
    beta = _log_uniform(rng, 1e-2, 1e2, size=voters)
    if not case.family.over_weights:
        beta = beta / beta.sum()
        alpha = beta * np.exp(moved * rng.normal(size=voters)) if case.method.predictor.learns else beta
        return fixed_point(np.log(alpha / alpha.sum())), beta
    # With two parameters a voter, the first are means, of either sign.
    means = rng.normal(size=len(case.family.prior(beta)) - voters) * _log_uniform(rng, 1e-2, 1e2)
    alpha = np.concatenate(
        [means + moved * rng.normal(size=len(means)), beta * np.exp(moved * rng.normal(size=voters))]
    )
    prior = np.concatenate([means, beta])
    return np.maximum(alpha, case.method.theorem.floor(case.family, prior, setting) * (1.0 + 1e-3)), prior


def _random_evidence(case: _Case, n: int, delta: float, rng: np.random.Generator) -> Evidence:
    predictor = case.method.predictor
    risk = float(rng.choice([0.0, 1.0, _log_uniform(rng, 1e-4, 1.0), rng.random()], p=[0.1, 0.02, 0.48, 0.4]))
    errors = int(rng.binomial(n, risk))
    if isinstance(case.method.theorem, CBound):
        risk *= 0.45  # or the C-bound would mostly not apply
        return Evidence(n, 0, errors, means=(risk, float(rng.random() * 2.0 * risk * (1.0 - risk))))
    if predictor.counts_errors:
        return Evidence(n, 0, errors)
    if not predictor.is_random:
        return Evidence(n, 0, errors, means=(risk,))
    if case.family.exact and case.n_classes == 2:
        return Evidence(n, 0, None, means=(risk,))
    draws, share = 200_000, 0.01 * delta
    limit = bounds.sample_bound(risk, -math.log(share), draws)
    return Evidence(n, 0, None, means=(limit,), risk_draws=draws, risk_delta=share)


def _log_uniform(rng: np.random.Generator, low: float, high: float, size: int | None = None) -> Any:
    return np.exp(rng.uniform(math.log(low), math.log(high), size))


def gaps(certificate: Certificate) -> Iterator[float]:
    """The relative gap of each part's bound, rounded up by at most a third; 1 stands for anything above 1e-8."""
    before = ctx.prec
    ctx.prec = BITS
    try:
        for part in certificate.parts:
            yield _gap(certificate, part)
    finally:
        ctx.prec = before


def _gap(certificate: Certificate, part: PartRecord) -> float:
    theorem = METHODS[certificate.method].theorem
    if part.bound <= 0.0 or part.bound >= theorem.factor:
        return 0.0
    terms = terms_of(certificate, part)
    paid = terms.nats(part.statement)
    is_binomial = isinstance(theorem, OccamsHammer | ClopperPearson)

    def is_proved(log_gap: float) -> bool:
        bound = arb(part.bound) * (1 - arb(10) ** arb(log_gap))
        if is_binomial and part.errors is not None and paid > _FLOAT_LEVELS:
            return kl_limit_holds(arb(fmpq(part.errors, part.n)), paid / part.n, bound)
        return terms.holds(part.statement, bound)

    low, high = -17.0, -8.0
    if is_proved(high):
        return 1.0
    while high - low > 0.125:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_proved(middle) else (low, middle)
    return math.pow(10.0, high)


if __name__ == "__main__":
    typer.run(main)

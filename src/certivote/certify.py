"""From votes to a certificate: learn the hyper-posterior, draw once, count the errors, compute the bound."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote._version import __version__
from certivote.bounds import average_bound, holdout, sample_bound
from certivote.certificate import SCHEMA_VERSION, Certificate, Sample
from certivote.learn import SOLVERS, Problem, Tick
from certivote.maths import dirichlet
from certivote.methods import METHODS, Setting
from certivote.risks import Labels, Loss, count_errors
from certivote.split import Split
from certivote.votes import Votes, fixed_point

__all__ = ["Plan", "assemble", "certify_sample"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """Everything that must be fixed before the certified rows are looked at."""

    method: str
    loss: Loss
    split: Split
    setting: Setting
    shares: tuple[float, ...]
    solver: str

    @property
    def sample_setting(self) -> Setting:
        """The setting of one sample: delta is divided among them."""
        setting = self.setting
        return Setting(setting.delta / len(self.shares), setting.order, setting.constant)


def certify_sample(
    plan: Plan,
    votes: Votes,
    labels: Labels,
    beta: Array,
    *,
    teaching_rows: int,
    copies: tuple[int, int],
    training_rng: np.random.Generator,
    draw_rng: np.random.Generator,
    tick: Tick,
) -> tuple[Sample, Array]:
    """Learn from one sample, draw its vote and certify it.

    ``draw_rng`` must be used nowhere else: the draw has to be independent of the sample and of every number used in
    training.

    Returns
    -------
    sample : Sample
    weights : array
        The fixed-point weights of the vote that was certified.
    """
    method, setting = METHODS[plan.method], plan.sample_setting
    problem = Problem(votes, labels, plan.loss, beta, method, setting)
    alpha = SOLVERS[plan.solver](problem, training_rng, tick)
    log_weights, _, _ = dirichlet.draw(alpha, draw_rng)
    weights = fixed_point(log_weights)
    n = votes.n_rows
    errors = count_errors(votes.masses(weights), labels, plan.loss)
    penalty = method.penalty(alpha, beta, log_weights, setting)
    confidence = method.confidence(n, setting)
    prior_errors = count_errors(votes.masses(fixed_point(np.log(beta / beta.sum()))), labels, plan.loss)
    sample = Sample(
        n=n,
        errors=errors,
        delta=setting.delta,
        penalty=penalty,
        confidence=confidence,
        bound=sample_bound(errors / n, penalty + confidence, n),
        alpha=tuple(alpha.tolist()),
        beta=tuple(beta.tolist()),
        log_weights=tuple(log_weights.tolist()),
        teaching_rows=teaching_rows,
        copies=copies[0],
        copies_of_teaching_rows=copies[1],
        holdout_errors=prior_errors,
        holdout_bound=holdout(prior_errors, n, plan.setting.delta),
    )
    return sample, weights


def assemble(plan: Plan, samples: list[Sample], classes: NDArray[Any], provisos: list[str]) -> Certificate:
    """The certificate of the vote with the smallest bound of its own.

    With several samples every bound holds at once (each pays for its share of delta), so the choice is free.

    Parameters
    ----------
    provisos : list of str
        Assumptions that depend on the voters.
    """
    method = METHODS[plan.method]
    deployed = int(np.argmin([sample.bound for sample in samples]))
    single = len(samples) == 1
    theorem = method.theorem
    if not single:
        theorem = f"{method.theorem} at delta/{len(samples)} on its own part (the average: {method.cross_theorem})"
    bound = samples[deployed].bound
    return Certificate(
        schema_version=SCHEMA_VERSION,
        library_version=__version__,
        method=method.name,
        certified=method.certified,
        theorem=theorem,
        loss=plan.loss,
        split=plan.split,
        delta=plan.setting.delta,
        bound=bound,
        vacuous=bound >= 1.0,
        average_bound=None
        if single
        else average_bound(
            [s.errors / s.n for s in samples],
            [s.penalty + s.confidence for s in samples],
            [s.n for s in samples],
            plan.shares,
        ),
        deployed=deployed,
        shares=plan.shares,
        order=plan.setting.order if method.uses_order else None,
        constant=plan.setting.constant,
        solver=plan.solver,
        classes=tuple(str(label) for label in classes),
        parts=tuple(samples),
        assumptions=(*_ASSUMPTIONS, *provisos),
    )


_ASSUMPTIONS = (
    "The certified rows are independent draws from the population that the classifier will meet: no time order, "
    "groups, repeated entities, oversampling or augmentation reach across the parts, and no rows were dropped for "
    "their values.",
    "Preprocessing, feature selection and the hyper-prior were fixed without looking at the certified rows.",
    "The method, loss, delta, split, hyper-prior, voters and seed were fixed before fitting. If this is the best of G "
    "fits to the same rows, or chosen among several certificates, it may fail with probability up to G times delta: "
    "fit each with delta/G instead.",
    "The data were not collected until the certificate looked good.",
    "A case whose class the voters never saw counts as an error.",
)

"""One run of the paper's protocol: 80 % of the rows, its voters, its loss, its hyper-prior, and one of two solvers."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from certivote._version import __version__
from certivote.certificate import Certificate
from certivote.methods import BaseMethod, make_method
from certivote.paper._catalogue import DATASETS
from certivote.paper._fetch import load
from certivote.paper._runs import Run
from certivote.pipeline import RowsInMemory, Split, certify_votes, make_plan, prepare
from certivote.theory.general_bounds import Constant
from certivote.theory.methods import METHODS
from certivote.theory.risks import count_errors
from certivote.voters import Forest, Stumps, VoterSet

PAPER_METHODS = ("fo", "so", "bin", "smv-exact", "smv-mc", "dis-v", "dis-r")
"""The paper's seven, in the order of its tables."""

PROTOCOLS = {
    "paper": "adam",
    "fast": "lbfgs",
    "own": "lbfgs",
}
"""The solver of each protocol: Algorithm 1 as published, or full-batch L-BFGS. All else is the same, but ``own`` has
the loss, the constant and the hyper-prior that are the defaults of this library."""

DELTA = 0.05
PRIOR = 0.5
PAPER_SETTING: dict[str, Any] = {"loss": "half-weight", "prior": PRIOR, "delta": DELTA}
"""Parameters of the estimator in the paper's experiments, beside method, voters and split."""
_OWN_SETTING: dict[str, Any] = {"loss": "plurality", "prior": "auto", "delta": DELTA}


@dataclass(frozen=True)
class Unit:
    """What is computed together: one split of one dataset, with voters and votes for all methods.

    Attributes
    ----------
    protocol : str
        A key of ``PROTOCOLS``.
    dataset : str
        A key of ``DATASETS``.
    seed : int
        Of the split, and of everything random after it.
    """

    protocol: str
    dataset: str
    seed: int

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{self.protocol}-{self.dataset}-{self.seed}"


def task(dataset: str) -> str:
    """``binary`` (stumps on declared ranges, split none) or ``multiclass`` (two forests, split cross)."""
    return "binary" if DATASETS[dataset].ranges is not None else "multiclass"


def paper_voters(dataset: str, threads: int = 1) -> tuple[VoterSet, Split]:
    """Who votes on a dataset in the paper, and the split that goes with it.

    Parameters
    ----------
    dataset : str
        A key of ``DATASETS``.
    threads : int
        Of a forest, while it is fitted and asked.

    Returns
    -------
    voters : VoterSet
        Stumps on the declared ranges if the dataset has them, otherwise a forest of 100 trees.
    split : str
        ``"none"`` for stumps, ``"cross"`` for forests.

    Examples
    --------
    >>> from certivote.paper import paper_voters
    >>> voters, split = paper_voters("haberman")
    >>> voters.ranges, split
    (((20, 100), (58, 70), (0, 30)), 'none')
    """
    ranges = DATASETS[dataset].ranges
    if ranges is not None:
        return Stumps(ranges=ranges), "none"
    # As in the research code, each tree sees half of its forest's rows.
    return Forest(RandomForestClassifier(n_estimators=100, max_samples=0.5, n_jobs=threads)), "cross"


def paper_method(name: str, solver: str, constant: Constant = "paper") -> BaseMethod:
    """A method with the paper's constant."""
    return make_method(name, solver=solver, constant=constant)


def setting_of(protocol: str) -> tuple[Constant, dict[str, Any]]:
    """The constant, and the parameters of the estimator."""
    return ("exact", _OWN_SETTING) if protocol == "own" else ("paper", PAPER_SETTING)


def run_unit(
    unit: Unit, methods: Sequence[str], data_dir: str | os.PathLike[str] | None = None, threads: int = 1
) -> Iterator[tuple[Run, Certificate]]:
    """The runs of one unit with their certificates, each as it finishes.

    A run does not depend on which other methods are run: every method gets the same streams of random numbers.
    """
    data = load(unit.dataset, data_dir)
    shuffled = np.random.default_rng(unit.seed).permutation(len(data.y))
    train, test = np.split(shuffled, [len(shuffled) * 4 // 5])
    voters, split = paper_voters(unit.dataset, threads)
    solver, (constant, setting) = PROTOCOLS[unit.protocol], setting_of(unit.protocol)
    plan = make_plan(paper_method("dis-r", solver, constant), voters, split, random_state=unit.seed, **setting)
    start = time.process_time()
    rows = RowsInMemory(plan.voters, data.X[train], data.y[train])
    prepared = prepare(plan, rows, methods=[METHODS[method] for method in methods])
    voter_seconds = time.process_time() - start
    test_votes = [part.voters.votes(data.X[test]) for part in prepared.parts]
    test_labels = np.searchsorted(rows.classes, data.y[test])
    for method in methods:
        start = time.process_time()
        outcome = certify_votes(plan.with_method(paper_method(method, solver, constant), DELTA), prepared)
        train_seconds = time.process_time() - start
        certificate, parts = outcome.certificate, outcome.certificate.parts
        errors = [
            METHODS[method].predictor.error_rate(part.vote, votes, test_labels, plan.loss)
            for part, votes in zip(outcome.parts, test_votes, strict=True)
        ]
        answers = test_votes[certificate.deployed].masses(outcome.deployed.vote.weights)
        yield (
            Run(
                **vars(unit),
                method=method,
                bound=certificate.bound if certificate.average_bound is None else certificate.average_bound,
                own_bound=certificate.bound,
                test_error=float(np.mean(errors)),
                deployed_error=count_errors(answers, test_labels, "plurality") / len(test),
                empirical_risk=float(np.mean([part.risks[0] for part in parts])),
                penalty=float(np.mean([part.penalty for part in parts])),
                train_seconds=train_seconds,
                voter_seconds=voter_seconds,
                n=sum(part.n for part in parts),
                test_rows=len(test),
                voters=outcome.deployed.voters.n_voters,
                delta=DELTA,
                version=__version__,
            ),
            certificate,
        )

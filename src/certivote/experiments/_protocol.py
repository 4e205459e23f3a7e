"""One run of the paper's protocol: 80 % of the rows, its voters, its loss, its hyper-prior, and one of two solvers."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from certivote._version import __version__
from certivote.certificate import Certificate
from certivote.certify import Plan, certify
from certivote.datasets import DATASETS, Dataset, load
from certivote.experiments._runs import Run
from certivote.methods import METHODS as ALL_METHODS
from certivote.methods import Setting
from certivote.prepare import prepare
from certivote.progress import Stage
from certivote.risks import Labels, count_errors, expected_risk
from certivote.split import Split
from certivote.voters import Forest, Stumps, VoterSet
from certivote.votes import Votes

__all__ = ["DELTA", "METHODS", "PROTOCOLS", "Unit", "run_unit", "task"]

METHODS = ("fo", "so", "bin", "smv-exact", "smv-mc", "dis-v", "dis-r")
"""The paper's seven, in the order of its tables."""

PROTOCOLS = {
    "paper": "adam",
    "fast": "lbfgs",
}
"""The solver of each protocol: Algorithm 1 as published, or full-batch L-BFGS. All else is the same."""

DELTA = 0.05
PRIOR = 0.5
_TEACH_SHARE = 0.5


@dataclass(frozen=True)
class Unit:
    """What is computed together: one split of one dataset, with voters and votes for all methods."""

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


def run_unit(
    unit: Unit, methods: Sequence[str], data_dir: str | os.PathLike[str] | None = None, threads: int = 1
) -> Iterator[tuple[Run, Certificate]]:
    """The runs of one unit, each as it finishes.

    A run does not depend on which other methods are run: every method gets the same streams of random numbers.
    """
    data = load(unit.dataset, data_dir)
    order = np.random.default_rng(unit.seed).permutation(len(data.y))
    train, test = np.split(order, [len(order) * 4 // 5])
    voters, split = _voters(data, threads)
    start = time.process_time()
    prepared = prepare(
        data.X[train],
        data.y[train],
        voters,
        methods,
        split=split,
        teach_share=_TEACH_SHARE,
        prior=PRIOR,
        loss="half-weight",
        delta=DELTA,
        random_state=unit.seed,
        stage=Stage(),
    )
    voter_seconds = time.process_time() - start
    test_votes = [taught.votes(data.X[test]) for taught in prepared.taught]
    test_labels = np.searchsorted(prepared.classes, data.y[test])
    for method in methods:
        plan = Plan(
            method=method,
            loss="half-weight",
            split=split,
            setting=Setting(DELTA, 1.5, "paper"),
            shares=(0.5, 0.5) if split == "cross" else (1.0,),
            solver=PROTOCOLS[unit.protocol],
            prior=prepared.prior,
        )
        start = time.process_time()
        certificate, weights = certify(
            plan,
            prepared.ballots,
            prepared.learning_streams(),
            prepared.classes,
            prepared.provisos,
            lambda: None,
        )
        train_seconds = time.process_time() - start
        parts = certificate.parts
        errors = [_half_weight_error(method, *pair, test_labels) for pair in zip(test_votes, weights, strict=True)]
        deployed = certificate.deployed
        answers = test_votes[deployed].masses(weights[deployed])
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
                voters=len(weights[deployed]),
                delta=DELTA,
                version=__version__,
            ),
            certificate,
        )


def _voters(data: Dataset, threads: int) -> tuple[VoterSet, Split]:
    if data.ranges is not None:
        return Stumps(ranges=DATASETS[data.name].ranges), "none"
    # As in the research code, each tree sees half of its forest's rows.
    return Forest(RandomForestClassifier(n_estimators=100, max_samples=0.5, n_jobs=threads)), "cross"


def _half_weight_error(method: str, votes: Votes, weights: np.ndarray, labels: Labels) -> float:
    if ALL_METHODS[method].certified == "the random vote":
        return expected_risk(votes, labels, "half-weight")(weights)[0]
    return count_errors(votes.masses(weights), labels, "half-weight") / votes.n_rows

"""From training rows to voters, and what else training rows alone decide."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Finding
from certivote.pipeline._plan import Plan
from certivote.pipeline._priors import HyperPrior, given_hyper_priors, informed_hyper_prior, informed_weights
from certivote.pipeline._progress import Stage
from certivote.remarks import column_findings
from certivote.theory.entities import Entities
from certivote.theory.risks import Labels
from certivote.voters import FittedVoters

Fit = Callable[..., FittedVoters]
"""As :meth:`certivote.voters.VoterSet.fit`."""


@dataclass(frozen=True)
class Trained:
    """Voters, the hyper-priors that the learner may choose from, and what was found about single columns."""

    voters: FittedVoters
    hyper_priors: tuple[HyperPrior, ...]
    findings: tuple[Finding, ...]


def train_voters(
    plan: Plan,
    X: Any,
    y: NDArray[Any],
    labels: Labels,
    classes: NDArray[Any],
    rng: np.random.Generator,
    columns: Sequence[str],
    stage: Stage,
    together: Entities | None = None,
    fit: Fit | None = None,
) -> Trained:
    """Fit the voters and weigh them by their out-of-sample votes.

    Parameters
    ----------
    plan : Plan
    X, y, labels : rows, array, array of int
        The training rows, and their classes as they are and as codes.
    classes : array
    rng : numpy Generator
        Of a stream that depends on the training rows alone.
    columns : sequence of str
        Names of the features; empty if they have none.
    stage : Stage
    together : Entities, optional
        Those that the training rows belong to.
    fit : function, optional
        What fits them; by default the plan's voters.
    """
    stage.begin(f"fitting the voters on {len(labels):,} rows")
    belong = {} if together is None else {"entities": together.codes}
    fitted = (fit or plan.voters.fit)(X, y, classes, rng, **belong)
    if isinstance(plan.prior, str) and plan.prior == "informed":
        stage.begin("weighing the voters by their out-of-sample votes")
        weights = informed_weights(fitted, X, labels, plan.loss, rng, together)
        hyper_priors: tuple[HyperPrior, ...] = (informed_hyper_prior(weights),)
    else:
        hyper_priors = given_hyper_priors(plan.prior, fitted.n_voters)
    return Trained(fitted, hyper_priors, column_findings(X, labels, columns))

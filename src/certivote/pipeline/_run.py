"""The one seam of the pipeline: a plan and rows in, a certified vote out."""

from typing import Any

from certivote.pipeline._certify import Outcome, certify_votes
from certivote.pipeline._plan import Plan
from certivote.pipeline._prepare import prepare
from certivote.pipeline._progress import Stage


def run(
    plan: Plan,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    order: Any = None,
    table: Any = None,
    owner: Any = None,
    stage: Stage | None = None,
) -> Outcome:
    """Fit the voters, learn their weights, draw the vote and certify it.

    To learn several methods from the same votes, call :func:`prepare` once and :func:`certify_votes` for each.

    Parameters
    ----------
    plan : Plan
    X, y : array-like
    groups, order : array-like, optional
        For each row, the entity that it belongs to; or when it was taken.
    table : data frame, optional
        Other columns of the rows, to look for such that belong together.
    owner : estimator, optional
        Remembers the names and the number of the features, as scikit-learn's estimators do.
    stage : Stage, optional
        Shows progress.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote.pipeline import make_plan, run
    >>> outcome = run(make_plan("dis-r", "forest", random_state=0), *load_iris(return_X_y=True))
    >>> outcome.certificate.parts[0].n, outcome.deployed.voters.n_voters
    (75, 100)
    """
    prepared = prepare(plan, X, y, groups=groups, order=order, table=table, owner=owner, stage=stage)
    return certify_votes(plan, prepared, stage)

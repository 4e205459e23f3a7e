"""Several methods on one split, side by side."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import validate_parameter_constraints

from certivote.certificate import Certificate
from certivote.frames import as_frame
from certivote.methods import BaseMethod, make_method, methods_with
from certivote.pipeline._memory import RowsInMemory
from certivote.pipeline._plan import PARAMETER_CONSTRAINTS, make_plan
from certivote.pipeline._progress import progress
from certivote.pipeline.run import certify_votes, prepare
from certivote.theory.methods import METHODS


def compare(
    X: Any,
    y: ArrayLike,
    methods: Sequence[str | BaseMethod] | None = None,
    *,
    groups: ArrayLike | None = None,
    order: ArrayLike | None = None,
    joint: bool = False,
    verbose: bool = False,
    **parameters: Any,
) -> pd.DataFrame:
    """Fit several methods to the same split, voters and votes, and compare their certificates.

    Parameters
    ----------
    X, y : array-like
        As for :class:`~certivote.CertifiedVoteClassifier`.
    methods : sequence of methods, optional
        By name, or as objects with their options, see :mod:`certivote.methods`; by default all that fit the number of
        classes.
    groups, order : array-like, optional
        As for :meth:`~certivote.CertifiedVoteClassifier.fit`.
    joint : bool, default=False
        Divide ``delta`` among the methods, so that with probability ``1 - delta`` all certificates hold together and
        the best may be picked. Otherwise each holds on its own, and picking the smallest afterwards is not free.
    verbose : bool, default=False
        Show on standard error how far work is that takes longer than two seconds: a bar on a terminal, elsewhere a
        line every ten seconds.
    **parameters
        Other parameters of the estimator, but for ``method``.

    Returns
    -------
    pandas.DataFrame
        One row per method: who is certified, the bound, the empirical risk that it starts from, the penalty in nats,
        and seconds of learning and certifying (the voters are fitted once, before). What may be done with several
        bounds at once is said in ``attrs["note"]``, ``attrs["certificates"]`` holds the certificates as JSON, and
        ``attrs["entropy"]`` the seed of all of them, which ``attrs["fresh"]`` says the system gave.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = compare(*load_breast_cancer(return_X_y=True), methods=["dis-r", "fo"], random_state=0)
    >>> len(table)
    2
    """
    wanted = [] if isinstance(methods, str) or not np.iterable(methods) else list(methods)
    if methods is not None and not wanted:
        raise ValueError(f"methods must be a list of names such as ['dis-r', 'fo']; got {methods!r:.200}.")
    for each in wanted:
        if not isinstance(each, BaseMethod) and not (isinstance(each, str) and each in METHODS):
            raise ValueError(f"Unknown method {each!r:.200}; there are {', '.join(METHODS)}.")
    if "method" in parameters:
        raise ValueError("compare takes methods=[...], and no single method.")
    validate_parameter_constraints(PARAMETER_CONSTRAINTS, parameters, "CertifiedVoteClassifier")
    X = as_frame(X)
    plan = make_plan("dis-r", **parameters).reading(X)
    asked = [make_method(each) for each in wanted]
    if len({each.name for each in asked}) < len(asked):
        raise ValueError("methods has one method twice; each may be there once, with options of its own.")
    rows, certificates = [], {}
    with progress(verbose) as stage:
        table = RowsInMemory(plan.voters, X, y, groups=groups, order=order)
        prepared = prepare(plan, table, methods=[each.row for each in asked], stage=stage)
        chosen = wanted or [each.name for each in methods_with(len(prepared.rows.classes))]
        delta = plan.delta / len(chosen) if joint else plan.delta
        for each in chosen:
            start = time.perf_counter()
            certificate = certify_votes(plan.with_method(each, delta), prepared, stage).certificate
            seconds = time.perf_counter() - start
            name = make_method(each).name
            certificates[name] = certificate.to_json(indent=None)
            rows.append({"method": name, **_row(certificate), "seconds": seconds})
    shown = pd.DataFrame(rows).set_index("method")
    shown.attrs["note"] = _note(len(chosen), plan.delta, joint)
    shown.attrs["certificates"] = certificates
    shown.attrs["entropy"], shown.attrs["fresh"] = list(prepared.streams.seed.words), prepared.streams.seed.fresh
    return shown


def _row(certificate: Certificate) -> dict[str, Any]:
    part = certificate.deployed_part
    return {
        "certified": certificate.certified,
        "bound": certificate.bound,
        "empirical risk": part.risks[0],
        "penalty": part.penalty,
    }


def _note(count: int, delta: float, joint: bool) -> str:
    if joint:
        return (
            f"With probability at least {1 - delta:g}, all {count} bounds hold together (each was made with delta = "
            f"{delta:g}/{count}): any of them may be picked."
        )
    return (
        f"Each bound holds on its own with probability at least {1 - delta:g}. Picking the smallest of the {count} "
        "afterwards is not free: choose the method beforehand, or compare with joint=True (--joint), which divides "
        "delta."
    )

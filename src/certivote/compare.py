"""Several methods on one split, side by side."""

import time
from collections.abc import Sequence
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone

from certivote.certificate import Certificate, percent_up
from certivote.estimator import CertifiedVoteClassifier
from certivote.methods import METHODS
from certivote.progress import progress

__all__ = ["Comparison", "compare", "run_comparison"]


class Comparison(list[dict[str, Any]]):
    """Rows of a comparison, one a method; prints as a table.

    Attributes
    ----------
    note : str
        What may be done with several certified numbers at once.
    certificates : dict of str to Certificate
    """

    def __init__(self, rows: Sequence[dict[str, Any]], note: str, certificates: dict[str, Certificate]):
        super().__init__(rows)
        self.note = note
        self.certificates = certificates

    def __str__(self) -> str:
        head = ("method", "certified", "bound", "empirical risk", "penalty", "seconds")
        lines = [head, *(tuple(_cell(name, row[name]) for name in head) for row in self)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join([*text, "", self.note])


def _cell(name: str, value: Any) -> str:
    if name == "bound":
        return percent_up(value) + (" (vacuous)" if value >= 1 else "")
    if name == "empirical risk":
        return f"{value:.2%}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def compare(
    X: Any, y: ArrayLike, methods: Sequence[str] | None = None, *, joint: bool = False, **parameters: Any
) -> pd.DataFrame:
    """Fit several methods to the same split, voters and votes, and compare their certificates.

    Parameters
    ----------
    X, y : array-like
        As for :class:`~certivote.CertifiedVoteClassifier`.
    methods : sequence of str, optional
        Names of methods; by default all that fit the number of classes.
    joint : bool, default=False
        Divide ``delta`` among the methods, so that with probability ``1 - delta`` all certificates hold together and
        the best may be picked. Otherwise each holds on its own, and picking the smallest afterwards is not free.
    **parameters
        Other parameters of the estimator.

    Returns
    -------
    pandas.DataFrame
        A row a method: who is certified, the bound, the empirical risk that it starts from, the penalty in nats, and
        seconds of learning and certifying (the voters are taught once, before). What may be done with several bounds
        at once is said in ``attrs["note"]``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = compare(*load_breast_cancer(return_X_y=True), methods=["dis-r", "fo"], random_state=0)
    >>> len(table)
    2
    """
    comparison = run_comparison(X, y, methods, joint=joint, **parameters)
    table = pd.DataFrame(list(comparison)).set_index("method")
    table.attrs["note"] = comparison.note
    return table


def run_comparison(
    X: Any, y: ArrayLike, methods: Sequence[str] | None = None, *, joint: bool = False, **parameters: Any
) -> Comparison:
    """The comparison itself, with the certificates."""
    if isinstance(methods, str) or (methods is not None and not methods):
        raise ValueError(f"methods must be a list of names such as ['dis-r', 'fo']; got {methods!r}.")
    for name in methods or ():
        if name not in METHODS:
            raise ValueError(f"Unknown method {name!r}; there are {', '.join(METHODS)}.")
    template = CertifiedVoteClassifier(**{"method": "dis-r", **parameters})
    template._validate_params()
    with progress(template.verbose) as stage:
        prepared = template._prepare(X, y, methods or (), stage)
        chosen = list(methods or (m for m, row in METHODS.items() if len(prepared.classes) == 2 or not row.two_classes))
        delta = template.delta / len(chosen) if joint else template.delta
        rows, certificates = [], {}
        for name in chosen:
            start = time.perf_counter()
            clf = clone(template).set_params(method=name, delta=delta)._learn(prepared, stage)
            seconds = time.perf_counter() - start
            certificates[name] = clf.certificate_
            rows.append({"method": name, **_row(clf.certificate_), "seconds": seconds})
    return Comparison(rows, _note(len(chosen), template.delta, joint), certificates)


def _row(certificate: Certificate) -> dict[str, Any]:
    sample = certificate.parts[certificate.deployed]
    return {
        "certified": certificate.certified,
        "bound": certificate.bound,
        "empirical risk": sample.risks[0],
        "penalty": sample.penalty,
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

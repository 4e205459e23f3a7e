r"""A changed model without new labels: its error is at most that of the old one plus how often the two differ.

Let the old model be certified: its error is at most :math:`B` with probability :math:`1 - \delta_1`. Whenever the new
model is wrong, the old one is wrong or they differ, so

.. math:: R(new) \le R(old) + P[new \ne old],

and the second term needs no labels: rows that are independent of both models bound it by Clopper and Pearson at
:math:`\delta_2`, or, row by row of entities, by bets that need no order. Both hold together with probability
:math:`1 - \delta_1 - \delta_2`, by the union bound; so the rows that certified the old model may have trained the new
one, but then they cannot count how often the two differ. How delta is divided is fixed before the rows are looked at.

By class, with :math:`A` that the class is :math:`c`: a new error on :math:`A` is an old one, or the old model answers
:math:`c` and the new one does not, so

.. math:: P[new \ne c \mid A] \le P[old \ne c \mid A] + P[old = c, new \ne c] / P[A],

and for false alarms, with :math:`A` that it is another class, the last term is :math:`P[new = c, old \ne c] / P[A]`.
A lower limit of :math:`P[A]` comes from the rows that certified the old model, of which those in :math:`A` were
counted. Of each statement's part of :math:`\delta_2`, one half is for the difference, and one for that limit. With
entities the conditional means are not of this form, and nothing is said by class.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote._version import __version__
from certivote.certificate import (
    SCHEMA_VERSION,
    CarriedCertificate,
    CarriedClass,
    Certificate,
    Statement,
    as_rows,
    check_aligned,
    data_digest,
    method_of,
    names_of,
    part_digest,
    row_keys,
    setting_of,
)
from certivote.maths.binomial import binomial_upper
from certivote.maths.rounding import all_but, float_above
from certivote.monitor._inputs import certificate_of, places, values_of
from certivote.pipeline import Seed, Streams, Table, ask, check_fresh, check_held, make_grouping, provenance_now
from certivote.promises import fixed_statement

_BELOW = 1.0 - 2.0**-50
"""So that parts of delta do not add up to more than it, whatever is rounded."""
Codes = NDArray[np.intp]


def carry(
    certificate: Any,
    old: Any,
    new: Any,
    X: Any = None,
    delta_share: float = 0.2,
    groups: ArrayLike | None = None,
) -> CarriedCertificate:
    """Certify a changed model by the certificate of the old one and new rows without labels.

    For models that were retrained, converted (ONNX), quantised, or written anew in another language. Compare each with
    the model that was certified, not with one that was carried already.

    Parameters
    ----------
    certificate : Certificate, fitted CertifiedVoteClassifier, or path
        Of the old model.
    old, new : model, function of rows that gives labels, or array-like
        The models, or their answers to the rows.
    X : rows, optional
        New rows, which had no part in training or choosing either model, with or without labels, and did not certify
        the old one. Those that a certivote model was made from are recognised and refused. Not needed where both
        answers are given.
    delta_share : float in (0, 1), default=0.2
        The part of the certificate's delta that the comparison has; fixed before the rows are looked at.
    groups : array-like, optional
        What each row belongs to, where the certificate is about groups, and only there.

    Returns
    -------
    CarriedCertificate

    Examples
    --------
    >>> from certivote import carry, certify_predictions
    >>> certificate = certify_predictions(["ill", "well"] * 500, ["ill", "well"] * 495 + ["well"] * 10)
    >>> carried = carry(certificate, ["ill", "well"] * 1000, ["ill", "well"] * 999 + ["well", "well"])
    >>> carried.disagreement.errors, round(certificate.bound, 4), round(carried.bound, 4)
    (1, 0.0105, 0.0142)
    """
    earlier = _original(certificate)
    if not isinstance(delta_share, float) or not 0.0 < delta_share < 1.0:
        raise ValueError(f"delta_share must be a number between 0 and 1, such as 0.2; got {delta_share!r:.80}.")
    check_held(X=X)
    before, after, written = _both(earlier, old, new, X)
    n_rows = len(before)
    if bool(earlier.groups) != (groups is not None):
        raise ValueError(
            f"The certificate is about groups ({earlier.groups!r:.80}): give groups=, what each row belongs to."
            if earlier.groups
            else "The certificate is about single rows, not about groups: leave groups out."
        )
    grouping = make_grouping(n_rows, groups, None)
    entities = grouping.of(np.arange(n_rows))
    own = delta_share * earlier.delta * (4 / 5 if earlier.together else 1.0) * _BELOW
    differ = fixed_statement("disagreement", "", before != after, own, entities, in_order=False)
    old_bound = min(restated(earlier, earlier.deployed_part.statement, 1.0 - delta_share), 1.0)
    made = provenance_now(Table("", (), 0, ()), Streams(Seed((), False), ""))
    return CarriedCertificate(
        kind="carried",
        schema_version=SCHEMA_VERSION,
        library_version=__version__,
        delta=earlier.delta,
        delta_share=delta_share,
        old_bound=old_bound,
        disagreement=differ,
        bound=min(float_above(Fraction(old_bound) + Fraction(differ.bound)), 1.0),
        by_class=() if earlier.groups else tuple(_by_class(earlier, before, after, delta_share)),
        rows_digest="" if X is None else _digest(row_keys(as_rows(X)), {}),
        answers_digest=_digest(row_keys(np.arange(n_rows)), written | grouping.beside),
        old=earlier,
        provenance=replace(made, n_rows=n_rows),
    )


def _original(source: Any) -> Certificate:
    """The certificate of the old model, if it can be carried over."""
    if isinstance(source, CarriedCertificate):
        raise ValueError(
            "This certificate was carried over itself. Compare the new model with the one that was certified, whose "
            "certificate it holds (.old): along a chain, differences would add up."
        )
    found = certificate_of(source)
    if found.is_random:
        raise ValueError("The certificate is about a random vote, which has no fixed answers to compare with.")
    return found


def _both(earlier: Certificate, old: Any, new: Any, X: Any) -> tuple[Codes, Codes, dict[str, list[str]]]:
    """The answers of both models to the rows: their places among the classes, -1 for others, and as text."""
    given = {"old": old, "new": new}
    models = {name: each for name, each in given.items() if callable(each) or hasattr(each, "predict")}
    if models and X is None:
        raise ValueError(f"X is missing: the rows that {' and '.join(models)} answer.")
    own = getattr(old, "certificate_", None)
    if own is not None and not earlier.is_given and own.deployed_part != earlier.deployed_part:
        raise ValueError("The certificate is that of another model than old: its own is old.certificate_.")
    if models:
        check_fresh(models, as_rows(X))
    n_rows = 0 if X is None else np.shape(as_rows(X))[0]
    answers = {name: ask(name, each, X, n_rows) if name in models else each for name, each in given.items()}
    check_aligned(X=X, **answers)
    said = {name: values_of(each, name) for name, each in answers.items()}
    lengths = {*map(len, said.values()), *([] if X is None else [n_rows])}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(f"Both models must answer each row once; got {len(said['old']):,} and {len(said['new']):,}.")
    before, after = (places(values, earlier.classes) for values in said.values())
    if np.any(before < 0):
        strange = said["old"][int(np.argmin(before))]
        raise ValueError(f"old has the label {strange!r:.80}, which is none of the certificate's classes.")
    written = {"old": _written(said["old"], before, earlier), "new": _written(said["new"], after, earlier)}
    return before, after, written


def _written(labels: list[Any], codes: Codes, earlier: Certificate) -> list[str]:
    """Labels as the certificate writes them; others as they are."""
    pairs = zip(codes.tolist(), names_of(labels), strict=True)
    return [earlier.classes[code] if code >= 0 else text for code, text in pairs]


def _by_class(earlier: Certificate, before: Codes, after: Codes, share: float) -> Iterator[CarriedClass]:
    """The statements by class of the old model, carried over, if all of them can be."""
    promise = next((each for each in earlier.promises if each.name == "by class"), None)
    statements = () if promise is None else promise.statements
    counts = {entry.label: entry.n for entry in statements if entry.kind == "error"}
    n_rows = sum(counts.values())
    for entry in statements:
        assert promise is not None
        part = promise.delta / len(statements)
        own, is_error = share * part / 2 * _BELOW, entry.kind == "error"
        code, among = earlier.classes.index(entry.label), counts[entry.label]
        first, second = (before, after) if is_error else (after, before)
        differ = fixed_statement("disagreement", entry.label, (first == code) & (second != code), own)
        others = n_rows - among if is_error else among
        least = all_but(float(binomial_upper(others, n_rows, math.log(own))))
        old = min(restated(earlier, entry, 1.0 - share), 1.0)
        bound = 1.0 if not least else float_above(Fraction(old) + Fraction(differ.bound) / Fraction(least))
        yield CarriedClass(
            kind="error" if is_error else "false alarm",
            label=entry.label,
            delta=part,
            old=old,
            differ=differ,
            share=least,
            bound=min(bound, 1.0),
        )


def restated(certificate: Certificate, statement: Statement, share: float) -> float:
    """The bound of a statement about the deployed vote at a part of its delta.

    Examples
    --------
    >>> from certivote import certify_predictions
    >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
    >>> round(certificate.bound, 4), round(restated(certificate, certificate.deployed_part.statement, 0.8), 4)
    (0.0235, 0.0248)
    """
    if not statement.n:
        return 1.0
    part, less = certificate.deployed_part, replace(statement, delta=statement.delta * share * _BELOW)
    setting = setting_of(certificate, part, less)
    return method_of(certificate).theorem.bound(less.statistics, part.penalty, less.size, setting)


def _digest(keys: list[bytes], beside: dict[str, Any]) -> str:
    return data_digest(part_digest(keys, np.full(len(keys), "", dtype=object), np.arange(len(keys))), beside)

"""Hold a certificate against the model and the data that it is about: let the voters vote again, and count again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from certivote.certificate import Certificate, Sample
from certivote.checks import Check
from certivote.estimator import CertifiedVoteClassifier
from certivote.recount import recount
from certivote.split import part_digest, row_keys

__all__ = ["verify"]


def verify(
    certificate: Certificate, model: CertifiedVoteClassifier | None = None, X: Any = None, y: ArrayLike | None = None
) -> list[Check]:
    """Check a certificate: from its record alone, and against the model and the data as far as they are given.

    Parameters
    ----------
    certificate : Certificate
    model : CertifiedVoteClassifier, optional
        The classifier that it is said to be about.
    X, y : array-like, optional
        All rows that the model was fitted to, in the same order.

    Returns
    -------
    list of Check
        A line each; the certificate stands if all have passed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier, verify
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y)
    >>> all(check.passed for check in verify(clf.certificate_, clf, X, y))
    True
    """
    try:
        from certivote.recompute import verify_record
    except ImportError as error:
        raise ImportError("Verifying needs the package python-flint: install certivote[verify].") from error
    checks = verify_record(certificate)
    if (X is None) != (y is None) or (X is not None and model is None):
        raise ValueError(
            "X and y come together, and with the model: without it nothing says which rows were certified."
        )
    if model is not None:
        checks.extend(_against_model(certificate, model))
        if X is not None:
            checks.extend(_against_data(certificate, model, X, y))
    return checks


def _against_model(certificate: Certificate, model: CertifiedVoteClassifier) -> Iterator[Check]:
    same = model.certificate_ == certificate
    yield Check("model", same, f"its own certificate is {'this one' if same else 'another one'}")
    sample = certificate.parts[certificate.deployed]
    expected = _deployed_weights(certificate, sample)
    exact = bool(np.array_equal(_all_weights(model, len(expected)), expected))
    yield Check("weights", exact, f"those of the model are {'' if exact else 'not '}the ones that were certified")
    rows, own = np.concatenate([model.fold_.teach, model.fold_.certify]), len(model.fold_.certify)
    apart = len(np.unique(rows)) == len(rows)
    yield Check(
        "parts", apart, f"no row both taught and certified, of {len(rows):,}" if apart else "rows taught AND certified"
    )
    yield Check("size", own == sample.n, f"{own:,} rows are marked as certified, the certificate says {sample.n:,}")


def _all_weights(model: CertifiedVoteClassifier, n_voters: int) -> NDArray[np.float64]:
    """The weights of all voters that were certified: zero for those that a slim model lacks."""
    kept = model.kept_voters_
    weights = np.zeros(max(n_voters, int(kept.max()) + 1))
    weights[kept] = model.weights_
    return weights


def _deployed_weights(certificate: Certificate, sample: Sample) -> NDArray[np.float64]:
    """The weights that the record stands for: the drawn ones in multiples of 2**-52, the largest taking the rest."""
    if not sample.log_weights:
        return np.array(sample.alpha)
    units = np.floor(np.exp(np.array(sample.log_weights)) * 2.0**52)
    units[np.argmax(units)] += 2.0**52 - units.sum()
    return units / 2.0**52


def _against_data(certificate: Certificate, model: CertifiedVoteClassifier, X: Any, y: Any) -> Iterator[Check]:
    sample = certificate.parts[certificate.deployed]
    X, y = model._checked(model._voter_set(), X, y, reset=False)
    fold = model.fold_
    largest = max([*fold.teach[-1:].tolist(), *fold.certify[-1:].tolist()])
    if largest >= len(y):
        yield Check("rows", False, f"the data have {len(y):,} rows, and row number {largest:,} was used")
        return
    keys = row_keys(X)
    for name, rows, digest in (
        ("certified rows", fold.certify, sample.certified_digest),
        ("teaching rows", fold.teach, sample.teaching_digest),
    ):
        same = part_digest(keys, y, rows) == digest
        yield Check(
            name, same, f"{len(rows):,} rows and labels, digest {'as recorded' if same else 'OTHER than recorded'}"
        )
    certified = _safe_indexing(X, fold.certify)
    doubt = model._voter_set().doubt(certified)
    yield Check("voters fixed beforehand", not doubt, doubt or "nothing in the certified rows speaks against it")
    votes = model.voters_.votes(certified)
    gone = len(sample.alpha) - votes.n_voters
    if gone > 0:
        yield Check("voters", True, f"the model is slim, {gone:,} of weight 0 are gone: their votes cannot be compared")
    else:
        same = votes.digest() == sample.votes_digest
        yield Check("voters", same, f"{votes.n_voters:,} vote {'as they did' if same else 'OTHER than they did'}")
    unknown = sorted({str(label) for label in y[fold.certify].tolist()} - set(certificate.classes))
    if unknown:
        yield Check("classes", False, f"rows of classes that the certificate does not know: {', '.join(unknown)}")
        return
    labels = np.searchsorted(model.classes_, y[fold.certify])
    yield from recount(certificate, votes.masses(model.weights_), labels)

"""Recognising rows that a certificate was made from, by their digests."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate._digests import part_digest, row_keys
from certivote.certificate._parts import PartRecord

__all__ = ["used_rows"]

Rows = NDArray[np.intp]


def used_rows(part: PartRecord, train: Rows, certify: Rows, X: Any, y: NDArray[Any]) -> tuple[int, int]:
    """How many of these rows trained the voters, and how many certified the vote.

    Digests are of many rows in their order, so rows are recognised together: those of the table that was fitted, also
    with more rows after it, or of just its training or its certification rows. Single rows among others are not.

    Parameters
    ----------
    part : PartRecord
        The record of the deployed vote.
    train, certify : array of int
        The numbers of its rows in the table that was fitted.
    X, y : rows and labels, checked by the model

    Returns
    -------
    (int, int)
        ``(0, 0)`` if they are not recognised.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y)
    >>> part, rows = clf.certificate_.deployed_part, clf.part_
    >>> used_rows(part, rows.train, rows.certify, *clf.check_rows(X, y))
    (75, 75)
    >>> used_rows(part, rows.train, rows.certify, *clf.check_rows(X + 1.0, y))
    (0, 0)
    """
    keys, everything = row_keys(X), np.arange(len(y))

    def found(rows: Rows, digest: str) -> int:
        for these in (rows, everything):
            inside = len(these) and these.min() >= 0 and these.max() < len(y)
            if digest and inside and part_digest(keys, y, these) == digest:
                return len(these)
        return 0

    return found(train, part.training_digest), found(certify, part.certification_digest)

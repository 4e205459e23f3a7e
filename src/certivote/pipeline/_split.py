"""Which rows train the voters and which certify the vote.

The parts are drawn uniformly at random, by row, or by entity where rows belong together. A stratified split would
tie the class counts of the certification rows to the training part and void the certificate. Rows with an order in time
are divided by it: the latest certify.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Split = Literal["none", "single", "cross"]
"""Or a number of folds."""
Rows = NDArray[np.intp]
COMPARED_ROWS = 20_000_000
"""Rows among which duplicates are counted, at most."""
Duplicates = tuple[int | None, int | None]


@dataclass(frozen=True)
class PartRows:
    """Row numbers of one part: those that the voters are fitted on, and those that certify their vote."""

    train: Rows
    certify: Rows

    @property
    def n_train(self) -> int:
        """How many rows train."""
        return len(self.train)


def split_rows(shuffled: Rows, split: Split | int, train_share: float, first: int = 0) -> tuple[PartRows, ...]:
    """Divide the rows, or entities; the parts name them in the order in which they come.

    Parameters
    ----------
    shuffled : array of int
        All their numbers in a random order, or in that of time.
    split : {"none", "single", "cross"} or int
        ``none`` certifies on all rows; ``single`` trains on the first of the shuffled rows and certifies on the others;
        ``cross`` does that both ways (paper, Section 4.2); a number of folds certifies on each of so many folds, with
        voters fitted on the others.
    train_share : float in (0, 1)
        Share of the rows that train the voters of the first part; without meaning for a number of folds.
    first : int
        With folds, how many of the first rows belong to none: they train the voters of all parts.

    Examples
    --------
    >>> part, = split_rows(np.random.default_rng(0).permutation(10), "single", 0.5)
    >>> len(part.train), len(part.certify), len(np.intersect1d(part.train, part.certify))
    (5, 5, 0)
    """
    n_rows = len(shuffled)
    if split == "none":
        return (PartRows(np.arange(0), np.arange(n_rows)),)
    if isinstance(split, int):
        if n_rows < split:
            raise ValueError(f"Too few rows: n_samples = {n_rows}, and split={split} needs at least one for each fold.")
        folds = np.array_split(shuffled[first:], split)
        return tuple(PartRows(shuffled[~np.isin(shuffled, fold)], fold) for fold in folds)
    n_train = round(train_share * n_rows)
    if not 0 < n_train < n_rows:
        raise ValueError(
            f"Too few rows: n_samples = {n_rows} with train_share={train_share} leaves {n_train} to train the voters "
            f"and {n_rows - n_train} to certify; both need at least 1. Give more rows, or another train_share."
        )
    one, other = shuffled[:n_train], shuffled[n_train:]
    parts = (PartRows(train=one, certify=other), PartRows(train=other, certify=one))
    return parts if split == "cross" else parts[:1]


def count_duplicates(keys: Sequence[bytes], part: PartRows) -> Duplicates:
    """Count certification rows that equal an earlier one, and those that equal a training row.

    ``keys`` are the :func:`~certivote.certificate.row_keys` of all rows. Among more than 20 million they are not
    counted.

    Duplicates are natural in discrete data and are never dropped; where they come from oversampling or from repeated
    entities, the certificate is void, so it states how many there are.
    """
    if len(part.certify) + len(part.train) > COMPARED_ROWS:
        return None, None
    certify = [keys[i] for i in part.certify]
    train = {keys[i] for i in part.train}
    return len(certify) - len(set(certify)), sum(key in train for key in certify)

"""Training rows that belong together: how much each counts, and how they are divided."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


def checked_entities(entities: Any, n_rows: int) -> Codes | None:
    """The entity of each of ``n_rows`` rows; None if every row is by itself.

    Parameters
    ----------
    entities : array of int or None
        Codes from 0 on, without gaps.
    n_rows : int

    Examples
    --------
    >>> from certivote.voters._entities import checked_entities
    >>> checked_entities([1, 0, 0], n_rows=3).tolist()
    [1, 0, 0]
    >>> print(checked_entities([1, 0, 2], n_rows=3))
    None
    """
    if entities is None:
        return None
    codes = np.asarray(entities)
    if codes.shape != (n_rows,) or codes.dtype.kind not in "iu":
        raise ValueError(
            f"entities must be an array of {n_rows:,} whole numbers, one per training row; got {codes.dtype} of shape "
            f"{codes.shape}."
        )
    codes = codes.astype(np.intp)
    if n_rows and (codes.min() < 0 or codes.max() >= n_rows or np.any(np.bincount(codes) == 0)):
        raise ValueError(
            "entities must be codes from 0 on without gaps, as np.unique(groups, return_inverse=True)[1] gives them; "
            f"got {len(np.unique(codes)):,} different numbers from {codes.min()} to {codes.max()}."
        )
    return None if n_rows == 0 or codes.max() == n_rows - 1 else codes


def at_least_two(entities: Codes) -> int:
    """How many entities there are; a ValueError if no row is of another entity than the others."""
    count = int(entities.max()) + 1
    if count < 2:
        raise ValueError(
            "groups has one entity among the training rows, and the voters are asked about entities that they have not "
            "seen: give rows of more entities."
        )
    return count


def row_weights(entities: Codes | None) -> Array | None:
    """Weights with which all entities count the same, of mean 1; None if the rows have them already.

    Parameters
    ----------
    entities : array of int or None
        The entity of each row; numbers may be missing.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote.voters._entities import row_weights
    >>> row_weights(np.array([0, 0, 0, 5])).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    >>> print(row_weights(np.array([0, 0, 5, 5])))
    None
    """
    if entities is None:
        return None
    sizes = np.bincount(entities)[entities]
    if sizes.min() == sizes.max():
        return None
    weights = 1.0 / sizes
    return weights / weights.mean()


def shuffled_entities(entities: Codes | None, n_rows: int, rng: np.random.Generator) -> Codes:
    """Of each row, the place of its entity in a random order of them, counted from 0: for folds by entity."""
    if entities is None:
        return rng.permutation(n_rows)
    return rng.permutation(at_least_two(entities))[entities]


def shuffled_rows(entities: Codes | None, n_rows: int, rng: np.random.Generator) -> Codes:
    """The numbers of the rows in random order; each next one is drawn with chances in proportion to the weights."""
    weights = row_weights(entities)
    # Of independent exponential times with these rates, the next is that of a row with such a chance.
    return rng.permutation(n_rows) if weights is None else np.argsort(rng.exponential(size=n_rows) / weights)

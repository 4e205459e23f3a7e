"""Trees on bootstrap samples of entities."""

from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state, compute_sample_weight

from certivote.voters._entities import at_least_two, row_weights

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


def grow_on_entities(forest: Any, X: Any, y: NDArray[Any], entities: Codes) -> tuple[list[Any], NDArray[np.uint8]]:
    """The trees of a forest, each on entities that are drawn with replacement, with all their rows.

    A row weighs as often as its entity was drawn, divided by the number of rows of the entity.

    Parameters
    ----------
    forest : RandomForestClassifier or ExtraTreesClassifier
        Unfitted; it stays so. Of its parameters, ``max_samples`` is a share of the entities: a whole number of rows
        stands for the share that it is of all rows. Classes are balanced by their weights, not by their rows.
    X : array or sparse matrix
        The training rows.
    y : array
        Their labels.
    entities : array of int
        Their entities, as codes from 0 on without gaps.

    Returns
    -------
    trees : list of fitted trees of scikit-learn
        Their classes are codes: places in the ascending order of the labels.
    seen : array
        For each tree, whether each of the rows was in its sample, eight rows to a byte.
    """
    forest._validate_params()
    count, n_rows = at_least_two(entities), X.shape[0]
    share = 1.0 if forest.max_samples is None else forest.max_samples
    n_draws = max(round(count * (share / n_rows if isinstance(share, int | np.integer) else share)), 1)
    rows = single_precision(sparse.csc_array(X) if sparse.issparse(X) else X)
    if sparse.issparse(rows):
        rows.sort_indices()  # once, not in each tree
    codes = np.unique(y, return_inverse=True)[1]
    weights = row_weights(entities)
    own = np.ones(n_rows) if weights is None else weights
    by_sample = forest.class_weight == "balanced_subsample"
    if not by_sample:
        own = own * _class_factors(forest.class_weight, y, codes, own)
    parameters = {name: getattr(forest, name) for name in forest.estimator_params}

    def grow(draw: int, seed: int) -> tuple[Any, NDArray[np.uint8]]:
        drawn = np.bincount(np.random.default_rng(draw).integers(count, size=n_draws), minlength=count)[entities]
        sample: Array = own * drawn
        if by_sample:
            sample = sample * _class_factors("balanced", y, codes, sample)
        tree = clone(forest.estimator).set_params(**{**parameters, "random_state": seed})
        # Trees leave out rows of weight 0.
        return tree.fit(rows, codes, sample_weight=sample), np.packbits(drawn > 0)

    seeds = check_random_state(forest.random_state).randint(np.iinfo(np.int32).max, size=(forest.n_estimators, 2))
    grown = joblib.Parallel(n_jobs=forest.n_jobs, verbose=forest.verbose, require="sharedmem")(
        joblib.delayed(grow)(draw, seed) for draw, seed in seeds.tolist()
    )
    trees, seen = zip(*grown, strict=True)
    return list(trees), np.stack(seen)


def _class_factors(class_weight: Any, y: NDArray[Any], codes: Codes, weights: Array) -> Array:
    """What the weight of each row is multiplied by for the sake of its class, as scikit-learn's ``class_weight``."""
    if class_weight != "balanced":
        return np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
    masses = np.bincount(codes, weights)
    factors = np.zeros(len(masses))
    factors[masses > 0.0] = masses.sum() / (np.count_nonzero(masses) * masses[masses > 0.0])
    return factors[codes]


def single_precision(X: Any) -> Any:
    """Rows as the trees of scikit-learn want them."""
    with np.errstate(over="ignore"):
        rows = X.astype(np.float32)
    if sparse.issparse(rows):
        # Compiled trees take no longer numbers, which some versions of scipy give to few columns too.
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        if np.isnan(rows.data).any():
            # Compiled trees would send them to the right, and walked ones where the node says.
            raise ValueError(
                "X is sparse and has missing values, which trees cannot use. Fill them, or give an array: X.toarray()."
            )
    if np.isinf(rows.data if sparse.issparse(rows) else rows).any():
        raise ValueError("X contains infinity or a value too large for dtype('float32'), which trees cannot use.")
    return rows

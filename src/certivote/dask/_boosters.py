"""A booster of xgboost that is trained by all workers together, on training rows where they lie."""

import operator
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote._warn import warn
from certivote.dask._cluster import Passes, dask_package
from certivote.dask._partition import Part, read, working_on
from certivote.voters import BOOSTER_ROUNDS, booster_parameters

_MOST_ROWS = 2_000_000
"""Training rows of a booster, at most: they are in the workers' memory."""
_ATTEMPTS = 3
"""A booster that loses a worker has to begin again."""


def train_booster(
    passes: Passes,
    parts: list[Part],
    firsts: NDArray[np.int64],
    within: list[NDArray[np.intp]],
    n_columns: int,
    seed: int,
) -> bytes | None:
    """The model as xgboost writes it in JSON; None without the package.

    Parameters
    ----------
    passes : Passes
    parts : list of Part
    firsts : array of int
        Places of the first training rows of all partitions, and how many there are in all.
    within : list of array of int
        Places of training rows, partition by partition, that are left out: they weigh the voters.
    n_columns, seed : int
    """
    try:
        import xgboost
        import xgboost.dask
    except ImportError as error:
        if error.name != "xgboost":  # it is installed
            told = f"xgboost cannot be imported, and its booster does not vote: {error!s:.200}"
            warn(told)
        return None
    array, call = dask_package("dask.array"), dask_package().delayed
    step = -(-int(firsts[-1]) // _MOST_ROWS)
    tasks, counts = [], []
    for part, pair, first, stop, out in zip(parts, passes.table.pairs, firsts[:-1], firsts[1:], within, strict=True):
        count = len(kept_places(int(first), int(stop), out, step))
        if count:
            tasks.append(call(training_rows, pure=False)(part, *pair, out, int(first), step))
            counts.append(count)
    if not tasks:
        return None
    parameters = booster_parameters(len(parts[0].classes), seed)
    for attempt in range(_ATTEMPTS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about workers that have no rows
                held = passes.hold("training rows for xgboost", tasks)
                rows, labels = (
                    [call(own) for own in passes.client.map(operator.getitem, held, [item] * len(held), pure=False)]
                    for item in (0, 1)
                )
                X = [array.from_delayed(own, (n, n_columns), np.float32) for own, n in zip(rows, counts, strict=True)]
                y = [array.from_delayed(own, (n,), np.float32) for own, n in zip(labels, counts, strict=True)]
                passes.stage.begin("xgboost trains where the rows lie")
                matrix = xgboost.dask.DaskQuantileDMatrix(passes.client, array.concatenate(X), array.concatenate(y))
                found = xgboost.dask.train(passes.client, parameters, matrix, num_boost_round=BOOSTER_ROUNDS)
            return bytes(found["booster"].save_raw("json"))
        except Exception as error:  # any error that xgboost raises where a worker is lost
            if attempt + 1 == _ATTEMPTS:
                told = f"xgboost could not train on this cluster, and its booster does not vote: {error!s:.200}"
                warn(told)
    return None


def training_rows(
    part: Part, X: Any, y: Any, out: NDArray[np.intp], first: int, step: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Training rows of a partition for the booster, and codes of their classes."""
    with working_on(part.place):
        rows = read(part, X, y)
        assert rows is not None
        own, _, codes = rows.take(rows.train[kept_places(first, first + len(rows.train), out, step)])
        return np.asarray(own, dtype=np.float32), codes.astype(np.float32)


def kept_places(first: int, stop: int, out: NDArray[np.intp], step: int) -> NDArray[np.intp]:
    """Training rows of a partition that train the booster: one in ``step``, but none that weighs voters."""
    places = np.arange(-first % step, stop - first, step)
    return places[~np.isin(places, out)]

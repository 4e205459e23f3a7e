"""Rows as points: how far they are apart, and whether their neighbours are nearer than those of independent rows.

Two looks. A row of a recording is nearer to the next one of the table than to those some way on; in sorted tables it is
not, as the rows some way on are sorted in as well. And around rows that belong together, the distances to neighbours
jump. If rows are independent, then, however dense they are and on whatever surface they lie, the logarithms of the
ratios of successive distances, each times its place, are nearly independent and exponential with one mean, so that none
is much of their sum (Fisher's test of the largest share).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certivote.remarks._columns import Column

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_FEWEST = 50
"""Rows below which nothing is told about them."""
_QUERIES = 1000
"""Rows whose neighbours are looked at."""
_OTHERS = 6
"""Rows further on that the next one is compared with."""
_TIED = 0.1
"""Chance that two rows have the same number above which a column is discrete."""
_NEIGHBOURS = 64
"""Neighbours of a row that are looked at; and at most one for every forty rows, as few large clusters are no groups."""
_JUMP, _FEWEST_JUMPS = 1e-3, 10
"""The chance of a jump in independent rows at which one is counted, and the number of them that is no chance."""
_FEWEST_COLUMNS, _MANY_COLUMNS = 3, 30
"""Columns of fine numbers that are enough; and of others, if there are none."""
_FEWEST_VALUES, _FEWEST_RARE = 20, 10
"""Values of such another column, and numbers in a row that are not those of most rows."""


@dataclass(frozen=True)
class RowSample:
    """The rows that are looked at, in the order of the table.

    ``ranks`` are those of the numbers, from 0 to 1, equal where numbers are, and a half where they are missing;
    ``ties`` are the shares of the rows with the same number; ``texts`` are codes. ``number_places`` and ``text_places``
    are the columns that they come from.
    """

    rows: Places
    ranks: Floats
    ties: Floats
    number_places: Places
    texts: Places
    text_places: Places

    def fine(self) -> Places:
        """Columns of numbers that are seldom equal."""
        return np.flatnonzero(self.ties.mean(axis=0) <= _TIED)

    def apart(self, first: Places, second: Places, numbers: Places, texts: Places) -> Floats:
        """How far the first rows are from the second ones (one row of them for each) on some columns."""
        total = np.zeros(second.shape)
        for j in numbers:
            total += np.abs(self.ranks[second, j] - self.ranks[first, j][:, None])
        for j in texts:
            total += 0.5 * (self.texts[second, j] != self.texts[first, j][:, None])
        return total


def sample_of(rows: Places, read: dict[int, Column]) -> RowSample:
    """The rows, and the columns to compare them on."""
    numbers = [place for place, column in read.items() if column.texts is None]
    texts = [place for place, column in read.items() if column.texts is not None]
    ranks, ties = np.empty((len(rows), len(numbers)), order="F"), np.empty((len(rows), len(numbers)), order="F")
    for j, place in enumerate(numbers):
        values = read[place].values
        _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        shares = counts / len(rows)
        middle = np.cumsum(shares) - shares / 2
        ranks[:, j], ties[:, j] = np.where(np.isnan(values), 0.5, middle[codes]), shares[codes]
    codes = np.empty((len(rows), len(texts)), dtype=np.intp, order="F")
    for j, place in enumerate(texts):
        codes[:, j] = np.nan_to_num(read[place].values, nan=-1.0).astype(np.intp)
    return RowSample(rows, ranks, ties, np.array(numbers, dtype=np.intp), codes, np.array(texts, dtype=np.intp))


def how_often_less(first: Floats, second: Floats) -> float:
    """Share of the entries in which the first is less, and half of those in which they are equal."""
    return float(np.mean(first < second) + 0.5 * np.mean(first == second))


# Neighbours in the table


def next_nearer(pool: RowSample, rng: np.random.Generator) -> float:
    """How often a row some way on in the table is nearer than the next one; 1 if too few can be compared."""
    n = len(pool.rows)
    at = np.flatnonzero(np.diff(pool.rows) == 1)
    reach = min(40, n // 20)
    numbers = np.array([j for j in pool.fine() if not _is_sorted(pool.ranks[:, j])], dtype=np.intp)
    if len(at) < _FEWEST or reach < 10 or len(numbers) < 2:
        return 1.0
    at = rng.choice(at, _QUERIES, replace=False) if len(at) > _QUERIES else at
    steps = rng.integers(reach // 2, reach + 1, size=(len(at), _OTHERS)) * rng.choice([-1, 1], size=(len(at), _OTHERS))
    others = at[:, None] + steps
    others = np.where((others < 0) | (others >= n), at[:, None] - steps, others)
    beyond = np.abs(pool.rows[others] - pool.rows[at][:, None]) > reach
    others = np.where(beyond, at[:, None] - steps, others)
    fit = (np.abs(pool.rows[others] - pool.rows[at][:, None]) <= reach).all(axis=1)
    if np.count_nonzero(fit) < _FEWEST:
        return 1.0
    at, others, none = at[fit], others[fit], np.arange(0)
    return how_often_less(pool.apart(at, others, numbers, none), pool.apart(at, at[:, None] + 1, numbers, none))


def _is_sorted(values: Floats) -> bool:
    steps = np.diff(values)
    return bool(max(np.mean(steps >= 0), np.mean(steps <= 0)) > 0.98)


# Jumps of the distances to neighbours


def share_with_jumps(
    pool: RowSample, train: NDArray[np.bool_], certify: NDArray[np.bool_], rng: np.random.Generator
) -> float:
    """Share of the certification rows that have near-duplicates among the training rows; 0 if these may be chance."""
    chosen, rich = pool.fine(), np.ones(len(pool.rows), dtype=bool)
    spread = len(chosen) >= _FEWEST_COLUMNS
    if not spread:  # pixels, or counts of words: many numbers that are mostly zero, of rows in which enough are not
        chosen = np.flatnonzero((1.0 / (len(pool.rows) * pool.ties)).sum(axis=0) >= _FEWEST_VALUES)
        rich = (pool.ties[:, chosen] <= _TIED).sum(axis=1) >= _FEWEST_RARE
        if len(chosen) < _MANY_COLUMNS:
            return 0.0
    # One of each row: duplicates are natural in discrete data, and are counted elsewhere.
    points = np.ascontiguousarray(pool.ranks[:, chosen])
    whole = points.view(np.dtype((np.void, points.itemsize * len(chosen))))[:, 0]
    _, kept, places = np.unique(whole, return_index=True, return_inverse=True)
    in_training = np.bincount(places, weights=train) > 0
    queries = np.flatnonzero((np.bincount(places, weights=certify) > 0) & rich[kept])
    points, k = points[kept], min(_NEIGHBOURS, len(kept) // 40)
    if spread:  # equal numbers, over the room between them: independent rows then have a density, and are on no grid
        points = points + (rng.random(points.shape) - 0.5) * pool.ties[np.ix_(kept, chosen)]
    if k < 8 or len(queries) < _FEWEST:
        return 0.0
    share = len(queries) / np.count_nonzero(certify)
    queries = rng.choice(queries, _QUERIES, replace=False) if len(queries) > _QUERIES else queries
    single = points.astype(np.float32)
    squares = (single**2).sum(axis=1)
    jumps = 0
    for some in np.array_split(queries, -(-len(queries) // 200)):
        about = squares - 2.0 * single[some] @ single.T
        about[np.arange(len(some)), some] = np.inf
        near = np.argpartition(about, k, axis=1)[:, : k + 1]
        distances = np.sqrt(((points[near] - points[some][:, None]) ** 2).sum(axis=2))
        order = np.argsort(distances, axis=1)
        near, distances = np.take_along_axis(near, order, axis=1), np.take_along_axis(distances, order, axis=1)
        ratios = np.arange(1, k + 1) * np.log(distances[:, 1:] / distances[:, :-1])
        largest = ratios.max(axis=1) / np.maximum(ratios.sum(axis=1), np.finfo(float).tiny)
        jump = k * (1.0 - largest) ** (k - 1) <= _JUMP
        before = np.arange(k + 1) <= ratios.argmax(axis=1)[:, None]
        if train.any():
            jump &= (before & in_training[near]).any(axis=1)
        jumps += int(np.count_nonzero(jump))
    return float(share * jumps / len(queries)) if jumps >= _FEWEST_JUMPS else 0.0

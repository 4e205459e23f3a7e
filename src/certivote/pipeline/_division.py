"""Which rows train the voters and which certify the vote.

The parts are drawn uniformly at random, by row, or by entity where rows belong together. A stratified split would
tie the class counts of the certification rows to the training part and void the certificate. Rows with an order in time
are divided by it: the latest certify.

On a cluster rows are divided by their numbers, each by itself, wherever it lies and whoever has it. Row ``i`` of a
table has a random number that is a function of a key and of ``i``: number ``i`` of a counter-based generator (Philox),
which can be asked for any piece of its stream. The key comes from the seed and from a digest of all rows in their
order. So the rows of a table that lies in partitions on many machines are divided where they are, and alike for any
partitioning; and where a row stands decides nothing. A hash of what each row holds would not do: equal rows would go
together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from certivote.pipeline._blocks import BLOCK_ROWS
from certivote.pipeline._reference import MOST_ROWS
from certivote.pipeline._streams import Streams

Split = Literal["none", "single", "cross"]
"""Or a number of folds."""
Rows = NDArray[np.intp]


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


ROWS_BY_NUMBER = "rows by number"
"""The purpose of the key."""
_AT_ONCE = 1 << 22
"""Rows that are looked at together."""
_WORDS = 4
"""Numbers that one step of the generator's counter makes."""


@dataclass(frozen=True)
class ByNumber:
    """That rows are divided by their numbers, and how many of them are looked at where a part suffices.

    Attributes
    ----------
    sample_rows : int
        Training rows that voters are fitted on and weighed by, at most.
    learn_rows : int or None
        Certification rows that weights are learned from, at most; None for all. All are counted.
    block_rows : int
        Rows of a block, where weights are learned from all of many rows.
    """

    sample_rows: int
    learn_rows: int | None
    block_rows: int = BLOCK_ROWS

    def sample(self, streams: Streams, n_train: int) -> NDArray[np.intp]:
        """Which of so many training rows the voters are fitted on, by their places."""
        return chosen_rows(streams.of("training sample"), n_train, self.sample_rows)

    def learned_from(self, streams: Streams, n_certify: int) -> NDArray[np.intp]:
        """Which of so many certification rows the weights are learned from, by their places."""
        most = n_certify if self.learn_rows is None else self.learn_rows
        return chosen_rows(streams.of("rows to learn from"), n_certify, most)

    def voted_on(self, streams: Streams, n_certify: int) -> NDArray[np.intp]:
        """Which of so many certification rows vote where they are brought together.

        Those that weights are learned from; where this is done in blocks, those that new rows are compared with later.
        """
        if self.in_blocks(n_certify):
            return chosen_rows(streams.of("reference", 0), n_certify, MOST_ROWS)
        return self.learned_from(streams, n_certify)

    def in_blocks(self, n_certify: int) -> bool:
        """Whether weights are learned from so many certification rows block by block."""
        return self.learn_rows is None and n_certify > self.block_rows

    def looked_at(self, n_train: int, n_certify: int) -> tuple[int | None, int | None]:
        """How many of so many rows the voters are fitted on, and the weights learned from; None for all."""
        learned = self.learn_rows is not None and n_certify > self.learn_rows
        return self.sample_rows if n_train > self.sample_rows else None, self.learn_rows if learned else None


@dataclass(frozen=True)
class NumberedRows:
    """The rows of one part, as :class:`~certivote.pipeline.PartRows`, found by the rule when they are asked for.

    Attributes
    ----------
    key : int
        Below 2^128: see :func:`draws_of`.
    n_rows : int
    share : float
        Of the rows that train.

    Examples
    --------
    >>> rows = NumberedRows(0, n_rows=10, share=0.5)
    >>> rows.train.tolist(), rows.certify.tolist(), rows.n_train
    ([0, 1, 2, 5, 8, 9], [3, 4, 6, 7], 6)
    """

    key: int
    n_rows: int
    share: float

    @property
    def train(self) -> NDArray[np.intp]:
        return np.concatenate([first + np.flatnonzero(mask) for first, mask in self._masks()])

    @property
    def certify(self) -> NDArray[np.intp]:
        return np.concatenate([first + np.flatnonzero(~mask) for first, mask in self._masks()])

    @cached_property
    def n_train(self) -> int:
        """How many rows train."""
        return sum(int(np.count_nonzero(mask)) for _, mask in self._masks())

    def checked(self) -> "NumberedRows":
        """The same, if there are rows of both kinds."""
        n_certify = self.n_rows - self.n_train
        if not self.n_train or not n_certify:
            raise ValueError(
                f"Too few rows: n_samples = {self.n_rows} with train_share={self.share} leaves {self.n_train} to train "
                f"the voters and {n_certify} to certify; both need at least 1. Give more rows, or another train_share."
            )
        return self

    def in_memory(self) -> PartRows:
        """All row numbers at once."""
        return PartRows(self.train, self.certify)

    def _masks(self) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        for first in range(0, max(self.n_rows, 1), _AT_ONCE):
            yield first, trains(self.key, first, min(_AT_ONCE, self.n_rows - first), self.share)


def trains(key: int, first: int, count: int, share: float) -> NDArray[np.bool_]:
    """Of so many rows from this number on, which train the voters: each with this probability.

    Examples
    --------
    >>> whole = trains(0, 0, 1000, 0.25)
    >>> bool((trains(0, 701, 50, 0.25) == whole[701:751]).all()), int(whole.sum())
    (True, 243)
    """
    return draws_of(key, first, count) < share


def draws_of(key: int, first: int, count: int) -> NDArray[np.float64]:
    """The random numbers in [0, 1) that belong to these row numbers."""
    counter = np.random.Philox(key=key)
    counter.advance(first // _WORDS)
    skipped = first % _WORDS
    return np.random.Generator(counter).random(skipped + count)[skipped:]


def chosen_rows(rng: np.random.Generator, population: int, most: int) -> NDArray[np.intp]:
    """The places of some of so many rows, at most so many, at random and ascending."""
    if population <= most:
        return np.arange(population)
    return np.sort(rng.choice(population, most, replace=False, shuffle=False))

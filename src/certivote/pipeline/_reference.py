"""What a model keeps of its rows: what new ones are compared with, and rows to see whether it still votes as it did."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from certivote.certificate import Witnesses, missing_places, names_of
from certivote.pipeline._input import plain_values
from certivote.pipeline._streams import Streams
from certivote.theory.entities import Entities
from certivote.votes import Votes

_ROWS, _FROM = 64, 200
"""Probe rows, and the rows that their values are taken from."""
GRID = 1 << 12
"""Masses are kept as multiples of one over this."""
MOST_ROWS = 10_000
_LOOKED_AT = 2_000
"""Rows whose columns are looked at."""
MOST_COLUMNS = 300
RANGES = 16
MOST_WORDS, _FREQUENT = 20, 5
"""Words that are kept of a column, and how many rows must have each of them: rarer ones might name somebody."""
_LONGEST = 100
"""Characters of such a word."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ColumnShares:
    """How the values of a column are spread over ranges of numbers or over words.

    Attributes
    ----------
    name : str
    edges : array of float or None
        Between ranges of numbers, ascending; a value on an edge belongs to the range below. None for words.
    words : tuple of str
        Frequent ones.
    seen : array of int
        How many rows have a value in each range, or each word and then any other; and last, how many have none.

    Examples
    --------
    >>> ages = ColumnShares.of("age", np.array([30.0, 40.0, 50.0, np.nan]))
    >>> ages.edges.tolist(), ages.seen.tolist()
    ([30.0, 40.0], [1, 1, 1, 1])
    >>> ages.counts(np.array([10.0, 45.0, 60.0])).tolist()
    [1, 0, 2, 0]
    >>> states = ColumnShares.of("state", ["ill"] * 6 + ["well"] * 9 + [None])
    >>> states.words, states.seen.tolist(), states.counts(["well", "gone"]).tolist()
    (('well', 'ill'), [9, 6, 0, 1], [1, 0, 1, 0])
    """

    name: str
    edges: Array | None
    words: tuple[str, ...]
    seen: NDArray[np.int64]

    @classmethod
    def of(cls, name: str, values: Any) -> "ColumnShares":
        """Of some rows."""
        numbers, nothing = _numbers(values), np.empty(0, dtype=np.int64)
        if numbers is None:
            common = Counter(names_of(_present(values))).most_common(MOST_WORDS)
            empty = cls(name, None, tuple(word for word, n in common if n >= _FREQUENT and _is_short(word)), nothing)
        else:
            there = np.sort(numbers[np.isfinite(numbers)])
            # The largest value is no edge: none of these rows would be above it.
            edges = np.unique(there[len(there) * np.arange(1, RANGES) // RANGES - 1]) if len(there) >= RANGES else there
            empty = cls(name, np.unique(edges[edges < there[-1:]]) + 0.0, (), nothing)
        return replace(empty, seen=empty.counts(values))

    def counts(self, values: Any) -> NDArray[np.int64]:
        """How many values lie where ``seen`` says how many did; what cannot be read as a number counts as missing."""
        if self.edges is None:
            places = {word: place for place, word in enumerate(self.words)}
            present = _present(values)
            found = [places.get(text, len(places)) for text in names_of(present)]
            counts = np.bincount(np.array(found, dtype=np.intp), minlength=len(places) + 2)
            counts[-1] = len(values) - len(present)
            return counts
        numbers = _numbers(values)
        if numbers is None:
            numbers = np.array([_number(value) for value in plain_values(values, self.name)], dtype=float)
        there = numbers[~np.isnan(numbers)]
        counts = np.bincount(np.searchsorted(self.edges, there, side="left"), minlength=len(self.edges) + 2)
        counts[-1] = len(numbers) - len(there)
        return counts

    def check(self) -> None:
        """Raise a ValueError unless it can be that of a column."""
        edges, words, seen = self.edges, self.words, self.seen
        if edges is not None and (
            words or edges.dtype != np.float64 or not np.isfinite(edges).all() or np.any(np.diff(edges) <= 0.0)
        ):
            raise ValueError("the ranges that new rows are compared with are not in order")
        if len(words) > MOST_WORDS or len(set(words)) < len(words) or not all(map(_is_short, words)):
            raise ValueError("the words that new rows are compared with are none")
        wanted = 2 + (len(words) if edges is None else len(edges))
        if wanted > 2 + max(RANGES, MOST_WORDS) or seen.shape != (wanted,) or seen.dtype != np.int64:
            raise ValueError("what new rows are compared with has another length than its columns")
        if np.any(seen < 0) or not 1 <= int(seen.sum()) <= MOST_ROWS:
            raise ValueError("the rows that new rows are compared with cannot be so many")


@dataclass(frozen=True)
class ReferenceRows:
    """Certification rows that new rows will be compared with: their places among these, and their columns."""

    places: NDArray[np.intp]
    columns: tuple[ColumnShares, ...]

    def of(self, votes: Votes, weights: Array) -> "Reference":
        """What is kept of a vote on them."""
        return Reference(np.sort(on_grid(votes.take(self.places).masses(weights).max(axis=1))), self.columns)


@dataclass(frozen=True)
class Reference:
    """What a model keeps of its certification rows: no rows, but how sure it was of them, and shares of values.

    Attributes
    ----------
    masses : array of uint16
        The largest vote mass of each row, as multiples of ``1/GRID``, ascending.
    columns : tuple of ColumnShares
        Empty for rows that are no table of few columns.
    """

    masses: NDArray[np.uint16]
    columns: tuple[ColumnShares, ...]

    def check(self, n_features: int) -> None:
        """Raise a ValueError unless it can be that of a model with so many columns: one from a file is asked."""
        if self.masses.dtype != np.uint16 or self.masses.ndim != 1 or not 1 <= len(self.masses) <= MOST_ROWS:
            raise ValueError("the masses that new rows are compared with are none")
        if np.any(self.masses > GRID) or np.any(self.masses[1:] < self.masses[:-1]):
            raise ValueError("the masses that new rows are compared with are not in order")
        if self.columns and len(self.columns) != n_features:
            raise ValueError("new rows would be compared with others of another width")
        for column in self.columns:
            column.check()


@dataclass(frozen=True)
class KeptRows:
    """What a model keeps of the rows of its part; nothing is kept where given models are certified.

    Attributes
    ----------
    probe : rows
        Some that are none of the data, see :func:`probe_rows`.
    reference : ReferenceRows or None
        Certification rows that new rows can be compared with later.
    witnesses : Witnesses or None
        By which rows that it was made from are recognised.
    """

    probe: Any = None
    reference: ReferenceRows | None = None
    witnesses: Witnesses | None = None

    @classmethod
    def of_sample(cls, X: Any, n_voted: int, own: Streams, streams: Streams) -> "KeptRows":
        """Where only a sample ``X`` of the training rows is at hand, and votes on so many certification rows."""
        every, none = np.arange(X.shape[0]), np.arange(0)
        places = np.sort(streams.of("reference among", 0).permutation(n_voted)[:MOST_ROWS])
        return cls(
            probe_rows(X, every, own.of("probe", 0)),
            ReferenceRows(places, ()),
            Witnesses.of(X, every, none, streams.of("witnesses", 0)),
        )


def on_grid(masses: Array) -> NDArray[np.uint16]:
    """The nearest multiples of ``1/GRID``.

    Examples
    --------
    >>> on_grid(np.array([0.0, 0.75, 1.0])).tolist()
    [0, 3072, 4096]
    """
    return np.rint(np.clip(masses, 0.0, 1.0) * GRID).astype(np.uint16)


def reference_rows(
    X: Any, names: Sequence[str], certify: NDArray[np.intp], entities: Entities | None, rng: np.random.Generator
) -> ReferenceRows:
    """Choose them at random: of rows that belong together, one of each entity.

    Parameters
    ----------
    X : rows
        All of them.
    names : sequence of str
        Of the columns, if they have names.
    certify : array of int
        The certification rows.
    entities : Entities or None
        Which of these belong together.
    rng : numpy Generator
        Of a stream that nothing else uses.
    """
    places = rng.permutation(len(certify))
    if entities is not None:
        places = places[np.unique(entities.codes[places], return_index=True)[1]]
        places = rng.permutation(places)
    places = places[:MOST_ROWS]
    some = certify[np.sort(places[:_LOOKED_AT])]
    columns = tuple(ColumnShares.of(name, values) for name, values in table_columns(X, names, some))
    return ReferenceRows(np.sort(places), columns)


def table_columns(X: Any, names: Sequence[str], rows: NDArray[np.intp]) -> Iterator[tuple[str, Any]]:
    """The columns of some rows with their names; none for what is no table of few columns."""
    if len(np.shape(X)) != 2 or np.shape(X)[1] > MOST_COLUMNS or scipy.sparse.issparse(X):
        return
    known = list(names) or [str(place) for place in range(np.shape(X)[1])]
    for place, name in enumerate(known):
        yield name, X.iloc[rows, place] if hasattr(X, "iloc") else X[rows, place]


def _numbers(values: Any) -> Array | None:
    """A column of numbers as floats; None for others."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return np.asarray(values, dtype=float)
    present = _present(values)
    if not present or not all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return None
    return np.array([_number(value) for value in plain_values(values, "")])


def _number(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return np.nan


def _present(values: Any) -> list[Any]:
    """The values that are not missing, as Python has them."""
    every = plain_values(values, "a column")
    gone = set(missing_places(every))
    return [value for place, value in enumerate(every) if place not in gone]


def _is_short(word: str) -> bool:
    """Whether it can be kept: short, and without halves of characters."""
    return len(word) <= _LONGEST and word == word.encode(errors="ignore").decode()


def probe_rows(X: Any, known: NDArray[np.intp], rng: np.random.Generator) -> Any:
    """Rows that are none of the data: each value comes from the same column of one of the ``known`` rows of ``X``."""
    some = _safe_indexing(X, np.sort(rng.permutation(known)[:_FROM]))
    return _shuffled_sparse(some, rng) if sparse.issparse(some) else _shuffled(some, rng)


def _shuffled(X: Any, rng: np.random.Generator) -> Any:
    picks = rng.integers(X.shape[0], size=(_ROWS, X.shape[1]))
    if not hasattr(X, "iloc"):
        array: NDArray[Any] = np.take_along_axis(np.asarray(X), picks, axis=0)
        return array
    columns = {place: X.iloc[picks[:, place], place].reset_index(drop=True) for place in range(X.shape[1])}
    return type(X)(columns).set_axis(X.columns, axis=1)


def _shuffled_sparse(X: Any, rng: np.random.Generator) -> Any:
    few = sparse.coo_array(X[rng.integers(X.shape[0], size=_ROWS)])
    return sparse.csr_array((few.data, (rng.integers(_ROWS, size=few.nnz), few.coords[1])), shape=few.shape)

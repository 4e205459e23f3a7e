"""Whether rows seem to belong together though no groups were given.

The rows were divided at random, so the nearest rows of the other part are as near as those of the own part, whether
rows are independent or not. Three other looks tell, each only if those before it found nothing:

- rows that share a value of a column are nearer to one another than to rows with the values next to it. For a
  measurement, those would be as near; for the name of a patient or a machine, they are others;
- a row is nearer to the next one of the table than to those some way on;
- the distances from a row to its neighbours jump, see ``_neighbours.py``.

None sees a label, and nothing is decided by any: what is found is for the reader.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from certivote.certificate import Finding
from certivote.maths.streams import stream
from certivote.remarks._columns import Column, read_column, whole_column
from certivote.remarks._neighbours import RowSample, how_often_less, next_nearer, sample_of, share_with_jumps

Places = NDArray[np.intp]

_ROWS, _BLOCK = 20_000, 400
"""Most rows that are looked at; of longer tables, blocks of this length, as rows that belong together may be near."""
_COLUMNS, _CANDIDATES, _COMPARED = 1000, 40, 60
"""Most columns that are looked at, most that may be a name, and most on which rows are compared."""
_FEWEST = 100
"""Rows below which nothing is looked for."""
_QUERIES = 500
"""Rows that are compared with others of the same value."""
_SCREENED = 1000
"""Rows by which columns are chosen."""
_OTHERS = 6
"""Rows that a mate is compared with."""
_FEWEST_VALUES, _FEWEST_NAMED = 20, 10
"""Values that a column must have to be a name of groups; and if it is called like one."""
_LARGEST, _LARGEST_NAMED = 1 / 20, 1 / 5
"""Largest share of the rows that a value may have to be a name; and if the column is called like one."""
_SHARED = 0.3
"""Share of the rows that must share their value with another."""
_NEXT_ALIKE = 0.2
"""Neighbouring rows are alike if rows further on are nearer at most so often."""
_JUMPING = 0.05
"""Share of the certification rows with near-duplicates that is told."""
_WORDS = 5
"""Text with more words in the mean is no name but prose."""
_ALIKE, _ALIKE_FEW, _ALIKE_NAMED = 0.25, 0.1, 0.4
"""Rows with one value are alike if other rows are nearer at most so often; if the values are fewer than ``_MANY``, as
those of a category are; and if the column is called like a name. Half the time would be chance."""
_MANY = 100
_CONSTANT = 0.98
"""Share of the rows with one value that have one value of another column too, if it says the same in a coarser way."""
_SMOOTH = 0.35
"""A column measures something if rows twenty values on are nearer than those one value on less often than this."""
_NAME = re.compile(
    r"(?i:(^|[\W_])(ids?|uuid|guid|(patient|subject|person|participant|user|customer|client|machine|device|document|doc|"
    r"household|animal|speaker|writer|author|session|recording)([\W_]*(id|nr|no|number|code|key|name))?)\d*$)"
    r"|[a-z](ID|Id|Nr|No)$"
)
"""What columns are called that name something; patient_age is not."""


@dataclass(frozen=True)
class _Name:
    """A column that seems to name what rows belong to: how often others are nearer, values, and rows for each."""

    place: int
    nearer: float
    codes: Places
    counts: Places


def related_rows(
    X: Any,
    train: Places,
    certify: Places,
    columns: Sequence[str] = (),
    *,
    digest: str = "",
    table: Any = None,
    in_time: bool = False,
) -> tuple[Finding, ...]:
    """What suggests that rows belong together.

    Parameters
    ----------
    X : array, data frame or sparse matrix
        All rows, in the order of the table.
    train, certify : array of int
        Row numbers of the two parts; the first may be empty.
    columns : sequence of str
        Names of the columns; empty if they have none.
    digest : str
        Of the data. No bound rests on which rows are looked at, so no seed has a part in it.
    table : data frame, optional
        Other columns of the rows.
    in_time : bool
        Whether rows have an order in time: that neighbouring rows are alike is then what was expected.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> patient = np.repeat(np.arange(80), 10)
    >>> X = np.column_stack([patient, rng.normal(size=(80, 3))[patient] + 0.1 * rng.normal(size=(800, 3))])
    >>> order = rng.permutation(800)
    >>> related_rows(X[order], np.arange(400), np.arange(400, 800), ["patient", "a", "b", "c"])
    (Finding(kind='repeated values', places=(0,), columns=('patient',), numbers=(80.0, 10.0, 10.0)),)
    """
    X, columns = _beside(X, columns, table)
    found = _looked_for(X, train, certify, columns, stream("looks", seed=(), digest=digest))
    return tuple(finding for finding in found if not (in_time and finding.kind == "neighbours alike"))


def _beside(X: Any, columns: Sequence[str], table: Any) -> tuple[Any, Sequence[str]]:
    """The rows with columns that stood beside them; of a sparse matrix, which has many columns, as it is."""
    if table is None or sparse.issparse(X):
        return X, columns
    both = [pd.DataFrame(each).reset_index(drop=True) for each in (X, table)]
    if len(both[0]) != len(both[1]):
        raise ValueError(f"table must have one row for each of the {len(both[0]):,} in X; got {len(both[1]):,}.")
    return pd.concat(both, axis=1), (*(columns or [""] * both[0].shape[1]), *map(str, both[1].columns))


def _looked_for(
    X: Any, train: Places, certify: Places, columns: Sequence[str], rng: np.random.Generator
) -> tuple[Finding, ...]:
    """The three looks, one after the other until one finds something."""
    rows = np.sort(np.concatenate([train, certify])).astype(np.intp)
    n_columns = X.shape[1] if np.ndim(X) == 2 or sparse.issparse(X) else 0
    if len(rows) < _FEWEST or not n_columns:
        return ()
    if not hasattr(X, "iloc") and not sparse.issparse(X):
        X = np.asarray(X)
    X = X.tocsr() if sparse.issparse(X) else X
    chosen = _some(rows, rng)
    part = _safe_indexing(X, chosen)
    looked = np.arange(min(n_columns, _COLUMNS))
    if sparse.issparse(part):
        looked = np.sort(
            np.argsort(-np.bincount(part.indices, minlength=part.shape[1]), kind="stable")[:_COMPARED]
        )  # the others are mostly zero
        part = part[:, looked].toarray()
    compared, candidates = _screen(part, columns, looked, rng)
    read = {j: column for j in sorted(compared | candidates) if (column := read_column(part, j)) is not None}
    pool = sample_of(chosen, {int(looked[j]): column for j, column in read.items() if j in compared})
    possible = {int(looked[j]): column for j, column in read.items() if j in candidates}
    names = _names(pool, possible, X, rows, columns, rng)
    if names:
        return tuple(_of_name(name, columns) for name in names)
    if (nearer := next_nearer(pool, rng)) <= _NEXT_ALIKE:
        return (Finding("neighbours alike", numbers=(float(1 - nearer),)),)
    share = share_with_jumps(pool, np.isin(chosen, train), np.isin(chosen, certify), rng)
    return (Finding("near-duplicates", numbers=(float(share),)),) if share >= _JUMPING else ()


def _of_name(name: _Name, columns: Sequence[str]) -> Finding:
    numbers = float(len(name.counts)), float(name.counts.min()), float(name.counts.max())
    called = (columns[name.place],) if columns else ()
    return Finding("repeated values", (int(name.place),), called, numbers)


def _some(rows: Places, rng: np.random.Generator) -> Places:
    """All rows, or blocks of them from the whole table."""
    if len(rows) <= _ROWS:
        return rows
    n_blocks = _ROWS // _BLOCK
    room = len(rows) // n_blocks
    starts = np.arange(n_blocks) * room + rng.integers(room - _BLOCK + 1, size=n_blocks)
    return rows[(starts[:, None] + np.arange(_BLOCK)).ravel()]


def _screen(part: Any, columns: Sequence[str], looked: Places, rng: np.random.Generator) -> tuple[set[int], set[int]]:
    """By some rows: columns to compare rows on, and columns that may be a name, as places in the part."""
    some = np.sort(rng.permutation(part.shape[0])[:_SCREENED])
    part, varied, named = _safe_indexing(part, some), [], []
    for j, place in enumerate(looked):
        column = read_column(part, j)
        if column is None:
            continue
        counts = np.unique(column.values[~np.isnan(column.values)], return_counts=True)[1]
        if len(counts) > 1:
            varied.append(j)
        called = _is_called(columns, int(place))
        usual = counts[counts <= 2 * (_LARGEST_NAMED if called else _LARGEST) * len(some)]
        if len(usual) >= _FEWEST_NAMED and 3 * usual.sum() >= len(some) and _may_name(column):
            named.append((not called, -len(usual), j))
    compared = rng.choice(varied, _COMPARED, replace=False).tolist() if len(varied) > _COMPARED else varied
    return set(compared), {j for *_, j in sorted(named)[:_CANDIDATES]}


# A column that names what rows belong to


def _names(
    pool: RowSample, read: dict[int, Column], X: Any, rows: Places, columns: Sequence[str], rng: np.random.Generator
) -> list[_Name]:
    """Columns with values that alike rows share; of those that say the same, more or less finely, the coarsest."""
    found: list[_Name] = []
    for place, column in read.items():
        called = _is_called(columns, place)
        whole = whole_column(X, place) if len(pool.rows) < len(rows) else column
        if whole is None or not _may_name(whole):
            continue
        values = whole.values[rows] if len(whole.values) > len(rows) else whole.values
        _, codes, counts = np.unique(values[~np.isnan(values)], return_inverse=True, return_counts=True)
        usual = counts <= (_LARGEST_NAMED if called else _LARGEST) * len(rows)
        if np.count_nonzero(usual) < (_FEWEST_NAMED if called else _FEWEST_VALUES):
            continue
        sizes = counts[usual]
        if sizes.sum() < len(rows) / 2 or sizes[sizes > 1].sum() < _SHARED * sizes.sum():
            continue
        own = np.full(len(values), -1, dtype=np.intp)
        own[~np.isnan(values)] = np.where(usual, np.cumsum(usual) - 1, -1)[codes]
        own = own[np.searchsorted(rows, pool.rows)]
        nearer = _others_nearer(pool, place, own, whole.texts is None, called, rng)
        if nearer <= (_ALIKE_NAMED if called else _ALIKE if len(sizes) >= _MANY else _ALIKE_FEW):
            found.append(_Name(place, nearer, own, sizes))
    found.sort(key=lambda name: (len(name.counts), name.nearer))
    kept: list[_Name] = []
    for name in found:
        if not any(_is_function(name.codes, other.codes) for other in kept):
            kept.append(name)
    return sorted(kept, key=lambda name: name.nearer)[:2]


def _is_called(columns: Sequence[str], place: int) -> bool:
    """Whether a column is called like one that names what rows belong to."""
    return bool(columns and _NAME.search(columns[place]))


def _may_name(column: Column) -> bool:
    if column.texts is not None:
        return bool(column.texts and np.mean([text.count(" ") + 1 for text in column.texts]) <= _WORDS)
    present = column.values[~np.isnan(column.values)]
    return len(present) > 0 and (column.is_date or bool((np.mod(present, 1.0) == 0).all()))


def _is_function(fine: Places, coarse: Places) -> bool:
    """Whether each of the first codes goes with one of the second ones, but for few rows."""
    pairs = np.unique((fine + 1) * (int(coarse.max()) + 2) + coarse + 1)
    return bool(len(pairs) <= 1.02 * len(np.unique(fine)))


def _others_nearer(
    pool: RowSample, place: int, codes: Places, in_order: bool, called: bool, rng: np.random.Generator
) -> float:
    """How often a row with another value is nearer than one with the same; 1 if too few can be compared."""
    numbers = np.flatnonzero(pool.number_places != place)
    texts = np.flatnonzero(pool.text_places != place)
    order = np.lexsort((rng.random(len(codes)), codes))
    order = order[codes[order] >= 0]
    if not len(order):
        return 1.0
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    values = np.repeat(np.arange(len(starts)), sizes)
    at = np.flatnonzero(sizes[values] > 1)
    if len(at) < _FEWEST / 2 or len(starts) < _FEWEST_NAMED:
        return 1.0
    at = rng.choice(at, _QUERIES, replace=False) if len(at) > _QUERIES else at
    own = values[at]
    rows, mates = order[at], order[starts[own] + (at - starts[own] + rng.integers(1, sizes[own])) % sizes[own]]
    if not called:  # a city has one country and one place on the map, which makes it no group
        numbers = numbers[np.mean(pool.ranks[rows][:, numbers] == pool.ranks[mates][:, numbers], axis=0) < _CONSTANT]
        texts = texts[np.mean(pool.texts[rows][:, texts] == pool.texts[mates][:, texts], axis=0) < _CONSTANT]
    if not len(numbers) + len(texts):
        return 1.0

    def some(steps: Places) -> Places:
        """A row with the value so many steps on, for each."""
        others = (own[:, None] + steps) % len(starts)
        picked: Places = order[starts[others] + (rng.random(others.shape) * sizes[others]).astype(np.intp)]
        return picked

    half = np.arange(1, _OTHERS // 2 + 1)
    close = np.concatenate([-half, half])
    far = close + min(20, len(starts) // 3) * np.sign(close)
    if not in_order:
        close = rng.integers(1, len(starts), size=(len(own), _OTHERS))
    mate = pool.apart(rows, mates[:, None], numbers, texts)
    near = pool.apart(rows, some(close), numbers, texts)
    if in_order and how_often_less(pool.apart(rows, some(far), numbers, texts), near) < _SMOOTH:
        return 1.0
    return how_often_less(near, mate)

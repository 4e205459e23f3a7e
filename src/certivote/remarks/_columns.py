"""What a reader should know about columns: that one gives the answer away, names the rows, or says nothing.

Two dates may give away together what neither does alone: how long somebody stayed.

All is computed from training rows, and nothing is decided by it: columns are remarked on, never dropped. What is found
may have a good reason: a column of measurements may tell the classes apart honestly, and a whole number may be a
measurement.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import _safe_indexing

from certivote.certificate import Finding
from certivote.maths.streams import stream
from certivote.remarks._left_out import errors_with_and_without
from certivote.theory.bounds import holdout
from certivote.theory.risks import Labels
from certivote.voters import ColumnEncoder, ColumnError
from certivote.voters.text_columns import coded

_ROWS, _COLUMNS = 5000, 1000
"""Most rows and columns that are looked at."""
_FEWEST = 50
"""Training rows below which a pattern in a column may be chance."""
_FEWEST_ERRORS = 5
"""Training rows outside of the most frequent class below which nothing is to be told apart."""
_TELLING = ("numbers the rows", "tells the class", "filled for one class")
_GIVEAWAYS = ("copies the class", *_TELLING)
_KINDS = (*_GIVEAWAYS, "names each row", "constant", "empty")
"""What may be found of a column, worst first."""
_DATES = 12
"""Columns of dates of which pairs are looked at."""
_TOLD, _SURELY = 0.1, 0.03
"""A column tells the class if, out of sample, it leaves less than the first share of the errors of always answering the
most frequent class, and errs with 95 % confidence on at most the second share of the rows."""
_INDEX_TOLD = 0.25
"""The same share for a number of the row, of which no honest use is known."""
_FEWEST_FILLED, _ONE_CLASS, _ELSEWHERE = 30, 0.98, 0.8
"""A column is filled for one class if at least so many rows have a value and as many have none, if so large a share of
the first is of one class, and at most this share of the others."""
_FEW_VALUES = 64
"""Up to so many values a column of numbers is looked at value by value, like one of categories."""
_DIFFERENT = 0.95
"""Share of the values of a text column that differ if they are identifiers."""
_WORDS = 5
"""Text with more words in the mean is no identifier but prose."""
_IDENTIFIER = re.compile(r"(?i)(^|[\W_])(id|ids|uuid|guid|index|idx|rownum|row|key|nr|no|number|unnamed)($|[\W_\d])")


@dataclass(frozen=True)
class Column:
    """The values of a column: numbers, or codes of texts; NaN where one is missing or infinite."""

    values: NDArray[np.float64]
    texts: Sequence[str] | None
    is_date: bool = False

    @property
    def is_number(self) -> bool:
        return self.texts is None and not self.is_date


def column_findings(
    X: Any, labels: Labels, names: Sequence[str], entities: NDArray[np.intp] | None = None, digest: str = ""
) -> tuple[Finding, ...]:
    """What the training rows show about columns, worst first.

    Parameters
    ----------
    X : array, data frame or sparse matrix
        The training rows, in the order of the file.
    labels : array of int
        Their classes, as codes.
    names : sequence of str
        Names of the columns; empty if they have none.
    entities : array of int, optional
        Which rows belong together.
    digest : str
        Of the training rows. No bound rests on what is random here, so no seed has a part in it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> X = np.column_stack([rng.normal(size=200), np.ones(200), y + 0.3 * rng.random(200)])
    >>> for finding in column_findings(X, y, ["age", "site", "discharged"]):
    ...     print(finding.kind, finding.columns)
    tells the class ('discharged',)
    without giveaways ('discharged',)
    constant ('site',)
    """
    n_rows, n_columns = X.shape[0], X.shape[1] if np.ndim(X) == 2 or sparse.issparse(X) else 0
    if n_rows < 2 or not n_columns:
        return ()
    if not isinstance(X, pd.DataFrame) and not sparse.issparse(X):
        X = np.asarray(X)
    sample = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _ROWS)).round().astype(np.intp))
    part = _safe_indexing(X, sample)
    if sparse.issparse(part):
        part = part[:, :_COLUMNS].toarray()
    if isinstance(part, np.ndarray):
        part = np.asfortranarray(part)  # it is read a column at a time
    known = labels[sample]
    columns = {place: read_column(part, place) for place in range(min(n_columns, _COLUMNS))}
    table = {place: column for place, column in columns.items() if column is not None}
    found: dict[str, list[int]] = {kind: [] for kind in _KINDS}
    shares: dict[int, float] = {}
    for place, column in table.items():
        kind = _same(column, X, place)
        if not kind and n_rows >= _FEWEST:
            kind, shares[place] = _kind(column, X, place, names[place] if names else "", labels, known)
        if kind:
            found[kind].append(place)
    findings = [_finding(kind, places, shares, names) for kind, places in found.items() if places]
    if n_rows >= _FEWEST:
        told = [finding for finding in findings if finding.kind in _GIVEAWAYS]
        told += _pairs_of_dates(table, told, known, names)
        if told:
            told += _without(table, told, known, names, None if entities is None else entities[sample], digest)
        findings = told + [finding for finding in findings if finding.kind not in _GIVEAWAYS]
    if n_columns > _COLUMNS:
        findings.append(Finding("columns looked at", numbers=(float(_COLUMNS), float(n_columns))))
    return tuple(findings)


def _kind(column: Column, X: Any, place: int, name: str, labels: Labels, known: Labels) -> tuple[str, float]:
    """What is found of a column that is neither constant nor empty, if anything, and the share that it tells."""
    usual = _majority_errors(known)
    identifier = _is_identifier(column, X, place, name)
    index = column.is_number and (identifier or bool((np.diff(column.values) > 0).all()))
    errors = _errors(column, known, (_INDEX_TOLD if index else _TOLD) * usual)
    share = 1.0 - errors / len(known)
    if index and errors < _INDEX_TOLD * usual:
        return "numbers the rows", share
    if _tells(errors, known):
        return ("copies the class" if _copies(column, X, place, labels, known) else "tells the class"), share
    if (filled := _filled_for_one(column, known)) > 0.0:
        return "filled for one class", filled
    return ("names each row" if identifier else ""), share


def _tells(errors: int, labels: Labels) -> bool:
    return errors < _TOLD * _majority_errors(labels) and holdout(errors, len(labels), 0.05) <= _SURELY


def _copies(column: Column, X: Any, place: int, labels: Labels, known: Labels) -> bool:
    """Whether each value is one class, and each class one value: in the rows that were looked at, and then in all."""

    def renames(column: Column | None, labels: Labels) -> bool:
        if column is None or np.isnan(column.values).any():
            return False
        n_values, n_classes = len(np.unique(column.values)), len(np.unique(labels))
        return n_values == n_classes == len(np.unique(np.column_stack([column.values, labels]), axis=0))

    return renames(column, known) and renames(whole_column(X, place), labels)


def _pairs_of_dates(
    table: Mapping[int, Column], told: Sequence[Finding], labels: Labels, names: Sequence[str]
) -> Iterator[Finding]:
    """Pairs of dates with a time between them that tells the class, best first, no date in two of them."""
    alone = {place for finding in told for place in finding.places}
    dates = [place for place, column in table.items() if column.is_date and place not in alone]
    pairs = []
    for first, last in combinations(dates[:_DATES], 2):
        between = Column(table[last].values - table[first].values, None)
        errors = _errors(between, labels, _TOLD * _majority_errors(labels))
        if _tells(errors, labels):
            pairs.append((errors, first, last))
    used: set[int] = set()
    for errors, *pair in sorted(pairs):
        if not used & set(pair):
            used.update(pair)
            yield _finding("dates tell the class", pair, dict.fromkeys(pair, 1.0 - errors / len(labels)), names)


def _without(
    table: Mapping[int, Column],
    told: Sequence[Finding],
    labels: Labels,
    names: Sequence[str],
    entities: NDArray[np.intp] | None,
    digest: str,
) -> Iterator[Finding]:
    """What is lost without all columns that give the class away: one alone is not missed while another is there."""
    places = tuple(sorted({place for finding in told for place in finding.places}))
    values = {place: column.values for place, column in table.items()}
    errors = errors_with_and_without(values, places, labels, entities, stream("left out", seed=(), digest=digest))
    if errors is not None:
        yield Finding("without giveaways", places, tuple(names[place] for place in places) if names else (), errors)


def _finding(kind: str, places: Sequence[int], shares: Mapping[int, float], names: Sequence[str]) -> Finding:
    told = (min(shares[place] for place in places),) if kind in (*_TELLING, "dates tell the class") else ()
    return Finding(kind, tuple(places), tuple(names[place] for place in places) if names else (), told)


def read_column(part: Any, place: int) -> Column | None:
    """A column as numbers or as codes of texts; None if it holds neither."""
    if isinstance(part, np.ndarray) and part.dtype.kind in "biuf":
        values = part[:, place].astype(float)
        return Column(np.where(np.isinf(values), np.nan, values), None)
    single = part.iloc[:, [place]] if isinstance(part, pd.DataFrame) else pd.DataFrame(part[:, place])
    single = single.set_axis(["column"], axis=1)
    try:
        try:
            encoder = ColumnEncoder().fit(single)
        except ColumnError:  # training rows alone decide; here are others
            encoder = ColumnEncoder(category=["column"]).fit(single)
        (kind,) = encoder.kinds_
        if kind not in ("category", "text"):
            values = encoder.transform(single)[:, 0]
            return Column(np.where(np.isinf(values), np.nan, values), None, kind == "date")
        codes, texts = coded(single["column"])
    except TypeError:  # lists and other values that cannot be compared
        return None
    return Column(np.where(codes < 0, np.nan, codes), texts)


def whole_column(X: Any, place: int) -> Column | None:
    """A column of all rows, which may be sparse."""
    if sparse.issparse(X):
        return read_column(X[:, [place]].toarray(), 0)
    return read_column(X, place)


def _same(column: Column, X: Any, place: int) -> str:
    """Whether the column is empty, or constant: in the rows that were looked at, and then in all."""

    def kind(column: Column | None) -> str:
        if column is None:
            return ""
        missing = np.isnan(column.values)
        if missing.all():
            return "empty"
        return "constant" if not missing.any() and (column.values == column.values[0]).all() else ""

    return kind(column) and kind(whole_column(X, place))


def _filled_for_one(column: Column, labels: Labels) -> float:
    """The share of one class among the rows that have a value, if there are hardly any others; 0 otherwise.

    The rows without one must be of other classes so often that this is not how classes are spread.
    """
    filled = ~np.isnan(column.values)
    n_filled, n_classes = int(np.count_nonzero(filled)), int(labels.max()) + 1
    if not _FEWEST_FILLED <= n_filled <= len(labels) - _FEWEST_FILLED:
        return 0.0
    own = np.bincount(labels[filled], minlength=n_classes)
    frequent = int(own.argmax())
    share = float(own[frequent] / n_filled)
    elsewhere = float(np.mean(labels[~filled] == frequent))
    return share if share >= _ONE_CLASS and elsewhere <= _ELSEWHERE else 0.0


def _is_identifier(column: Column, X: Any, place: int, name: str) -> bool:
    """Whether the values differ from row to row as only names and numbers of rows do."""
    present = column.values[~np.isnan(column.values)]
    if column.is_date or len(present) < _FEWEST or not _differ(column, present):
        return False
    whole = whole_column(X, place)
    if whole is None:
        return False
    present = whole.values[~np.isnan(whole.values)]
    if not _differ(whole, present):
        return False
    return whole.texts is not None or bool(_IDENTIFIER.search(name)) or _differ_by_design(present)


def _differ(column: Column, present: NDArray[np.float64]) -> bool:
    """Whether nearly all values differ, and are short texts or whole numbers."""
    if column.texts is not None:
        words = np.mean([text.count(" ") + 1 for text in column.texts])
        return bool(len(column.texts) >= _DIFFERENT * len(present) and words <= _WORDS)
    return bool((np.mod(present, 1.0) == 0).all() and len(np.unique(present)) == len(present))


def _differ_by_design(present: NDArray[np.float64]) -> bool:
    """Whether whole numbers that all differ are so close that those of a measurement would not.

    If the numbers had a smooth density, there would be half as many pairs of equal ones as pairs one unit apart, which
    are counted over three units here. Five expected pairs and none seen is no chance.
    """
    steps = np.diff(np.sort(present))
    steps = steps / np.gcd.reduce(np.minimum(steps, 2**52).astype(np.int64))
    return bool(np.count_nonzero(steps <= 3) / 6 >= 5)


def _majority_errors(labels: Labels) -> int:
    return int(len(labels) - np.bincount(labels).max())


def _errors(column: Column, labels: Labels, limit: float) -> int:
    """Errors out of sample when the class is told by this column alone: by few values, or by few thresholds.

    If they would surely be more than the limit, all that one knows is what the most frequent class gets wrong.
    """
    usual = _majority_errors(labels)
    if usual < _FEWEST_ERRORS:
        return usual
    values, codes = np.unique(column.values, return_inverse=True)
    n_classes = int(labels.max()) + 1
    if column.texts is not None or len(values) <= _FEW_VALUES:
        pairs = codes * n_classes + labels
        counts = np.bincount(pairs, minlength=len(values) * n_classes).reshape(-1, n_classes)
        if len(labels) - counts.max(axis=1).sum() > limit:
            return usual
        return sum(_errors_by_value(counts, codes[fold], labels[fold]) for _, fold in _folds().split(codes))
    ordered = labels[np.lexsort((labels, column.values))]
    if np.count_nonzero(np.diff(ordered)) > 2 * limit + n_classes:
        return usual  # the classes are too mixed along the column for few thresholds
    tree = DecisionTreeClassifier(max_leaf_nodes=max(4, 2 * n_classes), random_state=0)
    told = cross_val_predict(tree, column.values[:, None], labels, cv=_folds())
    return int(np.count_nonzero(told != labels))


def _errors_by_value(counts: NDArray[np.intp], codes: NDArray[np.intp], labels: Labels) -> int:
    """Errors on a fold if each value tells the class that is most frequent with it in the others; a new one, in all."""
    others = counts.copy()
    np.subtract.at(others, (codes, labels), 1)
    others[others.sum(axis=1) == 0] = others.sum(axis=0)
    return int(np.count_nonzero(others[codes].argmax(axis=1) != labels))


def _folds() -> KFold:
    return KFold(5, shuffle=True, random_state=0)

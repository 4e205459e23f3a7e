"""How the rows shall be divided: decided by looking at the first of them only.

The rows come shuffled, and the first of them are looked at. The answer is how far the training part reaches; or that
the first rows train several votes, each of which is certified on one fold of the other rows and trained on the rest.
Either way no row that has been looked at is certified on, so whatever the answer, the others are a fresh sample.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from certivote.certificate import FirstRows
from certivote.maths.binomial import binomial_upper
from certivote.pipeline._division import Split
from certivote.pipeline._grouping import Grouping
from certivote.pipeline._plan import Plan
from certivote.pipeline._priors import unseen_weights
from certivote.pipeline._progress import Stage
from certivote.pipeline._streams import Streams
from certivote.theory.entities import Entities
from certivote.theory.risks import Loss, mistakes
from certivote.voters import VoterSet

_FIRST, _FOLDED_FIRST = 0.2, 0.1
"""Share of the rows that is looked at; and where there may be folds, which these rows are no part of."""
_QUICK, _FOLDED_BELOW, _MOST_WORK = 10_000, 50_000, 4_000_000
"""Rows below which there may be folds; and below which there may be if rows times columns times classes, by which the
time of a fit grows, are at most so many. It is a number and no clock: the same rows are divided alike on any machine.
"""
_SHARES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
"""Not below one half: what few rows do not show, such as rare kinds of rows, a learning curve does not foresee."""
_FOLDS = (2, 3)
_MARGIN, _FOLDED_MARGIN = 0.02, 0.005
"""Share of the bound that a larger training part, or one more fold, must promise to save."""
_FEWEST_ERRORS = 12
"""Errors that a fold is expected to have, at least: with hardly any, as may turn out, folds would cost a third more."""
_SPREAD = 0.2
"""Deviation of the exponent with which errors fall as rows are added from its usual value."""
_FEWEST, _MOST = 40, 0.3
"""First rows below which they could tell nothing, and the share of all that they may be for that."""
_RARE = 1e-9
"""Probability of counts that are left out of an expectation."""


def n_first(n: int, folds: bool) -> int:
    """Of so many rows, how many are looked at.

    Examples
    --------
    >>> n_first(1000, folds=False), n_first(1000, folds=True), n_first(200, folds=True)
    (200, 100, 40)
    """
    return max(round(_FOLDED_FIRST * n), min(_FEWEST, round(_MOST * n))) if folds else round(_FIRST * n)


def may_fold(n_rows: int, n_columns: int, n_classes: int) -> bool:
    """Whether such a table is small enough for several votes.

    Examples
    --------
    >>> may_fold(9_999, 784, 10), may_fold(49_999, 40, 2), may_fold(49_999, 50, 2), may_fold(50_000, 1, 2)
    (True, True, False, False)
    """
    return n_rows < _QUICK or (n_rows < _FOLDED_BELOW and n_rows * n_columns * n_classes <= _MOST_WORK)


@dataclass(frozen=True)
class Look:
    """How the rows shall be divided, and why, if the first rows suggest it.

    Attributes
    ----------
    split : "single" or int
        One training and one certification part, or a number of folds; if nothing was looked at, any division.
    share : float
        The share of the rows that trains the voters of the only part; without meaning for folds.
    first : int
        With folds, how many of the first rows train the voters of all parts.
    first_rows : FirstRows or None
        What they were like, if they were looked at.
    """

    split: Split | int
    share: float
    first: int = 0
    first_rows: FirstRows | None = None


def choose_division(
    plan: Plan,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    shuffled: NDArray[np.intp],
    grouping: Grouping,
    streams_of: Callable[[NDArray[np.intp]], Streams],
    stage: Stage,
) -> Look:
    """The division that was asked for; where it is ``"auto"``, the one that the first rows suggest.

    Parameters
    ----------
    plan : Plan
    X, y, classes : rows, array, array
    shuffled : array of int
        Rows, or entities, in the order in which they are divided.
    grouping : Grouping
    streams_of : function of row numbers
        The streams that depend on these rows alone.
    stage : Stage
    """
    usual = Look("single" if plan.split == "auto" else plan.split, plan.train_share or 0.5)
    # With cross and given folds, the rows that a pilot looks at are certified too: nothing may be decided by them.
    if plan.train_share is not None or plan.split not in ("auto", "single"):
        return usual
    pilot = plan.voters.pilot(len(y))
    if pilot is None:
        return usual
    stage.begin("looking at the learning curve")
    # Promises other than the bound would be made on a fold, at their part of delta.
    alone = grouping.entities is None and grouping.times is None and len(plan.promises) == 1
    folds = plan.split == "auto" and alone and may_fold(len(y), X.shape[1], len(classes))
    rng = streams_of(grouping.rows_of(shuffled[: n_first(len(shuffled), folds)])).of("pilot")
    return look_at_first(pilot, X, y, classes, shuffled, plan.loss, plan.delta, rng, grouping, folds)


def look_at_first(
    pilot: VoterSet,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    shuffled: NDArray[np.intp],
    loss: Loss,
    delta: float,
    rng: np.random.Generator,
    grouping: Grouping = Grouping(),  # noqa: B008  # frozen
    folds: bool = False,
) -> Look:
    """The division that promises the smallest bound by the learning curve of the first rows.

    The pilot's voters are fitted on the first 20 % of the rows, and on halves of them; where folds may be the answer,
    on the first 10 %, or 40 rows if that is more: folds have to do without these. Their errors on rows that they have
    not seen give a power law. The exponent is shrunk to a usual one, the more the fewer errors there are: rare errors
    are mostly of lack of rows and fall fast, frequent ones are mostly noise and do not. For each division, the law
    gives the expected Clopper-Pearson limit of the vote, or of the best of several votes, each at its part of delta.
    The least share whose limit is within 2 % of the smallest is taken; or two folds, or three, if each step saves
    another half per cent and a fold is expected to have 12 errors: the law may foresee errors that never come. Where
    rows belong to entities, ``shuffled`` are these, and all of it is said of entities.
    """
    n = len(shuffled)
    first = shuffled[: n_first(n, folds)]
    codes = np.searchsorted(classes, y)
    if len(first) < _FEWEST or len(np.unique(codes[grouping.rows_of(first)])) < 2:
        return Look("single", 0.5, first_rows=FirstRows(len(first), "too few", 0.5, None, None))
    early = np.zeros(len(first))
    try:
        late = _mistakes(pilot, X, y, classes, first, grouping, loss, rng)
        for half in np.array_split(rng.permutation(len(first)), 2):
            early[half] = _mistakes(pilot, X, y, classes, first[half], grouping, loss, rng)
    except ValueError:
        # Such as preprocessing that needs more rows. What is wrong with all rows too, fitting will say.
        return Look("single", 0.5, first_rows=FirstRows(len(first), "not fitted", 0.5, None, None))
    seen = len(first) / n
    law = _power_law(early, late, seen)
    limits = [_expected_limit(law(share), n - round(share * n), 1, delta) for share in _SHARES]
    place = int(np.argmax(np.array(limits) <= (1.0 + _MARGIN) * min(limits)))
    share, number, promised = _SHARES[place], 1, limits[place]
    for k in _FOLDS if folds else ():
        error, size = law(1.0 - (1.0 - seen) / k), (n - len(first)) // k
        limit = _expected_limit(error, size, k, delta)
        if error * size >= _FEWEST_ERRORS and limit < (1.0 - _FOLDED_MARGIN) * promised:
            number, promised = k, limit
    rates = float(late.mean()), float(early.mean())
    if number == 1:
        return Look("single", share, first_rows=FirstRows(len(first), "learning curve", share, *rates))
    return Look(number, 0.5, len(first), FirstRows(len(first), "learning curve", None, *rates))


def _power_law(early: NDArray[Any], late: NDArray[Any], seen: float) -> Callable[[float], float]:
    """The error that a share of the rows promises, from the errors on the share seen first and on halves of it."""
    few, many = early.sum() + 0.5, late.sum() + 0.5
    usual = min(max(0.1 * (-math.log(many / len(late)) - 1.0), 0.0), 0.8)
    noise = (np.abs(early - late).sum() + 1.0) / (few * many) / math.log(2.0) ** 2
    decay = (math.log2(few / many) / noise + usual / _SPREAD**2) / (1.0 / noise + 1.0 / _SPREAD**2)
    return lambda share: float(min(many / len(late) * (share / seen) ** -decay, 1.0))


def _expected_limit(error: float, n: int, votes: int, delta: float) -> float:
    """The expected smallest limit of so many votes of this error, each on so many rows and at its part of delta."""
    from scipy.stats import binom

    low, high = binom.ppf([_RARE, 1.0 - _RARE], n, error)
    counts = np.arange(int(low), int(high) + 1)
    at_least = binom.sf(counts - 1, n, error) ** votes
    chances = at_least - np.append(at_least[1:], 0.0)
    limits = binomial_upper(counts.astype(float), np.full(len(counts), float(n)), math.log(delta / votes))
    return float(chances @ limits)


def _mistakes(
    pilot: VoterSet,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    first: NDArray[np.intp],
    grouping: Grouping,
    loss: Loss,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """On which of the rows the voters, fitted on them, err with their out-of-sample votes; or how much, by entity."""
    rows = grouping.rows_of(first)
    places = None if grouping.entities is None else grouping.places(first)[grouping.entities[rows]]
    belong = {} if places is None else {"entities": places}
    fitted = pilot.fit(_safe_indexing(X, rows), y[rows], classes, rng, **belong)
    labels = np.searchsorted(classes, y[rows])
    votes = fitted.out_of_sample(_safe_indexing(X, rows), labels, np.arange(len(rows))).votes
    entities = None if places is None else Entities(places)
    wrong = mistakes(votes.masses(unseen_weights(votes, labels, loss, entities)), labels, loss)
    return wrong if entities is None else entities.losses(wrong)

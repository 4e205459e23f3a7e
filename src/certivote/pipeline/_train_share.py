"""How many rows shall train the voters: decided by looking at the first of them only.

The rows come shuffled. The first of them are looked at, and the answer is how far the training part reaches; the rows
after it have not been looked at, so whatever the answer, they are a fresh sample to certify on.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from certivote.maths.binomial import binomial_upper
from certivote.pipeline._units import Units
from certivote.theory.entities import Entities
from certivote.theory.risks import Loss, mistakes
from certivote.voters import VoterSet

__all__ = ["choose_train_share"]

_PILOT = 0.3
"""Share of the rows that is looked at."""
_SHARES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
"""Not below one half: what few rows do not show, such as rare kinds of rows, a learning curve does not foresee."""
_MARGIN = 0.02
"""Share of the bound that a larger training part must promise to save."""
_HALVINGS = 3
_SPREAD = 0.2
"""Deviation of the exponent with which errors fall as rows are added from its usual value."""
_FEWEST = 20
"""Rows of half a pilot below which it could tell nothing."""


def choose_train_share(
    pilot: VoterSet,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    shuffled: NDArray[np.intp],
    loss: Loss,
    delta: float,
    rng: np.random.Generator,
    units: Units = Units(),  # noqa: B008  # frozen
) -> tuple[float, str]:
    """The share that promises the smallest bound by the learning curve of the first rows, and why in words.

    The pilot's voters are fitted on the first 30 % of the rows, and on halves of them, three times. Their errors on
    rows that they have not seen give a power law. The exponent is shrunk to a usual one, the more the fewer errors
    there are: rare errors are mostly of lack of rows and fall fast, frequent ones are mostly noise and do not. For each
    share, the law expects so many errors on the rest; the least share whose Clopper-Pearson limit of them is within 2 %
    of the smallest is taken. Where rows belong to entities, ``shuffled`` are these, and all of it is said of entities.
    """
    n, what = len(shuffled), "rows" if units.entities is None else "entities"
    first = shuffled[: round(_PILOT * n)]
    codes = np.searchsorted(classes, y)
    if len(first) < 2 * _FEWEST or len(np.unique(codes[units.rows_of(first)])) < 2:
        return 0.5, f"half of the {what} train the voters: {n:,} {what} are too few for a learning curve"
    late = _mistakes(pilot, X, y, classes, first, units, loss, rng)
    early = np.zeros(len(first))
    for _ in range(_HALVINGS):
        for half in np.array_split(rng.permutation(len(first)), 2):
            early[half] += _mistakes(pilot, X, y, classes, first[half], units, loss, rng) / _HALVINGS
    few, many = early.sum() + 0.5, late.sum() + 0.5
    usual = min(max(0.1 * (-math.log(many / len(first)) - 1.0), 0.0), 0.8)
    noise = (np.abs(early - late).sum() + 1.0) / (few * many) / math.log(2.0) ** 2
    decay = (math.log2(few / many) / noise + usual / _SPREAD**2) / (1.0 / noise + 1.0 / _SPREAD**2)
    shares = np.array(_SHARES)
    rest = n - np.round(shares * n)
    expected = np.minimum(many / len(first) * (shares / _PILOT) ** -decay, 1.0) * rest
    promised = binomial_upper(expected, rest, math.log(delta))
    share = _SHARES[int(np.argmax(promised <= (1.0 + _MARGIN) * promised.min()))]
    return share, (
        f"{share:.0%} of the {what} train the voters: a forest on the first {len(first):,} {what} errs on "
        f"{late.mean():.2%} of those it has not seen, on half as many {early.mean():.2%}"
    )


def _mistakes(
    pilot: VoterSet,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    first: NDArray[np.intp],
    units: Units,
    loss: Loss,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """On which of the rows the voters, fitted on them, err with their out-of-sample votes; or how much, by entity."""
    rows = units.rows_of(first)
    places = None if units.entities is None else units.places(first)[units.entities[rows]]
    belong = {} if places is None else {"entities": places}
    fitted = pilot.fit(_safe_indexing(X, rows), y[rows], classes, rng, **belong)
    labels = np.searchsorted(classes, y[rows])
    votes = fitted.out_of_sample(_safe_indexing(X, rows), labels, np.arange(len(rows))).votes
    wrong = mistakes(votes.masses(np.full(votes.n_voters, 1.0 / votes.n_voters)), labels, loss)
    return wrong if places is None else Entities(places).losses(wrong)

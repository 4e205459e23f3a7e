"""Deployed weights, proved against what they were made from: in ball arithmetic, and for any processor.

A deployed weight is ``floor(exp(log weight) * 2**52) * 2**-52``, and the largest takes what is left of 1. The maker
computes the exponential in floats, and processors differ in its last bit. So a weight is right if it is what a float
exponential can give that is off by at most two units in the last place: every honest weight is, and none that was
changed by more than a few multiples of 2**-52.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from flint import arb, ctx

from certivote.certificate import Certificate, PartRecord
from certivote.verify._ball_maths import BITS
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES
from certivote.verify._methods import DRAWN, FIXED, GIVEN, MEAN, method_of
from certivote.verify._simulation import Array

UNITS = 1 << 52
"""Deployed weights are multiples of one over this."""
_LAST_PLACE = arb(2) ** -52
_EXPONENTIAL = 2
"""Units in the last place that a float exponential may be off."""


def are_fixed_point(weights: Array) -> bool:
    """Whether these are non-negative multiples of ``2**-52`` with sum 1."""
    if not np.all((weights >= 0) & (weights <= 1)):
        return False
    units = weights * UNITS
    return bool(np.all(units == np.floor(units))) and sum(map(int, units.tolist())) == UNITS


def could_be_weights(weights: Array, logs: Sequence[arb], rounded: bool) -> bool:
    """Whether deployed weights are those of these logarithms, computed in floats on some processor.

    Parameters
    ----------
    weights : array
    logs : sequence of ball
        The exact logarithms.
    rounded : bool
        Whether the maker took the exponential of floats near them, and not of these numbers themselves.
    """
    if len(weights) != len(logs) or not are_fixed_point(weights):
        return False
    units = [int(unit) for unit in (weights * UNITS).tolist()]
    top = max(log.mid() for log in logs)
    lows, highs = [], []
    for log in logs:
        # Rounded on the way: differences to the largest, the logarithm of a sum, and the result.
        steps = 2 * (2 + abs(log) + abs(top - log) + abs(top)) if rounded else arb(0)
        error = (_EXPONENTIAL + steps) * _LAST_PLACE
        exact = log.exp() * UNITS
        lows.append(exact * (1 - error))
        highs.append(exact * (1 + error))
    fits = [low - 1 <= unit <= high for unit, low, high in zip(units, lows, highs, strict=True)]
    # The largest takes what the others leave, whatever that is; of several that are nearly the largest, any may.
    highest = max(low.mid() for low in lows)
    takers = [place for place, high in enumerate(highs) if high + 1 >= highest]
    misfits = [place for place, fit in enumerate(fits) if not fit]
    return not misfits or (len(misfits) == 1 and misfits[0] in takers)


def is_certified_vote(c: Certificate, part: PartRecord, weights: Array) -> bool:
    """Whether weights of all voters are those that the record stands for: drawn, learned, or the prior's."""
    method, family = method_of(c), FAMILIES[part.family]
    if method.predictor != DRAWN:
        return np.array_equal(weights, np.array(part.alpha))
    if len(part.log_weights) != part.n_voters:
        return False
    with ctx.workprec(BITS):
        logs = family.log_weights([arb(number) for number in part.log_weights])
        return could_be_weights(weights, logs, family.rounds_draw)


def check_recorded_weights(c: Certificate) -> Iterator[Check]:
    """Whether weights that are recorded as such can be deployed, and the fixed vote has the prior's."""
    method = method_of(c)
    if method.predictor not in (MEAN, FIXED, GIVEN):
        return
    for number, part in enumerate(c.parts):
        where = f"part {number + 1}, weights" if len(c.parts) > 1 else "recorded weights"
        weights = np.array(part.alpha)
        if method.predictor == MEAN:
            yield Check(where, are_fixed_point(weights), "multiples of 2**-52 with sum 1")
            continue
        with ctx.workprec(BITS):
            same = could_be_weights(weights, [arb(number).log() for number in part.beta], rounded=True)
        yield Check(where, same, f"those of the prior, {'as' if same else 'OTHER than'} the fixed vote has them")

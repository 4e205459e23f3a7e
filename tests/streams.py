"""Streams of outcomes by the thousand: where their evidence raises an alarm, without computing all of it."""

import math

import numpy as np


def alarm_counts(bets, n_max, alpha):
    """For each number of outcomes up to ``n_max``, the fewest errors with which there is an alarm."""
    n = np.arange(1, n_max + 1)
    low, high = np.zeros(n_max, dtype=np.int64), n + 1
    while np.any(high - low > 1):
        middle = (low + high) // 2
        over = bets.log_evidence(n, np.minimum(middle, n)) >= -math.log(alpha)
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return high


def ever_alarmed(bets, alpha, errors):
    """Which streams (rows of an array of errors) ever raise an alarm."""
    return np.any(np.cumsum(errors, axis=1) >= alarm_counts(bets, errors.shape[1], alpha), axis=1)


def median_delay(bets, alpha, error, n_max):
    """After how many outcomes half of all streams with this error have raised an alarm, exactly."""
    bounds = alarm_counts(bets, n_max, alpha)
    waiting, alarmed = np.zeros(n_max + 2), 0.0
    waiting[0] = 1.0
    for n, bound in enumerate(bounds, 1):
        waiting[1:] = waiting[1:] * (1.0 - error) + waiting[:-1] * error
        waiting[0] *= 1.0 - error
        alarmed += waiting[bound:].sum()
        waiting[bound:] = 0.0
        if alarmed >= 0.5:
            return n
    return math.inf


def change_times(bets, alpha, error, n_streams, n_max, rng):
    """When streams first raise an alarm of change; ``n_max`` for those that do not until then.

    In plain numbers, not logarithms: these are small until an alarm.
    """
    wrong, right, weights = np.exp(bets.wrong), np.exp(bets.right), np.exp(bets.log_weights)
    values, times = np.zeros((n_streams, bets.count)), np.full(n_streams, n_max)
    alive = np.arange(n_streams)
    for n in range(1, n_max + 1):
        is_error = rng.random(len(alive)) < error
        values = (values + 1.0) * np.where(is_error[:, None], wrong, right)
        over = values @ weights >= 1.0 / alpha
        times[alive[over]] = n
        alive, values = alive[~over], values[~over]
        if not len(alive):
            break
    return times

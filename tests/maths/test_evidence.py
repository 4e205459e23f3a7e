"""Evidence that errors exceed a bound: against its definition to 50 digits, exact expectations, and simulations."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import beta
from streams import alarm_counts, change_times, ever_alarmed, median_delay

from certivote.maths import evidence
from certivote.maths.binary_kl import kl
from certivote.maths.evidence import ErrorBets, mean_upper

BOUNDS = [1e-6, 0.003, 0.05, 0.3, 0.9, 0.9999]


def at_most(count, of, alpha):
    """Whether so many false alarms are no proof, at 99 %, that their probability exceeds alpha."""
    return count == 0 or beta.ppf(0.01, count, of - count + 1) <= alpha


def grid_of(bound):
    """The q, as floats, and their weights."""
    odds = bound / (1.0 - bound)
    rows = [
        (times * odds / (1.0 + times * odds), share)
        for times, share in zip(evidence._ODDS, evidence._SHARES, strict=True)
    ]
    return [(mpf(q), mpf(share) / 128) for q, share in rows if bound < q < 1.0]


def exact_bet(q, bound, loss):
    return (q / mpf(bound)) ** mpf(loss) * ((1 - q) / (1 - mpf(bound))) ** (1 - mpf(loss))


def exact_evidence(bound, n, losses):
    total = sum(
        weight * (q / mpf(bound)) ** mpf(losses) * ((1 - q) / (1 - mpf(bound))) ** (mpf(int(n)) - mpf(losses))
        for q, weight in grid_of(bound)
    )
    return mp.log(total)


# The evidence


def test_weights_are_of_one_player():
    assert sum(evidence._SHARES) == 128
    assert list(evidence._ODDS) == sorted(evidence._ODDS)
    assert evidence._ODDS[0] > 1.0


@pytest.mark.parametrize("bound", BOUNDS)
def test_it_is_what_it_is_said_to_be_and_never_more(bound):
    rng = np.random.default_rng(1)
    bets = ErrorBets(bound)
    with mp.workdps(60):
        for n in (1, 2, 17, 1000, 10**6, 10**9):
            for share in (0.0, 0.5 * bound, bound, min(2.0 * bound, 1.0), 1.0, rng.random()):
                found = float(bets.log_evidence(n, n * share))
                exact = exact_evidence(bound, n, n * share)
                assert found <= exact
                assert exact - found <= 1e-12 * (1 + n * abs(math.log(bound)) + abs(exact))


@pytest.mark.parametrize("bound", [0.05, 0.4])
def test_its_mean_is_one_where_errors_are_as_frequent_as_the_bound(bound):
    bets, n = ErrorBets(bound), 60
    errors = np.arange(n + 1)
    values = np.exp(bets.log_evidence(n, errors))
    chances = np.array([math.comb(n, k) * bound**k * (1.0 - bound) ** (n - k) for k in errors])
    assert values @ chances == pytest.approx(1.0, abs=1e-9)
    fewer = np.array([math.comb(n, k) * (bound / 2) ** k * (1.0 - bound / 2) ** (n - k) for k in errors])
    assert values @ fewer < 1.0


def test_bets_on_parts_of_losses_are_fair():
    """For any distribution on [0, 1] whose mean is the bound, that of the bet is at most 1."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        bound = rng.uniform(0.01, 0.6)
        low, high = rng.uniform(0.0, bound), rng.uniform(bound, 1.0)
        chance = (bound - low) / (high - low)  # of the high one
        for q, _ in grid_of(bound):
            mean = chance * exact_bet(q, bound, high) + (1 - chance) * exact_bet(q, bound, low)
            assert mean <= 1 + mpf("1e-12")


def test_more_errors_are_more_evidence():
    values = ErrorBets(0.05).log_evidence(200, np.linspace(0.0, 200.0, 400))
    assert np.all(np.diff(values) > 0.0)


@pytest.mark.parametrize("bound", [0.0, 1.0, 1.5, -0.1, math.nan])
def test_bounds_that_say_nothing_cannot_be_watched(bound):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        ErrorBets(bound)


def test_bounds_next_to_one_are_watched_in_vain():
    bets = ErrorBets(math.nextafter(1.0, 0.0))
    assert float(bets.log_evidence(10, 10)) <= 1e-9


# The evidence of a change


def recursion(bound, losses):
    """Logarithm of the mixture after each loss, as it is defined."""
    grid, values, found = grid_of(bound), [mpf(0)] * len(grid_of(bound)), []
    for loss in losses:
        values = [(r + 1) * exact_bet(q, bound, loss) for r, (q, _) in zip(values, grid, strict=True)]
        found.append(mp.log(sum(w * r for r, (_, w) in zip(values, grid, strict=True))))
    return found


@pytest.mark.parametrize("bound", [0.01, 0.3, 0.95])
def test_a_change_is_what_it_is_said_to_be_and_never_more(bound):
    rng = np.random.default_rng(2)
    losses = np.where(rng.random(400) < 0.5, rng.random(400), rng.random(400) < bound)
    bets = ErrorBets(bound)
    logs, found = np.full(bets.count, -np.inf), []
    for start, end in ((0, 1), (1, 150), (150, 400)):
        paths = bets.follow(logs, losses[start:end])
        logs = paths[-1]
        found.extend(bets.log_change(paths).tolist())
    with mp.workdps(50):
        for own, exact in zip(found, recursion(bound, losses), strict=True):
            assert own <= exact
            assert exact - own < 1e-8 * (1 + abs(exact))


def test_after_t_outcomes_the_mean_of_a_change_is_t():
    bets, bound, most = ErrorBets(0.2), 0.2, 9
    for t in range(1, most + 1):
        mean = 0.0
        for outcome in itertools.product([0.0, 1.0], repeat=t):
            paths = bets.follow(np.full(bets.count, -np.inf), np.array(outcome))
            chance = bound ** sum(outcome) * (1.0 - bound) ** (t - sum(outcome))
            mean += chance * math.exp(bets.log_change(paths)[-1])
        assert mean == pytest.approx(t, rel=1e-8)


# The upper limit of the mean


def exact_against(mean, n, total):
    rates = [-(mpf(2) ** -mpf(float(step))) for step in evidence._STEPS]
    terms = [mp.exp(rate * mpf(total) - mpf(n) * mp.log(1 - mean + mean * mp.exp(rate))) for rate in rates]
    return mp.log(sum(terms) / len(rates))


@pytest.mark.parametrize("n", [1, 7, 100, 10_000, 10**7])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.37, 1.0])
@pytest.mark.parametrize("level", [0.1, 0.01, 1e-9])
def test_the_limit_is_tight_from_above(n, share, level):
    total = float(round(n * share * 4) / 4)
    limit = float(mean_upper(n, total, math.log(level)))
    with mp.workdps(50):
        if limit == 1.0:
            below = 1 - mpf(10) ** -12
            assert exact_against(below, n, total) < -mp.log(mpf(level)) or n * share == n
            return
        assert exact_against(mpf(limit), n, total) >= -mp.log(mpf(level))
        below = mpf(limit) - mpf("1e-6") * (limit - mpf(total) / n)
        assert exact_against(below, n, total) < -mp.log(mpf(level))


def test_means_that_vary_are_never_worse_than_their_mean():
    """The step of the proof that uses Jensen's inequality: the bets against the mean are below the true ones."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        p = rng.random(20) ** 3
        rate = -float(rng.exponential())
        varied, even = np.log1p(p * math.expm1(rate)).sum(), 20 * math.log1p(p.mean() * math.expm1(rate))
        assert varied <= even + 1e-12


def test_the_limit_holds_at_all_times_while_errors_drift():
    """Errors come and go, and depend on the past; the limit is above their mean all the time."""
    rng, alpha, n_streams, n_max = np.random.default_rng(4), 0.1, 1000, 800
    means, sums, failed = np.zeros(n_streams), np.zeros(n_streams), np.zeros(n_streams, dtype=bool)
    p = np.full(n_streams, 0.05)
    for n in range(1, n_max + 1):
        loss = (rng.random(n_streams) < p) * 1.0
        means, sums = means + p, sums + loss
        # Errors grow rare after errors and frequent after right answers: what a lower count would hide.
        p = np.clip(p * np.where(loss > 0.0, 0.5, 1.02) + 0.001 * math.sin(n / 50), 0.01, 0.6)
        against = evidence._log_against(means / n, np.full(n_streams, float(n)), sums)
        failed |= against >= -math.log(alpha)
    assert at_most(np.count_nonzero(failed), n_streams, alpha)


# Guarantees


@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_false_alarms_ever_are_rare(alpha):
    rng, bets = np.random.default_rng(5), ErrorBets(0.05)
    count = sum(np.count_nonzero(ever_alarmed(bets, alpha, rng.random((250, 4000)) < bets.bound)) for _ in range(8))
    assert at_most(count, 2000, alpha)
    assert alpha > 0.05 or count < 2000 * alpha  # and not by being silent:
    assert count > 2000 * alpha / 10


@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_false_alarms_of_change_are_far_apart(alpha):
    times = change_times(ErrorBets(0.05), alpha, 0.05, 2000, 20_000, np.random.default_rng(6))
    assert times.mean() >= 1.0 / alpha
    assert times.mean() < 100.0 / alpha  # or it would never tell


@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize("times", [1.5, 2.0, 4.0])
def test_alarms_come_soon(alpha, times):
    """Within 1.2 times what the best bet for this very error takes, in the median."""
    bets = ErrorBets(0.05)
    shortest = math.log(1.0 / alpha) / float(kl(times * bets.bound, bets.bound))
    assert median_delay(bets, alpha, times * bets.bound, math.ceil(2.0 * shortest)) <= 1.2 * shortest


def test_an_error_a_little_above_the_bound_is_found_in_the_end():
    bets = ErrorBets(0.05)
    assert float(bets.log_evidence(3 * 10**7, 3 * 10**7 * 0.0503)) > math.log(100.0)


def test_streams_are_counted_as_the_evidence_says():
    bets = ErrorBets(0.05)
    for n, least in enumerate(alarm_counts(bets, 60, 0.1), 1):
        assert least > n or bets.log_evidence(n, least) >= math.log(10.0)
        assert bets.log_evidence(n, min(least - 1, n)) < math.log(10.0)

"""Bets on ranks: uniform and independent whatever the ties, fair, and never more than they are said to be."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import beta, chisquare, kstest

from certivote.maths import rank_bets
from certivote.maths.rank_bets import CHUNK, N_BETS, change_of_ranks, evidence_of_ranks, follow_ranks, ranks


def ranked(reference, scores, uniforms, places, chunk=CHUNK):
    """All ranks of a stream, and the counts in the end."""
    counts, found = np.bincount(reference, minlength=places), []
    for start in range(0, len(scores), chunk):
        own = scores[start : start + chunk]
        found.append(ranks(counts, own, uniforms[start : start + chunk]))
        counts += np.bincount(own, minlength=places)
    return np.concatenate(found)


def at_most(count, of, alpha):
    return count == 0 or beta.ppf(0.01, count, of - count + 1) <= alpha


def test_ranks_are_what_they_are_said_to_be_and_never_less():
    rng = np.random.default_rng(0)
    reference, scores, uniforms = rng.integers(0, 9, 50), rng.integers(0, 9, 70), rng.random(70)
    found = ranked(reference, scores, uniforms, 9, chunk=32)
    with mp.workdps(40):
        for row, score in enumerate(scores):
            before = np.concatenate([reference, scores[: row + 1]])
            above, equal = int(np.sum(before > score)), int(np.sum(before == score))
            below = len(before) - above - equal
            for part, digits in ((0, mpf(2) ** -53), (1, mpf(0))):
                u = mpf(uniforms[row])
                exact = (above + (u + digits) * equal if part == 0 else below + (1 - u) * equal) / mpf(len(before))
                assert mp.log(exact) <= found[row, part] <= mp.log(exact) + mpf("1e-13")
    assert np.all(found <= 0.0)


def test_it_does_not_matter_how_rows_are_cut():
    rng = np.random.default_rng(1)
    reference, scores, uniforms = rng.integers(0, 5, 20), rng.integers(0, 5, 300), rng.random(300)
    whole = ranked(reference, scores, uniforms, 5)
    assert np.array_equal(whole, ranked(reference, scores, uniforms, 5, chunk=7))


def test_in_all_orders_together_ranks_are_uniform_and_independent():
    """Every order of a bag with ties: where U is cut into pieces, all pairs of ranks are equally frequent."""
    bag, pieces = [0, 1, 1, 2, 2, 2], 180
    u = (np.arange(pieces) + 0.5) / pieces
    table = np.zeros((30, 30))
    for order in set(itertools.permutations(bag)):
        p = []
        for last in (4, 5):
            before = order[: last + 1]
            above, equal = sum(x > order[last] for x in before), sum(x == order[last] for x in before)
            p.append((above + u * equal) / len(before))
        table += np.outer(*(np.histogram(own, bins=30, range=(0.0, 1.0))[0] for own in p))
    assert table.max() - table.min() <= 1e-9 * table.max()


@pytest.mark.parametrize("places", [2, 5, 4097])
def test_ranks_of_exchangeable_scores_are_uniform(places):
    """With heavy ties, and a bag that is small beside the stream."""
    rng = np.random.default_rng(2)
    scores = rng.binomial(places - 1, 0.9, size=20_100)
    found = np.exp(ranked(scores[:100], scores[100:], rng.random(20_000), places))
    assert kstest(found[:, 0], "uniform").pvalue > 0.001
    assert np.allclose(found.sum(axis=1), 1.0)
    pairs = np.histogram2d(found[:-1:2, 0], found[1::2, 0], bins=5, range=[(0.0, 1.0)] * 2)[0]
    assert chisquare(pairs.ravel()).pvalue > 0.001


def test_every_bet_is_fair():
    """The integral over all ranks of what it gains is 1."""
    for power in rank_bets._POWERS:
        integral = mp.quad(lambda p, e=power: e * p ** (e - 1), [0, 1e-40, 1e-20, 1e-6, 0.01, 1])
        assert float(integral) == pytest.approx(1.0, 1e-3)
    assert 2 * len(rank_bets._POWERS) == N_BETS


def test_evidence_is_what_it_is_said_to_be_and_never_more():
    rng = np.random.default_rng(3)
    p = rng.random(500) ** 1.3
    sums = np.array([np.log(p).sum(), np.log1p(-p).sum()])
    with mp.workdps(50):
        terms = []
        for total in sums:
            for power in rank_bets._POWERS:
                terms.append(500 * mp.log(mpf(power)) + (mpf(power) - 1) * mpf(total))
        exact = mp.log(sum(map(mp.exp, terms)) / N_BETS)
        found = float(evidence_of_ranks(np.array(500), sums))
        assert found <= exact <= found + 1e-9
    values = np.zeros(N_BETS)
    for own in p:
        values = (values + 1.0) * np.concatenate(
            [rank_bets._POWERS * x ** (rank_bets._POWERS - 1.0) for x in (own, 1.0 - own)]
        )
    logs = follow_ranks(np.full(N_BETS, -np.inf), np.stack([np.log(p), np.log1p(-p)], axis=1))
    assert float(change_of_ranks(logs[-1])) == pytest.approx(math.log(values.mean()), abs=1e-8)
    assert float(change_of_ranks(logs[-1])) <= math.log(values.mean())


@pytest.mark.parametrize("ties", [3, 200])
def test_false_alarms_ever_are_rare(ties):
    rng, alpha, count, n_streams = np.random.default_rng(4), 0.1, 0, 400
    for _ in range(n_streams):
        scores = rng.binomial(ties, 0.8, size=1300)
        found = ranked(scores[:300], scores[300:], rng.random(1000), ties + 1)
        logs = evidence_of_ranks(np.arange(1, 1001), np.cumsum(found, axis=0))
        count += bool(np.any(logs >= -math.log(alpha)))
    assert at_most(count, n_streams, alpha)
    assert count > 0


def test_false_alarms_of_change_are_far_apart():
    rng, alpha, times = np.random.default_rng(5), 0.05, []
    for _ in range(200):
        scores = rng.integers(0, 40, size=2300)
        found = ranked(scores[:300], scores[300:], rng.random(2000), 40)
        logs = change_of_ranks(follow_ranks(np.full(N_BETS, -np.inf), found))
        over = logs >= -math.log(alpha)
        times.append(int(np.argmax(over)) + 1 if over.any() else 2000)
    assert np.mean(times) >= 1.0 / alpha


@pytest.mark.parametrize("shift", [-400, 400])
def test_a_change_either_way_is_found(shift):
    rng = np.random.default_rng(6)
    before, after = (rng.normal(2000 + own, 300, size=size).astype(int) for own, size in ((0, 5000), (shift, 500)))
    logs = evidence_of_ranks(np.arange(1, 501), np.cumsum(ranked(before, after, rng.random(500), 4097), axis=0))
    assert logs.max() > math.log(1000.0)

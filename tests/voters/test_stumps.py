"""Stumps: thresholds, ranges and what is refused."""

import numpy as np
import pytest
from ballots import votes_matrix

from certivote.voters import Stumps

CLASSES = np.array([0, 1])


def rng(seed=0):
    return np.random.default_rng(seed)


def test_stumps_vote_by_their_thresholds():
    fitted = Stumps(n_thresholds=2, ranges=[(0.0, 1.0), (-1.0, 1.0)]).fit(None, None, CLASSES, rng())
    X = np.array([[0.0, -1.0], [0.4, 0.0], [0.6, 0.1], [-5.0, 9.0]])
    # thresholds 0, 0.5 and -1, 0; "above" is strict; each is followed by its twin
    expected = np.array(
        [
            [0, 1, 0, 1, 0, 1, 0, 1],
            [1, 0, 0, 1, 1, 0, 0, 1],
            [1, 0, 1, 0, 1, 0, 1, 0],
            [0, 1, 0, 1, 1, 0, 1, 0],
        ]
    )
    assert votes_matrix(fitted, X, 2).tolist() == expected.tolist()


def test_stump_ranges_come_from_the_training_rows_alone():
    X = np.array([[0.0], [10.0]])
    fitted = Stumps(n_thresholds=5).fit(X, None, CLASSES, rng())
    assert fitted.thresholds.tolist() == [[0.0, 2.0, 4.0, 6.0, 8.0]]
    assert Stumps().needs_training
    assert not Stumps(ranges=[(0, 1)]).needs_training


@pytest.mark.parametrize("ranges", [[(1.0, 0.0)], [(0.0, np.inf)], [0.0, 1.0], [(0.0, 1.0, 2.0)]])
def test_bad_ranges_are_refused(ranges):
    with pytest.raises(ValueError, match="ranges must hold one"):
        Stumps(ranges=ranges).fit(None, None, CLASSES, rng())


def test_ranges_of_another_number_of_features_are_refused():
    fitted = Stumps(ranges=[(0, 1)] * 3).fit(None, None, CLASSES, rng())
    with pytest.raises(ValueError, match="ranges were given for 3 features, but X has 2"):
        fitted.votes(np.zeros((4, 2)))


@pytest.mark.parametrize("n_thresholds", [0, 256])
def test_bad_number_of_thresholds_is_refused(n_thresholds):
    with pytest.raises(ValueError, match="n_thresholds must lie between 1 and 255"):
        Stumps(n_thresholds=n_thresholds, ranges=[(0, 1)]).fit(None, None, CLASSES, rng())

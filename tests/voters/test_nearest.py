"""The nearest points are those of a search by hand, with ties in the order of the points."""

import numpy as np
import pytest

from certivote.voters import _members
from certivote.voters._members import NearestPoints


def by_hand(points, rows, count):
    distances = np.square(rows[:, None, :] - points[None]).sum(axis=2)
    return np.argsort(distances, axis=1, kind="stable")[:, :count]


@pytest.mark.parametrize("n_points", [1, 15, 16, 127, 128, 129, 700])
@pytest.mark.parametrize(("width", "largest"), [(1, 2), (3, 3), (5, 2**20), (40, 1), (2, 0)])
def test_ties_go_to_the_first(n_points, width, largest, monkeypatch):
    source = np.random.default_rng(n_points)
    points = source.integers(-largest, largest + 1, size=(n_points, width)).astype(np.int32)
    rows = source.integers(-largest, largest + 1, size=(60, width)).astype(float)
    count = min(15, n_points)
    found = NearestPoints(points).find(rows, count)
    assert np.array_equal(found, by_hand(points, rows, count))
    monkeypatch.setattr(_members, "_CELLS", 1000)
    assert np.array_equal(NearestPoints(points).find(rows, count), found)


def test_no_row_has_no_neighbours():
    assert NearestPoints(np.zeros((20, 3), dtype=np.int32)).find(np.zeros((0, 3)), 15).shape == (0, 15)

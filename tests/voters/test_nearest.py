"""The nearest points are those of a search by hand, with ties in the order of the points."""

from unittest import mock

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


@pytest.mark.parametrize(("width", "largest"), [(1, 2), (3, 6), (5, 2**20), (6, 1), (2, 0), (4, 40)])
def test_a_tree_of_the_points_finds_what_looking_at_all_finds(width, largest, monkeypatch):
    """Ties too: those that the tree cannot tell apart are looked for among all."""
    source = np.random.default_rng(width)
    points = source.integers(-largest, largest + 1, size=(1_100, width)).astype(np.int32)
    rows = source.integers(-largest, largest + 1, size=(520, width)).astype(float)
    grown = mock.Mock(wraps=_members.cKDTree)
    monkeypatch.setattr(_members, "cKDTree", grown)
    for count in (15, 16):
        assert np.array_equal(NearestPoints(points).find(rows, count), by_hand(points, rows, count))
    assert grown.call_count == 2
    NearestPoints(points).find(rows[:5], 15)  # so few are not worth a tree
    assert grown.call_count == 2


def test_the_tree_is_exact_at_the_edge_of_the_grid():
    """Points as far apart as the grid allows, whose squared distances differ by as little as they can."""
    steps = int(_members._CLIP * _members._steps(3))
    source = np.random.default_rng(0)
    points = np.where(source.random((1_100, 3)) < 0.5, -1, 1) * (steps - source.integers(3, size=(1_100, 3)))
    rows = np.where(source.random((520, 3)) < 0.5, -1.0, 1.0) * (steps - source.integers(3, size=(520, 3)))
    found = NearestPoints(points.astype(np.int32)).find(rows, 15)
    assert np.array_equal(found, by_hand(points, rows, 15))

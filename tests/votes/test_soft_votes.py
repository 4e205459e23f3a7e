"""Votes that are divided among the classes, as those of groups of voters are."""

import numpy as np
import pytest

from certivote.votes import DenseVotes, SoftVotes


def rng(seed=0):
    return np.random.default_rng(seed)


def test_soft_votes_are_linear_maps():
    source = rng()
    fractions = source.dirichlet(np.ones(3), size=(7, 5))
    votes = SoftVotes(fractions)
    labels = source.integers(3, size=7)
    weights = source.dirichlet(np.ones(5))
    masses = np.array([[sum(weights[g] * fractions[i, g, c] for g in range(5)) for c in range(3)] for i in range(7)])
    np.testing.assert_allclose(votes.masses(weights), masses)
    np.testing.assert_allclose(votes.by_class().forward(weights), masses)
    wrong = votes.against(labels)
    np.testing.assert_allclose(wrong.forward(weights), 1.0 - masses[np.arange(7), labels])
    # <A w, g> = <w, A' g> for both maps.
    for linear, shape in ((votes.by_class(), (7, 3)), (wrong, (7,))):
        gradient = source.normal(size=shape)
        back = linear.adjoint(gradient)
        assert back.shape == (5,)
        for voter in range(5):
            assert np.sum(linear.forward(np.eye(5)[voter]) * gradient) == pytest.approx(back[voter])
    some = votes.take(np.array([4, 1]))
    assert (some.n_rows, some.n_voters, some.n_classes) == (2, 5, 3)
    np.testing.assert_allclose(some.masses(weights), masses[[4, 1]])


def test_soft_votes_of_sure_groups_are_dense_votes():
    codes = rng().integers(3, size=(9, 4))
    soft, dense = SoftVotes(np.eye(3)[codes]), DenseVotes(codes.astype(np.uint8), 3)
    weights, labels = rng().dirichlet(np.ones(4)), rng().integers(3, size=9)
    np.testing.assert_allclose(soft.masses(weights), dense.masses(weights))
    np.testing.assert_allclose(soft.against(labels).forward(weights), dense.against(labels).forward(weights))
    gradient = rng().normal(size=(9, 3))
    np.testing.assert_allclose(soft.by_class().adjoint(gradient), dense.by_class().adjoint(gradient))

"""Votes read through their one interface, voter by voter: how they are stored is nobody's business."""

import numpy as np


def fractions_of(votes):
    """What each voter gives each class on each row, of shape (n_rows, n_voters, n_classes)."""
    mapping = votes.by_class()
    return np.stack([mapping.forward(unit) for unit in np.eye(votes.n_voters)], axis=1)


def codes_of(votes):
    """The class of each voter on each row, of shape (n_rows, n_voters)."""
    fractions = fractions_of(votes)
    assert set(np.unique(fractions)) <= {0.0, 1.0}
    assert np.all(fractions.sum(axis=2) == 1)
    return fractions.argmax(axis=2)


def votes_matrix(fitted, X, n_classes):
    """The class of each voter on each row, with as many classes as there should be."""
    votes = fitted.votes(X)
    assert votes.n_classes == n_classes
    assert votes.n_voters == fitted.n_voters
    return codes_of(votes)

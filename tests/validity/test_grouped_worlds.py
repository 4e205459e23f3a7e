"""Worlds of entities say the truth about what is drawn from them, and breaches and given models are what they say."""

from types import SimpleNamespace

import numpy as np
import pytest
from given import STUMPS, statements
from grouped import HALF, THREE, TWO_KINDS, WORLDS, grouped_world
from grouped_worlds import clean_answers
from honest import world

from certivote import certify

ENTITIES = 20_000


def means(groups, wrong, chosen):
    """Of each entity that has chosen rows, the share of them that is wrong."""
    rows, errors = (np.bincount(groups[chosen], weights=w) for w in (None, wrong[chosen]))
    return (errors / np.maximum(rows, 1))[rows > 0]


@pytest.mark.parametrize("name", WORLDS)
def test_the_risk_is_the_mean_share_of_wrong_rows_of_entities(name):
    truth = grouped_world(name)
    answers, rng = clean_answers(truth), np.random.default_rng(0)
    X, y, groups = truth.sample(ENTITIES, rng)
    losses = means(groups, (X.sum(axis=1) >= 3) != y, np.full(len(y), True))
    risk = truth.risk_of_answers(answers)
    assert len(losses) == ENTITIES
    assert losses.mean() == pytest.approx(risk, abs=0.02)
    drawn = truth.losses(answers, ENTITIES, rng)
    assert drawn.mean() == pytest.approx(risk, abs=0.02)
    assert np.var(drawn) == pytest.approx(np.var(losses), abs=0.01)


def test_rows_are_not_what_is_promised_about():
    truth = grouped_world(TWO_KINDS)
    X, y, _ = truth.sample(ENTITIES, np.random.default_rng(0))
    assert ((X.sum(axis=1) >= 3) != y).mean() < 0.2
    assert truth.risk_of_answers(clean_answers(truth)) == pytest.approx(0.5)


@pytest.mark.parametrize("name", [TWO_KINDS, HALF, THREE])
@pytest.mark.parametrize("kind", ["error", "false alarm"])
def test_statements_by_class_are_about_the_entities_that_have_such_cases(name, kind):
    truth = grouped_world(name)
    X, y, groups = truth.sample(ENTITIES, np.random.default_rng(1))
    predicted = (X.sum(axis=1) >= 3).astype(int)
    chosen, wrong = (y == 1, predicted != y) if kind == "error" else (y != 1, predicted == 1)
    one_statement = SimpleNamespace(by_class=[SimpleNamespace(label="1", kind=kind, bound=0.0)])
    _, risk = truth.worst_statement_of_answers(one_statement, clean_answers(truth))
    assert risk == pytest.approx(means(groups, wrong, chosen).mean(), abs=0.02)


def test_the_statement_about_a_vote_is_about_its_answers():
    truth = world(0.1)
    X, y = truth.sample(200, np.random.default_rng(2))
    certificate = certify(STUMPS, X, y, 0.2)
    pairs = statements(certificate, STUMPS, truth)
    assert [bound for bound, _ in pairs] == [*(each.bound for each in certificate.candidates), certificate.bound]
    assert min(pairs) == pairs[-1]
    assert pairs[-1][1] < min(risk for _, risk in pairs[:-1])  # it knows more than each
    X, y = truth.sample(50_000, np.random.default_rng(3))
    shares = [np.mean(model(X) != y) for model in STUMPS]
    np.testing.assert_allclose([risk for _, risk in pairs[:-1]], shares, atol=0.01)

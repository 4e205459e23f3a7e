"""Means over entities: risks, their gradients, and what the theorems make of them."""

import numpy as np
import pytest
from scipy import optimize

from certivote.theory.bets import Betting, BettingHammer, OrderFreeBetting, OrderFreeHammer, by_entity
from certivote.theory.entities import Entities, mean_loss
from certivote.theory.families import CATEGORICAL, FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.risks import drawn_risk
from certivote.theory.theorems import Setting
from certivote.votes import build_votes


def sample(n_rows, n_voters, n_classes):
    """Voters that are right in six of ten cases and otherwise vote at random."""
    rng = np.random.default_rng(9)
    labels = rng.integers(0, n_classes, n_rows)
    right = rng.random((n_rows, n_voters)) < 0.6
    return build_votes(
        codes=np.where(right, labels[:, None], rng.integers(0, n_classes, right.shape)), n_classes=n_classes
    ), labels


SIZES = np.array([1, 7, 2, 30, 5, 1, 14])
CODES = np.random.default_rng(0).permutation(np.repeat(np.arange(len(SIZES)), SIZES))
TOGETHER = Entities(CODES)


def parameters_for(family, n_voters, rng):
    if family is CATEGORICAL:
        return rng.dirichlet(np.full(n_voters, 2.0))
    return family.prior(rng.uniform(0.5, 3.0, n_voters))


def smooth_risks(n_classes):
    """For each method and family that it takes, the risk as a function of some rows' votes, labels and shares."""
    for method in METHODS.values():
        if n_classes > 2 and method.theorem.two_classes:
            continue
        for name in method.families():
            family = FAMILIES.get(name, method.family)
            yield f"{method.name} {name}", method, family


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
def test_risks_are_means_over_entities_of_means_over_their_rows(n_classes, loss):
    votes, labels = sample(len(CODES), 6, n_classes)
    rng = np.random.default_rng(1)
    for name, method, family in smooth_risks(n_classes):
        parameters = parameters_for(family, 6, rng)
        value, gradient = method.risk.smooth(family, votes, labels, loss, TOGETHER.shares)(parameters)
        each = []
        for code in range(TOGETHER.count):
            rows = np.flatnonzero(code == CODES)
            each.append(method.risk.smooth(family, votes.take(rows), labels[rows], loss, None)(parameters))
        # Tables are made anew for other rows: they are interpolated, and the same up to that.
        np.testing.assert_allclose(value, np.mean([v for v, _ in each], axis=0), atol=2e-6, err_msg=name)
        np.testing.assert_allclose(gradient, np.mean([g for _, g in each], axis=0), atol=2e-5, err_msg=name)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradients_of_means_over_entities(n_classes):
    votes, labels = sample(len(CODES), 6, n_classes)
    weights = np.random.default_rng(2).dirichlet(np.ones(6))
    risk = drawn_risk(votes, labels, "plurality", 12.0, TOGETHER.shares)
    numeric = optimize.approx_fprime(weights, lambda w: risk(w)[0], 1e-7)
    np.testing.assert_allclose(risk(weights)[1], numeric, atol=1e-6)


def test_shares_losses_and_parts():
    wrong = np.random.default_rng(3).random(len(CODES)) < 0.4
    assert TOGETHER.count == len(SIZES)
    assert TOGETHER.shares.sum() == pytest.approx(1.0, abs=1e-15)
    losses = TOGETHER.losses(wrong)
    assert losses.tolist() == [np.mean(wrong[code == CODES]) for code in range(len(SIZES))]
    assert mean_loss(losses) == pytest.approx(np.dot(TOGETHER.shares, wrong), abs=1e-15)
    some = np.flatnonzero(CODES % 2 == 1)
    assert TOGETHER.among(some).sizes.tolist() == SIZES[1::2].tolist()
    assert TOGETHER.among(some).losses(wrong[some]).tolist() == losses[1::2].tolist()


def test_only_theorems_that_count_errors_are_replaced():
    kept = {name for name, method in METHODS.items() if by_entity(method.theorem) is method.theorem}
    assert kept == {"dis-r", "dis-v", "smv-exact", "smv-mc", "fo", "so", "bin", "c-bound"}
    assert isinstance(METHODS["dis-b"].by_entity().theorem, BettingHammer)
    assert isinstance(METHODS["holdout"].by_entity().theorem, Betting)


def test_bets_that_need_no_order_replace_the_same_theorems():
    replaced = {name for name, m in METHODS.items() if by_entity(m.theorem, in_order=False) is not m.theorem}
    assert replaced == {name for name, m in METHODS.items() if by_entity(m.theorem) is not m.theorem}
    statistics, setting = (0.2, *[0.0] * 30, *[1.0] * 10), Setting(0.05, 1.5, "exact")
    other_order = (0.2, *[1.0] * 10, *[0.0] * 30)
    for method in ("dis-b", "holdout"):
        theorem = by_entity(METHODS[method].theorem, in_order=False)
        assert theorem.bound(statistics, 0.5, 40, setting) == theorem.bound(other_order, 0.5, 40, setting)


@pytest.mark.parametrize(("hammer", "plain"), [(BettingHammer, Betting), (OrderFreeHammer, OrderFreeBetting)])
def test_bets_at_a_price_are_bets_at_a_smaller_level(hammer, plain):
    losses = tuple(np.random.default_rng(4).binomial(5, 0.1, 60) / 5)
    statistics, setting = (float(np.mean(losses)), *losses), Setting(0.05, 1.5, "exact")
    free, paid, dear = (hammer().bound(statistics, nats, 60, setting) for nats in (0.0, 1.0, 30.0))
    assert np.mean(losses) < free < paid < dear <= 1.0
    assert plain().bound(statistics, 0.0, 60, setting) == free
    # What is paid for comes one by one: the steps of a picture end at the bound itself.
    confidence = plain().confidence(60, setting)
    assert plain().invert(statistics, 0.0, confidence, 60) == pytest.approx(free, abs=1e-12)
    assert plain().invert(statistics, 0.0, 0.0, 60) == statistics[0]


def test_the_loss_of_one_row_per_entity_is_its_error():
    alone = Entities(np.random.default_rng(5).permutation(40))
    wrong = np.random.default_rng(6).random(40) < 0.3
    assert sorted(alone.losses(wrong)) == sorted(wrong.astype(float))
    assert alone.losses(wrong)[alone.codes].tolist() == wrong.tolist()

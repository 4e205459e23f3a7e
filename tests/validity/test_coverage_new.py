"""Coverage beyond the paper: dis-b, priors to choose from or learned, several draws, orders and folds, auto.

Most worlds are pure noise, where every vote's true risk is one half: there the bounds are nearly tight, and whatever
looks at the certified rows without paying for it is soon caught.
"""

from dataclasses import replace

import numpy as np
import pytest
from honest import ATOMS, DELTA, GROVE, ON_STUMPS, STUMPS, TREES
from worlds import count_violations, is_at_most

from certivote import CertifiedVoteClassifier
from certivote.certify import Plan
from certivote.informed import informed_weights
from certivote.maths.occam import Gamma
from certivote.priors import informed_prior

SETTINGS = {
    "dis-b, concentrated": {"method": "dis-b", **ON_STUMPS, "prior": 5.0},
    "dis-b, atoms": {"method": "dis-b", **ON_STUMPS, "prior": 0.5, "gamma": ATOMS["atoms at 0, 2, 5"]},
    "dis-b, 5 draws": {"method": "dis-b", **ON_STUMPS, "prior": 0.5, "n_draws": 5},
    "dis-b, informed": {"method": "dis-b", "voters": TREES, "prior": "informed"},
    "auto, forest": {"method": "auto", "voters": GROVE},
}


def honest(**options):
    return lambda X, y, seed: CertifiedVoteClassifier(**options, delta=DELTA, random_state=seed).fit(X, y)


def rows_for(name):
    return 140 if name == "auto, forest" else 30  # fewer than 134 rows have no learning curve


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_certificate_fails_at_most_as_often_as_promised(name):
    violations = count_violations(20, rows_for(name), 0.5, 1, honest(**SETTINGS[name]))
    assert is_at_most(violations, 20, DELTA)


# Planted bugs


def test_the_best_of_many_draws_is_caught_where_nobody_paid(monkeypatch):
    draws = {**SETTINGS["dis-b, 5 draws"], "n_draws": 25}
    candidates = Plan.candidates

    def unpaid(plan):
        return [replace(setting, delta=plan.sample_delta) for setting in candidates(plan)]

    monkeypatch.setattr(Plan, "candidates", unpaid)
    violations = count_violations(25, 30, 0.5, 3, honest(**draws))
    assert not is_at_most(violations, 25, DELTA)


def test_a_level_that_does_not_pay_for_the_draw_is_caught(monkeypatch):
    monkeypatch.setattr(Gamma, "price", lambda self, ratio: 0.0)
    monkeypatch.setattr(Gamma, "steering_price", lambda self, ratio: (0.0, 0.0))
    violations = count_violations(25, 30, 0.5, 4, honest(method="dis-b", **ON_STUMPS, prior=0.5))
    assert not is_at_most(violations, 25, DELTA)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("paid", [True, False])
def test_the_best_of_several_folds_is_caught_unless_paid(paid, monkeypatch):
    if not paid:
        monkeypatch.setattr(Plan, "sample_delta", property(lambda plan: plan.setting.delta))
    folds = honest(method="holdout", voters=TREES, split=5)
    violations = count_violations(40, 150, 0.5, 5, folds)
    assert is_at_most(violations, 40, DELTA) is paid


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("fresh", [True, False])
def test_a_prior_informed_by_the_certified_rows_is_caught(fresh):
    def fit(X, y, seed):
        rows = slice(0, 30) if fresh else slice(30, 60)
        taught = STUMPS.teach(None, None, np.array([0, 1]), None)
        weights = informed_weights(taught, X[rows], y[rows], "plurality", np.random.default_rng(0))
        beta = informed_prior(weights).beta
        options = {"prior": beta, "gamma": [(0.0, 0.95)], "delta": DELTA, "random_state": seed}
        return CertifiedVoteClassifier("dis-b", STUMPS, "none", **options).fit(X[30:], y[30:])

    violations = count_violations(25, 60, 0.5, 6, fit)
    assert is_at_most(violations, 25, DELTA) is fresh

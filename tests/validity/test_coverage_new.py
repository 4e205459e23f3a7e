"""Coverage beyond the paper: dis-b, priors to choose from or learned, several draws, orders and folds, auto.

Most worlds are pure noise, where every vote's true risk is one half: there the bounds are nearly tight, and whatever
looks at the certification rows without paying for it is soon caught.
"""

from dataclasses import replace

import pytest
from honest import ATOMS, DELTA, GROVE, ON_STUMPS, STUMPS, TREES, fit
from worlds import count_violations, is_at_most

from certivote.maths.occam import PriceList
from certivote.pipeline import Plan, RowsInMemory, make_plan, prepare
from certivote.splits import Single

SETTINGS = {
    "dis-b, concentrated": {"method": "dis-b", **ON_STUMPS, "prior": 5.0},
    "dis-b, atoms": {"method": "dis-b", **ON_STUMPS, "prior": 0.5, "price_list": ATOMS["atoms at 0, 2, 5"]},
    "dis-b, 5 draws": {"method": "dis-b", **ON_STUMPS, "prior": 0.5, "n_draws": 5},
    "dis-b, informed": {"method": "dis-b", "voters": TREES, "prior": "informed"},
    "auto, forest": {"method": "auto", "voters": GROVE},
}


def honest(**options):
    return lambda X, y, seed: fit(X, y, seed, **options, delta=DELTA)


def rows_for(name):
    return 200 if name == "auto, forest" else 30  # fewer than 198 rows have no learning curve


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_certificate_fails_at_most_as_often_as_promised(name):
    violations = count_violations(12, rows_for(name), 0.5, 1, honest(**SETTINGS[name]))
    assert is_at_most(violations, 12, DELTA)


# Planted bugs


def test_the_best_of_many_draws_is_caught_where_nobody_paid(monkeypatch):
    draws = {**SETTINGS["dis-b, 5 draws"], "n_draws": 25}
    settings = Plan.settings
    monkeypatch.setattr(
        Plan, "settings", lambda plan: [replace(setting, delta=plan.part_delta) for setting in settings(plan)]
    )
    violations = count_violations(25, 30, 0.5, 3, honest(**draws))
    assert not is_at_most(violations, 25, DELTA)


def test_a_level_that_does_not_pay_for_the_draw_is_caught(monkeypatch):
    monkeypatch.setattr(PriceList, "price", lambda self, ratio: 0.0)
    monkeypatch.setattr(PriceList, "steering_price", lambda self, ratio: (0.0, 0.0))
    violations = count_violations(25, 30, 0.5, 4, honest(method="dis-b", **ON_STUMPS, prior=0.5))
    assert not is_at_most(violations, 25, DELTA)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("paid", [True, False])
def test_the_best_of_several_folds_is_caught_unless_paid(paid, monkeypatch):
    if not paid:
        monkeypatch.setattr(Plan, "part_delta", property(lambda plan: plan.delta))
    folds = honest(method="holdout", voters=TREES, split=5)
    violations = count_violations(40, 150, 0.5, 5, folds)
    assert is_at_most(violations, 40, DELTA) is paid


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("fresh", [True, False])
def test_a_prior_informed_by_the_certified_rows_is_caught(fresh):
    def informed(X, y, seed):
        rows = slice(0, 30) if fresh else slice(30, 60)
        plan = make_plan("dis-b", STUMPS, Single(0.95), prior="informed", random_state=seed)
        (part,) = prepare(plan, RowsInMemory(plan.voters, X[rows], y[rows])).parts
        options = {"prior": part.hyper_priors[0].beta, "price_list": [(0.0, 0.95)], "delta": DELTA}
        return fit(X[30:], y[30:], seed, method="dis-b", **ON_STUMPS, **options)

    violations = count_violations(25, 60, 0.5, 6, informed)
    assert is_at_most(violations, 25, DELTA) is fresh

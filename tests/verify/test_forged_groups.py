"""Groups and times that were forged so that all numbers fit together: what catches them, and at which level."""

import copy
import dataclasses
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from altering import altered, with_part
from scipy import stats

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from kinds import as_fresh, case, forest, patients, rows

from certivote import CertifiedVoteClassifier, certify_predictions, verify
from certivote.certificate import Drift
from certivote.maths.betting import betting_upper
from certivote.pipeline import _grouping
from certivote.verify._record import check_drift, fisher_p_value
from certivote.verify._theorems import exact_losses, losses_fit


def failures(checks):
    return {check.what for check in checks if not check.passed}


def trusted(checks):
    return {check.what: check.detail for check in checks if check.on_trust}


@cache
def answered():
    """Labels and answers, of which those of some patients are mostly wrong."""
    rng = np.random.default_rng(2)
    y = rng.choice(["no", "yes"], size=90)
    bad = patients().isin(["p1", "p4", "p9", "p17"]).to_numpy()
    wrong = rng.random(90) < np.where(bad, 0.8, 0.05)
    return y, np.where(wrong, np.where(y == "yes", "no", "yes"), y)


def audit(certificate, groups=None, **given):
    y, answers = answered()
    return verify(certificate, y=y, predictions=answers, groups=patients() if groups is None else groups, **given)


def with_losses(certificate, losses):
    """The certificate as if the losses had come in this order: all of it consistent."""
    (part,) = certificate.parts
    level = math.log(part.delta)
    bound = betting_upper(losses, level, level)
    return with_part(certificate, losses=losses, holdout_losses=losses, bound=bound, holdout_bound=bound)


@pytest.mark.parametrize("backwards", [False, True])
def test_losses_in_another_order_are_caught_with_the_data(backwards):
    certificate = certify_predictions(*answered(), groups=patients())
    losses = certificate.deployed_part.losses
    forged = with_losses(certificate, tuple(sorted(losses, reverse=backwards)))
    assert forged.bound != certificate.bound
    assert failures(verify(forged)) == set()
    assert any("parts[0].statement.losses" in check.fields for check in verify(forged))
    assert failures(audit(forged)) == {"losses", "prior vote counted"}
    assert failures(audit(certificate)) == set()


def test_the_best_order_would_pay():
    """Which is why the order is that of the seed and the data, and not the forger's."""
    with as_fresh():
        certificate = certify_predictions(*answered(), groups=patients())
    losses = certificate.deployed_part.losses
    orders = [tuple(sorted(losses, reverse=backwards)) for backwards in (False, True)]
    assert min(with_losses(certificate, order).bound for order in orders) < certificate.bound


def test_an_entity_with_two_names_is_caught_by_its_one_name():
    halves = patients().str.cat(["a" if row % 2 else "b" for row in range(90)])
    forged = certify_predictions(*answered(), groups=halves.rename("patient"))
    assert forged.deployed_part.entities > certify_predictions(*answered(), groups=patients()).deployed_part.entities
    assert failures(audit(forged, halves.to_numpy())) == set()
    assert {"entities", "entities of the parts", "losses"} <= failures(audit(forged))


def test_rows_in_place_of_entities_are_caught():
    forged = certify_predictions(*answered(), groups=pd.Series(range(90), name="patient"))
    assert failures(verify(forged)) == set()
    assert {"entities", "entities of the parts", "losses"} <= failures(audit(forged))


def test_a_remark_on_entities_of_one_row_is_there_where_it_must_be():
    alone = certify_predictions(*answered(), groups=np.arange(90))
    (remark,) = alone.remarks
    assert remark.startswith("Every certified group has one row")
    together = certify_predictions(*answered(), groups=patients())
    assert together.remarks == ()


def test_groups_that_were_dropped_are_caught():
    forged = certify_predictions(*answered())
    checks = audit(forged)
    assert failures(checks) == {"groups"}
    assert "counts every row BY ITSELF" in next(check.detail for check in checks if check.what == "groups")
    assert failures(audit(forged, np.arange(90))) == set(), "entities of one row each are rows"


def test_groups_that_are_not_given_are_asked_for():
    certificate = certify_predictions(*answered(), groups=patients())
    y, answers = answered()
    checks = verify(certificate, y=y, predictions=answers)
    assert failures(checks) == set()
    assert trusted(checks)["groups"].startswith("give groups=, the column patient")
    named = {field for check in checks for field in check.fields}
    asked = {"parts[0].statement.losses", "parts[0].statement.entities", "promises[].statements[].losses"}
    assert asked <= named
    assert not {*asked, "groups"} & {field for check in audit(certificate) for field in check.fields}


def test_a_column_of_another_name_or_length_or_with_gaps_is_refused():
    certificate = certify_predictions(*answered(), groups=patients())
    assert failures(audit(certificate, patients().rename("doctor"))) == {"name of the groups"}
    assert "groups" in failures(audit(certificate, patients()[:-1].to_numpy()))
    assert "groups" in failures(audit(certificate, patients().where(patients() != "p3", None)))
    with pytest.raises(ValueError, match="groups and order are about the rows"):
        verify(certificate, groups=patients())


def test_names_of_entities_are_text():
    """7, 7.0 and "7" are one: the same file read in another way has the same entities."""
    numbers = patients().str[1:].astype(int)
    certificate = certify_predictions(*answered(), groups=numbers)
    for groups in (numbers.astype(float), numbers.astype(str), numbers.to_numpy()):
        assert failures(audit(certificate, groups)) == set()


@cache
def fitted_by_halves():
    """Fitted as if every patient were two: their rows are on both sides of the split."""
    X, y = rows(2, 1.5)
    halves = patients().str.cat(["a" if row % 2 else "b" for row in range(90)])
    return CertifiedVoteClassifier("dis-b", forest(), random_state=5).fit(X, y, groups=halves.rename("patient"))


def test_entities_on_both_sides_of_the_split_are_caught():
    clf, (X, y) = fitted_by_halves(), rows(2, 1.5)
    found = failures(verify(clf.certificate_, clf, X, y, groups=patients()))
    assert {"entities kept together", "entities of the parts", "losses"} <= found


def test_a_refit_needs_the_groups():
    given = case("dis-b with groups")
    checks = verify(given.certificate, given.model, given.X, given.y, refit=True)
    assert failures(checks) == {"refit"}
    assert "training again needs groups=" in next(check.detail for check in checks if check.what == "refit")


def test_refitting_is_given_groups_and_order():
    seen = []
    for name in ("dis-b with groups", "holdout with an order"):
        given = case(name)
        model = copy.copy(given.model)
        model.refit = lambda X, y, groups, order, table, again=given.again: seen.append((groups, order)) or again
        assert failures(verify(given.certificate, model, given.X, given.y, True, **given.units)) == set()
        assert failures(verify(given.certificate, given.model, given.X, given.y, True, **given.units)) == set()
    assert [[argument is not None for argument in call] for call in seen] == [[True, False], [False, True]]


def test_losses_must_be_shares_of_the_rows():
    assert losses_fit((0.5, 0.0, 1 / 3), 3, 6, 2)
    assert losses_fit((0.5, 0.0, 1 / 3), 3, 12, 3)
    assert not losses_fit((0.5, 0.0, 1 / 3), 3, 5, 2), "six rows are needed"
    assert not losses_fit((0.5, 0.0, 1 / 3), 3, 6, 1), "two errors are needed"
    assert not losses_fit((0.5, 0.0, 1 / 3), 3, 7, 4), "four right rows are needed"
    assert not losses_fit((0.5, 0.0), 3, 6, 2)
    assert not losses_fit((0.0, 0.0), 2, 6, 1)
    assert not losses_fit((1.0, 1.0), 2, 6, 5)
    assert not losses_fit((0.5, math.nextafter(0.5, 1.0)), 2, 6, 3), "no share of six rows is so close to a half"
    assert [str(share) for share in exact_losses((0.1, 2 / 3), 30)] == ["1/10", "2/3"]


# --- Time.


def timed(order):
    y, answers = answered()
    return certify_predictions(y, answers, order=pd.Series(order, name="day"))


def test_a_p_value_that_was_raised_is_caught_by_the_record():
    certificate = timed(np.arange(90))
    (drift,) = certificate.deployed_part.drift
    raised = dataclasses.replace(drift, p_value=min(1.0, drift.p_value * 1.001 + 1e-6))
    part = dataclasses.replace(certificate.deployed_part, drift=(raised,))
    assert failures(verify(dataclasses.replace(certificate, parts=(part,)))) == {"drift"}
    part = dataclasses.replace(part, drift=())
    assert failures(verify(dataclasses.replace(certificate, parts=(part,)))) == {"drift"}


def test_errors_moved_from_late_to_early_are_caught_with_the_data():
    wrong = np.array(answered()[0] != answered()[1])
    order = np.argsort(np.argsort(wrong, kind="stable"))
    certificate = timed(order)
    (drift,) = certificate.deployed_part.drift
    assert drift.p_value < 1e-3
    even = dataclasses.replace(
        drift,
        early_errors=(drift.early_errors + drift.late_errors) // 2,
        late_errors=(drift.early_errors + drift.late_errors + 1) // 2,
    )
    even = dataclasses.replace(even, p_value=fisher_p_value(even))
    part = dataclasses.replace(certificate.deployed_part, drift=(even,))
    forged = dataclasses.replace(certificate, parts=(part,))
    y, answers = answered()
    assert failures(verify(forged)) == set()
    assert failures(verify(forged, y=y, predictions=answers, order=order)) == {"drift counted"}
    assert failures(verify(certificate, y=y, predictions=answers, order=order)) == set()


def test_rows_that_are_not_the_latest_are_caught_with_the_data(monkeypatch):
    given = case("holdout with an order")
    monkeypatch.setattr(_grouping.Grouping, "arranged", lambda self, n_rows, rng: rng.permutation(n_rows))
    clf = CertifiedVoteClassifier("holdout", forest(), random_state=5).fit(given.X, given.y, **given.units)
    assert failures(verify(clf.certificate_, clf)) == set()
    found = failures(verify(clf.certificate_, clf, given.X, given.y, **given.units))
    assert found == {"order of the rows", "row numbers"}


def test_an_order_that_was_dropped_is_caught():
    y, answers = answered()
    checks = verify(certify_predictions(y, answers), y=y, predictions=answers, order=np.arange(90))
    assert failures(checks) == {"order in time"}


@pytest.mark.parametrize("drift", [Drift(5, 0, 5, 0, 1.0), Drift(5, 5, 5, 0, 1 / 126), Drift(4, 1, 5, 2, 1.0)])
def test_fishers_test_by_hand(drift):
    assert fisher_p_value(drift) == pytest.approx(drift.p_value, rel=1e-15)


def test_fishers_test_as_scipy_has_it():
    rng = np.random.default_rng(4)
    for _ in range(300):
        early, late = rng.integers(1, 40, size=2).tolist()
        rate = rng.random()
        errors = rng.binomial(early, rate), rng.binomial(late, rate)
        drift = Drift(early, int(errors[0]), late, int(errors[1]), 1.0)
        table = [[errors[0], early - errors[0]], [errors[1], late - errors[1]]]
        assert fisher_p_value(drift) == pytest.approx(min(stats.fisher_exact(table).pvalue, 1.0), rel=1e-9)


def test_a_drift_of_more_rows_than_can_be_counted_is_taken_on_trust():
    """A forged number of rows must not keep the auditor busy for ever."""
    certificate = timed(np.arange(90))
    n, errors = 1 << 50, 1 << 48
    drift = Drift(n // 2, errors // 2, n // 2, errors // 2, 1.0)
    part = altered(certificate.deployed_part, n=n, errors=errors, drift=(drift,))
    (check,) = check_drift(certificate, part, "")
    assert check.on_trust
    assert check.fields == ("parts[].drift",)

"""Where randomness came from, forged so that all words and numbers fit together: what catches it, and at which level.

Whoever may pick a seed, or say that it was another, picks among divisions, draws and orders of bets by what comes of
them. So every record that has a seed shows it, and the data that random numbers depended on.
"""

import copy
import dataclasses
from functools import cache

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from kinds import as_fresh, case, forest, given_answers, patients, rows

from certivote import CertifiedVoteClassifier, certify, certify_predictions, verify
from certivote.promises import Abstention, Subgroups

FRESH = (1, 2, 3, 4)
"""Numbers such as the system might have given."""


def failures(checks):
    return {check.what for check in checks if not check.passed}


def named(checks):
    return {field for check in checks if check.on_trust for field in check.fields}


def forged(certificate, **changes):
    """Another origin."""
    return dataclasses.replace(certificate, provenance=dataclasses.replace(certificate.provenance, **changes))


@cache
def given(name, seed=None):
    """A certificate of given models or answers, and what it is held against from level to level."""
    (X, y), units = rows(), {"groups": patients()}
    with as_fresh():
        if name == "answers":
            answers = {"model": given_answers()["a"]}
            found = certify_predictions(y, answers, random_state=seed, **units)
            return found, (), {"y": y, "predictions": answers, **units}
        model = case("given models").models["tree 2"]
        return certify(model, X, y, random_state=seed, **units), (model,), {"model": model, "X": X, "y": y, **units}


def audits(name, certificate):
    """What the record, the model and the data show of it."""
    if name in ("models", "answers"):
        _, model, data = given(name)
        return {
            "record": verify(certificate),
            "model": verify(certificate, *model),
            "data": verify(certificate, **data),
        }
    own = case(name)
    return {level: own.audit(certificate, level) for level in ("record", "model", "data")}


def certificate_of(name):
    return given(name)[0] if name in ("models", "answers") else case(name).certificate


def assert_caught(name, certificate, level, check, field=""):
    """Caught at this level, by this check; named as taken on trust until then."""
    for reached, checks in audits(name, certificate).items():
        if reached == level:
            assert check in failures(checks), (reached, failures(checks))
            return
        assert failures(checks) == set(), (reached, failures(checks))
        assert not field or field in named(checks), reached
    raise AssertionError(level)


FITS = ("dis-b", "dis-r across", "dis-v in three folds")
WITH_UNITS = ("dis-b with groups", "bin with groups in folds")
NOT_DIVIDED = ("dis-r without a split", "holdout with an order", "models", "answers")
"""Or, of rows in time, none at the moment where they are divided."""
ALL = (*FITS, *WITH_UNITS, *NOT_DIVIDED)
DIVIDED = {
    **dict.fromkeys(FITS, ("model", "row numbers")),
    **dict.fromkeys(WITH_UNITS, ("data", "row numbers")),
    **dict.fromkeys(NOT_DIVIDED, ("data", "digest of the data")),
}
"""What shows another seed or digest: the division, once it is known which rows or entities were divided."""


@pytest.mark.parametrize("name", ALL)
def test_what_is_honest_passes(name):
    for checks in audits(name, certificate_of(name)).values():
        assert failures(checks) == set()


@pytest.mark.parametrize("name", ALL)
def test_another_digest_of_the_data_is_caught(name):
    certificate = forged(certificate_of(name), data_digest=f"data:{'f' * 64}")
    assert_caught(name, certificate, *DIVIDED[name], "provenance.data_digest")
    assert "digest of the data" in failures(audits(name, certificate)["data"])


@pytest.mark.parametrize("digest", ["", "data:", "f" * 64, f"data:{'F' * 64}", f"tree:{'f' * 64}", f"data:{'f' * 65}"])
@pytest.mark.parametrize("name", ["dis-b", "models", "answers"])
def test_a_digest_that_is_none_is_caught_by_the_record(name, digest):
    assert_caught(name, forged(certificate_of(name), data_digest=digest), "record", "seed")


@pytest.mark.parametrize("name", [*FITS, *WITH_UNITS, "dis-r without a split", "holdout with an order"])
def test_a_number_that_is_passed_off_as_fresh_is_caught_by_the_record(name):
    certificate = certificate_of(name)
    assert not certificate.provenance.fresh
    passed_off = forged(certificate, fresh=True)
    assert len(passed_off.assumptions) == len(certificate.assumptions) - 1
    assert_caught(name, passed_off, "record", "seed")


def test_numbers_that_look_fresh_are_taken_on_trust():
    """A generator that was given leaves as many numbers as the system gives: which it was, nothing shows."""
    X, y = rows()
    clf = CertifiedVoteClassifier("dis-b", forest(), random_state=np.random.RandomState(0)).fit(X, y)
    assert not clf.certificate_.provenance.fresh
    clf.certificate_ = forged(clf.certificate_, fresh=True)
    checks = verify(clf.certificate_, clf, X, y, refit=True)
    assert failures(checks) == set()
    assert "provenance.fresh" in named(checks)
    fresh = CertifiedVoteClassifier("dis-b", forest()).fit(X, y)
    assert "provenance.fresh" in named(verify(fresh.certificate_, fresh, X, y))
    assert "provenance.fresh" not in named(verify(case("dis-b").certificate))


@pytest.mark.parametrize("entropy", [(-1,), (1 << 32, 2, 3, 4), (1, 2, 3), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize("name", ["models", "answers"])
def test_fresh_numbers_that_the_system_does_not_give_are_caught_by_the_record(name, entropy):
    assert certificate_of(name).provenance.fresh
    assert_caught(name, forged(certificate_of(name), entropy=entropy), "record", "seed")


@pytest.mark.parametrize("name", [*FITS, *WITH_UNITS, "dis-r without a split", "holdout with an order", "models"])
def test_bets_at_once_are_for_answers_alone(name):
    certificate = dataclasses.replace(certificate_of(name), bets="at once")
    assert_caught(name, certificate, "record", "kind of bets")


def test_bets_on_answers_are_of_the_kind_that_the_seed_asks_for():
    fresh, number = given("answers")[0], given("answers", 7)[0]
    assert (fresh.bets, number.bets) == ("in order", "at once")
    for certificate, other in ((fresh, "at once"), (number, "in order")):
        assert failures(verify(certificate)) == set()
        changed = dataclasses.replace(certificate, bets=other)
        assert failures(verify(changed)), "words, bounds or the kind itself"
    # Whoever knows the order of the bets can arrange the answers for it.
    assert_caught("answers", forged(fresh, entropy=(7,), fresh=False), "record", "kind of bets")
    assert_caught("answers", forged(fresh, fresh=False), "record", "kind of bets")
    assert_caught("answers", dataclasses.replace(fresh, bets="at once"), "record", "kind of bets")


@pytest.mark.parametrize("name", ALL)
def test_a_seed_that_was_removed_is_caught_by_the_record(name):
    certificate = certificate_of(name)
    assert_caught(name, forged(certificate, entropy=(), fresh=False, data_digest=""), "record", "seed")
    assert_caught(name, forged(certificate, entropy=(), fresh=False), "record", "seed")
    assert_caught(name, forged(certificate, entropy=(), fresh=True, data_digest=""), "record", "seed")


@pytest.mark.parametrize("name", [*FITS, *WITH_UNITS])
def test_another_seed_is_caught_by_the_division(name):
    """Of a model that was made with a number, first by the model."""
    for changes in ({"entropy": (6,)}, {"entropy": FRESH, "fresh": True}):
        other = forged(certificate_of(name), **changes)
        assert_caught(name, other, "model", "seed of the model", "provenance.entropy")
        level, check = DIVIDED[name]
        assert check in failures(audits(name, other)[level])


@pytest.mark.parametrize(
    ("name", "check"), [("dis-r without a split", "refit, draw"), ("holdout with an order", "refit, voters")]
)
def test_another_seed_that_divides_nothing_is_caught_by_a_new_fit(name, check):
    """Draws and voters depend on it."""
    own = case(name)
    model = copy.copy(own.model)
    model.certificate_ = forged(own.certificate, entropy=(6,))
    assert failures(verify(model.certificate_, model)) == {"seed of the model"}
    model.random_state = 6
    for shown, units in (((), {}), ((model,), {}), ((model, own.X, own.y), own.units)):
        checks = verify(model.certificate_, *shown, **units)
        assert failures(checks) == set()
        assert "provenance.entropy" in named(checks)
    assert check in failures(verify(model.certificate_, model, own.X, own.y, True, **own.units))


@pytest.mark.parametrize("changes", [{"entropy": (6,)}, {"data_digest": f"data:{'f' * 64}"}])
def test_which_rows_of_one_moment_certify_is_for_the_seed_to_say(changes):
    (X, y), months = rows(), np.arange(90) // 20
    clf = CertifiedVoteClassifier("holdout", forest(), random_state=5).fit(X, y, order=months)
    assert failures(verify(clf.certificate_, clf, X, y, order=months)) == set()
    clf.certificate_ = forged(clf.certificate_, **changes)
    clf.random_state = clf.certificate_.provenance.entropy[0]
    assert failures(verify(clf.certificate_, clf)) == set()
    assert "row numbers" in failures(verify(clf.certificate_, clf, X, y, order=months))


@pytest.mark.parametrize("name", ["models", "answers"])
def test_another_seed_of_bets_is_caught_with_the_data(name):
    assert_caught(name, forged(certificate_of(name), entropy=FRESH), "data", "losses", "provenance.entropy")


def test_an_origin_that_nothing_random_has_is_caught_by_the_record():
    (_, y), answers = rows(), given_answers()["a"]
    certificate = certify_predictions(y, answers)
    made = certificate.provenance
    assert (made.entropy, made.fresh, made.data_digest) == ((), False, "")
    for changes in ({"fresh": True}, {"data_digest": f"data:{'f' * 64}"}):
        changed = dataclasses.replace(certificate, provenance=dataclasses.replace(made, **changes))
        assert "seed" in failures(verify(changed))


def test_the_digest_is_on_trust_where_something_beside_the_rows_is_missing():
    _, y = rows()
    certificate, _, data = given("answers")
    without = {name: value for name, value in data.items() if name != "groups"}
    checks = verify(certificate, **without)
    assert failures(checks) == set()
    assert "provenance.data_digest" in named(checks)
    assert "provenance.data_digest" not in named(verify(certificate, **data))
    own = case("dis-b with groups")
    checks = verify(own.certificate, own.model, own.X, own.y)
    assert failures(checks) == set()
    assert "provenance.data_digest" in named(checks)
    model = case("given models").models["tree 2"]
    by_answers = given("models")[0]
    checks = verify(by_answers, y=y, predictions=model.predict(rows()[0]), groups=patients())
    assert failures(checks) == set()
    assert "provenance.data_digest" in named(checks)


def test_scores_are_in_the_digest_if_a_promise_needs_them():
    (_, y), answers, scores = rows(), given_answers()["a"], np.arange(90) / 90
    given = {"y": y, "predictions": answers, "groups": patients()}
    asked = [Abstention(max_error=0.4)]
    certificate = certify_predictions(y, answers, groups=patients(), promises=asked, scores=scores)
    assert "provenance.data_digest" in named(verify(certificate, **given))
    checks = verify(certificate, **given, scores=scores)
    assert failures(checks) == set()
    assert "provenance.data_digest" not in named(checks)
    assert "digest of the data" in failures(verify(certificate, **given, scores=scores[::-1]))
    other = forged(certificate, data_digest=f"data:{'f' * 64}")
    assert "digest of the data" in failures(verify(other, **given, scores=scores))
    # Without the promise, nothing depends on them.
    plain = certify_predictions(y, answers, groups=patients(), scores=scores)
    checks = verify(plain, **given)
    assert failures(checks) == set()
    assert "provenance.data_digest" not in named(checks)


def test_columns_are_in_the_digest_if_a_promise_is_about_them():
    """Otherwise the rows that are set aside were known before a column is arranged."""
    (_, y), answers, age = rows(), given_answers()["a"], np.arange(90.0)
    given, asked = {"y": y, "predictions": answers}, [Subgroups("age", bins=2)]

    def certified(column):
        table = pd.DataFrame({"age": column, "note": "a"})
        return certify_predictions(y, answers, table=table, promises=asked, random_state=7)

    certificate, arranged = certified(age), certified(age[::-1])
    assert certificate.provenance.data_digest != arranged.provenance.data_digest
    assert certificate.parts == arranged.parts
    assert "provenance.data_digest" in named(verify(certificate, **given))
    for same in (pd.DataFrame({"age": age.astype(int)}), pd.DataFrame({"note": ["b"] * 90, "age": age})):
        checks = verify(certificate, **given, table=same)
        assert failures(checks) == set()
        assert "provenance.data_digest" not in named(checks)
    for other in (pd.DataFrame({"age": age[::-1]}), pd.DataFrame({"note": age})):
        assert "digest of the data" in failures(verify(certificate, **given, table=other))

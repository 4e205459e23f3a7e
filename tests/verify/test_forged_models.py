"""Models that were forged with care, so that all numbers fit together: what an audit sees of them."""

import copy
import dataclasses
import importlib

import numpy as np
import pytest
from altering import altered, with_part

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from kinds import case, forest, rows, with_statements
from options import as_objects

from certivote import CertifiedVoteClassifier, verify
from certivote.certificate import Finding, FirstRows
from certivote.maths.occam import PriceList
from certivote.pipeline import PartRows
from certivote.pipeline._division import split_rows
from certivote.theory.predictors import RANDOM

MEMORY = importlib.import_module("certivote.pipeline._memory")


def failures(certificate, *given, **options):
    return {check.what for check in verify(certificate, *given, **options) if not check.passed}


def fit(method="dis-r", n_classes=2, **options):
    X, y = rows(n_classes, options.pop("noise", 0.6))
    return CertifiedVoteClassifier(**as_objects(method, voters=forest(), random_state=5, **options)).fit(X, y), X, y


def forged_rows(monkeypatch, divide, method="dis-r", **options):
    """A fit whose parts have other rows: the certificate is made from these, and agrees with itself."""

    def other_rows(shuffled, *how):
        return tuple(divide(part, len(shuffled)) for part in split_rows(shuffled, *how))

    with monkeypatch.context() as patch:
        patch.setattr(MEMORY, "split_rows", other_rows)
        return fit(method, **options)


def with_sizes(clf, n_rows):
    """The certificate with as many rows as its parts have."""
    origin = dataclasses.replace(clf.certificate_.provenance, n_rows=n_rows)
    clf.certificate_ = dataclasses.replace(clf.certificate_, provenance=origin)
    return clf


def trained_on_what_is_certified(part, n):
    return PartRows(train=np.sort(part.certify - n), certify=part.certify)


def counted_twice(part, n):
    return PartRows(train=part.train, certify=np.concatenate([np.sort(part.certify - n), part.certify]))


def plainly_twice(part, n):
    return PartRows(train=part.train, certify=np.sort(np.concatenate([part.certify, part.certify])))


def all_rows_train(part, n):
    return PartRows(train=np.arange(n), certify=part.certify)


@pytest.mark.parametrize("divide", [trained_on_what_is_certified, counted_twice, plainly_twice, all_rows_train])
@pytest.mark.parametrize("method", ["dis-r", "holdout"])
def test_rows_that_train_and_certify_or_count_twice_are_caught(method, divide, monkeypatch):
    clf, X, y = forged_rows(monkeypatch, divide, method, noise=1.5)
    assert "parts" in failures(clf.certificate_, clf)
    assert "parts" in failures(clf.certificate_, clf, X, y)
    # Numbers of rows that are made to fit do not help.
    clf = with_sizes(clf, len(clf.part_.train) + len(clf.part_.certify))
    assert "parts" in failures(clf.certificate_, clf, X, y)


def test_rows_that_were_left_out_because_they_are_misclassified_are_caught(monkeypatch):
    honest, X, y = fit("holdout", noise=1.5)
    wrong = np.flatnonzero(honest.predict(X) != y)
    clf, X, y = forged_rows(
        monkeypatch,
        lambda part, n: PartRows(part.train, np.setdiff1d(part.certify, wrong)),
        "holdout",
        noise=1.5,
    )
    assert clf.certificate_.bound < 0.6 * honest.certificate_.bound
    assert {"rows of the parts"} <= failures(clf.certificate_)
    assert {"parts", "rows of the parts"} <= failures(clf.certificate_, clf, X, y)
    n_rows = len(clf.part_.train) + len(clf.part_.certify)
    assert {"parts", "rows"} <= failures(with_sizes(clf, n_rows).certificate_, clf, X, y)


@pytest.mark.parametrize(
    ("split", "divide"),
    [
        ("cross", lambda part, n: PartRows(part.train[:-1], part.certify)),
        ("cross", lambda part, n: PartRows(part.train, part.certify[1:])),
        (3, lambda part, n: PartRows(part.train, part.certify[1:])),
        (3, lambda part, n: PartRows(np.arange(30, n), np.arange(30))),
        ("none", lambda part, n: PartRows(np.arange(3), np.arange(3, n))),
    ],
)
def test_every_split_has_its_own_parts(split, divide, monkeypatch):
    clf, X, y = fit("dis-r", split=split if split != "none" else "single")
    if split == "none":
        clf.certificate_ = dataclasses.replace(clf.certificate_, split="none")
    clf.parts_ = tuple(divide(part, len(y)) for part in clf.parts_)
    clf.part_ = clf.parts_[clf.certificate_.deployed]
    assert "parts" in failures(clf.certificate_, clf)
    assert "parts" in failures(clf.certificate_, clf, X, y)


def test_rows_of_a_part_that_is_not_deployed_are_compared():
    given = case("dis-r across")
    for field in ("certification_digest", "training_digest"):
        parts = list(given.model.certificate_.parts)
        other = 1 - given.model.certificate_.deployed
        parts[other] = dataclasses.replace(parts[other], **{field: "0" * 64})
        forged = dataclasses.replace(given.model.certificate_, parts=tuple(parts))
        name = f"part {other + 1}, {field.split('_')[0]} rows"
        assert name in {check.what for check in given.audit(forged, "data") if not check.passed}
    model = copy.copy(given.model)
    model.parts_ = model.parts_[::-1]
    assert "parts" in failures(model.certificate_, model)


def test_a_price_list_that_is_no_probability_is_caught(monkeypatch):
    honest, X, y = fit("dis-b", price_list=[[4.0, 0.9]])
    with monkeypatch.context() as patch:
        patch.setattr(PriceList, "__post_init__", lambda self: None)
        for scales in (((-0.5, 0.1),), ((1.0, 10.0),), ((1.0, 1.2), (4.0, -0.2))):
            patch.setattr(PriceList, "mixture", classmethod(lambda cls, atoms=(), s=scales: cls(((4.0, 0.9),), s)))
            try:
                clf, X, y = fit("dis-b", price_list=[[4.0, 0.9]])
            except ValueError:
                continue
            assert clf.certificate_.price_scales == scales
            assert "price list" in failures(clf.certificate_, clf, X, y)
    assert "price list" not in failures(honest.certificate_, honest, X, y)


def test_a_price_list_other_than_the_parameters_say_is_caught(monkeypatch):
    """As one that was chosen when the draw was known."""
    with monkeypatch.context() as patch:
        patch.setattr(
            importlib.import_module("certivote.pipeline._plan"),
            "staying_price",
            lambda prior: PriceList.mixture(((2.5, 0.95),)),
        )
        clf, X, y = fit("dis-b")
    assert failures(clf.certificate_, clf, X, y) == {"parameter price_list"}
    assert "refit, price list" in failures(clf.certificate_, clf, X, y, refit=True)


def test_a_model_that_answers_with_other_classes_is_caught():
    given = case("dis-b")
    model = copy.copy(given.model)
    for classes in (["a", "b"], ["yes", "no"], ["no", "yes", "perhaps"], ["no"]):
        model.classes_ = np.array(classes)
        assert "classes of the model" in failures(model.certificate_, model)
        assert failures(model.certificate_, model, given.X, given.y)


def test_a_fixed_vote_with_learned_weights_is_caught():
    """Clopper-Pearson is for weights that no certification row has influenced."""
    given = case("holdout")
    part = given.model.certificate_.deployed_part
    learned = case("fo").model.weights_
    assert not np.array_equal(learned, part.alpha)
    forged = dataclasses.replace(part, alpha=tuple(learned.tolist()))
    model = copy.copy(given.model)
    model.weights_ = learned
    model.certificate_ = dataclasses.replace(given.model.certificate_, parts=(forged,))
    assert failures(model.certificate_) == {"recorded weights"}
    # Nor does it help to call them the prior's: that is given by the parameters.
    forged = dataclasses.replace(forged, beta=tuple(np.maximum(learned, 1e-9).tolist()))
    assert "hyper-prior" in failures(dataclasses.replace(model.certificate_, parts=(forged,)))


def test_a_simulation_that_was_left_out_is_caught(monkeypatch):
    """The exact half-weight risk in place of the plurality's, which has none for three classes."""
    with monkeypatch.context() as patch:
        tally = type(RANDOM).tally
        patch.setattr(
            type(RANDOM),
            "tally",
            lambda self, vote, votes, labels, loss, rng: tally(self, vote, votes, labels, "half-weight", rng),
        )
        clf, X, y = fit("smv-exact", n_classes=3)
    assert clf.certificate_.deployed_part.statement.risk_draws == 0
    assert "part, risk" in failures(clf.certificate_, clf, X, y)


TEXTS = {
    "no bounds by class": ("bounds by class", lambda c: {"promises": ()}),
    "one class not spoken of": ("by class", lambda c: {"promises": with_statements(c, c.by_class[:-1]).promises}),
    "another hyper-prior": ("kind of hyper-prior", lambda c: {"prior": "given"}),
    "another split": ("split", lambda c: {"split": "cross"}),
    "folds that are none": ("split", lambda c: {"split": "1"}),
    "voters that came fitted": ("voters that may have come fitted", lambda c: {"came_fitted": True, "split": "none"}),
    "a choice that was not made": ("choices", lambda c: {"first_rows": FirstRows(18, "learning curve", 0.5, 0.5, 0.5)}),
    "another solver": ("parameter solver", lambda c: {"solver": "adam"}),
    "no solver": ("parameter solver", lambda c: {"solver": ""}),
    "another subject": ("parameters", lambda c: {"subject": "answers"}),
    "another loss": ("parameter loss", lambda c: {"loss": "half-weight"}),
    "fewer classes": ("by class", lambda c: {"classes": c.classes[:-1]}),
}
UNCHECKED = {
    "refit, choices": {"sample_rows": 10, "learned_rows": 10},
    "refit, remarks": {"findings": (Finding("constant", (0,)),) * 2},
}
"""What no bound rests on, by the line of a new fit that shows it."""


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_that_contradicts_the_numbers_is_caught(kind):
    certificate = case("dis-b of three classes").model.certificate_
    name, change = TEXTS[kind]
    assert name in failures(dataclasses.replace(certificate, **change(certificate)))


@pytest.mark.parametrize("name", ["dis-b", "given models"])
def test_duplicates_are_counted_unless_rows_are_very_many(name):
    given = case(name)
    forged = with_part(given.certificate, duplicates=None, duplicates_of_training_rows=None)
    assert "duplicates counted" in {check.what for check in given.audit(forged, "data") if not check.passed}


@pytest.mark.parametrize("name", UNCHECKED)
def test_what_no_bound_rests_on_is_unchecked_until_a_new_fit(name):
    given = case("dis-b of three classes")
    forged = dataclasses.replace(given.certificate, **UNCHECKED[name])
    for level in ("record", "model", "data"):
        checks = given.audit(forged, level)
        assert [check.what for check in checks if not check.passed] == []
        assert set(UNCHECKED[name]) <= {field for check in checks for field in check.fields}
    assert {check.what for check in given.audit(forged, "refit") if not check.passed} == {name}


def test_a_remark_on_the_bound_follows_from_the_numbers():
    certificate = case("c-bound that does not apply").model.certificate_
    assert "The theorem needs a mean wrong mass below one half" in certificate.remarks[0]


def test_voters_that_came_fitted_must_be_confessed():
    given = case("holdout of classifiers")
    assert "came fitted" in given.model.certificate_.assumptions[-1]
    forged = dataclasses.replace(given.model.certificate_, came_fitted=False)
    (line,) = (check for check in verify(forged) if "came_fitted" in check.fields)
    assert "the model shows" in line.detail
    caught = {check.what for check in given.audit(forged, "model") if not check.passed}
    assert caught == {"voters that came fitted"}


@pytest.mark.parametrize("name", ["dis-b", "dis-r across", "fo", "holdout", "smv-exact", "c-bound"])
def test_errors_that_are_missing_or_made_up_end_in_no_traceback(name):
    given = case(name)
    certificate = given.model.certificate_
    made_up = None if certificate.deployed_part.errors is not None else 3
    parts = tuple(altered(part, errors=made_up) for part in certificate.parts)
    by_class = tuple(dataclasses.replace(entry, errors=made_up) for entry in certificate.by_class)
    promises = with_statements(certificate, by_class).promises
    for changes in ({"parts": parts}, {"promises": promises}, {"parts": parts, "promises": promises}):
        forged = dataclasses.replace(certificate, **changes)
        assert {check.what for check in given.audit(forged, "refit") if not check.passed}


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": ()},
        {"deployed": 7},
        {"classes": ()},
        {"classes": ("no", "no")},
        {"method": "magic"},
        {"delta": 1.5},
        {"price_scales": ((1.0,),)},
        {"price_atoms": ((),)},
        {"split": "9" * 400},
        {"split": "²"},
        {"promises": ()},
        {"average_bound": 0.1},
    ],
    ids=str,
)
def test_a_record_that_makes_no_sense_ends_in_no_traceback(changes):
    given = case("dis-b")
    forged = dataclasses.replace(given.model.certificate_, **changes)
    assert failures(forged)


def test_what_a_certificate_says_reaches_a_terminal_without_control_characters():
    certificate = case("dis-b").model.certificate_
    evil = "no\x1b[2J\x07\r\u202eall checks passed"
    by_class = (dataclasses.replace(certificate.by_class[0], label=evil), *certificate.by_class[1:])
    texts = {"classes": (evil, "yes"), "solver": evil, "library_version": evil}
    checks = verify(dataclasses.replace(with_statements(certificate, by_class), **texts))
    lines = [str(check) for check in checks]
    assert any("\\x1b[2J\\x07\\r\\u202e" in line for line in lines)
    assert all(line.isprintable() for line in lines)


def test_the_file_is_compared_where_its_digest_is_given():
    certificate = case("dis-b").model.certificate_
    digest = certificate.provenance.source_digest
    assert "provenance.source_digest" not in named(verify(certificate, source_digest=digest))
    assert "provenance.source_digest" in named(verify(certificate))
    assert failures(certificate, source_digest="f" * 64) == {"digest of the file"}


def named(checks):
    return {field for check in checks if check.on_trust for field in check.fields}


def test_labels_with_a_name_are_compared_with_the_target():
    import pandas as pd

    given = case("dis-b")
    origin = dataclasses.replace(given.model.certificate_.provenance, target="outcome")
    model = copy.copy(given.model)
    model.certificate_ = dataclasses.replace(given.model.certificate_, provenance=origin)
    labels = pd.Series(given.y, name="outcome")
    assert failures(model.certificate_, model, given.X, labels) == set()
    assert "provenance.target" not in named(verify(model.certificate_, model, given.X, labels))
    assert failures(model.certificate_, model, given.X, labels.rename("income")) == {"target"}
    assert "provenance.target" in named(verify(model.certificate_, model, given.X, given.y))


def test_voters_that_another_version_describes_otherwise_are_taken_on_trust_and_others_fail():
    clf, X, y = fit("dis-r")
    origin = clf.certificate_.provenance
    described = tuple((n, '"Forest(estimator=Other())"' if n == "voters" else text) for n, text in origin.parameters)

    def told(**changes):
        certificate = dataclasses.replace(clf.certificate_, provenance=dataclasses.replace(origin, **changes))
        clf.certificate_ = certificate
        (found,) = [c for c in verify(certificate, clf, X, y) if c.what == "parameters of the model"]
        return found

    earlier = tuple((name, "0.1" if name == "scikit-learn" else number) for name, number in origin.versions)
    assert told(versions=earlier).passed
    assert not told(parameters=described).passed
    assert told(parameters=described, versions=earlier).on_trust
    changed = tuple((n, "0.9" if n == "delta" else text) for n, text in origin.parameters)
    assert not told(parameters=changed, versions=earlier).passed

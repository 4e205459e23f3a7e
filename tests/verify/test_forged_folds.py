"""Folds, or a training share, that the first rows have decided for: what else they might not be."""

import copy
import dataclasses
import importlib
import json

import numpy as np
import pytest
from altering import altered

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from kinds import case, forest, rows

from certivote import CertifiedVoteClassifier, verify
from certivote.certificate import FirstRows
from certivote.pipeline import PartRows, _pilot
from certivote.pipeline._division import split_rows

FOLDS = tuple(map(str, _pilot._FOLDS))
MEMORY = importlib.import_module("certivote.pipeline._memory")


def failures(certificate, *given, **options):
    return {check.what for check in verify(certificate, *given, **options) if not check.passed}


def with_parameters(certificate, **changes):
    """The certificate with other parameters of the fit."""
    known = tuple((name, json.dumps(changes.get(name, json.loads(text)))) for name, text in parameters(certificate))
    return dataclasses.replace(certificate, provenance=dataclasses.replace(certificate.provenance, parameters=known))


def parameters(certificate):
    return certificate.provenance.parameters


@pytest.fixture(scope="module")
def folded():
    """A certificate with folds that were chosen."""
    certificate = case("auto in folds").certificate
    assert certificate.split in FOLDS
    assert dict(parameters(certificate))["split"] == '"auto"'
    assert sum(part.n for part in certificate.parts) == 180
    assert {part.training_rows + part.n for part in certificate.parts} == {220}
    return certificate


@pytest.fixture(scope="module")
def curved():
    """A model with a training share that was chosen, by a fit that might have had folds too."""
    X, y = rows(2, 0.4, 220)
    clf = CertifiedVoteClassifier("auto", forest(), random_state=5).fit(X, y)
    assert clf.certificate_.split == "single"
    assert failures(clf.certificate_, clf, X, y) == set()
    return clf


# What the first rows are said to have decided


def looked(certificate, **changes):
    return dataclasses.replace(certificate, first_rows=dataclasses.replace(certificate.first_rows, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"looked_at": 66},
        {"looked_at": 4},
        {"share": 0.5},
    ],
    ids=str,
)
def test_a_look_that_is_not_of_these_folds_is_caught(folded, changes):
    assert failures(looked(folded, **changes)) == {"choices"}


@pytest.mark.parametrize(
    "changes",
    [{"found": "too few"}, {"found": "not fitted"}, {"late": None}, {"late": 0.0123}, {"early": None, "late": None}],
    ids=str,
)
def test_what_the_first_rows_showed_is_unchecked_until_a_new_fit(folded, changes):
    forged = looked(folded, **changes)
    (line,) = (check for check in verify(forged) if "first_rows" in check.fields)
    assert line.on_trust
    assert failures(forged) == set()
    assert "refit, choices" in {
        check.what for check in case("auto in folds").audit(forged, "refit") if not check.passed
    }


def test_folds_that_nothing_speaks_for_are_caught(folded, curved):
    assert failures(dataclasses.replace(folded, first_rows=None)) == {"choices"}
    assert failures(dataclasses.replace(folded, first_rows=curved.certificate_.first_rows)) == {"choices"}
    few = FirstRows(40, "too few", 0.5, None, None)
    assert failures(dataclasses.replace(folded, first_rows=few)) == {"choices"}


def with_share(curved, share):
    """The certificate as if the first rows had chosen this share, with as many rows in each part."""
    train = round(share * 220)
    moved = altered(curved.certificate_.deployed_part, training_rows=train, n=max(220 - train, 1))
    return looked(dataclasses.replace(curved.certificate_, parts=(moved,)), share=share)


def test_a_share_so_small_that_rows_which_were_looked_at_would_be_certified_is_refused(curved):
    assert "choices" in failures(with_share(curved, 0.1))


@pytest.mark.parametrize("share", [0.49, 0.85, 1.0])
def test_a_share_other_than_the_rows_were_divided_by_is_refused(share, curved):
    assert "rows of the parts" in failures(looked(curved.certificate_, share=share))
    other = with_share(curved, share)
    X, y = rows(2, 0.4, 220)
    assert {"size", "refit, choices"} <= failures(other, curved, X, y, refit=True)


# What might not be folds


@pytest.mark.parametrize(
    "changes",
    [
        {"split": {"name": "single", "train_share": 0.4}},
        {"method": "dis-b"},
        {"split": "single"},
        {"split": 5},
        {"promises": "[Precision()]"},
    ],
    ids=str,
)
def test_parameters_that_forbid_folds_are_caught(changes, folded):
    assert "parameter split" in failures(with_parameters(folded, **changes))


def test_parameters_that_ask_for_such_folds_are_not_those_of_the_model(folded):
    """Folds that were asked for are of all rows."""
    asked = with_parameters(folded, split=int(folded.split))
    assert {"rows of the parts", "choices"} <= failures(asked)
    assert {"parts", "parameters of the model"} <= {
        check.what for check in case("auto in folds").audit(asked, "model") if not check.passed
    }


def test_rows_that_come_in_groups_or_times_or_are_many_have_no_such_folds(folded):
    assert "parameter split" in failures(dataclasses.replace(folded, groups="patient"))
    assert "parameter split" in failures(dataclasses.replace(folded, order="day"))
    for n_rows, n_columns in ((50_000, 2), (10_000, 201), (131, 2)):
        origin = dataclasses.replace(folded.provenance, n_rows=n_rows, n_columns=n_columns)
        assert "parameter split" in failures(dataclasses.replace(folded, provenance=origin))
    for n_rows, n_columns in ((9_999, 201), (10_000, 200), (49_999, 40)):
        origin = dataclasses.replace(folded.provenance, n_rows=n_rows, n_columns=n_columns)
        assert "parameter split" not in failures(dataclasses.replace(folded, provenance=origin))


def test_more_folds_than_may_be_chosen_are_caught():
    """Asked for, and then passed off as chosen."""
    X, y = rows(2, 2.5, 220)
    clf = CertifiedVoteClassifier("auto", forest(), 5, random_state=5).fit(X, y)
    first = case("auto in folds").certificate.first_rows
    forged = with_parameters(dataclasses.replace(clf.certificate_, first_rows=first), split="auto")
    assert {"parameter split", "rows of the parts"} <= failures(forged)


def test_folds_of_all_rows_that_pass_as_chosen_are_caught(folded):
    """More rows certify than may, those that were looked at among them."""
    X, y = rows(2, 2.5, 220)
    clf = CertifiedVoteClassifier("auto", forest(), int(folded.split), random_state=5).fit(X, y)
    told = dataclasses.replace(clf.certificate_, first_rows=folded.first_rows)
    clf.certificate_ = with_parameters(told, split="auto")
    clf.split = "auto"
    assert failures(clf.certificate_) == {"rows of the parts"}
    assert {"rows of the parts", "parts"} <= failures(clf.certificate_, clf, X, y)


# Row numbers


def forged_rows(monkeypatch, divide, **options):
    """A fit whose parts have other rows: the certificate is made from these, and agrees with itself."""
    X, y = rows(2, 2.5, 220)
    with monkeypatch.context() as patch:
        patch.setattr(MEMORY, "split_rows", lambda shuffled, *how: divide(split_rows(shuffled, *how)))
        return CertifiedVoteClassifier("auto", forest(), random_state=5, **options).fit(X, y), X, y


def exchanged(parts):
    """The first row that trains all votes certifies in place of one of the first fold."""
    first, *others = parts
    never = np.setdiff1d(np.arange(220), np.concatenate([part.certify for part in parts]))
    put, gone = never[:1], first.certify[:1]
    train, certify = np.union1d(np.setdiff1d(first.train, put), gone), np.union1d(first.certify[1:], put)
    return PartRows(train, certify), *others


def shifted(parts):
    """The parts change places."""
    return parts[::-1]


@pytest.mark.parametrize("divide", [exchanged, shifted])
def test_other_folds_than_the_seed_gives_are_caught_with_the_model(divide, monkeypatch):
    clf, X, y = forged_rows(monkeypatch, divide)
    assert clf.certificate_.split in FOLDS
    assert failures(clf.certificate_) == set()
    assert failures(clf.certificate_, clf) == {"row numbers"}
    assert failures(clf.certificate_, clf, X, y) == {"row numbers"}


def one_row_exchanged(parts):
    (part, *others) = parts
    put, gone = part.train[:1], part.certify[:1]
    own = PartRows(np.union1d(part.train[1:], gone), np.union1d(part.certify[1:], put))
    return own, *(PartRows(own.certify, own.train) for _ in others)


@pytest.mark.parametrize("split", ["single", "cross"])
def test_other_rows_than_the_seed_gives_are_caught_with_the_model(split, monkeypatch):
    clf, X, y = forged_rows(monkeypatch, one_row_exchanged, split=split)
    assert failures(clf.certificate_) == set()
    assert failures(clf.certificate_, clf, X, y) == {"row numbers"}


def test_row_numbers_of_folds_that_overlap_or_leave_rows_out_are_caught(folded):
    given = case("auto in folds")
    one, two, *others = given.model.parts_
    everything = np.arange(220)
    for certify in (np.union1d(one.certify[1:], two.certify[:1]), one.certify[1:], two.certify):
        model = copy.copy(given.model)
        own = PartRows(np.setdiff1d(everything, certify), certify)
        model.parts_ = (own, two, *others)
        model.part_ = model.parts_[folded.deployed]
        assert "parts" in failures(folded, model)


def test_rows_that_are_far_more_than_there_are_take_no_memory(folded):
    origin = dataclasses.replace(folded.provenance, n_rows=10**15)
    model = copy.copy(case("auto in folds").model)
    model.certificate_ = dataclasses.replace(folded, provenance=origin)
    assert {"parts", "rows of the parts"} <= failures(model.certificate_, model)


# What only a new fit shows


def test_a_number_of_folds_picked_by_looking_is_on_trust_until_a_new_fit(monkeypatch, folded):
    """Another than the first rows speak for."""
    limit = _pilot._expected_limit
    other = next(int(k) for k in FOLDS if k != folded.split)
    with monkeypatch.context() as patch:
        patch.setattr(_pilot, "_expected_limit", lambda *how: 1e-3 if how[2] == other else limit(*how))
        patch.setattr(_pilot, "_FEWEST_ERRORS", 0)
        X, y = rows(2, 2.5, 220)
        clf = CertifiedVoteClassifier("auto", forest(), random_state=5).fit(X, y)
    assert clf.certificate_.split == str(other)
    checks = verify(clf.certificate_, clf, X, y)
    assert [check.what for check in checks if not check.passed] == []
    (line,) = (check for check in checks if check.on_trust and "first_rows" in check.fields)
    assert "the first rows alone decided" in line.detail
    assert "into how many folds the others fall" in line.detail
    failed = failures(clf.certificate_, clf, X, y, refit=True)
    assert {"refit, choices", "refit, row numbers", "refit, all other fields"} <= failed

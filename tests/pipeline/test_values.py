"""What was given is what is read: nothing masked, no name twice, no number that is none, no size beyond all memory."""

import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from certivote import (
    CertifiedVoteClassifier,
    DriftMonitor,
    Monitor,
    certify,
    certify_predictions,
    compare,
    load,
    verify,
)
from certivote.methods import DisB
from certivote.promises import PredictionSets, Sensitivity
from certivote.theory.calculator import formulas
from certivote.voters import Forest, Mixed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] > 0).astype(int)
NEW = RNG.normal(size=(60, 3))
BEYOND = 10**400


@pytest.fixture(scope="module")
def clf():
    return CertifiedVoteClassifier("dis-b", "stumps", random_state=0).fit(X, Y)


def masked(values):
    """The same with the first value masked."""
    values = np.ma.array(values, mask=False)
    values[(0,) * values.ndim] = np.ma.masked
    return values


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda clf: CertifiedVoteClassifier(voters="stumps").fit(masked(X), Y), "X"),
        (lambda clf: CertifiedVoteClassifier(voters="stumps").fit(X, masked(Y)), "y"),
        (lambda clf: CertifiedVoteClassifier("dis-b", "stumps", prior=masked(np.ones(60))).fit(X, Y), "prior"),
        (lambda clf: compare(masked(X), Y, methods=["dis-b"], voters="stumps"), "X"),
        (lambda clf: clf.predict(masked(X)), "X"),
        (lambda clf: clf.predict_proba(masked(X)), "X"),
        (lambda clf: certify(clf, masked(NEW), Y[:60]), "X"),
        (lambda clf: certify(clf, NEW, Y[:60], training=masked(X)), "training"),
        (lambda clf: verify(clf.certificate_, clf, masked(X), Y), "X"),
        (lambda clf: DriftMonitor(clf).update(masked(NEW)), "X"),
        (lambda clf: Monitor(clf).update(Y, Y, scores=masked(np.full(120, 0.5))), "scores"),
        (lambda clf: Monitor(clf).update(Y, Y, table=masked(X)), "table"),
        (lambda clf: certify_predictions(Y, Y, table=masked(X)), "table"),
    ],
)
def test_masked_values_are_not_read_as_if_they_were_there(use, name, clf):
    with pytest.raises(ValueError, match=rf"^{name} is a masked array with 1 masked value; give"):
        use(clf)


def test_masked_rows_in_a_list_are_refused_too(clf):
    with pytest.raises(ValueError, match=r"^X holds masked arrays with 1 masked value; give"):
        clf.predict(list(masked(X)))
    assert len(clf.predict(list(np.ma.masked_array(X)))) == len(X)


def test_masked_answers_are_not_combined():
    certificate = certify_predictions(Y, {"one": Y, "other": Y})
    with pytest.raises(ValueError, match="predictions has masked answers"):
        certificate.combine([Y, masked(Y)])


@pytest.mark.parametrize("name", ["groups", "order"])
def test_a_masked_group_or_time_is_missing(name):
    with pytest.raises(ValueError, match=f"{name} must have a value for every row; 1 are missing, the first in row 0"):
        CertifiedVoteClassifier(voters="stumps").fit(X, Y, **{name: masked(np.arange(120) // 2)})


@pytest.mark.parametrize("given", [(masked(Y), Y), (Y, masked(Y))])
def test_a_masked_label_is_missing(given, clf):
    with pytest.raises(ValueError, match="no label in 1 rows, the first of them row 0"):
        certify_predictions(*given)
    with pytest.raises(ValueError, match="has no value in 1 of 120 rows, the first of them row 0"):
        Monitor(clf).update(*given)


def test_a_mask_that_hides_nothing_changes_nothing(clf):
    assert clf.predict(np.ma.array(X, mask=False)).tolist() == clf.predict(X).tolist()


@pytest.mark.parametrize(
    "use",
    [
        lambda table: CertifiedVoteClassifier(voters="stumps").fit(table, Y),
        lambda table: compare(table, Y, methods=["dis-b"], voters="stumps"),
        lambda table: certify(lambda rows: Y, table, Y),
        lambda table: certify_predictions(Y, Y, table=table),
    ],
)
def test_no_two_columns_have_one_name(use):
    with pytest.raises(ValueError, match=r"^(X|table) has 2 columns of the name 'a'; give each column a name"):
        use(pd.DataFrame(X, columns=["a", "b", "a"]))


@pytest.mark.parametrize("delta", [1e-320, 5e-324, 1e-200, 0.0, 1.0])
def test_delta_is_no_smaller_than_can_be_divided(delta):
    for made in (
        lambda: CertifiedVoteClassifier(voters="stumps", delta=delta).fit(X, Y),
        lambda: certify_predictions(Y, Y, delta),
        lambda: certify_predictions(Y, Y, delta, groups=np.arange(120) // 2),
        lambda: compare(X, Y, methods=["dis-b"], voters="stumps", delta=delta),
    ):
        with pytest.raises(ValueError, match=r"The 'delta' parameter of \w+ must be a float in the range \[1e-100, 1"):
            made()
    with pytest.raises(ValueError, match="delta must be at least 1e-100 and less than 1"):
        formulas(delta)


def test_the_smallest_delta_is_allowed():
    for groups in (None, np.arange(120) // 2):
        assert certify_predictions(Y, Y, 1e-100, groups).bound > 0.8
    assert CertifiedVoteClassifier(DisB(n_draws=7), "stumps", delta=1e-100).fit(X, Y).certificate_.bound > 0.5


@pytest.mark.parametrize("n_draws", [10**9, BEYOND])
def test_no_more_votes_are_drawn_than_memory_has_room_for(n_draws):
    with pytest.raises(ValueError, match=r"The 'n_draws' parameter .* in the range \[1, 10000\]"):
        DisB(n_draws=n_draws)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda clf: certify_predictions(Y, Y, scores=[BEYOND] * 120), "scores must hold numbers"),
        (lambda clf: Monitor(clf).update(Y, Y, scores=[BEYOND] * 120), "scores must hold numbers; got"),
        (lambda clf: Monitor(clf).update(Y, Y, scores=BEYOND), "scores must hold numbers; got"),
        (lambda clf: Monitor(clf).update(Y, Y, scores={}), "scores must hold numbers; got"),
        (lambda clf: Monitor(clf, watch=5), "watch has 5, which the certificate does not promise"),
        (lambda clf: PredictionSets(BEYOND), "coverage of PredictionSets must be a number between 0 and 1"),
        (lambda clf: Sensitivity(BEYOND, 1), "at_least of Sensitivity must be a number between 0 and 1"),
        (lambda clf: Sensitivity(float("nan"), 1), "at_least of Sensitivity must be a number between 0 and 1"),
        (lambda clf: compare(X, Y, methods=5), "methods must be a list of names"),
        (lambda clf: compare(X, Y, methods=[5]), "Unknown method 5"),
        (lambda clf: compare(X, Y, methods=[["dis-b"]]), r"Unknown method \['dis-b'\]"),
        (lambda clf: certify(clf, NEW, Y[:60], training=5), "training must be a table with one row for each case"),
    ],
)
def test_what_is_no_number_and_no_list_is_refused_in_a_sentence(use, message, clf):
    with pytest.raises(ValueError, match=message):
        use(clf)


def test_any_kind_of_number_between_0_and_1_is_one():
    assert Sensitivity(Fraction(9, 10), 1).at_least == 0.9
    assert certify_predictions(Y, Y, np.longdouble(0.05)).to_json() != ""


@pytest.mark.skipif(sys.platform == "win32", reason="memory is counted otherwise")
@pytest.mark.parametrize("voters", ["auto", "mixed", "forest"])
def test_classes_that_memory_has_no_room_for_are_refused_before_it_is_taken(voters):
    n_rows, n_classes = 60_000, 30_000
    rows, labels = RNG.normal(size=(n_rows, 2)), RNG.permutation(np.arange(n_rows) % n_classes)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"30,000 classes and 60,000 rows may take [\d,]+ GB.* the limit is 16 GB"):
            CertifiedVoteClassifier("dis-b", voters).fit(rows, labels)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_smaller_trees_have_room_for_more_classes():
    for forest in (RandomForestClassifier(50, max_leaf_nodes=500), RandomForestClassifier(max_depth=8)):
        Forest(forest).check_room(15_000, 5_000)
    Forest().check_room(10_000_000, 100)


def test_trees_that_grow_in_turn_have_room_where_all_at_once_have_not():
    Forest().check_room(40_000, 2_000)
    Mixed().check_room(40_000, 2_000)
    balanced = RandomForestClassifier(class_weight="balanced")
    with pytest.raises(ValueError, match="may take 121 GB"):
        Forest(balanced).check_room(40_000, 2_000)
    with pytest.raises(ValueError, match=r"Mixed voters for 2,000 classes and 80,000 rows may take 24 GB.*'forest'"):
        Mixed().check_room(80_000, 2_000)
    Forest().check_room(80_000, 2_000)


@pytest.mark.parametrize("given", [{"method": DisB(n_draws=np.int64(2))}, {"together": np.bool_(True)}])
def test_parameters_in_types_of_numpy_are_those_of_python(given, tmp_path):
    clf = CertifiedVoteClassifier(**{"method": "dis-b", "voters": "stumps", "random_state": 0, **given}).fit(X, Y)
    assert all(check.passed for check in verify(clf.certificate_, clf, X, Y, refit=True))
    clf.save(tmp_path / "m.certivote")
    assert load(tmp_path / "m.certivote").certificate_ == clf.certificate_


def test_a_truth_value_is_no_number_of_draws():
    with pytest.raises(TypeError, match="n_draws must be a whole number from 1 on; got True"):
        DisB(n_draws=True)

"""pandas objects whose indexes carry the same labels in another order are refused wherever rows are matched."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from certivote import (
    CertifiedVoteClassifier,
    DriftMonitor,
    Monitor,
    certify,
    certify_predictions,
    compare,
    count_predictions,
    recertify,
    verify,
)
from certivote.promises import Precision, PredictionSets, prediction_sets
from certivote.voters import Forest

FEW = Forest(RandomForestClassifier(8))
REFUSED = "in another order, and rows are matched by position"


def table(n=240):
    rng = np.random.default_rng(0)
    groups = pd.Series(np.repeat(np.arange(n // 4), 4), name="patient")
    X = pd.DataFrame({"age": rng.normal(size=n), "dose": rng.normal(size=n)})
    y = pd.Series(np.where(X.age + rng.normal(size=n) > 0, "ill", "well"), name="outcome")
    return X, y, groups


X, Y, GROUPS = table()
WHEN = pd.Series(np.arange(len(X)), name="day")
CLF = CertifiedVoteClassifier("dis-b", FEW, random_state=0).fit(X, Y)
MODEL = LogisticRegression().fit(X[:120], Y[:120])
SAID = pd.Series(MODEL.predict(X), index=X.index, name="model")
SURE = pd.Series(MODEL.predict_proba(X).max(axis=1), index=X.index)
GIVEN = certify(MODEL, X, Y, promises=[PredictionSets(0.2)])


def mixed(rows):
    """The same rows in another order, as their index says."""
    return rows.sample(frac=1, random_state=1)


def vote(*args, **kwargs):
    return CertifiedVoteClassifier("dis-b", FEW, random_state=0).fit(*args, **kwargs)


MATCHED = {
    "fit, y": lambda mixed: vote(X, mixed(Y)),
    "fit, X": lambda mixed: vote(mixed(X), Y),
    "fit, groups": lambda mixed: vote(X, Y, groups=mixed(GROUPS)),
    "fit, a frame of groups": lambda mixed: vote(X, Y, groups=mixed(GROUPS.to_frame())),
    "fit, groups beside arrays": lambda mixed: vote(X.to_numpy(), Y, groups=mixed(GROUPS)),
    "fit, order": lambda mixed: vote(X, Y, order=mixed(WHEN)),
    "refit": lambda mixed: CLF.refit(X, mixed(Y)),
    "compare": lambda mixed: compare(X, Y, ["dis-b", "fo"], groups=mixed(GROUPS), voters=FEW),
    "certify, y": lambda mixed: certify(MODEL, X, mixed(Y)),
    "certify, groups": lambda mixed: certify(MODEL, X, Y, groups=mixed(GROUPS)),
    "certify, order": lambda mixed: certify(MODEL, X, Y, order=mixed(WHEN)),
    "certify, a model's answers": lambda mixed: certify(lambda rows: mixed(SAID), X, Y),
    "predictions": lambda mixed: certify_predictions(Y, mixed(SAID)),
    "predictions by name": lambda mixed: certify_predictions(Y, {"one": SAID, "two": mixed(SAID)}),
    "predictions in a frame": lambda mixed: certify_predictions(Y, mixed(SAID.to_frame())),
    "predictions, groups": lambda mixed: certify_predictions(Y, SAID, groups=mixed(GROUPS)),
    "predictions, scores": lambda mixed: certify_predictions(Y, SAID, scores=mixed(SURE)),
    "predictions, table": lambda mixed: certify_predictions(Y, SAID, table=mixed(X)),
    "counts": lambda mixed: count_predictions(Y, mixed(SAID)),
    "recertify": lambda mixed: recertify(CLF, X + 5, mixed(Y)),
    "recertify, predictions": lambda mixed: recertify(GIVEN, y=Y, predictions=mixed(SAID), promises=()),
    "monitor, y_pred": lambda mixed: Monitor(CLF).update(Y, mixed(SAID)),
    "monitor, ids": lambda mixed: Monitor(CLF).update(Y, SAID, ids=mixed(WHEN)),
    "monitor, table": lambda mixed: Monitor(CLF).update(Y, SAID, table=mixed(X)),
    "monitor, scores": lambda mixed: Monitor(CLF).update(Y, SAID, scores=mixed(SURE)),
    "drift, ids": lambda mixed: DriftMonitor(CLF).update(X, ids=mixed(WHEN)),
    "verify, y": lambda mixed: verify(CLF.certificate_, CLF, X, mixed(Y)),
    "verify, groups": lambda mixed: verify(CLF.certificate_, CLF, X, Y, groups=mixed(GROUPS)),
    "verify, predictions": lambda mixed: verify(GIVEN, y=Y, predictions=mixed(SAID)),
    "verify, scores": lambda mixed: verify(GIVEN, y=Y, predictions=SAID, scores=mixed(SURE)),
    "verify, blocks": lambda mixed: verify(CLF.certificate_, CLF, blocks=[(X, mixed(Y))]),
    "sets": lambda mixed: prediction_sets(GIVEN, pd.DataFrame(MODEL.predict_proba(X)), answers=mixed(SAID)),
    "report": lambda mixed: GIVEN.report("never.html", truth=Y, answers=mixed(SAID)),
    "combine": lambda mixed: GIVEN.combine([SAID, mixed(SAID)]),
}


@pytest.mark.parametrize("what", MATCHED)
def test_the_same_labels_in_another_order_are_refused(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=REFUSED):
        MATCHED[what](mixed)
    assert not list(tmp_path.iterdir())


def test_the_message_says_how_to_align():
    with pytest.raises(ValueError, match=r"give groups\.loc\[X\.index\], or groups\.to_numpy\(\)") as refusal:
        vote(X, Y, groups=mixed(GROUPS))
    assert "\n" not in str(refusal.value)
    aligned = vote(X, Y, groups=mixed(GROUPS).loc[X.index])
    assert aligned.certificate_ == vote(X, Y, groups=GROUPS).certificate_


def test_groups_by_arrays_are_matched_by_position_as_ever():
    assert vote(X, Y, groups=mixed(GROUPS).to_numpy()).certificate_.groups == "groups"


def test_rows_that_were_drawn_keep_their_index_in_all_objects():
    rows, _, labels, _, groups, _ = train_test_split(X, Y, GROUPS, random_state=0)
    own = vote(rows, labels, groups=groups).certificate_
    assert own == vote(rows, labels.reset_index(drop=True), groups=groups.set_axis(labels.to_numpy())).certificate_
    with pytest.raises(ValueError, match=REFUSED):
        vote(rows, labels, groups=groups.sort_index())


def test_a_plain_index_beside_one_in_another_order_is_refused():
    rows = mixed(X)
    with pytest.raises(ValueError, match=r"y\.to_numpy\(\) if its rows are in the order of those of X"):
        vote(rows, Y.loc[rows.index].reset_index(drop=True))
    assert vote(rows, Y.loc[rows.index].to_numpy()).certificate_.bound < 1.0


@pytest.mark.parametrize("labels", [[0] * 240, list(range(120)) * 2, ["a", None] * 120, np.arange(240) * 0.5])
def test_labels_that_occur_several_times_are_compared_place_by_place(labels):
    rows, said = X.set_axis(labels), Y.set_axis(labels)
    assert vote(rows, said).certificate_ == vote(X, Y).certificate_
    if len(set(labels)) > 1:
        with pytest.raises(ValueError, match=REFUSED):
            vote(rows, said[::-1])


def test_indexes_of_several_levels_and_of_other_types_are_compared_by_value():
    pairs = pd.MultiIndex.from_arrays([GROUPS, WHEN])
    with pytest.raises(ValueError, match=REFUSED):
        vote(X.set_axis(pairs), Y.set_axis(pairs[::-1]))
    with pytest.raises(ValueError, match=REFUSED):
        vote(X, Y.set_axis(WHEN[::-1].astype(float)))
    days = pd.date_range("2026-01-01", periods=len(X))
    with pytest.raises(ValueError, match=REFUSED):
        vote(X.set_axis(days), Y.set_axis(days[::-1]))


def test_other_labels_altogether_say_nothing_of_the_order():
    names = [f"row {number}" for number in range(len(X))]
    assert vote(X.set_axis(names), Y).certificate_ == vote(X, Y).certificate_
    assert certify_predictions(Y, SAID.set_axis(names), promises=[Precision()]).bound < 1.0

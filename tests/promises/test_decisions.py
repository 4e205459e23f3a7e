"""What certified thresholds decide about new cases: exactly what was counted, and nothing without a certificate."""

import dataclasses

import numpy as np
import pytest
from fits import cancer, forest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sure_models import Says, two

from certivote import CertifiedVoteClassifier, certify, certify_predictions
from certivote.promises import (
    Abstention,
    PredictionSets,
    Sensitivity,
    answered,
    flagged,
    margins,
    prediction_sets,
)

PROMISES = [Abstention(max_error=0.1), Sensitivity(0.9), PredictionSets(0.9), PredictionSets(0.8, by_class=True)]


def of(certificate, name):
    return next(record for record in certificate.promises if record.name == name)


@pytest.fixture(scope="module")
def vote():
    return CertifiedVoteClassifier("dis-b", forest(9, max_depth=2), promises=PROMISES, random_state=0).fit(*cancer())


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(0)
    scores, y = rng.random(3000), rng.integers(0, 2, 3000)
    said = np.where(rng.random(3000) < 0.3 * (1 - scores), 1 - y, y)
    return certify_predictions(y, said, scores=scores, promises=[Abstention(curve=10)], random_state=0)


def test_on_the_certification_rows_decisions_are_what_was_counted(vote):
    X, y = (each[vote.part_.certify] for each in cancer())
    certificate = vote.certificate_
    answers, flags = vote.answers(X), vote.flags(X)
    abstention, sensitivity = of(certificate, "abstention"), of(certificate, "sensitivity")
    in_force = abstention.statements[abstention.chosen]
    assert (answers.sum(), (vote.predict(X) != y)[answers].sum()) == (in_force.n, in_force.errors)
    missed, alarms = sensitivity.statements
    assert ((~flags & (y == 1)).sum(), (flags & (y == 0)).sum()) == (missed.errors, alarms.errors)
    sets = vote.predict_sets(X, PredictionSets(0.9))
    assert (sets.shape, sets.dtype) == ((len(y), 2), bool)
    assert (~sets[np.arange(len(y)), y]).sum() == of(certificate, "sets").statements[0].errors
    assert sets[np.arange(len(y)), vote.predict(X)].all()


def test_of_several_sets_one_must_be_meant(vote):
    X = cancer()[0][:4]
    with pytest.raises(ValueError, match=r"PredictionSets\(coverage=0.9, by_class=False\) or PredictionSets"):
        vote.predict_sets(X)
    with pytest.raises(ValueError, match="which the certificate has; got PredictionSets"):
        vote.predict_sets(X, PredictionSets(0.5))
    assert vote.predict_sets(X, PredictionSets(0.8, by_class=True)).shape == (4, 2)


@pytest.mark.parametrize("max_error", [0.08, 0.1, 0.2])
def test_on_a_curve_the_largest_certified_coverage_answers(curve, max_error):
    entries = of(curve, "abstention").statements
    certified = [entry.threshold for entry in entries if entry.kind != "unanswered" and entry.bound <= max_error]
    scores = np.linspace(0, 1, 101)
    assert answered(curve, scores, max_error).tolist() == (scores >= min(certified)).tolist()


def test_nothing_is_answered_or_ruled_out_without_a_certificate(curve):
    assert not answered(curve, [0.5, 1.0], max_error=1e-6).any()
    y = ["yes", "no"] * 6
    model, X = Says(["no", "yes"]), two([0.9, 0.1] * 6)
    promises = [Sensitivity(0.9, "yes"), PredictionSets(0.9), Abstention(0.1)]
    certificate = certify(model, X, y, promises=promises, random_state=0)
    assert flagged(certificate, X).all(), "nothing is ruled out"
    assert prediction_sets(certificate, X, model.predict(X)).all()
    assert not answered(certificate, margins(X)).any()


def test_thresholds_are_compared_exactly(vote):
    (t,) = of(vote.certificate_, "sensitivity").thresholds
    masses = two([np.nextafter(t, 0), t, np.nextafter(t, 1)])
    assert flagged(vote.certificate_, masses).tolist() == [False, True, True]


def test_the_answer_of_a_given_model_is_in_the_set_whatever_its_mass():
    class Reluctant(Says):
        def predict(self, X):
            return np.where(np.asarray(X)[:, 1] > 0.9, "yes", "no")

    X, y = two(np.linspace(0, 1, 201)), np.where(np.linspace(0, 1, 201) > 0.5, "yes", "no")
    certificate = certify(Reluctant(["no", "yes"]), X, y, promises=[PredictionSets(0.6)])
    with pytest.raises(ValueError, match="answers must be given"):
        prediction_sets(certificate, X)
    said = Reluctant(["no", "yes"]).predict(X)
    sets = prediction_sets(certificate, X, said)
    assert sets[:, 0][said == "no"].all()
    out = ~sets[np.arange(201), (y == "yes").astype(int)]
    assert out.sum() == of(certificate, "sets").statements[0].errors > 0


def test_what_was_not_promised_is_not_decided(vote, curve):
    plain = CertifiedVoteClassifier("holdout", forest(3), random_state=0).fit(*cancer())
    X = cancer()[0][:2]
    for decide, name in ((plain.answers, "Abstention"), (plain.flags, "Sensitivity"), (plain.predict_sets, "Predicti")):
        with pytest.raises(ValueError, match=f"no promise {name}"):
            decide(X)
    with pytest.raises(ValueError, match="a curve is certified"):
        answered(curve, [0.5])
    with pytest.raises(ValueError, match=r"20.00 % wrong among the answers is not what was certified: .*max_error=0.1"):
        vote.answers(X, max_error=0.2)
    assert vote.answers(X, max_error=0.1).tolist() == vote.answers(X).tolist()
    with pytest.raises(NotFittedError):
        CertifiedVoteClassifier(promises=PROMISES).flags(X)


@pytest.mark.parametrize("scores", [[[0.5]], [float("nan")]])
def test_scores_are_checked(curve, scores):
    with pytest.raises(ValueError, match="scores must hold one number for each case"):
        answered(curve, scores, 0.1)


@pytest.mark.parametrize("masses", [[0.5, 0.5], [[0.2, 0.3, 0.5]], [[float("nan"), 0.5]]])
def test_masses_are_checked(vote, masses):
    with pytest.raises(ValueError, match="masses must hold one row of 2 numbers"):
        flagged(vote.certificate_, masses)


@pytest.mark.parametrize(
    "change", [{"thresholds": (0.1, 0.2)}, {"thresholds": (2.0,)}, {"thresholds": ()}, {"fixed": ()}]
)
def test_damaged_records_decide_nothing(vote, change):
    records = [
        dataclasses.replace(record, **change) if record.name == "sensitivity" else record
        for record in vote.certificate_.promises
    ]
    with pytest.raises(ValueError, match="it is damaged"):
        flagged(dataclasses.replace(vote.certificate_, promises=tuple(records)), two([0.5]))


def test_promises_are_parameters_like_others(vote):
    again = clone(vote)
    assert again.promises == PROMISES
    assert again.get_params()["together"] is False
    assert again.set_params(together=True, promises=PROMISES[:1]).fit(*cancer()).certificate_.together
    X, y = cancer()
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), CertifiedVoteClassifier("holdout", forest(3), random_state=0)),
        {"certifiedvoteclassifier__promises": [[Sensitivity(0.6)], [Sensitivity(0.7)]]},
        cv=2,
    ).fit(X, y)
    best = grid.best_estimator_
    assert best[-1].flags(best[:-1].transform(X)).shape == (len(y),)


@pytest.mark.filterwarnings("ignore:No training row has class:UserWarning")
@parametrize_with_checks([CertifiedVoteClassifier("holdout", forest(3), promises=[PredictionSets(0.8)], together=True)])
def test_scikit_learn_checks_with_promises(estimator, check):
    check(estimator)


# Scores and masses of single precision


def close_scores(n, seed):
    """Two scores, neighbours in single precision: answers with the larger are right, with the other mostly not."""
    rng = np.random.default_rng(seed)
    low = np.float32(0.7)
    sure = rng.random(n) < 0.75
    truth = rng.integers(0, 2, n)
    said = np.where(~sure & (rng.random(n) < 0.75), 1 - truth, truth)
    return truth, said, np.where(sure, np.nextafter(low, np.float32(1)), low)


def test_scores_of_single_precision_are_compared_as_they_were_certified():
    truth, said, scores = close_scores(4000, 0)
    assert scores.dtype == np.float32
    certificate = certify_predictions(truth, said, scores=scores, promises=[Abstention(max_error=0.05)])
    threshold = certificate.promises[1].thresholds[0]
    truth, said, scores = close_scores(4000, 1)
    for answers in (
        answered(certificate, scores),
        answered(certificate, scores.astype(float)),
        scores >= threshold,  # NumPy rounds the threshold to the precision of the scores
        scores.astype(float) >= threshold,
    ):
        assert 0.7 < answers.mean() < 0.8
        assert (said != truth)[answers].mean() <= 0.05


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_margins_are_those_of_double_precision(kind):
    masses = np.random.default_rng(0).dirichlet(np.ones(3), 2000).astype(kind)
    assert margins(masses).dtype == np.float64
    assert np.array_equal(margins(masses), margins(masses.astype(float)))


class Single:
    """A model whose probabilities have single precision, as those of many libraries have."""

    classes_ = np.array([0, 1, 2])

    def predict(self, X):
        return X[:, 0].astype(int)

    def predict_proba(self, X):
        tenth = np.float32(0.1)
        masses = np.full((len(X), 3), np.float32(0.0))
        rows, other = np.arange(len(X)), np.where(X[:, 0] == 0, 1, 0)
        masses[rows, X[:, 0].astype(int)] = np.float32(0.9)
        masses[rows, other] = np.where(X[:, 1] > 0, tenth, np.nextafter(tenth, np.float32(1)))
        return masses


def test_a_model_of_single_precision_answers_where_it_was_certified():
    """Its margins differ by less than single precision tells apart."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, 2, 4000), rng.random(4000) < 0.75], axis=1).astype(float)
    y = np.where((X[:, 1] == 0) & (rng.random(4000) < 0.75), 1 - X[:, 0], X[:, 0]).astype(int)
    certificate = certify(Single(), X, y, promises=[Abstention(max_error=0.05)])
    answers = answered(certificate, margins(Single().predict_proba(X)))
    assert 0.7 < answers.mean() < 0.8
    assert (X[:, 0] != y)[answers].mean() <= 0.05


@pytest.mark.parametrize("promise", [Sensitivity(0.9, "1"), PredictionSets(0.9)], ids=repr)
def test_masses_of_single_precision_decide_the_same_by_hand(promise):
    rng = np.random.default_rng(3)
    X, truth = rng.random((1500, 1)), rng.integers(0, 2, 1500)

    class Model:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

        def predict_proba(self, X):
            mass = np.round(X[:, 0], 2).astype(np.float32)
            return np.stack([1 - mass, mass], axis=1)

    certificate = certify(Model(), X, truth, promises=[promise])
    masses, record = Model().predict_proba(X), certificate.promises[1]
    by_hand = masses >= record.thresholds[0]
    assert record.thresholds[0] > 0.0
    if record.name == "sensitivity":
        assert np.array_equal(flagged(certificate, masses), by_hand[:, 1])
    else:
        by_hand[:, 0] = True
        assert np.array_equal(prediction_sets(certificate, masses, Model().predict(X)), by_hand)

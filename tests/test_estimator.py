import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from fits import row_order
from joblib import cpu_count, effective_n_jobs
from options import as_objects
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from thorough import grid

from certivote import CertifiedVoteClassifier
from certivote.certificate import confidence_nats, part_digest, row_keys
from certivote.maths.streams import stream
from certivote.methods import make_method, method_class
from certivote.pipeline._division import split_rows
from certivote.splits import Single
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.risks import count_errors
from certivote.voters import Classifiers, Forest, Mixed, Stumps

SMALL = Forest(RandomForestClassifier(n_estimators=15))


def cancer():
    return load_breast_cancer(return_X_y=True)


def cancer_ranges():
    X, _ = cancer()
    return [(0.0, 10.0 ** np.ceil(np.log10(high))) for high in X.max(axis=0)]


def fitted(**parameters):
    """Without a pilot, which takes longer than all the rest."""
    options = {"voters": SMALL, "train_share": 0.5, "random_state": 0, **parameters}
    return CertifiedVoteClassifier(**as_objects(**options)).fit(*cancer())


@grid(split=["single", "cross"], method=["dis-r", "dis-v"], solver=["lbfgs", "adam"])
def test_every_setting_gives_a_useful_certificate(split, method, solver):
    clf = fitted(split=split, method=method, solver=solver, prior=0.5)
    assert (clf.certificate_.method, clf.certificate_.split) == (method, split)
    assert 0 < clf.certificate_.bound < 0.35
    assert clf.score(*cancer()) > 0.9


@pytest.mark.parametrize("method", ["dis-r", "dis-v"])
def test_stumps_with_declared_ranges_certify_on_every_row(method):
    voters = Stumps(n_thresholds=5, ranges=cancer_ranges())
    clf = fitted(voters=voters, split="none", method=method, prior=0.5)
    assert clf.certificate_.parts[0].n == 569
    assert clf.certificate_.parts[0].training_rows == 0
    assert clf.certificate_.bound < 0.35


def test_certified_errors_are_those_of_predict():
    X, y = load_digits(return_X_y=True)
    clf = CertifiedVoteClassifier(voters=SMALL, split="cross", random_state=4).fit(X, y)
    part = clf.certificate_.parts[clf.certificate_.deployed]
    rows = split_rows(row_order(clf.certificate_), "cross", 0.5)[clf.certificate_.deployed]
    assert part.n == len(rows.certify)
    assert part.errors == np.sum(clf.predict(X[rows.certify]) != y[rows.certify])
    assert part.errors == count_errors(clf.predict_proba(X[rows.certify]), y[rows.certify], "plurality")
    assert np.array_equal(clf.part_.certify, np.sort(rows.certify))
    assert np.array_equal(clf.part_.train, np.sort(rows.train))


def test_deployed_vote_is_the_one_with_the_smaller_bound():
    certificate = fitted(split="cross").certificate_
    assert certificate.bound == min(part.bound for part in certificate.parts)
    assert certificate.parts[certificate.deployed].bound == certificate.bound
    assert [part.delta for part in certificate.parts] == [0.95 * 0.025] * 2


def test_sizes_and_tau_of_the_cross_split_are_free():
    certificate = fitted(split="cross", train_share=0.7, tau=0.2).certificate_
    assert [part.n for part in certificate.parts] == [569 - 398, 398]
    assert certificate.average_weights == (0.2, 0.8)


def test_same_seed_gives_the_same_vote_bit_for_bit():
    X, _ = cancer()
    first, second, other = (fitted(method="dis-b", random_state=seed) for seed in (0, 0, 1))
    assert first.certificate_ == second.certificate_
    assert np.array_equal(first.weights_, second.weights_)
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    assert not np.array_equal(first.weights_, other.weights_)


def test_a_random_state_instance_is_a_seed_too():
    one, two = (fitted(random_state=np.random.RandomState(7)) for _ in range(2))
    assert one.certificate_ == two.certificate_


def test_the_draw_does_not_reuse_the_training_stream():
    # Another solver consumes other random numbers; the split, the voters and the variates of the draw stay.
    lbfgs, adam = (fitted(method="dis-b", solver=solver).certificate_.parts[0] for solver in ("lbfgs", "adam"))
    assert lbfgs.alpha != adam.alpha
    assert lbfgs.holdout == adam.holdout


def test_vote_masses_sum_to_one_and_decide():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = CertifiedVoteClassifier(voters=SMALL, split=Single(0.5), random_state=0).fit(X, labels)
    masses = clf.predict_proba(X)
    assert np.all(masses.sum(axis=1) == 1.0)
    assert np.array_equal(clf.predict(X), clf.classes_[masses.argmax(axis=1)])
    assert set(clf.predict(X)) <= set(labels)


def test_frames_keep_their_names():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = CertifiedVoteClassifier(voters=SMALL, split=Single(0.5), random_state=0).fit(X, y)
    assert clf.feature_names_in_.tolist() == X.columns.tolist()
    assert np.array_equal(clf.predict(X), fitted().predict(X.to_numpy()))
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(X.rename(columns={"mean radius": "radius"}))


def mixed_frame(n=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(["red", "green", None], n), "size": rng.normal(size=n)})
    frame.loc[::7, "size"] = np.nan
    y = np.where((frame["colour"] == "red") ^ (frame["size"].fillna(0) > 0.5), "yes", "no")
    return frame, y


def test_own_pipelines_get_the_frame_as_it_is():
    frame, y = mixed_frame()
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder()), ["colour"]),
        (SimpleImputer(), ["size"]),
    )
    voters = [make_pipeline(prepare, DecisionTreeClassifier(max_depth=depth)) for depth in (2, 3, 4)]
    clf = CertifiedVoteClassifier(voters=voters, split=Single(0.5), random_state=0).fit(frame, y)
    assert clf.score(frame, y) > 0.9
    assert clf.certificate_.parts[0].n == 150


def test_missing_values_reach_voters_that_take_them():
    X, y = cancer()
    X[::5, 3] = np.nan
    for voters in (SMALL, [HistGradientBoostingClassifier(max_iter=5), DecisionTreeClassifier()]):
        assert CertifiedVoteClassifier("dis-b", voters, prior=0.5, random_state=0).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("voters", [Stumps(), [LogisticRegression(), DecisionTreeClassifier()]])
def test_missing_values_are_refused_by_voters_that_do_not(voters):
    X, y = cancer()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        CertifiedVoteClassifier(voters=voters).fit(X, y)


def test_sparse_rows_vote_like_dense_ones():
    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    dense = CertifiedVoteClassifier(voters=SMALL, split=Single(0.5), random_state=0).fit(X, y)
    thin = CertifiedVoteClassifier(voters=SMALL, split=Single(0.5), random_state=0).fit(sparse.csr_array(X), y)
    assert thin.certificate_.bound == pytest.approx(dense.certificate_.bound, abs=0.04)
    assert thin.score(sparse.csr_array(X), y) > 0.9


def test_pipelines_grid_search_and_cross_validation():
    X, y = cancer()
    pipeline = make_pipeline(StandardScaler(), CertifiedVoteClassifier(voters=SMALL, split=Single(0.5), random_state=0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(
        CertifiedVoteClassifier("dis-b", SMALL, random_state=0),
        {"prior": [0.5, 5.0], "voters__estimator__max_depth": [1, None]},
        cv=2,
    )
    assert search.fit(X, y).best_score_ > 0.9


def test_clone_and_pickle():
    X, _ = cancer()
    clf = fitted()
    assert clone(clf).get_params()["random_state"] == 0
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))


def fitted_trees(part=slice(0, 200)):
    X, y = cancer()
    return [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X[part], y[part]) for d in (1, 2, 3)]


@pytest.mark.parametrize("wrap", [lambda c: c, Classifiers, lambda c: [FrozenEstimator(one) for one in c]])
def test_fitted_classifiers_are_certified_on_every_row(wrap):
    X, y = cancer()
    clf = CertifiedVoteClassifier(voters=wrap(fitted_trees()), split="none", random_state=0).fit(X[200:], y[200:])
    assert clf.certificate_.parts[0].n == 369
    assert any("were fixed without looking at the certification rows" in text for text in clf.certificate_.assumptions)


def test_a_class_that_only_the_voters_know_can_be_voted_for():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    keep = y < 2
    clf = CertifiedVoteClassifier(voters=[tree], split="none", random_state=0).fit(X[keep], y[keep])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert np.array_equal(clf.predict(X), tree.predict(X))


def test_a_fit_that_fails_leaves_the_classifier_as_it_was():
    X, y = cancer()
    clf = CertifiedVoteClassifier("dis-r", SMALL, random_state=0)
    before = dict(vars(clf))
    with pytest.raises(ValueError, match="one class only"):
        clf.fit(X, np.zeros(len(y)))
    assert vars(clf) == before
    clf.fit(pd.DataFrame(X[:, :3], columns=["a", "b", "c"]), y)
    with pytest.raises(ValueError, match="one class only"):
        clf.fit(X, np.zeros(len(y)))
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]
    assert clf.fit(X, y).n_features_in_ == X.shape[1]
    assert not hasattr(clf, "feature_names_in_")


def test_splitting_rows_off_for_nothing_warns():
    X, y = cancer()
    with pytest.warns(UserWarning, match="split='none' certifies on all of them") as caught:
        CertifiedVoteClassifier(voters=fitted_trees(), random_state=0).fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("method", ["auto", "dis-r"])
def test_a_class_the_voters_never_saw_counts_as_an_error_and_warns(method):
    X, y = cancer()
    y = y.astype(object)
    y[:3] = "rare"
    y = y.astype(str)
    with warnings.catch_warnings(action="ignore"):
        digest = CertifiedVoteClassifier(voters=SMALL).fit(X, y).certificate_.provenance.data_digest
    seed = next(s for s in range(100) if not set(range(3)) & set(training_rows(len(y), s, digest)))
    with pytest.warns(UserWarning, match="No training row has class 'rare'"):
        clf = CertifiedVoteClassifier(method, SMALL, Single(0.5), random_state=seed).fit(X, y)
    assert not np.any(clf.predict(X) == "rare")
    assert clf.certificate_.parts[0].errors >= 3


def training_rows(n, seed, digest):
    return split_rows(stream("split", seed=(seed,), digest=digest).permutation(n), "single", 0.5)[0].train


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"delta": 0.0}, "'delta' parameter .* must be a float in the range \\[1e-100, 1.0\\)"),
        ({"delta": 1.0}, "'delta' parameter"),
        ({"delta": -0.1}, "'delta' parameter"),
        ({"delta": "5%"}, "'delta' parameter"),
        ({"prior": 0.0}, "'prior' parameter .* must be .* a float in the range \\(0.0, inf\\)"),
        ({"prior": -1.0}, "'prior' parameter"),
        ({"prior": [1.0, 2.0]}, "one number per voter, 15 in all; got shape \\(2,\\)"),
        ({"prior": [0.0] * 15}, "prior must be positive"),
        ({"prior": [np.nan] * 15}, "prior must be positive"),
        ({"prior": 1e9}, "prior must be positive, from 1e-6 to 1e6"),
        ({"method": "dis-v", "renyi_order": 1.0}, "'order' parameter .* must be a float in the range \\(1.0, inf\\)"),
        (
            {"method": "dis-v", "renyi_order": [2.0, 1.0]},
            "'order' parameter .* must be a float in the range \\(1.0, 1,000,000\\]",
        ),
        ({"method": "dis-v", "renyi_order": [np.nan]}, "'order' parameter"),
        ({"method": "dis-v", "renyi_order": []}, "'order' parameter"),
        ({"n_draws": 0}, "'n_draws' parameter"),
        ({"split": 1}, "'split' parameter"),
        ({"method": "dis"}, "'method' parameter"),
        ({"voters": "trees"}, "'voters' parameter"),
        ({"split": "half"}, "'split' parameter"),
        ({"loss": "hinge"}, "'loss' parameter"),
        ({"solver": "sgd"}, "'solver' parameter"),
        ({"train_share": 1.0}, "'train_share' parameter"),
        ({"split": "cross", "tau": 1.5}, "'tau' parameter"),
        ({"constant": "best"}, "'constant' parameter"),
        ({"family": "gaussian"}, "'family' parameter"),
        (
            {"family": "categorical"},
            "family='categorical' does not go with method='auto'; it takes dirichlet, logistic-normal",
        ),
        ({"price_list": "cheap"}, "'price_list' parameter"),
        ({"price_list": [1.0, 2.0]}, "price_list must hold pairs \\(nats, weight\\)"),
        ({"price_list": [(1.0, 0.2, 0.3)]}, "price_list must hold pairs \\(nats, weight\\)"),
        ({"price_list": [("a", "b")]}, "price_list must hold numbers"),
        ({"split": "none"}, "split='none' needs voters fixed without the data, but Forest"),
        ({"split": "none", "voters": "stumps"}, "Stumps take ranges="),
        ({"split": "none", "voters": [DecisionTreeClassifier()]}, "fitted classifiers"),
        ({"voters": []}, "empty list"),
        ({"voters": Stumps(ranges=[(0, 1)] * 3), "split": "none"}, "ranges were given for 3 features, but X has 30"),
    ],
)
@pytest.mark.filterwarnings("ignore:Classifiers needs no training rows")
def test_bad_parameters_are_refused_with_a_reason(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_learned_or_refused(method, family):
    if "family" not in method_class(method)._get_param_names():
        assert METHODS[method].families() in ([], [METHODS[method].family.name])
        return
    if METHODS[method].accepts(FAMILIES[family]):
        part = fitted(method=method, family=family, prior=0.5).certificate_.parts[0]
        assert (part.family, part.n_voters) == (family, 15)
        return
    with pytest.raises(ValueError, match=f"family='{family}' does not go with method='{method}'"):
        make_method(method, family=family)


@pytest.mark.parametrize(("method", "family"), [("smv-exact", "dirichlet"), ("smv-mc", "logistic-normal")])
def test_the_random_vote_keeps_the_parameters_that_it_draws_from_and_their_mean_weights(method, family):
    clf = fitted(method=method, family=family, prior=0.5)
    assert clf.hyper_posterior_.tolist() == list(clf.certificate_.parts[0].alpha)
    assert clf.weights_.shape == (15,)
    assert clf.weights_.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(clf.weights_, FAMILIES[family].mean_weights(clf.hyper_posterior_))


def test_the_voter_set_is_kept_as_it_was_given_or_chosen():
    assert fitted().voter_set_ is SMALL
    trees = fitted_trees()
    kept = CertifiedVoteClassifier(voters=trees, split="none", random_state=0).fit(*cancer()).voter_set_
    assert isinstance(kept, Classifiers)
    assert all(one is other for one, other in zip(kept.classifiers, trees, strict=True))
    assert isinstance(fitted(method="dis-r", voters="auto").voter_set_, Forest)
    X, y = cancer()
    assert isinstance(CertifiedVoteClassifier(random_state=0).fit(X[:120], y[:120]).voter_set_, Mixed)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_are_checked_as_they_were_fitted():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = CertifiedVoteClassifier("dis-r", SMALL, random_state=0).fit(X, y)
    rows, labels = clf.check_rows(X, y)
    part = clf.certificate_.parts[0]
    assert part_digest(row_keys(rows), labels, clf.part_.certify) == part.certification_digest
    assert part_digest(row_keys(rows), labels, clf.part_.train) == part.training_digest
    with pytest.raises(ValueError, match="feature names"):
        clf.check_rows(X.rename(columns={"mean radius": "radius"}), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clf.check_rows(X, y[:-1])
    with pytest.raises(ValueError, match="30 features"):
        clf.check_rows(X.to_numpy()[:, :7], y)
    with pytest.raises(NotFittedError):
        CertifiedVoteClassifier().check_rows(X, y)


def test_an_array_prior_is_used():
    prior = np.linspace(0.5, 3.0, 15)
    assert fitted(method="dis-b", prior=prior).certificate_.parts[0].beta == tuple(prior)


def test_one_class_is_refused():
    X, _ = cancer()
    with pytest.raises(ValueError, match="one class only"):
        CertifiedVoteClassifier(voters=SMALL).fit(X, np.zeros(len(X)))


def test_too_few_rows_are_refused():
    X, y = cancer()
    rows = np.flatnonzero(y == 0)[:1].tolist() + np.flatnonzero(y == 1)[:1].tolist()
    with pytest.raises(ValueError, match=r"n_samples = 2 with train_share=0.1 leaves 0 to train"):
        CertifiedVoteClassifier(voters=SMALL, split=Single(0.1)).fit(X[rows], y[rows])


def test_more_than_two_classes_are_refused_by_stumps():
    with pytest.raises(ValueError, match="Only binary classification is supported by Stumps"):
        CertifiedVoteClassifier(voters="stumps").fit(*load_iris(return_X_y=True))


def test_sample_weights_are_refused():
    X, y = cancer()
    with pytest.raises(ValueError, match="a certificate counts every certification row once"):
        CertifiedVoteClassifier().fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="fit\\(\\) takes X, y, groups and order only; got families"):
        CertifiedVoteClassifier().fit(X, y, families=y)


def test_a_failed_fit_leaves_no_certificate():
    X, y = cancer()
    clf = CertifiedVoteClassifier(voters=SMALL, prior=[1.0])
    with pytest.raises(ValueError, match="prior"):
        clf.fit(X, y)
    assert not hasattr(clf, "certificate_")


@pytest.mark.parametrize("method", ["dis-r", "dis-v", "smv-exact", "fo"])
def test_the_exact_constant_is_never_looser(method):
    paper, exact = (fitted(method=method, constant=constant, prior=0.5).certificate_ for constant in ("paper", "exact"))
    # Half a nat of the constant, and half a nat where delta is divided.
    gain = {"dis-v": 0.9}.get(method, 0.4)
    paid = [confidence_nats(each, each.parts[0], each.parts[0].statement) for each in (exact, paper)]
    assert paid[0] < paid[1] - gain


def test_any_number_of_jobs_gives_the_same_certificate_and_is_not_recorded(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    asked = []
    train = Mixed.fit

    def seen(self, *rows, **options):
        asked.append(effective_n_jobs(None))
        return train(self, *rows, **options)

    monkeypatch.setattr(Mixed, "fit", seen)
    fits = [CertifiedVoteClassifier(random_state=0, n_jobs=n_jobs).fit(X[:150], y[:150]) for n_jobs in (None, 2)]
    assert set(asked) == {1, min(2, cpu_count())}
    assert fits[0].certificate_ == fits[1].certificate_
    assert "n_jobs" not in dict(fits[1].certificate_.provenance.parameters)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2"])
def test_a_number_of_jobs_is_a_whole_number(n_jobs):
    with pytest.raises(ValueError, match="'n_jobs' parameter"):
        CertifiedVoteClassifier(n_jobs=n_jobs).fit(*load_breast_cancer(return_X_y=True))

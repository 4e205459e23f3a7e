"""A vote that is learned from a matrix of votes: the same as by the estimator, with its objective and all bounds."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import load_breast_cancer

from certivote import CertifiedVoteClassifier, learn, plot_learning, verify
from certivote.maths.binomial import binomial_upper
from certivote.theory.methods import METHODS
from certivote.voters import Stumps

rng = np.random.default_rng(0)
Y = rng.integers(2, size=600)
VOTES = np.where(rng.random((600, 7)) < np.linspace(0.1, 0.45, 7), 1 - Y[:, None], Y[:, None])
SHARES = rng.dirichlet([1.0, 1.0, 1.0], size=(300, 5))
LABELS = np.array(["a", "b", "c"])[SHARES.mean(axis=1).argmax(axis=1)]


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_every_method_learns_and_its_record_is_proved(method):
    vote = learn(VOTES, Y, method, random_state=0)
    assert vote.certificate.method == method or method == "auto"
    method = vote.certificate.method
    assert all(check.passed for check in verify(vote.certificate))
    assert vote.posterior.tolist() == list(vote.certificate.deployed_part.alpha)
    table = vote.bounds()
    assert table.loc[method, "bound"] == pytest.approx(vote.bound, rel=0.03)  # the solver's fixed draws aside
    assert table.loc[method, "bound"] <= 2.0
    if not vote.certificate.is_random:
        assert np.count_nonzero(vote.predict(VOTES) != Y) == vote.certificate.deployed_part.errors


def test_it_is_what_the_estimator_learns_from_the_same_votes():
    """Stumps on declared ranges vote without training: the same posterior, from their votes as a matrix."""
    X, y = load_breast_cancer(return_X_y=True)
    X, ranges = X[:, :3], [(0.0, 40.0)] * 3
    voters = Stumps(2, ranges=ranges)
    clf = CertifiedVoteClassifier("dis-r", voters, "none", prior=1.0, random_state=0).fit(X, y)
    votes = clf.voters_.votes(X)
    codes = np.stack(
        [votes.masses(np.eye(votes.n_voters)[voter]).argmax(axis=1) for voter in range(votes.n_voters)], axis=1
    )
    vote = learn(codes, y, "dis-r", prior=1.0, random_state=0)
    np.testing.assert_allclose(vote.posterior, clf.hyper_posterior_, rtol=1e-5)


@pytest.mark.parametrize("method", ["dis-r", "dis-b", "dis-v", "smv-exact", "fo"])
def test_the_gradient_of_the_objective_is_that_of_finite_differences(method):
    vote = learn(VOTES, Y, method, prior=1.0, random_state=0)
    x = np.linspace(-0.5, 0.5, 7)
    found = approx_fprime(x, lambda at: vote.objective(at)[0], 1e-6)
    np.testing.assert_allclose(vote.objective(x)[1], found, rtol=1e-3, atol=1e-6)
    value, gradient = vote.objective.at(vote.posterior)
    assert value == pytest.approx(vote.trace.min(), rel=1e-6)
    assert gradient.shape == vote.posterior.shape


def test_hold_out_is_that_of_the_prior():
    vote = learn(VOTES, Y, "dis-r", prior=1.0, random_state=0)
    errors = np.count_nonzero((VOTES.mean(axis=1) > 0.5) != Y)
    assert vote.bounds().loc["holdout", "bound"] == pytest.approx(binomial_upper(errors, 600, np.log(0.05)))


def test_fewer_bounds_are_about_distributions_over_voters():
    assert set(learn(VOTES, Y, "fo", random_state=0).bounds().index) == {"fo", "so", "bin", "c-bound", "holdout"}


def test_shares_of_classes_groups_and_text():
    vote = learn(SHARES, LABELS, "dis-b", groups=np.arange(300) // 3, classes=["a", "b", "c"], random_state=0)
    assert vote.certificate.deployed_part.entities == 100
    assert all(check.passed for check in verify(vote.certificate))
    answers = vote.predict(SHARES)
    assert np.count_nonzero(answers != LABELS) == vote.certificate.deployed_part.errors
    order = ["c", "a", "b"]
    other = learn(SHARES[:, :, [2, 0, 1]], LABELS, "dis-b", classes=order, random_state=0)
    assert (other.predict(SHARES[:, :, [2, 0, 1]]) == LABELS).mean() > 0.9
    assert "c-bound" not in other.bounds().index


def test_several_draws_pay_for_themselves_in_every_bound():
    from certivote.methods import DisR

    one = learn(VOTES, Y, "dis-r", prior=1.0, random_state=0).bounds()
    best = learn(VOTES, Y, DisR(n_draws=20), prior=1.0, random_state=0).bounds()
    assert best.loc["holdout", "bound"] > one.loc["holdout", "bound"]


def test_a_seed_repeats_and_none_is_recorded():
    first, again = (learn(VOTES, Y, random_state=3) for _ in range(2))
    assert first.weights.tolist() == again.weights.tolist()
    fresh = learn(VOTES, Y, "holdout")
    assert fresh.certificate.provenance.entropy


def test_the_descent_is_drawn():
    ax = plot_learning(learn(VOTES, Y, random_state=0))
    assert len(ax.lines[0].get_xdata()) > 3


@pytest.mark.parametrize(
    ("votes", "labels", "options", "match"),
    [
        (VOTES, Y[:5], {}, "Found input variables with inconsistent|one row for each of the 5 labels"),
        (VOTES.astype(str), Y, {}, "one of the two holds numbers, the other text"),
        (SHARES * 2, LABELS, {}, "sum to 1"),
        (SHARES - 1, LABELS, {}, "not negative"),
        (SHARES, LABELS, {"classes": ["a", "b"]}, "classes lacks 'c'"),
        (SHARES, LABELS, {"classes": ["a", "b", "c", "c"]}, "different labels"),
        (SHARES[:, :, :2], LABELS, {}, "3 classes"),
        (VOTES[:, 0], Y, {}, "must have the shape"),
        (VOTES, Y, {"prior": "informed"}, "split='none' has none"),
        (VOTES, np.zeros(600, dtype=int) + VOTES[0, 0], {"classes": [VOTES[0, 0]]}, "at least two"),
        (VOTES, Y, {"classes": [0, 1], "method": "nothing"}, "'method' parameter"),
        (VOTES + 5, Y, {"classes": [0, 1]}, "none of the classes"),
        (SHARES, LABELS, {"method": "c-bound"}, "for two classes"),
    ],
)
def test_what_cannot_be_votes_is_refused(votes, labels, options, match):
    with pytest.raises(ValueError, match=match):
        learn(votes, labels, **options)


def test_other_voters_are_refused_when_asked():
    with pytest.raises(ValueError, match="must have 7 voters; got 3"):
        learn(VOTES, Y, random_state=0).predict(VOTES[:, :3])
    with pytest.raises(ValueError, match="drawn for every case anew"):
        learn(VOTES, Y, "smv-mc", random_state=0).predict(VOTES)

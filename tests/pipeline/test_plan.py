"""What a plan resolves before any row is looked at, and how it divides delta."""

import numpy as np
import pytest
from options import as_objects
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from certivote.maths.occam import PriceList
from certivote.methods import Auto, DisV
from certivote.pipeline import RowsInMemory, certify_votes, make_plan, prepare, run, usual_voters
from certivote.pipeline._priors import staying_price
from certivote.splits import Cross, Folds, Single
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.voters import Classifiers, Forest, Mixed, Stumps


def test_auto_stands_for_a_fixed_vote_beside_dis_b_with_all_that_training_rows_can_tell():
    plan = make_plan()
    assert plan.method is METHODS["dis-b"]
    assert plan.family is FAMILIES["dirichlet"]
    assert isinstance(plan.voters, Mixed)
    assert (plan.prior, plan.train_share) == ("informed", None)
    assert plan.price_list == PriceList.mixture()
    learned, fixed = plan.ways()
    assert (learned.method.name, learned.share, learned.part_delta) == ("dis-b", 0.05, pytest.approx(0.0025))
    assert (fixed.method.name, fixed.share, fixed.part_delta) == ("holdout", 0.95, pytest.approx(0.0475))
    assert (plan.delta, plan.part_delta, plan.average_weights) == (0.05, 0.05, (1.0,))


@pytest.mark.parametrize("method", METHODS)
def test_a_named_method_leaves_less_to_be_chosen(method):
    plan = make_plan(method)
    assert plan.method is METHODS[method]
    assert plan.family is METHODS[method].family
    assert isinstance(plan.voters, Forest)
    assert (plan.prior, plan.train_share) == ("auto", 0.5)
    assert plan.price_list == staying_price("auto")
    assert plan.ways() == (plan,)


def test_without_training_rows_auto_has_nothing_to_be_informed_by():
    assert make_plan(split="none").prior == "auto"
    assert [way.share for way in make_plan(split="none").ways()] == [0.5, 0.5]
    assert make_plan("dis-r", prior="informed").prior == "informed"


def test_what_is_given_is_taken():
    plan = make_plan(Auto(price_list=[(5.0, 0.25)]), Stumps(2), Single(0.7), prior=0.3)
    assert (plan.prior, plan.train_share) == (0.3, 0.7)
    assert plan.voters.n_thresholds == 2
    assert plan.price_list == PriceList.mixture(((5.0, 0.25),))
    trees = [DecisionTreeClassifier()]
    assert isinstance(make_plan(voters=trees).voters, Classifiers)
    assert (usual_voters("auto"), usual_voters("dis-b")) == ("mixed", "forest")


@pytest.mark.parametrize(
    ("split", "weights"),
    [
        ("none", (1.0,)),
        ("single", (1.0,)),
        ("cross", (0.5, 0.5)),
        (Cross(tau=0.3), (0.3, 0.7)),
        (4, (0.25,) * 4),
        (Folds(3), (1 / 3,) * 3),
        (np.int64(2), (0.5, 0.5)),
    ],
)
def test_delta_is_divided_among_the_parts(split, weights):
    plan = make_plan("dis-r", split=split, delta=0.1)
    assert plan.average_weights == pytest.approx(weights)
    assert plan.part_delta == 0.1 / len(weights)


@pytest.mark.parametrize(
    ("method", "draws", "orders"),
    [
        ("dis-b", 4, ()),
        ("dis-r", 4, ()),
        ("dis-v", 4, (1.2, 3.0)),
        ("smv-exact", 1, ()),
        ("so", 1, ()),
        ("holdout", 1, ()),
    ],
)
def test_draws_and_orders_are_paid_where_there_are_any(method, draws, orders):
    options = {"n_draws": 4, "renyi_order": [1.2, 3.0], "constant": "paper"}
    plan = make_plan(**as_objects(method, "cross", **options, delta=0.16))
    assert (plan.paid_draws, plan.paid_orders) == (draws, orders)
    settings = plan.settings()
    assert [setting.renyi_order for setting in settings] == list(orders or (1.5,))
    for setting in settings:
        assert setting.delta == pytest.approx(0.08 / (draws * len(settings)))
        assert (setting.constant, setting.prior_nats) == ("paper", 0.0)
        assert setting.price_list == plan.price_list


def test_another_method_in_the_same_plan():
    plan = make_plan("dis-r", Stumps(), random_state=3, loss="half-weight")
    other = plan.with_method(DisV(family="logistic-normal", n_draws=3), 0.01)
    assert (other.method, other.family, other.delta) == (METHODS["dis-v"], FAMILIES["logistic-normal"], 0.01)
    assert (other.voters, other.loss, other.random_state) == (plan.voters, "half-weight", 3)
    assert (other.n_draws, plan.n_draws, other.given["delta"]) == (3, 1, 0.01)
    assert make_plan("dis-r").with_method("so", 0.05).family is FAMILIES["categorical"]


def test_a_run_is_preparing_and_certifying():
    plan = make_plan("dis-r", "forest", "cross", random_state=0)
    X, y = load_iris(return_X_y=True)
    outcome, again = run(plan, X, y), certify_votes(plan, prepare(plan, RowsInMemory(plan.voters, X, y)))
    assert outcome.certificate == again.certificate
    assert outcome.prediction_seed == again.prediction_seed
    assert outcome.deployed is outcome.parts[outcome.certificate.deployed]
    assert [len(part.rows.certify) for part in outcome.parts] == [part.n for part in outcome.certificate.parts]
    for part, record in zip(outcome.parts, outcome.certificate.parts, strict=True):
        assert part.vote.parameters.tolist() == list(record.alpha)
        assert part.vote.point.tolist() == list(record.log_weights)
        votes = part.voters.votes(X[part.rows.certify])
        assert np.count_nonzero(votes.masses(part.vote.weights).argmax(axis=1) != y[part.rows.certify]) == record.errors

"""Risks of many rows, block by block, beside the same risks in one piece; and sums over parts of the rows."""

import joblib
import numpy as np
import pytest
from many import LOOPS, blocks, floats, hard_rows, loops
from reference import assert_gradient, central_differences
from thorough import grid

from certivote.maths.beta_tail import half_tail
from certivote.theory.entities import Entities, mean_of
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.predictors import RANDOM, Vote
from certivote.theory.risks import answers_and_mistakes, drawn_risk, mistakes
from certivote.votes import BinnedVotes, DenseVotes, fixed_point, join_votes, plurality

KINDS = [
    *((name, method.family.name) for name, method in METHODS.items()),
    *((name, "logistic-normal") for name in ("dis-r", "smv-mc")),
]
KIND_NAMES = ["-".join(kind) for kind in KINDS]
N_VOTERS = 19


def table(n_classes, n_rows=103):
    codes, labels = hard_rows(n_rows, N_VOTERS, n_classes)
    return DenseVotes(codes, n_classes), labels


def stumps_and_trees():
    codes, labels = hard_rows(103, 7, 2)
    bins = np.random.default_rng(1).integers(0, 4, (103, 2)).astype(np.uint8)
    return join_votes([DenseVotes(codes, 2), BinnedVotes(bins, 3)]), labels


def parameters_for(family, n_voters=N_VOTERS, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(n_voters, 0.7)) + 0.01
    if family == "categorical":
        return weights / weights.sum()
    if family == "dirichlet":
        return 40.0 * weights
    return np.concatenate([np.log(weights), rng.uniform(1.0, 3.0, n_voters)])


def shares_for(labels, by_entity):
    return Entities(np.sort(np.arange(len(labels)) // 2 % 37)).shares if by_entity else None


def smooth(kind, votes, labels, loss, shares):
    method, family = kind
    return METHODS[method].risk.smooth(FAMILIES[family], votes, labels, loss, shares)


@grid(
    kind=KINDS,
    n_classes=[2, 4, 10],
    loss=["plurality", "half-weight"],
    by_entity=[False, True],
    loop=LOOPS,
    entries=[1, 900, 10**6],
)
def test_risks_of_many_rows_are_those_of_one_piece(kind, n_classes, loss, by_entity, loop, entries):
    votes, labels = table(n_classes)
    parameters, shares = parameters_for(kind[1]), shares_for(labels, by_entity)
    with floats():
        value, gradient = smooth(kind, votes, labels, loss, shares)(parameters)
    with blocks(entries), loops(loop):
        found, found_gradient = smooth(kind, votes, labels, loss, shares)(parameters)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    assert np.shape(found_gradient) == np.shape(gradient)
    np.testing.assert_allclose(found_gradient, gradient, rtol=0, atol=1e-10 * np.max(np.abs(gradient)))


@grid(strength=1, kind=KINDS, loss=["plurality", "half-weight"], loop=LOOPS)
def test_votes_of_trees_and_stumps_together(kind, loss, loop):
    votes, labels = stumps_and_trees()
    parameters = parameters_for(kind[1], votes.n_voters)
    with floats():
        value, gradient = smooth(kind, votes, labels, loss, None)(parameters)
    with blocks(300), loops(loop):
        found, found_gradient = smooth(kind, votes, labels, loss, None)(parameters)
    np.testing.assert_allclose(found, value, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found_gradient, gradient, rtol=0, atol=1e-5 * np.max(np.abs(gradient)))


@grid(kind=KINDS, n_classes=[2, 5], loss=["plurality", "half-weight"], loop=LOOPS)
def test_gradients_of_many_rows_are_derivatives(kind, n_classes, loss, loop):
    votes, labels = table(n_classes)
    parameters = parameters_for(kind[1])
    at = np.abs(parameters) + 0.1 if kind[1] == "logistic-normal" else parameters
    with blocks(700), loops(loop):
        risk = smooth(kind, votes, labels, loss, None)
        gradient = np.atleast_2d(risk(at)[1])
        for statistic, own in enumerate(gradient):
            expected = central_differences(lambda x, k=statistic: np.atleast_1d(risk(x)[0])[k], at)
            assert_gradient(own, expected, 2e-5)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("n_classes", [2, 6])
@pytest.mark.parametrize("by_entity", [False, True])
def test_sigmoid_risks_of_many_rows(n_classes, by_entity, loop):
    votes, labels = table(n_classes)
    weights, shares = parameters_for("categorical"), shares_for(labels, by_entity)
    for loss in ("plurality", "half-weight"):
        with floats():
            value, gradient = drawn_risk(votes, labels, loss, shares=shares)(weights)
        with blocks(700), loops(loop):
            found, found_gradient = drawn_risk(votes, labels, loss, shares=shares)(weights)
        assert found == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(found_gradient, gradient, rtol=0, atol=1e-11 * np.max(np.abs(gradient)))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("total", [0.02, 1.0, 30.0, 5000.0])
def test_one_table_serves_all_blocks(total, loop):
    """Whatever the range of the wrong masses in a block, the expected risk is that of the tail itself."""
    votes, labels = table(2)
    alpha = total * parameters_for("categorical")
    wrong = np.clip(votes.against(labels).forward(alpha), 0, alpha.sum())
    with blocks(50), loops(loop):
        value, _ = smooth(("dis-r", "dirichlet"), votes, labels, "half-weight", None)(alpha)
    assert value == pytest.approx(np.mean(half_tail(wrong, alpha.sum())), abs=1e-7)


@pytest.mark.parametrize("by_entity", [False, True])
@pytest.mark.parametrize(("kind", "n_classes"), [(KINDS[0], 2), (KINDS[1], 5), (KINDS[8], 2), (KINDS[-1], 3)])
def test_parts_of_the_rows_add_up(kind, n_classes, by_entity):
    """Each part has a storage of its own, is in blocks or not, and knows what each of its rows counts for."""
    votes, labels = table(n_classes)
    parameters, shares = parameters_for(kind[1]), shares_for(labels, by_entity)
    value, gradient = smooth(kind, votes, labels, "plurality", shares)(parameters)
    counted = np.full(len(labels), 1 / len(labels)) if shares is None else shares
    order = np.random.default_rng(0).permutation(len(labels))
    sums = []
    for entries, rows in zip((300, 10**6, 1), np.split(order, [50, 51]), strict=True):
        with blocks(entries, from_entries=entries):
            sums.append(smooth(kind, votes.take(rows), labels[rows], "plurality", counted[rows])(parameters))
    np.testing.assert_allclose(sum(part for part, _ in sums), value, rtol=0, atol=2e-7)
    total = sum(part for _, part in sums)
    np.testing.assert_allclose(total, gradient, rtol=0, atol=1e-5 * np.max(np.abs(gradient)))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("n_classes", [2, 5])
def test_threads_change_nothing(n_classes, loop):
    votes, labels = table(n_classes, 400)
    parameters = parameters_for("dirichlet")
    found = []
    for threads in (1, 2):
        with blocks(500), loops(loop), joblib.parallel_config(n_jobs=threads, backend="threading"):
            value, gradient = smooth(("dis-r", "dirichlet"), votes, labels, "plurality", None)(parameters)
            found.append((value, gradient.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("loss", ["plurality", "half-weight"])
@pytest.mark.parametrize("shape", [(1, 1, 2), (300, 8, 2), (300, 7, 5), (40, 6, 300)])
def test_errors_are_the_same_number(shape, loss, loop):
    codes, labels = hard_rows(*shape)
    votes = DenseVotes(codes, shape[2])
    even = fixed_point(np.log(np.full(shape[1], 1.0 / shape[1])))  # ties
    drawn = fixed_point(np.log(np.random.default_rng(0).dirichlet(np.full(shape[1], 0.5)) + 1e-12))
    for weights in (even, drawn):
        with floats():
            masses = votes.masses(weights)
        with blocks(200), loops(loop):
            answers, wrong = answers_and_mistakes(votes, weights, labels, loss)
        np.testing.assert_array_equal(answers, plurality(masses))
        np.testing.assert_array_equal(wrong, mistakes(masses, labels, loss))


@pytest.mark.parametrize("by_entity", [False, True])
def test_the_exact_risk_of_a_random_vote(by_entity):
    votes, labels = table(2)
    alpha, shares = parameters_for("dirichlet"), shares_for(labels, by_entity)
    wrong = np.clip(votes.against(labels).forward(alpha), 0, alpha.sum())
    with blocks(300):
        found = FAMILIES["dirichlet"].exact_risk(votes, labels, alpha, shares)
    assert found == pytest.approx(mean_of(half_tail(wrong, alpha.sum()), shares), abs=3e-12)
    assert found >= mean_of(half_tail(wrong, alpha.sum()), shares)


@pytest.mark.parametrize("family", ["dirichlet", "logistic-normal"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_draws_of_the_random_vote_in_blocks(family, n_classes):
    """As many of each row, and errors as frequent, as in one piece: row by row within 5 standard deviations."""
    votes, labels = table(n_classes, 60)
    parameters = parameters_for(family)
    vote = Vote(FAMILIES[family], parameters, np.empty(0), FAMILIES[family].mean_weights(parameters))
    tallies = []
    for form in (floats(), blocks(300)):
        with form:
            tally = RANDOM.tally(vote, votes, labels, "plurality" if n_classes > 2 else "half-weight", rng())
            tallies.append(tally)
    one, other = tallies
    assert one.rounds == other.rounds
    assert one.wrong.shape == other.wrong.shape
    if one.rounds:
        deviation = np.sqrt(0.5 / one.rounds)
        assert np.max(np.abs(one.wrong.mean(axis=0) - other.wrong.mean(axis=0))) < 5 * deviation
        assert not np.array_equal(one.wrong, other.wrong)


def rng():
    return np.random.default_rng(7)

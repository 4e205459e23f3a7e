"""The paper's relations between the surrogates (Section 3.1), with expectations over finite populations."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from certivote.theory.bounds import c_bound
from certivote.theory.risks import binomial, disagreement, first_order, moments, second_order
from certivote.votes import DenseVotes, plurality

SLACK = 1e-12
DRAWN = [1, 2, 3, 10, 100, 101]


@dataclass(frozen=True)
class Population:
    """Votes on finitely many examples, in whole numbers: voters weigh ``weights``, examples occur ``counts`` times."""

    codes: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    n_classes: int

    @property
    def wrong(self):
        """Wrong mass of each example, as a float."""
        votes = DenseVotes(self.codes, self.n_classes)
        return votes.against(self.labels).forward(self.weights / self.weights.sum())

    def mean(self, curve):
        """Exact expectation over the population of a function of the wrong mass."""
        return float(np.average(curve(self.wrong)[0], weights=self.counts))

    def wrong_exactly(self):
        total = int(self.weights.sum())
        return [Fraction(int(w), total) for w in (self.codes != self.labels[:, None]) @ self.weights]

    def expectation(self, values):
        total = int(self.counts.sum())
        return sum((Fraction(int(c), total) * value for c, value in zip(self.counts, values, strict=True)), Fraction(0))

    @property
    def half_weight_risk(self):
        """That the wrong voters hold at least half of the weight: for two classes the vote errs, ties being errors."""
        return self.expectation([Fraction(w >= Fraction(1, 2)) for w in self.wrong_exactly()])

    @property
    def plurality_risk(self):
        masses = DenseVotes(self.codes, self.n_classes).masses(self.weights.astype(float))
        return self.expectation([Fraction(bool(e)) for e in plurality(masses) != self.labels])

    @property
    def gibbs(self):
        return self.expectation(self.wrong_exactly())

    @property
    def disagreement(self):
        """That exactly one of two voters errs, by looking at every pair of voters."""
        total = int(self.weights.sum()) ** 2
        wrong = self.codes != self.labels[:, None]
        pairs = [Fraction(int(self.weights @ (row[:, None] != row[None, :]) @ self.weights), total) for row in wrong]
        return self.expectation(pairs)


def flipped(codes, labels):
    """Right voters of a two-class population made wrong, and the other way round."""
    return np.where(codes == labels[:, None], 1 - labels[:, None], labels[:, None])


@st.composite
def populations(draw, n_classes=2):
    rows, voters = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    codes = draw(st.lists(st.integers(0, n_classes - 1), min_size=rows * voters, max_size=rows * voters))
    labels = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=rows, max_size=rows)))
    weights = np.array(draw(st.lists(st.integers(0, 20), min_size=voters, max_size=voters)))
    assume(weights.sum() > 0)
    counts = np.array(draw(st.lists(st.integers(1, 20), min_size=rows, max_size=rows)))
    codes = np.array(codes).reshape(rows, voters)
    if n_classes > 2 and draw(st.booleans()):
        codes = np.where(np.arange(voters) < voters / 2, labels[:, None], codes)  # otherwise few are below one half
    return Population(codes, labels, weights, counts, n_classes)


def assert_relations(population):
    """Relations (i) and (ii), for a mean wrong mass below one half."""
    gibbs, joint = population.mean(first_order), population.mean(second_order)
    bound = c_bound(gibbs, population.mean(disagreement))
    risk = float(population.half_weight_risk)
    diverse = population.gibbs <= population.disagreement
    chain = [risk, bound, 4 * joint, 2 * gibbs] if diverse else [risk, 2 * gibbs, bound, 4 * joint]
    assert all(low <= high + SLACK for low, high in pairwise(chain)), (diverse, chain)
    return diverse


@settings(deadline=None, max_examples=100)
@given(populations())
def test_relations_of_the_surrogates_for_two_classes(population):
    if population.gibbs > Fraction(1, 2):
        codes = flipped(population.codes, population.labels)
        population = Population(codes, population.labels, population.weights, population.counts, 2)
    assume(population.gibbs < Fraction(1, 2))
    event(f"diverse: {assert_relations(population)}")


@settings(deadline=None, max_examples=100)
@given(st.integers(3, 5).flatmap(lambda n_classes: populations(n_classes)))
def test_relations_of_the_half_weight_risk_for_more_classes(population):
    assume(population.gibbs < Fraction(1, 2))
    assert population.plurality_risk <= population.half_weight_risk
    event(f"diverse: {assert_relations(population)}")


@settings(deadline=None, max_examples=100)
@given(st.integers(2, 4).flatmap(lambda n_classes: populations(n_classes)))
def test_every_surrogate_is_above_the_risk_of_the_vote(population):
    risk = float(population.half_weight_risk)
    assert population.plurality_risk <= population.half_weight_risk
    gibbs = population.mean(first_order)
    assert risk <= 2 * gibbs + SLACK
    assert risk <= 4 * population.mean(second_order) + SLACK
    assert risk <= c_bound(gibbs, population.mean(disagreement)) + SLACK
    for n_drawn in DRAWN:
        assert risk <= 2 * population.mean(binomial(n_drawn)) + SLACK


@settings(deadline=None)
@given(st.integers(2, 4).flatmap(lambda n_classes: populations(n_classes)))
def test_moments_of_the_wrong_mass_against_all_pairs_of_voters(population):
    gibbs, joint, apart = (population.mean(curve) for curve in (first_order, second_order, disagreement))
    assert gibbs == pytest.approx(float(population.gibbs), abs=SLACK)
    assert apart == pytest.approx(float(population.disagreement), abs=SLACK)
    assert gibbs == pytest.approx(joint + apart / 2, abs=SLACK)


@settings(deadline=None)
@given(populations())
def test_for_two_classes_disagreement_is_different_answers(population):
    total = int(population.weights.sum()) ** 2
    different = [
        Fraction(int(population.weights @ (row[:, None] != row[None, :]) @ population.weights), total)
        for row in population.codes
    ]
    expected = float(population.expectation(different))
    assert population.mean(disagreement) == pytest.approx(expected, abs=SLACK)


def three_voters(wrong, counts):
    """Three voters of equal weight between two classes, from who is wrong on which example."""
    labels = np.zeros(len(wrong), dtype=int)
    return Population(np.array(wrong), labels, np.ones(3, dtype=int), np.array(counts), 2)


def test_voters_that_err_apart_have_a_c_bound_of_zero():
    population = three_voters([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 1, 1])
    assert assert_relations(population)
    assert population.half_weight_risk == 0
    assert c_bound(population.mean(first_order), population.mean(disagreement)) == pytest.approx(0, abs=1e-14)
    assert 2 * population.mean(first_order) == pytest.approx(2 / 3)
    assert 4 * population.mean(second_order) == pytest.approx(4 / 9)


def test_voters_that_err_together_are_best_bounded_by_twice_their_risk():
    population = three_voters([[1, 1, 1], [0, 0, 0]], [1, 4])
    assert not assert_relations(population)
    assert population.half_weight_risk == Fraction(1, 5)
    assert 2 * population.mean(first_order) == pytest.approx(0.4)
    assert c_bound(population.mean(first_order), population.mean(disagreement)) == pytest.approx(0.64)
    assert 4 * population.mean(second_order) == pytest.approx(0.8)


def test_the_factor_two_cannot_be_improved():
    # A tie is an error of half-weight: the wrong mass is one half where the vote errs, and 0 elsewhere.
    population = Population(np.array([[0, 1], [0, 0]]), np.zeros(2, dtype=int), np.ones(2, dtype=int), np.ones(2), 2)
    assert float(population.half_weight_risk) == 2 * population.mean(first_order) == 4 * population.mean(second_order)
    assert population.half_weight_risk == Fraction(1, 2)


WRONG = np.array([0.0, 1e-9, 0.01, 0.3, 0.5, 0.50001, 0.9, 1.0])


@pytest.mark.parametrize("n_drawn", DRAWN)
def test_binomial_against_its_sum(n_drawn):
    values, _ = binomial(n_drawn)(WRONG)
    for w, value in zip(WRONG, values, strict=True):
        wrong = Fraction(w)
        terms = [
            math.comb(n_drawn, k) * wrong**k * (1 - wrong) ** (n_drawn - k)
            for k in range(math.ceil(n_drawn / 2), n_drawn + 1)
        ]
        assert value == pytest.approx(float(sum(terms)), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("n_drawn", DRAWN)
def test_binomial_is_at_least_one_half_from_one_half_on(n_drawn):
    values, _ = binomial(n_drawn)(np.array([0.5, 0.500001, 0.7, 1.0]))
    assert np.all(values >= 0.5 - 1e-15)


CURVES = {"first order": first_order, "second order": second_order, "disagreement": disagreement}
CURVES |= {f"binomial {n_drawn}": binomial(n_drawn) for n_drawn in DRAWN}


@pytest.mark.parametrize("name", CURVES)
def test_slopes_of_the_curves_against_differences(name):
    wrong, step = np.linspace(0.01, 0.99, 50), 1e-6
    _, slopes = CURVES[name](wrong)
    expected = (CURVES[name](wrong + step)[0] - CURVES[name](wrong - step)[0]) / (2 * step)
    np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_finite_at_both_ends(name):
    values, slopes = CURVES[name](np.array([0.0, 1.0]))
    assert values.tolist() == ([0.0, 0.0] if name == "disagreement" else [0.0, 1.0])
    assert np.all(np.isfinite(slopes))


def test_moments_of_votes_and_their_gradients():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 40)
    votes = DenseVotes(rng.integers(0, 3, (40, 6)).astype(np.uint8), 3)
    statistics = moments(votes.against(labels), [first_order, disagreement, binomial(10)])
    weights = rng.dirichlet(np.ones(6))
    values, jacobian = statistics(weights)
    wrong = 1 - votes.masses(weights)[np.arange(40), labels]
    np.testing.assert_allclose(values[:2], [wrong.mean(), np.mean(2 * wrong * (1 - wrong))], rtol=1e-12)
    steps = 1e-6 * np.eye(6)
    expected = [(statistics(weights + h)[0] - statistics(weights - h)[0]) / 2e-6 for h in steps]
    np.testing.assert_allclose(jacobian, np.transpose(expected), rtol=1e-6, atol=1e-8)

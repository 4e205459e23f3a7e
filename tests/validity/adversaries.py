"""Attempts to beat the guarantee: posteriors chosen by one who knows the certified labels, and even the truth.

The theorems allow any posterior that is fixed before the draw. So the adversary overfits as hard as it can: many voters
fixed in advance, few rows, labels of pure noise, and all mass where the certification rows look best.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from honest import DELTA, PURE, STUMPS, case, fit, strangers
from study import Case, Row
from worlds import World

from certivote.maths.beta_tail import half_tail
from certivote.maths.occam import PriceList
from certivote.theory.bounds import c_bound, dis_b, dis_r, dis_v, moment_limits, seeger_maurer
from certivote.theory.families import DIRICHLET, FAMILIES
from certivote.theory.general_bounds import log_constant, pac_bayes
from certivote.theory.risks import binomial
from certivote.voters import Stumps

ORDER = 1.5
_CASES = 64


@dataclass(frozen=True)
class Arena:
    """Voters with random answers to every case, fixed in advance, and the chance of class 1 in each case."""

    answers: np.ndarray
    positive: np.ndarray

    def sample(self, n, rng):
        """Which voter errs on which of ``n`` cases."""
        cases = rng.integers(len(self.positive), size=n)
        labels = rng.random(n) < self.positive[cases]
        return (self.answers[cases] != labels[:, None]).astype(float)

    def risk(self, weights):
        """True error of a vote; at a tie it says class 0."""
        ones = self.answers @ weights > 0.5 * weights.sum()
        return float(np.mean(np.where(ones, 1.0 - self.positive, self.positive)))

    def risk_of_each(self):
        """True error of every voter."""
        return self.answers.T @ (1.0 - 2.0 * self.positive) / len(self.positive) + self.positive.mean()

    def risk_in_the_mean(self, alpha):
        """True error of votes drawn from a Dirichlet."""
        total = math.fsum(alpha)
        ones = 1.0 - half_tail(np.clip(total - self.answers @ alpha, 0.0, total), total)
        return float(np.mean(self.positive + ones * (1.0 - 2.0 * self.positive)))


@cache
def arena(voters, noise):
    rng = np.random.default_rng(9)
    positive = np.where(rng.random(_CASES) < 0.5, noise, 1.0 - noise)
    return Arena((rng.random((_CASES, voters)) < 0.5).astype(float), positive)


def errors_of(wrong, weights):
    """Errors of the vote with these weights; here a tie is an error, which only raises the bound."""
    return int(np.count_nonzero(wrong @ weights >= 0.5 * weights.sum() * (1 - 1e-12)))


def outcome(method, where, wrong, alpha, beta, delta, prices, rng, family=DIRICHLET):
    """Bound and true error of one vote drawn from the distribution with parameters ``alpha``."""
    draw = family.draw(alpha, rng)
    weights = np.exp(draw.log_weights)
    errors, n = errors_of(wrong, weights), len(wrong)
    if method == "dis-v":
        bound = dis_v(errors / n, family.renyi_divergence(alpha, beta, ORDER)[0], n, delta, ORDER, "exact")
    elif method == "dis-r":
        bound = dis_r(errors / n, family.log_ratio(alpha, beta, draw.point), n, delta, "exact")
    else:
        bound = dis_b(errors, prices.price(family.log_ratio(alpha, beta, draw.point)), n, delta)
    return bound, where.risk(weights)


def most_wanted(where, wrong):
    """The voter whose true error is most above what the certification rows show."""
    return int(np.argmax(where.risk_of_each() - wrong.mean(axis=0)))


def dictators(method, voters, noise, n, draws=1):
    """A hyper-prior of single voters, and a posterior at the one that deceives most; the best of some paid draws.

    For dis-b the price list has its atom where this posterior is: the level is that of a union over the voters.
    """
    beta = np.full(voters, 0.05 / voters)
    prices = PriceList.mixture(((math.log(voters), 0.95),))

    def trial(rng):
        where = arena(voters, noise)
        wrong = where.sample(n, rng)
        alpha = beta.copy()
        alpha[most_wanted(where, wrong)] += 1.0
        return [min(outcome(method, where, wrong, alpha, beta, DELTA / draws, prices, rng) for _ in range(draws))]

    return trial


def peaks(method, voters, n):
    """The same with weights that are the softmax of a Gaussian vector: the most deceptive voter's number is raised.

    In the hyper-prior all have mean 0, and so wide a spread that nearly every draw has a dictator. The posterior has
    the raised number near the largest of the others, with half of the spread. For dis-b the price list has its atom one
    standard deviation above the mean of the log-ratio.
    """
    spread, family = 10.0, FAMILIES["logistic-normal"]
    beta = np.repeat([0.0, spread**-2], voters)
    height, narrower = math.sqrt(2.0 * math.log(voters)) - 1.0, 4.0
    mean = 0.5 * (height**2 + 1.0 / narrower - 1.0 + math.log(narrower))
    deviation = math.sqrt(height**2 / narrower + 0.5 * (1.0 / narrower - 1.0) ** 2)
    prices = PriceList.mixture(((mean + deviation, 0.95),))

    def trial(rng):
        where = arena(voters, 0.5)
        wrong = where.sample(n, rng)
        target = most_wanted(where, wrong)
        alpha = beta.copy()
        alpha[target] = height * spread
        alpha[voters + target] *= narrower
        return [outcome(method, where, wrong, alpha, beta, DELTA, prices, rng, family)]

    return trial


PRICES = {
    "dis-b": PriceList.mixture(),
    "dis-b, atom below 0": PriceList.mixture(((-2.0, 0.95),)),
    "dis-b, atom at 3": PriceList.mixture(((3.0, 0.95),)),
}


def trying(name, voters, n):
    """Among many posteriors the one that deceives most often in trials, with draws of the adversary's own."""
    beta = np.full(voters, 0.5)

    def trial(rng):
        method, prices = name.split(",")[0], PRICES.get(name, PRICES["dis-b"])
        where = arena(voters, 0.5)
        wrong = where.sample(n, rng)
        best = np.argsort(wrong.mean(axis=0))

        def success(alpha):
            pairs = [outcome(method, where, wrong, alpha, beta, DELTA, prices, rng) for _ in range(4)]
            return sum(risk - bound + (risk > bound) for bound, risk in pairs)

        posteriors = [beta]
        for crowd in (1, 5, 25):
            for strength in (1.0, 4.0, 16.0, 64.0):
                alpha = beta.copy()
                alpha[best[:crowd]] += strength / crowd
                posteriors.append(alpha)
        return [outcome(method, where, wrong, max(posteriors, key=success), beta, DELTA, prices, rng)]

    return trial


def without_draw(method, voters, noise, n):
    """Bounds on all posteriors at once: all mass on the voter that deceives most, or nearly so."""
    nats = math.log(voters)

    def trial(rng):
        where = arena(voters, noise)
        wrong = where.sample(n, rng)
        target = most_wanted(where, wrong)
        risk, truth = float(wrong[:, target].mean()), float(where.risk_of_each()[target])
        if method == "Theorem 2":
            return [(seeger_maurer(risk, nats, n, DELTA, "exact"), truth)]
        if method == "smv-exact":
            beta = np.full(voters, 0.05 / voters)
            alpha = beta.copy()
            alpha[target] += 1.0
            total = math.fsum(alpha)
            mean = float(half_tail(np.clip(wrong @ alpha, 0.0, total), total).mean())
            divergence = DIRICHLET.kl_divergence(alpha, beta)[0]
            return [(seeger_maurer(mean, divergence, n, DELTA, "exact"), where.risk_in_the_mean(alpha))]
        if method == "c-bound":
            rest = pac_bayes(0.0, log_constant(n, "exact"), DELTA / 2)
            return [(c_bound(*moment_limits(risk, 0.0, (nats + rest, 2 * nats + rest), n)), truth)]
        factor, multiple = {"fo": (2, 1), "so": (4, 2), "bin": (2, 100)}[method]
        value = float(binomial(100)(wrong[:, target])[0].mean()) if method == "bin" else risk
        return [(factor * seeger_maurer(value, multiple * nats, n, DELTA, "exact"), truth)]

    return trial


def few_cases(name):
    """Three cases in all, so that nearly all rows are duplicates: they are independent draws all the same."""
    stumps = Stumps(n_thresholds=2, ranges=[(0.0, 2.0)])
    truth = World(np.arange(3.0)[:, None], np.array([0.7, 0.2, 0.1]), np.full((3, 2), 0.5))

    def trial(rng):
        X, y = truth.sample(20, rng)
        seed = int(rng.integers(2**31))
        if len(np.unique(y)) < 2:
            return []
        found = fit(X, y, seed, method=name, voters=stumps, split="none", delta=DELTA, prior=0.5)
        return [(found.certificate.bound, truth.risk(found))]

    return trial


def adversarial_cases():
    def row(method, setting, world, n):
        return (Row("adversarial", method, setting, world, n, DELTA),)

    noise_words = {0.5: "pure noise", 0.3: "label noise 0.3"}
    for n in (2, 5, 13, 20):
        for voters in (100, 1000):
            for noise, words in noise_words.items():
                world = f"{voters:,} random voters, {words}"
                for name in ("dis-b", "dis-r", "dis-v"):
                    setting = "all mass on the most deceptive voter"
                    # Occam's hammer with the atom there comes near to delta: more runs to tell.
                    runs = 4000 if name == "dis-b" else 1000
                    yield Case(row(name, setting, world, n), runs, dictators(name, voters, noise, n))
                for name in ("Theorem 2", "smv-exact", "fo", "so", "bin", "c-bound"):
                    setting = "all mass on the most deceptive voter"
                    yield Case(row(name, setting, world, n), 1000, without_draw(name, voters, noise, n))
    for name in ("dis-b", "dis-r", "dis-v"):
        setting = "all mass on the most deceptive voter, best of 20 paid draws"
        yield Case(row(name, setting, "1,000 random voters, pure noise", 17), 400, dictators(name, 1000, 0.5, 17, 20))
    for name in ("dis-b", "dis-r", "dis-v"):
        setting = "logistic-normal, the most deceptive voter raised"
        for voters, n in ((10, 5), (100, 13)):
            yield Case(row(name, setting, f"{voters} random voters, pure noise", n), 1000, peaks(name, voters, n))
    for name in (*PRICES, "dis-r", "dis-v"):
        method, _, rest = name.partition(", ")
        setting = f"best of 13 posteriors in trials{', ' * bool(rest)}{rest}"
        for n in (5, 20):
            yield Case(row(method, setting, "50 random voters, pure noise", n), 400, trying(name, 50, n))
    for name in ("dis-b", "dis-r", "holdout"):
        runs = 1000 if name == "holdout" else 200
        setting = "split none, nearly all rows duplicates"
        yield Case(row(name, setting, "3 cases, pure noise", 20), runs, few_cases(name))
    for n in (2, 6, 11):
        for name in ("dis-b", "dis-r", "dis-v", "smv-exact", "so", "holdout"):
            options = {"voters": strangers(2), "split": "none", "prior": 0.5}
            yield case(name, "split none, few rows", PURE[2], 2, n, options, part="adversarial")
    for name in ("dis-b", "dis-r", "dis-v", "smv-exact"):
        # One voter gets nearly all of the hyper-prior; the adversary's posterior is what learning finds.
        sharp = np.where(np.arange(18) == 3, 50.0, 0.01)
        options = {"voters": STUMPS, "split": "none", "prior": sharp}
        yield case(name, "split none, sharp prior", PURE[2], 2, 23, options, part="adversarial")

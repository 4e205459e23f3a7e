"""Whatever can be tested of a fixed vote holds for the drawn vote at the level of its own draw: no simulation.

A tiny world of two cases and two classes, whose samples are enumerated with their probabilities. The hyper-prior has
two votes. For every sample, the worst posterior of all is found: of a vote whose promise fails at ratios up to
``theta``, the drawn vote can be it with probability ``theta / 2`` and no more. The mean over the samples is the failure
probability of the promise against one who sees everything, and must not exceed delta.
"""

import math
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from certivote.maths.occam import PriceList
from certivote.promises import (
    Abstention,
    ByClass,
    Costs,
    Ledger,
    Precision,
    PredictionSets,
    PromiseRows,
    Sensitivity,
    Subgroups,
    count_votes,
    margins,
)
from certivote.theory.bounds import dis_b
from certivote.theory.families import DIRICHLET
from certivote.theory.methods import METHODS
from certivote.theory.predictors import Vote
from certivote.theory.theorems import OccamsHammer, Ratio, Renyi, Setting
from certivote.votes import build_votes, fixed_point, plurality

DELTA = 0.5
CHANCES = np.array([[0.30, 0.28], [0.17, 0.25]])
"""Of the two cases, a row each, with class 0 or 1."""
CELLS = list(product(range(2), range(2)))
SAYS = np.array([[0, 1, 0], [1, 1, 0]])
"""What three voters say of the cases."""
VOTES = [fixed_point(np.log(weights)) for weights in ([0.45, 0.35, 0.2], [0.2, 0.25, 0.55])]
RATIOS = (1.0, 2.0)
PRICES = PriceList.mixture(tuple((math.log(ratio), 0.475) for ratio in RATIOS))


@cache
def remembered(errors, penalty, n, delta):
    return dis_b(errors, penalty, n, delta)


class QuickHammer(OccamsHammer):
    """The same theorem, which does not compute a limit twice."""

    def of_errors(self, errors, penalty, n, setting):
        return remembered(errors, penalty, n, setting.delta)


THEOREMS = {"dis-b": QuickHammer(), "dis-r": Ratio(), "dis-v": Renyi()}


def columns(cases):
    return lambda name: [("north", "south")[case] for case in cases.tolist()]


def rows_of(weights, cells):
    """What a vote says of these rows."""
    cases, labels = np.array([CELLS[cell] for cell in cells]).T
    masses = build_votes(codes=SAYS[cases], n_classes=2).masses(weights)
    order = np.arange(len(cells))
    return PromiseRows(labels, plurality(masses), masses, margins(masses), columns(cases), None, lambda: order)


def ledger(method, weights, cells, penalty, guided):
    """An account of a vote that has paid so much; one row of each kind is there to guide, or nothing is."""
    rows = rows_of(weights, cells)
    method = replace(METHODS[method], theorem=THEOREMS[method])
    votes = build_votes(codes=SAYS[[CELLS[cell][0] for cell in cells]], n_classes=2)
    vote = Vote(DIRICHLET, np.empty(0), np.empty(0), weights)
    return Ledger(
        counted=count_votes(method, "plurality", votes, rows.labels, vote, np.random.default_rng(0)),
        classes=("0", "1"),
        rows=rows,
        guide=rows_of(weights, range(len(CELLS))) if guided else None,
        kept=np.arange(len(cells)),
        setting=Setting(DELTA, 1.5, "exact"),
        delta=DELTA,
        part_delta=DELTA,
        penalty=penalty,
    )


# What is so


TRUE = np.array([[0, 1], [0, 1]])
CASE = TRUE.T
EVERYBODY = np.ones((2, 2), dtype=bool)


def share(among, event):
    among = among & EVERYBODY
    total = float(CHANCES[among].sum())
    return float(CHANCES[among & event].sum()) / total if total else 0.0


def meant(entry, answers, masses, scores):
    """The condition and the event of a statement, all arrays having a row a case and a column a class."""
    threshold = entry.threshold or 0.0
    if entry.kind in ("error", "right"):
        among = int(entry.label) == TRUE if entry.label.isdigit() else entry.label.endswith("south") == CASE
        return among, (answers != TRUE) == (entry.kind == "error")
    return {
        "imprecision": (answers == _code(entry), _code(entry) != TRUE),
        "error when answered": (scores >= threshold, answers != TRUE),
        "unanswered": (EVERYBODY, scores < threshold),
        "missed": (TRUE == 1, masses[:, [1]] < threshold),
        "false alarm when flagged": (TRUE == 0, masses[:, [1]] >= threshold),
        "left out": (EVERYBODY, (masses < threshold) & (answers != TRUE)),
    }[entry.kind]


def _code(entry):
    return int(entry.label) if entry.label.isdigit() else -1


def is_false(record, weights):
    """Whether anything that the promise says is not so."""
    masses = build_votes(codes=SAYS, n_classes=2).masses(weights)
    answers, scores = plurality(masses)[:, None], margins(masses)[:, None]
    wrong = answers != TRUE
    if record.name == "costs":
        cost = np.array(record.fixed[0].numbers).reshape(2, 2)
        return float((CHANCES * cost[TRUE, answers]).sum()) > record.value
    in_force = record.statements
    targets = {"missed": 1.0 - (record.value or 0.0), "left out": 1.0 - (record.value or 0.0)}
    if dict(record.parameters).get("curve") == "null":  # up to a target
        in_force = () if record.chosen is None else (record.statements[record.chosen], record.statements[-1])
        targets["error when answered"] = record.value
    pairs = [
        (targets.get(entry.kind, entry.bound), share(*meant(entry, answers, masses, scores))) for entry in in_force
    ]
    if record.name == "subgroups" and record.value is not None:
        errors = [share(case == CASE, wrong) for case in range(2)]
        pairs.append((record.value, abs(errors[0] - errors[1])))
    return any(truth > bound + 1e-12 for bound, truth in pairs)


# All samples


def samples(n, in_order):
    """Samples with their probabilities: as multisets, unless the order of the rows matters."""
    chances = CHANCES.ravel()
    if in_order:
        for cells in product(range(4), repeat=n):
            yield list(cells), float(np.prod(chances[list(cells)]))
        return
    for counts in product(range(n + 1), repeat=3):
        if sum(counts) <= n:
            whole = [*counts, n - sum(counts)]
            yield np.repeat(np.arange(4), whole).tolist(), float(stats.multinomial.pmf(whole, n, chances))


def failure(promise, method, n, price, ratios=RATIOS, in_order=False):
    """The probability that the promise about the drawn vote fails, for any posterior that has these ratios."""
    total = 0.0
    for cells, chance in samples(n, in_order):
        reach = 0.0
        for weights in VOTES:
            false = (
                ratio
                for ratio in sorted(ratios, reverse=True)
                if is_false(
                    promise.make(ledger(method, weights, cells, price(ratio), not isinstance(promise, Costs))), weights
                )
            )
            reach += next(false, 0.0) / len(VOTES)
        total += chance * min(reach, 1.0)
    return total


def hammer(ratio):
    return PRICES.price(math.log(ratio))


PROMISES = {
    "by class": (ByClass(), 6),
    "precision": (Precision(), 6),
    "abstention": (Abstention(max_error=0.44), 4),
    "curve": (Abstention(curve=2), 6),
    "sensitivity": (Sensitivity(at_least=0.55), 6),
    "sets": (PredictionSets(0.7), 6),
    "subgroups": (Subgroups("site"), 6),
    "costs": (Costs({("0", "1"): 1.0, ("1", "0"): 3.0}), 6),
    "bets on costs": (Costs({("0", "1"): 1.0, ("1", "0"): 3.0, ("1", "1"): 0.5}), 3),
}


@pytest.mark.parametrize("name", PROMISES)
def test_no_posterior_makes_a_promise_fail_more_often_than_delta(name):
    promise, n = PROMISES[name]
    assert 0.0 < failure(promise, "dis-b", n, hammer, in_order=name == "bets on costs") <= DELTA


@pytest.mark.parametrize(("name", "form"), [("costs", "levels"), ("bets on costs", "bets")])
def test_both_forms_of_costs_are_enumerated(name, form):
    record = PROMISES[name][0].make(ledger("dis-b", VOTES[0], [0, 1, 2], 0.0, guided=False))
    assert record.fixed[1].words == (form,)


@pytest.mark.parametrize("name", ["precision", "curve", "sensitivity"])
def test_nor_with_the_theorems_of_the_ratio_and_of_the_divergence(name):
    promise, n = PROMISES[name]
    assert failure(promise, "dis-r", n, math.log) <= DELTA
    assert failure(promise, "dis-v", n, math.log, ratios=RATIOS[1:]) <= DELTA  # the posterior is sure of one vote


def test_a_draw_that_is_not_paid_for_fails_more_often():
    promise, n = PROMISES["precision"]
    assert failure(promise, "dis-b", n, lambda ratio: 0.0) > 2.0 * failure(promise, "dis-b", n, hammer)


def test_which_statement_is_made_must_not_depend_on_the_level():
    # Four votes that say the same, and two groups of rows. Who draws from all four has the ratio 1, and who leaves one
    # out 4/3: the levels differ a little. If one level makes a statement about the first group and the other about the
    # second, a posterior that has seen the rows chooses which; paying for both mends it.
    ratios, n, errors = (1.0, 4 / 3), 50, 10
    prices = [PriceList.mixture(((0.0, 0.02), (math.log(4 / 3), 0.93))).price(math.log(ratio)) for ratio in ratios]

    def fails(delta):
        limits = [dis_b(errors, price, n, delta) for price in prices]
        each = [float(stats.binom.cdf(errors, n, limit)) for limit in limits]  # the true error is just above the limit
        assert max(each) <= DELTA
        return 1.0 - math.prod(1.0 - own for own in each)

    assert prices[0] < prices[1]
    assert fails(DELTA / 2) <= DELTA < fails(DELTA)

"""Empirical risks: the two 0-1 losses that are certified, and smooth risks to train on, each with its gradient.

``plurality`` counts the examples on which the vote is wrong. ``half-weight`` counts those on which the wrong voters
hold at least half of the weight: never fewer, and the same for two classes up to ties.

Risks are means over rows; with ``shares``, what each row counts for, over entities
(:attr:`certivote.theory.entities.Entities.shares`).
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from certivote.maths.beta_tail import BetaTailTable
from certivote.maths.loops import compiled_loops
from certivote.theory.blocks import block_by_block, over_blocks
from certivote.theory.entities import mean_of, mean_slope, spread
from certivote.votes import LinearMap, Votes, is_many, plurality, row_blocks

__all__ = [
    "Curve",
    "Labels",
    "Loss",
    "SmoothRisk",
    "answers_and_mistakes",
    "binomial",
    "count_errors",
    "dirichlet_risk",
    "disagreement",
    "drawn_risk",
    "first_order",
    "mistakes",
    "moments",
    "own_and_rival",
    "second_order",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
"""Codes of the classes, one per row."""
Loss = Literal["plurality", "half-weight"]
SmoothRisk = Callable[[Array], tuple[Any, Array]]
"""Parameters to risk and gradient; or to several statistics and their gradients, one row for each."""
Curve = Callable[[Array], tuple[Array, Array]]
"""A function of the wrong mass and its derivative."""


_FEW_CLASSES = 32
"""Classes whose masses are compared class by class."""


def count_errors(masses: Array, labels: Labels, loss: Loss) -> int:
    """Number of examples on which a vote with these class masses errs.

    Examples
    --------
    >>> masses = np.array([[0.4, 0.35, 0.25], [0.6, 0.2, 0.2]])
    >>> count_errors(masses, np.array([0, 0]), "plurality"), count_errors(masses, np.array([0, 0]), "half-weight")
    (0, 1)
    """
    return int(np.count_nonzero(mistakes(masses, labels, loss)))


def mistakes(masses: Array, labels: Labels, loss: Loss) -> NDArray[np.bool_]:
    """On which examples a vote with these class masses errs."""
    if loss == "plurality":
        return plurality(masses) != labels
    right = masses[np.arange(len(labels)), labels]
    return 2.0 * right <= masses.sum(axis=1)


def answers_and_mistakes(votes: Votes, weights: Array, labels: Labels, loss: Loss) -> tuple[Labels, NDArray[np.bool_]]:
    """What a vote with these weights answers on each example, and on which it errs, block by block.

    Weights in fixed point have exact sums, so this is the same for all storages, blocks and threads.

    Examples
    --------
    >>> from certivote.votes import build_votes
    >>> votes = build_votes(codes=np.array([[0, 1, 1], [1, 0, 0]]), n_classes=2)
    >>> answers, wrong = answers_and_mistakes(votes, np.array([0.5, 0.25, 0.25]), np.array([1, 1]), "plurality")
    >>> answers.tolist(), wrong.tolist()
    ([0, 0], [True, True])
    """
    answers, wrong = np.empty(len(labels), dtype=np.intp), np.empty(len(labels), dtype=bool)

    loops = compiled_loops() if is_many(votes) else None

    def count(block: tuple[slice, Votes]) -> None:
        rows, own = block
        masses = own.masses(weights)
        if loops is None or votes.n_classes == 2:
            answers[rows] = plurality(masses)
        else:
            loops.rivals(masses, np.full(len(masses), -1), answers[rows])  # of no class
        wrong[rows] = answers[rows] != labels[rows] if loss == "plurality" else mistakes(masses, labels[rows], loss)

    block_by_block(count, row_blocks(votes))
    return answers, wrong


def dirichlet_risk(votes: Votes, labels: Labels, loss: Loss, shares: Array | None = None) -> SmoothRisk:
    r"""Risk of a vote drawn from ``Dir(alpha)``, averaged over the draw, as a function of ``alpha``.

    Half-weight (and two classes): exactly :math:`\frac1n \sum_i I_{1/2}(A - b_i, b_i)` with ``b_i`` the sum of
    ``alpha`` over the voters wrong at ``i``, through a table. Plurality among more classes: the label loses to its
    strongest rival ``c`` with probability :math:`I_{1/2}(a_y, a_c)`, where ``a`` are the masses under ``alpha``. That
    is looked up in the same table at the same number :math:`z = (a_c - a_y)/\sqrt{a_c + a_y}` of standard deviations,
    an approximation (exact for two classes) that only steers the training.
    """
    many = is_many(votes)

    def of_rows(votes: Votes, labels: Labels, shares: Array | None) -> SmoothRisk:
        if loss == "half-weight" or votes.n_classes == 2:
            return _expected_half_weight(votes.against(labels), shares, many)
        return _expected_plurality(votes.by_class(), labels, shares, many)

    return over_blocks(of_rows, votes, labels, shares)


def _table(total: float, wrong: Array, many: bool) -> BetaTailTable:
    """A table for these wrong masses; where rows are ``many``, one for any, which serves all blocks."""
    return _whole_table(total) if many else BetaTailTable(total, max(wrong.min(), 0.0), min(wrong.max(), total))


@functools.lru_cache(maxsize=4)
def _whole_table(total: float) -> BetaTailTable:
    return BetaTailTable(total, 0.0, total, compiled_loops())


def _expected_half_weight(wrong_masses: LinearMap, shares: Array | None, many: bool = False) -> SmoothRisk:
    def risk(alpha: Array) -> tuple[float, Array]:
        wrong = wrong_masses.forward(alpha)
        value, slope, in_total = _table(float(alpha.sum()), wrong, many)(wrong)
        return mean_of(value, shares), wrong_masses.adjoint(spread(slope, shares)) + mean_slope(in_total, shares)

    return risk


def _expected_plurality(
    class_masses: LinearMap, labels: Labels, shares: Array | None, many: bool = False
) -> SmoothRisk:
    n = len(labels)
    loops = compiled_loops() if many else None

    def risk(alpha: Array) -> tuple[float, Array]:
        rows = np.arange(n)
        masses = class_masses.forward(alpha)
        total = float(alpha.sum())
        if loops is not None:
            values, counted = np.empty((2, n)), np.full(n, 1.0 / n) if shares is None else shares
            loops.plurality(labels, counted, total, *_whole_table(total).parts, masses, values)
            return mean_of(values[0], shares), class_masses.adjoint(masses) + mean_slope(values[1], shares)
        own, rival_class = own_and_rival(masses, labels, many)
        rival = masses[rows, rival_class]
        pair = own + rival
        root = np.sqrt(pair)
        z = np.divide(rival - own, root, out=np.zeros(n), where=pair > 0)
        wrong = 0.5 * (total + math.sqrt(total) * z)
        value, slope, in_total = _table(total, wrong, many)(wrong)
        # dz/drival = (rival + 3 own) / (2 pair^1.5) and dz/down = -(own + 3 rival) / (2 pair^1.5).
        cubed = pair * root if many else pair**1.5
        steep = spread(np.divide(0.25 * math.sqrt(total) * slope, cubed, out=np.zeros(n), where=pair > 0), shares)
        gradient = np.zeros_like(masses)
        gradient[rows, rival_class] = steep * (rival + 3.0 * own)
        gradient[rows, labels] = -steep * (own + 3.0 * rival)
        by_total = in_total + slope * (0.5 + 0.25 * z / math.sqrt(total))
        return mean_of(value, shares), class_masses.adjoint(gradient) + mean_slope(by_total, shares)

    return risk


def first_order(wrong: Array) -> tuple[Array, Array]:
    """Error of one voter drawn from the weights: the wrong mass itself."""
    return wrong, np.ones_like(wrong)


def second_order(wrong: Array) -> tuple[Array, Array]:
    """Joint error of two voters drawn from the weights."""
    return wrong * wrong, 2.0 * wrong


def disagreement(wrong: Array) -> tuple[Array, Array]:
    """That exactly one of two voters drawn from the weights errs; for two classes, that they disagree."""
    return 2.0 * wrong * (1.0 - wrong), 2.0 - 4.0 * wrong


def binomial(n_drawn: int) -> Curve:
    """That at least half of ``n_drawn`` voters drawn from the weights err: ``P[Bin(N, w) >= N/2]``.

    It is at least one half where ``w >= 1/2``, which is what makes twice its mean a bound. More than half of an even
    number would not do: ``P[Bin(100, 1/2) > 50]`` is 0.46.
    """
    least = math.ceil(n_drawn / 2)

    def curve(wrong: Array) -> tuple[Array, Array]:
        wrong = np.clip(wrong, 0.0, 1.0)
        log_beta = scipy.special.betaln(least, n_drawn - least + 1)
        log_slope = scipy.special.xlogy(least - 1, wrong) + scipy.special.xlog1py(n_drawn - least, -wrong) - log_beta
        return scipy.special.betainc(least, n_drawn - least + 1, wrong), np.exp(log_slope)

    return curve


def moments(wrong_masses: LinearMap, curves: Sequence[Curve], shares: Array | None = None) -> SmoothRisk:
    """Means over the examples of functions of the wrong mass, and their gradients in the weights, one a row."""

    def statistics(weights: Array) -> tuple[Array, Array]:
        wrong = wrong_masses.forward(weights)
        values, slopes = zip(*(curve(wrong) for curve in curves), strict=True)
        jacobian = [wrong_masses.adjoint(spread(slope, shares)) for slope in slopes]
        return np.array([mean_of(value, shares) for value in values]), np.array(jacobian)

    return statistics


def drawn_risk(
    votes: Votes, labels: Labels, loss: Loss, slope: float = 100.0, shares: Array | None = None
) -> SmoothRisk:
    r"""Sigmoid stand-in for the 0-1 loss of one drawn vote, as a function of its weights (paper, Section 6).

    Half-weight: the mean of :math:`\sigma(c(w_i - 1/2))`. Plurality: of :math:`\sigma(c(m_{rival} - m_{own})/2)`, the
    same for two classes.
    """
    many = is_many(votes)

    def of_rows(votes: Votes, labels: Labels, shares: Array | None) -> SmoothRisk:
        return _drawn(votes, labels, loss, slope, shares, many)

    return over_blocks(of_rows, votes, labels, shares)


def _drawn(votes: Votes, labels: Labels, loss: Loss, slope: float, shares: Array | None, many: bool) -> SmoothRisk:
    if loss == "half-weight" or votes.n_classes == 2:
        wrong_masses = votes.against(labels)
        steepest = slope / len(labels) if shares is None else slope * shares

        def half_weight(weights: Array) -> tuple[float, Array]:
            level = scipy.special.expit(slope * (wrong_masses.forward(weights) - 0.5))
            return mean_of(level, shares), wrong_masses.adjoint(steepest * level * (1.0 - level))

        return half_weight

    class_masses = votes.by_class()
    half = 0.5 * slope / len(labels) if shares is None else 0.5 * slope * shares

    def margin(weights: Array) -> tuple[float, Array]:
        rows = np.arange(len(labels))
        masses = class_masses.forward(weights)
        own, rival_class = own_and_rival(masses, labels, many)
        level = scipy.special.expit(0.5 * slope * (masses[rows, rival_class] - own))
        steep = half * level * (1.0 - level)
        gradient = np.zeros_like(masses)
        gradient[rows, rival_class] = steep
        gradient[rows, labels] = -steep
        return mean_of(level, shares), class_masses.adjoint(gradient)

    return margin


def own_and_rival(masses: Array, labels: Labels, many: bool = False) -> tuple[Array, Labels]:
    """Mass of the label, and the strongest other class; ``many``: compiled loops are worth it."""
    rows = np.arange(len(labels))
    own = masses[rows, labels]
    loops = compiled_loops() if many else None
    if loops is not None:
        rival = np.empty(len(labels), dtype=np.intp)
        loops.rivals(masses, labels, rival)
        return own, rival
    if many and masses.shape[1] <= _FEW_CLASSES:
        return own, _rivals(masses, labels)
    others = masses.copy()
    others[rows, labels] = -1.0
    return own, np.argmax(others, axis=1)


def _rivals(masses: Array, labels: Labels) -> Labels:
    """The same, class by class: quicker where classes are few and their masses lie together."""
    largest, rival = np.full(len(labels), -1.0), np.zeros(len(labels), dtype=np.intp)
    for c, mass in enumerate(masses.T):
        better = (mass > largest) & (labels != c)
        np.copyto(largest, mass, where=better)
        np.copyto(rival, c, where=better)
    return rival

"""The comparison as data: a method is a row, and each of its parts has a name: family, predictor, risk and theorem."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certivote.registry import Registry
from certivote.theory.bets import by_entity
from certivote.theory.blocks import over_blocks
from certivote.theory.families import CATEGORICAL, DIRICHLET, FAMILIES, Family
from certivote.theory.predictors import DRAWN, FIXED, GIVEN, MEAN, RANDOM, Predictor
from certivote.theory.risks import (
    Curve,
    Labels,
    Loss,
    SmoothRisk,
    binomial,
    disagreement,
    first_order,
    moments,
    second_order,
)
from certivote.theory.theorems import CBound, ClopperPearson, OccamsHammer, Ratio, Renyi, SeegerMaurer, Theorem
from certivote.votes import Votes

__all__ = ["BINOMIAL_VOTERS", "GIVEN_MODEL", "METHODS", "Method", "Risk"]

Array = NDArray[np.float64]

BINOMIAL_VOTERS = 100
"""Voters that the binomial bound draws (the paper's N)."""


@dataclass(frozen=True)
class Risk:
    """What training minimises, before the penalty.

    Rows may be divided into parts, on several machines too. A part contributes a sum to the risk and to its gradient:
    these of ``smooth(family, votes, labels, loss, shares)`` for its own rows, where ``shares`` are what each of them
    counts for among all ``n``, ``np.full(len(labels), 1 / n)`` (or, for rows of entities, their part of
    :attr:`certivote.theory.entities.Entities.shares`; or ones, for plain sums). Values and gradients of all parts, at
    the same parameters, add up to those of all rows, but for rounding and the tables that steer training
    (:class:`certivote.maths.beta_tail.BetaTailTable`, 1e-7). A part with many rows is gone through in blocks
    (:mod:`certivote.theory.blocks`).

    Attributes
    ----------
    smooth : (family, votes, labels, loss, shares) -> smooth risk
        What full batches train on, as a function of the learned parameters; ``shares`` are what each row counts for,
        or None.
    draws : int
        Votes drawn in each step of Algorithm 1; 0 trains on ``smooth`` itself. More than one are drawn with full
        batches too.
    exact : bool
        Whether it takes a family whose expected risk has a closed form.
    """

    smooth: Callable[[Family, Votes, Labels, Loss, Array | None], SmoothRisk]
    draws: int = 0
    exact: bool = False


def _expected(draws: int, exact: bool = False) -> Risk:
    """The risk of a vote drawn from the family."""
    return Risk(
        lambda family, votes, labels, loss, shares: family.expected_risk(votes, labels, loss, shares), draws, exact
    )


def _moments(*curves: Curve) -> Risk:
    """Means of functions of the wrong mass."""

    def of_rows(votes: Votes, labels: Labels, shares: Array | None) -> SmoothRisk:
        return moments(votes.against(labels), curves, shares)

    return Risk(lambda _, votes, labels, __, shares: over_blocks(of_rows, votes, labels, shares))


@dataclass(frozen=True)
class Method:
    """One row of the comparison.

    Attributes
    ----------
    name : str
        The paper's, in lower case.
    family : Family
        What is learned, unless the user chooses another family that :meth:`accepts`.
    predictor : Predictor
        Whose error the bound is about.
    risk : Risk
        What training minimises.
    theorem : Theorem
        How the risk and what was learned become a bound.
    colour : str
        In pictures.
    counted : str
        In the calculator, what the error rate is the rate of; the method is left out there if this is empty.
    """

    name: str
    family: Family
    predictor: Predictor
    risk: Risk
    theorem: Theorem
    colour: str
    counted: str = ""

    def accepts(self, family: Family) -> bool:
        """Whether the method can learn distributions of this family."""
        same_kind = family.over_weights == self.family.over_weights
        return family is self.family or (same_kind and (family.exact or not self.risk.exact))

    def by_entity(self, in_order: bool = True) -> "Method":
        """The same for rows that belong to entities, whose losses lie anywhere between 0 and 1."""
        return replace(self, theorem=by_entity(self.theorem, in_order=in_order))

    def families(self) -> list[str]:
        """Names of the families that can be chosen."""
        return [name for name, family in FAMILIES.items() if self.accepts(family)]


def _surrogate(inequality: str, factor: float, multiple: float) -> SeegerMaurer:
    name = f"Theorem 2 and the {inequality} bound"
    return SeegerMaurer(name, f"Theorem 2 on each half and the {inequality} bound", factor, multiple)


# Greys for the mean votes, blues for the random votes, oranges for the drawn votes, green for the fixed one: those of
# Okabe and Ito, which differ to the colour-blind too, and in lightness within each family.
METHODS = Registry(
    {
        method.name: method
        for method in (
            Method("dis-b", DIRICHLET, DRAWN, _expected(draws=1), OccamsHammer(), "#a34700", "its errors"),
            Method("dis-r", DIRICHLET, DRAWN, _expected(draws=1), Ratio(), "#d55e00", "its errors"),
            Method("dis-v", DIRICHLET, DRAWN, _expected(draws=1), Renyi(), "#e69f00", "its errors"),
            Method(
                "smv-exact", DIRICHLET, RANDOM, _expected(0, exact=True), SeegerMaurer(), "#56b4e9", "their mean error"
            ),
            Method("smv-mc", DIRICHLET, RANDOM, _expected(draws=10), SeegerMaurer(), "#0072b2"),
            Method(
                "fo",
                CATEGORICAL,
                MEAN,
                _moments(first_order),
                _surrogate("factor-two", 2.0, 1.0),
                "#b0b0b0",
                "the mean wrong mass",
            ),
            Method(
                "so",
                CATEGORICAL,
                MEAN,
                _moments(second_order),
                _surrogate("second-order", 4.0, 2.0),
                "#858585",
                "the mean squared wrong mass",
            ),
            Method(
                "bin",
                CATEGORICAL,
                MEAN,
                _moments(binomial(BINOMIAL_VOTERS)),
                _surrogate("binomial", 2.0, BINOMIAL_VOTERS),
                "#595959",
            ),
            Method("c-bound", CATEGORICAL, MEAN, _moments(first_order, disagreement), CBound(), "#3d3d3d"),
            Method("holdout", CATEGORICAL, FIXED, _moments(first_order), ClopperPearson(), "#009e73", "its errors"),
        )
    }
)
"""All methods by name; everything else reads this table. To add one, ``METHODS.register(Method(...))``."""

GIVEN_MODEL = replace(METHODS["holdout"], predictor=GIVEN)
"""How a model that someone else has trained is certified."""

"""Everything that must be fixed before the certification rows are looked at, with every ``"auto"`` resolved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from certivote.certificate import recorded_parameters
from certivote.maths.occam import PriceList
from certivote.pipeline._by_number import ByNumber
from certivote.pipeline._hyper_priors import staying_price
from certivote.pipeline._learn import SOLVERS
from certivote.pipeline._split import Split
from certivote.pipeline._values import as_floats
from certivote.promises import ByClass, Promise
from certivote.theory.bounds import SMALLEST_DELTA
from certivote.theory.families import DIRICHLET, FAMILIES, Family
from certivote.theory.general_bounds import Constant
from certivote.theory.methods import METHODS, Method
from certivote.theory.risks import Loss
from certivote.theory.theorems import Setting
from certivote.voters import VOTERS, VoterSet, resolve_voters

__all__ = ["PARAMETER_CONSTRAINTS", "Plan", "make_plan", "methods_for", "usual_voters"]

_BOUND_SHARE = 0.8
"""What the bound has of delta where promises hold together with it."""

_MOST_DRAWS = 10_000
"""Votes that are drawn before any of them is counted, and that delta is divided among."""

PARAMETER_CONSTRAINTS: dict[str, list[Any]] = {
    "method": [StrOptions({"auto"}), StrOptions(METHODS.keys())],
    "voters": [StrOptions({"auto"}), StrOptions(VOTERS.keys()), VoterSet, list, tuple],
    "split": [StrOptions({"auto", "none", "single", "cross"}), Interval(Integral, 2, None, closed="left")],
    "loss": [StrOptions({"plurality", "half-weight"})],
    "delta": [Interval(Real, SMALLEST_DELTA, 1, closed="left")],
    "family": [StrOptions(FAMILIES.keys())],
    "prior": [StrOptions({"auto", "informed"}), Interval(Real, 0, None, closed="neither"), "array-like"],
    "solver": [StrOptions(set(SOLVERS))],
    "train_share": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither")],
    "tau": [Interval(Real, 0, 1, closed="both")],
    "renyi_order": [Interval(Real, 1, None, closed="neither"), "array-like"],
    "n_draws": [Interval(Integral, 1, _MOST_DRAWS, closed="both")],
    "price_list": [StrOptions({"auto"}), "array-like"],
    "constant": [StrOptions({"paper", "exact"})],
    "promises": [list, tuple],
    "together": ["boolean"],
    "random_state": ["random_state"],
}
"""What scikit-learn's parameter validation checks; names of methods, voters and families are read from their tables
when it does."""


@dataclass(frozen=True)
class Plan:
    """What a run does, with nothing left to decide but what the data decide.

    Attributes
    ----------
    method : Method
    family : Family
        Of the posterior that is learned.
    voters : VoterSet
    split : {"auto", "none", "single", "cross"} or int
        ``auto`` until the first rows have decided between one split and folds.
    loss : {"plurality", "half-weight"}
    delta : float
        Of the whole certificate.
    train_share : float or None
        Share of the rows that train the voters; None lets the learning curve of the first rows decide.
    prior : "informed", "auto", number or array
        The hyper-prior: learned from training rows, one of several, or given.
    price_list : PriceList
        Of Occam's hammer.
    solver : str
    tau : float
        With two parts, the weight of the first in the average.
    renyi_orders : tuple of float
        Orders of the Rényi divergence that the learner may choose from; each has its part of delta.
    n_draws : int
        Votes drawn, each at its part of delta, of which the one with the smallest bound is kept.
    constant : {"paper", "exact"}
    promises : tuple of Promise
        What is said of the vote besides, the bounds by class first.
    together : bool
        Whether the bound and all promises hold at once up to delta.
    random_state : int, RandomState, None or Seed
        What all randomness of the run comes from; a seed is that of an earlier run.
    given : dict
        The parameters as they were given.
    n_candidates : int
        Classifiers that delta is divided among, so that the best may be chosen afterwards.
    in_order : bool
        Whether bets on entities, and on costs, are placed one after another in a random order. Otherwise they need no
        order, as where answers are all that there is and somebody has chosen the seed.
    by_number : ByNumber or None
        Whether rows are divided by their numbers, as on a cluster, and not shuffled.
    """

    method: Method
    family: Family
    voters: VoterSet
    split: Split | Literal["auto"] | int
    loss: Loss
    delta: float
    train_share: float | None
    prior: Any
    price_list: PriceList
    solver: str
    tau: float
    renyi_orders: tuple[float, ...]
    n_draws: int
    constant: Constant
    promises: tuple[Promise, ...]
    together: bool
    random_state: Any
    given: dict[str, Any]
    n_candidates: int = 1
    in_order: bool = True
    by_number: ByNumber | None = None

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters as they were given, as a certificate records them."""
        return recorded_parameters(self.given)

    @property
    def n_parts(self) -> int:
        """Votes that are certified, each on rows of its own."""
        return self.split if isinstance(self.split, int) else 2 if self.split == "cross" else 1

    @property
    def bound_delta(self) -> float:
        """What the bound has of delta: all of it, unless promises shall hold together with it."""
        return _BOUND_SHARE * self.delta if self.together else self.delta

    @property
    def promise_delta(self) -> float:
        """What each promise has: a delta of its own, or an equal share of what the bound leaves."""
        return (1.0 - _BOUND_SHARE) * self.delta / len(self.promises) if self.together else self.delta

    @property
    def part_delta(self) -> float:
        """What one part may spend: delta is divided among them, and among candidates."""
        return self.of_part(self.bound_delta)

    def of_part(self, delta: float) -> float:
        """What one part has of a delta."""
        return delta / (self.n_parts * self.n_candidates)

    def of_attempt(self, part_delta: float) -> float:
        """What one draw and one order have of the delta of a part."""
        return part_delta / (self.paid_draws * max(len(self.paid_orders), 1))

    @property
    def average_weights(self) -> tuple[float, ...]:
        """One per part: its weight in the average."""
        return (self.tau, 1.0 - self.tau) if self.split == "cross" else (1.0 / self.n_parts,) * self.n_parts

    @property
    def paid_draws(self) -> int:
        """Draws that delta is divided among."""
        return self.n_draws if self.method.predictor.draws else 1

    @property
    def paid_orders(self) -> tuple[float, ...]:
        """Orders that delta is divided among; none where the theorem has no order."""
        return self.renyi_orders if self.method.theorem.uses_order else ()

    def settings(self) -> list[Setting]:
        """The settings that the learner may choose from, each with what is left of delta for one draw."""
        orders = self.paid_orders or self.renyi_orders[:1]
        delta = self.of_attempt(self.part_delta)
        return [Setting(delta, order, self.constant, price_list=self.price_list) for order in orders]

    def by_entity(self) -> "Plan":
        """The same plan for rows that belong to entities."""
        return replace(self, method=self.method.by_entity(self.in_order))

    def with_method(self, name: str, delta: float) -> "Plan":
        """The same plan for another method."""
        method, given = METHODS[name], {**self.given, "method": name, "delta": delta}
        if self.given["method"] == "auto":
            # What is left at "auto" means something else with another method.
            given |= {"voters": self.voters, "prior": self.prior, "train_share": self.train_share}
        promises = _promises(self.promises[1:], method)
        family = _family(method, self.family)
        return replace(self, method=method, family=family, delta=delta, promises=promises, given=given)


def make_plan(
    method: str = "auto",
    voters: Any = "auto",
    split: str | int = "auto",
    loss: str = "plurality",
    *,
    delta: float = 0.05,
    family: str = "dirichlet",
    prior: str | float | ArrayLike = "auto",
    solver: str = "lbfgs",
    train_share: str | float = "auto",
    tau: float = 0.5,
    renyi_order: float | ArrayLike = 1.5,
    n_draws: int = 1,
    price_list: str | ArrayLike = "auto",
    constant: str = "exact",
    promises: Sequence[Promise] = (),
    together: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Plan:
    """Resolve the parameters of :class:`~certivote.CertifiedVoteClassifier`, which explains them.

    Examples
    --------
    >>> plan = make_plan(random_state=0)
    >>> plan.method.name, plan.voters, plan.prior
    ('dis-b', Mixed(), 'informed')
    """
    given = {name: value for name, value in locals().items() if name in PARAMETER_CONSTRAINTS}
    if isinstance(n_draws, bool):
        raise TypeError(f"n_draws must be a whole number from 1 on; got {n_draws}.")
    automatic = method == "auto"
    chosen = METHODS["dis-b" if automatic else method]
    informed = isinstance(prior, str) and (prior == "informed" or (automatic and split != "none"))
    usual_share = None if automatic else 0.5
    return Plan(
        method=chosen,
        family=_family(chosen, FAMILIES[family]),
        voters=resolve_voters(usual_voters(method) if isinstance(voters, str) and voters == "auto" else voters),
        split=split if isinstance(split, str) else int(split),  # type: ignore[arg-type]  # checked by PARAMETER_CONSTRAINTS, as what follows
        loss=loss,  # type: ignore[arg-type]
        delta=float(delta),
        train_share=usual_share if isinstance(train_share, str) else train_share,
        prior="informed" if informed else prior,
        price_list=_price_list(price_list, "informed" if informed else prior),
        solver=solver,
        tau=tau,
        renyi_orders=_orders(renyi_order),
        n_draws=int(n_draws),
        constant=constant,  # type: ignore[arg-type]
        promises=_promises(promises, chosen),
        together=bool(together),
        random_state=random_state,
        given=given,
    )


def usual_voters(method: str) -> str:
    """What ``voters="auto"`` stands for."""
    return "mixed" if method == "auto" else "forest"


def _family(method: Method, family: Family) -> Family:
    """The family that the method learns; the default one is no choice, so every method may replace it by its own."""
    if method.accepts(family):
        return family
    if family is DIRICHLET:
        return method.family
    allowed = [name for name in METHODS if METHODS[name].accepts(family)]
    raise ValueError(
        f"family={family.name!r} does not go with method={method.name!r}, which learns {method.family.name} "
        f"distributions; methods that take it: {', '.join(allowed) or 'none'}."
    )


def _orders(renyi_order: Any) -> tuple[float, ...]:
    orders = tuple(as_floats("renyi_order", renyi_order).ravel().tolist())
    if not orders or not all(1.0 < order < np.inf for order in orders):
        raise ValueError(
            "The 'renyi_order' parameter of CertifiedVoteClassifier must be a float in the range (1.0, inf) or a "
            f"sequence of them. Got {renyi_order!r} instead."
        )
    return orders


def _price_list(price_list: Any, prior: Any) -> PriceList:
    if isinstance(price_list, str):
        return staying_price(prior)
    atoms = as_floats("price_list", price_list)
    if atoms.ndim != 2 or atoms.shape[1] != 2:
        raise ValueError(f"price_list must hold pairs (nats, weight), such as [(5.0, 0.9)]; got {price_list!r}.")
    return PriceList.mixture(tuple((nats, weight) for nats, weight in atoms.tolist()))


def _promises(promises: Sequence[Promise], method: Method) -> tuple[Promise, ...]:
    """The bounds by class, and what is asked for besides."""
    for promise in promises:
        if not isinstance(promise, Promise):
            raise TypeError(
                "promises must hold promises such as Precision() or Abstention(max_error=0.02) of certivote.promises; "
                f"got {promise!r:.200}."
            )
        if isinstance(promise, ByClass):
            raise ValueError("promises need not hold ByClass(): every certificate has the bounds by class.")
        if list(promises).count(promise) > 1:
            raise ValueError(f"promises holds {promise!r} more than once.")
    if promises and not method.predictor.counts_errors:
        able = [name for name, row in METHODS.items() if row.predictor.counts_errors]
        raise ValueError(
            f"promises are about the answers of one vote that was drawn, or fixed beforehand; method={method.name!r} "
            f"certifies another. Use method='auto' or one of {', '.join(able)}."
        )
    return (ByClass(), *promises)


def methods_for(plan: Plan, n_classes: int) -> Sequence[str]:
    """Names of the methods that fit the plan's family and the number of classes."""
    return [
        name
        for name, method in METHODS.items()
        if (n_classes == 2 or not method.theorem.two_classes)
        and (plan.family is DIRICHLET or method.accepts(plan.family))
    ]

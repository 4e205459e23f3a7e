"""Everything that must be fixed before the certification rows are looked at, with every ``"auto"`` resolved."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from certivote.certificate import recorded_parameters
from certivote.maths.occam import PriceList
from certivote.methods import Auto, BaseMethod, make_method
from certivote.pipeline._division import ByNumber, Split
from certivote.pipeline._grouping import Grouping
from certivote.pipeline._priors import fixed_share, staying_price
from certivote.promises import ByClass, Promise
from certivote.splits import BaseSplit, make_split
from certivote.theory.bounds import SMALLEST_DELTA
from certivote.theory.families import Family
from certivote.theory.general_bounds import Constant
from certivote.theory.methods import METHODS, Method
from certivote.theory.risks import Loss
from certivote.theory.theorems import Setting
from certivote.voters import VOTERS, ColumnEncoder, Preprocessed, Stumps, VoterSet, resolve_voters

_MOST_COLUMNS = 20_000
"""Columns of a data frame that are read one by one, within half a minute for a few hundred rows."""
MOST_COMPARED = 10
"""Given models up to which all pairs are compared."""
_BOUND_SHARE = 0.8
"""What the bound has of delta where promises hold together with it."""

PARAMETER_CONSTRAINTS: dict[str, list[Any]] = {
    "method": [StrOptions({Auto.name}), StrOptions(METHODS.keys()), BaseMethod],
    "voters": [StrOptions({"auto"}), StrOptions(VOTERS.keys()), VoterSet, list, tuple],
    "split": [
        StrOptions({"auto", "none", "single", "cross"}),
        Interval(Integral, 2, None, closed="left"),
        BaseSplit,
    ],
    "loss": [StrOptions({"plurality", "half-weight"})],
    "delta": [Interval(Real, SMALLEST_DELTA, 1, closed="left")],
    "prior": [StrOptions({"auto", "informed"}), Interval(Real, 0, None, closed="neither"), "array-like"],
    "promises": [list, tuple],
    "together": ["boolean"],
    "random_state": ["random_state"],
}
"""What scikit-learn's parameter validation checks; names of methods and voters are read from their tables when it does.
Methods and splits check their own options."""


@dataclass(frozen=True)
class Plan:
    """What a run does, with nothing left to decide but what the data decide.

    How delta is divided, from the certificate down to one bound:

    1. Between the bound and the promises, if they hold together: ``bound_delta``, ``promise_delta``. Otherwise each has
       all of it.
    2. Among the parts of the split, and the given models and the vote of them: ``of_part``.
    3. Between a vote that is fixed beforehand and one that is learned, where the certification rows choose: ``ways``.
    4. Among draws and orders of the Rényi divergence, of which the best is kept: ``of_attempt``.
    5. Of a promise, among its statements: ``of`` in :class:`certivote.promises.Ledger`.
    6. Inside a theorem: two statistics of the C-bound, two halves of the Rényi bound, and what a simulated risk takes.

    Hold-out and majority stand beside: each is bounded at the delta of a part, and neither is the promise.

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
    fixed_share : float or None
        What a vote that is fixed beforehand has of delta, where the certification rows may choose between it and one
        that is learned, which has the rest; None where there is no such choice.
    share : float
        What this way to a vote has of delta.
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
    fixed_share: float | None = None
    share: float = 1.0

    def reading(self, X: Any) -> "Plan":
        """The plan with voters that read the columns of a data frame, where these are not all numbers."""
        voters = self.voters
        if voters.keeps_frames or not isinstance(X, pd.DataFrame) or all(map(pd.api.types.is_numeric_dtype, X.dtypes)):
            return self
        if X.shape[1] > _MOST_COLUMNS:
            raise ValueError(
                f"X is a data frame of {X.shape[1]:,} columns that are not all numbers; up to {_MOST_COLUMNS:,} are "
                "read. Leave some out, or give an array of numbers, which may have more."
            )
        encoder = ColumnEncoder(fill=isinstance(voters, Stumps))  # a stump needs a value
        return replace(self, voters=Preprocessed(encoder, voters))

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters as they were given, as a certificate records them."""
        return recorded_parameters(self.given)

    @property
    def is_informed(self) -> bool:
        """Whether the hyper-prior is learned from training rows."""
        return isinstance(self.prior, str) and self.prior == "informed"

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
        """What each promise has: a delta of its own, or an equal share of what the bound leaves.

        All differences of given models are one of them.
        """
        number = len(self.promises) + bool(self.n_differences)
        return (1.0 - _BOUND_SHARE) * self.delta / number if self.together else self.delta

    @property
    def n_differences(self) -> int:
        """Pairs of given models whose errors are compared: of up to ten, all."""
        models = self.n_candidates - 1  # the vote of them is a candidate too
        return models * (models - 1) // 2 if 2 <= models <= MOST_COMPARED else 0

    @property
    def part_delta(self) -> float:
        """What the vote of one part may spend on its bound."""
        return self.of_vote(self.bound_delta)

    def of_part(self, delta: float) -> float:
        """What one part has of a delta, which is divided among parts and among candidates."""
        return delta / (self.n_parts * self.n_candidates)

    def of_vote(self, delta: float) -> float:
        """What the vote of one part has of it, which may be fixed beforehand or learned."""
        return self.share * self.of_part(delta)

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

    def ways(self) -> "tuple[Plan, ...]":
        """The plan of a vote that is learned and, if the certification rows may choose, of one fixed beforehand.

        Their shares of delta add up to 1, so that the bounds of both hold at once.
        """
        if self.fixed_share is None:
            return (self,)
        fixed = METHODS["holdout"]
        return (
            replace(self, share=round(1.0 - self.fixed_share, 3)),
            replace(self, share=self.fixed_share, method=fixed, family=fixed.family),
        )

    def by_entity(self) -> "Plan":
        """The same plan for rows that belong to entities."""
        return replace(self, method=self.method.by_entity(self.in_order))

    def with_method(self, method: str | BaseMethod, delta: float) -> "Plan":
        """The same plan for another method."""
        chosen = make_method(method)
        return replace(
            self,
            **_of_method(chosen, self.prior),
            delta=delta,
            promises=_promises(self.promises[1:], chosen),
            given={**self.given, "method": method, "delta": delta},
        )


def make_plan(
    method: str | BaseMethod = "auto",
    voters: Any = "auto",
    split: str | int | BaseSplit = "auto",
    loss: str = "plurality",
    *,
    delta: float = 0.05,
    prior: str | float | ArrayLike = "auto",
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
    chosen, divided = make_method(method), make_split(split)
    chosen.check()  # parameters may have been set after they were made
    divided.check()
    automatic = isinstance(chosen, Auto)
    informed = isinstance(prior, str) and (prior == "informed" or (automatic and divided.parts != "none"))
    usual_share = None if automatic else 0.5
    return Plan(
        **_of_method(chosen, "informed" if informed else prior),
        voters=resolve_voters(usual_voters(chosen.name) if isinstance(voters, str) and voters == "auto" else voters),
        split=divided.parts,
        loss=loss,  # type: ignore[arg-type]  # checked by PARAMETER_CONSTRAINTS
        delta=float(delta),
        train_share=usual_share if isinstance(divided.train_share, str) else divided.train_share,
        prior="informed" if informed else prior,
        tau=divided.tau,
        promises=_promises(promises, chosen),
        together=bool(together),
        random_state=random_state,
        given=given,
    )


def _of_method(method: BaseMethod, prior: Any) -> dict[str, Any]:
    """What a plan has of its method."""
    chooses = isinstance(method, Auto) and method.prices() is None
    return {
        "method": method.row,
        "family": method.learned_family(),
        "price_list": PriceList.mixture() if chooses else method.prices() or staying_price(prior),
        "fixed_share": fixed_share(prior) if chooses else None,
        "solver": method.solver,
        "renyi_orders": method.orders(),
        "n_draws": int(method.n_draws),
        "constant": method.constant,
    }


def usual_voters(method: str) -> str:
    """What ``voters="auto"`` stands for."""
    return "mixed" if method == Auto.name else "forest"


def _promises(promises: Sequence[Promise], method: BaseMethod) -> tuple[Promise, ...]:
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
    if promises and not method.row.predictor.counts_errors:
        able = [name for name, row in METHODS.items() if row.predictor.counts_errors]
        raise ValueError(
            f"promises are about the answers of one vote that was drawn, or fixed beforehand; method={method.name!r} "
            f"certifies another. Use method='auto' or one of {', '.join(able)}."
        )
    return (ByClass(), *promises)


def check_plan(
    plan: Plan, methods: Sequence[Method], classes: NDArray[Any], grouping: Grouping, given: bool = False
) -> None:
    """Refuse voters, methods, classes, splits and groups that do not go together; of ``given`` models, none."""
    if given:
        return
    voters, name = plan.voters, type(plan.voters).__name__
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}); a vote needs at least two. "
            "Classifier can't train when only one class is present."
        )
    for method in methods:
        if len(classes) > 2 and method.theorem.two_classes:
            raise ValueError(
                f"method={method.name!r} is for two classes, and y has {len(classes)}. Use 'so' or 'fo' for a mean "
                "vote among more, or 'dis-r' for a drawn one."
            )
    if len(classes) > 2 and not voters.multi_class:
        raise ValueError(
            f"Only binary classification is supported by {name}: the type of the target has {len(classes)} classes. "
            "Use voters='forest' for more than two."
        )
    if plan.split == "none" and plan.is_informed:
        raise ValueError(
            "prior='informed' is learned from training rows, and split='none' has none. Use split='single', or "
            "prior='auto'."
        )
    if plan.split == "none" and voters.needs_training:
        raise ValueError(
            f"split='none' needs voters fixed without the data, but {name} would be trained on the certification rows. "
            "Use split='single', or declare what is missing: Stumps take ranges=[(low, high), ...], a list must hold "
            "fitted classifiers."
        )
    _check_grouping(plan, grouping)


def _check_grouping(plan: Plan, grouping: Grouping) -> None:
    if grouping.order and plan.split not in ("auto", "single", "none"):
        raise ValueError(
            f"order goes with split='single', where the earliest rows train and the latest certify; got split="
            f"{plan.split!r}, which would also certify earlier rows with voters from later ones."
        )
    voters = plan.voters
    while isinstance(voters, Preprocessed):
        voters = resolve_voters(voters.voters)
    name = type(voters).__name__
    if grouping.groups and voters.needs_training and "entities" not in inspect.signature(voters.fit).parameters:
        raise ValueError(
            f"groups cannot be used with {name}: its fit takes no 'entities', and voters that do not keep the rows of "
            "an entity together learn from leaks. Use voters='mixed' or 'forest', or fitted classifiers."
        )

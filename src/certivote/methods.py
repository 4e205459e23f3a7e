"""The methods as objects: which bound a vote is learned and certified by, with the options that only this method has.

A name such as ``method="dis-v"`` stands for the object with its defaults, ``DisV()``. What a method is made of is in
:data:`certivote.theory.methods.METHODS`; a method without a class here has the options that its row needs.

All have ``solver`` and ``constant``, which :class:`BaseMethod` explains.
"""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from certivote.maths.occam import PriceList
from certivote.theory import methods as table
from certivote.theory.families import DIRICHLET, FAMILIES, Family
from certivote.theory.general_bounds import Constant

__all__ = [
    "CLASSES",
    "Auto",
    "BaseMethod",
    "Binomial",
    "CBound",
    "DisB",
    "DisR",
    "DisV",
    "FirstOrder",
    "Holdout",
    "SecondOrder",
    "SmvExact",
    "SmvMc",
    "make_method",
    "method_class",
    "methods_with",
]

_LARGEST_ORDER = 1_000_000
"""Larger ones give the same bound, until numbers are no longer exact."""
_MOST_DRAWS = 10_000
"""Votes that are drawn before any of them is counted, and that delta is divided among."""


class BaseMethod(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A method with its options, which are checked when it is made.

    Parameters
    ----------
    solver : {"lbfgs", "adam"}, default="lbfgs"
        How the bound is minimised: in full batches on its expectation, or by the paper's Algorithm 1.
    constant : {"exact", "paper"}, default="exact"
        Maurer's constant itself and every delta divided in the best way; or ``2 sqrt(n)`` and halves, as in the paper.

    Attributes
    ----------
    name : str
        As ``method="..."`` has it, and as it is recorded.
    row_name : str
        Of its row in the table of methods.
    """

    name: ClassVar[str]
    row_name: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"lbfgs", "adam"})],
        "constant": [StrOptions({"exact", "paper"})],
    }
    # Of methods that have no such option.
    family: str = DIRICHLET.name
    n_draws: int = 1
    order: Any = 1.5
    price_list: Any = "auto"

    def __init__(self, solver: str = "lbfgs", constant: Constant = "exact"):
        self.solver = solver
        self.constant = constant
        self.check()

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "name" in vars(cls):
            cls.row_name = vars(cls).get("row_name", cls.name)

    @property
    def row(self) -> table.Method:
        """What it is made of."""
        return table.METHODS[self.row_name]

    def check(self) -> None:
        """Raise a ValueError if an option has a value that it cannot have."""
        self._validate_params()

    def learned_family(self) -> Family:
        """The distributions that the vote is learned from."""
        return self.row.family

    def orders(self) -> tuple[float, ...]:
        """Orders of the Rényi divergence that the learner may choose from."""
        return tuple(_numbers("order", self.order).ravel().tolist())

    def prices(self) -> PriceList | None:
        """The price list, if one is given."""
        return None

    def as_recorded(self) -> dict[str, Any]:
        """What a certificate records: the name and all options."""
        return {"name": self.name, **self.get_params(deep=False)}


class _OfFamily(BaseMethod):
    """A method for which the family of the distributions over weights can be chosen."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMethod._parameter_constraints,
        "family": [StrOptions(FAMILIES.keys())],
    }

    def __init__(self, family: str = "dirichlet", solver: str = "lbfgs", constant: Constant = "exact"):
        self.family = family
        super().__init__(solver, constant)

    def check(self) -> None:
        super().check()
        if not self.row.accepts(FAMILIES[self.family]):
            raise ValueError(
                f"family={self.family!r} does not go with method={self.name!r}; it takes "
                f"{', '.join(self.row.families())}."
            )

    def learned_family(self) -> Family:
        return FAMILIES[self.family]


class _Drawn(_OfFamily):
    """A method that draws one vote, or the best of several."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_OfFamily._parameter_constraints,
        "n_draws": [Interval(Integral, 1, _MOST_DRAWS, closed="both")],
    }

    def __init__(
        self, n_draws: int = 1, family: str = "dirichlet", solver: str = "lbfgs", constant: Constant = "exact"
    ):
        self.n_draws = n_draws
        super().__init__(family, solver, constant)

    def check(self) -> None:
        super().check()
        if isinstance(self.n_draws, bool):
            raise TypeError(f"n_draws must be a whole number from 1 on; got {self.n_draws}.")


class DisB(_Drawn):
    """One vote, drawn once and certified by the binomial tail (Occam's hammer).

    Parameters
    ----------
    price_list : "auto" or sequence of (nats, weight), default="auto"
        A weight for each number of nats that the draw may cost, fixed without looking at the certification rows; what
        the weights leave, at least 5 %, is spread over all costs. ``auto``: 95 % on staying at an informed hyper-prior,
        half on staying at another.
    n_draws : int from 1 to 10,000, default=1
        Votes to draw, each at its part of delta; the one with the smallest certificate is kept.
    family : {"dirichlet", "logistic-normal"}, default="dirichlet"
        Distributions over weights that the vote is learned from; the second is the softmax of a Gaussian vector.
    solver : {"lbfgs", "adam"}, default="lbfgs"
    constant : {"exact", "paper"}, default="exact"
        As for :class:`BaseMethod`.

    Examples
    --------
    >>> from certivote.methods import DisB
    >>> DisB(price_list=[(5.0, 0.9)], n_draws=3)
    DisB(n_draws=3, price_list=[(5.0, 0.9)])
    """

    name = "dis-b"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Drawn._parameter_constraints,
        "price_list": [StrOptions({"auto"}), "array-like"],
    }

    def __init__(
        self,
        price_list: str | ArrayLike = "auto",
        n_draws: int = 1,
        family: str = "dirichlet",
        solver: str = "lbfgs",
        constant: Constant = "exact",
    ):
        self.price_list = price_list
        super().__init__(n_draws, family, solver, constant)

    def check(self) -> None:
        super().check()
        self.prices()

    def prices(self) -> PriceList | None:
        if isinstance(self.price_list, str):
            return None
        atoms = _numbers("price_list", self.price_list)
        if atoms.ndim != 2 or atoms.shape[1] != 2:
            raise ValueError(
                f"price_list must hold pairs (nats, weight), such as [(5.0, 0.9)]; got {self.price_list!r:.200}."
            )
        return PriceList.mixture(tuple((nats, weight) for nats, weight in atoms.tolist()))


class Auto(DisB):
    """A fixed vote or a learned one, with what is left at ``"auto"`` in the estimator chosen by training rows only.

    The fixed vote has the weights of the hyper-prior's mean, and 95 % of delta if that was learned from training rows,
    otherwise half. A vote that :class:`DisB` learns from the certification rows has the rest. Both bounds hold at once,
    so the certification rows may choose: the fixed vote is deployed unless learning promises a smaller bound, and only
    then is anything drawn. ``certificate_.choices`` records what was chosen.

    The parameters are those of :class:`DisB`. A price list that is given says what is spent on what, so there is no
    such choice then: the vote is learned and drawn.

    Examples
    --------
    >>> from certivote.methods import Auto
    >>> Auto(n_draws=3)
    Auto(n_draws=3)
    """

    name, row_name = "auto", "dis-b"


class DisR(_Drawn):
    """One vote, drawn once and certified by the density ratio at the draw (the paper's Theorems 6 and 8).

    Parameters
    ----------
    n_draws : int from 1 to 10,000, default=1
    family : {"dirichlet", "logistic-normal"}, default="dirichlet"
        As for :class:`DisB`.
    solver : {"lbfgs", "adam"}, default="lbfgs"
    constant : {"exact", "paper"}, default="exact"
        As for :class:`BaseMethod`.

    Examples
    --------
    >>> from certivote.methods import DisR
    >>> DisR(family="logistic-normal")
    DisR(family='logistic-normal')
    """

    name = "dis-r"


class DisV(_Drawn):
    """One vote, drawn once and certified by a Rényi divergence (the paper's Theorems 7 and 9).

    Parameters
    ----------
    order : float above 1 and at most a million, or a sequence of them, default=1.5
        The order lambda of the divergence. Of several the best is taken, each at its part of delta.
    n_draws : int from 1 to 10,000, default=1
    family : {"dirichlet", "logistic-normal"}, default="dirichlet"
        As for :class:`DisB`.
    solver : {"lbfgs", "adam"}, default="lbfgs"
    constant : {"exact", "paper"}, default="exact"
        As for :class:`BaseMethod`.

    Examples
    --------
    >>> from certivote.methods import DisV
    >>> DisV(order=[1.2, 1.5, 3.0])
    DisV(order=[1.2, 1.5, 3.0])
    """

    name = "dis-v"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Drawn._parameter_constraints,
        "order": [Interval(Real, 1, None, closed="neither"), "array-like"],
    }

    def __init__(
        self,
        order: float | ArrayLike = 1.5,
        n_draws: int = 1,
        family: str = "dirichlet",
        solver: str = "lbfgs",
        constant: Constant = "exact",
    ):
        self.order = order
        super().__init__(n_draws, family, solver, constant)

    def check(self) -> None:
        super().check()
        orders = self.orders()
        if not orders or not all(1.0 < order <= _LARGEST_ORDER for order in orders):
            raise ValueError(
                f"The 'order' parameter of DisV must be a float in the range (1.0, {_LARGEST_ORDER:,}] or a sequence "
                f"of them. Got {self.order!r:.200} instead."
            )


class SmvExact(BaseMethod):
    """A randomised predictor that draws a vote for every case (Theorem 5), learned by its exact expected error."""

    name = "smv-exact"


class SmvMc(_OfFamily):
    """A randomised predictor that draws a vote for every case (Theorem 5), learned by simulated votes.

    Parameters
    ----------
    family : {"dirichlet", "logistic-normal"}, default="dirichlet"
        As for :class:`DisB`.
    solver : {"lbfgs", "adam"}, default="lbfgs"
    constant : {"exact", "paper"}, default="exact"
        As for :class:`BaseMethod`.
    """

    name = "smv-mc"


class FirstOrder(BaseMethod):
    """The vote with the learned weights themselves, by twice the mean wrong mass."""

    name = "fo"


class SecondOrder(BaseMethod):
    """The vote with the learned weights themselves, by four times the mean squared wrong mass."""

    name = "so"


class Binomial(BaseMethod):
    """The vote with the learned weights themselves, by the errors of 100 voters drawn by them."""

    name = "bin"


class CBound(BaseMethod):
    """The vote with the learned weights themselves, for two classes, by the C-bound."""

    name = "c-bound"


class Holdout(BaseMethod):
    """The vote with the weights of the hyper-prior, by Clopper-Pearson."""

    name = "holdout"


CLASSES: dict[str, type[BaseMethod]] = {
    kind.name: kind
    for kind in (Auto, DisB, DisR, DisV, SmvExact, SmvMc, FirstOrder, SecondOrder, Binomial, CBound, Holdout)
}
"""The classes by the names of the methods."""


def method_class(name: str) -> type[BaseMethod]:
    """The class of the method of this name; of a row of the table that has none here, one with the options it needs.

    Examples
    --------
    >>> method_class("dis-v")
    <class 'certivote.methods.DisV'>
    """
    if name in CLASSES:
        return CLASSES[name]
    row = table.METHODS[name]
    options: type[BaseMethod] = SmvMc if len(row.families()) > 1 else BaseMethod
    if row.predictor.draws:
        options = DisB if row.theorem.uses_prices else DisV if row.theorem.uses_order else DisR
    return type(name, (options,), {"name": name})


def make_method(method: str | BaseMethod, **options: Any) -> BaseMethod:
    """The object that a name stands for, with these options; an object stands for itself.

    Examples
    --------
    >>> make_method("dis-v"), make_method("dis-r", n_draws=3)
    (DisV(), DisR(n_draws=3))
    """
    return method if isinstance(method, BaseMethod) else method_class(method)(**options)


def methods_with(n_classes: int, **options: Any) -> list[BaseMethod]:
    """All methods for so many classes that have these options and accept their values.

    Examples
    --------
    >>> [method.name for method in methods_with(3, family="logistic-normal")]
    ['dis-b', 'dis-r', 'dis-v', 'smv-mc']
    """
    found = []
    for name, row in table.METHODS.items():
        kind = method_class(name)
        suits = n_classes == 2 or not row.theorem.two_classes
        if suits and set(options) <= set(kind._get_param_names()):
            found.append(kind(**options))
    return found


def _numbers(name: str, given: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(given, dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers; got {given!r:.200}.") from error

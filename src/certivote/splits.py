"""The splits as objects: which rows train the voters and which certify the vote, with the options of each split.

The names ``split="single"`` and ``split="cross"`` stand for the objects with their defaults, and a number for that many
folds. ``"none"`` and ``"auto"`` have no options.
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["BaseSplit", "Cross", "Folds", "Single", "make_split"]


class BaseSplit(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A split with its options, which are checked when it is made.

    Attributes
    ----------
    name : str
        As ``split="..."`` has it, and as it is recorded.
    """

    name: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    # Of splits that have no such option.
    train_share: float | Literal["auto"] = "auto"
    tau: float = 0.5

    def __init__(self) -> None:
        self.check()

    @property
    def parts(self) -> Any:
        """The name, or a number of folds."""
        return self.name

    def check(self) -> None:
        """Raise a ValueError if an option has a value that it cannot have."""
        self._validate_params()

    def as_recorded(self) -> dict[str, Any]:
        """What a certificate records: the name and all options."""
        return {"name": self.name, **self.get_params(deep=False)}


class Single(BaseSplit):
    """Voters from one part of the rows, certificate on the other.

    Parameters
    ----------
    train_share : float in (0, 1) or "auto", default="auto"
        Share of the rows that train the voters. ``auto``: one half; with ``method="auto"``, what the learning curve of
        some of the rows suggests.

    Examples
    --------
    >>> from certivote.splits import Single
    >>> Single(0.7)
    Single(train_share=0.7)
    """

    name = "single"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "train_share": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither")]
    }

    def __init__(self, train_share: float | Literal["auto"] = "auto"):
        self.train_share = train_share
        super().__init__()


class Cross(BaseSplit):
    """Both ways round, as the paper does: two votes, each trained on what certifies the other.

    The vote with the smaller bound is deployed.

    Parameters
    ----------
    tau : float in [0, 1], default=0.5
        The weight of the first vote in the average certificate.
    train_share : float in (0, 1), default=0.5
        Share of the rows that train the voters of the first vote.

    Examples
    --------
    >>> from certivote.splits import Cross
    >>> Cross(tau=0.3)
    Cross(tau=0.3)
    """

    name = "cross"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "tau": [Interval(Real, 0, 1, closed="both")],
        "train_share": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(self, tau: float = 0.5, train_share: float = 0.5):
        self.tau = tau
        self.train_share = train_share
        super().__init__()


class Folds(BaseSplit):
    """A vote for each fold, certified on it, with voters from all other folds; that with the best bound is deployed.

    Parameters
    ----------
    n_folds : int from 2 on

    Examples
    --------
    >>> from certivote.splits import Folds
    >>> Folds(3)
    Folds(n_folds=3)
    """

    name = "folds"
    _parameter_constraints: ClassVar[dict[str, Any]] = {"n_folds": [Interval(Integral, 2, None, closed="left")]}

    def __init__(self, n_folds: int):
        self.n_folds = n_folds
        super().__init__()

    @property
    def parts(self) -> int:
        """The number of folds."""
        return int(self.n_folds)


class _Auto(BaseSplit):
    """Left to the first rows, or one split."""

    name = "auto"


class _AllRows(BaseSplit):
    """Certificate on all rows, for voters that need no training."""

    name = "none"


_CLASSES: dict[str, type[BaseSplit]] = {kind.name: kind for kind in (_Auto, _AllRows, Single, Cross)}


def make_split(split: str | int | BaseSplit) -> BaseSplit:
    """The object that a name or a number of folds stands for; an object stands for itself.

    Examples
    --------
    >>> make_split("cross"), make_split(3)
    (Cross(), Folds(n_folds=3))
    """
    if isinstance(split, BaseSplit):
        return split
    return _CLASSES[split]() if isinstance(split, str) else Folds(split)

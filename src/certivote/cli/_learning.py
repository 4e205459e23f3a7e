"""How a vote is learned: the options of ``fit`` and ``compare``, and the methods and splits that they stand for."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from certivote.cli._columns import ColumnOptions
from certivote.cli._messages import fail, naming
from certivote.cli._options import Delta, Options, Seed, name_option
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.voters import VOTERS

if TYPE_CHECKING:
    from certivote.methods import BaseMethod
    from certivote.splits import BaseSplit

_OF_METHODS = {
    "--family": "family",
    "--solver": "solver",
    "--renyi-order": "order",
    "--n-draws": "n_draws",
    "--constant": "constant",
}
"""Options that only some methods have, and what these call them."""
_OF_SPLITS = {"--tau": "tau", "--train-share": "train_share"}


def _number_or(kind: Callable[[str], Any], *names: str, least: float = -math.inf) -> Callable[[str], Any]:
    """A parser for an option that is a number, at least so large, or one of some names."""

    def parse(text: Any) -> Any:
        if text in names or not isinstance(text, str):
            return text
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not number >= least:
            wanted = "a whole number" if kind is int else "a number"
            wanted += f" from {least} on" if math.isfinite(least) else ""
            raise typer.BadParameter(f"{text!r} is neither {' nor '.join(names)} nor {wanted}.")
        return number

    return parse


Voters = Annotated[str, name_option("VOTERS", lambda: ["auto", *VOTERS])]
Prior = Annotated[str, typer.Option(parser=_number_or(float, "auto", "informed"), metavar="auto|informed|NUMBER")]


@dataclass(frozen=True, kw_only=True)
class _Common(Options):
    """What one method and several are asked for; what is not explained here differs between the two.

    Attributes
    ----------
    loss
        What counts as an error: a wrong answer; or, as in the paper, half of the weight on wrong answers.
    family
        Distributions that the weights of a drawn or random vote come from: {names}.
    solver
        How the bound is minimised: by L-BFGS, or by Adam as in the paper.
    """

    method: Any = None
    voters: str = "auto"
    split: Any = "auto"
    loss: Literal["plurality", "half-weight"] = "plurality"
    delta: Delta = 0.05
    prior: Any = "auto"
    family: Annotated[
        str,
        name_option("FAMILY", lambda: [name for name, family in FAMILIES.items() if family.over_weights]),
    ] = "dirichlet"
    solver: Literal["lbfgs", "adam"] = "lbfgs"
    seed: Seed = None

    def common(self) -> dict[str, Any]:
        """What all methods have in common, as the library calls it."""
        return {"loss": self.loss, "delta": self.delta, "prior": self.prior, "random_state": self.seed}

    def _chosen(self, names: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
        """Which of some options were given: what the library calls them, and their values."""
        return {option: (names[option], value) for option, value in self.given().items() if option in names}

    def _with_options(self, name: str) -> "str | BaseMethod":
        """The method with those of its options that were given; by its name alone if none was."""
        from certivote.methods import make_method, method_class

        chosen = self._chosen(_OF_METHODS)
        for option, (own, _) in chosen.items():
            able = [each for each in ("auto", *METHODS) if own in method_class(each)._get_param_names()]
            if name not in able:
                fail(f"{option}: {name} has no such option; it is for {', '.join(able)}.")
        return _made(partial(make_method, name), chosen) if chosen else name


@dataclass(frozen=True, kw_only=True)
class Learning(_Common):
    """How one method learns.

    Attributes
    ----------
    method
        Bound to minimise and to certify by: {names}.
    voters
        Who votes: {names}. auto: mixed with --method auto, otherwise forest.
    split
        single: train the voters on one part of the rows and certify on the other. cross: both ways round. A number of
        folds: certify on each fold, with voters trained on the others. auto: with --method auto, what a learning curve
        suggests, otherwise single.
    prior
        Hyper-prior: learned from training rows (informed), or the Dirichlet parameter of every voter (a number). auto:
        informed with --method auto, otherwise the best of three, and the choice is paid for.
    train_share
        Share of the rows that train the voters. auto: chosen by a learning curve with --method auto, otherwise one
        half.
    tau
        With --split cross: weight of the first vote in the average.
    renyi_order
        Order of the Rényi divergence of dis-v; repeat to choose among several. [default: 1.5]
    n_draws
        Votes to draw. The best is kept, and all are paid for.
    constant
        In the bound: Maurer's constant itself, or 2 sqrt(n) as in the paper, which is larger.
    """

    method: Annotated[str, name_option("METHOD", lambda: ["auto", *METHODS])] = "auto"
    voters: Voters = "auto"
    split: Annotated[
        str, typer.Option(parser=_number_or(int, "auto", "single", "cross", least=2), metavar="auto|single|cross|FOLDS")
    ] = "auto"
    prior: Prior = "auto"
    train_share: Annotated[str, typer.Option(parser=_number_or(float, "auto"), metavar="auto|SHARE")] = "auto"
    tau: float = 0.5
    renyi_order: Annotated[list[float] | None, typer.Option(metavar="NUMBER")] = None
    n_draws: int = 1
    constant: Literal["exact", "paper"] = "exact"

    def given(self) -> dict[str, Any]:
        """As for all options; an order of the divergence is a number, unless there are several."""
        orders = self.renyi_order or []
        return super().given() | ({"--renyi-order": orders[0]} if len(orders) == 1 else {})

    def parameters(self, columns: ColumnOptions, decimal: str | None) -> dict[str, Any]:
        """Those of the estimator."""
        from certivote.pipeline import usual_voters

        voters = usual_voters(self.method) if self.voters == "auto" else self.voters
        own = {
            "method": self._with_options(self.method),
            "voters": columns.voters(voters, decimal),
            "split": self._split(),
        }
        return {**self.common(), **own}

    def of_all_rows(self) -> dict[str, Any]:
        """What was given by options that need all rows at once."""
        given = self.given()
        given["--split"] = self.split not in ("auto", "single")
        return {option: given.get(option) for option in ("--split", "--tau")}

    def _split(self) -> "str | int | BaseSplit":
        """The split with the options that were given."""
        from certivote.splits import Cross, Single

        given = self.given()
        if "--tau" in given and self.split != "cross":
            fail("--tau: this is for --split cross.")
        if "--train-share" in given and self.split not in ("auto", "single", "cross"):
            fail("--train-share: this is for --split single and cross; folds have one size.")
        chosen = self._chosen(_OF_SPLITS)
        return _made(Cross if self.split == "cross" else Single, chosen) if chosen else self.split


@dataclass(frozen=True, kw_only=True)
class ComparedLearning(_Common):
    """How several methods learn from the same votes.

    Attributes
    ----------
    method
        Method to compare, one of {names}; repeat for several. [default: all that suit the data]
    joint
        Divide delta among the methods, so that the best certificate may be picked.
    voters
        Who votes: {names}. auto: forest.
    split
        single: train the voters on one part of the rows and certify on the other. cross: both ways round. A number of
        folds: certify on each fold, with voters trained on the others.
    prior
        Hyper-prior: learned from training rows (informed), or the Dirichlet parameter of every voter (a number). auto:
        the best of three, and the choice is paid for.
    """

    method: Annotated[list[str] | None, name_option("METHOD", lambda: METHODS)] = None
    joint: bool = False
    voters: Voters = "auto"
    split: Annotated[
        str, typer.Option(parser=_number_or(int, "single", "cross", least=2), metavar="single|cross|FOLDS")
    ] = "single"
    prior: Prior = "auto"

    def parameters(self, columns: ColumnOptions, decimal: str | None) -> dict[str, Any]:
        """Those of the comparison."""
        voters = columns.voters("forest" if self.voters == "auto" else self.voters, decimal)
        return {**self.common(), "voters": voters, "split": self.split, "joint": self.joint}

    def methods(self, n_classes: int) -> "list[str | BaseMethod]":
        """The methods with the options that were given; by default all that suit them and this number of classes."""
        from certivote.methods import methods_with

        if self.method:
            return [self._with_options(name) for name in self.method]
        return [*methods_with(n_classes, **dict(self._chosen(_OF_METHODS).values()))]


def _made(make: Callable[..., Any], options: dict[str, tuple[str, Any]]) -> Any:
    """What a class or function makes of options, by their names and values there; end if it refuses one."""
    for option, (name, value) in options.items():
        with naming(option):
            make(**{name: value})
    return make(**dict(options.values()))

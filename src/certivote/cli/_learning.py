"""How a vote is learned: the options of ``fit`` and ``compare``, and the methods and splits that they stand for."""

import math
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from certivote.cli._columns import ColumnOptions
from certivote.cli._groups import Options, option_name
from certivote.cli._shared import Delta, Seed, fail, name_option
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.voters import VOTERS

if TYPE_CHECKING:
    from certivote.methods import BaseMethod
    from certivote.splits import BaseSplit


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


def _voters_option(automatic: str) -> Any:
    return name_option("VOTERS", lambda: ["auto", *VOTERS], f"Who votes: {{names}}. auto: {automatic}.")


def _prior_option(automatic: str) -> Any:
    return typer.Option(
        parser=_number_or(float, "auto", "informed"),
        metavar="auto|informed|NUMBER",
        help="Hyper-prior: learned from training rows (informed), or the Dirichlet parameter of every voter (a "
        f"number). auto: {automatic}.",
    )


def _split_option(*names: str, automatic: str = "") -> Any:
    names = (*names, "single", "cross")
    return typer.Option(
        parser=_number_or(int, *names, least=2),
        metavar="|".join([*names, "FOLDS"]),
        help="single: train the voters on one part of the rows and certify on the other. cross: both ways round. A "
        f"number of folds: certify on each fold, with voters trained on the others.{automatic}",
    )


@dataclass(frozen=True, kw_only=True)
class _Common(Options):
    """What one method and several are asked for; those without a help differ between the two."""

    method: Any = None
    voters: str = "auto"
    split: Any = "auto"
    loss: Annotated[
        Literal["plurality", "half-weight"],
        typer.Option(
            help="What counts as an error: a wrong answer; or, as in the paper, half of the weight on wrong answers."
        ),
    ] = "plurality"
    delta: Delta = 0.05
    prior: Any = "auto"
    family: Annotated[
        str,
        name_option(
            "FAMILY",
            lambda: [name for name, family in FAMILIES.items() if family.over_weights],
            "Distributions that the weights of a drawn or random vote come from: {names}.",
        ),
    ] = "dirichlet"
    solver: Annotated[
        Literal["lbfgs", "adam"],
        typer.Option(help="How the bound is minimised: by L-BFGS, or by Adam as in the paper."),
    ] = "lbfgs"
    seed: Seed = None

    def _of_method(self) -> dict[str, tuple[str, Any]]:
        return {"--family": ("family", self.family), "--solver": ("solver", self.solver)}


@dataclass(frozen=True, kw_only=True)
class Learning(_Common):
    """How one method learns."""

    method: Annotated[
        str, name_option("METHOD", lambda: ["auto", *METHODS], "Bound to minimise and to certify by: {names}.")
    ] = "auto"
    voters: Annotated[str, _voters_option("mixed with --method auto, otherwise forest")] = "auto"
    split: Annotated[
        str,
        _split_option("auto", automatic=" auto: with --method auto, what a learning curve suggests, otherwise single."),
    ] = "auto"
    prior: Annotated[
        str, _prior_option("informed with --method auto, otherwise the best of three, and the choice is paid for")
    ] = "auto"
    train_share: Annotated[
        str,
        typer.Option(
            parser=_number_or(float, "auto"),
            metavar="auto|SHARE",
            help="Share of the rows that train the voters. auto: chosen by a learning curve with --method auto, "
            "otherwise one half.",
        ),
    ] = "auto"
    tau: Annotated[float, typer.Option(help="With --split cross: weight of the first vote in the average.")] = 0.5
    renyi_order: Annotated[
        list[float] | None,
        typer.Option(
            metavar="NUMBER",
            help="Order of the Rényi divergence of dis-v; repeat to choose among several.  [default: 1.5]",
        ),
    ] = None
    n_draws: Annotated[int, typer.Option(help="Votes to draw. The best is kept, and all are paid for.")] = 1
    constant: Annotated[
        Literal["exact", "paper"],
        typer.Option(help="In the bound: Maurer's constant itself, or 2 sqrt(n) as in the paper, which is larger."),
    ] = "exact"

    def parameters(self, columns: ColumnOptions, decimal: str | None) -> dict[str, Any]:
        """Those of the estimator."""
        from certivote.pipeline import usual_voters

        return {
            "method": self._method(),
            "voters": columns.voters(usual_voters(self.method) if self.voters == "auto" else self.voters, decimal),
            "split": self._split(),
            "loss": self.loss,
            "delta": self.delta,
            "prior": self.prior,
            "random_state": self.seed,
        }

    def of_all_rows(self) -> dict[str, Any]:
        """What was given by options that need all rows at once."""
        given = self.given()
        given["--split"] = self.split not in ("auto", "single")
        return {option: given.get(option) for option in ("--split", "--tau")}

    def _method(self) -> "str | BaseMethod":
        """The method with the options that were given."""
        orders = self.renyi_order or []
        return _method(
            self.method,
            {
                **self._of_method(),
                "--renyi-order": ("order", orders[0] if len(orders) == 1 else orders),
                "--n-draws": ("n_draws", self.n_draws),
                "--constant": ("constant", self.constant),
            },
            self.given(),
        )

    def _split(self) -> "str | int | BaseSplit":
        """The split with the options that were given."""
        from certivote.splits import Cross, Single

        given = self.given()
        if "--tau" in given and self.split != "cross":
            fail("--tau: this is for --split cross.")
        if "--train-share" in given and self.split not in ("auto", "single", "cross"):
            fail("--train-share: this is for --split single and cross; folds have one size.")
        options = {name: getattr(self, name) for name in ("tau", "train_share") if option_name(name) in given}
        kind: type[BaseSplit] = Cross if self.split == "cross" else Single
        for name, value in options.items():
            try:
                kind(**{name: value})
            except ValueError as error:
                fail(f"{option_name(name)}: {error}")
        return kind(**options) if options else self.split


@dataclass(frozen=True, kw_only=True)
class ComparedLearning(_Common):
    """How several methods learn from the same votes."""

    method: Annotated[
        list[str] | None,
        name_option(
            "METHOD",
            lambda: METHODS,
            "Method to compare, one of {names}; repeat for several.  [default: all that suit the data]",
        ),
    ] = None
    joint: Annotated[
        bool,
        typer.Option("--joint", help="Divide delta among the methods, so that the best certificate may be picked."),
    ] = False
    voters: Annotated[str, _voters_option("forest")] = "auto"
    split: Annotated[str, _split_option()] = "single"
    prior: Annotated[str, _prior_option("the best of three, and the choice is paid for")] = "auto"

    def parameters(self, columns: ColumnOptions, decimal: str | None) -> dict[str, Any]:
        """What all methods have in common."""
        return {
            "voters": columns.voters("forest" if self.voters == "auto" else self.voters, decimal),
            "split": self.split,
            "loss": self.loss,
            "delta": self.delta,
            "prior": self.prior,
            "joint": self.joint,
            "random_state": self.seed,
        }

    def methods(self, n_classes: int) -> "list[str | BaseMethod]":
        """The methods with the options that were given; by default all that suit so many classes and the options."""
        from certivote.methods import methods_with

        given = self.given()
        if self.method:
            return [_method(name, self._of_method(), given) for name in self.method]
        chosen = {own: value for option, (own, value) in self._of_method().items() if option in given}
        return [*methods_with(n_classes, **chosen)]


def _method(name: str, options: dict[str, tuple[str, Any]], given: Container[str]) -> "str | BaseMethod":
    """The method with those of the options that were given; by its name alone if none was.

    ``options`` are names of the method's own options and values, by the options of the command line. What is wrong with
    one ends in a line that names it.
    """
    from certivote.methods import make_method, method_class

    chosen = {}
    for option, (own, value) in options.items():
        if option not in given:
            continue
        able = [each for each in ("auto", *METHODS) if own in method_class(each)._get_param_names()]
        if name not in able:
            fail(f"{option}: {name} has no such option; it is for {', '.join(able)}.")
        try:
            make_method(name, **{own: value})
        except ValueError as error:
            fail(f"{option}: {error}")
        chosen[own] = value
    return make_method(name, **chosen) if chosen else name

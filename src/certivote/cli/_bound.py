"""``certivote bound``: a calculator."""

import json
from fractions import Fraction
from typing import Annotated, Any

import typer

from certivote.cli._messages import fail
from certivote.cli._options import Delta, verb
from certivote.cli._outputs import AsJson
from certivote.present import bound_text, text_table
from certivote.theory.calculator import LARGEST, Formula, formulas, rows_needed


@verb
def bound(
    errors: Annotated[int | None, typer.Option(min=0)] = None,
    n: Annotated[int | None, typer.Option("--n", min=1)] = None,
    rate: Annotated[str | None, typer.Option(metavar="NUMBER")] = None,
    delta: Delta = 0.05,
    penalty: Annotated[float, typer.Option(metavar="NATS")] = 0.0,
    renyi_order: float = 1.5,
    target: Annotated[float | None, typer.Option(metavar="NUMBER")] = None,
    shift_kl: Annotated[float, typer.Option(metavar="NATS")] = 0.0,
    total_variation: Annotated[float, typer.Option(metavar="NUMBER")] = 0.0,
    label_noise: Annotated[float, typer.Option(metavar="NUMBER")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Show the bound of every method for given numbers of errors and examples, or how many examples a bound needs.

    Nothing is read or learned: you give the numbers. Methods differ in whose error they bound and in what the error
    rate is the rate of, as the table says, so their bounds are not alternatives for one classifier. They are rounded
    up.

    Parameters
    ----------
    errors
        Number of errors.
    n
        Number of examples that they are among.
    rate
        An error rate, in place of --errors and --n; needs --target.
    penalty
        What learning from these examples costs: for dis-b and dis-r the logarithm of the density ratio at the draw; for
        dis-v the Rényi divergence, for smv-exact, fo and so the Kullback-Leibler divergence, from the prior.
    renyi_order
        Order of the Rényi divergence of dis-v.
    target
        A bound to reach: show how many examples that takes, at the same error rate.
    shift_kl
        Show the bounds for every population whose Kullback-Leibler divergence from that of the examples is at most
        this.
    total_variation
        The same for populations that give no event a probability that differs by more than this.
    label_noise
        Show the bounds on the error with respect to the true classes, if at most this share of the recorded classes is
        wrong.
    """
    share = _rate(errors, n, rate, target)
    if penalty < 0 and target is not None:
        fail("--penalty: below 0 it belongs to one draw, not to samples of other sizes; leave out --target.")
    differs = {"kl": shift_kl, "total_variation": total_variation, "label_noise": label_noise}
    try:
        known = formulas(delta, penalty, renyi_order, **differs)
        rows = [_row(formula, errors, n, share, target) for formula in known]
    except ValueError as error:
        name, _, rest = str(error).partition(" ")
        fail(f"--{'shift-kl' if name == 'kl' else name.replace('_', '-')} {rest}")
    if as_json:
        given = {"errors": errors, "n": n, "rate": float(share), "delta": delta, "penalty": penalty, "target": target}
        shown = {"shift_kl": shift_kl, "total_variation": total_variation, "label_noise": label_noise}
        typer.echo(json.dumps({**given, **shown, "bounds": rows}, indent=2))
        return
    never = [target is not None and formula.limit(float(share)) >= target for formula in known]
    head = [name for name in _HEADS if name in rows[0]]
    cells = ([_cell(name, row[name], lost) for name in head] for row, lost in zip(rows, never, strict=True))
    typer.echo(_title(errors, n, share, delta, penalty, target) + _elsewhere(differs) + "\n")
    typer.echo(text_table([_HEADS[name] for name in head], cells))


def _rate(errors: int | None, n: int | None, rate: str | None, target: float | None) -> Fraction:
    if errors is not None and n is not None and rate is None:
        if errors > n:
            fail(f"--errors: {errors} among {n} examples; there cannot be more errors than examples.")
        return Fraction(errors, n)
    if rate is None or errors is not None or n is not None or target is None:
        fail("--errors, --n: give both; or --rate and --target, to learn how many examples are needed.")
    try:
        return Fraction(rate)
    except (ValueError, ZeroDivisionError):
        fail(f"--rate: {rate!r} is not a number.")


def _row(
    formula: Formula, errors: int | None, n: int | None, rate: Fraction, target: float | None
) -> dict[str, str | float | None]:
    row: dict[str, str | float | None] = {"method": formula.method, "constant": formula.constant or None}
    if errors is not None and n is not None:
        row["bound"] = formula.bound(errors, n)
    if target is not None:
        row["examples"] = rows_needed(formula.bound, rate, target)
    return {**row, "certified": formula.certified, "rate_of": formula.counted, "theorem": formula.theorem}


_HEADS = {
    "method": "method",
    "constant": "constant",
    "bound": "bound",
    "examples": "examples needed",
    "certified": "whose error",
    "rate_of": "the rate is that of",
    "theorem": "by",
}


def _title(
    errors: int | None, n: int | None, rate: Fraction, delta: float, penalty: float, target: float | None
) -> str:
    counted = f"an error rate of {100 * float(rate):.4f} %" if n is None else f"{errors:,} errors among {n:,} examples"
    wanted = f" Examples needed: for a bound of {target:.6g} at this rate." if target is not None else ""
    return f"{counted[0].upper()}{counted[1:]}, delta = {delta:g}, penalty = {penalty:g} nats.{wanted}"


def _elsewhere(differs: dict[str, float]) -> str:
    """Which populations the bounds are for."""
    named = {
        "kl": "a Kullback-Leibler divergence of {:g} nats",
        "total_variation": "a total variation of {:g}",
        "label_noise": "wrong labels in {:g} of all cases",
    }
    given = [text.format(differs[name]) for name, text in named.items() if differs[name]]
    return f" The bounds allow for {' and '.join(given)}." if given else ""


def _cell(name: str, value: Any, never: bool) -> str:
    if name == "examples":
        return f"{value:,}" if value else "never" if never else f"over {LARGEST:,}"
    if name == "bound":
        return bound_text(value)
    return value or ""

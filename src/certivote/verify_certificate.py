"""Check a certificate with this one file and Python's standard library: ``python verify_certificate.py c.json``.

It imports nothing but the standard library (Python 3.10 or newer), so that it can be read from top to bottom, copied to
another machine and run there. It shares no code with what makes certificates, nor with ``certivote verify``, which
checks much more.

A certificate says of several events, such as "the answer is wrong", that their probability is at most
a bound. Of a classifier that was fixed before the rows were counted, with k events in n independent rows, this is true
up to a probability u where P[Bin(n, bound) <= k] <= u: the bound of Clopper and Pearson. For every such bound in the
record, this script

1. finds u: the statement's part of delta, as the record states it; and, where the weights of the vote were learned and
   then drawn (method dis-b), this times what the record's price list leaves for the drawn weights;
2. proves the inequality;
3. proves that the parts of delta of all that must hold together are not more than delta.

Everything else in the file is listed as "not checked here": bounds by other theorems, and whether the counts are those
of the data, for which one needs the data. All numbers are intervals of decimals that are known to contain the exact
value. Nothing is passed that was not proved.

It ends with 0 if the bound of the certificate is proved and nothing is wrong, with 1 if something is wrong or the file
is no certificate, and with 3 if nothing is wrong but the bound itself cannot be checked here.
"""

import itertools
import json
import math
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any, NamedTuple

__all__ = ["Line", "RefusedError", "check", "read"]

LARGEST_FILE = 1 << 26
"""Bytes that are read at most."""
MOST_VALUES = 1 << 20
"""Values that a file may hold."""
LARGEST_COUNT = 10**15
MOST_TERMS = 5_000_000
"""Terms of binomial tails that are summed for one file: some seconds. What needs more is left unchecked."""
ROUNDING = Decimal(10) ** -14
"""By how much, of itself, a sum of parts of delta may exceed it: they are rounded in the record."""


class RefusedError(ValueError):
    """What is wrong with the file."""


# --- Intervals that contain the exact value: decimal operations are rounded as their context says; ``ln`` and
# --- ``exp`` always to the nearest, and then the neighbour is taken.

DIGITS = 60
_DOWN = Context(DIGITS, ROUND_FLOOR, MIN_EMIN, MAX_EMAX)
_UP = Context(DIGITS, ROUND_CEILING, MIN_EMIN, MAX_EMAX)
_NEAR = Context(DIGITS, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX)


@dataclass(frozen=True)
class Interval:
    """All numbers from ``low`` to ``high``; divisors, and what logarithms are taken of, must be positive."""

    low: Decimal
    high: Decimal

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(_DOWN.add(self.low, other.low), _UP.add(self.high, other.high))

    def __sub__(self, other: "Interval") -> "Interval":
        return Interval(_DOWN.subtract(self.low, other.high), _UP.subtract(self.high, other.low))

    def __mul__(self, other: "Interval") -> "Interval":
        pairs = list(itertools.product((self.low, self.high), (other.low, other.high)))
        return Interval(min(_DOWN.multiply(*pair) for pair in pairs), max(_UP.multiply(*pair) for pair in pairs))

    def __truediv__(self, other: "Interval") -> "Interval":
        pairs = list(itertools.product((self.low, self.high), (other.low, other.high)))
        return Interval(min(_DOWN.divide(*pair) for pair in pairs), max(_UP.divide(*pair) for pair in pairs))

    def log(self) -> "Interval":
        return Interval(_NEAR.next_minus(_NEAR.ln(self.low)), _NEAR.next_plus(_NEAR.ln(self.high)))

    def exp(self) -> "Interval":
        return Interval(_NEAR.next_minus(_NEAR.exp(self.low)), _NEAR.next_plus(_NEAR.exp(self.high)))


def exactly(number: Any) -> Interval:
    """A whole number, float or decimal, which decimals hold exactly or between two neighbours."""
    value = Decimal(number)
    return Interval(_DOWN.plus(value), _UP.plus(value))


ZERO, HALF, ONE, TWO = map(exactly, ("0", "0.5", "1", "2"))
PI = Interval(
    Decimal("3.14159265358979323846264338327950288419716939937510582097494459"),
    Decimal("3.14159265358979323846264338327950288419716939937510582097494460"),
)
BERNOULLI = [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798)]
BERNOULLI += [(-174611, 330), (854513, 138), (-236364091, 2730), (8553103, 6)]
"""B_2, B_4, ..., B_26, exactly."""


def log_gamma(x: Interval) -> Interval:
    """The logarithm of the gamma function at a positive number, by Stirling's series.

    For x > 0 the error of the series is smaller than the first term that is left out, and of its sign. Small numbers
    are brought above 40 first: gamma(x) = gamma(x + m) / (x (x + 1) ... (x + m - 1)).
    """
    product = ONE
    while x.low < 40:
        product, x = product * x, x + ONE
    found = (x - HALF) * x.log() - x + HALF * (PI * TWO).log() - product.log()
    power = x
    for place, (top, bottom) in enumerate(BERNOULLI, start=1):
        term = exactly(top) / (exactly(bottom * 2 * place * (2 * place - 1)) * power)
        if place == len(BERNOULLI):
            term = Interval(min(term.low, Decimal(0)), max(term.high, Decimal(0)))
        found, power = found + term, power * x * x
    return found


# --- The binomial tail.


def tail_is_at_most(k: int, n: int, p: float, log_level: Interval, most_terms: int) -> tuple[bool | None, int]:
    """Whether P[Bin(n, p) <= k] is proved to be at most a level, None if that takes too many terms; and how many.

    The terms are summed from the last, C(n, k) p^k (1-p)^(n-k), down. Each is the one before times a ratio, and the
    ratios decrease: once one of them is below 1, the terms that are left are at most those of a geometric series.
    """
    if p >= 1 or k >= n or not p > 0:
        return p >= 1, 0
    yes, no = exactly(p), ONE - exactly(p)
    ways = log_gamma(exactly(n + 1)) - log_gamma(exactly(k + 1)) - log_gamma(exactly(n - k + 1))
    last = ways + exactly(k) * yes.log() + exactly(n - k) * no.log()
    # Everything in units of the level, so that far tails are numbers of an ordinary size.
    found = term = (last - log_level).exp().high
    odds, one = (no / yes).high, Decimal(1)
    for i in range(k, 0, -1):
        ratio = _UP.multiply(odds, _UP.divide(Decimal(i), Decimal(n - i + 1)))
        if ratio < one and _UP.add(found, _UP.divide(_UP.multiply(term, ratio), _DOWN.subtract(one, ratio))) <= one:
            return True, k - i
        if found > one or k - i >= most_terms:
            return (False if found > one else None), k - i
        term = _UP.multiply(term, ratio)
        found = _UP.add(found, term)
    return found <= one, k


# --- The file. It may come from anyone.


def read(path: str) -> Any:
    """The JSON value that a file holds: of bounded size, without repeated names, NaN, infinities or endless numbers."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise RefusedError("it is not a regular file")
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise RefusedError(f"it cannot be read: {error}") from None
    if len(content) > LARGEST_FILE:
        raise RefusedError(f"it has more than {LARGEST_FILE:,} bytes")
    try:
        text = content.decode()
        if sum(map(text.count, ",[{")) > MOST_VALUES:
            raise RefusedError(f"it has more than {MOST_VALUES:,} values")
        return json.loads(
            text, parse_int=_whole, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_no_name_twice
        )
    except (RecursionError, ValueError) as error:
        raise RefusedError(f"it is not JSON that can be read: {error}") from None


def _whole(digits: str) -> int:
    if len(digits) > 20:
        raise RefusedError("it holds a whole number of more than 20 digits")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(float(digits)):
        raise RefusedError("it holds a number that is not finite")
    return float(digits)


def _no_name_twice(pairs: list[tuple[str, Any]]) -> Any:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise RefusedError("it has the same name twice in one object")
    return record


class Record:
    """A JSON object: every value is asked for with its type, and numbers strictly between two others."""

    def __init__(self, value: Any, place: str):
        if type(value) is not dict:
            raise RefusedError(f"{place} is not an object")
        self._value, self.place = value, place

    def _get(self, name: str, *kinds: type) -> Any:
        if name not in self._value:
            raise RefusedError(f"{self.place} has no {name}")
        if type(self._value[name]) not in kinds:
            raise RefusedError(f"{self.place}.{name} is not of the type that it must have")
        return self._value[name]

    def text(self, name: str) -> str:
        return str(self._get(name, str))

    def flag(self, name: str) -> bool:
        return bool(self._get(name, bool))

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        found = float(self._get(name, float, int))
        if not least < found < most:
            raise RefusedError(f"{self.place}.{name} is not between {least:g} and {most:g}")
        return found

    def count(self, name: str, least: int = 0) -> int:
        found = int(self._get(name, int))
        if not least <= found <= LARGEST_COUNT:
            raise RefusedError(f"{self.place}.{name} is not a number from {least} to {LARGEST_COUNT}")
        return found

    def entries(self, name: str) -> list[Any]:
        return list(self._get(name, list))

    def numbers(self, name: str) -> list[float]:
        return numbers_of(self.entries(name), f"{self.place}.{name}")

    def record(self, name: str) -> "Record":
        return Record(self._get(name, dict), f"{self.place}.{name}")

    def records(self, name: str) -> "list[Record]":
        return [Record(each, f"{self.place}.{name}[{i}]") for i, each in enumerate(self.entries(name))]


def numbers_of(values: Any, place: str) -> list[float]:
    """A list of numbers."""
    if type(values) is not list or not all(type(value) in (int, float) for value in values):
        raise RefusedError(f"{place} is not a list of numbers")
    return [float(value) for value in values]


# --- What the drawn weights cost (method dis-b).


def log_price(c: Record, part: Record) -> Interval:
    """The logarithm of what the price list leaves of a level, for the weights that were drawn; see ``docs/theory.md``.

    With theta = ln dQ/dP, the logarithm of the ratio of the densities of hyper-posterior and hyper-prior at the drawn
    weights, and prices that are positive with a sum of at most 1:

        sum of  weight * exp(-place)                                    over price_atoms with theta <= place, and of
                weight / (scale + 1) * exp(-(1 + 1/scale) max(theta, 0))   over price_scales.
    """
    prior = part.number("prior_weight", 0)
    if prior > (1 / 3 if c.text("prior") == "grid" else 1):
        raise RefusedError(f"{part.place}.prior_weight is not that of one of several")
    theta = _log_ratio(part) - exactly(prior).log()
    atoms = [numbers_of(entry, f"{c.place}.price_atoms") for entry in c.entries("price_atoms")]
    scales = [numbers_of(entry, f"{c.place}.price_scales") for entry in c.entries("price_scales")]
    if not scales or not all(len(entry) == 2 and entry[1] > 0 for entry in atoms + scales):
        raise RefusedError("the price list is not one of positive weights")
    if not all(scale > 0 for scale, _ in scales):
        raise RefusedError("the price list has a scale that is not positive")
    if sum((exactly(weight) for _, weight in atoms + scales), ZERO).high > 1 + Decimal("1e-12"):
        raise RefusedError("the weights of the price list sum to more than 1")
    found, positive = ZERO, Interval(max(theta.low, Decimal(0)), max(theta.high, Decimal(0)))
    for place, weight in atoms:
        if theta.high <= Decimal(place):
            found += exactly(weight) * exactly(-place).exp()
    for scale, weight in scales:
        size = exactly(scale)
        found += exactly(weight) / (size + ONE) * (ZERO - (ONE + ONE / size) * positive).exp()
    return found.log()


def _log_ratio(part: Record) -> Interval:
    """The logarithm of dQ/dP at the drawn weights, of two Dirichlet distributions or two products of Gaussians."""
    voters, family = part.count("n_voters", 1), part.text("family")
    alpha, beta, drawn = (
        [exactly(number) for number in part.numbers(name)] for name in ("alpha", "beta", "log_weights")
    )
    each = 2 if family == "logistic-normal" else 1
    if not len(alpha) == len(beta) == each * voters or len(drawn) != voters:
        raise RefusedError(f"{part.place} does not have the parameters of {voters} voters")
    if not all(x.low > 0 for x in (alpha + beta if each == 1 else alpha[voters:] + beta[voters:])):
        raise RefusedError(f"{part.place} has parameters that are not positive")
    if family == "dirichlet":
        weights = sum((log.exp() for log in drawn), ZERO)
        if not Decimal("0.999999999") < weights.low <= weights.high < Decimal("1.000000001"):
            raise RefusedError(f"{part.place} has drawn weights that do not sum to 1")
        tilt = sum(((a - b) * log for a, b, log in zip(alpha, beta, drawn, strict=True)), ZERO)
        return tilt + _log_beta(beta) - _log_beta(alpha)
    if family == "logistic-normal":
        own, prior = (zip(side[:voters], side[voters:], drawn, strict=True) for side in (alpha, beta))
        return sum((_log_density(*x) for x in own), ZERO) - sum((_log_density(*x) for x in prior), ZERO)
    raise RefusedError(f"{part.place} has a family that no weights are drawn from")


def _log_beta(parameters: list[Interval]) -> Interval:
    """The normaliser of a Dirichlet distribution."""
    return sum(map(log_gamma, parameters), ZERO) - log_gamma(sum(parameters, ZERO))


def _log_density(mean: Interval, precision: Interval, point: Interval) -> Interval:
    """Of a Gaussian, but for a constant."""
    return HALF * (precision.log() - precision * (point - mean) * (point - mean))


# --- The certificate.


class Line(NamedTuple):
    """One line of what is printed."""

    verdict: str
    what: str
    detail: str

    def __str__(self) -> str:
        text = f"{self.verdict}: {self.what}: {self.detail}"[:500]
        return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


PROVED, WRONG, NOT_CHECKED = "proved", "WRONG", "not checked here"
COUNTED = {"by class": ("error", "false alarm"), "precision": ("imprecision", "omission")}
"""Promises that are checked here, and what their statements are about: the second where there are three classes."""


class Audit:
    """What is asked of one certificate."""

    def __init__(self, value: Any):
        c = self.c = Record(value, "certificate")
        if c.count("schema_version") != 1:
            raise RefusedError("it has another schema than 1")
        self.delta = exactly(c.number("delta", 0, 1))
        self.parts, self.promises, self.candidates = c.records("parts"), c.records("promises"), c.records("candidates")
        self.classes = c.entries("classes")
        if c.count("deployed") >= len(self.parts) or not self.classes:
            raise RefusedError("it does not have classes, and the part that is said to be deployed")
        self.method, self.is_grouped = c.text("method"), c.text("groups") != ""
        # All parts, and all given models with a vote of them, were counted before one was chosen; and all draws; the
        # vote has its share of delta where counted rows chose between two; the bound has what the promises leave.
        self.choices = len(self.parts) * (len(self.candidates) + 1 if self.candidates else 1)
        self.draws = c.count("n_draws", 1) * max(len(c.entries("renyi_orders")), 1)
        self.share = exactly(c.number("share", 0))
        own = sum((exactly(promise.number("delta", 0, 1)) for promise in self.promises), ZERO)
        self.bound_share = self.delta - own if c.flag("together") else self.delta
        self.terms_left = MOST_TERMS

    def lines(self) -> Iterator[Line]:
        yield self._account()
        yield from self._chosen()
        free = None if self.is_grouped else ZERO
        paid = [self._price(part) for part in self.parts]
        for part, price in zip(self.parts, paid, strict=True):
            own = self.share * self.bound_share
            yield self._counted(part.record("statement"), "error", own, self.choices, self.draws, price)
            yield self._counted(part.record("holdout"), "hold-out", self.delta, self.choices, 1, free)
            trained = part.count("training_rows") and self.c.text("subject") == "vote"
            among = len(self.parts) * (1 if trained else len(self.classes))
            yield self._counted(part.record("majority"), "majority", self.delta, among, 1, free)
        for candidate in self.candidates:
            yield self._counted(candidate.record("statement"), "candidate", self.bound_share, self.choices, 1, free)
        deployed = self.c.count("deployed")
        for promise in self.promises:
            yield from self._promise(promise, self.parts[deployed], paid[deployed])
        if len(self.parts) > 1:
            yield Line(NOT_CHECKED, "certificate.average_bound", "the bound on the average of the parts")
        yield Line(NOT_CHECKED, "the counts", "whether they are those of the data: certivote verify, with the data")
        yield Line(NOT_CHECKED, "the vote", "whether its hyper-prior was fixed, and its weights drawn, as recorded")
        yield Line(NOT_CHECKED, "everything else", "whatever the file says besides")

    def _account(self) -> Line:
        """Whether the bound and the promises, together or each, have no more of delta than there is."""
        right = self.bound_share.low > 0 and all(
            _fits(exactly(promise.number("delta", 0, 1)), 1, self.delta) for promise in self.promises
        )
        how = "the bound and all promises together" if self.c.flag("together") else "the bound, and each promise,"
        what = f"{how} have {'at most' if right else 'MORE than'} {self.c.number('delta')!r}"
        return Line(PROVED if right else WRONG, "delta", what)

    def _chosen(self) -> Iterator[Line]:
        """Whether delta was divided among all that the counted rows chose between: models, or two ways to vote."""
        recorded, is_vote = self.c.record("provenance").entries("parameters"), self.c.text("subject") == "vote"
        try:
            asked = json.loads(dict(recorded)["method" if is_vote else "models"])
        except (KeyError, RecursionError, TypeError, ValueError):
            raise RefusedError("it does not say which method was asked for, or which models were given") from None
        if not is_vote:
            found = [candidate.text("name") for candidate in self.candidates]
            right = type(asked) is list and found == (asked if len(asked) > 1 else [])
            detail = f"{len(found) or 1} recorded, {'as' if right else 'OTHERS than'} given"
            yield Line(PROVED if right else WRONG, "models", detail)
        options, most = asked if type(asked) is dict else {"name": asked}, 1.0
        if is_vote and options.get("name") == "auto" and options.get("price_list", "auto") == "auto":
            fixed = 0.95 if self.c.text("prior") == "informed" else 0.5
            most = {"holdout": fixed, "dis-b": 1 - fixed}.get(self.method, 0.0)
        right = self.share.high <= Decimal(most) * (1 + ROUNDING)
        yield Line(
            PROVED if right else WRONG, "share", f"the vote has {self.c.number('share')!r} of delta, at most {most!r}"
        )

    def _price(self, part: Record) -> Interval | None:
        """The logarithm of what is left of a level for the vote of a part; None by theorems that are not here."""
        if self.is_grouped or self.method not in ("holdout", "dis-b"):
            return None
        return ZERO if self.method == "holdout" else log_price(self.c, part)

    def _promise(self, promise: Record, part: Record, price: Interval | None) -> Iterator[Line]:
        """Every statement of a promise about counted events."""
        name, statements = promise.text("name"), promise.records("statements")
        if name not in COUNTED or price is None:
            yield Line(NOT_CHECKED, f"{promise.place} ({name})", f"{len(statements)} statements, by other theorems")
            return
        kinds = COUNTED[name][: 1 if len(self.classes) == 2 else 2]
        made = [(said.text("label"), said.text("kind")) for said in statements]
        rows = sum(said.count("n") for said in statements if said.text("kind") == kinds[0])
        counted = part.record("statement").count("n") - promise.count("set_aside")
        right = made == list(itertools.product(self.classes, kinds)) and rows == counted
        yield Line(PROVED if right else WRONG, f"{promise.place} ({name})", f"{len(made)} statements, {rows:,} rows")
        share = self.share * exactly(promise.number("delta", 0, 1))
        for said in statements:
            number = self.choices * len(statements)
            yield self._counted(said, said.text("kind"), share, number, self.draws, price)

    def _counted(
        self, said: Record, kind: str, share: Interval, number: int, draws: int, price: Interval | None
    ) -> Line:
        """A statement with one of so many parts of a share of delta, each of which is divided among the draws."""
        n, bound = said.count("n"), said.number("bound", -1, 5)
        what = f"{said.place} ({said.text('kind')} {said.text('label')}".rstrip() + ")"
        if price is None:
            return Line(NOT_CHECKED, what, f"at most {bound!r}, by another theorem")
        beside = [said.entries("losses"), said.entries("means"), said.count("entities"), said.count("risk_draws")]
        if said.text("kind") != kind or any(beside) or said.number("risk_delta") or bound > 1:
            return Line(WRONG, what, f"it is not a probability of the kind {kind!r} from counts alone")
        if not n:
            return Line(PROVED if bound == 1 else WRONG, what, f"at most {bound!r} without a row")
        errors, part = said.count("errors"), exactly(said.number("delta", 0, 1))
        if errors > n or not _fits(part, number, share):
            return Line(WRONG, what, f"{errors:,} in {n:,} rows, and one of {number} parts of delta")
        level = (part / exactly(draws)).log() + price
        right, terms = tail_is_at_most(errors, n, bound, level, self.terms_left)
        self.terms_left -= terms
        told = f"{errors:,} in {n:,} rows, at most {bound!r} up to a probability of {float(level.exp().high):.4g}"
        if right is None:
            return Line(NOT_CHECKED, what, f"{told}: too many terms to sum")
        return Line(PROVED if right else WRONG, what, told if right else f"{told}: this is NOT so")


def _fits(part: Interval, number: int, whole: Interval) -> bool:
    """Whether so many parts are no more than the whole, but for rounding."""
    return (part * exactly(number)).high <= _DOWN.multiply(whole.low, 1 + ROUNDING)


def check(value: Any) -> list[Line]:
    """All lines about the JSON value of a certificate."""
    try:
        return list(Audit(value).lines())
    except ArithmeticError:
        raise RefusedError("its numbers are too large, or too close together, to compute with") from None


def conclusion(value: Any, lines: list[Line]) -> tuple[int, str]:
    """With which code to end, and the last line."""
    if any(line.verdict == WRONG for line in lines):
        return 1, "Something is WRONG: do not rely on this certificate."
    deployed = f"certificate.parts[{value['deployed']}].statement "
    if not any(line.verdict == PROVED and line.what.startswith(deployed) for line in lines):
        return 3, "Nothing that was checked is wrong, but the bound itself is not checked here."
    return 0, "The bound is proved at the recorded counts, up to the recorded delta."


def main(arguments: list[str]) -> int:
    """Check one file and print a line for everything that was looked at."""
    if len(arguments) != 1:
        print("usage: python verify_certificate.py CERTIFICATE.json", file=sys.stderr)
        return 2
    try:
        lines = check(value := read(arguments[0]))
    except RefusedError as error:
        print(Line(WRONG, "the file", str(error)))
        return 1
    code, last = conclusion(value, lines)
    print(*lines, last, sep="\n")
    return code


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))

"""The calculator: every bound against its theorem's function, and sample sizes against looking at all of them."""

import json
import math
from fractions import Fraction

import pytest
from scipy import stats
from typer.testing import CliRunner

from certivote.cli import app
from certivote.maths.occam import PriceList
from certivote.theory import bounds
from certivote.theory.calculator import formulas, rows_needed


def run(*arguments):
    return CliRunner().invoke(app, ["bound", *map(str, arguments)])


def by_name(rows):
    return {(row.method, row.constant): row for row in rows}


def test_every_bound_is_that_of_its_theorem():
    k, n, delta, nats = 12, 500, 0.05, 3.0
    got = {name: row.bound(k, n) for name, row in by_name(formulas(delta, nats, renyi_order=2.0)).items()}
    expected = {
        ("holdout", ""): stats.beta.ppf(1 - delta, k + 1, n - k),
        ("dis-b", ""): bounds.dis_b(k, PriceList.mixture(((0.0, 0.5),)).price(nats), n, delta),
    }
    for constant in ("exact", "paper"):
        expected["dis-r", constant] = bounds.dis_r(k / n, nats, n, delta, constant)
        expected["dis-v", constant] = bounds.dis_v(k / n, nats, n, delta, 2.0, constant)
        expected["smv-exact", constant] = bounds.seeger_maurer(k / n, nats, n, delta, constant)
        expected["fo", constant] = 2 * bounds.seeger_maurer(k / n, nats, n, delta, constant)
        expected["so", constant] = 4 * bounds.seeger_maurer(k / n, 2 * nats, n, delta, constant)
    assert got == pytest.approx(expected)
    assert got["dis-r", "paper"] == pytest.approx(_kl_inverse(k / n, (nats + math.log(2 * n**0.5 / delta)) / n))


def _kl_inverse(q, eps):
    """By bisection, apart from the library."""
    low, high = q, 1.0
    for _ in range(200):
        p = (low + high) / 2
        kl = q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))
        low, high = (p, high) if kl < eps else (low, p)
    return high


def brute(row, rate, target, limit):
    return next((n for n in range(1, limit) if row.bound(math.ceil(rate * n), n) <= target), None)


@pytest.mark.parametrize(
    ("rate", "target"),
    [
        (Fraction(0), 0.1),
        (Fraction(0), 0.013),
        (Fraction(1, 50), 0.06),
        (Fraction(12, 500), 0.07),
        (Fraction("0.013"), 0.05),
        (Fraction(1, 3), 0.45),
        (Fraction(3, 100), 0.2),
        (Fraction(1, 1000), 0.02),
    ],
)
def test_the_smallest_sample_is_the_first_of_all_that_suffices(rate, target):
    for row in formulas(0.05, penalty=2.0):
        needed = rows_needed(row.bound, rate, target)
        if needed is None or needed > 1500:
            assert brute(row, rate, target, 1500) is None, row
        else:
            assert needed == brute(row, rate, target, needed + 1), row


def test_a_bound_that_tends_to_more_than_the_target_never_gets_there():
    rows = by_name(formulas(0.05))
    assert rows_needed(rows["holdout", ""].bound, Fraction(1, 20), 0.05) is None
    assert rows_needed(rows["holdout", ""].bound, Fraction(1, 20), 0.0501) > 1_000_000
    assert rows_needed(rows["fo", "exact"].bound, Fraction(1, 20), 0.1) is None
    assert rows_needed(rows["so", "exact"].bound, Fraction(1, 20), 0.2) is None
    assert rows_needed(rows["holdout", ""].bound, Fraction(1, 20), 0.05 + 1e-9) is None  # over LARGEST


def test_the_table(tmp_path):
    result = run("--errors", 12, "--n", 500, "--penalty", 3, "--target", 0.05)
    assert result.exit_code == 0, result.output
    lines = {tuple(line.split()[:2]): line for line in result.output.splitlines() if line}
    assert "3.86 %" in lines["holdout", "3.86"]
    assert "208" in lines["holdout", "3.86"]
    assert "Theorem 6" in lines["dis-r", "exact"]
    assert "never" in lines["so", "paper"]
    assert "12 errors among 500 examples, delta = 0.05, penalty = 3 nats." in result.output


def test_the_printed_bound_is_rounded_up():
    value = formulas(0.05)[0].bound(1, 90)
    shown = next(line for line in run("--errors", 1, "--n", 90).output.splitlines() if line.startswith("holdout"))
    printed = float(shown.split()[1])
    assert 100 * value <= printed <= 100 * value + 0.01
    assert round(100 * value, 2) < printed  # rounding to the nearest would have gone down


def test_json():
    record = json.loads(run("--errors", 0, "--n", 59, "--target", 0.05, "--json").output)
    first = record["bounds"][0]
    assert first["method"] == "holdout"
    assert first["bound"] == pytest.approx(1 - 0.05 ** (1 / 59))
    assert first["examples"] == 59
    assert record["rate"] == 0.0
    assert {row["constant"] for row in record["bounds"]} == {None, "exact", "paper"}
    alone = json.loads(run("--rate", "0.02", "--target", 0.03, "--json").output)
    assert all("bound" not in row for row in alone["bounds"])
    assert alone["bounds"][0]["examples"] == rows_needed(formulas(0.05)[0].bound, Fraction(1, 50), 0.03)


def test_a_negative_penalty_is_for_draws_only():
    record = json.loads(run("--errors", 5, "--n", 100, "--penalty", "-1", "--json").output)
    assert {row["method"] for row in record["bounds"]} == {"holdout", "dis-b", "dis-r"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--errors", 5], "--errors, --n: give both"),
        (["--n", 5], "--errors, --n: give both"),
        ([], "--errors, --n: give both"),
        (["--rate", "0.1"], "--errors, --n: give both; or --rate and --target"),
        (["--errors", 1, "--n", 10, "--rate", "0.1", "--target", 0.2], "--errors, --n: give both"),
        (["--errors", 6, "--n", 5], "cannot be more errors than examples"),
        (["--errors", 1, "--n", 5, "--delta", 0], "--delta must be at least 1e-100 and less than 1; got 0"),
        (["--errors", 1, "--n", 5, "--target", 1], "--target must lie strictly between 0 and 1; got 1"),
        (["--errors", 1, "--n", 5, "--renyi-order", 1], "--renyi-order must be greater than 1; got 1"),
        (["--errors", 1, "--n", 5, "--penalty", "inf"], "--penalty must be a finite number of nats"),
        (["--errors", 1, "--n", 5, "--penalty", -1, "--target", 0.5], "--penalty: below 0"),
        (["--rate", "often", "--target", 0.1], "--rate: 'often' is not a number"),
        (["--rate", "2", "--target", 0.1], "--rate must lie between 0 and 1; got 2"),
    ],
)
def test_bad_numbers_end_in_one_line(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert result.output.count("\n") == 1


def test_wrong_usage_has_exit_code_2():
    assert run("--errors", "many", "--n", 5).exit_code == 2
    assert run("--errors", -1, "--n", 5).exit_code == 2


def test_sizes_end_somewhere():
    assert rows_needed(formulas(0.05, penalty=1e12)[1].bound, Fraction(0), 0.5) is None

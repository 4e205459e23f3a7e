import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from certivote import bounds
from certivote.forms import BinomialForm, CForm, KlForm

COEFFICIENTS = [1.0, 2.0, 4.0]
CONFIDENCE = 6.0


def exact_kl(q, p):
    left = q * mp.log(q / p) if q > 0 else mpf(0)
    return left + ((1 - q) * mp.log((1 - q) / (1 - p)) if q < 1 else mpf(0))


def exact_inverse(q, eps, end):
    """The end of ``{p : kl(q || p) <= eps}`` on the side of ``end``, 0 or 1, by bisection."""
    inside, outside = mpf(q), mpf(end)
    for _ in range(130 if eps > 0 else 0):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if exact_kl(mpf(q), middle) <= eps else (inside, middle)
    return inside


def exact_c_limits(risks, penalty, confidence, n):
    upper = exact_inverse(risks[0], (mpf(penalty) + mpf(confidence)) / n, 1)
    return upper, exact_inverse(risks[1], (2 * mpf(penalty) + mpf(confidence)) / n, 0)


def exact_c_bound(upper, lower):
    return mpf(1) if upper >= 0.5 else 1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower)


def exact_binomial_limit(errors, n, level):
    """Largest ``p`` with ``P[Bin(n, p) <= errors] >= level``, by summing the tail."""
    low, high = mpf(0), mpf(1)
    if errors == n:
        return high
    for _ in range(110):
        middle = (low + high) / 2
        tail = mp.fsum(mp.binomial(n, k) * middle**k * (1 - middle) ** (n - k) for k in range(errors + 1))
        low, high = (middle, high) if tail >= level else (low, middle)
    return high


def assert_close_above(got, true):
    assert got >= true, f"below by {mp.nstr(true - got, 3)} of {mp.nstr(true, 12)}"
    assert got - true <= mpf("1e-9"), f"above by {mp.nstr(got - true, 3)} of {mp.nstr(true, 12)}"


SAMPLES = [(0.0, 0.0, 100), (0.05, 3.0, 300), (0.2, 40.0, 2000), (0.45, 5.0, 50), (1.0, 5.0, 100), (0.1, -20.0, 100)]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize(("risk", "penalty", "n"), SAMPLES)
def test_kl_form_against_mpmath(coefficient, risk, penalty, n):
    with mp.workdps(40):
        true = coefficient * exact_inverse(risk, (mpf(penalty) + mpf(CONFIDENCE)) / n, 1)
        assert_close_above(KlForm(coefficient).bound((risk,), penalty, CONFIDENCE, n), true)


def test_kl_form_has_coefficient_one_by_default():
    value = KlForm().bound((0.05,), 5.0, math.log(2 * math.sqrt(2000) / 0.05), 2000)
    assert value == pytest.approx(bounds.dis_r(0.05, 5.0, 2000, 0.05), rel=1e-12)


@pytest.mark.parametrize(("coefficient", "risk"), [(2.0, 0.45), (4.0, 0.25), (4.0, 0.9)])
def test_bounds_above_one_come_as_they_are(coefficient, risk):
    form = KlForm(coefficient)
    value = form.bound((risk,), 3.0, CONFIDENCE, 200)
    assert value > 1
    assert value == pytest.approx(coefficient * KlForm().bound((risk,), 3.0, CONFIDENCE, 200), rel=1e-15)
    both = form.average([((risk,), 3.0, CONFIDENCE, 200)] * 2, [0.5] * 2)
    assert both == pytest.approx(value, rel=1e-12)
    assert form.slopes(risk, 3.0, CONFIDENCE, 200)[0] == pytest.approx(value, rel=1e-12)


MOMENTS = [
    ((0.0, 0.0), 0.0, 100),
    ((0.1, 0.15), 3.0, 300),
    ((0.2, 0.3), 5.0, 2000),
    ((0.3, 0.2), 1.0, 2000),
    ((0.1, 0.0), 2.0, 500),
    ((0.45, 0.48), 5.0, 100),
    ((0.8, 0.2), 0.0, 100),
]


@pytest.mark.parametrize(("risks", "penalty", "n"), MOMENTS)
def test_c_form_against_mpmath(risks, penalty, n):
    with mp.workdps(40):
        true = exact_c_bound(*exact_c_limits(risks, penalty, CONFIDENCE, n))
        assert_close_above(CForm().bound(risks, penalty, CONFIDENCE, n), true)


@pytest.mark.parametrize(("risks", "penalty", "n"), [((0.45, 0.48), 5.0, 100), ((0.8, 0.2), 0.0, 100)])
def test_c_form_is_one_where_it_does_not_apply(risks, penalty, n):
    assert CForm().bound(risks, penalty, CONFIDENCE, n) == 1.0
    assert CForm().slopes(risks, penalty, CONFIDENCE, n)[0] >= 1.0


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize(("errors", "n"), [(0, 1), (0, 50), (1, 50), (7, 50), (50, 50), (12, 400)])
def test_binomial_form_against_the_tail(errors, n, delta):
    with mp.workdps(40):
        got = BinomialForm().bound((errors / n,), 0.0, -math.log(delta), n)
        assert_close_above(got, exact_binomial_limit(errors, n, mpf(delta)))


@pytest.mark.parametrize("n", [3, 7, 569, 10**5 + 3])
def test_binomial_form_finds_the_count_behind_the_error_rate(n):
    for errors in {1, n // 3, n // 2, n - 1}:
        got = BinomialForm().bound((errors / n,), 0.0, -math.log(0.05), n)
        assert got == pytest.approx(bounds.holdout(errors, n, 0.05), rel=1e-9)


@pytest.mark.parametrize(("errors", "penalty", "n"), [(0, 0.0, 50), (7, 3.0, 50), (12, 40.0, 400), (399, 1.0, 400)])
def test_binomial_form_trains_on_the_chernoff_limit_above_it(errors, penalty, n):
    got = BinomialForm().slopes(errors / n, penalty, CONFIDENCE, n)
    with mp.workdps(40):
        true = exact_inverse(mpf(errors) / n, (mpf(penalty) + mpf(CONFIDENCE)) / n, 1)
        assert got[0] == pytest.approx(float(true), rel=1e-5)  # smoothed where there are no errors
    assert got == KlForm().slopes(errors / n, penalty, CONFIDENCE, n)
    # Without errors the two are the same, and only the bound is rounded up.
    assert got[0] >= BinomialForm().bound((errors / n,), penalty, CONFIDENCE, n) * (1 - 1e-12)


def differences(function, risks, penalty):
    """Central differences of a function of several risks and a penalty."""
    step = 1e-6
    moves = step * np.eye(len(risks))
    in_risks = [(function(risks + h, penalty) - function(risks - h, penalty)) / (2 * step) for h in moves]
    return np.array(in_risks), (function(risks, penalty + 1e-5) - function(risks, penalty - 1e-5)) / 2e-5


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize(("risk", "penalty", "n"), [(0.05, 3.0, 300), (0.2, 40.0, 2000), (0.45, 5.0, 50)])
def test_slopes_of_the_kl_form_against_differences(coefficient, risk, penalty, n):
    form = KlForm(coefficient)
    value, in_risk, in_penalty = form.slopes(risk, penalty, CONFIDENCE, n)
    assert value == pytest.approx(form.bound((risk,), penalty, CONFIDENCE, n), rel=1e-12)
    expected = differences(lambda r, p: form.bound(r, p, CONFIDENCE, n), np.array([risk]), penalty)
    assert in_risk == pytest.approx(expected[0][0], rel=1e-5)
    assert in_penalty == pytest.approx(expected[1], rel=1e-5)


def test_slopes_of_the_kl_form_accept_statistics_in_an_array():
    assert KlForm(2.0).slopes(np.array([0.1]), 3.0, CONFIDENCE, 300) == KlForm(2.0).slopes(0.1, 3.0, CONFIDENCE, 300)


@pytest.mark.parametrize("risk", [0.0, 1.0])
@pytest.mark.parametrize("form", [KlForm(), KlForm(4.0)])
def test_slopes_of_the_kl_form_are_finite_at_the_edges(form, risk):
    for penalty in (-1e4, 0.0, 1e4):
        assert all(math.isfinite(part) for part in form.slopes(risk, penalty, CONFIDENCE, 100))


@pytest.mark.parametrize(
    ("risks", "penalty", "n"),
    [((0.1, 0.15), 3.0, 300), ((0.2, 0.3), 5.0, 2000), ((0.3, 0.2), 1.0, 2000), ((0.02, 0.03), 30.0, 1000)],
)
def test_slopes_of_the_c_form_against_differences(risks, penalty, n):
    form = CForm()
    value, in_risks, in_penalty = form.slopes(np.array(risks), penalty, CONFIDENCE, n)
    assert value < 1
    assert value == pytest.approx(form.bound(risks, penalty, CONFIDENCE, n), rel=1e-9)
    expected = differences(lambda r, p: form.bound(r, p, CONFIDENCE, n), np.array(risks), penalty)
    np.testing.assert_allclose(in_risks, expected[0], rtol=1e-5)
    assert in_penalty == pytest.approx(expected[1], rel=1e-5)
    assert in_risks[0] > 0 > in_risks[1]
    assert in_penalty > 0


@pytest.mark.parametrize(("risks", "penalty", "n"), [((0.45, 0.48), 5.0, 100), ((0.6, 0.2), 2.0, 1000)])
def test_slopes_of_the_c_form_where_it_does_not_apply(risks, penalty, n):
    # There the bound is flat, and the solver is sent down the mean wrong mass instead.
    form = CForm()
    value, in_risks, in_penalty = form.slopes(np.array(risks), penalty, CONFIDENCE, n)
    assert form.bound(risks, penalty, CONFIDENCE, n) == 1.0
    assert value == pytest.approx(0.5 + bounds.sample_bound(risks[0], penalty + CONFIDENCE, n), rel=1e-12)
    expected = differences(lambda r, p: form.slopes(r, p, CONFIDENCE, n)[0], np.array(risks), penalty)
    np.testing.assert_allclose(in_risks, expected[0], rtol=1e-5)
    assert in_penalty == pytest.approx(expected[1], rel=1e-5)
    assert in_risks[0] > 0
    assert in_penalty > 0


def test_the_objective_of_the_c_form_is_continuous_where_it_begins_to_apply():
    form, n = CForm(), 1000
    low, high = 0.3, 0.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        limit = bounds.sample_bound(middle, CONFIDENCE, n)
        low, high = (middle, high) if limit < 0.5 else (low, middle)
    below, above = (form.slopes(np.array([risk, 0.4]), 0.0, CONFIDENCE, n)[0] for risk in (low - 1e-9, high + 1e-9))
    assert below <= 1 <= above
    assert above - below < 1e-6


risks_of = st.floats(0.0, 1.0)
halves = st.tuples(risks_of, st.floats(0.0, 1.0), st.floats(0.0, 60.0), st.integers(20, 5000))


def arguments(parts, share):
    """Two halves as the arguments of ``average``, the second statistic no larger than the first allows."""
    risks = [(risk, part * 2 * risk * (1 - risk)) for risk, part, _, _ in parts]
    return risks, [p for _, _, p, _ in parts], [CONFIDENCE, CONFIDENCE + 1], [n for *_, n in parts], [share, 1 - share]


FORMS = {
    "kl": KlForm(),
    "twice kl": KlForm(2.0),
    "four times kl": KlForm(4.0),
    "c": CForm(),
    "binomial": BinomialForm(),
}


@pytest.mark.parametrize("name", FORMS)
@settings(deadline=None)
@given(st.tuples(halves, halves), st.floats(0.0, 1.0))
def test_an_average_is_never_below_the_mean_of_the_own_bounds(name, parts, share):
    risks, penalties, confidences, sizes, shares = arguments(parts, share)
    form = FORMS[name]
    own = [form.bound(*sample) for sample in zip(risks, penalties, confidences, sizes, strict=True)]
    average = form.average(list(zip(risks, penalties, confidences, sizes, strict=True)), shares)
    assert average >= math.fsum(t * bound for t, bound in zip(shares, own, strict=True)) * (1 - 1e-12) - 1e-14
    assert average >= min(own) * (1 - 1e-12) - 1e-14


CROSSES = [
    (((0.1, 0.5, 3.0, 300), (0.2, 0.9, 5.0, 200)), 0.5),
    (((0.1, 0.5, 3.0, 300), (0.6, 0.9, 5.0, 200)), 0.8),
    (((0.0, 0.5, 30.0, 3000), (0.4, 0.1, 0.0, 250)), 0.3),
    (((0.3, 1.0, 1.0, 2000), (0.3, 1.0, 1.0, 2000)), 1.0),
    (((0.9, 0.5, 3.0, 300), (0.8, 0.9, 5.0, 200)), 0.5),
]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize(("parts", "share"), CROSSES)
def test_the_average_of_the_kl_form_is_that_of_theorem_8(parts, share, coefficient):
    risks, penalties, confidences, sizes, shares = arguments(parts, share)
    with mp.workdps(40):
        weights = [mpf(share), 1 - mpf(share)]
        risk = mp.fsum(t * mpf(r[0]) for t, r in zip(weights, risks, strict=True))
        eps = mp.fsum(
            t * (mpf(p) + mpf(c)) / n for t, p, c, n in zip(weights, penalties, confidences, sizes, strict=True)
        )
        true = coefficient * exact_inverse(risk, eps, 1)
        assert_close_above(
            KlForm(coefficient).average(list(zip(risks, penalties, confidences, sizes, strict=True)), shares), true
        )


@pytest.mark.parametrize(("parts", "share"), CROSSES)
def test_the_average_of_the_c_form_is_that_of_the_average_limits(parts, share):
    risks, penalties, confidences, sizes, shares = arguments(parts, share)
    with mp.workdps(40):
        limits = [exact_c_limits(*sample) for sample in zip(risks, penalties, confidences, sizes, strict=True)]
        upper, lower = (mpf(share) * first + (1 - mpf(share)) * second for first, second in zip(*limits, strict=True))
        assert_close_above(
            CForm().average(list(zip(risks, penalties, confidences, sizes, strict=True)), shares),
            exact_c_bound(upper, lower),
        )


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_average_of_the_binomial_form_is_the_mean_of_the_own_bounds(share):
    with mp.workdps(40):
        own = [exact_binomial_limit(3, 40, mp.exp(-CONFIDENCE)), exact_binomial_limit(9, 60, mp.exp(-CONFIDENCE))]
        true = mpf(share) * own[0] + (1 - mpf(share)) * own[1]
        got = BinomialForm().average(
            [((3 / 40,), 0.0, CONFIDENCE, 40), ((9 / 60,), 0.0, CONFIDENCE, 60)], [share, 1 - share]
        )
        assert_close_above(got, true)


@pytest.mark.parametrize("name", FORMS)
def test_the_average_of_two_equal_halves_is_the_bound_of_one(name):
    sample = ((0.1, 0.15), 3.0, CONFIDENCE, 300)
    average = FORMS[name].average([sample, sample], [0.5, 0.5])
    assert average == pytest.approx(FORMS[name].bound(*sample), rel=1e-12)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_shares_that_do_not_sum_to_one_are_refused(form):
    with pytest.raises(ValueError, match="shares must be non-negative and sum to 1"):
        form.average([((0.1, 0.1), 1.0, CONFIDENCE, 100)] * 2, [0.5, 0.6])

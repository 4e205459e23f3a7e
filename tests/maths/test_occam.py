import math

import numpy as np
import pytest
from hammer import exact_level
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from scipy import stats

from certivote.maths.occam import PriceList
from certivote.theory import bounds

MIXTURES = {
    "one scale": PriceList(atoms=(), scales=((2.0, 1.0),)),
    "the default": PriceList.mixture(),
    "staying": PriceList.mixture(((0.0, 0.95),)),
    "atoms on both sides": PriceList(atoms=((-3.0, 0.2), (0.5, 0.1), (40.0, 0.3)), scales=((0.5, 0.3), (30.0, 0.1))),
    "far atoms": PriceList.mixture(((5.0, 0.2), (700.0, 0.3), (2500.0, 0.4))),
    "nearly a point": PriceList(atoms=((5.0, 1 - 1e-9),), scales=((1.0, 1e-9),)),
}
RATIOS = [-3000.0, -40.0, -3.5, -1.0, -1e-6, -1e-15, 0.0, 1e-15, 1e-12, 1e-6, 0.1, 0.4999, 0.51, 1.0, 4.999, 5.01]
RATIOS += [12.0, 39.0, 41.0, 150.0, 690.0, 701.0, 2400.0, 2600.0, 8000.0]


@pytest.mark.parametrize("price_list", MIXTURES.values(), ids=MIXTURES.keys())
def test_price_against_the_integral(price_list):
    for ratio in RATIOS:
        true = -mp.log(exact_level(price_list, ratio))
        got = price_list.price(ratio)
        assert got >= true, f"below at {ratio}: {mp.nstr(true - got, 3)}"
        assert got - true <= 1e-13 * (1 + abs(ratio)), f"above at {ratio}: {mp.nstr(got - true, 3)}"


def test_the_smooth_family_is_made_of_probabilities():
    # In s = -ln u, the density that exact_level integrates is exp(-s/j)/j.
    for scale in (0.5, 1.0, 4.0, 256.0):
        assert abs(mp.quad(lambda s, j=scale: mp.exp(-s / j) / j, [0, scale, 8 * scale, mp.inf]) - 1) < 1e-12


places = st.lists(st.tuples(st.floats(-50.0, 1500.0), st.floats(0.01, 1.0)), max_size=4)
ratios = st.one_of(st.floats(-100.0, 3000.0), st.floats(-1.0, 10.0), st.floats(-1e-9, 1e-9))


@given(places, ratios, ratios)
def test_price_never_decreases_in_the_ratio(atoms, first, second):
    price_list = PriceList.mixture(tuple(atoms))
    low, high = sorted((first, second))
    assert price_list.price(low) <= price_list.price(high) + 1e-13 * (1 + abs(low))  # but for rounding


@given(places, ratios)
def test_price_is_never_too_low(atoms, ratio):
    price_list = PriceList.mixture(tuple(atoms))
    if all(abs(ratio - place) > 1e-11 for place, _ in price_list.atoms):  # on the very edge, the floats decide
        closed = mp.fsum(mp.mpf(w) * mp.exp(-mp.mpf(c)) for c, w in price_list.atoms if ratio <= c)
        x = mp.exp(-max(mp.mpf(ratio), 0))
        closed += mp.fsum(mp.mpf(w) * x ** (1 + 1 / mp.mpf(j)) / (mp.mpf(j) + 1) for j, w in price_list.scales)
        assert price_list.price(ratio) >= -mp.log(closed)


@pytest.mark.parametrize("place", [-4.0, 0.0, math.log(3.0), 5.0, 1234.5])
def test_an_atom_of_a_mixture_lies_a_hair_above_its_place(place):
    price_list = PriceList.mixture(((place, 0.9),))
    alone = place - math.log(0.9) + 1e-9
    at, past = price_list.price(place), price_list.price(place + 1e-10)
    assert alone - 0.1 < at < alone + 1e-8  # the scales help a little
    assert past == pytest.approx(at, abs=1e-8)
    assert price_list.price(place + 1e-8) > at + 0.5


@pytest.mark.parametrize(
    ("atoms", "scales"),
    [
        ((), ((1.0, 0.9),)),
        ((), ((1.0, 1.0 + 1e-9),)),
        (((0.0, 0.6),), ((1.0, 0.5),)),
        (((0.0, -0.5),), ((1.0, 1.5),)),
        (((0.0, 0.0),), ((1.0, 1.0),)),
        (((0.0, math.nan),), ((1.0, 0.5),)),
        (((0.0, 1.0),), ()),
        ((), ()),
        ((), ((0.0, 1.0),)),
        ((), ((-1.0, 1.0),)),
        (((math.inf, 0.5),), ((1.0, 0.5),)),
        (((math.nan, 0.5),), ((1.0, 0.5),)),
    ],
)
def test_what_is_no_probability_is_refused(atoms, scales):
    with pytest.raises(ValueError, match="price list"):
        PriceList(atoms, scales)


@given(st.lists(st.tuples(st.floats(-10.0, 100.0), st.floats(1e-3, 10.0)), max_size=5))
def test_a_mixture_leaves_a_twentieth_to_the_scales(atoms):
    price_list = PriceList.mixture(tuple(atoms))
    rest = math.fsum(weight for _, weight in price_list.scales)
    total = math.fsum(weight for _, weight in atoms)
    assert rest == pytest.approx(max(1.0 - total, 0.05), abs=1e-12)
    assert len(price_list.scales) == 5
    assert len({weight for _, weight in price_list.scales}) == 1
    for (place, weight), (_, given_weight) in zip(price_list.atoms, atoms, strict=True):
        assert weight == pytest.approx(given_weight * min(1.0, 0.95 / total))
        assert math.isfinite(price_list.price(place))


def test_negative_weights_of_a_mixture_are_refused():
    with pytest.raises(ValueError, match="price list"):
        PriceList.mixture(((0.0, -0.1),))


@pytest.mark.parametrize("price_list", MIXTURES.values(), ids=MIXTURES.keys())
def test_steering_price_and_its_derivative(price_list):
    for ratio in (-800.0, -5.0, -0.3, 0.2, 1.5, 3.1, 5.0, 20.0, 41.0, 300.0, 705.0, 900.0, 1700.0, 5000.0):
        value, slope = price_list.steering_price(ratio)
        step = 1e-4 * max(1.0, abs(ratio) * 1e-2)
        above, below = price_list.steering_price(ratio + step)[0], price_list.steering_price(ratio - step)[0]
        assert slope == pytest.approx((above - below) / (2 * step), abs=2e-5), ratio
        assert 0.0 <= slope <= 4.0  # an atom fades like the fourth power
        assert math.isfinite(value)


def test_steering_price_is_the_price_where_no_atom_is():
    price_list = PriceList.mixture()
    for ratio in (-2.0, 0.5, 7.0, 300.0, 5000.0):
        assert price_list.steering_price(ratio)[0] == pytest.approx(price_list.price(ratio), rel=1e-12)


# The hammer itself. Twenty hypotheses of true risk 0.4 with errors of their own, and one that is never wrong. The
# adversary sees all errors and the truth, and gives each hypothesis as much mass as its bound can bear and still fail;
# what is left goes to the one that cannot fail.

N, RISK, DELTA, HYPOTHESES = 12, 0.4, 0.1, 20
PRIOR = np.append(np.full(HYPOTHESES, 0.99 / HYPOTHESES), 0.01)


def failures(bound, runs, seed):
    """How often the bound ``(errors, log_ratio) -> limit`` fails for the drawn hypothesis."""
    rng = np.random.default_rng(seed)
    ratios = np.linspace(-8.0, -math.log(PRIOR[0]), 60)
    bearable = []
    for errors in range(N + 1):
        failing = [ratio for ratio in ratios if bound(errors, ratio) < RISK]
        bearable.append(max(failing, default=-math.inf))
    count = 0
    for _ in range(runs):
        errors = rng.binomial(N, RISK, size=HYPOTHESES)
        posterior = np.append(PRIOR[:-1] * np.exp(np.array(bearable)[errors]), 0.0)
        if posterior.sum() > 1:
            posterior /= posterior.sum()
        posterior[-1] = max(1.0 - posterior.sum(), 0.0)
        drawn = rng.choice(HYPOTHESES + 1, p=posterior)
        if drawn < HYPOTHESES:
            count += bound(int(errors[drawn]), math.log(posterior[drawn] / PRIOR[drawn])) < RISK
    return count


def is_at_most_delta(count, runs):
    return stats.binomtest(count, runs, DELTA, alternative="greater").pvalue >= 1e-3


@pytest.mark.parametrize(
    "price_list",
    [
        PriceList.mixture(),
        PriceList.mixture(((0.0, 0.9),)),
        PriceList(((-2.0, 0.5), (1.0, 0.45)), ((1.0, 0.05),)),
        PriceList(((2.9, 0.99),), ((1.0, 0.01),)),
    ],
)
def test_an_adversary_makes_the_bound_fail_at_most_as_often_as_promised(price_list):
    count = failures(lambda errors, ratio: bounds.dis_b(errors, price_list.price(ratio), N, DELTA), 1500, 1)
    assert is_at_most_delta(count, 1500)
    assert count > 0  # it does try


def test_an_adversary_beats_a_level_that_pays_the_ratio_only():
    def careless(errors, ratio):
        return bounds.holdout(errors, N, min(DELTA * math.exp(-ratio), 0.999))

    assert not is_at_most_delta(failures(careless, 1500, 2), 1500)


def test_an_adversary_beats_weights_that_sum_to_more_than_one():
    price_list = PriceList(((2.9, 0.99),), ((1.0, 0.01),))

    def careless(errors, ratio):
        return bounds.dis_b(errors, price_list.price(ratio), N, min(4 * DELTA, 0.999))

    assert not is_at_most_delta(failures(careless, 1500, 3), 1500)

"""The auditor's divergences of Gaussians, against their definitions and against other ways to compute them."""

import auditor
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

import flint

from certivote.maths import gaussian
from certivote.verify import _balls as balls

CASES = range(12)


@pytest.fixture(autouse=True)
def _precise():
    before = flint.ctx.prec
    flint.ctx.prec = balls.BITS
    with mp.workdps(60):
        yield
    flint.ctx.prec = before


def distributions(seed):
    """Means and precisions of a posterior and of a prior, from the same ones to others; and a point."""
    rng = np.random.default_rng(seed)
    voters = int(rng.integers(1, 40))
    means, precisions = 10.0 * rng.normal(size=voters), np.exp(rng.uniform(-4.0, 4.0, size=voters))
    by = (0.0, 1e-9, 0.1, 3.0)[seed % 4]
    own = np.concatenate([means + by * rng.normal(size=voters), precisions * np.exp(by * rng.random(voters))])
    return own, np.concatenate([means, precisions]), gaussian.draw(own, rng)[0]


def as_balls(numbers):
    return [flint.arb(float(number)) for number in numbers]


def assert_encloses(ball, true, at_least=0):
    """A small ball about the true value, which is given to 60 digits."""
    assert ball.rad() < flint.arb("1e-50") * (1 + abs(ball.mid()))
    found = mpf(ball.mid().str(60, radius=False))
    assert abs(found - true) < mpf("1e-45") * (1 + abs(true))
    assert found >= at_least


@pytest.mark.parametrize("seed", CASES)
def test_gaussian_divergences_are_those_of_mpmath(seed):
    own, old, point = distributions(seed)
    alpha, beta = as_balls(own), as_balls(old)
    exact = [auditor.exact(own.tolist()), auditor.exact(old.tolist())]
    assert_encloses(
        balls.gaussian_log_ratio(alpha, beta, as_balls(point)),
        auditor.gaussian_log_ratio(*exact, auditor.exact(point.tolist())),
        at_least=-mp.inf,
    )
    assert_encloses(balls.gaussian_kl(alpha, beta), auditor.gaussian_kl(*exact), -mpf("1e-45"))
    for order in (1.001, 1.5, 4.0):
        renyi = balls.gaussian_renyi(alpha, beta, flint.arb(order))
        assert_encloses(renyi, auditor.gaussian_renyi(*exact, mpf(order)), -mpf("1e-45"))


@pytest.mark.parametrize("seed", CASES)
def test_the_maker_is_never_below_the_auditor_and_close(seed):
    own, old, point = distributions(seed)
    alpha, beta = as_balls(own), as_balls(old)
    pairs = [
        (gaussian.log_ratio(own, old, point), balls.gaussian_log_ratio(alpha, beta, as_balls(point))),
        (gaussian.kl_divergence(own, old)[0], balls.gaussian_kl(alpha, beta)),
        (gaussian.renyi_divergence(own, old, 1.5)[0], balls.gaussian_renyi(alpha, beta, flint.arb(1.5))),
    ]
    for made, proved in pairs:
        tiny = flint.arb("1e-60") * (1 + abs(proved))
        assert proved <= flint.arb(made) + tiny
        assert flint.arb(made) <= proved + flint.arb("1e-9") * (1 + abs(proved))


def test_gaussian_log_ratio_is_that_of_scipys_densities():
    own, old, point = distributions(7)
    (m, p), (m0, p0) = gaussian.split(own), gaussian.split(old)
    densities = stats.norm.logpdf(point, m, p**-0.5) - stats.norm.logpdf(point, m0, p0**-0.5)
    ratio = balls.gaussian_log_ratio(as_balls(own), as_balls(old), as_balls(point))
    assert float(ratio) == pytest.approx(densities.sum(), rel=1e-12)


@pytest.mark.parametrize("order", [None, 1.2, 2.0, 5.0])
@pytest.mark.parametrize(
    ("own", "old"), [((0.5, 2.0), (0.0, 1.0)), ((-1.0, 0.9), (1.0, 1.0)), ((3.0, 40.0), (2.0, 4.0))]
)
def test_gaussian_divergences_are_the_integrals_that_define_them(own, old, order):
    def density(z, mean, precision):
        return mp.npdf(z, mpf(mean), 1 / mp.sqrt(mpf(precision)))

    def integral(function):
        # Where the integrand is not small, whichever of the densities it follows.
        return mp.quad(function, [own[0] + side * width for side, width in [(-1, 40), (-1, 4), (1, 4), (1, 40)]])

    alpha, beta = as_balls(own), as_balls(old)
    with mp.workdps(20):
        if order is None:
            found = balls.gaussian_kl(alpha, beta)
            true = integral(lambda z: density(z, *own) * mp.log(density(z, *own) / density(z, *old)))
        else:
            found = balls.gaussian_renyi(alpha, beta, flint.arb(order))
            moment = integral(lambda z: density(z, *own) ** order * density(z, *old) ** (1 - order))
            true = mp.log(moment) / (mpf(order) - 1)
    assert float(found) == pytest.approx(float(true), rel=1e-9)


def test_a_distribution_has_no_divergence_from_itself():
    own, _, point = distributions(3)
    same = as_balls(own)
    for found in (
        balls.gaussian_log_ratio(same, same, as_balls(point)),
        balls.gaussian_kl(same, same),
        balls.gaussian_renyi(same, same, flint.arb(1.5)),
    ):
        assert found.contains(0)
        assert abs(found) < flint.arb("1e-60")


@pytest.mark.parametrize(("precision", "order"), [(0.5, 2.0), (0.49, 2.0), (1.0, 1.5), (1e-300, 1.1)])
def test_a_much_wider_gaussian_is_infinitely_far(precision, order):
    # Finite only above (order - 1)/order times the precision of the prior, here 3 for the second voter.
    prior = as_balls([0.0, 1.0, 1.0, 3.0 if order == 1.5 else 1.0])
    with pytest.raises(ValueError, match="the Rényi divergence is infinite"):
        balls.gaussian_renyi(as_balls([0.0, 1.0, 2.0, precision]), prior, flint.arb(order))

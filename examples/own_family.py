"""A family of distributions over weights of one's own, with gradients by JAX: the softmax of a product of Gaussians.

One writes what the distributions are, in numpy: how a vote is drawn, the divergence and the ratio of the densities,
rounded up. Gradients, which only steer the learning, come from JAX; without it, from finite differences, which takes
longer.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from figures import figure_path, new_axes, save
from scipy.optimize import approx_fprime
from scipy.special import expit, log_softmax, softmax
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from certivote import learn, plot_learning
from certivote.methods import DisB
from certivote.theory.families import FAMILIES, Draw, Family

try:
    import jax
    from jax import nn

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

ROUNDING = 1.0 + 1e-12
DRAWS = np.random.default_rng(0).standard_normal((16, 1000))
"""Fixed, so that what is minimised is a function of the parameters."""
STEEP = 20.0


def value_and_gradient(function: Callable[[Any], Any]) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """By JAX, or else by finite differences."""
    if jax is None:
        return lambda at: (float(function(at)), approx_fprime(at, function, 1e-6))
    both = jax.jit(jax.value_and_grad(function))

    def numbers(at: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = both(at)
        return float(value), np.asarray(gradient)

    return numbers


class UnitGaussians(Family):
    """`softmax(z)`, z normal with unit variances: what is learned are the means, and what is drawn is z."""

    name = "unit-gaussians"

    def prior(self, beta):
        return np.log(beta)

    def floor(self, prior, renyi_order):
        return np.full(len(prior), -np.inf)

    def parameters(self, x, floor):
        return x

    def chain(self, x, gradient):
        return gradient

    def limits(self, n_voters):
        return np.full(n_voters, -30.0), np.full(n_voters, 30.0)

    def starts(self, prior, floor, path: Sequence[np.ndarray]):
        return [prior], [prior + 5.0 * weights / weights.max() for weights in path] or [prior]

    def kl_divergence(self, parameters, prior):
        return 0.5 * float(np.sum((parameters - prior) ** 2)) * ROUNDING, parameters - prior

    def mean_weights(self, parameters):
        return softmax(parameters)

    def log_ratio(self, parameters, prior, point):
        ratio = 0.5 * float(np.sum((point - prior) ** 2) - np.sum((point - parameters) ** 2))
        return ratio + 1e-12 * (1.0 + float(np.sum((point - prior) ** 2)))

    def log_ratio_gradients(self, parameters, prior, point):
        return point - parameters, parameters - prior

    def draw(self, parameters, rng):
        noise = rng.standard_normal(len(parameters))
        point = parameters + noise
        return Draw(point, log_softmax(point), (noise,))

    def expected_risk(self, votes, labels, loss, shares=None):
        """The mean over a few draws of a sigmoid of the wrong mass: two classes, or the half-weight loss."""
        wrong, noise = votes.against(labels), DRAWS[:, : votes.n_voters]
        table = np.stack([wrong.column(voter) for voter in range(votes.n_voters)], axis=1)
        counts = np.full(len(labels), 1.0 / len(labels)) if shares is None else shares

        def risk(means: Any) -> Any:
            if jax is None:
                masses = softmax(means + noise, axis=1) @ table.T
                return (expit(STEEP * (masses - 0.5)) @ counts).mean()
            masses = nn.softmax(means + noise, axis=1) @ table.T
            return (nn.sigmoid(STEEP * (masses - 0.5)) @ counts).mean()

        return value_and_gradient(risk)


FAMILIES.register(UnitGaussians())


def main() -> None:
    path = figure_path(__doc__, "own-family.png")
    print("Gradients by JAX." if jax else "JAX is not installed: gradients by finite differences.")
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, rest = order[:200], order[200:]
    forest = RandomForestClassifier(20, max_depth=3, random_state=0).fit(X[train], y[train])
    votes = np.stack([tree.predict(X[rest]).astype(int) for tree in forest.estimators_], axis=1)
    for family in ("dirichlet", "unit-gaussians"):
        learned = learn(votes, y[rest], DisB(family=family), prior=1.0, random_state=0)
        print(f"{family:<15} {len(learned.trace):>3} steps, bound {100 * learned.bound:.2f} %")
    save(plot_learning(learned, new_axes()), path)


if __name__ == "__main__":
    main()

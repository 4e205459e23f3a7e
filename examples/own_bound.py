"""Two bounds of one's own beside those of the library, on the same votes: PAC-Bayes-lambda and coin betting.

Both are about the random vote: `E n kl(observed, error) <= KL + ...` is what a theorem gives for a posterior, and what
is left is to invert it. Registered, they go through `learn`, `compare`, plots, JSON and the command line.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from figures import figure_path, new_axes, save
from scipy.special import gammaln
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from certivote import learn, plot_comparison
from certivote.theory.bounds import sample_bound
from certivote.theory.methods import METHODS
from certivote.theory.theorems import SeegerMaurer, Setting, kl_slopes


@dataclass(frozen=True)
class PacBayesLambda(SeegerMaurer):
    """Theorem 3 of Thiemann, Igel, Wintenberger and Seldin (2017), which holds for every lambda in (0, 2) at once.

    `error <= risk / (1 - lambda / 2) + (KL + ln(2 sqrt(n) / delta)) / (n lambda (1 - lambda / 2))`, at the best lambda.
    It is above the kl bound from which it follows, and convex in the posterior for a fixed lambda.
    """

    name: str = "PAC-Bayes-lambda"

    def confidence(self, n: int, setting: Setting) -> float:
        return math.log(2.0 * math.sqrt(n) / setting.delta)

    def invert(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        return self._at_best(risks[0], penalty + confidence, n)[0]

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        value = self.invert(risks, penalty, self.confidence(n, setting), n)
        return min(value * (1.0 + 1e-12), 1.0)  # rounded up

    def slopes(self, risks: Any, penalty: float, n: int, setting: Setting) -> tuple[float, Any, float]:
        return self._at_best(risks, penalty + self.confidence(n, setting), n)

    @staticmethod
    def _at_best(risk: Any, nats: float, n: int) -> tuple[float, Any, float]:
        """The bound at the best lambda and, as that is best, its derivatives at this lambda."""
        best = 2.0 / (math.sqrt(2.0 * n * float(risk) / nats + 1.0) + 1.0)
        in_risk = 1.0 / (1.0 - best / 2.0)
        in_nats = in_risk / (n * best)
        return risk * in_risk + nats * in_nats, in_risk, in_nats


@dataclass(frozen=True)
class CoinBetting(SeegerMaurer):
    """Jang, Jun, Kuzborskij and Orabona (2023), for errors that are counted, which makes it a kl bound.

    The wealth of Krichevsky and Trofimov's bettor is a martingale at the true error, and at most
    `sqrt(pi) Gamma(n + 1) / Gamma(n + 1/2)` below that of the best fixed bet, which is `exp(n kl)`. It replaces
    Maurer's constant, and holds for all n at once, so one may go on looking.
    """

    name: str = "coin betting"

    def confidence(self, n: int, setting: Setting) -> float:
        return float(0.5 * math.log(math.pi) + gammaln(n + 1) - gammaln(n + 0.5)) - math.log(setting.delta) + 1e-9

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        return sample_bound(risks[0], penalty + self.confidence(n, setting), n)

    def slopes(self, risks: Any, penalty: float, n: int, setting: Setting) -> tuple[float, Any, float]:
        return kl_slopes(risks, penalty + self.confidence(n, setting), n)


METHODS.register(replace(METHODS["smv-exact"], name="pac-bayes-lambda", theorem=PacBayesLambda(), colour="#7a3b9e"))
METHODS.register(replace(METHODS["smv-exact"], name="coin-betting", theorem=CoinBetting(), colour="#b5651d"))


def main() -> None:
    path = figure_path(__doc__, "own-bound.png")
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, rest = order[:200], order[200:]
    forest = RandomForestClassifier(50, max_depth=3, random_state=0).fit(X[train], y[train])
    votes = np.stack([tree.predict(X[rest]).astype(int) for tree in forest.estimators_], axis=1)
    for method in ("smv-exact", "coin-betting", "pac-bayes-lambda"):
        learned = learn(votes, y[rest], method, prior=1.0, random_state=0)
        print(f"{method:<17} learned from {len(rest)} rows in {len(learned.trace)} steps: {100 * learned.bound:.2f} %")
    table = learn(votes, y[rest], "coin-betting", prior=1.0, random_state=0).bounds()
    table = table[table["certified"] == "the random vote"]
    shown = table[["theorem", "bound", "penalty"]].round(4)
    print(f"\nOne posterior, by every theorem about the random vote:\n\n{shown}")
    save(plot_comparison(table, new_axes()), path)


if __name__ == "__main__":
    main()

"""A credit model with preprocessing of its own, on a made-up table with categories and missing values.

The transformer is fitted to the training rows, not to the certification rows: ``voters.Preprocessed`` sees to it. As
the customers are made up, the true error is known: the certificate is held against new customers from the same source,
and against those of a recession, about whom it promises nothing.
"""

import numpy as np
import pandas as pd
from figures import figure_path, new_axes, save
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from certivote import CertifiedVoteClassifier
from certivote.certificate import percent_up
from certivote.voters import Preprocessed

NUMBERS, CATEGORIES = ["income", "age", "debt"], ["work", "home"]


def main() -> None:
    path = figure_path(__doc__, "credit.png")
    rng = np.random.default_rng(0)
    X, y = customers(4_000, rng)
    print(X.head(4).to_string(), "\n")

    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), NUMBERS),
        (OneHotEncoder(handle_unknown="ignore"), CATEGORIES),
    )
    clf = CertifiedVoteClassifier("dis-b", Preprocessed(prepare, "forest"), prior="informed", random_state=0)
    clf.fit(X, y)
    certificate = clf.certificate_
    print(certificate)

    new = error(clf, *customers(50_000, rng))
    later = error(clf, *customers(50_000, rng, recession=True))
    sample = certificate.deployed_part
    print(f"\nCertified: at most {percent_up(certificate.bound)}.")
    print(f"New customers from the same source: {new:.2%}.  In a recession: {later:.2%}, which no promise covers.")

    names = [
        "seen on\ncertification rows",
        "certified:\nat most",
        "new customers,\nsame source",
        "new customers,\nrecession",
    ]
    values = [sample.risks[0], certificate.bound, new, later]
    ax = new_axes()
    ax.grid(axis="y")
    bars = ax.bar(names, [100 * value for value in values], 0.62, color=["#0072b2", "#b8500f", "#117a65", "#999999"])
    ax.axhline(100 * certificate.bound, color="#b8500f", lw=0.8, ls="--")
    ax.bar_label(bars, [percent_up(value) for value in values], padding=3, bbox={"fc": "white", "ec": "none", "pad": 1})
    ax.set(ylabel="error in %", ylim=(0, 115 * max(values)))
    save(ax, path)


def customers(n: int, rng: np.random.Generator, recession: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """Customers, and whether they pay back. In a recession those with debts and those in trade are hit."""
    income = rng.lognormal(7.8, 0.5, n)
    age = rng.integers(19, 80, n).astype(float)
    debt = rng.gamma(2.0, 4_000.0, n)
    work = rng.choice(["office", "trade", "health", "none"], n, p=[0.4, 0.3, 0.2, 0.1])
    home = rng.choice(["owned", "rented", "with parents"], n, p=[0.4, 0.45, 0.15])
    score = 2.5 + 3.0 * np.log(income / 2_400) - debt / 4_000 + (home == "owned") - 2.0 * (work == "none")
    if recession:
        score -= 1.0 + debt / 8_000 + 1.5 * (work == "trade")
    paid = np.where(score + rng.logistic(0.0, 0.5, n) > 0, "paid", "default")
    X = pd.DataFrame({"income": income.round(), "age": age, "debt": debt.round(), "work": work, "home": home})
    X.loc[rng.random(n) < 0.08, "income"] = np.nan
    X.loc[rng.random(n) < 0.05, "work"] = None
    return X, paid


def error(clf: CertifiedVoteClassifier, X: pd.DataFrame, y: np.ndarray) -> float:
    return float(np.mean(clf.predict(X) != y))


if __name__ == "__main__":
    main()

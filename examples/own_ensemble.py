"""Bring your own ensemble: classifiers that you have already, of scikit-learn or of another library.

Fitted classifiers are certified on rows that none of them has seen: ``split="none"`` uses all rows that are given. The
weights are learned from the certification rows themselves, where that is worth its price, and the certificate lists
what was paid. Unfitted classifiers are fitted to a part of the rows first. If LightGBM is installed, its models vote
too.
"""

import numpy as np
from figures import figure_path, save
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from certivote import CertifiedVoteClassifier, plot_certificate
from certivote.certificate import percent_up

try:
    from lightgbm import LGBMClassifier
except ImportError:
    LGBMClassifier = None


def main() -> None:
    path = figure_path(__doc__, "own-ensemble.png")
    X, y = make_classification(15_000, n_features=20, n_informative=8, flip_y=0.02, class_sep=1.2, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    then, since = order[:3_000], order[3_000:]

    members = ensemble()
    fitted = {name: clone(member).fit(X[then], y[then]) for name, member in members.items()}
    clf = CertifiedVoteClassifier("dis-b", list(fitted.values()), split="none", random_state=0).fit(X[since], y[since])
    print("Fitted classifiers, certified on rows that have come in since:\n")
    print(clf.certificate_)
    print("\nThe heaviest voters:")
    for j in np.argsort(-clf.weights_)[:5]:
        print(f"  {list(fitted)[j]:<22} {clf.weights_[j]:6.1%}")

    anew = CertifiedVoteClassifier("dis-b", list(members.values()), random_state=0).fit(
        X[order[:6_000]], y[order[:6_000]]
    )
    print("\nThe same, unfitted, on 6,000 rows: half of them train the classifiers, the others certify the vote.")
    print(f"At most {percent_up(anew.certificate_.bound)}, {anew.certificate_.deployed_part.errors} errors seen.")
    save(plot_certificate(clf.certificate_), path)


def ensemble() -> dict[str, object]:
    """Unfitted classifiers of several kinds, with names."""
    members: dict[str, object] = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "naive Bayes": GaussianNB(),
    }
    for k in (5, 15, 45):
        members[f"{k} neighbours"] = make_pipeline(StandardScaler(), KNeighborsClassifier(k))
    for number in range(1, 21):
        members[f"weak tree {number}"] = DecisionTreeClassifier(max_depth=3, max_features=2, random_state=number)
    if LGBMClassifier is None:
        print("LightGBM is not installed, so it does not vote (pip install lightgbm).\n")
        return members
    for leaves in (7, 15, 31):
        for rounds in (30, 100):
            name = f"LightGBM {leaves} x {rounds}"
            members[name] = LGBMClassifier(num_leaves=leaves, n_estimators=rounds, n_jobs=1, verbose=-1)
    return members


if __name__ == "__main__":
    main()

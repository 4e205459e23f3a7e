"""A model that you have already: from training to a page that you can show.

A gradient boosting of LightGBM (of scikit-learn, where LightGBM is not installed) is tuned and trained as usual. Rows
that had no part in any of that certify it: two lines give the number, and a third the page.
"""

import numpy as np
from figures import figure_path, save
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, train_test_split

from certivote import certify, plot_certificate
from certivote.certificate import percent_up

try:
    from lightgbm import LGBMClassifier
except ImportError:
    LGBMClassifier = None


def main() -> None:
    path = figure_path(__doc__, "your-model.png")
    X, y = make_classification(8_000, n_features=15, n_informative=6, flip_y=0.03, class_sep=1.3, random_state=0)
    labels = np.where(y == 1, "default", "repaid")

    # The rows that will certify are put aside first. Nothing below looks at them until the model is final.
    X_train, X_new, y_train, y_new = train_test_split(X, labels, test_size=3_000, random_state=0)
    model = tuned(X_train, y_train)

    certificate = certify(model, X_new, y_new, training=X_train)
    print(certificate)
    certificate.report(path.with_suffix(".html"), title="Credit model")
    print(f"\nThe page for others: {path.with_suffix('.html')}.")

    # Several models at once: delta is divided, so that the best may be chosen after looking at their bounds.
    others = {f"{leaves} leaves": boosting(max_leaf=leaves).fit(X_train, y_train) for leaves in (4, 15, 63)}
    best = certify(others, X_new, y_new)
    print("\nThree models, any of which may be chosen afterwards:")
    for candidate in best.candidates:
        print(f"  {candidate.name:<10} {candidate.errors:>4} errors, at most {percent_up(candidate.bound)}")
    chosen = next((candidate.name for candidate in best.candidates if candidate.chosen), "the vote of all three")
    print(f"The smallest is {percent_up(best.bound)}, of {chosen}.")
    save(plot_certificate(certificate), path)


def tuned(X: np.ndarray, y: np.ndarray) -> object:
    """The best of a few settings by cross-validation on the training rows."""
    name = "max_leaf_nodes" if LGBMClassifier is None else "num_leaves"
    return GridSearchCV(boosting(), {name: [7, 31]}, cv=3).fit(X, y).best_estimator_


def boosting(max_leaf: int = 31) -> object:
    """An unfitted model."""
    if LGBMClassifier is None:
        return HistGradientBoostingClassifier(max_leaf_nodes=max_leaf)
    return LGBMClassifier(num_leaves=max_leaf, n_estimators=60, n_jobs=1, verbose=-1)


if __name__ == "__main__":
    main()

"""Ten certificates on one split: every method with the same voters and the same rows.

They do not all certify the same thing: a vote drawn once, a predictor that draws a vote for every case, the vote with
the learned weights, or one that learned nothing from the certification rows. Each number holds on its own. To pick the
smallest after a look, delta has to be divided: ``joint=True``.
"""

from figures import figure_path, save
from sklearn.datasets import load_breast_cancer

from certivote import compare, plot_comparison
from certivote.certificate import percent_up


def main() -> None:
    path = figure_path(__doc__, "comparison.png")
    X, y = load_breast_cancer(return_X_y=True)
    table = compare(X, y, voters="forest", random_state=0)
    for name, row in table.iterrows():
        print(f"{name:<10} {percent_up(row['bound']):>8}  {row['certified']}")
    print(f"\n{table.attrs['note']}")

    joint = compare(X, y, ["dis-b", "dis-r", "holdout"], voters="forest", random_state=0, joint=True)
    best = joint["bound"].idxmin()
    print(
        f"\nWith delta divided among three of them, {best} may be picked: at most {percent_up(joint['bound'][best])}."
    )

    save(plot_comparison(table), path)


if __name__ == "__main__":
    main()

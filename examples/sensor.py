"""Rows that come in time: a sensor whose readings drift.

A random split mixes early and late rows, and certifies an error that holds for a time that is over. With ``order`` the
earliest rows train and the latest certify; the certificate is about their time, says whether errors grew within it, and
promises nothing about later. The readings are made up, and go on after the table ends.
"""

import numpy as np
from figures import figure_path, new_axes, save

from certivote import CertifiedVoteClassifier
from certivote.certificate import percent_up
from certivote.splits import Single


def main() -> None:
    path = figure_path(__doc__, "sensor.png")
    rng = np.random.default_rng(0)
    when, X, y = readings(np.linspace(0.0, 1.0, 6_000), rng)
    always, X_new, y_new = readings(np.linspace(0.0, 1.5, 9_000), rng)

    ax = new_axes()
    for name, order, colour in (("random split", None, "#858585"), ("order=when", when, "#a34700")):
        clf = CertifiedVoteClassifier(voters="forest", split=Single(0.5), random_state=0).fit(X, y, order=order)
        bound, certified = clf.certificate_.bound, when[clf.part_.certify]
        wrong = clf.predict(X_new) != y_new
        during = wrong[(always >= certified.min()) & (always <= certified.max())].mean()
        print(f"\n{name.upper()}")
        print(
            f"Certified for the time from {certified.min():.1f} to {certified.max():.1f}: at most {percent_up(bound)}."
        )
        print(f"Errors on new rows of that time: {during:.1%}. Later: {wrong[always > 1.0].mean():.1%}.")
        for drift in clf.certificate_.deployed_part.drift:
            print(
                f"Errors in the earlier half of the certification rows: {drift.early_errors / drift.early_rows:.1%}, "
                f"in the later half: {drift.late_errors / drift.late_rows:.1%} (p = {drift.p_value:.2g})."
            )
        ax.plot(always.reshape(30, -1).mean(axis=1), 100 * wrong.reshape(30, -1).mean(axis=1), color=colour, label=name)
        ax.hlines(100 * bound, certified.min(), certified.max(), color=colour, linestyle="--")
    ax.axvline(1.0, color="#d9d9d9", zorder=0)
    ax.set_xlabel("time; the table ends at 1")
    ax.set_ylabel("errors, % (dashed: certified)")
    ax.legend(frameon=False)
    save(ax, path)


def readings(when: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, rows and classes: what tells the classes apart turns with time."""
    X = rng.normal(size=(len(when), 5))
    angle = 0.5 * np.pi * when
    score = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]
    return when, X, (score + 0.3 * rng.normal(size=len(when)) > 0).astype(int)


if __name__ == "__main__":
    main()

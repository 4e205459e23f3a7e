"""After deployment: does the certificate still hold, and what is seen without labels.

Digits from a scanner are read by a certified vote. For a while all is well; then more and more of them come from
another scanner, which is out of focus. The monitor of outcomes sees the errors exceed the bound, the monitor of rows
sees that the pictures look different before any outcome is known, and neither is an alarm while nothing has changed.
"""

import numpy as np
from figures import figure_path, save
from matplotlib import pyplot as plt
from scipy.ndimage import uniform_filter
from sklearn.datasets import load_digits

from certivote import CertifiedVoteClassifier, DriftMonitor, Monitor, plot_monitor, recertify
from certivote.certificate import percent_up

DAYS, PER_DAY, CHANGE = 60, 25, 30


def main() -> None:
    path = figure_path(__doc__, "monitor.png")
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))
    old, new, later = rows[:900], rows[900:1400], rows[1400:]
    clf = CertifiedVoteClassifier(voters="forest", random_state=0).fit(X[old], y[old])
    outcomes, looks = Monitor(clf, alpha=0.01), DriftMonitor(clf, alpha=0.01)

    for day in range(DAYS):
        today = rng.choice(new, PER_DAY)
        blurred = rng.random(PER_DAY) < max(0.0, (day - CHANGE) / (DAYS - CHANGE))
        seen = np.where(blurred[:, None], out_of_focus(X[today]), X[today])
        looks.update(seen, when=f"day {day}")
        outcomes.update(y[today], clf.predict(seen), when=f"day {day}")
    print(
        f"Certified: at most {percent_up(clf.certificate_.bound)}. From day {CHANGE} on, more and more are blurred.\n"
    )
    print(f"WITH LABELS\n{outcomes}\n")
    print(f"WITHOUT LABELS\n{looks}\n")

    # Rows that came after the alarm, which decided to certify again.
    again = recertify(clf, out_of_focus(X[later]), y[later], monitor=[outcomes, looks])
    print(f"CERTIFIED AGAIN, on blurred digits: at most {percent_up(again.bound)}.")
    for sentence in again.provenance.since:
        print(f"- {sentence}")

    _, (above, below) = plt.subplots(2, 1, figsize=(5.2, 4.6), dpi=150, layout="constrained")
    for monitor, ax, name in ((outcomes, above, "with labels"), (looks, below, "without labels")):
        plot_monitor(monitor, ax)
        ax.axvline(CHANGE * PER_DAY, color="#d9d9d9", zorder=0)
        ax.set_title(f"{name}: {ax.get_title(loc='left')}")
    save(below, path)


def out_of_focus(pictures: np.ndarray) -> np.ndarray:
    """Pictures of 8 by 8, each point the mean of its neighbourhood."""
    return uniform_filter(pictures.reshape(-1, 8, 8), size=(1, 3, 3)).reshape(len(pictures), 64)


if __name__ == "__main__":
    main()

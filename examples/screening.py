"""A medical screening decision: when is a vote certified to cost less than a biopsy for everyone, or for no one.

The certificate by class bounds two rates at once: of missed malignant tumours, and of needless alarms. Unlike the error
over all cases, they do not depend on how frequent malignant tumours are, as long as the tumours of each kind look the
same. So they bound the expected cost for any prevalence, also for that of a screening programme.
"""

import numpy as np
from figures import figure_path, new_axes, save
from sklearn.datasets import load_breast_cancer

from certivote import CertifiedVoteClassifier
from certivote.present import percent_up

MISSED, NEEDLESS = 20.0, 1.0  # costs of a missed malignant tumour and of a needless biopsy
SCREENING = 0.05  # prevalence of malignant tumours among those who are screened


def main() -> None:
    path = figure_path(__doc__, "screening.png")
    data = load_breast_cancer()
    labels = data.target_names[data.target]
    clf = CertifiedVoteClassifier(random_state=0).fit(data.data, labels)
    print(clf.certificate_)

    rates = {entry.label: entry for entry in clf.certificate_.by_class}
    missed, needless = rates["malignant"], rates["benign"]
    print("\nWith 95 % confidence, both of these hold:")
    print(f"  missed malignant tumours:  at most {percent_up(missed.bound)} (seen: {missed.errors} of {missed.n})")
    print(
        f"  needless alarms:           at most {percent_up(needless.bound)} (seen: {needless.errors} of {needless.n})"
    )

    prevalence = np.linspace(0.0, 1.0, 1001)
    by_vote = prevalence * missed.bound * MISSED + (1 - prevalence) * needless.bound * NEEDLESS
    by_all, by_none = (1 - prevalence) * NEEDLESS, prevalence * MISSED
    better = prevalence[by_vote < np.minimum(by_all, by_none)]
    if not len(better):
        print("\nAt no prevalence is the vote certified to cost less than a biopsy for everyone, or for no one.")
    else:
        print(
            f"\nIf a missed malignant tumour costs {MISSED:g} times a needless biopsy, the vote is certified to cost "
            f"less than both simple rules\nfor prevalences from {better[0]:.1%} to {better[-1]:.1%}."
        )
    here = int(np.argmin(np.abs(prevalence - SCREENING)))
    print(
        f"At {SCREENING:.0%}: at most {np.ceil(100 * by_vote[here]) / 100:.2f} per person by the vote, "
        f"{by_all[here]:.2f} if everyone has a biopsy, {by_none[here]:.2f} if no one has."
    )

    ax = new_axes()
    ax.plot(100 * prevalence, by_all, "--", color="#777777", label="a biopsy for everyone")
    ax.plot(100 * prevalence, by_none, ":", color="#777777", label="a biopsy for no one")
    ax.plot(100 * prevalence, by_vote, color="#b8500f", label="by the vote: at most")
    if len(better):
        ax.axvspan(100 * better[0], 100 * better[-1], color="#b8500f", alpha=0.1, lw=0)
    ax.axvline(100 * SCREENING, color="#404040", lw=0.8)
    ax.text(100 * SCREENING + 0.4, 0.45, "screening", color="#404040")
    ax.set(xlim=(0, 40), ylim=(0, 1.5), xlabel="prevalence of malignant tumours in %")
    ax.set_ylabel("expected cost per person,\nin needless biopsies")
    ax.legend(frameon=False, loc="upper right")
    save(ax, path)


if __name__ == "__main__":
    main()

"""Screening for a rare illness: from a table to a rule that is certified to find the ill, and a page that says so.

One in twenty-five is ill. A missed case costs twenty times as much as a needless examination, and at least 95 % of the
ill must be found: a threshold, the largest at which that is certified, decides who is examined. The errors of women and
men and of three hospitals are bounded too, and the expected cost. All promises and the bound hold at once with 95 %
confidence. The people are made up, so the truth is known.
"""

import math
from pathlib import Path

import numpy as np
import pandas as pd
from figures import figure_path, new_axes, save
from sklearn.ensemble import RandomForestClassifier

from certivote import Certificate, CertifiedVoteClassifier
from certivote.promises import Costs, Precision, Sensitivity, Subgroups
from certivote.voters import ColumnEncoder, Forest, Preprocessed

MISSED, NEEDLESS = 20, 1  # costs of a missed case and of a needless examination
SENSITIVITY = 0.95  # share of the ill that must be found


def main() -> None:
    path = figure_path(__doc__, "screening.png")
    table = path.with_suffix(".csv")
    rng = np.random.default_rng(0)
    people(8_000, rng).to_csv(table, index=False)

    X = pd.read_csv(table)
    y = X.pop("outcome")
    clf = CertifiedVoteClassifier(
        "dis-b",
        # Trees that weigh the few who are ill as much as all others: so the vote leans to the side that costs less.
        Preprocessed(ColumnEncoder(), Forest(RandomForestClassifier(min_samples_leaf=20, class_weight="balanced"))),
        prior="informed",
        promises=[
            Sensitivity(at_least=SENSITIVITY, label="ill"),
            Precision(),
            Subgroups("sex", "site"),
            Costs({("ill", "well"): MISSED, ("well", "ill"): NEEDLESS}),
        ],
        together=True,
        random_state=0,
    )
    clf.fit(X, y)
    certificate = clf.certificate_
    for promise in certificate.promises:
        print(promise)
    page = path.with_suffix(".html")
    certificate.report(page, title="Screening")
    print(f"\nThe page for others: {page}. The table: {table}.")

    # New people: who is examined, and what becomes of them.
    new = people(20_000, rng)
    ill = new.pop("outcome") == "ill"
    flagged = clf.flags(new)
    print(
        f"\nOf 20,000 new people {flagged.mean():.1%} are examined. "
        f"{flagged[ill].mean():.1%} of the ill are among them (certified: at least {SENSITIVITY:.0%})."
    )
    draw(certificate, path)


def draw(certificate: Certificate, path: Path) -> None:
    """What a person costs at most, for any share of ill people, if the ill and the well look as they do here."""
    promise = next(each for each in certificate.promises if each.name == "sensitivity")
    missed, needless = 1 - SENSITIVITY, promise.statements[1].bound
    prevalence = np.linspace(0.0, 1.0, 1001)
    by_flags = prevalence * missed * MISSED + (1 - prevalence) * needless * NEEDLESS
    by_all, by_none = (1 - prevalence) * NEEDLESS, prevalence * MISSED
    better = prevalence[by_flags < np.minimum(by_all, by_none)]
    print(
        f"Examining those who are flagged costs less than examining everyone, or no one, wherever {better[0]:.1%} to "
        f"{better[-1]:.1%} are ill.\nWhere 4 % are: at most {math.ceil(100 * by_flags[40]) / 100:.2f} per person; "
        f"everyone costs {by_all[40]:.2f}, no one {by_none[40]:.2f}."
    )
    ax = new_axes()
    ax.plot(100 * prevalence, by_all, "--", color="#777777", label="everyone is examined")
    ax.plot(100 * prevalence, by_none, ":", color="#777777", label="no one is examined")
    ax.plot(100 * prevalence, by_flags, color="#b8500f", label="those who are flagged: at most")
    ax.axvspan(100 * better[0], 100 * better[-1], color="#b8500f", alpha=0.1, lw=0)
    ax.axvline(4, color="#404040", lw=0.8)
    ax.text(4.2, 1.35, "here", color="#404040")
    ax.set(xlim=(0, 20), ylim=(0, 1.5), xlabel="ill, in % of those who are screened")
    ax.set_ylabel("expected cost per person,\nin needless examinations")
    ax.legend(frameon=False, loc="upper right")
    save(ax, path)


def people(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """People who are screened, about 4 % of them ill: two markers tell, less surely at the site in the south."""
    ill = rng.random(n) < 0.04
    site = rng.choice(["north", "south", "west"], n, p=[0.5, 0.2, 0.3])
    noise = np.where(site == "south", 1.3, 1.0)
    table = pd.DataFrame(
        {
            "age": rng.integers(40, 80, n) + 4 * ill,
            "sex": rng.choice(["f", "m"], n),
            "site": site,
            "marker_a": (rng.normal(size=n) * noise + 2.4 * ill).round(2),
            "marker_b": (rng.normal(size=n) * noise + 2.0 * ill).round(2),
            "smoker": np.where(rng.random(n) < 0.2 + 0.2 * ill, "yes", "no"),
            "outcome": np.where(ill, "ill", "well"),
        }
    )
    table.loc[rng.random(n) < 0.05, "marker_b"] = np.nan
    return table


if __name__ == "__main__":
    main()

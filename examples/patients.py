"""Rows that belong together: eight hundred patients with ten measurements each.

The measurements of a patient are nearly equal, so a random half of the *rows* knows every patient: the vote recognises
them, and the certificate takes 4,000 rows for 4,000 cases. With ``groups`` patients are divided, never rows, and the
certificate is about new patients. The patients are made up, so the truth about new ones is known.
"""

import warnings

import numpy as np
from figures import figure_path, new_axes, save

from certivote import CertifiedVoteClassifier
from certivote.certificate import percent_up
from certivote.splits import Single

PATIENTS, ROWS = 800, 10


def main() -> None:
    path = figure_path(__doc__, "patients.png")
    rng = np.random.default_rng(0)
    X, y, patient = measurements(PATIENTS, rng)
    X_new, y_new, _ = measurements(4_000, rng)

    results = []
    for name, groups in (("rows divided", None), ("patients divided", patient)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = CertifiedVoteClassifier(voters="forest", split=Single(0.5), random_state=0).fit(X, y, groups=groups)
        truth = float(np.mean(clf.predict(X_new) != y_new))
        results.append((name, clf.certificate_.bound, truth))
        print(f"\n{name.upper()}\n")
        print(clf.certificate_)
        print(f"\nErrors on 4,000 new patients: {truth:.1%}.")
    (_, too_small, truth), (_, bound, grouped_truth) = results
    print(
        f"\nWithout groups the certificate says at most {percent_up(too_small)}, and {truth:.1%} of the answers about "
        f"new patients are wrong.\nWith groups it says at most {percent_up(bound)}, and {grouped_truth:.1%} are."
    )

    ax = new_axes()
    places = np.arange(len(results))
    ax.bar(places - 0.18, [100 * bound for _, bound, _ in results], 0.34, label="certified", color="#a34700")
    errors = [100 * truth for _, _, truth in results]
    ax.bar(places + 0.18, errors, 0.34, label="errors on new patients", color="#858585")
    ax.set_xticks(places, [name for name, _, _ in results])
    ax.set_ylabel("% of the answers")
    ax.legend(frameon=False)
    save(ax, path)


def measurements(n_patients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ten nearly equal rows per patient, whether each patient is ill, and whose rows they are."""
    patients = rng.normal(size=(n_patients, 6))
    risk = 1.0 / (1.0 + np.exp(-2.5 * (patients[:, 0] + patients[:, 1] * patients[:, 2])))
    ill = (rng.random(n_patients) < risk).astype(int)
    patient = np.repeat(np.arange(n_patients), ROWS)
    return patients[patient] + 0.02 * rng.normal(size=(len(patient), 6)), ill[patient], patient


if __name__ == "__main__":
    main()

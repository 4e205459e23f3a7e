"""What missing values by many names cost: bounds with 0, 5 and 20 % of such cells in one column.

    python benchmarks/missing_words.py

One column of numbers tells most of the class. In some of its cells stands a word such as ``k.A.`` or ``#NV``, a limit,
or nothing at all, which is what the words should be worth.
"""

import tempfile
from pathlib import Path

import numpy as np

from certivote import CertifiedVoteClassifier
from certivote.io import read_table
from certivote.voters import ColumnEncoder, Preprocessed

WORDS = ["n/a", "-", "N/A", "#N/A", "#NV", "k.A.", "--", ".", "unknown", "<0.1"]


def bound(share, words, seed=0, n_rows=1000):
    """The bound of the default classifier on a made table, of which some cells of a column hold one of the words."""
    rng = np.random.default_rng(seed)
    crp, age = rng.lognormal(1.0, 1.0, n_rows), rng.integers(18, 90, n_rows)
    ill = np.log(crp) + 0.01 * (age - 50) + rng.normal(0.0, 0.25, n_rows) > 1.0
    gone = rng.random(n_rows) < share
    texts = [str(rng.choice(words)) if is_gone else f"{value:.2f}" for value, is_gone in zip(crp, gone, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        rows = [f"{a},{b},{'ill' if c else 'well'}" for a, b, c in zip(texts, age, ill, strict=True)]
        path.write_text("\n".join(["crp,age,state", *rows, ""]))
        read = read_table(path, "state")
    clf = CertifiedVoteClassifier(voters=Preprocessed(ColumnEncoder(), "mixed"), random_state=seed)
    return clf.fit(read.X, read.y).certificate_.bound


if __name__ == "__main__":
    print("share of cells   words   empty cells")
    for share in (0.0, 0.05, 0.2):
        print(f"{share:14.0%}   {bound(share, WORDS):.2%}   {bound(share, ['']):.2%}")

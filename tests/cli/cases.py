"""Cases that a rule tells apart but for some, as tables of what happened after deployment have them."""

import numpy as np
import pandas as pd


def table(n, seed, noise=0.05):
    """Cases with an id, of whom some are ill against the rule, and the rule's answers."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {"case": np.arange(n) + 1000 * seed, "a": rng.normal(size=n).round(6), "site": rng.choice(["n", "s"], n)}
    )
    rule = rows["a"] + (rows["site"] == "n") > 0.3
    flipped = rng.random(n) < noise
    rows["outcome"] = np.where(rule ^ flipped, "ill", "well")
    rows["label"] = np.where(rule, "ill", "well")
    return rows

"""Who votes with what weight."""

from dataclasses import dataclass

import numpy as np

from certivote.certificate import Certificate, counted
from certivote.present._breakdown import vote_weights
from certivote.present._subject import model_names

_BARS = 40
"""Most bars in the picture of the weights."""


@dataclass(frozen=True)
class Weights:
    """Who votes with what weight.

    Attributes
    ----------
    heights : list of float
        Of bars, the largest weight first.
    shares : list of (voters, share)
    voters : str
        What the voters are called, many of them.
    words : str
        Who votes, and what a bar is.
    """

    heights: list[float]
    shares: list[tuple[str, str]]
    voters: str
    words: str


def weights(certificate: Certificate) -> Weights:
    """The weights of the deployed vote: of models that were given, by name; of voters, of the leading ones together."""
    part, found = certificate.deployed_part, vote_weights(certificate)
    order = np.argsort(-found, kind="stable")
    ordered = found[order]
    groups = np.array_split(ordered, min(_BARS, len(ordered)))
    heights = np.array([group.mean() for group in groups])
    heights = (heights / heights.max()).tolist()
    if certificate.candidates:
        names = model_names(certificate)
        named = [(names[k] if k < len(names) else f"model {k + 1}", f"{100 * found[k]:.1f} %") for k in order]
        return Weights(heights, named, "Models", f"{len(ordered)} models that were given, the heaviest first")
    largest = len(groups[0])
    each = "each bar is one voter" if largest == 1 else f"each bar is the mean of up to {largest} voters"
    counts = [count for count in (1, 5, 10, 50, 100, 500) if count < len(ordered)]
    table = [
        ("the largest" if count == 1 else f"the largest {count}", f"{100 * ordered[:count].sum():.1f} %")
        for count in counts
    ]
    half = int(np.searchsorted(np.cumsum(ordered), 0.5) + 1)
    table.append(("half of the weight", f"{half:,} of {len(ordered):,} voters"))
    table.append(("effective number of voters", f"{1 / np.sum(ordered**2):.1f}"))
    trained = f"trained on {part.training_rows:,} rows, the heaviest first"
    return Weights(heights, table, "Voters", f"{counted(part.n_voters, 'voter')}, {trained}; {each}")

"""Whether the witnesses that a model keeps, to recognise rows that it was made from, are of these rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import MOST_WITNESSES, Certificate, Witnesses
from certivote.verify._check import Check, trusted


def check_witnesses(c: Certificate, witnesses: Witnesses | None) -> Iterator[Check]:
    """Whether there are as many as there should be."""
    if witnesses is None:
        why = "the model keeps none, so that rows which it was made from are not recognised when it is certified again"
        yield trusted("witnesses of its rows", f"not checked: {why}")
        return
    part, kept = c.deployed_part, (len(witnesses.train), len(witnesses.certify))
    due = tuple(min(n, MOST_WITNESSES) for n in (part.training_rows, part.n))
    told = f"of {kept[0]:,} training and {kept[1]:,} certification rows"
    if c.division == "shuffled":
        yield Check("witnesses of its rows", kept == due, f"{told}, {due[0]:,} and {due[1]:,} belong there")
        return
    yield Check("witnesses of its rows", kept[0] <= due[0] and kept[1] in (0, due[1]), told)
    if not kept[1]:
        why = "rows were certified on a cluster, which keeps no witnesses: such rows are not recognised later"
        yield trusted("witnesses of its certification rows", f"not checked: {why}")


class GatheredWitnesses:
    """The rows that witnesses were found among, as they come."""

    def __init__(self, witnesses: Witnesses):
        self._witnesses = witnesses
        self._kept = [np.unique(each, return_counts=True) for each in (witnesses.train, witnesses.certify)]
        self._found = [np.zeros(len(values), dtype=np.int64) for values, _ in self._kept]

    def add(self, X: Any, train: NDArray[np.intp], certify: NDArray[np.intp]) -> None:
        """Look at rows, of which these train and certify."""
        digests = self._witnesses.digests(X)
        for rows, (values, _), found in zip((train, certify), self._kept, self._found, strict=True):
            own = digests[rows]
            found += np.bincount(np.searchsorted(values, own[np.isin(own, values)]), minlength=len(values))

    def check(self) -> Check:
        """Whether every witness is of a row of its kind, and of as many as there are witnesses."""
        absent = sum(
            int(np.maximum(counts - found, 0).sum()) for (_, counts), found in zip(self._kept, self._found, strict=True)
        )
        told = f"{absent:,} are of OTHER rows" if absent else "all are of rows that trained or certified it"
        return Check("witnesses among the rows", not absent, told)

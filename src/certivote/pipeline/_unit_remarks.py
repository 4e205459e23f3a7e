"""What a reader should know of the entities that rows belong to, or of rows that may belong together unsaid."""

from typing import Any

import numpy as np

from certivote.pipeline._relatives import relatives_remarks
from certivote.pipeline._seeds import Seeds
from certivote.pipeline._split import PartRows
from certivote.pipeline._units import Units

__all__ = ["unit_remarks"]


def unit_remarks(
    units: Units, rows: PartRows, X: Any, columns: tuple[str, ...], entropy: tuple[int, ...]
) -> tuple[str, ...]:
    """Sentences about one part."""
    if units.entities is None:
        rng = np.random.default_rng(Seeds(entropy).looks)
        found = relatives_remarks(X, rows.train, rows.certify, columns, rng)
        # That neighbouring rows are alike is what a recording is like, and what the order was given for.
        return tuple(remark for remark in found if not (units.order and remark.startswith("Neighbouring")))
    _, sizes = np.unique(units.entities[rows.certify], return_counts=True)
    if sizes.max() == 1:
        return (
            "Every certified entity has one row, so groups change nothing but the test: without them, errors would be "
            "counted by the binomial tail, which is a little tighter.",
        )
    return ()

"""What a reader should know of the entities that rows belong to, or of rows that may belong together unsaid."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from certivote.maths.streams import stream
from certivote.pipeline._relatives import relatives_remarks
from certivote.pipeline._split import PartRows
from certivote.pipeline._units import Units

__all__ = ["unit_remarks"]


def unit_remarks(
    units: Units, rows: PartRows, X: Any, columns: tuple[str, ...], digest: str, table: Any = None
) -> tuple[str, ...]:
    """Sentences about one part; ``digest`` is that of the data, and ``table`` has other columns of the rows.

    No bound rests on which rows are looked at, so no seed has a part in it.
    """
    if units.entities is None:
        rng = stream("looks", seed=(), digest=digest)
        X, columns = _beside(X, columns, table)
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


def _beside(X: Any, columns: tuple[str, ...], table: Any) -> tuple[Any, tuple[str, ...]]:
    """The rows with columns that stood beside them; of a sparse matrix, which has many columns, as it is."""
    if table is None or sparse.issparse(X):
        return X, columns
    both = [pd.DataFrame(each).reset_index(drop=True) for each in (X, table)]
    if len(both[0]) != len(both[1]):
        raise ValueError(f"table must have one row for each of the {len(both[0]):,} in X; got {len(both[1]):,}.")
    return pd.concat(both, axis=1), (*(columns or [""] * both[0].shape[1]), *map(str, both[1].columns))

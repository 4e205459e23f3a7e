"""What suggests that rows belong together though nobody said so, where nothing else was said of them."""

from typing import Any

import pandas as pd
from scipy import sparse

from certivote.certificate import Finding
from certivote.maths.streams import stream
from certivote.pipeline._relatives import relatives
from certivote.pipeline._split import PartRows
from certivote.pipeline._units import Units


def unit_findings(
    units: Units, rows: PartRows, X: Any, columns: tuple[str, ...], digest: str, table: Any = None
) -> tuple[Finding, ...]:
    """What one part shows; ``digest`` is that of the data, and ``table`` has other columns of the rows.

    No bound rests on which rows are looked at, so no seed has a part in it.
    """
    if units.entities is not None:
        return ()
    rng = stream("looks", seed=(), digest=digest)
    X, columns = _beside(X, columns, table)
    found = relatives(X, rows.train, rows.certify, columns, rng)
    # That neighbouring rows are alike is what a recording is like, and what the order was given for.
    return tuple(finding for finding in found if not (units.order and finding.kind == "neighbours alike"))


def _beside(X: Any, columns: tuple[str, ...], table: Any) -> tuple[Any, tuple[str, ...]]:
    """The rows with columns that stood beside them; of a sparse matrix, which has many columns, as it is."""
    if table is None or sparse.issparse(X):
        return X, columns
    both = [pd.DataFrame(each).reset_index(drop=True) for each in (X, table)]
    if len(both[0]) != len(both[1]):
        raise ValueError(f"table must have one row for each of the {len(both[0]):,} in X; got {len(both[1]):,}.")
    return pd.concat(both, axis=1), (*(columns or [""] * both[0].shape[1]), *map(str, both[1].columns))

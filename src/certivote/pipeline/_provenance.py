"""Where a certificate comes from: the table that was given, the seed, the parameters, the libraries, the time."""

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import scipy
import sklearn
from numpy.typing import NDArray

from certivote._version import __version__
from certivote.certificate import Provenance
from certivote.pipeline._streams import Streams


@dataclass(frozen=True)
class Table:
    """What a certificate records of the rows as they were given.

    Attributes
    ----------
    target : str
        Name of the labels; empty if they have none.
    columns : tuple of str
        Names of the features; empty if they have none.
    n_columns : int
    class_counts : tuple of int
        How many rows have each class.
    """

    target: str
    columns: tuple[str, ...]
    n_columns: int
    class_counts: tuple[int, ...]

    @classmethod
    def of(cls, features: Any, target: str, class_counts: NDArray[Any]) -> "Table":
        """Of features as scikit-learn has checked them."""
        names = tuple(map(str, getattr(features, "feature_names_in_", ())))
        return cls(target, names, int(features.n_features_in_), tuple(class_counts.tolist()))


def provenance(table: Table, streams: Streams, parameters: tuple[tuple[str, str], ...]) -> Provenance:
    """The record of a certificate that is made now, from rows that are not known to come from a file."""
    return Provenance(
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        entropy=streams.seed.words if streams.used else (),
        fresh=streams.used and streams.seed.fresh,
        data_digest=streams.digest if streams.used else "",
        versions=(
            ("certivote", __version__),
            ("python", platform.python_version()),
            ("numpy", np.__version__),
            ("scipy", scipy.__version__),
            ("scikit-learn", sklearn.__version__),
            ("pandas", pd.__version__),
        ),
        source="",
        source_digest="",
        target=table.target,
        columns=table.columns,
        n_columns=table.n_columns,
        n_rows=sum(table.class_counts),
        class_counts=table.class_counts,
        parameters=parameters,
    )

"""What is known of a dataset: its files, its origin, and what its rows must add up to."""

import hashlib
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.datasets._compressed import bare, find
from certivote.datasets._ranges import Ranges
from certivote.datasets._readers import Rows

__all__ = ["Entry", "File", "digest"]


@dataclass(frozen=True)
class File:
    """One file of a dataset.

    Attributes
    ----------
    path : str
        Where it is in the data directory. Compressed otherwise, or not at all, it is found as well.
    url : str
        Its public address.
    sha256 : str or None
        Of the file at ``path``, where a copy of it is at hand. The file at ``url`` may be compressed otherwise; what is
        read from it is held against :attr:`Entry.digest`.
    """

    path: str
    url: str
    sha256: str | None = None

    @property
    def bare_path(self) -> str:
        """The path without a suffix of compression."""
        return bare(self.path)

    @property
    def download_path(self) -> str:
        """Where the file goes when it is downloaded: its folder, and its name upstream."""
        return Path(self.path).with_name(self.url.rpartition("/")[2]).as_posix()


@dataclass(frozen=True)
class Entry:
    """One dataset.

    Attributes
    ----------
    name : str
    source, licence, citation : str
        Upstream's name for it, the terms it is under, and whom to cite.
    files : tuple of File
    read : callable
        From the folder of the files to rows and labels.
    shape : (int, int)
        Rows and features.
    n_classes : int
    class_counts : tuple of int, or None
        Rows of each class, the labels sorted; None where that is not known.
    digest : str or None
        Of all rows and labels, see :func:`digest`; None where no complete copy was at hand.
    ranges : tuple of (low, high), or None
        Declared ranges of the features, for stumps.
    note : str
        What to know before using it.
    """

    name: str
    source: str
    licence: str
    citation: str
    files: tuple[File, ...]
    read: Callable[[Path], Rows]
    shape: tuple[int, int]
    n_classes: int
    class_counts: tuple[int, ...] | None = None
    digest: str | None = None
    ranges: Ranges | None = None
    note: str = ""

    def missing(self, folder: Path) -> list[str]:
        """The files that the folder lacks."""
        return [file.path for file in self.files if find(folder, file.bare_path) is None]

    def rows(self, folder: Path) -> Rows:
        """Rows and labels, checked."""
        try:
            X, y = self.read(folder)
        except (ValueError, IndexError, EOFError, OSError, lzma.LZMAError) as error:
            raise ValueError(f"{self.name} cannot be read from {folder}: {error}") from error
        classes, counts = np.unique(y, return_counts=True)
        found = tuple(counts.tolist())
        if X.shape != self.shape or len(classes) != self.n_classes or found != (self.class_counts or found):
            rows = f" of {self.class_counts} rows" if self.class_counts else ""
            raise ValueError(
                f"{self.name} should have shape {self.shape} and {self.n_classes} classes{rows}; the files in {folder} "
                f"give shape {X.shape} and {len(classes)} classes of {found} rows."
            )
        if self.digest is not None and digest(X, y) != self.digest:
            raise ValueError(
                f"{self.name} has the right size in {folder}, but values, labels or their order are not those that the "
                "declared digest was made of: the files are another version, or damaged."
            )
        return X, y


def digest(X: NDArray[Any], y: NDArray[Any]) -> str:
    """Sha256 of the values row by row and of the labels as text.

    It is the same for every compression and every spelling of the numbers, unlike the sha256 of a file.

    Examples
    --------
    >>> import numpy as np
    >>> digest(np.array([[0.5, 1.0]]), np.array([1])) == digest(np.array([[5e-1, 1.000]]), np.array([1]))
    True
    """
    values = np.ascontiguousarray(X, dtype=X.dtype.newbyteorder("<"))
    labels = "\n".join(str(label) for label in y.tolist())
    return hashlib.sha256(values.tobytes() + labels.encode()).hexdigest()

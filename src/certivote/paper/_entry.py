"""What is known of a dataset: its files, where they come from, and the size and checksum of its rows."""

import hashlib
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.paper._formats import Rows, bare_name, find_file


@dataclass(frozen=True)
class File:
    """One file of a dataset.

    Attributes
    ----------
    path : str
        Where it is in the data directory. It is also found if it is compressed in another way, or not at all.
    url : str
        Its public address.
    sha256 : str or None
        Checksum of the file at ``path``; None if it is not known. The file at ``url`` may be compressed in another way;
        what is read from it is checked against :attr:`Entry.digest`.
    """

    path: str
    url: str
    sha256: str | None = None

    @property
    def bare_path(self) -> str:
        """The path without compression suffix."""
        return bare_name(self.path)

    @property
    def download_path(self) -> str:
        """Where the file goes when it is downloaded: the folder of ``path``, and the name that upstream gives it."""
        return Path(self.path).with_name(self.url.rpartition("/")[2]).as_posix()


@dataclass(frozen=True)
class Entry:
    """One dataset.

    Attributes
    ----------
    name : str
    source, licence, citation : str
        The name it has upstream, its licence, and what to cite.
    files : tuple of File
    read : callable
        Takes the folder of the files, returns rows and labels.
    shape : (int, int)
        Number of rows and of features.
    n_classes : int
    class_counts : tuple of int, or None
        Number of rows of each class, in the order of the sorted labels; None if it is not known.
    digest : str or None
        Checksum of all rows and labels, as :func:`digest` computes it; None if it is not known.
    ranges : tuple of (low, high), or None
        Declared ranges for stumps, one pair per feature.
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
    ranges: tuple[tuple[float, float], ...] | None = None
    note: str = ""

    def missing(self, folder: Path) -> list[str]:
        """The files that are not in the folder."""
        return [file.path for file in self.files if find_file(folder, file.bare_path) is None]

    def rows(self, folder: Path) -> Rows:
        """Read rows and labels, and check their size, their classes and their checksum."""
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

    Unlike the sha256 of a file, it does not depend on the compression or on how the numbers are written.

    Examples
    --------
    >>> import numpy as np
    >>> digest(np.array([[0.5, 1.0]]), np.array([1])) == digest(np.array([[5e-1, 1.000]]), np.array([1]))
    True
    """
    values = np.ascontiguousarray(X, dtype=X.dtype.newbyteorder("<"))
    labels = "\n".join(str(label) for label in y.tolist())
    return hashlib.sha256(values.tobytes() + labels.encode()).hexdigest()

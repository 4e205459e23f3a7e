"""What a worker does with one partition in each pass over the table. Plain functions: nothing here knows of Dask."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from certivote.certificate import row_keys, row_piece
from certivote.dask._partition import Layout, Part, Target, apart, check, fingerprint, read, same_rows, working_on
from certivote.maths.tree_digest import LEAF, Piece
from certivote.theory.risks import Labels, Loss, answers_and_mistakes
from certivote.voters import FittedVoters, GrownApart, grow_apart
from certivote.votes import Votes, stack_votes

_CHUNK = 16 * LEAF
"""Rows whose votes are in memory at a time: whole leaves of the digest, so that little is left over at the ends."""


@dataclass(frozen=True)
class PartitionSummary:
    """What the first pass finds in a partition."""

    n_rows: int
    layout: Layout | None
    labels: NDArray[Any]
    counts: NDArray[np.intp]
    seen: Any
    rows: bytes
    index: tuple[int, int] | None


def look(part: Part, X: Any, y: Any) -> PartitionSummary:
    """How many rows there are, their classes, and what the features are."""
    with working_on(part.place):
        layout = Layout.of(*apart(X, y)) if len(X) else None
        index = None if isinstance(y, Target) else _index_sums(X, y)
        X, labels, seen = check(part, X, y)
        found, counts = np.unique(labels, return_counts=True)
        return PartitionSummary(
            len(labels), layout, found, counts, seen, fingerprint(X, labels) if len(labels) else b"", index
        )


def _index_sums(X: Any, y: Any) -> tuple[int, int] | None:
    """For the index of the rows and for that of the labels, a number that does not depend on its order."""
    if not (hasattr(X, "iloc") and hasattr(y, "iloc")):
        return None
    one, other = (int(pd.util.hash_pandas_object(own.index).sum()) for own in (X, y))
    return one, other


def digest(part: Part, X: Any, y: Any) -> Piece | None:
    """What the rows contribute to the digest of all; None if there are none."""
    with working_on(part.place):
        X, y = same_rows(part, X, y)
        return row_piece(row_keys(X), y, part.first) if len(y) else None


def sample(part: Part, X: Any, y: Any, places: NDArray[np.intp]) -> tuple[Any, NDArray[Any], NDArray[np.intp]] | None:
    """Some training rows with their labels, by their places; and how many training rows have each class."""
    with working_on(part.place):
        rows = read(part, X, y)
        if rows is None:
            return None
        counts = np.bincount(rows.codes[rows.train], minlength=len(part.classes))
        return (*rows.take(rows.train[places])[:2], counts)


def grow(part: Part, X: Any, y: Any, n_trees: int, seed: int, places: NDArray[np.intp]) -> GrownApart | None:
    """Trees of the training rows of this partition; ``places`` are those of the rows that will weigh them."""
    with working_on(part.place):
        rows = read(part, X, y) if n_trees else None
        if rows is None:
            return None
        own, labels, _ = rows.take(rows.train)
        return grow_apart(own, labels, part.classes, n_trees, seed, places)


def vote(
    part: Part, X: Any, y: Any, voters: FittedVoters, places: NDArray[np.intp]
) -> tuple[Votes, NDArray[np.intp]] | None:
    """Votes on some certification rows, by their places, and codes of their classes; None if there are none."""
    with working_on(part.place):
        rows = read(part, X, y)
        if rows is None or not len(places):
            return None
        chosen = rows.certify[places]
        found = [voters.votes(rows.take(chosen[at : at + _CHUNK])[0]) for at in range(0, len(chosen), _CHUNK)]
        return stack_votes(found), rows.codes[chosen]


@dataclass(frozen=True)
class PartitionCounts:
    """What the last pass finds in a partition.

    Attributes
    ----------
    counts : list of array of shape (n_classes, n_classes, 2)
        Of each vote: certification rows by class, answer, and whether it errs.
    certify, train : list of Piece
        For the digests of the rows.
    votes : list of tuple of Piece
        For the digest of the votes, one piece for each of their tables.
    certify_keys, train_keys : bytes
        16 bytes for each row, where they are asked for.
    """

    counts: list[NDArray[np.int64]]
    certify: list[Piece]
    train: list[Piece]
    votes: list[tuple[Piece, ...]]
    certify_keys: bytes = b""
    train_keys: bytes = b""


def count(
    part: Part,
    X: Any,
    y: Any,
    voters: FittedVoters,
    weights: Sequence[NDArray[np.float64]],
    loss: Loss,
    firsts: tuple[int, int],
    with_keys: bool,
) -> PartitionCounts:
    """Count what votes do on the certification rows, whose votes are forgotten at once.

    ``firsts`` are the places of the first training and the first certification row among all of their kind.
    """
    with working_on(part.place):
        rows, n_classes = read(part, X, y), len(part.classes)
        found = PartitionCounts([np.zeros((n_classes, n_classes, 2), dtype=np.int64) for _ in weights], [], [], [])
        if rows is None:
            return found
        keys = np.frombuffer(b"".join(row_keys(rows.X)), np.uint8).reshape(-1, 16)
        for kind, own, first in (("train", rows.train, firsts[0]), ("certify", rows.certify, firsts[1])):
            if len(own):
                getattr(found, kind).append(row_piece([keys[own].tobytes()], rows.y[own], first))
        first, n = firsts[1], len(rows.certify)
        start = 0
        while start < n:
            stop = min(start + _CHUNK - (first + start) % LEAF, n)
            X_own, _, codes = rows.take(rows.certify[start:stop])
            votes = voters.votes(X_own)
            found.votes.append(votes.pieces(first + start))
            for each, counted in zip(weights, found.counts, strict=True):
                counted += confusion(votes, each, codes, loss)
            start = stop
        if not with_keys:
            return found
        return replace(found, certify_keys=keys[rows.certify].tobytes(), train_keys=keys[rows.train].tobytes())


def confusion(votes: Votes, weights: NDArray[np.float64], codes: Labels, loss: Loss) -> NDArray[np.int64]:
    """Rows by class, answer, and whether the vote errs."""
    n_classes = votes.n_classes
    answers, wrong = answers_and_mistakes(votes, weights, codes, loss)
    cells = (codes * n_classes + answers) * 2 + wrong
    return np.bincount(cells, minlength=2 * n_classes**2).reshape(n_classes, n_classes, 2)

"""A digest of many rows that can be made in pieces, wherever the rows lie.

Rows are entries of one width, numbered from 0. Each leaf of the tree is the SHA-256 of 4,096 entries in their order,
and the digest is the SHA-256 of how many entries there are, of a heading that says what they are, and of the SHA-256 of
all leaves. A :class:`Piece` is what one part of the rows contributes: digests of the leaves that lie in it, and the
bytes of the entries at its two ends that share a leaf with its neighbours. So it does not matter how rows are divided
into parts, and they never need to be in one place.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAF", "Piece", "join_pieces", "make_piece", "together"]

LEAF = 4096
"""Entries of a leaf. Certificates record digests: this number, and all that is here, may never change."""


@dataclass(frozen=True)
class Piece:
    """What some consecutive entries contribute to a digest.

    Attributes
    ----------
    heading : bytes
        What the entries are.
    first, count : int
        Number of the first entry, and how many there are.
    head : bytes
        The entries before the first whole leaf; all of them, if they neither begin nor complete one.
    leaves : bytes
        Digests of the whole leaves, one behind another.
    tail : bytes
        The entries behind the last whole leaf.
    """

    heading: bytes
    first: int
    count: int
    head: bytes
    leaves: bytes
    tail: bytes


def make_piece(heading: bytes, entries: NDArray[Any], first: int = 0) -> Piece:
    """What a table of entries, one a row, contributes if the first of them has this number.

    Parameters
    ----------
    heading : bytes
    entries : array of shape (n_entries, width)
        Of any type; its bytes are taken row by row.
    first : int

    Examples
    --------
    >>> table = np.arange(10_000, dtype=np.uint8).reshape(-1, 1)
    >>> whole = join_pieces([make_piece(b"numbers", table)])
    >>> whole == join_pieces([make_piece(b"numbers", table[:5]), make_piece(b"numbers", table[5:], first=5)])
    True
    """
    count = len(entries)
    start = min(-first % LEAF, count)
    stop = start + (count - start) // LEAF * LEAF
    leaves = [hashlib.sha256(_bytes(entries[at : at + LEAF])).digest() for at in range(start, stop, LEAF)]
    return Piece(heading, first, count, bytes(_bytes(entries[:start])), b"".join(leaves), bytes(_bytes(entries[stop:])))


def join_pieces(pieces: Iterable[Piece]) -> str:
    """The digest of all entries.

    Parameters
    ----------
    pieces : iterable of Piece
        In the order of their entries, from number 0 on, without gaps.
    """
    heading, n_entries, leaves, unfinished = None, 0, hashlib.sha256(), hashlib.sha256()
    for piece in pieces:
        heading = piece.heading if heading is None else heading
        if piece.heading != heading or piece.first != n_entries:
            raise ValueError(f"pieces must be of one table, in its order; entry {n_entries:,} comes next.")
        n_entries += piece.count
        before = -piece.first % LEAF
        unfinished.update(piece.head)
        if before and piece.count >= before:
            leaves.update(unfinished.digest())
            unfinished = hashlib.sha256()
        leaves.update(piece.leaves)
        unfinished.update(piece.tail)
    if n_entries % LEAF:
        leaves.update(unfinished.digest())
    if heading is None:
        raise ValueError("pieces must hold at least one piece.")
    root = hashlib.sha256(repr((n_entries, heading)).encode() + leaves.digest())
    return root.hexdigest()


def together(digests: Sequence[str]) -> str:
    """One digest of several tables: that of the only one, or one of all of theirs."""
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256(repr(list(digests)).encode()).hexdigest()


def _bytes(entries: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(entries).reshape(-1).view(np.uint8).data

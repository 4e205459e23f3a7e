"""One pass over the rows, block by block: digests, classes, votes and errors, of which little is kept."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from certivote.certificate import (
    Certificate,
    PartRecord,
    Piece,
    join_pieces,
    row_keys,
    row_piece,
    together,
)
from certivote.verify._audit import AuditedModel, AuditedPart
from certivote.verify._rows import rule_rows, trains
from certivote.verify._simulation import Array, Labels, mistakes
from certivote.verify._tally import Tally, joined, prior_votes, short, tally, unknown_vote
from certivote.verify._values import columns_of
from certivote.verify._witnesses import GatheredWitnesses


class _Digest:
    """Whether rows that come one after another are those of a recorded digest."""

    def __init__(self, recorded: str):
        self._recorded, self.n = recorded, 0
        self._pieces: list[Piece] = []

    def add(self, keys: list[bytes], y: NDArray[Any]) -> None:
        self._pieces.append(row_piece(keys, y, self.n))
        self.n += len(y)

    def is_same(self) -> bool:
        return join_pieces(self._pieces) == self._recorded


class GatheredPart:
    """The rows of one part.

    Attributes
    ----------
    certify, train : _Digest
    certify_keys, train_keys : list of bytes
        Of all rows, where duplicates were counted.
    train_counts : array of int
        Training rows of each class.
    labels : list of array of int
        Classes of the certification rows, block by block.
    """

    def __init__(self, c: Certificate, record: PartRecord, numbers: AuditedPart, rule: float | None):
        self.record, self._numbers, self._rule, self._c = record, numbers, rule, c
        self.certify, self.train = _Digest(record.certification_digest), _Digest(record.training_digest)
        self.certify_keys: list[bytes] = []
        self.train_keys: list[bytes] = []
        self.train_counts = np.zeros(len(c.classes), dtype=np.int64)
        self.labels: list[Labels] = []

    def rows(self, first: int, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which of so many rows from this number on train, and which certify, by their places among them."""
        if self._rule is not None:
            mask = trains(self._c, self._rule, first, count)
            return np.flatnonzero(mask), np.flatnonzero(~mask)
        train, certify = (
            each[(each >= first) & (each < first + count)] - first
            for each in (np.asarray(self._numbers.train), np.asarray(self._numbers.certify))
        )
        return train, certify

    def add(self, first: int, keys: list[bytes], y: NDArray[Any], labels: Labels) -> NDArray[np.intp]:
        """Look at the rows of a block that belong to the part; returns which certify."""
        train, certify = self.rows(first, len(y))
        for rows, digest, kept in (
            (train, self.train, self.train_keys),
            (certify, self.certify, self.certify_keys),
        ):
            own = [keys[row] for row in rows.tolist()]
            digest.add(own, y[rows])
            if self.record.duplicates is not None:
                kept += own
        self.train_counts += np.bincount(labels[train], minlength=len(self.train_counts))
        self.labels.append(short(labels[certify], len(self.train_counts)))
        return certify


class GatheredVote:
    """What the voters of the deployed part say of its certification rows.

    Attributes
    ----------
    problem : str
        Why nothing can be counted; empty if it can.
    doubt : str
        Why the voters seem to know the rows.
    column : function or None
        A name to the values of that column, if all rows came in one block.
    """

    def __init__(self, c: Certificate, model: AuditedModel, weights: Array | None):
        self._c, self._model, self._weights = c, model, weights
        self.n_voters = model.voters_.n_voters
        self.problem = (
            "the certificate is about a random vote, and the model draws none"
            if weights is None
            else unknown_vote(c, self.n_voters, len(weights))
        )
        self.is_slim = c.deployed_part.n_voters > self.n_voters
        self._prior = [] if self.is_slim else prior_votes(c.deployed_part, self.n_voters)
        self.column: Callable[[str], list[Any]] | None = None
        self.doubt = ""
        self._wrong: list[list[NDArray[np.bool_]]] = []
        self._tallies: list[Tally] = []
        self._pieces: list[tuple[Piece, ...]] = []
        self._n = 0

    def add(self, X: Any, labels: Labels) -> None:
        """Let them vote on the certification rows of a block."""
        self.doubt = self.doubt or self._model.voter_set_.doubt(X)
        self.column = None if self._n else columns_of(X, self._c.provenance.columns)
        votes = self._model.voters_.votes(X)
        self._pieces.append(votes.pieces(self._n))
        self._n += len(labels)
        self._wrong.append([mistakes(votes.masses(each), labels, self._c.loss) for each in self._prior])
        if self._weights is not None and not self.problem:
            if self._tallies:  # there are several blocks: of each, no more is kept than is needed
                self._tallies[-1] = self._tallies[-1].brief(len(self._c.classes))
            self._tallies.append(tally(self._c, votes, self._weights, labels))

    def digest(self) -> str:
        """Of all votes."""
        tables = zip(*self._pieces, strict=True)
        return together([join_pieces(table) for table in tables])

    @property
    def wrong(self) -> list[NDArray[np.bool_]]:
        """What the votes with the prior's mean weights get wrong."""
        return [np.concatenate(each) for each in zip(*self._wrong, strict=True)]

    @property
    def tally(self) -> Tally | None:
        """All answers; None if there are none."""
        return joined(self._tallies) if self._tallies else None


class Gathered:
    """All that a pass has found.

    Attributes
    ----------
    n_rows : int
    unknown : set of str
        Labels that are no class of the model.
    counts : array of int
        Rows of each class.
    parts : list of GatheredPart
        In the order of the certificate.
    vote : GatheredVote
    witnesses : GatheredWitnesses or None
        What became of the witnesses of the deployed part.
    """

    def __init__(self, c: Certificate, model: AuditedModel, share: float, weights: Array | None):
        rule = None if rule_rows(model) is None else share
        self._c, self._model = c, model
        numbers = [model.part_ if place == c.deployed else rows for place, rows in enumerate(model.parts_)]
        self.parts = [GatheredPart(c, part, rows, rule) for part, rows in zip(c.parts, numbers, strict=False)]
        self.vote = GatheredVote(c, model, weights)
        self.witnesses = None if model.witnesses_ is None else GatheredWitnesses(model.witnesses_)
        self.n_rows, self.unknown = 0, set[str]()
        self._pieces: list[Piece] = []
        self.counts = np.zeros(len(model.classes_), dtype=np.int64)

    def add_all(self, blocks: Iterable[tuple[Any, Any]]) -> None:
        """Look at all rows; after labels that are no class, only count the rows."""
        for rows, labels in blocks:
            X, y = self._model.check_rows(rows, labels)
            classes = self._model.classes_
            places = np.clip(np.searchsorted(classes, y), 0, len(classes) - 1)
            self.unknown |= {str(label) for label in y[classes[places] != y].tolist()}
            if not self.unknown and len(classes) == len(self._c.classes):
                self._add(X, y, places)
            self.n_rows += len(y)

    def digest(self) -> str:
        """Of all rows with their labels."""
        return join_pieces(self._pieces)

    def _add(self, X: Any, y: NDArray[Any], labels: Labels) -> None:
        self.counts += np.bincount(labels, minlength=len(self.counts))
        keys = row_keys(X)
        self._pieces.append(row_piece(keys, y, self.n_rows))
        for place, part in enumerate(self.parts):
            certify = part.add(self.n_rows, keys, y, labels)
            if place == self._c.deployed and self.witnesses is not None:
                self.witnesses.add(X, *part.rows(self.n_rows, len(y)))
            if place == self._c.deployed and len(certify):
                self.vote.add(_safe_indexing(X, certify), labels[certify])

"""Hold a certificate against the data, in one pass over the rows: digests, classes, votes and errors."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from certivote.certificate import (
    Certificate,
    PartRecord,
    Piece,
    Witnesses,
    data_digest,
    join_pieces,
    row_keys,
    row_piece,
    together,
)
from certivote.verify._check import Check, trusted
from certivote.verify._methods import RANDOM, method_of
from certivote.verify._model import AuditedModel, AuditedPart
from certivote.verify._promises import PromiseData
from certivote.verify._recount import Tally, check_prior_vote, joined, prior_votes, recount, short, tally, unknown_vote
from certivote.verify._rows import rule_rows, share_of, trains
from certivote.verify._simulation import Array, Labels, mistakes
from certivote.verify._units import OTHER_LOSSES, Grouping, columns_of, entity_losses

MOST_COUNTED = 20_000_000
"""Rows among which duplicates are counted, at most."""


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
        detail = f"{absent:,} are of OTHER rows" if absent else "all are of rows that trained or certified it"
        return Check("witnesses among the rows", not absent, detail)


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


# --- The audit.


def against_data(
    certificate: Certificate,
    parameters: dict[str, Any] | None,
    model: AuditedModel,
    blocks: Iterable[tuple[Any, Any]],
    units: Grouping,
) -> Iterator[Check]:
    """Whether these are the rows, the voters vote on them as they did, and the counts are those recorded.

    Rows come in blocks, in their order; rows in memory are one block.
    """
    c = certificate
    yield from units.checks
    ruled, used = rule_rows(model), np.arange(0)
    if ruled is None:
        parts = (model.part_, *model.parts_)
        used = np.concatenate([numbers for each in parts for numbers in (each.train, each.certify)])
        if used.dtype.kind not in "iu" or used.min() < 0:
            yield Check("rows", False, "row numbers of the model are none")
            return
    weights = model.hyper_posterior_ if method_of(c).predictor == RANDOM else model.weights_
    found = Gathered(c, model, share_of(parameters), weights)
    found.add_all(blocks)
    n_rows = found.n_rows
    if ruled is not None and ruled != n_rows:
        yield Check("rows", False, f"the data have {n_rows:,} rows, and the model is about {ruled:,}")
        return
    if len(used) and used.max() >= n_rows:
        yield Check("rows", False, f"the data have {n_rows:,} rows, and row number {used.max():,} was used")
        return
    right = c.provenance.n_rows == n_rows
    yield Check("rows", right, f"{n_rows:,} given, {c.provenance.n_rows:,} recorded")
    known = yield from _check_classes(c, model, found)
    if not known:
        return
    yield check_data_digest(c, found.digest(), units.beside)
    yield from units.check_parts(c, parameters, model.parts_, n_rows)
    first = found.parts[c.deployed]
    yield from _check_rows(c, first, model.part_, units, "")
    for number, (part, rows) in enumerate(zip(found.parts, model.parts_, strict=False)):
        if number != c.deployed:
            yield from _check_rows(c, part, rows, units, f"part {number + 1}, ")
    if found.witnesses is not None:
        yield found.witnesses.check()
    yield from _check_votes(c, found.vote, weights, *_units_of(units, model.part_))


def check_data_digest(c: Certificate, rows: str, beside: Mapping[str, Any]) -> Check:
    """Whether random numbers depended on these data: on rows and labels, and on what stands beside them."""
    for name, recorded in (("groups", c.groups), ("order", c.order)):
        if recorded and name not in beside:
            return trusted("digest of the data", f"{name}= is needed too", "provenance.data_digest")
    same = data_digest(rows, beside) == c.provenance.data_digest
    detail = f"{'as' if same else 'OTHER than'} recorded, for rows in this order"
    return Check("digest of the data", same, detail)


def _check_classes(c: Certificate, model: AuditedModel, found: Gathered) -> Generator[Check, None, bool]:
    """The classes of the model are those of the labels; returns whether the rows could be looked at."""
    classes, counts = model.classes_, found.counts
    if found.unknown or len(classes) != len(c.classes):
        yield Check(
            "classes", False, f"rows of classes that the model does not know: {', '.join(sorted(found.unknown))}"
        )
        return False
    elsewhere = np.asarray(model.voter_set_.known_classes(), dtype=classes.dtype)
    missing = (counts == 0) & ~np.isin(classes, elsewhere)
    absent = [name for name, gone in zip(c.classes, missing, strict=True) if gone]
    yield Check("classes", not absent, f"{len(classes)}" if not absent else f"no row has class {', '.join(absent)}")
    same = tuple(counts.tolist()) == c.provenance.class_counts
    yield Check("class counts of the data", same, f"{', '.join(map(str, counts.tolist()[:9]))} counted")
    return True


def _units_of(units: Grouping, rows: AuditedPart) -> tuple[Labels | None, Labels | None]:
    """Entities and times of the certification rows, where there are any."""
    if units.entities is None and units.times is None:
        return None, None
    return units.of_rows(rows.certify)


def _check_rows(c: Certificate, found: GatheredPart, rows: AuditedPart, units: Grouping, where: str) -> Iterator[Check]:
    """The rows of one part: their digests, duplicates among them, and what the most frequent class achieves."""
    part = found.record
    for name, digest in (("certification rows", found.certify), ("training rows", found.train)):
        same = digest.is_same()
        detail = f"{digest.n:,} rows and labels, digest {'as recorded' if same else 'OTHER than recorded'}"
        yield Check(f"{where}{name}", same, detail)
    if part.duplicates is None:
        n_rows = found.certify.n + found.train.n
        yield Check(f"{where}duplicates counted", n_rows > MOST_COUNTED, f"not counted among {n_rows:,} rows")
    else:
        certify, train = found.certify_keys, set(found.train_keys)
        counts = (len(certify) - len(set(certify)), sum(key in train for key in certify))
        detail = f"{counts[0]:,} and {counts[1]:,} of training rows counted"
        right = counts == (part.duplicates, part.duplicates_of_training_rows)
        yield Check(f"{where}duplicates counted", right, detail)
    entities, _ = _units_of(units, rows)
    yield check_majority(c, part, found.train_counts, np.concatenate(found.labels), entities, where)


def check_majority(
    c: Certificate,
    part: PartRecord,
    train: NDArray[np.int64],
    certify: Labels,
    entities: Labels | None,
    where: str,
) -> Check:
    """What always answering the most frequent class of the training rows gets wrong; without these, of the others.

    ``train`` are counts by class, ``certify`` the classes of the certification rows.
    """
    code = int((train if train.any() else np.bincount(certify, minlength=len(c.classes))).argmax())
    wrong = certify != code
    errors = int(np.count_nonzero(wrong))
    right = (c.classes[code], errors) == (part.majority.label, part.majority.errors)
    detail = f"{errors:,} errors of always answering {c.classes[code]}"
    if right and entities is not None:
        right = entity_losses(wrong, entities) == part.majority.losses
        detail += "" if right else OTHER_LOSSES
    return Check(f"{where}majority counted", right, detail)


def _check_votes(
    c: Certificate,
    vote: GatheredVote,
    weights: Array | None,
    entities: Labels | None,
    times: Labels | None,
) -> Iterator[Check]:
    """The votes of the deployed part's voters, and everything that is counted of them."""
    part, doubt = c.deployed_part, vote.doubt
    yield Check("voters fixed beforehand", not doubt, doubt or "nothing in the certification rows speaks against it")
    if vote.is_slim:
        gone = part.n_voters - vote.n_voters
        yield Check("voters", True, f"the model is slim, {gone:,} of weight 0 are gone: their votes cannot be compared")
    else:
        same = vote.digest() == part.votes_digest
        yield Check("voters", same, f"{vote.n_voters:,} vote {'as they did' if same else 'OTHER than they did'}")
        yield check_prior_vote(part, vote.n_voters, vote.wrong, entities)
    counted = vote.tally
    if weights is None or counted is None:
        yield Check("vote", False, vote.problem or "no row certifies it")
        return
    yield from recount(c, counted, weights, entities, times, PromiseData(column=vote.column))

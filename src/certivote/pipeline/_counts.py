"""The certificate of a model from counts of its answers, partition by partition.

A certificate of given answers depends on four things only: how many rows have each true class and each answer, the
order of the rows by digest, and by digest the answers themselves. The first are integers, which add up exactly in any
order; digests are made of pieces that know the number of their first row. So counts of parts, wherever these lie, give
the certificate of all rows, bit for bit.
"""

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate import Certificate, check_aligned, join_pieces, row_keys, row_piece
from certivote.codec import CodecError, Within, parse, read, write
from certivote.maths.tree_digest import LEAF, Piece
from certivote.pipeline._answers import (
    AnsweredRows,
    as_written,
    certify_alone,
    checked_labels,
    codes_of,
    for_models,
    given_plan,
    match,
    named_answers,
)
from certivote.pipeline._grouping import Grouping
from certivote.pipeline._input import column_name
from certivote.pipeline._rows import Table
from certivote.pipeline._streams import Streams, seed_of
from certivote.promises import PROMISES, ByClass, Promise
from certivote.votes import build_votes

Label = str | bool | int | float
_WIDTH = 32
"""Bytes of a row in a digest: 16 for its answer, 16 for its label."""
_LONGEST = 1000
"""Characters of a label, or of a name."""
_MOST = 1 << 53
"""Rows: more than anybody has."""
_SURPRISING = 64.0
"""Bits from which on the same answers to other rows are no chance."""
_VERSION = 1


@dataclass(frozen=True)
class CountedPart:
    """Counts of consecutive rows.

    Attributes
    ----------
    piece : Piece
        What the rows contribute to the digest of all; it knows the number of the first, and how many there are.
    true, said : tuple of labels
        The true labels and the answers that occur, in the order of their first rows.
    cells : tuple of (int, int, int)
        Numbers of a true label and of an answer, and how many rows have both.
    answers : bytes
        Of each row the number of the answer, compressed: the digest of the votes needs them when all classes are known.
    """

    piece: Piece
    true: tuple[Label, ...]
    said: tuple[Label, ...]
    cells: tuple[tuple[int, int, int], ...]
    answers: bytes

    @property
    def stop(self) -> int:
        """The number of the row behind the last."""
        return self.piece.first + self.piece.count

    def codes(self) -> NDArray[np.intp]:
        """Of each row the number of the answer.

        Raises
        ------
        ValueError
            If these are not as many as there are rows, or not those that are counted.
        """
        kind, limit = _code_type(len(self.said)), self.piece.count * _code_type(len(self.said)).itemsize
        unpack = zlib.decompressobj()
        try:
            found = unpack.decompress(self.answers, limit + 1)
        except zlib.error:
            raise _broken("answers that cannot be unpacked") from None
        if len(found) != limit or not unpack.eof:
            raise _broken(f"answers to other rows than its {self.piece.count:,}")
        codes = np.frombuffer(found, kind).astype(np.intp)
        counted = np.zeros(len(self.said), dtype=np.int64)
        for _, said, count in self.cells:
            counted[said] += count
        if codes.max() >= len(self.said) or not np.array_equal(np.bincount(codes, minlength=len(self.said)), counted):
            raise _broken("other answers than it counts")
        return codes

    @property
    def surprise(self) -> float:
        """Bits that it takes to tell these answers from others with the same counts: the logarithm of their orders."""
        by_label: dict[int, list[int]] = {}
        for true, _, count in self.cells:
            by_label.setdefault(true, []).append(count)
        orders = (math.lgamma(sum(own) + 1) - sum(math.lgamma(count + 1) for count in own) for own in by_label.values())
        return sum(orders) / math.log(2.0)

    def is_copy_of(self, other: "CountedPart") -> bool:
        """Whether these answers are those of other rows one by one, which hardly happens by chance."""
        if self.surprise < _SURPRISING or self.said != other.said or self.piece.count != other.piece.count:
            return False
        labelled = [{(part.true[true], said, n) for true, said, n in part.cells} for part in (self, other)]
        return labelled[0] == labelled[1] and np.array_equal(self.codes(), other.codes())

    def check(self) -> None:
        """Refuse what no rows can have given."""
        piece = self.piece
        whole = (type(piece.first), type(piece.count)) == (int, int)
        if not whole or not 0 <= piece.first < _MOST or not 1 <= piece.count < _MOST or piece.heading != b"rows":
            raise _broken(f"a first row {piece.first!r:.40} and {piece.count!r:.40} rows")
        before = min(-piece.first % LEAF, piece.count)
        leaves, behind = divmod(piece.count - before, LEAF)
        sizes = (before * _WIDTH, leaves * _WIDTH, behind * _WIDTH)
        if tuple(map(len, (piece.head, piece.leaves, piece.tail))) != sizes:
            raise _broken(f"digests of other rows than {piece.count:,} from number {piece.first:,} on")
        for labels in (self.true, self.said):
            if not labels or not all(map(is_label, labels)) or len(set(labels)) != len(labels):
                raise _broken("labels that are missing, double, or neither text nor whole numbers")
        places = [cell[:2] for cell in self.cells]
        fits = all(0 <= true < len(self.true) and 0 <= said < len(self.said) for true, said in places)
        if not fits or len(set(places)) != len(places) or any(count < 1 for _, _, count in self.cells):
            raise _broken("counts of labels that it does not have, or below 1")
        if sum(count for _, _, count in self.cells) != piece.count:
            raise _broken(f"other counts than of {piece.count:,} rows")
        if ({true for true, _ in places}, {said for _, said in places}) != (
            set(range(len(self.true))),
            set(range(len(self.said))),
        ):
            raise _broken("labels of no row")
        self.codes()


@dataclass(frozen=True)
class PredictionCounts:
    """Counts of a model's answers to some rows, made by :func:`count_predictions` and added by :func:`merge_counts`.

    They are plain data: they can be pickled, and sent as JSON. They take 8 bytes per 1,000 rows, some 100 kB for rows
    at the ends of each part, and a bit or so for the answer to each row; no row can be had back from them.

    Attributes
    ----------
    parts : tuple of CountedPart
        In the order of their rows; none for no rows.
    target, model : str
        Names of the columns with the labels and with the answers.

    Examples
    --------
    >>> from certivote import PredictionCounts, count_predictions
    >>> counts = count_predictions(["ill", "well", "well"], ["ill", "ill", "well"])
    >>> counts.n_rows, PredictionCounts.from_json(counts.to_json()) == counts
    (3, True)
    """

    parts: tuple[CountedPart, ...]
    target: str
    model: str

    @property
    def n_rows(self) -> int:
        """How many rows were counted."""
        return sum(part.piece.count for part in self.parts)

    def check(self) -> None:
        """Refuse what no rows can have given, and rows that are counted twice, be it under two numbers."""
        if not all(isinstance(name, str) and len(name) <= _LONGEST for name in (self.target, self.model)):
            raise _broken(f"names that are no text of up to {_LONGEST:,} characters")
        end = 0
        for part in self.parts:
            part.check()
            if part.piece.first < end:
                raise ValueError(
                    f"Row {part.piece.first:,} is counted twice: give count_predictions the number of the first row of "
                    "each partition as first=, and merge every partition once."
                )
            end = part.stop
        alike: dict[tuple[int, tuple[Label, ...]], list[CountedPart]] = {}
        for part in self.parts:
            others = alike.setdefault((part.piece.count, part.said), [])
            for other in others:
                if part.is_copy_of(other):
                    raise ValueError(
                        f"Rows {other.piece.first:,} to {other.stop - 1:,} and rows {part.piece.first:,} to "
                        f"{part.stop - 1:,} have the same answers one by one: a partition was counted under two "
                        "numbers. Count every partition once, with the number of its own first row as first=."
                    )
            others.append(part)

    def to_json(self) -> str:
        """These counts as text."""
        return write(_Text(_VERSION, self))

    @classmethod
    def from_json(cls, text: str) -> "PredictionCounts":
        """Counts that :meth:`to_json` has written, checked.

        Raises
        ------
        ValueError
            If it is no such text, or says what no rows can have given.
        """
        try:
            return read(_Text, parse(text)).counts
        except CodecError as error:
            raise _broken(f"text that PredictionCounts.to_json has not written ({error})") from None


@dataclass(frozen=True)
class _Text:
    """What is written."""

    version: Annotated[int, Within(_VERSION, _VERSION)]
    counts: PredictionCounts

    def check(self) -> None:
        self.counts.check()


def merge_counts(counts: Iterable[PredictionCounts]) -> PredictionCounts:
    """Counts of all these rows together; the order in which partitions come, and are merged, does not matter.

    Parameters
    ----------
    counts : iterable of PredictionCounts
        Of different rows of one table, as :func:`count_predictions` has made them or as they were merged before.

    Returns
    -------
    PredictionCounts

    Examples
    --------
    >>> from certivote import count_predictions, merge_counts
    >>> second = count_predictions(["well", "ill"], ["well", "well"], first=3)
    >>> first = count_predictions(["ill", "well", "well"], ["ill", "ill", "well"])
    >>> merged = merge_counts([second, first])
    >>> merged.n_rows, merged == merge_counts([first, second])
    (5, True)
    """
    found = list(counts)
    wrong = next((each for each in found if not isinstance(each, PredictionCounts)), None)
    if wrong is not None or not found:
        raise TypeError(
            "counts must hold what count_predictions has counted, one for each partition; got "
            f"{'none' if wrong is None else format(repr(wrong), '.80')}."
        )
    names = sorted({(each.target, each.model) for each in found})
    if len(names) > 1:
        told = " and ".join(f"{target!r:.80} with {model!r:.80}" for target, model in names[:2])
        raise ValueError(f"counts are of different columns: {told}. Count the same columns in every partition.")
    parts = sorted((part for each in found for part in each.parts), key=lambda part: part.piece.first)
    merged = replace(found[0], parts=tuple(parts))
    merged.check()
    return merged


def packed(codes: NDArray[np.intp], n_labels: int) -> bytes:
    """Numbers of answers, as :class:`CountedPart` keeps them."""
    return zlib.compress(codes.astype(_code_type(n_labels)).tobytes(), 1)


def _code_type(n_labels: int) -> np.dtype[Any]:
    return np.dtype("u1" if n_labels <= 256 else "<u4")


def is_label(label: Any) -> bool:
    """Whether a label can be counted: text, or a number or truth value that is equal to a whole number."""
    if isinstance(label, str):
        return len(label) <= _LONGEST
    return isinstance(label, int) or (isinstance(label, float) and label.is_integer())


def _broken(what: str) -> ValueError:
    return ValueError(f"counts have {what}: they were changed, or not made by count_predictions. Count again.")


def count_predictions(y_true: ArrayLike, y_pred: Any, *, first: int = 0) -> PredictionCounts:
    """Count the answers of a model to some of the rows: a partition, which may lie anywhere.

    Parameters
    ----------
    y_true : array-like
        The true labels.
    y_pred : array-like
        The answers of one model.
    first : int, default=0
        The number of the first of these rows among all rows, which are numbered from 0 in a fixed order.

    Returns
    -------
    PredictionCounts
        To be merged with those of other partitions by :func:`merge_counts`.

    Examples
    --------
    >>> from certivote import certify_counts, count_predictions, merge_counts
    >>> true, said = ["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"]
    >>> counts = [count_predictions(true[at : at + 50], said[at : at + 50], first=at) for at in (0, 50, 100, 150)]
    >>> print(f"{certify_counts(merge_counts(counts), n_rows=200).bound:.4f}")
    0.0235
    """
    if isinstance(first, bool) or not isinstance(first, int | np.integer) or first < 0:
        raise ValueError(f"first must be the number of the first row, 0 or more; got {first!r:.80}.")
    check_aligned(y_true=y_true, y_pred=y_pred)
    columns = named_answers(y_pred)
    if len(columns) != 1:
        raise ValueError(f"y_pred must be the answers of one model; got {len(columns)}. Count one after another.")
    name, given = next(iter(columns.items()))
    truth = checked_labels("y_true", y_true)
    answers = checked_labels(name, given, len(truth))
    target = column_name(y_true)
    if not truth:
        return PredictionCounts((), target, name)
    true, said = tuple(dict.fromkeys(truth)), tuple(dict.fromkeys(answers))
    strange = next((label for label in (*true, *said) if not is_label(label)), None)
    if strange is not None:
        raise ValueError(
            f"Labels are counted if they are text of up to 1,000 characters or whole numbers; got {strange!r:.80}. "
            "Convert them, for instance by y.astype(str)."
        )
    codes = codes_of(answers, list(said))
    pairs, counts = np.unique(codes_of(truth, list(true)) * len(said) + codes, return_counts=True)
    cells = [(*divmod(pair, len(said)), count) for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)]
    keys, labels = row_keys(np.array([[label] for label in answers], dtype=object)), np.array(truth, dtype=object)
    piece = row_piece(keys, labels, int(first))
    found = PredictionCounts((CountedPart(piece, true, said, tuple(cells), packed(codes, len(said))),), target, name)
    found.check()
    return found


def certify_counts(
    counts: PredictionCounts | Iterable[PredictionCounts],
    delta: float = 0.05,
    *,
    n_rows: int,
    promises: Sequence[Promise] = (),
    together: bool = False,
) -> Certificate:
    """Certify a model by counts of its answers: the certificate of :func:`certify_predictions`, bit for bit.

    Only the moment when it was made differs. It holds for any division of the rows into partitions.

    Parameters
    ----------
    counts : PredictionCounts, or iterable of them
        Of all rows.
    delta : float in (0, 1), default=0.05
        Probability with which the certificate may fail.
    n_rows : int
        How many rows there are: a partition that was lost must not go unnoticed, since which rows are lost may depend
        on the errors.
    promises : sequence of Promise
        Those that need no more than counts: :class:`certivote.promises.Precision`. The bounds by class are always made.
    together : bool, default=False
        As for :func:`certify_predictions`.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from certivote import certify_counts, certify_predictions, count_predictions
    >>> true, said = ["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"]
    >>> certify_counts(count_predictions(true, said), n_rows=200) == certify_predictions(true, said)
    True
    """
    plan = given_plan(delta, promises, together, random_state=None)
    for promise in plan.promises:
        if not promise.takes_counts:
            able = ", ".join(kind.__name__ for kind in PROMISES.values() if kind.takes_counts and kind is not ByClass)
            raise ValueError(
                f"{promise!r} needs more of the rows than counts: certify_counts can promise {able}. Give all rows to "
                "certify_predictions for others."
            )
    merged = merge_counts([counts] if isinstance(counts, PredictionCounts) else counts)
    _check_complete(merged, n_rows)
    parts, name = merged.parts, merged.model
    # Of labels that are equal, the first is how the class is written: parts are in the order of the rows.
    true, said = [label for part in parts for label in part.true], [label for part in parts for label in part.said]
    classes = match(true, [said], [[]], [name])
    table = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for part in parts:
        rows, columns, how_many = np.array(part.cells, dtype=np.int64).T
        own, answers = codes_of(list(part.true), classes), codes_of(list(part.said), classes)
        np.add.at(table, (own[rows], answers[columns]), how_many)
    labels, codes = np.nonzero(table)
    rows = AnsweredRows(
        classes=as_written(classes),
        labels=labels,
        table=Table(merged.target, (name,), 1, tuple(table.sum(axis=1).tolist())),
        grouping=Grouping(),
        streams=Streams(seed_of(None), ""),  # nothing is random
        digests=(join_pieces(part.piece for part in parts), ""),
        subject="answers",
        repeats=table[labels, codes],
        votes_digest=_votes_digest(parts, classes),
    )
    plan = for_models(plan, [name], rows.subject, rows.streams.seed)
    return certify_alone(plan, rows, codes, rows.data).certificate


def _votes_digest(parts: Sequence[CountedPart], classes: list[Any]) -> str:
    """The digest of all answers, of which one part is unpacked at a time."""
    pieces = (
        build_votes(codes=codes_of(list(part.said), classes)[part.codes()][:, None], n_classes=len(classes)).pieces(
            part.piece.first
        )[0]
        for part in parts
    )
    return join_pieces(pieces)


def _check_complete(counts: PredictionCounts, n_rows: int) -> None:
    """Refuse rows that are missing, or more than there should be."""
    end = 0
    for part in counts.parts:
        if part.piece.first > end:
            raise ValueError(f"Rows {end:,} to {part.piece.first - 1:,} are missing: count their partition too.")
        end = part.stop
    if end != n_rows:
        raise ValueError(
            f"counts are of {end:,} rows, and n_rows={n_rows!r:.40}: all rows must be counted, since those that are "
            "lost may be others than those that are kept."
        )

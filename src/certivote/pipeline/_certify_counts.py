"""The certificate of a model from counts of its answers, partition by partition."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from certivote.certificate import Certificate, check_aligned, join_pieces, row_keys, row_piece
from certivote.pipeline._answers import by_name, checked_labels, codes_of, match
from certivote.pipeline._counts import CountedPart, PredictionCounts, is_label, merge_counts, packed
from certivote.pipeline._given_rows import GivenRows, alone, certified, checked_plan, for_models
from certivote.pipeline._prepared import CountedRows
from certivote.pipeline._promises import Sight, check_promises
from certivote.pipeline._seeds import Streams, seed_of
from certivote.pipeline._units import Units
from certivote.pipeline._values import column_name
from certivote.promises import PROMISES, ByClass, Promise
from certivote.votes import build_votes


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
    if isinstance(y_pred, Mapping) or hasattr(y_pred, "columns"):
        columns = by_name(y_pred)
        if len(columns) != 1:
            raise ValueError(f"y_pred must be the answers of one model; got {len(columns)}. Count one after another.")
        name, given = next(iter(columns.items()))
    else:
        name, given = "model" if getattr(y_pred, "name", None) is None else str(y_pred.name), y_pred
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
    plan = checked_plan(delta, promises, together, random_state=None)
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
    check_promises(plan.promises, np.array(list(map(str, classes))), None)
    table = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for part in parts:
        rows, columns, how_many = np.array(part.cells, dtype=np.int64).T
        own, answers = codes_of(list(part.true), classes), codes_of(list(part.said), classes)
        np.add.at(table, (own[rows], answers[columns]), how_many)
    labels, codes = np.nonzero(table)
    given = GivenRows(
        classes=classes,
        labels=labels,
        target=merged.target,
        columns=(name,),
        n_columns=1,
        units=Units(),
        streams=Streams(seed_of(None), ""),  # nothing is random
        digests=(join_pieces(part.piece for part in parts), ""),
        counted=CountedRows(table[labels, codes], _votes_digest(parts, classes)),
        subject="answers",
    )
    plan = alone(for_models(plan, [name], given.subject, given.streams.seed))
    return certified(plan, codes[:, None], given, Sight(is_given=True)).certificate


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

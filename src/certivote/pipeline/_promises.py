"""The promises of a plan, made about the vote that is deployed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import PromiseRecord
from certivote.pipeline._input import plain_values
from certivote.pipeline._plan import Plan
from certivote.pipeline._streams import Streams
from certivote.promises import Columns, CountedVote, Ledger, Promise, PromiseRows, margins
from certivote.theory.entities import Entities
from certivote.theory.predictors import Vote
from certivote.theory.risks import Labels
from certivote.theory.theorems import Setting
from certivote.voters import OutOfSampleVotes
from certivote.votes import plurality

GUIDE_ROWS = 20_000
"""Training rows whose out-of-sample votes guide promises, at most."""
_SET_ASIDE = 0.2
"""Share of the certification rows that guide promises where there are no training rows."""


@dataclass(frozen=True)
class OutOfSampleRows:
    """Training rows, and votes on them of voters that have not seen them."""

    votes: OutOfSampleVotes
    labels: Labels
    columns: Columns | None
    entities: Entities | None


@dataclass(frozen=True)
class PromiseData:
    """What promises may see besides the votes on the certification rows.

    Attributes
    ----------
    columns : Columns or None
        Of the certification rows.
    training : Columns or None
        Of the training rows; None if there are none.
    out_of_sample : function without arguments, or None
        Gives the training rows with out-of-sample votes; None if there are none.
    answers_only : bool
        Whether answers are all there is, of one given model or of rows that lie elsewhere, and not how sure they are.
    masses, scores : array or None
        What such a model says of how sure it is.
    """

    columns: Columns | None = None
    training: Columns | None = None
    out_of_sample: Callable[[], OutOfSampleRows] | None = None
    answers_only: bool = False
    masses: NDArray[np.float64] | None = None
    scores: NDArray[np.float64] | None = None


def columns_of(X: Any, names: Sequence[str], rows: NDArray[np.intp]) -> Columns | None:
    """The columns of some rows of a table, by name or number."""
    if len(np.shape(X)) != 2:
        return None

    def values(name: str) -> list[Any]:
        known = list(names) or [str(place) for place in range(np.shape(X)[1])]
        if known.count(name) > 1:
            raise ValueError(f"X has {known.count(name)} columns named {name!r}: rename them, to tell which is meant.")
        if name not in known:
            raise ValueError(f"There is no column {name!r} in X; its columns are {', '.join(known[:20])}.")
        place = known.index(name)
        if hasattr(X, "iloc"):
            return plain_values(X.iloc[rows, place], name)
        column = X[rows][:, [place]]
        return plain_values(column.toarray() if hasattr(column, "toarray") else column, name)

    return values


def check_promises(promises: Sequence[Promise], classes: NDArray[Any], columns: Columns | None) -> None:
    """Refuse promises that cannot be made, before anything is fitted."""
    for promise in promises:
        promise.check(tuple(map(str, classes)), columns)


def check_promise_data(promises: Sequence[Promise], data: Sequence[PromiseData], names: Sequence[str]) -> None:
    """Refuse promises about how sure a model is, where it does not say."""
    for promise in promises:
        if promise.needs != "answers" and len(names) > 1:
            raise ValueError(
                f"{promise!r} asks how sure a model is, and what its scores mean differs among the {len(names)} models "
                "that were given: certify one of them with it."
            )
        for own, name in zip(data, names, strict=True):
            if promise.needs == "masses" and own.masses is None:
                raise ValueError(
                    f"{promise!r} asks what stands behind every class, which {name} does not say: give a model that "
                    "has predict_proba and classes_."
                )
            if promise.needs == "scores" and own.masses is None and own.scores is None:
                raise ValueError(
                    f"{promise!r} asks how sure each answer is, which {name} does not say: give scores with the "
                    "answers, or a model that has predict_proba and classes_."
                )


def make_promises(
    plan: Plan,
    counted: CountedVote,
    data: PromiseData,
    classes: NDArray[Any],
    setting: Setting,
    penalty: float,
    streams: Streams,
) -> tuple[PromiseRecord, ...]:
    """All promises about one vote.

    Parameters
    ----------
    plan : Plan
    counted : CountedVote
    data : PromiseData
    classes : array
    setting : Setting
        As the vote was certified.
    penalty : float
        Nats for what was learned, as in the part's own bound.
    streams : Streams
        One sets rows aside, and puts the others in the order of bets.
    """
    part_delta = plan.of_vote(plan.promise_delta)
    units = cache(lambda: streams.of("promises").permutation(counted.count() or len(counted.labels)))
    order = units if plan.in_order and counted.entities is None else lambda: np.arange(len(counted.labels))
    rows = _rows(counted, data, order) if counted.method.predictor.counts_errors else None
    ledger = Ledger(
        counted=counted,
        classes=tuple(str(label) for label in classes),
        rows=rows,
        guide=None,
        kept=np.arange(len(counted.labels)),
        setting=replace(setting, delta=plan.of_attempt(part_delta)),
        delta=plan.promise_delta,
        part_delta=part_delta,
        penalty=penalty,
        in_order=plan.in_order,
    )
    return tuple(promise.make(_guided(ledger, promise, data, units)) for promise in plan.promises)


def _rows(counted: CountedVote, data: PromiseData, order: Callable[[], NDArray[np.intp]]) -> PromiseRows:
    """All certification rows."""
    masses = data.masses if data.answers_only else counted.votes.masses(counted.vote.weights)
    scores = data.scores
    return PromiseRows(
        labels=counted.labels,
        answers=counted.tally.answers,
        masses=masses,
        scores=margins(masses) if scores is None and masses is not None else scores,
        columns=data.columns,
        entities=counted.entities,
        order=order,
    )


def _guided(ledger: Ledger, promise: Promise, data: PromiseData, units: Callable[[], NDArray[np.intp]]) -> Ledger:
    """The ledger with the rows that the promise may look at beforehand."""
    if ledger.rows is None:
        return ledger
    if data.out_of_sample is not None:
        need = promise.guide(None, trained=True)
        return ledger if need == "none" else replace(ledger, guide=_trained(data, ledger.counted.vote, need == "votes"))
    rows, columns = ledger.rows, ledger.rows.columns

    @cache
    def aside() -> NDArray[np.bool_]:
        chosen, entities = np.zeros(len(units()), dtype=bool), ledger.counted.entities
        chosen[units()[: int(_SET_ASIDE * len(chosen))]] = True
        return chosen if entities is None else chosen[entities.codes]

    def shown(name: str) -> list[Any]:
        assert columns is not None
        values = columns(name)
        return [values[row] for row in np.flatnonzero(aside()).tolist()]

    # Whether they are needed is decided by these rows alone, so that the others are as good as new.
    if promise.guide(None if columns is None else shown, trained=False) == "none":
        return ledger
    kept = np.flatnonzero(~aside())
    return replace(ledger, rows=rows.take(kept), guide=rows.take(np.flatnonzero(aside())), kept=kept)


def _trained(data: PromiseData, vote: Vote, with_votes: bool) -> PromiseRows:
    """Training rows, with what the deployed vote says of them out of sample where that is asked for."""
    assert data.out_of_sample is not None
    nobody = np.empty(0, dtype=np.intp)
    if not with_votes:
        return PromiseRows(nobody, nobody, None, None, data.training, None, lambda: nobody)
    unseen = data.out_of_sample()
    weights = np.zeros(unseen.votes.votes.n_voters)
    np.add.at(weights, unseen.votes.groups, vote.weights)
    masses = unseen.votes.votes.masses(weights)
    return PromiseRows(
        labels=unseen.labels,
        answers=plurality(masses),
        masses=masses,
        scores=margins(masses),
        columns=unseen.columns,
        entities=unseen.entities,
        order=lambda: np.arange(len(unseen.labels)),
    )

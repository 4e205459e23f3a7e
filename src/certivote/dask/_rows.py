"""The rows of a table in partitions, as the pipeline asks for them."""

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from certivote.dask import _passes
from certivote.dask._blocks import ClusterBlocks
from certivote.dask._boosters import train_booster
from certivote.dask._cluster import Passes, sent
from certivote.dask._partition import Layout, Part
from certivote.maths.tree_digest import join_pieces, together
from certivote.pipeline import COMPARED_ROWS, Count, FullCount, NumberedRows, Plan, trains
from certivote.theory.predictors import Tally
from certivote.theory.risks import Labels, Loss
from certivote.voters import FittedVoters, Mixed, fit_sample, with_booster, with_grown
from certivote.votes import Votes, stack_votes

Places = NDArray[np.intp]

_TREES = 100
"""Trees that are grown where rows lie, in all partitions together."""


class ClusterRows:
    """Rows in partitions; see :class:`certivote.pipeline.RowsElsewhere`.

    Attributes
    ----------
    seconds : dict of str to float
        What each pass took.
    held : ClusterBlocks or None
        Votes that stay on the workers, where weights are learned from all rows.
    """

    def __init__(self, passes: Passes, plan: Plan, has_own_voters: bool):
        self._passes, self._plan, self._has_own_voters = passes, plan, has_own_voters
        self._parts = [Part(place, None, plan.voters) for place in range(len(passes.table.pairs))]
        self.seen: Any = BaseEstimator()
        self.target = passes.table.target
        self.seconds: dict[str, float] = {}
        self.held: ClusterBlocks | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(map(str, getattr(self.seen, "feature_names_in_", ())))

    @property
    def n_columns(self) -> int:
        return int(self.seen.n_features_in_)

    def labels(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        looked = self._run("look", "reading the labels", _passes.look)
        whole = [own for own in looked if own.n_rows]
        if not whole:
            raise ValueError(f"None of the {len(looked)} partitions has a row.")
        layout: Layout = whole[0].layout
        for place, own in enumerate(looked):
            if own.layout is not None:
                layout.refuse(place, own.layout)
        sums = np.array([own.index for own in whole if own.index is not None], dtype=object).reshape(-1, 2)
        if np.any(sums[:, 0] != sums[:, 1]) and len({total % (1 << 64) for total in sums.sum(axis=0)}) == 1:
            raise ValueError(
                "The partitions of y have the index labels of X in another order, and rows are matched by position: "
                "take both from one table."
            )
        self.seen = whole[0].seen
        firsts = np.cumsum([0, *(own.n_rows for own in looked)])
        self._parts = [
            dataclasses.replace(part, n_rows=own.n_rows, rows=own.rows, layout=layout, first=int(first), seen=self.seen)
            for part, own, first in zip(self._parts, looked, firsts, strict=False)
        ]
        labels, places = np.unique(np.concatenate([own.labels for own in whole]), return_inverse=True)
        counts = np.zeros(len(labels), dtype=np.intp)
        np.add.at(counts, places, np.concatenate([own.counts for own in whole]))
        return labels, counts

    def digest(self) -> str:
        pieces = self._run("digest", "reading all rows, for their digest", _passes.digest)
        return join_pieces(piece for piece in pieces if piece is not None)

    def divide(self, rows: NumberedRows, classes: NDArray[Any]) -> None:
        self._parts = [dataclasses.replace(part, rule=rows, classes=classes) for part in self._parts]
        n_train = [
            int(np.count_nonzero(trains(rows.key, part.first, part.n_rows or 0, rows.share))) for part in self._parts
        ]
        n_certify = [(part.n_rows or 0) - own for part, own in zip(self._parts, n_train, strict=True)]
        self._train, self._certify = np.cumsum([0, *n_train]), np.cumsum([0, *n_certify])

    def sample(self, places: Places) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
        what = "gathering training rows"
        found = [own for own in self._run("sample", what, _passes.sample, _within(places, self._train)) if own]
        X = _stacked([own[0] for own in found])
        return X, np.concatenate([own[1] for own in found]), np.sum([own[2] for own in found], axis=0)

    def fitting(self, plan: Plan, rng: np.random.Generator, places: Places) -> Any:
        if not self._has_own_voters or self._train[-1] <= len(places):
            return None
        within = _within(places, self._train)
        # Each partition has its share of the trees, by its training rows.
        n_trees = np.diff(np.round(_TREES * self._train / self._train[-1])).astype(int).tolist()
        seeds = rng.integers(2**32, size=len(n_trees)).tolist()

        def fit(X: Any, y: NDArray[Any], classes: NDArray[Any], rng: np.random.Generator) -> FittedVoters:
            grown = self._run("grow", "growing trees where the rows lie", _passes.grow, n_trees, seeds, within)
            own = with_grown(fit_sample(plan.voters, X, y, classes, rng), grown, [len(each) for each in within])
            if not isinstance(plan.voters, Mixed):
                return own
            start = time.perf_counter()
            booster = train_booster(self._passes, self._parts, self._train, within, X.shape[1], seeds[0])
            self.seconds["boost"] = time.perf_counter() - start
            return own if booster is None else with_booster(own, booster, X, len(classes))

        return fit

    def vote(self, voters: FittedVoters, places: Places) -> tuple[Votes, Labels]:
        what = f"{voters.n_voters:,} voters vote on {len(places):,} rows"
        within = _within(places, self._certify)
        found = [own for own in self._run("vote", what, _passes.vote, within, common=[sent(voters)]) if own]
        return stack_votes([votes for votes, _ in found]), np.concatenate([codes for _, codes in found])

    def blocks(self, voters: FittedVoters, size: int) -> ClusterBlocks:
        start = time.perf_counter()
        self.held = ClusterBlocks(self._passes, self._parts, self._certify, sent(voters), size)
        self.seconds["hold"] = time.perf_counter() - start
        return self.held

    def certifiable(self, voters: FittedVoters) -> "Certifiable":
        return Certifiable(self, voters)

    def count(self, voters: FittedVoters, weights: Sequence[NDArray[np.float64]], loss: Loss) -> FullCount:
        """Count votes on all certification rows."""
        if self.held is not None:
            self.held.release()
        with_keys = bool(self._train[-1] + self._certify[-1] <= COMPARED_ROWS)
        firsts = list(zip(self._train[:-1].tolist(), self._certify[:-1].tolist(), strict=True))
        common = [sent(voters), list(weights), loss]
        whole = [with_keys] * len(firsts)
        found = self._run("count", f"counting on {self.n_certify:,} rows", _passes.count, firsts, whole, common=common)
        counts = [_kinds(np.sum(own, axis=0)) for own in zip(*(each.counts for each in found), strict=True)]
        if any(int(own.repeats.sum()) != self.n_certify for own in counts):
            raise RuntimeError(f"Other rows were counted than the {self.n_certify:,} that certify: fit again.")
        return FullCount(
            counts=tuple(counts),
            digests=(_digest([own.certify for own in found]), _digest([own.train for own in found])),
            votes_digest=together(
                [join_pieces(own) for own in zip(*(pieces for each in found for pieces in each.votes), strict=True)]
            ),
            duplicates=_duplicates(found) if with_keys else (None, None),
        )

    @property
    def n_certify(self) -> int:
        """How many certification rows there are."""
        return int(self._certify[-1])

    def _run(self, name: str, what: str, function: Any, *more: Sequence[Any], common: Sequence[Any] = ()) -> list[Any]:
        start = time.perf_counter()
        found = self._passes.run(what, function, self._parts, *more, common=common)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        return found


@dataclasses.dataclass(frozen=True)
class Certifiable:
    """All certification rows, and who votes on them."""

    rows: ClusterRows
    voters: FittedVoters

    @property
    def n_rows(self) -> int:
        return self.rows.n_certify

    def count(self, weights: Sequence[NDArray[np.float64]], loss: Loss) -> FullCount:
        return self.rows.count(self.voters, weights, loss)


def _within(places: Places, firsts: NDArray[np.int64]) -> list[Places]:
    """Ascending places among all rows of a kind, partition by partition."""
    cuts = np.searchsorted(places, firsts)
    return [places[a:b] - first for a, b, first in zip(cuts[:-1], cuts[1:], firsts[:-1], strict=True)]


def _stacked(pieces: Sequence[Any]) -> Any:
    """Rows one below another."""
    if hasattr(pieces[0], "iloc"):
        return pd.concat(pieces, ignore_index=True)
    if hasattr(pieces[0], "tocsr"):
        from scipy import sparse

        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def _digest(pieces: Sequence[Sequence[Any]]) -> str:
    return join_pieces(piece for own in pieces for piece in own)


def _kinds(counts: NDArray[np.int64]) -> Count:
    """The kinds of rows that there are."""
    labels, answers, wrong = np.nonzero(counts)
    return Count(labels, Tally(1, wrong.astype(bool)[None, :], answers), counts[labels, answers, wrong])


def _duplicates(found: Sequence[_passes.Counted]) -> tuple[int, int]:
    """Certification rows that equal an earlier one, and that equal a training row."""
    certify, train = (
        pd.DataFrame(np.frombuffer(b"".join(keys), np.uint64).reshape(-1, 2), columns=["one", "two"])
        for keys in ([own.certify_keys for own in found], [own.train_keys for own in found])
    )
    return int(certify.duplicated().sum()), len(certify.merge(train.drop_duplicates(), how="inner"))

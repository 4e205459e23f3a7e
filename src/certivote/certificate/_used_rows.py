"""Recognising rows that a certified vote was made from, one by one, by the witnesses that its model keeps.

Rows of a discrete table repeat by themselves, so that new ones too may equal a training row. If new rows came from
where those of the model did, all of them could change places, which gives two tests. Of the rows that certified the
vote, how many equal a training row? Given how many rows of both kinds do, their number among the new ones is
hypergeometric (Fisher's exact test); it is asked of rows, and of rows that differ, as one row may be repeated many
times. And of different rows that occur more than once, how many occur among the new ones and among the others? A row
that occurs c times does so with probability 1 - f^c - (1-f)^c, where f is the share of the new ones, and the tail of a
sum of independent such events is at most that of a binomial with their mean (Hoeffding 1956). Simulations show that
the events are independent enough.
"""

import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np

from certivote.certificate._certificate import Certificate
from certivote.certificate._witnesses import Digests, Witnesses

_CHANCE = 1e-3
"""Probability with which new rows are taken for those that made the vote."""
_PASSING = {"builtins", "certivote", "functools", "numpy", "sklearn"}
"""Packages of objects that answer by asking what they hold about the same rows."""
_LOOKED_AT = 20_000
"""Objects in which models are looked for."""


@dataclass(frozen=True)
class UsedRows:
    """How many of some rows a certified vote was made from, as far as witnesses tell.

    Attributes
    ----------
    n : int
        Rows that were looked at.
    alike : int or None
        Rows that equal one of those that the model keeps witnesses of, by chance or not; None if it keeps none.
    found : bool
        Whether there are more of these than chance explains.
    trained, certified : int or None
        About how many are among those that trained the voters, and among those that certified the vote: 0 if there are
        no more than chance explains, None if it cannot be told.
    as_they_are : bool
        Whether the vote sees the rows as they were compared: what it is inside of may change them before.
    """

    n: int
    alike: int | None = None
    found: bool = False
    trained: int | None = None
    certified: int | None = None
    as_they_are: bool = True

    @property
    def none_found(self) -> bool:
        """Whether it could be told of all rows that made the vote that no more are among these than chance explains."""
        return self.trained == self.certified == 0 and self.as_they_are

    def __str__(self) -> str:
        rows = f"{self.alike:,} of {self.n:,} rows equal" if self.alike else f"none of {self.n:,} rows equals"
        rows += " one that the model keeps a witness of"
        if self.found:
            counts = (self.trained, "trained its voters"), (self.certified, "certified it")
            known = " and ".join(f"about {count:,} {what}" for count, what in counts if count)
            return f"of {self.n:,} rows, {known}" if known else f"{rows}, more than chance explains"
        if self.alike is None:
            return "not checked: the model keeps no witnesses of its own rows that these could be compared with"
        if self.none_found:
            return f"{rows}{', which may be chance' if self.alike else ''}"
        if not self.as_they_are:
            return f"not checked: {rows}, but what the model is inside of may change rows before it sees them"
        return (
            f"not checked: {rows}, but there are too few rows or witnesses, or rows repeat too often by themselves, to "
            "tell whether that is chance"
        )


def used_rows(model: Any, X: Any) -> UsedRows | None:
    """How many of these rows trained or certified a vote of certivote that this model is, or that it holds somewhere.

    Parameters
    ----------
    model : anything that answers rows
        A certivote model; or a pipeline, an ensemble, another wrapper or a function in which there may be some.
    X : rows
        As the model takes them. Where a pipeline changes columns before a certivote model sees them, rows are compared
        before and after.

    Returns
    -------
    UsedRows or None
        Of several models, what is known of the one that more of these rows were used for. None if there is no model of
        certivote in it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y)
    >>> used_rows(clf, X[::-1]).found, used_rows(clf.predict, X + 10.0).found
    (True, False)
    """
    found = [replace(_of_one(each, before, X), as_they_are=plain) for each, before, plain in _votes_in(model)]
    if any(each.found for each in found):
        return max(found, key=lambda each: (each.trained or 0) + (each.certified or 0))
    return next((each for each in found if not each.none_found), found[0] if found else None)


def are_own_rows(rows: Sequence[bytes], used: Sequence[bytes]) -> bool:
    """Whether more of some rows occur among others than chance explains, if both are from one source.

    Parameters
    ----------
    rows, used : sequence of bytes
        As :func:`~certivote.certificate.row_keys` gives them.

    Examples
    --------
    >>> from certivote.certificate import row_keys
    >>> used = row_keys(np.arange(90.0).reshape(30, 3))
    >>> are_own_rows(used[::-1], used), are_own_rows(row_keys([[0, 1]] * 30), row_keys([[0, 1], [1, 1]] * 30))
    (True, False)
    """
    new, kept = (np.frombuffer(b"".join(key[:8] for key in keys), dtype=np.uint64) for keys in (rows, used))
    return _chance_of_both(new, kept) <= _CHANCE


def _of_one(model: Any, before: tuple[Any, ...], X: Any) -> UsedRows:
    """What one vote was made from, by its witnesses; before it, these transformers change the rows."""
    n, best = np.shape(X)[0], None
    witnesses = getattr(model, "witnesses_", None)
    if not isinstance(witnesses, Witnesses) or not n:
        return UsedRows(n)
    for table in _tables(before, X):
        try:
            with warnings.catch_warnings(action="ignore"):  # when it answers, it will warn again
                rows, _ = model.check_rows(table, np.repeat(model.classes_[:1], n))
        except (TypeError, ValueError):  # these are not its columns
            continue
        found = witnessed(witnesses, rows, model.certificate_)
        if best is None or found.found:
            best = found
    return best or UsedRows(n)


def witnessed(witnesses: Witnesses, rows: Any, certificate: Certificate) -> UsedRows:
    """How many of these rows, as its voters get them, trained or certified the vote of this certificate."""
    new = witnesses.digests(rows)
    part, train, certify = certificate.deployed_part, witnesses.train, witnesses.certify
    kept = np.concatenate([train, certify])
    sets = (train, certify, part.training_rows), (certify, train, part.n)
    found = _chance_of_both(new, kept) <= _CHANCE / 2 or any(
        _chance_of_hits(new, own, others) <= _CHANCE / 4 for own, others, _ in sets
    )
    about = _about if found else _none
    trained, certified = (about(new, *each) if len(each[0]) or not each[2] else None for each in sets)
    return UsedRows(len(new), int(np.count_nonzero(np.isin(new, kept))), found, trained, certified)


def _about(new: Digests, kept: Digests, others: Digests, n_rows: int) -> int:
    """About how many of the new rows are among those that some witnesses were kept of.

    Parameters
    ----------
    new, kept : array of uint64
    others : array of uint64
        Of rows from the same table that are none of these; empty if there are no such.
    n_rows : int
        All rows that the witnesses were chosen from.
    """
    usual = float(np.isin(others, kept).mean()) if len(others) else 1.0 - len(np.unique(kept)) / max(len(kept), 1)
    beyond = (float(np.isin(new, kept).mean()) - usual) / max(1.0 - usual, 1e-9) * n_rows / max(len(kept), 1)
    return int(np.clip(round(beyond * len(new)), 0, len(new)))


def _none(new: Digests, kept: Digests, others: Digests, n_rows: int) -> int | None:
    """0 if it would have been noticed that every second of the new rows was one of these; None if not."""
    if len(kept) == n_rows and not np.isin(new, kept).any():
        return 0
    would_be = int(len(new) * len(kept) / n_rows / 2)
    return 0 if _chance_of_hits(new, kept, others, would_be) <= _CHANCE / 4 else None


def _chance_of_hits(new: Digests, kept: Digests, others: Digests, would_be: int | None = None) -> float:
    """Probability that so many new rows equal one that was kept, if they are like others; and so for different rows.

    ``would_be`` stands in place of those that do.
    """
    from scipy.stats import hypergeom

    if not len(others):
        others, kept = kept[::2], kept[1::2]
    chances = []
    for own, usual in ((new, others), (np.unique(new), np.unique(others))):
        known = int(np.count_nonzero(np.isin(usual, kept)))
        hits = int(np.count_nonzero(np.isin(own, kept))) if would_be is None else min(would_be, len(own))
        chances.append(float(hypergeom.sf(hits - 1, len(own) + len(usual), len(own), hits + known)))
    return max(chances)


def _chance_of_both(new: Digests, kept: Digests) -> float:
    """Probability that so many different rows occur among the new ones and among those that were kept."""
    from scipy.stats import binom

    values, counts = np.unique(np.concatenate([new, kept]), return_counts=True)
    values, counts = values[counts > 1], counts[counts > 1]
    if not len(values):
        return 1.0
    both, share = np.isin(values, new) & np.isin(values, kept), len(new) / (len(new) + len(kept))
    return float(binom.sf(np.count_nonzero(both) - 1, len(values), np.mean(1 - share**counts - (1 - share) ** counts)))


# Votes in other models


def _votes_in(model: Any) -> Iterator[tuple[Any, tuple[Any, ...], bool]]:
    """Votes of certivote that an object is or holds, the nearest first, with what changes rows before they see them.

    And whether nothing else may change rows: functions and classes from elsewhere may.
    """
    from certivote.voters import held_by

    queue: deque[tuple[Any, tuple[Any, ...], bool]] = deque([(model, (), True)])
    seen: dict[int, Any] = {}  # which also keeps objects, so that no other one gets the place of one in memory
    while queue and len(seen) < _LOOKED_AT:
        thing, before, plain = queue.popleft()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if isinstance(getattr(thing, "certificate_", None), Certificate) and hasattr(thing, "check_rows"):
            yield thing, before, plain
        if isinstance(steps := getattr(thing, "steps", None), list):
            for place, (_, step) in enumerate(steps):
                queue.append((step, (*before, *(each for _, each in steps[:place])), plain))
        else:
            passes = plain and _passes_rows_on(thing)
            queue.extend((part, before, passes) for part in held_by(thing))


def _passes_rows_on(thing: Any) -> bool:
    """Whether what an object holds sees rows as they are, or other columns, which are not compared."""
    owner = thing if isinstance(thing, FunctionType) else type(thing)
    known = str(owner.__module__).partition(".")[0] in _PASSING
    return known and not hasattr(thing, "transformer")


def _tables(before: tuple[Any, ...], X: Any) -> Iterator[Any]:
    """The rows as they are, and as each of some transformers leaves them."""
    yield X
    X = X.copy() if before and hasattr(X, "copy") else X  # a transformer may change what it is given
    for step in before:
        if not hasattr(step, "transform"):  # such as "passthrough"
            continue
        try:
            X = step.transform(X)
        except Exception:  # whatever a transformer that does not fit says: the model itself will say it too
            return
        yield X

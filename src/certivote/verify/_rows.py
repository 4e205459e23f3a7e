"""The row numbers of a model: each part trains and certifies on what its split and the seed give it, every row once."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate
from certivote.verify._check import Check, trusted
from certivote.verify._look import is_folded, n_first
from certivote.verify._streams import random_key, random_numbers
from certivote.verify._versions import other_versions

Rows = NDArray[Any]
_AT_ONCE = 1 << 22
"""Random numbers in memory at a time."""
_MOST_DRAWN = 1 << 28
"""Rows that are drawn again, at most, which takes seconds."""
_FAR = 5.0
"""Roots of the number of rows, which are ten standard deviations or more: no draw is as far from its mean."""


def check_part_rows(c: Certificate, parameters: dict[str, Any] | None, model: Any) -> Iterator[Check]:
    """Whether the row numbers of all parts are such as the split and the seed make them, and as many as recorded."""
    if rule_rows(model) is not None:
        yield from _check_rule(c, parameters, model)
        return
    parts = [(np.asarray(rows.train), np.asarray(rows.certify)) for rows in model.parts_]
    own = (np.asarray(model.part_.train), np.asarray(model.part_.certify))
    n_rows = sum(map(len, own))
    problem = _problem(c, parts, own, n_first(n_rows) if is_folded(c, parameters) else 0)
    yield Check("parts", not problem, problem or f"every row trains or certifies, once each, of {n_rows:,}")
    n, train = c.deployed_part.n, c.deployed_part.training_rows
    right = (len(own[1]), len(own[0])) == (n, train)
    told = f"{len(own[1]):,} certification and {len(own[0]):,} training rows, the certificate says {n:,} and {train:,}"
    yield Check("size", right, told)
    sizes = [(len(certify), len(train)) for train, certify in parts]
    if len(parts) > 1:
        right = sizes == [(part.n, part.training_rows) for part in c.parts]
        yield Check("sizes of the parts", right, ", ".join(f"{certify:,} + {train:,}" for certify, train in sizes))
    entropy = c.provenance.entropy
    if not problem and entropy and min(entropy) >= 0 and not (c.groups or c.order):
        if c.division == "shuffled":
            certified = [certify for _, certify in parts]
            yield check_division(c, certified, random_numbers(c, "split").permutation(n_rows))
        else:
            drawn = np.concatenate(list(_drawn(c, share_of(parameters), n_rows)))
            yield _as_the_seed_gives(c, np.array_equal(np.flatnonzero(drawn), own[0]))


def rule_rows(model: Any) -> int | None:
    """Of how many rows the model says by a rule which train; None if it names them one by one."""
    count = getattr(model.part_, "n_rows", None)
    return None if count is None else int(count)


def _check_rule(c: Certificate, parameters: dict[str, Any] | None, model: Any) -> Iterator[Check]:
    """Where a rule says which rows train: it is that of the seed, and gives as many as recorded."""
    part, share = c.deployed_part, share_of(parameters)
    right = len(model.parts_) == len(c.parts) == 1 and rule_rows(model) == c.provenance.n_rows
    right = right and (model.part_.share, model.part_.key) == (share, _key(c))
    yield Check("parts", right, "a rule says of each row whether it trains or certifies")
    n_rows, recorded = c.provenance.n_rows, f"the certificate says {part.n:,} and {part.training_rows:,}"
    # A number may claim any amount of work: what no draw can give is refused before the rows are drawn.
    right = right and part.n + part.training_rows == n_rows
    if not right or abs(part.training_rows - share * n_rows) > _FAR * math.sqrt(n_rows):
        yield Check("size", False, f"the rule gives about {share:.0%} of {n_rows:,} rows for training, {recorded}")
        return
    if n_rows > _MOST_DRAWN:
        why = f"so many rows are not drawn: with the data, their digests show which they are; {recorded}"
        yield trusted("size", why, f"parts[{c.deployed}].n", f"parts[{c.deployed}].training_rows")
        return
    found = sum(int(np.count_nonzero(drawn)) for drawn in _drawn(c, share, n_rows))
    told = f"{n_rows - found:,} certification and {found:,} training rows by the rule"
    yield Check("size", found == part.training_rows, f"{told}, {recorded}")


def share_of(parameters: dict[str, Any] | None) -> float:
    """The share of the rows that train, where each row has a number of its own."""
    share = parameters["train_share"] if parameters else None
    return share if isinstance(share, float) else 0.5


def trains(c: Certificate, share: float, first: int, count: int) -> NDArray[np.bool_]:
    """Of some rows, whether their own numbers, random by a counter with a key of seed and data, say that they train."""
    counter = np.random.Philox(key=_key(c))
    counter.advance(first // 4)  # a step of the counter makes four numbers
    before = first % 4
    return np.asarray(np.random.Generator(counter).random(before + count)[before:] < share)


def _key(c: Certificate) -> int:
    """The first 128 bits of the key for this purpose."""
    return random_key(c, "rows by number") >> 128


def _drawn(c: Certificate, share: float, n_rows: int) -> Iterator[NDArray[np.bool_]]:
    """The same of all rows, some at a time."""
    for first in range(0, n_rows, _AT_ONCE):
        yield trains(c, share, first, min(_AT_ONCE, n_rows - first))


def check_division(c: Certificate, certified: Sequence[Rows], shuffled: Rows) -> Check:
    """Whether the parts certify what they should of all rows, or entities, in a random order."""
    return _as_the_seed_gives(c, _are_in_order(c, certified, shuffled))


def _as_the_seed_gives(c: Certificate, right: bool) -> Check:
    told = "those that the seed gives" if right else f"OTHER than the seed gives{other_versions(c)}"
    return Check("row numbers", right, told)


def _are_in_order(c: Certificate, certified: Sequence[Rows], shuffled: Rows) -> bool:
    """Whether the parts certify what they should of the rows in a random order: its last rows, divided one by one."""
    n_certified = sum(map(len, certified))
    # The second part of cross certifies what has trained the first, and so comes before it.
    in_turn = certified[::-1] if c.split == "cross" else certified
    rest = np.split(shuffled[len(shuffled) - n_certified :], np.cumsum([len(rows) for rows in in_turn])[:-1])
    return all(np.array_equal(np.sort(due), rows) for due, rows in zip(rest, in_turn, strict=True))


def _problem(c: Certificate, parts: Sequence[tuple[Rows, Rows]], own: tuple[Rows, Rows], first: int) -> str:
    """What is wrong with the row numbers; empty if nothing is. So many first rows certify no part."""
    if len(parts) != len(c.parts):
        return f"the model has {len(parts)} parts, the certificate {len(c.parts)}"
    if not all(map(np.array_equal, own, parts[c.deployed])):
        return "the rows of the deployed vote are not those of its part"
    n_rows = c.provenance.n_rows or sum(map(len, own))
    for train, certify in parts:
        for rows in (train, certify):
            if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
                return "row numbers are no whole numbers"
            if np.any(rows < 0) or np.any(rows >= n_rows):
                return f"row numbers below 0, or above the {n_rows:,} rows that were given"
        together = np.concatenate([train, certify])
        if len(np.unique(together)) != len(together):
            return "rows for training AND certification, or twice in a part"
        if len(together) != n_rows:
            return f"{n_rows - len(together):,} of {n_rows:,} rows neither train nor certify"
        if np.any(np.diff(train) < 0) or np.any(np.diff(certify) < 0):
            return "row numbers that do not ascend"
    if c.split == "none" and len(parts[0][0]):
        return "split none trains on no row"
    certified = np.concatenate([certify for _, certify in parts])
    if c.split not in ("none", "single") and not len(np.unique(certified)) == len(certified) == n_rows - first:
        return f"the parts do not certify every row once{f', but for the {first:,} first ones' if first else ''}"
    return ""

"""Which rows train and which certify: split, first rows and seed, held against the row numbers of a model.

Rows come in a random order. The first of them may be looked at, to decide how many rows train the voters, or into how
many folds the others fall; none of these is certified. That nothing else decided, only fitting again shows.
"""

import hashlib
import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate, StoppedCertificate
from certivote.verify._check import Check, trusted

# --- The random numbers of a record.


def random_numbers(c: Certificate | StoppedCertificate, purpose: str, *which: int) -> np.random.Generator:
    """The stream for a purpose, from its beginning."""
    return np.random.default_rng(random_key(c, purpose, *which))


def random_key(c: Certificate | StoppedCertificate, purpose: str, *which: int) -> int:
    """The SHA-256 of the items, each behind its length, as a number."""
    content = b"certivote stream"
    for item in (purpose, which, c.provenance.entropy, c.provenance.data_digest):
        text = repr(item).encode()
        content += len(text).to_bytes(8, "big") + text
    return int(hashlib.sha256(content).hexdigest(), 16)


def other_versions(c: Certificate) -> str:
    """What may be the reason for a difference besides a forgery; empty if all versions are the recorded ones."""
    other = _others(c.provenance.versions)
    return f" (the difference may come from other versions: {other})" if other else ""


def other_libraries(c: Certificate, needed: Sequence[str]) -> str:
    """Which packages that training again needs are others than those recorded; empty if none is."""
    recorded = dict(c.provenance.versions)
    return _others([(name, recorded.get(name, "no version")) for name in needed])


def _others(versions: Iterable[tuple[str, str]]) -> str:
    """The packages that are installed in another version, or not at all."""
    other = []
    for name, recorded in versions:
        try:
            here = platform.python_version() if name == "python" else version(name)
        except (PackageNotFoundError, ValueError):
            here = "not installed"
        if here != recorded:
            other.append(f"{name} {recorded:.20} recorded, {here} here")
    return "; ".join(other)


# --- What the first rows may have decided.

_FOLDS = ("2", "3")
_FIRST, _FEWEST, _MOST = 0.1, 40, 0.3
"""Share of the rows that is looked at where there may be folds; the fewest that decide, and the most of all rows."""
_FOLDED_BELOW, _IF_SMALL_BELOW, _SMALL = 10_000, 50_000, 4_000_000
"""Rows below which folds may be chosen; and below which they may if rows x columns x classes are at most so many."""


def n_first(total: int) -> int:
    """Of so many rows, how many are looked at where there may be folds."""
    return max(round(_FIRST * total), min(_FEWEST, round(_MOST * total)))


def looks_first(parameters: dict[str, Any]) -> bool:
    """Whether it was left to the first rows how many train the voters."""
    return bool(parameters["train_share"] == "auto" and parameters["method"] == "auto")


def may_fold(c: Certificate, parameters: dict[str, Any]) -> bool:
    """Whether the first rows may have decided for the folds of a record."""
    asked = looks_first(parameters) and parameters["split"] == "auto" and parameters["promises"] == []
    n_rows = c.provenance.n_rows
    small = n_rows < _IF_SMALL_BELOW and n_rows * c.provenance.n_columns * len(c.classes) <= _SMALL
    few = (n_rows < _FOLDED_BELOW or small) and n_first(n_rows) >= _FEWEST
    return asked and few and c.split in _FOLDS and not (c.groups or c.order) and len(c.promises) <= 1


def is_folded(c: Certificate, parameters: dict[str, Any] | None) -> bool:
    """Whether the folds of a record are of the rows beyond the first only, which train the voters of all."""
    return parameters is not None and parameters["split"] == "auto" and c.split not in ("none", "single", "cross")


def check_first_rows(c: Certificate, parameters: dict[str, Any] | None) -> Check:
    """Whether the first rows may have decided, and none of them is certified; what they showed is not checked."""
    first, folded = c.first_rows, is_folded(c, parameters)
    if first is None:
        return Check("choices", not folded, "none, and nothing says why there are folds" if folded else "none")
    n_rows, train = c.provenance.n_rows, c.deployed_part.training_rows
    right = parameters is not None and looks_first(parameters) and c.division == "shuffled"
    if folded:
        right = right and first.share is None and first.looked_at == n_first(n_rows)
    else:
        right = right and c.split == "single" and first.share is not None and first.looked_at <= train
    detail = f"by the first {first.looked_at:,} of {n_rows:,} rows, {train:,} train the voters"
    return Check("choices", right, detail)


def n_parts(split: str) -> int | None:
    """Parts that a split has; None if there is no such split."""
    if split in ("none", "single", "cross"):
        return 2 if split == "cross" else 1
    is_number = split.isascii() and split.isdecimal() and not split.startswith("0")
    return int(split) if is_number and len(split) < 8 and int(split) >= 2 else None


def divided(c: Certificate, total: int, parameters: dict[str, Any] | None, first: int) -> list[tuple[int, int]]:
    """Rows, or entities, that train and that certify each part, as the split divides them; empty if it cannot.

    ``first`` is how many are said to train the first part, which is taken over where every row was drawn by itself.
    """
    if c.split == "none":
        return [(0, total)]
    if c.split not in ("single", "cross"):
        folds, rest = len(c.parts), total - (n_first(total) if is_folded(c, parameters) else 0)
        sizes = [rest // folds + (number < rest % folds) for number in range(folds)]
        return [(total - size, size) for size in sizes]
    if parameters and c.division == "shuffled":
        share = parameters["train_share"]
        if share == "auto":
            chosen = c.first_rows if c.split == "single" and looks_first(parameters) else None
            share = chosen.share if chosen else 0.5
        if not isinstance(share, float) or not 0.0 < share < 1.0:
            return []
        first = round(share * total)
    pair = [(first, total - first), (total - first, first)]
    return pair[: len(c.parts)] if 0 < first < total else []


# --- Row numbers.


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
    detail = (
        f"{len(own[1]):,} certification and {len(own[0]):,} training rows, the certificate says {n:,} and {train:,}"
    )
    yield Check("size", right, detail)
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
        yield trusted("size", why, f"parts[{c.deployed}].statement.n", f"parts[{c.deployed}].training_rows")
        return
    found = sum(int(np.count_nonzero(drawn)) for drawn in _drawn(c, share, n_rows))
    detail = f"{n_rows - found:,} certification and {found:,} training rows by the rule"
    yield Check("size", found == part.training_rows, f"{detail}, {recorded}")


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
    detail = "those that the seed gives" if right else f"OTHER than the seed gives{other_versions(c)}"
    return Check("row numbers", right, detail)


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

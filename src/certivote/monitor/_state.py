"""State files: what a monitor has counted, as JSON that is written whole, locked against two writers, and checked."""

import hashlib
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from certivote.certificate import Certificate
from certivote.codec import LONGEST, CodecError, Count, FileError, Longest, Within, parse, read, shown, write
from certivote.io import write_atomically
from certivote.monitor._counting import MOST_CALLS, Counted, CountingMonitor, IdSet
from certivote.monitor._evidence import ChangeDetector, Short

_FORMAT, SCHEMA_VERSION = "certivote monitor", 1
_MOST_VALUES = 1 << 23
"""Values in a state file, which take far more memory than text."""
TOLERANCE = 1e-6
"""By how much logarithms may differ that other libraries have computed."""
T = TypeVar("T")


class StateFileError(FileError):
    """A file is not the state of a monitor, is damaged, or is of another certificate."""


# Whole files


def write_state(path: str | os.PathLike[str], kind: str, content: Any) -> None:
    """Write a state file, all at once."""
    record = {"format": _FORMAT, "schema_version": SCHEMA_VERSION, "kind": kind, "digest": _digest(content)}
    written = write({**record, "content": content}, ensure_ascii=True)
    if len(written) > LONGEST:
        raise StateFileError(
            f"The state would have {len(written):,} characters, and none with more than {LONGEST:,} is read: too many "
            "ids have been counted. Begin a new state for what comes now."
        )
    _refuse_hard_links(path)
    write_atomically(path, written.encode())


def read_state(path: str | os.PathLike[str], kind: str, wanted: type[T]) -> T:
    """The content of a state file of this kind, which its digest shows to be undamaged (it is not a signature)."""
    path = Path(path)
    if not stat.S_ISREG(path.stat().st_mode):
        raise StateFileError(f"{path} is not a regular file; a state is read from one.")
    if path.stat().st_size > LONGEST:
        raise StateFileError(f"{path} has {path.stat().st_size:,} bytes; no state has more than {LONGEST:,}.")
    try:
        record = parse(path.read_bytes(), most_values=_MOST_VALUES)
    except CodecError as error:
        raise StateFileError(f"{path} is not the state of a monitor: {error!s:.200}") from error
    if not isinstance(record, dict) or record.get("format") != _FORMAT or "content" not in record:
        raise StateFileError(f"{path} is not the state of a monitor.")
    if record.get("schema_version") != SCHEMA_VERSION:
        raise StateFileError(
            f"{path} has schema version {shown(record.get('schema_version'))}; this certivote reads {SCHEMA_VERSION}. "
            "Install the version of certivote that wrote it, or a newer one."
        )
    if record.get("kind") != kind:
        raise StateFileError(f"{path} is the state of another kind of monitor: {shown(record.get('kind'))}.")
    with damaged(path):
        if record.get("digest") != _digest(record["content"]):
            raise ValueError("its content does not have the digest that was written with it")
        return read(wanted, record["content"])


@contextmanager
def damaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Anything that is refused inside is damage of this file."""
    try:
        yield
    except (OverflowError, ValueError) as error:
        raise StateFileError(f"{os.fspath(path)} is damaged: {error!s:.200}.") from error


def _digest(content: Any) -> str:
    plain = write(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


@contextmanager
def locked(path: str | os.PathLike[str], wait: float) -> Iterator[None]:
    """Keep other writers of a state file out; the system lets them in when this process ends, however it ends."""
    _refuse_hard_links(path)
    lock = FileLock(f"{os.path.realpath(path)}.lock")
    try:
        lock.acquire(timeout=wait)
    except Timeout:
        raise TimeoutError(
            f"{os.fspath(path)} is being written by another process: try again when that has ended."
        ) from None
    try:
        yield
    finally:
        lock.release()


def _refuse_hard_links(path: str | os.PathLike[str]) -> None:
    """Each name of a file would have a lock of its own, and after the first change a content of its own."""
    links = os.stat(path).st_nlink if os.path.exists(path) else 1
    if links > 1 and os.path.isfile(path):
        raise StateFileError(
            f"{os.fspath(path)} is one of {links:,} hard links to a file; a state must have one name, or what is "
            "counted by the one is not known by the other. Remove the others, or make symbolic links of them."
        )


# What all monitors remember


@dataclass(frozen=True)
class State:
    """What monitors of outcomes and of rows both remember.

    Attributes
    ----------
    certificate : str
        Digest of the certificate.
    alpha : float
    total : Counted
        How many rows were given, counted, repeated and left for later.
    calls : tuple of (int, str)
        How many outcomes there were at each call; the last is all of them.
    ids, entities : bytes
        Digests of those that were counted, in ascending order.
    ids_kind : str
    """

    certificate: Short
    alpha: Annotated[float, Within(1e-300, 1.0)]
    total: Counted
    calls: Annotated[tuple[tuple[Count, Short], ...], Longest(MOST_CALLS)]
    ids: bytes
    ids_kind: Short
    entities: bytes


def shared_fields(monitor: CountingMonitor) -> dict[str, Any]:
    """The fields of :class:`State`."""
    return {
        "certificate": monitor.certificate_digest,
        "alpha": monitor.alpha,
        "total": monitor.total,
        "calls": tuple(monitor.calls),
        "ids": monitor.ids.digests.astype("<u8").tobytes(),
        "ids_kind": monitor.ids.kind,
        "entities": monitor.entities.digests.astype("<u8").tobytes(),
    }


def restore_shared(monitor: CountingMonitor, state: State, n: int) -> None:
    """Give a monitor what :func:`shared_fields` has given, after ``n`` outcomes."""
    total, counts = state.total, [count for count, _ in state.calls]
    others = total.rows - total.counted - total.repeated - total.later
    if others < 0 or total.entities > total.counted or (others and not (monitor.groups and monitor.one_row_each)):
        raise ValueError("the rows do not add up")
    if counts != sorted(counts) or (counts[-1] if counts else 0) != n:
        raise ValueError("the outcomes do not add up")
    ids, entities = IdSet(_digests(state.ids), state.ids_kind), IdSet(_digests(state.entities))
    if len(ids.digests) > total.rows or len(entities.digests) != total.entities:
        raise ValueError("the ids do not add up")
    monitor.certificate_digest, monitor.alpha, monitor.total = state.certificate, state.alpha, total
    monitor.calls, monitor.ids, monitor.entities = list(state.calls), ids, entities


def _digests(content: bytes) -> NDArray[np.uint64]:
    digests = np.frombuffer(content, dtype="<u8").astype(np.uint64)
    if np.any(digests[1:] <= digests[:-1]):
        raise ValueError("the ids are not in order")
    return digests


Log = Annotated[float, Within(-1e300, 1e300)] | None
"""A logarithm; None for that of 0."""


def log_of(log: float) -> float | None:
    """A logarithm as it is stored."""
    return log if math.isfinite(log) else None


def log_from(stored: float | None) -> float:
    """What :func:`log_of` was given."""
    return -math.inf if stored is None else stored


@dataclass(frozen=True)
class ChangeDetectorState:
    """The evidence of a change: see :class:`ChangeDetector`."""

    count: Count
    n: Count
    when: Short
    logs: tuple[Log, ...]

    @classmethod
    def of(cls, changes: ChangeDetector) -> "ChangeDetectorState":
        """As it is stored."""
        return cls(changes.count, changes.n, changes.when, tuple(map(log_of, changes.logs.tolist())))

    def give(self, test: Any) -> None:
        """Give it to a monitor or a stream; it must be below the threshold, since it starts anew when it is not."""
        found = test.changes
        if not min(self.count, 1) <= self.n <= (test.n if self.count else 0) or self.count > test.n:
            raise ValueError("there are changes at other moments than there were outcomes")
        if len(self.logs) != len(found.logs):
            raise ValueError("the evidence of a change is that of other bets")
        found.count, found.n, found.when = self.count, self.n, self.when
        found.logs = np.array([log_from(log) for log in self.logs], dtype=float)
        if test.log_change >= test.log_threshold:
            raise ValueError("the evidence of a change is beyond its threshold")


def check_certificate(path: str | os.PathLike[str], digest: str, certificate: Certificate) -> None:
    """Refuse the state of another certificate."""
    if digest != certificate.digest:
        raise StateFileError(
            f"{os.fspath(path)} is the state of another certificate ({digest[:12]}) than the one given "
            f"({certificate.digest[:12]}): give the model or certificate that it was begun with, or another path."
        )


def check_alpha(path: str | os.PathLike[str], known: float, asked: float | None) -> None:
    """Refuse another probability of a false alarm than that which a state was begun with."""
    if asked is not None and asked != known:
        raise StateFileError(
            f"{os.fspath(path)} was begun with alpha={known!r}; got alpha={asked!r}. What is allowed for false alarms "
            "cannot be changed later: leave alpha out, or begin another state."
        )

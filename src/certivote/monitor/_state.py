"""State files: what a monitor has counted, as JSON that is written whole, locked against two writers, and checked."""

import base64
import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from certivote.certificate import Certificate
from certivote.io import write_atomically
from certivote.monitor._counted import Counted

__all__ = [
    "LARGEST_COUNT",
    "SCHEMA_VERSION",
    "TOLERANCE",
    "StateFileError",
    "check_alpha",
    "check_certificate",
    "digests_from",
    "digests_of",
    "items",
    "locked",
    "number",
    "read_state",
    "text",
    "told_from",
    "total_from",
    "whole",
    "write_state",
]

_FORMAT, SCHEMA_VERSION = "certivote monitor", 1
_LARGEST = 1 << 28
"""Characters of a state file."""
_MOST_VALUES = 1 << 23
"""Values in its JSON, which take far more memory than text."""
_MOST_CALLS = 500
_LONGEST = 10_000
"""Characters of a message, which may repeat what a file says."""
TOLERANCE = 1e-6
"""By how much logarithms may differ that other libraries have computed."""
LARGEST_COUNT = 1 << 53


class StateFileError(ValueError):
    """A file is no state of a monitor, is damaged, or is of another certificate. What is repeated of it is plain."""

    def __init__(self, message: str):
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message[:_LONGEST]))


# Whole files


def write_state(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write a state file, all at once."""
    record = {"format": _FORMAT, "schema_version": SCHEMA_VERSION, "kind": kind, "digest": _digest(content)}
    written = json.dumps({**record, "content": content}, allow_nan=False)
    if len(written) > _LARGEST:
        raise StateFileError(
            f"The state would have {len(written):,} characters, and none with more than {_LARGEST:,} is read: too many "
            "ids have been counted. Begin a new state for what comes now."
        )
    _refuse_hard_links(path)
    write_atomically(path, written.encode())


def read_state(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """The content of a state file of this kind, which its digest shows to be undamaged (it is no signature)."""
    path = Path(path)
    if not stat.S_ISREG(path.stat().st_mode):
        raise StateFileError(f"{path} is not a regular file; a state is read from one.")
    if path.stat().st_size > _LARGEST:
        raise StateFileError(f"{path} has {path.stat().st_size:,} bytes; no state has more than {_LARGEST:,}.")
    try:
        record = _parsed(path.read_bytes())
    except (RecursionError, ValueError) as error:
        raise StateFileError(f"{path} is not the state of a monitor: {error!s:.200}") from error
    if record.get("format") != _FORMAT or not isinstance(record.get("content"), dict):
        raise StateFileError(f"{path} is not the state of a monitor.")
    if record.get("schema_version") != SCHEMA_VERSION:
        raise StateFileError(
            f"{path} has schema version {record.get('schema_version')!r:.20}; this certivote reads {SCHEMA_VERSION}. "
            "Install the version of certivote that wrote it, or a newer one."
        )
    if record.get("kind") != kind:
        raise StateFileError(f"{path} is the state of another kind of monitor: {record.get('kind')!r:.40}.")
    content: dict[str, Any] = record["content"]
    if record.get("digest") != _digest(content):
        raise StateFileError(f"{path} is damaged: its content does not have the digest that was written with it.")
    return content


def _parsed(content: bytes) -> dict[str, Any]:
    if sum(content.count(mark) for mark in b",[{") > _MOST_VALUES:
        raise ValueError("it has more values than states have")
    record = json.loads(content.decode(), parse_constant=_refuse, object_pairs_hook=_without_repetition)
    if not isinstance(record, dict):
        raise ValueError("its JSON is no object")
    return record


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of a state")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name occurs twice in its JSON")
    return record


def _digest(content: dict[str, Any]) -> str:
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"))
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


# Values, each of which may be anything


def whole(value: Any, least: int, most: int, what: str) -> int:
    """A whole number in a range."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{what} is {value!r:.40}, which it cannot be")
    return value


def number(value: Any, least: float, most: float, what: str) -> float:
    """A finite number in a range."""
    if type(value) not in (int, float) or not (least <= value <= most) or not math.isfinite(value):
        raise ValueError(f"{what} is {value!r:.40}, which it cannot be")
    return float(value)


def text(value: Any, what: str, longest: int = 64) -> str:
    """A short text that can be shown."""
    if not isinstance(value, str) or len(value) > longest or not (value.isprintable() or longest > 64):
        raise ValueError(f"{what} is {value!r:.40}, which it cannot be")
    return value


def items(value: Any, what: str, length: int | None = None, most: int = 1 << 20) -> list[Any]:
    """A list."""
    if not isinstance(value, list) or len(value) > most or (length is not None and len(value) != length):
        raise ValueError(f"{what} is no list of the right length")
    return value


def digests_of(digests: NDArray[np.uint64]) -> str:
    """Digests of names as text."""
    return base64.b64encode(digests.astype("<u8").tobytes()).decode()


def digests_from(value: Any, what: str) -> NDArray[np.uint64]:
    """What :func:`digests_of` has written."""
    content = base64.b64decode(text(value, what, _LARGEST), validate=True)
    if len(content) % 8:
        raise ValueError(f"{what} are no digests")
    digests = np.frombuffer(content, dtype="<u8").astype(np.uint64)
    if np.any(digests[1:] <= digests[:-1]):
        raise ValueError(f"{what} are not in order")
    return digests


def total_from(value: Any) -> Counted:
    """What became of all rows."""
    counts = [whole(count, 0, LARGEST_COUNT, "total") for count in items(value, "total", 5)]
    total = Counted(*counts)
    if total.rows != total.counted + total.repeated + total.later or total.entities > total.counted:
        raise ValueError("the rows do not add up")
    return total


def told_from(value: Any, n: int) -> list[tuple[int, str]]:
    """How many outcomes there were when, of which the last must be all."""
    told: list[tuple[int, str]] = []
    for entry in items(value, "calls", most=_MOST_CALLS):
        count, when = items(entry, "calls", 2)
        told.append((whole(count, told[-1][0] if told else 0, n, "calls"), text(when, "calls")))
    if (told[-1][0] if told else 0) != n:
        raise ValueError("the outcomes do not add up")
    return told


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

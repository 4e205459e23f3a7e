"""Files that are written whole or not at all, and what is written to as it is: devices, pipes and open files."""

import errno
import os
import re
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_OPEN_FILE = re.compile(r"/dev/fd/(\d+)|/proc/(?:self|thread-self)/fd/(\d+)")
_UNFINISHED = ".unfinished"
_LONGEST = 100
"""Bytes of a name that the name of its unfinished file begins with: file systems allow about 250 in all."""


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place when the block ends; an error or an interrupt leaves nothing.

    A symbolic link is followed: the file that it names is replaced, with its permissions, and the link stays. Devices,
    pipes and files that are open already (``/dev/stdout``, ``/dev/fd/3``) are written to directly.

    Until the block ends, what is written is in the same folder, in a file whose name begins with a dot and ends with
    ``.unfinished``. A process that is killed leaves it there; the next one to write a file of that name removes it.

    Raises
    ------
    OSError
        Before anything is written, if :func:`check_writable` finds a reason; or later, as from a full disk. The message
        names the path.
    """
    place = _place(path)
    try:
        if isinstance(place, int):
            with os.fdopen(os.dup(place), "wb") as file:
                yield file
            return
        _check(place, path)
        mode = _mode(place)
        if mode is not None and not stat.S_ISREG(mode):
            with os.fdopen(os.open(place, os.O_WRONLY), "wb") as file:
                yield file
            return
        prefix = _prefix(place)
        _remove_stale(place.parent, prefix)
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f"{prefix}{_process()}.", suffix=_UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            os.chmod(name, _usual_mode() if mode is None else stat.S_IMODE(mode))
            os.replace(name, place)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        if error.errno is not None and error.filename is None:  # a full disk does not say whose write it ended
            error.filename = os.fspath(path)
        raise


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file at once: readers see the old content or the new, never a part. See :func:`atomic_file`."""
    with atomic_file(path) as file:
        file.write(content)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find out before the work whether its result could be written; nothing is changed.

    Raises
    ------
    OSError
        If the path is that of a folder, its folder does not exist or may not be written to, or the file that is there
        is read-only. The message names the path.

    Examples
    --------
    >>> check_writable("nowhere/answers.csv")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] the folder does not exist: 'nowhere'
    """
    place = _place(path)
    if not isinstance(place, int):
        _check(place, path)


def _check(place: Path, given: str | os.PathLike[str]) -> None:
    mode = _mode(place)
    if mode is not None:
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "this is a folder, and a file is wanted", os.fspath(given))
        # Whoever may do anything may still not want to lose a file that was locked against changes.
        if not os.access(place, os.W_OK) or not mode & 0o222:
            raise PermissionError(errno.EACCES, "the file is read-only", os.fspath(given))
        if not stat.S_ISREG(mode):
            return
    folder = place.parent if os.path.islink(given) else Path(given).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", os.fspath(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "the folder may not be written to", os.fspath(folder))


def _place(path: str | os.PathLike[str]) -> Path | int:
    """What a path leads to: another path, or the number of an open file."""
    place = os.fspath(path)
    for _ in range(40):
        if found := _OPEN_FILE.fullmatch(place):
            return int(found[1] or found[2])
        if not os.path.islink(place):
            return Path(os.path.realpath(place))
        place = os.path.join(os.path.dirname(place), os.readlink(place))
    raise OSError(errno.ELOOP, "links lead to one another", os.fspath(path))


def _mode(place: Path) -> int | None:
    try:
        return place.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _usual_mode() -> int:
    """As any new file: the temporary one is the owner's alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# Files of runs that were killed ---------------------------------------------------------------------------------------


def _prefix(place: Path) -> str:
    return f".{os.fsencode(place.name)[:_LONGEST].decode(errors='ignore')}."


def _process() -> str:
    """The number of this process, and its machine: several may write to one folder."""
    host = re.sub(r"[^A-Za-z0-9_-]", "_", socket.gethostname())[:_LONGEST]
    return f"{os.getpid()}@{host}"


def _remove_stale(folder: Path, prefix: str) -> None:
    """Remove what processes of this machine that are gone have left of the same file."""
    if os.name != "posix":
        return  # there is no way to ask for a process that is sure not to end it
    _, _, host = _process().partition("@")
    known = re.compile(rf"{re.escape(prefix)}(\d+)@{re.escape(host)}\.[^.]+{re.escape(_UNFINISHED)}")
    with suppress(OSError):  # that is for tidiness only
        for name in os.listdir(folder):
            found = known.fullmatch(name)
            if found and not _is_running(int(found[1])):
                os.unlink(folder / name)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True

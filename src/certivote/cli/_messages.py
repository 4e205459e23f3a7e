"""How a command speaks and ends: lines on standard error, each of which says what is wrong and what to do."""

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from certivote.present import plain_text


def say(message: str, err: bool = False) -> None:
    """A line; what cannot be printed, such as a file may bring, is written as an escape."""
    typer.echo(plain_text(message), err=err)


def complain(message: str) -> None:
    """A line on standard error."""
    say(f"certivote: {message}", err=True)


def fail(message: str) -> NoReturn:
    """A line on standard error, and the end."""
    complain(message)
    sys.exit(1)


def reason(error: Exception) -> str:
    """What went wrong, in one line that names the file if it is about one."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:  # files have names
        return f"standard output: {error.strerror}."
    return str(error)


@contextmanager
def ending_in_a_line() -> Iterator[None]:
    """End with a line where the input cannot be used, or a package or a file is missing."""
    try:
        yield
    except BrokenPipeError:
        raise  # who reads the result has read enough: no message
    except (OSError, ValueError, ImportError) as error:
        fail(reason(error))


@contextmanager
def naming(option: str) -> Iterator[None]:
    """End with a line that names the option, if its value is refused."""
    try:
        yield
    except ValueError as error:
        fail(f"{option}: {error}")


@contextmanager
def warnings_as_lines(quiet: bool) -> Iterator[None]:
    """Show warnings as lines when the block is done, each once; or none at all."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    if not quiet:
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            complain(f"warning: {message}")

"""Where results go: checked before the work, so that no file is lost by a wrong name and no work is wasted."""

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.certificate import Certificate, Record, called
from certivote.cli._messages import fail, naming, say
from certivote.cli._options import Options
from certivote.io import check_writable, write_atomically
from certivote.present import plain_text

Out = Annotated[Path | None, typer.Option(help="Where to write the certificate as JSON; - prints it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs to read.")]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing but errors and what is asked for by --json or by - as a file."),
]
_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_READ = {"CERTIFICATE": "the certificate", "SOURCE": "the certificate", "MODEL": "the model", "DATA": "the table"}
_Identity = tuple[int, int]
"""Device and number: the same for all names of a file."""


@dataclass(frozen=True, kw_only=True)
class Output(Options):
    """What is printed."""

    as_json: AsJson = False
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class Printing(Output):
    """What is printed, and how much of it.

    Attributes
    ----------
    details
        Print all that there is to say, and not only what matters most.
    """

    details: bool = False


@dataclass(frozen=True, kw_only=True)
class Wording(Printing):
    """The same, and what things are called there.

    Attributes
    ----------
    unit
        What --group is about, for print and page to say: patients, or person/people where the plural does not end
        with s. [default: groups]
    """

    unit: str | None = None

    def __post_init__(self) -> None:
        check_unit(self.unit)


@dataclass(frozen=True, kw_only=True)
class Page(Options):
    """A certificate as a web page.

    Attributes
    ----------
    report
        Where to write the certificate as a web page.
    title
        Heading of the web page. [default: A certified model]
    """

    report: Path | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        if is_standard_output(self.report):
            fail("--report: give the name of a file; `certivote report` prints a page.")
        check_title(self.title, self.report)

    def write(self, certificate: Certificate, command: str, unit: str | None) -> None:
        """Write the page, if one is asked for; ``command`` verifies the certificate."""
        if self.report is not None:
            write_page(certificate, self.report, title=self.title, command=command, unit=unit)

    def write_record(self, record: Record, command: str) -> None:
        """The same of a record of another kind."""
        if self.report is not None:
            write_page(record, self.report, title=self.title or "A certified model", command=command)


def is_standard_output(path: Path | None) -> bool:
    """Whether a path stands for it."""
    return str(path) in _OUTPUT


def check_files(inputs: Mapping[str, Path | None], outputs: Mapping[str, Path | None]) -> None:
    """End before the work, if a result could not be written, or would replace what is read or another result.

    Standard input can be one file only.

    Parameters
    ----------
    inputs, outputs : mapping of str to path or None
        By the option or argument that named them. ``-`` is standard input and standard output.
    """
    read = {name: path for name, path in inputs.items() if path is not None}
    piped = [name for name, path in read.items() if str(path) == "-"]
    if len(piped) > 1:
        fail(f"{piped[1]}: standard input is {_READ.get(piped[0], piped[0])} already.")
    written = {name: path for name, path in outputs.items() if path is not None and not is_standard_output(path)}
    for name, path in written.items():
        try:
            check_writable(path)
        except OSError as error:
            fail(f"{name}: {error.filename}: {error.strerror}.")
    printed = _identity_of_open(1)
    sources = {name: _identity_of_open(0) if str(path) == "-" else _identity(path) for name, path in read.items()}
    for name, source in sources.items():
        if source is None:
            continue
        if source == printed:
            fail(f"standard output goes to {read[name]}, which is what {name} reads; print to another file.")
        for other, path in written.items():
            if _identity(path) == source:
                fail(f"{other}: {path} is what {name} reads, and would be replaced; give another name.")
    _check_apart(written)


def _check_apart(written: Mapping[str, Path]) -> None:
    seen: dict[object, str] = {}
    for name, path in written.items():
        if path.exists() and stat.S_ISCHR(path.stat().st_mode):
            continue  # a device takes several results
        # Where there is no file yet: many file systems take names that differ in case for one.
        spelled = unicodedata.normalize("NFC", os.path.realpath(path)).casefold()
        for place in (spelled, _identity(path)):
            if place is not None and place in seen:
                first = seen[place]
                fail(f"{first}, {name}: {written[first]} and {path} are one file; give each result a name of its own.")
            seen[place] = name


def _identity(path: Path) -> _Identity | None:
    with suppress(OSError):
        found = path.stat()
        if stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode):
            return found.st_dev, found.st_ino
    return None


def _identity_of_open(number: int) -> _Identity | None:
    """That of a file which the shell has opened for standard input or output; None for terminals and pipes."""
    with suppress(OSError):
        found = os.fstat(number)
        if stat.S_ISREG(found.st_mode):
            return found.st_dev, found.st_ino
    return None


def check_folder(option: str, folder: Path) -> None:
    """End before the work, if a folder for results cannot be written to, or made."""
    place = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    if not place.is_dir():
        fail(f"{option}: {place}: this is a file, not a folder.")
    if not os.access(place, os.W_OK | os.X_OK):
        fail(f"{option}: {place}: the folder may not be written to.")


def check_title(title: str | None, report: Path | None) -> None:
    """End if there is a heading and no page."""
    if title is not None and report is None:
        fail("--title: give --report with it, the page that has this heading.")


def check_unit(unit: str | None) -> None:
    """End if this cannot be what rows belong to."""
    with naming("--unit"), called(unit):
        pass


def write_page(shown: Any, path: Path, **content: Any) -> None:
    """Write the page of a certificate or of a monitor; end with a line if that cannot be done."""
    try:
        with writing("--report", path):
            shown.report(path, **content)
    except ImportError as error:
        fail(f"--report: {error}")


def print_result(text: str) -> None:
    """Print a result as it is, in UTF-8; on a terminal, without what could move its cursor."""
    if sys.stdout.isatty():
        typer.echo(re.sub(r"[^\n\t]+", lambda part: plain_text(part[0]), text), nl=False)
    else:
        typer.echo(text.encode(), nl=False)


def write_certificate(certificate: Certificate | Record, out: Path | None) -> None:
    """Write it as JSON, if ``--out`` names a file."""
    if out is not None and not is_standard_output(out):
        with writing("--out", out):
            write_atomically(out, _record(certificate).encode())


def show_certificate(certificate: Certificate, printing: Wording, written: Mapping[str, Path | None]) -> None:
    """Print it, in words or as JSON, and say what was written where."""
    as_json = printing.as_json or is_standard_output(written["Certificate"])
    if as_json:
        print_result(_record(certificate))
    if printing.quiet:
        return
    if not as_json:
        with called(printing.unit):
            typer.echo(f"{certificate.details() if printing.details else certificate}\n")
    for what, path in written.items():
        if path is not None and not is_standard_output(path):
            say(f"{what} written to {path}.", err=as_json)


def show_record(record: Record, printing: Output, written: Mapping[str, Path | None]) -> None:
    """The same of a record of another kind."""
    as_json = printing.as_json or is_standard_output(written["Certificate"])
    if as_json:
        print_result(_record(record))
    if printing.quiet:
        return
    if not as_json:
        typer.echo(f"{record}\n")
    for what, path in written.items():
        if path is not None and not is_standard_output(path):
            say(f"{what} written to {path}.", err=as_json)


def _record(certificate: Certificate | Record) -> str:
    return f"{certificate.to_json()}\n"


@contextmanager
def writing(option: str, path: Path) -> Iterator[None]:
    """End with a line that names the file, if the block cannot write it after all."""
    try:
        yield
    except BrokenPipeError:
        raise  # who reads it has read enough: no message
    except OSError as error:
        fail(f"{option}: {path}: {error.strerror or error}.")

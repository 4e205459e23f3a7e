"""A table as bytes and as text: where it comes from, how it is encoded, and what separates its columns."""

import codecs
import csv
import gzip
import hashlib
import io
import os
import re
import stat
import sys
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, TextIO

_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_NAMED = {"tab": "\t", r"\t": "\t"}
_SHOWN = {"\t": "tab"}
_SAMPLE = 1 << 16
"""Characters at the beginning by which the separator is found."""
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Marks that a text may begin with, and its encoding then; that of UTF-16 is the beginning of one of UTF-32."""
_PACKED = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook of an old format",
    b"BZh": "packed by bzip2",
    b"\xfd7zXZ\x00": "packed by xz",
    b"\x28\xb5\x2f\xfd": "packed by zstd",
}


class TableError(ValueError):
    """The file cannot be used as it is; the message says where and why."""


def is_parquet(path: Path) -> bool:
    """Whether the name says that this is a parquet file."""
    return path.suffix.lower() in (".parquet", ".pq")


class TableFile:
    r"""A file, pipe or standard input that holds a table, and how it is written there.

    What comes through a pipe can be read only once. It is read whole when it is first needed, and kept, so all that is
    done with one ``TableFile`` sees the same rows.

    Parameters
    ----------
    path : Path
        Of a CSV file, which may be packed by gzip, of a parquet file or an Excel workbook (.xlsx); ``-`` is standard
        input.
    sep : str, optional
        The character between the columns of a CSV file, or ``tab``. By default the one of comma, semicolon, tab and bar
        that makes columns of the first lines; where two of them do, reading the table is refused.
    decimal : {".", ","}, optional
        The decimal mark. By default it is the point, and columns of numbers with commas are refused; where a point is
        asked for, they are text.
    encoding : str, optional
        As Python names it, such as ``latin-1``. By default UTF-8, or what a mark at the beginning of the file says.
    sheet : str, optional
        Of a workbook; by default the only one that holds something.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "patients.csv")
    ...     _ = path.write_text("age;weight\n31;70,5\n")
    ...     TableFile(path).separator
    ';'
    """

    def __init__(
        self,
        path: Path,
        sep: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
    ) -> None:
        self.path = path
        self._sep = None if sep is None else _NAMED.get(sep, sep)
        self.decimal = decimal
        self.encoding = encoding
        self.sheet = sheet
        self.frame: Any = None
        """The rows of a workbook, once they have been read."""
        if self._sep is not None and (len(self._sep) != 1 or not self._sep.isascii() or self._sep in '"\r\n\0'):
            raise ValueError(f"sep must be one character, such as ; or ',', or tab; got {sep!r}.")
        if self._sep is not None and self._sep.isalnum():
            raise ValueError(f"sep must be no letter and no digit; got {sep!r}.")
        if decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be . or a comma; got {decimal!r}.")
        if encoding is not None and not _is_encoding(encoding):
            raise ValueError(
                f"encoding must be the name of one, such as utf-8, latin-1 or utf-16-le; got {encoding!r}."
            )

    def __str__(self) -> str:
        """What messages call it."""
        return "standard input" if self._is_standard_input else str(self.path)

    @property
    def name(self) -> str:
        """The name of the file without its folder; ``standard input``, or ``a pipe``."""
        if self._is_standard_input:
            return "standard input"
        if re.fullmatch(r"/dev/fd/\d+|/proc/\w+/fd/\d+", str(self.path)):
            return "a pipe"
        # Names on disk may be no text, or hold what is a folder's end elsewhere.
        return os.fsencode(self.path.name).decode(errors="replace").replace("\\", "_")

    @property
    def _is_standard_input(self) -> bool:
        return str(self.path) in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

    # Bytes ------------------------------------------------------------------------------------------------------------

    @cached_property
    def content(self) -> bytes | None:
        """What came through a pipe; None for a file, which can be read again."""
        if str(self.path) == "-":
            return read_standard_input()
        mode = os.stat(self.path).st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            return None
        with self.path.open("rb") as file:
            if stat.S_ISCHR(mode) and not file.isatty():
                raise TableError(f"{self}: this is a device, not a table.")
            return file.read()

    def open(self) -> io.BufferedReader | io.BytesIO:
        """The bytes from the beginning, as they are stored."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def digest(self) -> str:
        """The SHA-256 of the bytes as they are stored, in hexadecimal digits."""
        with self.open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def _head(self) -> bytes:
        with self.open() as file:
            return file.read(16)

    @property
    def is_parquet(self) -> bool:
        """Whether the name or the content says so; anything else is read as CSV."""
        return is_parquet(self.path) or self._head.startswith(b"PAR1")

    @cached_property
    def is_workbook(self) -> bool:
        """Whether the content says so."""
        return self._head.startswith(b"PK\x03\x04")

    @property
    def has_types(self) -> bool:
        """Whether values have types of their own, and are not text."""
        return self.is_parquet or self.is_workbook

    @property
    def text_options(self) -> str:
        """The options that were given and that only text needs, as the command line spells them."""
        given = {"--sep": self._sep, "--encoding": self.encoding}
        return " and ".join(name for name, value in given.items() if value is not None)

    # Text -------------------------------------------------------------------------------------------------------------

    def text(self) -> TextIO:
        """The text from the beginning, without a mark, with line ends as they are."""
        codec = self.codec  # before a file is opened that would never be closed
        return io.TextIOWrapper(self._unpacked(), encoding=codec, newline="")

    @property
    def packed(self) -> bool:
        """Whether the text is packed by gzip."""
        return self.path.suffix.lower() == ".gz" or self._head.startswith(b"\x1f\x8b")

    def _unpacked(self) -> BinaryIO:
        if self.packed:
            return gzip.open(self.path if self.content is None else io.BytesIO(self.content), "rb")  # type: ignore[return-value]
        return self.open()

    @cached_property
    def codec(self) -> str:
        """The encoding, given or found."""
        with self._unpacked() as file:
            head = file.read(1 << 12)
        for begin, what in _PACKED.items():
            if head.startswith(begin):
                raise TableError(f"{self}: this is {what}; give it as CSV (.csv, .csv.gz), .xlsx or parquet.")
        marked = next((codec for mark, codec in _MARKS.items() if head.startswith(mark)), None)
        if marked is not None:
            family = marked.removesuffix("-sig")
            if self.encoding is not None and not codecs.lookup(self.encoding).name.startswith(family):
                raise TableError(f"{self}: the text begins with the mark of {family.upper()}: leave out --encoding.")
            return marked
        if self.encoding is None and b"\0" in head:
            guess = "utf-16-le" if head[0] else "utf-16-be"
            raise TableError(f"{self}: not a UTF-8 text file (it holds NUL); perhaps give --encoding {guess}.")
        return self.encoding or "utf-8"

    def line(self, number: int) -> int:
        """The number in the file of a line of the text."""
        return number

    def not_decodable(self, reason: str) -> TableError:
        """What to say of bytes that are no text in the encoding."""
        if self.encoding is None:
            return TableError(
                f"{self}: not a UTF-8 text file ({reason}); give its --encoding, such as latin-1, cp1252 or utf-16."
            )
        return TableError(f"{self}: not a text file in the encoding {self.encoding} ({reason}).")

    @cached_property
    def separator(self) -> str:
        """The character between the columns of a CSV file, given or found."""
        if self._sep is not None:
            return self._sep
        with self.text() as file:
            sample = file.read(_SAMPLE)
        widths = {mark: _widths(sample, mark) for mark in _SEPARATORS}
        steady = [mark for mark, found in widths.items() if found and found[0] > 1 and len(set(found)) == 1]
        if len(steady) > 1:
            which = " or ".join(_SEPARATORS[mark] for mark in steady)
            options = " or ".join(f"--sep {_SHOWN.get(mark, repr(mark))}" for mark in steady)
            raise TableError(f"{self}: {which} may separate the columns; say which by {options}.")
        # Where some lines do not fit, the header decides, and the lines are complained about.
        wide = [mark for mark, found in widths.items() if found and found[0] > 1]
        return [*steady, *wide, ","][0]


def read_standard_input() -> bytes:
    """All that comes through it."""
    if sys.stdin is None:
        raise TableError("standard input: it is closed.")
    return sys.stdin.buffer.read()


def _widths(sample: str, mark: str) -> list[int]:
    """How many columns each line has, if this character separates them."""
    try:
        rows = list(csv.reader(io.StringIO(sample, newline=""), delimiter=mark))
    except csv.Error:
        return []
    if len(sample) == _SAMPLE and len(rows) > 1:
        rows.pop()  # it may be cut off
    return [len(row) for row in rows if row and (len(row) > 1 or row[0].strip())]


def _is_encoding(name: str) -> bool:
    try:
        return "a,1\n".encode(name).decode(name) == "a,1\n"
    except (LookupError, UnicodeError, ValueError):
        return False

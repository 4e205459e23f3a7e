"""Reading what anyone may have written: JSON in which every value must be what the annotation of its place says.

A record is a dataclass, and its fields say what they hold: ``int``, ``float`` (finite; whole numbers count as floats),
``str`` (without halves of surrogate pairs), ``bool``, ``bytes`` (as base64), ``Literal``, ``X | None`` and other
unions, ``tuple[X, ...]``, ``tuple[X, Y]``, ``dict[str, X]``, other records, and ``Any`` for any JSON value that is not
too deep. Limits stand beside the field that they limit: ``Annotated[int, Within(0, 9)]``. All fields must be there, and
no others. What only the record as a whole can tell is asked of its ``check`` method, if it has one.

Rooms that store more than JSON has, such as arrays, derive from :class:`Reader` and say how these are read.
"""

import base64
import dataclasses
import functools
import itertools
import json
import math
import operator
import re
import reprlib
import sys
import types
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

__all__ = [
    "LARGEST",
    "LONGEST",
    "CodecError",
    "Count",
    "FileError",
    "Longest",
    "Names",
    "Reader",
    "Share",
    "Within",
    "any_value",
    "at",
    "parse",
    "printable",
    "read",
    "shown",
    "write",
]

LARGEST = 1 << 53
"""Whole numbers beyond this are no counts, and no floats either."""
LONGEST = 1 << 28
"""Characters of the longest text that is read: a certificate of a million voters has fewer."""
_MOST_VALUES = 1 << 24
"""Values in a text, each of which takes more memory than its characters."""
_LONGEST_MESSAGE = 10_000
_DEEPEST = 20
"""Lists in lists that any JSON value may have."""
_HALF = re.compile("[\ud800-\udfff]")
_SHORT = reprlib.Repr()

T = TypeVar("T")
Read = Callable[[Any], Any]
_hints = functools.cache(functools.partial(get_type_hints, include_extras=True))


class CodecError(ValueError):
    """What was read is not what belongs in its place. The message names the place and says what is allowed there.

    Attributes
    ----------
    problem : str
    places : list of str
        Where it is, such as ``.parts`` and ``[0]``, the innermost first.
    """

    def __init__(self, problem: str):
        self.problem, self.places = problem, list[str]()

    def __str__(self) -> str:
        place = "".join(reversed(self.places)).removeprefix(".")
        return f"{place or 'it'} {self.problem}"


class FileError(ValueError):
    """What is wrong with a file. Of what the file says it repeats only what a terminal can show."""

    def __init__(self, message: str):
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message[:_LONGEST_MESSAGE]))


@contextmanager
def at(place: str) -> Iterator[None]:
    """Whatever is refused inside is in this place of the record.

    Examples
    --------
    >>> with at(".parts[0]"):
    ...     raise CodecError("has 7 errors in 5 rows")
    Traceback (most recent call last):
    certivote.codec.CodecError: parts[0] has 7 errors in 5 rows
    """
    try:
        yield
    except CodecError as error:
        error.places.append(place)
        raise


def shown(value: Any) -> str:
    """The beginning of a value that may be long."""
    return f"{_SHORT.repr(value):.60}"


# Limits, as annotations


class Within:
    """Numbers in an interval, whose ends belong to it or not, as for scikit-learn's ``Interval``.

    Examples
    --------
    >>> Within(0, 1, closed="right")(0.0)
    Traceback (most recent call last):
    certivote.codec.CodecError: it must be in (0, 1]; got 0.0
    """

    def __init__(self, least: float, most: float, closed: Literal["both", "left", "right", "neither"] = "both"):
        self._includes_least, self._includes_most = closed in ("both", "left"), closed in ("both", "right")
        self._least = least if self._includes_least else math.nextafter(least, math.inf)
        self._most = most if self._includes_most else math.nextafter(most, -math.inf)
        self._ends = f"{least}, {most}"

    def __call__(self, value: float) -> None:
        if not self._least <= value <= self._most:
            interval = f"{'(['[self._includes_least]}{self._ends}{')]'[self._includes_most]}"
            raise CodecError(f"must be in {interval}; got {shown(value)}")


class Longest:
    """Texts and lists of up to a number of characters or entries."""

    def __init__(self, most: int):
        self._most = most

    def __call__(self, value: Sequence[Any]) -> None:
        if len(value) > self._most:
            raise CodecError(f"must have a length of at most {self._most:,}; got {len(value):,}")


class Names:
    """Names in a registry, to which other packages may add. A name is compared, and nothing is done with it."""

    def __init__(self, known: Collection[str]):
        self._known = known

    def __call__(self, value: str) -> None:
        if value not in self._known:
            known = ", ".join(self._known)
            raise CodecError(f"must be one of {known}, or registered by the module that defines it; got {shown(value)}")


def printable(value: str) -> None:
    """Texts that a terminal can show."""
    if not value.isprintable():
        raise CodecError(f"must be a printable text; got {shown(value)}")


Count = Annotated[int, Within(0, LARGEST)]
"""How many of something."""
Share = Annotated[float, Within(0.0, 1.0)]
"""A probability, or a part of a whole."""


# Texts


def parse(content: str | bytes | bytearray, longest: int = LONGEST, most_values: float = _MOST_VALUES) -> Any:
    """The value that a JSON text holds: of a bounded size, without repeated keys, NaN, infinities and endless numbers.

    Raises
    ------
    CodecError

    Examples
    --------
    >>> parse('{"n": 1, "n": 2}')
    Traceback (most recent call last):
    certivote.codec.CodecError: it is not JSON that can be read: an object has 'n' more than once
    """
    try:
        if len(content) > longest:
            raise ValueError(f"it has {len(content):,} characters, and at most {longest:,} are read")
        text = content if isinstance(content, str) else content.decode()
        if sum(map(text.count, ",[{")) > most_values:
            raise ValueError(f"it has more than {most_values:,.0f} values")
        # Python itself reads no number of more than 4,300 digits.
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_without_repetition)
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise CodecError(f"is not JSON that can be read: {problem}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a finite number")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which every reader takes the same value: JSON leaves open which of two equal keys counts."""
    record = dict(pairs)
    if len(record) < len(pairs):
        name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has {shown(name)} more than once")
    return record


def write(record: Any, *, ensure_ascii: bool = False, **options: Any) -> str:
    """A record as JSON; :func:`read` gives back an equal one. Options are those of :func:`json.dumps`."""
    return json.dumps(record, default=_as_json, allow_nan=False, ensure_ascii=ensure_ascii, **options)


def _as_json(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _stored(type(value))}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"JSON has no {type(value).__name__}.")


# Records


def read(kind: type[T], value: Any) -> T:
    """The record of this type that a parsed JSON value holds, after its own ``check``.

    Raises
    ------
    CodecError

    Examples
    --------
    >>> @dataclasses.dataclass
    ... class Part:
    ...     n: Count
    ...     risks: tuple[Share, ...]
    >>> read(Part, parse('{"n": 3, "risks": [0, 0.5]}'))
    Part(n=3, risks=(0.0, 0.5))
    >>> read(Part, parse('{"n": 3, "risks": [0, 1.5]}'))
    Traceback (most recent call last):
    certivote.codec.CodecError: risks[1] must be in [0.0, 1.0]; got 1.5
    """
    found: T = _READER.reader(kind)(value)
    if hasattr(found, "check"):
        found.check()
    return found


class Reader:
    """What reads values of annotated types; a derived class may add to :meth:`reader` what it knows besides."""

    def __init__(self) -> None:
        self._fields: dict[type[Any], dict[str, Read]] = {}

    def reader(self, wanted: Any) -> Read:
        """A function that turns a JSON value into one of this type, or raises a :class:`CodecError`."""
        origin, inner = get_origin(wanted), get_args(wanted)
        if wanted in _SCALARS:
            return _SCALARS[wanted]
        if origin is Annotated:
            return functools.reduce(_limited, inner[1:], self.reader(inner[0]))
        if origin is Literal:
            return _limited(_text, Names(inner))
        if origin in (Union, types.UnionType):
            return self._one_of(inner)
        if origin is tuple:
            return self._list(inner)
        if origin is dict:
            return self._dictionary(inner[1])
        if dataclasses.is_dataclass(wanted):
            return functools.partial(self.record, wanted)
        raise TypeError(f"There is no reader for {wanted}.")

    def record(self, kind: Any, value: Any) -> Any:
        """A dataclass from an object with a value for each field that is stored."""
        if type(value) is not dict:
            raise _other("an object", value)
        if kind not in self._fields:
            hints = _hints(kind)
            self._fields[kind] = {name: self.reader(hints[name]) for name in _stored(kind)}
        fields, made = self._fields[kind], {}
        if missing := fields.keys() - value.keys():
            raise CodecError(f"lacks {', '.join(sorted(missing))}")
        if unknown := value.keys() - fields.keys():
            raise CodecError(f"has unknown fields, such as {shown(min(unknown))}")
        try:
            for name, reader in fields.items():
                made[name] = reader(value[name])
        except CodecError as error:
            error.places.append(f".{name}")
            raise
        return kind(**made)

    def _list(self, inner: Sequence[Any]) -> Read:
        """Values of one type, or one of each of these types."""
        length = None if inner[-1] is Ellipsis else len(inner)
        readers = [self.reader(each) for each in inner] if length else itertools.repeat(self.reader(inner[0]))

        def read_list(value: Any) -> tuple[Any, ...]:
            if type(value) is not list or length not in (None, len(value)):
                raise _other(f"a list of {length} values" if length else "a list", value)
            found: list[Any] = []
            try:
                found.extend(map(operator.call, readers, value))
            except CodecError as error:
                error.places.append(f"[{len(found)}]")
                raise
            return tuple(found)

        return read_list

    def _dictionary(self, inner: Any) -> Read:
        reader = self.reader(inner)

        def read_dictionary(value: Any) -> dict[str, Any]:
            if type(value) is not dict:
                raise _other("an object", value)
            found = {}
            for key, each in value.items():
                with at(f"[{shown(key)}]"):
                    found[_text(key)] = reader(each)
            return found

        return read_dictionary

    def _one_of(self, kinds: Sequence[Any]) -> Read:
        """Of a union, the first type that the value fits."""
        readers = [self.reader(kind) for kind in kinds if kind is not types.NoneType]

        def read_one(value: Any) -> Any:
            if value is None and types.NoneType in kinds:
                return None
            refused = []
            for reader in readers:
                try:
                    return reader(value)
                except CodecError as error:
                    refused.append(error)
            raise max(refused, key=lambda error: len(error.places))

        return read_one


def _stored(kind: Any) -> list[str]:
    """The names of the fields that are written and read."""
    return [field.name for field in dataclasses.fields(kind) if field.metadata.get("stored", True)]


def _limited(reader: Read, limit: Callable[[Any], None]) -> Read:
    def read_limited(value: Any) -> Any:
        found = reader(value)
        limit(found)
        return found

    return read_limited


def _other(wanted: str, value: Any) -> CodecError:
    return CodecError(f"must be {wanted}; got {shown(value)}")


def _scalar(kind: type[Any], name: str) -> Read:
    def read_scalar(value: Any) -> Any:
        if type(value) is not kind:
            raise _other(name, value)
        return value

    return read_scalar


def _float(value: Any) -> float:
    if type(value) is int and -LARGEST <= value <= LARGEST:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        raise _other("a finite number", value)
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise _other("a text", value)
    if not value.isascii() and _HALF.search(value):
        raise CodecError("holds half of a surrogate pair, which is not a character and cannot be written")
    return value


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(_text(value), validate=True)
    except CodecError:
        raise
    except ValueError:
        raise _other("bytes as base64", value) from None


def any_value(value: Any, depth: int = _DEEPEST) -> Any:
    """Any JSON value that others can work with: numbers are no larger than floats, texts can be written."""
    if isinstance(value, list | dict):
        if not depth:
            raise CodecError("is nested too deeply")
        for each in value if isinstance(value, list) else [*value, *value.values()]:
            any_value(each, depth - 1)
    elif isinstance(value, str):
        _text(value)
    elif type(value) in (int, float) and not abs(value) <= sys.float_info.max:
        raise _other("a number that a float can be", value)
    return value


_SCALARS: dict[Any, Read] = {
    bool: _scalar(bool, "true or false"),
    int: _scalar(int, "a whole number"),
    float: _float,
    str: _text,
    bytes: _bytes,
    Any: any_value,
}
_READER = Reader()

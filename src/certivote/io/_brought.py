"""What users brought: classifiers and transformers of any library, which plain data cannot hold.

They are written by skops, as data from which objects are made again. Making them runs code of the libraries that they
are from, so they are made only if the reader has named every one of their types.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from certivote.io._archive import ModelFileError, check_sizes, text_of

_PLAIN = frozenset(
    f"builtins.{name}" for name in ("bool", "bytes", "dict", "float", "int", "list", "set", "slice", "str", "tuple")
) | frozenset(
    f"numpy.{name}"
    for name in ("bool", "float32", "float64", "int32", "int64", "intp", "ndarray", "uint8", "uint32", "uint64")
)
_VALUES = frozenset(
    f"{name}Node"
    for name in ("Bytearray", "Bytes", "Cached", "Dict", "Json", "List", "NdArray", "Set", "Slice", "Tuple", "Type")
)
"""Types of values, and ways of reading them, that do nothing but hold what the file says."""


def pack(objects: Sequence[Any]) -> bytes:
    """The objects as skops writes them, after it has read them back."""
    for name in _remembering(objects):
        raise ValueError(
            f"A {name} has memory set: a model that reads and writes a cache cannot be stored. Set memory=None."
        )
    skops = _skops()
    try:
        content: bytes = skops.dumps(list(objects))
        skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    except Exception as error:  # an object's own code may raise anything
        names = ", ".join(sorted({type(item).__name__ for item in objects}))
        raise TypeError(f"The model holds objects that cannot be written to a file ({names}): {error}") from error
    return content


def unpack(content: bytes, trusted: Sequence[str], path: Path, most: int, others: Sequence[str]) -> list[Any]:
    """The objects, if every type of theirs is trusted, and the arrays that they hold take no more bytes than these.

    ``others`` are the versions that the file was written with, where they are not those here.

    Raises
    ------
    ModelFileError
        If the file holds other types, and nothing of it has been made then; or if it holds what no file may hold.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            _check_entries(file, len(content), most, path)
            # Of every few values the reader makes an object of its own.
            schema = json.loads(text_of(file, "schema.json", most // 4))
        _check_references(schema)
        found = types_in(schema)
    except ModelFileError:
        raise
    except Exception as error:  # a damaged file may make the reader raise anything
        raise ModelFileError(f"{path} cannot be read: {type(error).__name__}: {error!s:.200}") from error
    untrusted = sorted(found - set(trusted))
    if untrusted:
        raise ModelFileError(
            f"{path} holds classifiers or transformers that its user brought, of these types: {', '.join(untrusted)}. "
            "Opening them runs code of their libraries with what the file says. If you know where it is from and trust "
            f"it, name them: trusted={untrusted!r}, or --trust TYPE for each on the command line."
        )
    skops = _skops()
    try:
        objects = skops.loads(content, trusted=sorted(found & set(skops.get_untrusted_types(data=content))))
        for name in _remembering(objects):
            raise ModelFileError(f"{path} holds a {name} with memory=..., which would read and write files; none may.")
        for item in objects:
            if hasattr(item, "get_params"):
                item.get_params(deep=True)  # other versions may know parameters that it lacks
    except ModelFileError:
        raise
    except Exception as error:
        if others:
            raise ModelFileError(
                f"{path} holds classifiers or transformers that its user brought, which cannot be made again with the "
                f"versions here ({type(error).__name__}: {error!s:.200}). It was written with {', '.join(others)}; "
                "open it with these versions, or fit it again."
            ) from error
        raise ModelFileError(f"{path} cannot be read: {type(error).__name__}: {error!s:.200}") from error
    if not isinstance(objects, list):
        raise ModelFileError(f"{path} cannot be read: what was brought is no list.")
    return objects


def types_in(schema: Any) -> set[str]:
    """All types and functions that a description by skops names, but those of plain values."""
    return {name for node in _nodes(schema) for name in _names(node)}


def _names(node: dict[str, Any]) -> Iterator[str]:
    if "__class__" in node or "__module__" in node or "__loader__" in node:
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        if name not in _PLAIN or node.get("__loader__") not in _VALUES:
            yield name
    content = node.get("content")
    # Functions that are values themselves may be named inside, and so are methods.
    if isinstance(content, dict) and "module_path" in content:
        yield f"{content.get('module_path')}.{content.get('function')}"
    if isinstance(content, dict) and isinstance(content.get("func"), str):
        yield f"{node.get('__module__')}.{node.get('__class__')}.{content['func']}"


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _remembering(objects: Any) -> Iterator[str]:
    """Of all objects in these that have an attribute ``memory`` other than None, the name of their type."""
    stack, seen = [objects], set()
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple | set):
            stack.extend(item)
        elif isinstance(item, np.ndarray):
            stack.extend(item.ravel().tolist() if item.dtype == object else ())
        elif isinstance(fields := getattr(item, "__dict__", None), dict) and not isinstance(item, type):
            if fields.get("memory") is not None:
                yield type(item).__name__
            stack.extend(fields.values())


def _check_references(schema: Any) -> None:
    """Refuse entries that several objects refer to: the reader would make a copy for each."""
    references = [(node["file"], node.get("__id__")) for node in _nodes(schema) if "file" in node]
    owners = dict(references)
    if not all(owner and owners[file] == owner for file, owner in references):
        raise ValueError("several objects share an entry")


def _check_entries(file: zipfile.ZipFile, size: int, most: int, path: Path) -> None:
    """Refuse arrays that declare more than they hold, and everything that would unpack to more than it is.

    skops packs nothing, and what it does not write is not read: so entries have their size, and lie apart. Only a
    sparse matrix is an archive of its own, of arrays that are packed.
    """
    entries = file.infolist()
    if any(entry.compress_type or entry.compress_size != entry.file_size for entry in entries):
        raise ModelFileError(f"{path} is damaged: what was brought is packed in another way than models are.")
    left = most - check_sizes(file, size, path)
    for entry in entries:
        with file.open(entry) as content:
            start = content.read(8)
        # By what it begins with, as the reader decides, and not by its name.
        if start.startswith(np.lib.format.MAGIC_PREFIX):
            _check_array(file, entry, path)
        elif start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            with zipfile.ZipFile(io.BytesIO(file.read(entry))) as matrix:
                left -= check_sizes(matrix, left, path)
                for part in matrix.infolist():
                    _check_array(matrix, part, path)


def _check_array(file: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> None:
    with file.open(entry) as content:
        version = np.lib.format.read_magic(content)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, dtype = read[version](content)
    count = 1
    for length in shape:
        count *= int(length)
    if dtype.hasobject or count * dtype.itemsize > entry.file_size:
        raise ModelFileError(f"{path} is damaged: an array declares more than the file holds.")


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "A model of classifiers or transformers that you brought is saved and loaded by the package skops: install "
            "certivote[persist]."
        ) from error
    return skops.io

"""JSON Schemas of certificates and of the states of monitors: ``python docs/schemas.py`` writes them into the package.

They are derived from the annotations that the readers read by, so they say the same of types, names, ranges, lengths.
What no schema can say, such as that errors are no more than rows, the readers check besides.
"""

import dataclasses
import inspect
import json
import math
import re
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import certivote
from certivote import Certificate
from certivote.certificate import SCHEMA_VERSION
from certivote.codec import Longest, Names, Within, printable
from certivote.monitor import _drift_state, _monitor_state, _state

FOLDER = Path(certivote.__file__).parent / "schemas"
SCALARS: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    types.NoneType: {"type": "null"},
    Any: {},
}


def schema_of(wanted: Any, records: dict[str, Any]) -> dict[str, Any]:
    """The schema of an annotation; those of the records in it are collected."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if wanted in SCALARS:
        return dict(SCALARS[wanted])
    if origin is Annotated:
        found = schema_of(inner[0], records)
        for limit in inner[1:]:
            found |= limited(limit, found)
        return found
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(each, records) for each in inner]}
    if origin is tuple and inner[-1] is Ellipsis:
        return {"type": "array", "items": schema_of(inner[0], records)}
    if origin is tuple:
        return {"type": "array", "prefixItems": [schema_of(each, records) for each in inner], **_length(len(inner))}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1], records)}
    if dataclasses.is_dataclass(wanted):
        if wanted.__name__ not in records:
            records[wanted.__name__] = {}  # its place, before those of the records in it
            records[wanted.__name__] = record_of(wanted, records)
        return {"$ref": f"#/$defs/{wanted.__name__}"}
    raise TypeError(f"There is no schema for {wanted}.")


def _length(count: int) -> dict[str, Any]:
    return {"minItems": count, "maxItems": count}


def limited(limit: Any, found: dict[str, Any]) -> dict[str, Any]:
    """What a limit beside an annotation says."""
    if isinstance(limit, Within):
        words = [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")]
        return {
            word[not included]: end
            for word, end, included in zip(words, limit.ends, limit.includes, strict=True)
            if math.isfinite(end)
        }
    if isinstance(limit, Longest):
        return {"maxLength" if found["type"] == "string" else "maxItems": limit.most}
    if isinstance(limit, Names):
        return {"enum": list(limit.known)}
    if hasattr(limit, "kind"):  # statements of one kind
        return {"properties": {"kind": {"const": limit.kind}}}
    assert limit is printable, limit
    return {"pattern": r"^[^\u0000-\u001f\u007f]*$"}


def record_of(kind: Any, records: dict[str, Any]) -> dict[str, Any]:
    """The schema of a record: all fields that are stored, and no others."""
    hints = get_type_hints(kind, include_extras=True)
    told = told_of(kind)
    fields = {
        field.name: schema_of(hints[field.name], records) | told.get(field.name, {})
        for field in dataclasses.fields(kind)
        if field.metadata.get("stored", True)
    }
    closed = {"required": list(fields), "additionalProperties": False}
    return {"description": _line(inspect.getdoc(kind) or ""), "type": "object", "properties": fields, **closed}


def told_of(kind: Any) -> dict[str, dict[str, str]]:
    """What the docstrings of a record, and of what it derives from, say of its attributes."""
    found = {}
    for each in reversed(kind.__mro__):
        entries = re.split(r"\n(?=\S)", (inspect.cleandoc(each.__doc__ or "")).partition("Attributes\n----------\n")[2])
        for entry in entries:
            names, _, text = entry.partition("\n")
            if text.strip() and re.fullmatch(r"[\w, ]+ :.*|[\w, ]+", names):
                for name in names.partition(" :")[0].split(", "):
                    found[name] = {"description": " ".join(text.split())}
    return found


def _line(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


def schemas() -> dict[str, dict[str, Any]]:
    """All schemas by the names of their files."""
    found = {}
    for name, whole in (("certificate", Certificate), ("monitor", None)):
        records: dict[str, Any] = {}
        kinds = {"outcomes": _monitor_state.MonitorState, "rows": _drift_state.DriftState}
        if whole:
            top = schema_of(whole, records)
            records[whole.__name__]["properties"]["schema_version"]["const"] = SCHEMA_VERSION
        else:
            top = {"oneOf": [_state_of(kind, content, records) for kind, content in kinds.items()]}
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"certivote {name}"}
        found[f"{name}.schema.json"] = {**head, **top, "$defs": records}
    return found


def _state_of(kind: str, content: Any, records: dict[str, Any]) -> dict[str, Any]:
    """A state file: its head, and what the monitor remembers."""
    fields = {
        "format": {"const": _state._FORMAT},
        "schema_version": {"const": _state.SCHEMA_VERSION},
        "kind": {"const": kind},
        "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "content": schema_of(content, records),
    }
    return {"type": "object", "properties": fields, "required": list(fields)}


def written(schema: dict[str, Any]) -> str:
    """A schema as its file holds it."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        (FOLDER / name).write_text(written(schema), encoding="utf-8")

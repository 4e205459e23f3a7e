"""Fitted voters, their recipes and promises as plain data: numbers, texts and arrays, and nothing that could be run.

What a file may hold is closed. Fitted voters are dataclasses of :mod:`certivote.voters` whose fields have types, and a
field is read only as its type says. Recipes are estimators that are made of their parameters alone, listed in
:data:`RECIPES`, and so are methods and splits; promises are listed in :data:`PROMISES`. Whatever else a user brings, a
classifier or a transformer of any library, is kept apart, in a list of *brought* objects that plain data refer to by
number.
"""

import dataclasses
import math
import reprlib
import types
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from certivote.io._packed_arrays import ARRAY_TYPES
from certivote.methods import CLASSES
from certivote.promises import PROMISES, Promise
from certivote.splits import Cross, Folds, Single
from certivote.voters import KINDS, RECIPES, ColumnEncoder, FittedVoters, VoterSet

__all__ = ["InPlace", "PlainReader", "PlainWriter", "labels_from", "labels_of"]

_RECIPES: dict[str, Any] = {kind.__name__: kind for kind in (*RECIPES, *CLASSES.values(), Cross, Folds, Single)}
_LABELS = "biufU"
"""Kinds of arrays that labels may be, besides texts as objects."""
_hints = cache(get_type_hints)
_DEEPEST = 40
"""How deep plain data may be nested."""
_SPARE_TEXT = 1 << 20
"""Characters that an array of labels may have room for, and 16 times as many as there are beyond."""
_SHORT = reprlib.Repr()
"""Shows the beginning of what may be long."""


class PlainWriter:
    """Turns objects into plain data, and gathers the arrays and the brought objects that these refer to."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.brought: list[Any] = []

    def value(self, value: Any) -> Any:
        """Numbers, texts, lists, arrays, fitted voters, recipes, promises; anything else is brought."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.value(item) for item in value]}
        if isinstance(value, dict):
            return {"pairs": [[self.value(key), self.value(item)] for key, item in value.items()]}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, Promise) and PROMISES.get(value.name) is type(value):
            return {"promise": value.name, "parameters": self._named(value.parameters)}
        if dataclasses.is_dataclass(value) and type(value).__module__.startswith("certivote.voters."):
            return self._fields(value)
        if isinstance(value, ColumnEncoder) and hasattr(value, "kinds_"):
            return {"columns": self._columns(value)}
        if _RECIPES.get(type(value).__name__) is type(value) and not hasattr(value, "n_features_in_"):
            parameters = value.get_params(deep=False)
            return {"recipe": type(value).__name__, "parameters": self._named(parameters)}
        return self._bring(value)

    def labels(self, labels: NDArray[Any]) -> Any:
        """The classes, of whichever type they are."""
        return labels_of(labels)

    def _named(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(value) for name, value in values.items()}

    def _array(self, array: NDArray[Any]) -> Any:
        if array.dtype.newbyteorder("<").str not in ARRAY_TYPES:
            return {"labels": labels_of(array)} if array.ndim == 1 else self._bring(array)
        self.arrays.append(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")))
        return {"array": len(self.arrays) - 1}

    def _fields(self, value: Any) -> dict[str, Any]:
        stored = [field.name for field in dataclasses.fields(value) if field.metadata.get("stored", True)]
        kept = {name: getattr(value, name) for name in stored}
        return {"kind": type(value).__name__, "fields": self._named(kept)}

    def _columns(self, encoder: ColumnEncoder) -> dict[str, Any]:
        names = getattr(encoder, "feature_names_in_", None)
        return {
            "parameters": self._named(encoder.get_params(deep=False)),
            "names": None if names is None else names.tolist(),
            "kinds": list(encoder.kinds_),
            "categories": [None if texts is None else texts.tolist() for texts in encoder.categories_],
            "places": [None if places is None else self._array(places) for places in encoder.places_],
            "medians": self._array(encoder.medians_),
        }

    def _bring(self, value: Any) -> Any:
        for number, known in enumerate(self.brought):
            if known is value:
                return {"brought": number}
        self.brought.append(value)
        return {"brought": len(self.brought) - 1}


class InPlace(PlainWriter):
    """Leaves arrays, labels and brought objects as they are, so that what two files would hold can be compared."""

    def labels(self, labels: NDArray[Any]) -> Any:
        return labels

    def _array(self, array: NDArray[Any]) -> Any:
        return array

    def _bring(self, value: Any) -> Any:
        return value


class PlainReader:
    """Turns plain data back. Every value must be of the type that its place asks for; a ValueError says where not.

    Nothing is fitted, and of what the file names only classes in the closed lists above are made. ``most`` is how many
    bytes trees may take when they vote, which is far more than in a file.
    """

    def __init__(
        self,
        arrays: Sequence[NDArray[Any]],
        brought: Sequence[Any],
        most: float = math.inf,
    ):
        self._arrays, self._brought, self._most, self._taken = dict(enumerate(arrays)), brought, most, 0

    def parameter(self, node: Any, depth: int = 0) -> Any:
        """A parameter of an estimator: numbers, texts, lists, arrays, recipes, promises and brought objects."""
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return [self.parameter(item, depth + 1) for item in node]
        (name, content), *more = node.items() if isinstance(node, dict) and node else [(None, None)]
        if name == "recipe" and len(more) == 1:
            return self._recipe(node, depth)
        if name == "promise" and len(more) == 1:
            return self._promise(node, depth)
        if more:
            _refuse(node, "a parameter")
        if name == "tuple" and isinstance(content, list):
            return tuple(self.parameter(item, depth + 1) for item in content)
        if name == "pairs" and isinstance(content, list):
            return self._dictionary(content, depth)
        if name == "float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if name == "array":
            return self.array(node)
        if name == "labels":
            return labels_from(content)
        if name == "brought":
            return self._bring(node)
        return _refuse(node, "a parameter")

    def fitted(self, node: Any, wanted: Any = FittedVoters, depth: int = 0) -> Any:
        """A value of the type that an annotation asks for."""
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        wanted = _written_out(wanted)
        if wanted is FittedVoters:
            return self._any_voters(node, depth)
        if wanted is Any:
            return self._transformer(node)
        if isinstance(wanted, type) and issubclass(wanted, VoterSet):
            family = self.parameter(node, depth)
            return family if isinstance(family, wanted) else _refuse(node, "a family of voters")
        if get_origin(wanted) is tuple:
            items = node.get("tuple") if isinstance(node, dict) else None
            if not isinstance(items, list):
                _refuse(node, "a list")
            return tuple(self.fitted(item, get_args(wanted)[0], depth + 1) for item in items)
        if get_origin(wanted) is np.ndarray:
            return self._typed_array(node, wanted)
        if wanted in (int, bool) and type(node) is wanted:
            return node
        if wanted is float and isinstance(node, float | int) and not isinstance(node, bool):
            return float(node)
        kinds = get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)
        return self._fields(node, kinds, depth)

    def array(self, node: Any) -> NDArray[Any]:
        """The array that a node refers to. None is given out twice: a short text could ask for a lot of voters."""
        number = node.get("array") if isinstance(node, dict) else None
        if type(number) is not int or number not in self._arrays:
            _refuse(node, "an array of its own")
        return self._arrays.pop(number)

    def _typed_array(self, node: Any, wanted: Any) -> NDArray[Any]:
        (kind,) = get_args(get_args(wanted)[1])
        if kind is Any:
            return labels_from(node["labels"]) if isinstance(node, dict) and "labels" in node else self.array(node)
        array = self.array(node)
        if array.dtype != np.dtype(kind):
            raise ValueError(f"an array holds {array.dtype} where {np.dtype(kind)} belongs")
        return array

    def _fields(self, node: Any, kinds: Sequence[Any], depth: int) -> Any:
        dataclass_kinds = filter(dataclasses.is_dataclass, kinds)
        names: dict[str, Any] = {getattr(kind, "__name__", ""): kind for kind in dataclass_kinds}
        known = isinstance(node, dict) and isinstance(node.get("kind"), str) and isinstance(node.get("fields"), dict)
        if not known or node["kind"] not in names:
            _refuse(node, " or ".join(names) or "another value")
        kind, values = names[node["kind"]], node["fields"]
        stored = [field.name for field in dataclasses.fields(kind) if field.metadata.get("stored", True)]
        if set(values) != set(stored):
            raise ValueError(f"{kind.__name__} has other fields than {', '.join(stored)}")
        hints = _hints(kind)
        made = kind(**{name: self.fitted(values[name], hints[name], depth + 1) for name in stored})
        self._taken += getattr(made, "memory", 0)
        if self._taken > self._most:
            raise ValueError(f"its trees would take more than the {self._most:,} bytes that its size warrants")
        return made

    def _any_voters(self, node: Any, depth: int) -> Any:
        if isinstance(node, dict) and "brought" in node:
            return self._bring(node)
        return self._fields(node, tuple(KINDS.values()), depth)

    def _transformer(self, node: Any) -> Any:
        return self._encoder(node["columns"]) if isinstance(node, dict) and "columns" in node else self._bring(node)

    def _encoder(self, node: Any) -> ColumnEncoder:
        if not isinstance(node, dict) or set(node) != {
            "parameters",
            "names",
            "kinds",
            "categories",
            "places",
            "medians",
        }:
            _refuse(node, "an encoder of columns")
        kinds, texts = node["kinds"], node["categories"]
        lists = (kinds, texts, node["places"])
        if not all(isinstance(entry, list) and len(entry) == len(kinds) for entry in lists) or not kinds:
            _refuse(node, "an encoder of columns")
        encoder: ColumnEncoder = self._recipe({"recipe": "ColumnEncoder", "parameters": node["parameters"]}, 0)
        encoder.kinds_ = kinds
        encoder.categories_ = [None if column is None else labels_from(["object", column]) for column in texts]
        encoder.places_ = [None if places is None else self.array(places) for places in node["places"]]
        encoder.medians_ = self.array(node["medians"])
        encoder.n_features_in_ = len(kinds)
        if node["names"] is not None:
            encoder.feature_names_in_ = labels_from(["object", node["names"]])
        encoder.check()
        return encoder

    def _recipe(self, node: dict[str, Any], depth: int) -> Any:
        name, values = node["recipe"], node.get("parameters")
        kind = _RECIPES.get(name) if isinstance(name, str) else None
        if kind is None or not isinstance(values, dict) or set(values) - set(kind._get_param_names()):
            _refuse(node, "a recipe of certivote")
        return kind(**{name: self.parameter(value, depth + 1) for name, value in values.items()})

    def _promise(self, node: dict[str, Any], depth: int) -> Promise:
        name, values = node["promise"], node.get("parameters")
        kind = PROMISES.get(name) if isinstance(name, str) else None
        if kind is None or not isinstance(values, dict):
            _refuse(node, "a promise of certivote")
        return kind.from_parameters({name: self.parameter(value, depth + 1) for name, value in values.items()})

    def _dictionary(self, content: list[Any], depth: int) -> dict[Any, Any]:
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in content):
            _refuse(content, "pairs")
        keys = [self.parameter(key, depth + 1) for key, _ in content]
        if not all(key is None or isinstance(key, bool | int | float | str) for key in keys):
            _refuse(content, "pairs")
        return dict(zip(keys, (self.parameter(value, depth + 1) for _, value in content), strict=True))

    def _bring(self, node: Any) -> Any:
        number = node.get("brought") if isinstance(node, dict) else None
        if type(number) is not int or not 0 <= number < len(self._brought):
            _refuse(node, "an object that was brought")
        return self._brought[number]


def _written_out(wanted: Any) -> Any:
    """The type that an alias stands for, as ``NDArray[int]`` is one since numpy 2.5; any other type as it is."""
    alias = get_origin(wanted)
    return alias.__value__[get_args(wanted)] if hasattr(alias, "__value__") else wanted


def _refuse(node: Any, wanted: str) -> NoReturn:
    raise ValueError(f"{_SHORT.repr(node):.60} stands where {wanted} belongs")


def _encodable(text: str) -> bool:
    """Whether the text can be written anywhere: JSON may hold halves of characters."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def labels_of(labels: NDArray[Any]) -> list[Any]:
    """Labels as the type of their array and a list."""
    kind = "object" if labels.dtype == object else labels.dtype.newbyteorder("=").str[1:]
    known = labels.dtype.kind in _LABELS or (labels.dtype == object and all(type(x) is str for x in labels))
    if not known or labels.ndim != 1:
        raise TypeError(f"Labels must be numbers, truth values or texts to be stored; got an array of {labels.dtype}.")
    return [kind, labels.tolist()]


def labels_from(content: Any) -> NDArray[Any]:
    """The labels that :func:`labels_of` has written."""
    kind, values = content if isinstance(content, list) and len(content) == 2 else (None, None)
    if not isinstance(kind, str) or not isinstance(values, list):
        _refuse(content, "labels")
    if kind == "object" or kind[:1] == "U":
        if not all(type(value) is str and _encodable(value) for value in values):
            _refuse(content, "labels")
        if kind == "object":
            return np.array([*values, None], dtype=object)[:-1]
        # An array of texts has room for the longest in each place.
        longest = max(map(len, values), default=0)
        if longest * len(values) > _SPARE_TEXT + 16 * sum(map(len, values)):
            _refuse(content, "labels")
        return np.array(values, dtype=str)
    wanted: Any = {"b": bool, "i": int, "u": int, "f": float | int}.get(kind[:1])
    # A dtype may be a list of others: only a letter and a number of bytes is what labels have.
    if wanted is None or not kind[1:].isdecimal() or not all(isinstance(value, wanted) for value in values):
        _refuse(content, "labels")
    return np.array(values, dtype=kind)

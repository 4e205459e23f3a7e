"""Fitted voters, their recipes and promises as plain data: numbers, texts and arrays, and nothing that could be run.

What a file may hold is closed. Fitted voters are dataclasses of :mod:`certivote.voters` whose fields have types, and a
field is read only as its type says. Recipes are estimators that are made of their parameters alone, listed in
:data:`RECIPES`, and so are methods and splits; promises are listed in :data:`PROMISES`. Other objects that a user
brings, classifiers or transformers of any library, are kept apart, in a list of *brought* objects that plain data refer
to by number.
"""

import dataclasses
import math
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, NoReturn, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from certivote.codec import CodecError, Reader, any_value, shown
from certivote.io._packed_arrays import ARRAY_TYPES
from certivote.methods import CLASSES
from certivote.promises import PROMISES, Promise
from certivote.splits import Cross, Folds, Single
from certivote.voters import KINDS, RECIPES, ColumnEncoder, FittedVoters, VoterSet

_RECIPES: dict[str, Any] = {kind.__name__: kind for kind in (*RECIPES, *CLASSES.values(), Cross, Folds, Single)}
_LABELS = "biufU"
"""Kinds of arrays that labels may be, apart from texts as objects."""
_DEEPEST = 40
"""How deep plain data may be nested."""
Parameter = Annotated[Any, "a parameter of an estimator"]
Labels = Annotated[NDArray[Any], "labels"]
Texts = Annotated[NDArray[Any], "names"]
_TEXTS = Reader().reader(tuple[str, ...])
_SPARE_TEXT = 1 << 20
"""Characters that an array of labels may have room for, and 16 times as many as there are beyond."""


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
        """The classes, of any type."""
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
        return {"kind": type(value).__name__, "fields": {name: self._field(getattr(value, name)) for name in stored}}

    def _field(self, value: Any) -> Any:
        """Its annotation says that a tuple is one."""
        return [self._field(each) for each in value] if isinstance(value, tuple) else self.value(value)

    def _columns(self, encoder: ColumnEncoder) -> dict[str, Any]:
        names = getattr(encoder, "feature_names_in_", None)
        return {
            "parameters": self._named(encoder.get_params(deep=False)),
            "names": None if names is None else names.tolist(),
            "kinds": list(encoder.kinds_),
            "forms": [list(form) for form in encoder.forms_],
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


class PlainReader(Reader):
    """Turns plain data back. Every value must be of the type that its place asks for; a CodecError says where not.

    Nothing is fitted, and of what the file names only classes in the closed lists above are made. ``most`` is how many
    bytes trees may take when they vote, which is far more than in a file.
    """

    def __init__(
        self,
        arrays: Sequence[NDArray[Any]],
        brought: Sequence[Any],
        most: float = math.inf,
    ):
        super().__init__()
        self._arrays, self._brought, self._most, self._taken = dict(enumerate(arrays)), brought, most, 0
        self._depth = 0

    def reader(self, wanted: Any) -> Callable[[Any], Any]:
        """In addition to JSON: arrays, fitted voters, families, and parameters of estimators."""
        wanted = _written_out(wanted)
        if wanted == Labels:
            return labels_from
        if wanted == Texts:
            return lambda node: _objects(_TEXTS(node))
        if wanted == Parameter:
            return self._parameter
        if wanted is Any:
            return self._transformer
        if get_origin(wanted) is np.ndarray:
            return partial(self._array, get_args(get_args(wanted)[1])[0])
        if wanted is FittedVoters:
            return self._any_voters
        if isinstance(wanted, type) and issubclass(wanted, VoterSet):
            return partial(self._family, wanted)
        kinds = get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)
        if all(_is_of_voters(kind) for kind in kinds):
            return partial(self._one_kind, kinds)
        return super().reader(wanted)

    def record(self, kind: Any, value: Any) -> Any:
        """A dataclass, which may hold others, but neither without end nor more than the file warrants."""
        with self._deeper():
            made = super().record(kind, value)
        self._taken += getattr(made, "memory", 0)
        if self._taken > self._most:
            raise CodecError(f"has trees that would take more than the {self._most:,} bytes that its size warrants")
        return made

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CodecError("is nested too deeply")
        try:
            yield
        finally:
            self._depth -= 1

    def _one_kind(self, kinds: Sequence[Any], node: Any) -> Any:
        names = {kind.__name__: kind for kind in kinds}
        kind = names.get(node["kind"]) if _has(node, "kind", "fields") and isinstance(node["kind"], str) else None
        return _refuse(node, " or ".join(names)) if kind is None else self.record(kind, node["fields"])

    def _any_voters(self, node: Any) -> Any:
        return self._bring(node) if _has(node, "brought") else self._one_kind(tuple(KINDS.values()), node)

    def _family(self, wanted: type[VoterSet], node: Any) -> Any:
        family = self._parameter(node)
        return family if isinstance(family, wanted) else _refuse(node, "a family of voters")

    def _array(self, kind: Any, node: Any) -> NDArray[Any]:
        """The array of this kind that a node refers to. None is given out twice: a short text could ask for much."""
        if kind is Any and _has(node, "labels"):
            return labels_from(node["labels"])
        number = node["array"] if _has(node, "array") else None
        if type(number) is not int or number not in self._arrays:
            _refuse(node, "an array of its own")
        array = self._arrays.pop(number)
        if kind is not Any and array.dtype != np.dtype(kind):
            raise CodecError(f"must be an array of {np.dtype(kind)}; got one of {array.dtype}")
        return array

    def _parameter(self, node: Any) -> Any:
        """A parameter of an estimator: numbers, texts, lists, arrays, recipes, promises and brought objects."""
        if node is None or isinstance(node, bool | int | float | str):
            return any_value(node)
        with self._deeper():
            return self._inner(node)

    def _inner(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._parameter(item) for item in node]
        if _has(node, "recipe", "parameters"):
            return self._recipe(node)
        if _has(node, "promise", "parameters"):
            return self._promise(node)
        ((name, content),) = node.items() if isinstance(node, dict) and len(node) == 1 else [("", None)]
        if name == "tuple" and isinstance(content, list):
            return tuple(self._parameter(item) for item in content)
        if name == "pairs" and isinstance(content, list):
            return self._pairs(content)
        if name == "float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if name == "array":
            return self._array(Any, node)
        if name == "labels":
            return labels_from(content)
        if name == "brought":
            return self._bring(node)
        return _refuse(node, "a parameter")

    def _transformer(self, node: Any) -> Any:
        return self._encoder(node["columns"]) if _has(node, "columns") else self._bring(node)

    def _encoder(self, node: Any) -> ColumnEncoder:
        stored: _Columns = self.record(_Columns, node)
        encoder: ColumnEncoder = _made(ColumnEncoder, stored.parameters)
        encoder.kinds_, encoder.forms_ = list(stored.kinds), list(stored.forms)
        encoder.categories_ = list(stored.categories)
        encoder.places_ = list(stored.places)
        encoder.medians_ = stored.medians
        encoder.n_features_in_ = len(stored.kinds)
        if stored.names is not None:
            encoder.feature_names_in_ = stored.names
        encoder.check()
        return encoder

    def _recipe(self, node: dict[str, Any]) -> Any:
        kind = _RECIPES.get(node["recipe"]) if isinstance(node["recipe"], str) else None
        return _refuse(node, "a recipe of certivote") if kind is None else _made(kind, self._named(node["parameters"]))

    def _promise(self, node: dict[str, Any]) -> Promise:
        kind = PROMISES.get(node["promise"]) if isinstance(node["promise"], str) else None
        if kind is None:
            _refuse(node, "a promise of certivote")
        return kind.from_parameters(self._named(node["parameters"]))

    def _named(self, values: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.reader(dict[str, Parameter])(values)
        return found

    def _pairs(self, content: list[Any]) -> dict[Any, Any]:
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in content):
            _refuse(content, "pairs")
        pairs = [(self._parameter(key), self._parameter(value)) for key, value in content]
        if not all(key is None or isinstance(key, bool | int | float | str) for key, _ in pairs):
            _refuse(content, "pairs")
        return dict(pairs)

    def _bring(self, node: Any) -> Any:
        number = node["brought"] if _has(node, "brought") else None
        if type(number) is not int or not 0 <= number < len(self._brought):
            _refuse(node, "an object that was brought")
        return self._brought[number]


@dataclasses.dataclass(frozen=True)
class _Columns:
    """What an encoder of columns has learned."""

    parameters: dict[str, Parameter]
    names: Texts | None
    kinds: tuple[str, ...]
    forms: tuple[tuple[str, ...], ...]
    categories: tuple[Texts | None, ...]
    places: tuple[NDArray[np.float64] | None, ...]
    medians: NDArray[np.float64]


def _is_of_voters(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) and kind.__module__.startswith("certivote.voters.")


def _made(kind: Any, parameters: dict[str, Any]) -> Any:
    """An estimator that is made of its parameters alone."""
    if parameters.keys() - set(kind._get_param_names()):
        _refuse(list(parameters), f"parameters of {kind.__name__}")
    return kind(**parameters)


def _has(node: Any, *names: str) -> bool:
    """Whether it is an object with these names and no others."""
    return isinstance(node, dict) and node.keys() == set(names)


def _written_out(wanted: Any) -> Any:
    """The type that an alias stands for, as ``NDArray[int]`` is one since numpy 2.5; any other type as it is."""
    alias = get_origin(wanted)
    return alias.__value__[get_args(wanted)] if hasattr(alias, "__value__") else wanted


def _refuse(node: Any, wanted: str) -> NoReturn:
    raise CodecError(f"must be {wanted}; got {shown(node)}")


def _objects(texts: Sequence[str]) -> NDArray[Any]:
    """As the values of a column."""
    return np.array([*texts, None], dtype=object)[:-1]


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
        values = _TEXTS(values)
        if kind == "object":
            return _objects(values)
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

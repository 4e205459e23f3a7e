"""Reading records from JSON that may come from anywhere: every field is checked for presence, type and range."""

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Collection
from typing import Any, NoReturn, get_args, get_origin

from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS

SCHEMA_VERSION = 1

_LONGEST = 1 << 28
"""Characters of the longest text that is read: a certificate of a million voters has fewer."""
_LARGEST = 1 << 53
"""Whole numbers beyond this are no counts, and no floats either."""

_LARGEST_BOUND = 4.0
"""The second-order bound is four times a probability."""

_POSITIVE = math.ulp(0.0)
_PROBABILITY = (_POSITIVE, math.nextafter(1.0, 0.0))
_RANGES: dict[str, tuple[float, float]] = {
    "delta": _PROBABILITY,
    "risk_delta": (0.0, 1.0),
    "prior_weight": (_POSITIVE, 1.0),
    **dict.fromkeys(("risks", "losses", "holdout_losses", "majority_losses", "p_value", "weight"), (0.0, 1.0)),
    **dict.fromkeys(("share", "late", "early"), (0.0, 1.0)),
    "average_weights": (0.0, 1.0),
    "bound": (0.0, _LARGEST_BOUND),
    "average_bound": (0.0, _LARGEST_BOUND),
    "holdout_bound": (0.0, 1.0),
    "majority_bound": (0.0, 1.0),
    "renyi_order": (math.nextafter(1.0, 2.0), math.inf),
    "renyi_orders": (math.nextafter(1.0, 2.0), math.inf),
    "n": (0, _LARGEST),
    "n_draws": (1, _LARGEST),
    "n_voters": (1, _LARGEST),
    **dict.fromkeys(
        (
            "errors",
            "risk_draws",
            "draw",
            "deployed",
            "training_rows",
            "duplicates",
            "duplicates_of_training_rows",
            "holdout_errors",
            "majority_errors",
            "entropy",
            "n_columns",
            "n_rows",
            "class_counts",
            "entities",
            "early_rows",
            "early_errors",
            "late_rows",
            "late_errors",
            "guide_rows",
            "set_aside",
            "chosen",
            "places",
            "after",
            "looked_at",
            "sample_rows",
            "learned_rows",
        ),
        (0, _LARGEST),
    ),
}
"""Least and greatest value of a field, whatever record it is in."""
_ONE_EACH: dict[str, tuple[float, float]] = {
    "alpha": (0.0, math.inf),
    "beta": (_POSITIVE, math.inf),
    "log_weights": (-math.inf, 1e-9),
}
"""The same where a family has one parameter per voter, which is then positive, and draws logarithms of weights. With
more parameters per voter, both may be any numbers."""


def _choices() -> dict[str, Collection[str]]:
    """Words that a field may hold."""
    return {
        "method": METHODS,
        "subject": ("vote", "models", "answers"),
        "prior": ("none", "equal", "grid", "informed", "given"),
        "loss": ("plurality", "half-weight"),
        "constant": ("paper", "exact"),
        "family": FAMILIES,
        "division": ("shuffled", "by row number"),
        "bets": ("in order", "at once"),
        "found": ("learning curve", "too few", "not fitted"),
    }


def parse(text: str) -> dict[str, Any]:
    """A certificate's JSON as an object.

    Raises
    ------
    ValueError
        If the text is not JSON of a certificate, too long or too deep, or of another schema.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"Not a certificate: the text has {len(text):,} characters; at most {_LONGEST:,} are read.")
    try:
        record = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repetition)
    except RecursionError:
        raise ValueError("Not a certificate: the JSON is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"Not a certificate: the text is not JSON ({error}).") from error
    if not isinstance(record, dict) or "schema_version" not in record:
        raise ValueError("Not a certificate: the JSON has no schema_version.")
    version = record["schema_version"]
    if type(version) is not int or version != SCHEMA_VERSION:
        raise ValueError(
            f"The certificate has schema version {version!r:.20}; this certivote reads version {SCHEMA_VERSION}. "
            "Open it with the certivote that wrote it, or certify again."
        )
    if not isinstance(record.get("parts"), list) or not record["parts"]:
        raise ValueError("Not a certificate: 'parts' must be a list of at least one.")
    return record


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, of which every reader takes the same value: JSON leaves open which of two equal keys counts."""
    record = dict(pairs)
    if len(record) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = sorted(name for name, count in counts.items() if count > 1)
        raise ValueError(f"an object has {', '.join(twice)} more than once")
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that a certificate may hold")


def build(kind: type[Any], record: Any, where: str) -> Any:
    """An instance of a dataclass from a parsed JSON object, every field checked for presence, type and range."""
    if not isinstance(record, dict):
        raise ValueError(f"Not a certificate: {where} must be an object.")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for problem, names in (("lacks", fields.keys() - record.keys()), ("has unknown", record.keys() - fields.keys())):
        if names:
            raise ValueError(f"Not a certificate: {where} {problem} {', '.join(sorted(names))}.")
    for name, choices in _choices().items():
        if name in fields and (not isinstance(record[name], str) or record[name] not in choices):
            raise ValueError(
                f"Not a certificate: {where}.{name} must be one of {', '.join(choices)}; got {record[name]!r:.80}."
            )
    several = "family" in fields and len(FAMILIES[record["family"]].limits(1)[0]) > 1
    ranges = _RANGES if several else {**_RANGES, **_ONE_EACH}
    anything = (-math.inf, math.inf)
    values = {
        name: _typed(record[name], field.type, f"{where}.{name}", ranges.get(name, anything))
        for name, field in fields.items()
    }
    # Readers make arrays of one entry per voter: there are no more than the record itself has room for.
    if "n_voters" in fields and values["n_voters"] > max(len(values["alpha"]), len(values["beta"])):
        raise ValueError(f"Not a certificate: {where} has more voters than parameters.")
    return kind(**values)


def _typed(value: Any, kind: Any, where: str, limits: tuple[float, float]) -> Any:
    """The value, if JSON can mean it as this type and it lies in its range; ints count as floats, lists as tuples."""
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise ValueError(f"Not a certificate: {where} must be a list.")
        inner = get_args(kind)
        if inner[-1] is not Ellipsis and len(value) != len(inner):
            raise ValueError(f"Not a certificate: {where} must hold {len(inner)} values; got {len(value)}.")
        return tuple(_typed(v, inner[0], f"{where}[{i}]", limits) for i, v in enumerate(value))
    kinds = get_args(kind) or (kind,)
    if isinstance(kinds[0], type) and dataclasses.is_dataclass(kinds[0]) and (value is not None or len(kinds) == 1):
        return build(kinds[0], value, where)
    if type(value) is int and float in kinds and abs(value) <= _LARGEST:
        value = float(value)
    if type(value) not in kinds:
        names = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
        raise ValueError(f"Not a certificate: {where} must be of type {names}; got {value!r:.80}.")
    if type(value) in (int, float) and not (math.isfinite(value) and limits[0] <= value <= limits[1]):
        raise ValueError(f"Not a certificate: {where} is {value!r:.80}, which is out of its range.")
    return value

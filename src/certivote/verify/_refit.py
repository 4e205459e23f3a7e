"""Train again from the data, the seed and the parameters, and compare the record and the model leaf by leaf.

The encoder of a table's columns is fitted again, and compared so, wherever there are rows: that takes no seed.
"""

import dataclasses
import math
import warnings
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from certivote.certificate import Certificate
from certivote.verify._check import Check, trusted
from certivote.verify._model import AuditedModel
from certivote.verify._rows import other_versions, rule_rows

_RELATIVE, _ABSOLUTE = 1e-7, 1e-10
"""How far numbers may be off: another processor may round the last digits of what is learned in another way."""
_PLAIN = (type(None), bool, int, float, str, np.ndarray)
_NOTHING = object()


class Comparison:
    """How two nests of dictionaries, lists, numbers, texts and arrays differ, by the paths of their values.

    Parameters
    ----------
    old, new : dict
    path : str
        What all paths begin with.
    besides : collection of str
        Names that are not compared.

    Attributes
    ----------
    other : list of str
        Values that differ.
    rounded : list of str
        Numbers that differ in their last digits only.
    unknown : list of str
        Objects of the same type, into which nothing here can look, each with its type.
    """

    def __init__(self, old: Any, new: Any, path: str = "", besides: Collection[str] = ()):
        self.other: list[str] = []
        self.rounded: list[str] = []
        self.unknown: list[str] = []
        self._besides = besides
        self._compare(old, new, path)

    def _compare(self, old: Any, new: Any, path: str) -> None:
        old, new = _texts(old), _texts(new)
        if isinstance(old, dict) and isinstance(new, dict):
            for name in dict.fromkeys((*old, *new)):
                if name not in self._besides:
                    inner = f"{path}.{name}" if path else str(name)
                    self._compare(old.get(name, _NOTHING), new.get(name, _NOTHING), inner)
        elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
            # Of a list of numbers or texts, all entries have the path of the list.
            nested = any(isinstance(value, dict | list) for value in (*old, *new))
            for number, (one, another) in enumerate(zip(old, new, strict=True)):
                self._compare(one, another, f"{path}[{number}]" if nested else path)
        elif type(old) is not type(new) or isinstance(old, list | tuple):
            _add(self.other, path)
        elif not isinstance(old, _PLAIN):
            _add(self.unknown, f"{path} ({type(old).__module__}.{type(old).__qualname__})")
        elif not are_close(old, new):
            _add(self.other, path)
        elif not _are_equal(old, new):
            _add(self.rounded, path)


def are_close(old: Any, new: Any) -> bool:
    """Whether two values of one type are the same, numbers up to their last digits."""
    if isinstance(old, np.ndarray):
        if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
            return False
        if old.dtype.kind == "f":
            return bool(np.allclose(old, new, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True))
    elif isinstance(old, float):
        return math.isclose(old, new, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE) or _are_equal(old, new)
    return _are_equal(old, new)


def _are_equal(old: Any, new: Any) -> bool:
    if isinstance(old, np.ndarray):
        return np.array_equal(old, new, equal_nan=old.dtype.kind == "f")
    return bool(old == new or (old != old and new != new))


def _texts(value: Any) -> Any:
    """An array of anything but numbers as a list: texts are the same in whatever width they are stored."""
    return value.tolist() if isinstance(value, np.ndarray) and value.dtype.kind not in "biufc" else value


def _add(paths: list[str], path: str) -> None:
    if path not in paths[-1:]:
        paths.append(path)


_GROUPS = {
    "row numbers": ("model.parts",),
    "voters": ("votes_digest", "n_voters", "raced", "kept"),
    "members": ("model.voters",),
    "hyper-prior": ("beta", "prior_weight", "prior"),
    "what was learned": ("alpha", "family", "renyi_order", "solver"),
    "draw": ("log_weights", "draw", "n_draws"),
    "weights": ("model.weights", "model.hyper_posterior", "model.kept"),
    "price list": ("price_atoms", "price_scales"),
    "choices": ("split", "first_rows", "sample_rows", "learned_rows"),
    "remarks": ("findings",),
    "promises": ("promises", "together"),
    "rows of the parts": (
        "n",
        "entities",
        "training_rows",
        "certification_digest",
        "training_digest",
        "duplicates",
        "duplicates_of_training_rows",
    ),
    "errors": ("errors", "losses", "means", "risk_draws", "holdout", "majority", "drift"),
    "bounds": ("bound", "average_bound", "deployed", "penalty"),
}
"""What is compared, under one heading each; what is in none of them is under one of its own."""
_REST = "all other fields"
_MAY_DIFFER = {"created", "versions", "source", "source_digest", "target", "groups", "order", "library_version"}
"""A new fit takes place later, elsewhere, and from rows in memory, whose columns may have no names."""


def against_refit(
    c: Certificate, model: AuditedModel, X: Any, y: Any, groups: Any = None, order: Any = None, table: Any = None
) -> Iterator[Check]:
    """Whether training again gives this certificate and this model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first fit has said what there is to say
            again = model.refit(X, y, groups=groups, order=order, table=table)
    except (TypeError, ValueError) as error:
        yield Check("refit", False, f"training again is not possible: {error}")
        return
    caveat = other_versions(c)
    record = Comparison(dataclasses.asdict(c), dataclasses.asdict(again.certificate_), besides=_MAY_DIFFER)
    slim = len(model.kept_voters_) < len(again.kept_voters_)
    found = Comparison(model.contents(), again.contents(slim), "model")
    grouped: dict[str, list[str]] = {name: [] for name in (*_GROUPS, _REST)}
    stripped = "model.witnesses" if model.witnesses_ is None else None  # which has a line of its own
    for path in (*record.other, *(each for each in found.other if each != stripped)):
        grouped[_group(path)].append(path)
    for name, paths in grouped.items():
        detail = f"OTHER than a new fit gives: {_shown(paths)}{caveat}" if paths else "as a new fit gives"
        if name == "remarks" and paths and table is None:
            detail += " (if the fit was given other columns to look at, give them as table=)"
        yield Check(f"refit, {name}", not paths, detail)
    if rounded := [*record.rounded, *found.rounded]:
        detail = f"the last digits are others than those of a new fit{caveat}: {_shown(rounded)}"
        yield trusted("refit, last digits", detail, *record.rounded)
    if found.unknown:
        why = "objects that no plain data hold, compared by their answers on these rows alone"
        yield trusted("refit, not compared", f"{why}: {_shown(found.unknown, 20)}")
    same = are_close(model.predict_proba(X), again.predict_proba(X))
    detail = "those of a new fit" if same else f"OTHER than those of a new fit{caveat}"
    yield Check(
        "refit, vote masses", same, f"on {len(again.parts_[0].train) + len(again.parts_[0].certify):,} rows, {detail}"
    )


def _group(path: str) -> str:
    names = path.replace("]", "").replace("[", ".").split(".")
    names = [name for name in names if name != "statement"]
    name = names[2] if names[0] == "parts" and len(names) > 2 else names[0]
    if name == "model":
        name = ".".join(names[:2])
    return next((heading for heading, fields in _GROUPS.items() if name in fields), _REST)


def _shown(paths: list[str], most: int = 3) -> str:
    return ", ".join(paths[:most]) + (", ..." if len(paths) > most else "")


def check_encoder(model: AuditedModel, X: Any, y: Any) -> Iterator[Check]:
    """Whether the encoder of a table's columns, if the voters have one, is that of the training rows; X may be None."""
    fitted, recipe = (getattr(each, "transformer", None) for each in (model.voters_, model.voter_set_))
    if recipe is None:
        return
    if type(recipe).__name__ != "ColumnEncoder" or X is None or rule_rows(model) is not None:
        why = "it is compared by what it makes of these rows; what it makes of others, only fitting it again shows"
        yield trusted("encoder of the columns", why)
        return
    rows, _ = model.check_rows(X, y)
    again = clone(recipe).fit(_safe_indexing(rows, np.asarray(model.part_.train)))
    other = Comparison(vars(fitted), vars(again)).other if type(fitted) is type(again) else [type(fitted).__name__]
    detail = f"OTHER than the training rows make it: {_shown(other)}" if other else "as the training rows make it"
    yield Check("encoder of the columns", not other, detail)

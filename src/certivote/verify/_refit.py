"""Train again from the data, the seed and the parameters, and compare everything that comes out."""

import dataclasses
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from certivote.certificate import Certificate
from certivote.verify._audit import AuditedModel
from certivote.verify._check import Check, trusted
from certivote.verify._members import ABSOLUTE, RELATIVE, made_alike
from certivote.verify._versions import other_versions

__all__ = ["against_refit"]

_GROUPS = {
    "voters": ("votes_digest", "n_voters"),
    "hyper-prior": ("beta", "prior_weight", "hyper_prior"),
    "what was learned": ("alpha", "family", "renyi_order", "solver"),
    "draw": ("log_weights", "draw", "n_draws"),
    "price list": ("price_atoms", "price_scales"),
    "choices": ("choices",),
    "remarks": ("remarks", "assumptions"),
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
    "errors": (
        "errors",
        "losses",
        "risks",
        "risk_draws",
        "holdout_errors",
        "holdout_losses",
        "majority_class",
        "majority_errors",
        "majority_losses",
        "drift",
    ),
    "bounds": ("bound", "average_bound", "deployed", "vacuous", "penalty", "confidence", "payments"),
}
"""What is compared, under one heading each; what is in none of them is under one of its own."""
_REST = "all other fields"
_MAY_DIFFER = {
    *("created", "versions", "source", "source_digest", "target", "groups", "order"),
    "library_version",
}
"""A new fit takes place later, elsewhere, and from rows in memory, whose columns may have no names."""


def against_refit(
    c: Certificate, model: AuditedModel, X: Any, y: Any, groups: Any = None, order: Any = None
) -> Iterator[Check]:
    """Whether training again gives this certificate and this model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first fit has said what there is to say
            again = model.refit(X, y, groups=groups, order=order)
    except (TypeError, ValueError) as error:
        yield Check("refit", False, f"training again is not possible: {error}")
        return
    caveat = other_versions(c)
    same = len(model.parts_) == len(again.parts_) and all(
        np.array_equal(old.train, new.train) and np.array_equal(old.certify, new.certify)
        for old, new in zip(model.parts_, again.parts_, strict=True)
    )
    yield Check(
        "refit, row numbers", same, "those that the seed gives" if same else f"OTHER than the seed gives{caveat}"
    )
    differences = _differences(_plain(c), _plain(again.certificate_))
    grouped: dict[str, list[str]] = {name: [] for name in (*_GROUPS, _REST)}
    for path in differences:
        grouped[_group(path)].append(path)
    for name, paths in grouped.items():
        shown = ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
        told = f"OTHER than a new fit gives: {shown}{caveat}" if paths else "as a new fit gives"
        yield Check(f"refit, {name}", not paths, told)
    yield _members(model, again, caveat)
    same = _close_arrays(model.predict_proba(X), again.predict_proba(X))
    told = "those of a new fit" if same else f"OTHER than those of a new fit{caveat}"
    yield Check(
        "refit, vote masses", same, f"on {len(again.parts_[0].train) + len(again.parts_[0].certify):,} rows, {told}"
    )


def _members(model: AuditedModel, again: AuditedModel, caveat: str) -> Check:
    """Whether the voters are those of a new fit, and not only answer like them on these rows."""
    wanted = again.voters_
    if len(model.kept_voters_) < len(again.kept_voters_):
        wanted, _ = wanted.only(np.flatnonzero(again.weights_))
    same = made_alike(model.voters_, wanted)
    if same is None:
        return trusted("refit, members", "classifiers of your own: compared by their answers on these rows alone")
    told = "made of the same numbers as those of a new fit" if same else f"OTHER than those of a new fit{caveat}"
    return Check("refit, members", same, told)


def _plain(c: Certificate) -> dict[str, Any]:
    return dataclasses.asdict(c)


def _group(path: str) -> str:
    names = path.replace("]", "").replace("[", ".").split(".")
    for heading, fields in _GROUPS.items():
        if names[0] in fields or (names[0] == "parts" and len(names) > 2 and names[2] in fields):
            return heading
    return _REST


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    """The fields in which two records differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            found
            for name in old
            if name not in _MAY_DIFFER
            for found in _differences(old[name], new.get(name), f"{path}.{name}" if path else name)
        ]
    if isinstance(old, tuple) and isinstance(new, tuple):
        if len(old) != len(new):
            return [path]
        pairs = enumerate(zip(old, new, strict=True))
        if old and isinstance(old[0], dict):
            return [found for i, (a, b) in pairs for found in _differences(a, b, f"{path}[{i}]")]
        return [path] if any(_differences(a, b, path) for _, (a, b) in pairs) else []
    if isinstance(old, float) and isinstance(new, float):
        return [] if math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE) else [path]
    return [] if old == new else [path]


def _close_arrays(old: Any, new: Any) -> bool:
    return old.shape == new.shape and bool(np.allclose(old, new, rtol=RELATIVE, atol=ABSOLUTE))

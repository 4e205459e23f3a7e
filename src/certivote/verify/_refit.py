"""Train again from the data, the seed and the parameters, and compare everything that comes out, value by value."""

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

from certivote.certificate import Certificate
from certivote.verify._audit import AuditedModel
from certivote.verify._check import Check, trusted
from certivote.verify._comparison import Comparison, are_close
from certivote.verify._versions import other_versions

_GROUPS = {
    "row numbers": ("model.parts",),
    "voters": ("votes_digest", "n_voters"),
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
    "errors": (
        "errors",
        "losses",
        "means",
        "risk_draws",
        "holdout",
        "majority",
        "drift",
    ),
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
        told = f"OTHER than a new fit gives: {_shown(paths)}{caveat}" if paths else "as a new fit gives"
        if name == "remarks" and paths and table is None:
            told += " (if the fit was given other columns to look at, give them as table=)"
        yield Check(f"refit, {name}", not paths, told)
    if rounded := [*record.rounded, *found.rounded]:
        told = f"the last digits are others than those of a new fit{caveat}: {_shown(rounded)}"
        yield trusted("refit, last digits", told, *record.rounded)
    if found.unknown:
        why = "objects that no plain data hold, compared by their answers on these rows alone"
        yield trusted("refit, not compared", f"{why}: {_shown(found.unknown, 20)}")
    same = are_close(model.predict_proba(X), again.predict_proba(X))
    told = "those of a new fit" if same else f"OTHER than those of a new fit{caveat}"
    yield Check(
        "refit, vote masses", same, f"on {len(again.parts_[0].train) + len(again.parts_[0].certify):,} rows, {told}"
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

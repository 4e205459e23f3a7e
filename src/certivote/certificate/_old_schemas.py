"""Records of earlier schemas as the present one would have written them: what they did not have is empty."""

import json
from dataclasses import asdict
from typing import Any

from certivote.certificate._provenance import Provenance

__all__ = ["upgraded"]


def upgraded(record: dict[str, Any]) -> dict[str, Any]:
    """A parsed record of whichever schema; one of the present schema, or of none that is known, stays as it is.

    Raises
    ------
    ValueError
        If a record has what its schema has not.
    """
    version = written = record["schema_version"]
    if type(version) is not int:
        return record
    if version == 1:
        record, version = _from_version_1(record), 2
    if version == 2:
        record, version = _with(record, "certificate", by_class=[]), 3
    if version == 3:
        record, version = _from_version_3(record), 4
    if version == 4:
        record, version = _from_version_4(record, written), 5
    if version == 5:
        record, version = _from_version_5(record), 6
    if version == 6:
        record, version = _from_version_6(record), 7
    if version == 7:  # The fields are the same. Of several parts, bounds to compare with did not hold together.
        _made_no_later(record, 7)
        version = 8
    if version == 8:
        record, version = _from_version_8(record), 9
    return {**record, "schema_version": version}


def _with(record: dict[str, Any], where: str, **newer: Any) -> dict[str, Any]:
    """The record with fields that its schema did not have."""
    if both := record.keys() & newer.keys():
        raise ValueError(f"Not a certificate: {where} has unknown {', '.join(sorted(both))}.")
    return {**record, **newer}


def _from_version_1(record: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had one hyper-prior, one order, one draw and no digests."""
    order = record.get("order")
    newer = {"prior_weight": 1.0, "order": order, "draw": 0}
    digests = {"certified_digest": "", "teaching_digest": "", "votes_digest": ""}
    parts = []
    for i, part in enumerate(_objects(record["parts"])):
        payments = [{"what": "weights", "nats": part.get("penalty")}, {"what": "rest", "nats": part.get("confidence")}]
        parts.append(_with(part, f"certificate.parts[{i}]", **newer, **digests, payments=payments))
    orders = [] if order is None else [order]
    lists = {"orders": orders, "gamma_atoms": [], "gamma_scales": [], "choices": []}
    return {**_with(record, "certificate", **lists, n_draws=1, prior="given"), "parts": parts}


_RENAMED = {
    "shares": "average_weights",
    "order": "renyi_order",
    "orders": "renyi_orders",
    "gamma_atoms": "price_atoms",
    "gamma_scales": "price_scales",
    "prior": "hyper_prior",
}
_RENAMED_IN_PARTS = {
    "distribution": "family",
    "order": "renyi_order",
    "certified_digest": "certification_digest",
    "teaching_digest": "training_digest",
    "teaching_rows": "training_rows",
    "copies": "duplicates",
    "copies_of_teaching_rows": "duplicates_of_training_rows",
}


def _from_version_3(record: dict[str, Any]) -> dict[str, Any]:
    """Up to version 3 fields had other names, and every family one parameter per voter."""
    parts = []
    for i, part in enumerate(_objects(record["parts"])):
        alpha = part.get("alpha")
        renamed = _with_names(part, _RENAMED_IN_PARTS, f"certificate.parts[{i}]")
        n_voters = len(alpha) if isinstance(alpha, list) else None
        parts.append(_with(renamed, f"certificate.parts[{i}]", n_voters=n_voters))
    return {**_with_names(record, _RENAMED, "certificate"), "parts": parts}


def _with_names(record: dict[str, Any], names: dict[str, str], where: str) -> dict[str, Any]:
    """The record with new names of fields, where these are not taken."""
    old = {name: value for name, value in record.items() if name not in names}
    return _with(old, where, **{names[name]: value for name, value in record.items() if name in names})


def _from_version_4(record: dict[str, Any], written: int) -> dict[str, Any]:
    """Up to version 4 records did not say where they came from, nor what the most frequent class would achieve."""
    nobody = {"majority_class": "", "majority_errors": 0, "majority_bound": 1.0}
    parts = [_with(part, f"certificate.parts[{i}]", **nobody) for i, part in enumerate(_objects(record["parts"]))]
    unknown = json.loads(json.dumps(asdict(Provenance())))
    return {**_with(record, "certificate", provenance=unknown, made_in_schema=written), "parts": parts}


def _from_version_5(record: dict[str, Any]) -> dict[str, Any]:
    """Up to version 5 every row was by itself and had no time, and one vote was certified at a time."""
    alone = {"entities": 0, "losses": []}
    older = {**alone, "holdout_losses": [], "majority_losses": [], "drift": []}
    parts = [_with(part, f"certificate.parts[{i}]", **older) for i, part in enumerate(_objects(record["parts"]))]
    by_class = record.get("by_class")
    if isinstance(by_class, list) and all(isinstance(entry, dict) for entry in by_class):
        by_class = [_with(entry, f"certificate.by_class[{i}]", **alone) for i, entry in enumerate(by_class)]
    newer = _with(record, "certificate", groups="", order="", candidates=[])
    return {**newer, "parts": parts, **({} if by_class is None else {"by_class": by_class})}


def _from_version_6(record: dict[str, Any]) -> dict[str, Any]:
    """Up to version 6 there were bounds by class beside the bound, and nothing else."""
    _objects(record["parts"])
    newer = _with(record, "certificate", promises=[], together=False)
    by_class = newer.pop("by_class", None)
    if not isinstance(by_class, list):
        raise ValueError("Not a certificate: certificate.by_class must be a list.")
    if by_class:
        statements = [
            _with(entry, f"certificate.by_class[{i}]", threshold=None) if isinstance(entry, dict) else entry
            for i, entry in enumerate(by_class)
        ]
        if any(isinstance(entry, dict) and entry.get("kind") not in ("error", "false alarm") for entry in statements):
            raise ValueError("Not a certificate: certificate.by_class has a kind other than error and false alarm.")
        newer["promises"] = [_BY_CLASS | {"delta": record.get("delta"), "statements": statements}]
    return newer


_BY_CLASS = {
    "name": "by class",
    "parameters": [],
    "fixed": [],
    "guide_rows": 0,
    "set_aside": 0,
    "chosen": None,
    "thresholds": [],
    "value": None,
}


def _from_version_8(record: dict[str, Any]) -> dict[str, Any]:
    """Up to version 8 all rows were shuffled before they were divided, and no certificate followed another."""
    _made_no_later(record, 8)
    newer, origin = _with(record, "certificate", division="shuffled"), record.get("provenance")
    if isinstance(origin, dict) and record.get("made_in_schema", 0) >= 5:
        newer["provenance"] = _with(origin, "certificate.provenance", follows="", since=[])
    return newer


def _made_no_later(record: dict[str, Any], version: int) -> None:
    """Refuse a record that says it was made in a later schema than it is written in."""
    made = record.get("made_in_schema")
    if type(made) is int and made > version:
        raise ValueError(f"Not a certificate: it has schema_version {version}, and made_in_schema is {made}.")


def _objects(parts: list[Any]) -> list[dict[str, Any]]:
    if not all(isinstance(part, dict) for part in parts):
        raise ValueError("Not a certificate: 'parts' must hold objects.")
    return parts

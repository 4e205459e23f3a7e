"""Model files of format version 1, in which types and attributes had other names and places."""

import io
import json
import zipfile
from typing import Any

__all__ = ["from_version_1"]

_SCHEMA = "schema.json"
_TYPES = {
    ("certivote.split", "Fold"): ("certivote.pipeline._split", "PartRows"),
    ("certivote.voters._prefit", "Prefit"): ("certivote.voters._classifiers", "Classifiers"),
    ("certivote.voters._prefit", "_TaughtList"): ("certivote.voters._classifiers", "_FittedClassifiers"),
    ("certivote.voters._forest", "_TaughtForest"): ("certivote.voters._forest", "_FittedForest"),
    ("certivote.voters._mixed", "_TaughtMixed"): ("certivote.voters._mixed", "_FittedMixed"),
    ("certivote.voters._stumps", "_TaughtStumps"): ("certivote.voters._stumps", "_FittedStumps"),
    ("certivote.voters._preprocessed", "_TaughtPreprocessed"): (
        "certivote.voters._preprocessed",
        "_FittedPreprocessed",
    ),
}
_ATTRIBUTES = {
    "CertifiedVoteClassifier": {"teach_share": "train_share", "gamma": "price_list", "fold_": "part_"},
    "PartRows": {"teach": "train"},
    "_FittedPreprocessed": {"taught": "fitted"},
    "NeighbourMember": {"_memory": "_remembered"},
}


def from_version_1(model: bytes) -> bytes:
    """The same model with the present names. Nothing of it is run: only its description is rewritten."""
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(model)) as old, zipfile.ZipFile(content, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            new.writestr(entry, json.dumps(_renamed(json.loads(data))).encode() if entry.filename == _SCHEMA else data)
    return content.getvalue()


def _renamed(node: Any) -> Any:
    if isinstance(node, list):
        return [_renamed(item) for item in node]
    if not isinstance(node, dict):
        return node
    known = {name: _renamed(item) for name, item in node.items()}
    kind = known.get("__module__"), known.get("__class__")
    if all(isinstance(word, str) for word in kind) and kind in _TYPES:
        known["__module__"], known["__class__"] = _TYPES[kind]
    names = _ATTRIBUTES.get(known.get("__class__", ""), {}) if str(kind[0]).startswith("certivote.") else {}
    state = known.get("content")
    if names and isinstance(state, dict) and isinstance(state.get("content"), dict):
        state["content"] = {names.get(name, name): item for name, item in state["content"].items()}
    return known

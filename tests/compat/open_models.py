"""Open what other environments have written, and say as JSON what came of each: ``open_models.py [--walk] FOLDER...``.

With ``--walk``, trees are walked by certivote's own code, as where scikit-learn's compiled trees could not be used.
"""

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from stored_kinds import KINDS

import certivote
from certivote.io import ModelFileError
from certivote.voters import _trees


def outcome(path: Path, record: dict[str, Any]) -> tuple[str, str]:
    """``same`` bit for bit, ``same answers``, ``same votes``, ``refused`` or ``DIFFERENT``, and why.

    The random vote draws weights for each row and takes logarithms of them, so its masses may differ in the last
    digits: they stand for nothing but the answer. Of objects that users bring, an audit compares what scikit-learn
    prints of their parameters, and that differs between versions where defaults do.
    """
    kind = KINDS[record["kind"]]
    try:
        model = opened(path, kind.brought)
    except ModelFileError as error:
        return "refused", str(error).removeprefix(f"{path}: ").removeprefix(f"{path} ")
    except Exception as error:
        return "DIFFERENT", f"{type(error).__name__} in load: {error}"
    asked = kind.rows(record["asked"])
    masses, expected = model.predict_proba(asked), np.array(record["masses"])
    others = int(np.count_nonzero(model.predict(asked) != np.array(record["answers"])))
    if others:
        return "DIFFERENT", f"{others} of {len(expected)} answers are others"
    equal = masses.tobytes() == expected.tobytes()
    if not equal and (not model.certificate_.is_random or not np.allclose(masses, expected, rtol=0.0, atol=1e-12)):
        return "DIFFERENT", f"masses differ by up to {np.abs(masses - expected).max():.1e}, no answer does"
    checks = certivote.verify(model.certificate_, model, kind.rows(record["columns"]), record["labels"])
    failed = [check.what for check in checks if not check.passed]
    if kind.brought and failed == ["parameters of the model"]:
        return "same votes", "the audit finds other parameters, as scikit-learn prints them otherwise"
    if failed:
        return "DIFFERENT", f"the audit fails: {', '.join(failed)}"
    return "same" if equal else "same answers", ""


def opened(path: Path, brought: bool) -> Any:
    """As a user would: the types that the first refusal names are trusted, if some were brought."""
    try:
        return certivote.load(path)
    except ModelFileError as error:
        named = re.search(r"trusted=(\[.*?\])", str(error))
        if not brought or not named:
            raise
        return certivote.load(path, trusted=ast.literal_eval(named[1]))


def main(arguments: list[str]) -> None:
    if "--walk" in arguments:
        arguments.remove("--walk")
        _trees._library_agrees = lambda: False
    found = []
    for path in (path for folder in arguments for path in sorted(Path(folder).glob("*.certivote"))):
        record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        result, reason = outcome(path, record)
        brought = "yes" if KINDS[record["kind"]].brought else ""
        writer, written_on = path.parent.name.split("_")
        about = {"writer": writer, "written_on": written_on, "kind": record["kind"], "brought": brought}
        found.append(about | {"result": result, "reason": " ".join(reason.split())})
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])

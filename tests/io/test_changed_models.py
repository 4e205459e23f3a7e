"""Model files in which one value is another, each in turn: refused when they are opened, or named by a new fit."""

import re

import numpy as np
import pandas as pd
import pytest
import tiny
from crafted import Crafted
from thorough import ALL

from certivote import CertifiedVoteClassifier, load, verify
from certivote.io import ModelFileError
from certivote.methods import DisB
from certivote.voters import ColumnEncoder, Preprocessed, Stumps

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

SOME = 5
"""Values of each model that are changed in every run; all of them by ``make attacks``."""


def of(method="dis-b", voters=tiny.FOREST, split="single", **parameters):
    return CertifiedVoteClassifier(method, voters, split, random_state=3, **parameters)


def frame(X):
    state, since = (
        np.array(list("uvwx"))[X[:, 3].astype(int)],
        pd.Timestamp("2024-01-01") + pd.to_timedelta(X[:, 3], "D"),
    )
    return pd.DataFrame({"one": X[:, 0], "two": X[:, 1], "state": state, "since": since.strftime("%Y-%m-%d")})


KINDS = {
    "forest": (of(DisB(n_draws=2), prior=[1.0, 0.5, 2.0]), {}),
    "mixed": (of(voters="mixed", prior="informed"), {}),
    "table": (of(voters=Preprocessed(ColumnEncoder(fill=True), tiny.FOREST), split=2), {}),
    "random": (of("smv-mc", split="cross"), {"groups": np.arange(60) // 2}),
    "stumps": (of("fo", Stumps(2, ranges=[(-4.0, 4.0)] * 4), "none"), {}),
    "brought": (of(voters=[*tiny.BROUGHT, *tiny.BROUGHT[:1]]), {}),
}


@pytest.fixture(params=KINDS)
def model(request, monkeypatch):
    """A classifier, and what it was fitted to. A new fit is made once, unless parameters were changed."""
    clf, units = KINDS[request.param]
    X, y = tiny.rows()
    X, y = frame(X) if request.param == "table" else X, y == "a" if request.param == "stumps" else y
    refit = CertifiedVoteClassifier.refit
    again = clf.fit(X, y, **units).refit(X, y, **units)
    same = repr(clf.get_params())
    monkeypatch.setattr(
        CertifiedVoteClassifier,
        "refit",
        lambda self, *args, **given: again if repr(self.get_params()) == same else refit(self, *args, **given),
    )
    return clf, {"X": X, "y": y, **units}


def leaves(node, path=()):
    """The paths of all numbers, texts, truth values and nothings, and of arrays."""
    if isinstance(node, dict) and list(node) != ["array"]:
        node = node.items()
    elif isinstance(node, list):
        node = enumerate(node)
    else:
        return [path]
    return [found for name, value in node for found in leaves(value, (*path, name))]


def other(value):
    """Another value, of the same type if there is one."""
    if isinstance(value, np.ndarray):
        value = value.copy() if value.size else np.zeros(1, value.dtype)
        value.flat[-1] = other(value.flat[-1].item())
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value - 1 if value > 1 else value + 1
    if isinstance(value, float):
        return 0.5 if np.isnan(value) else value * (1.0 - 1e-6) if value else 1e-6
    return 1 if value is None else f"{value}x"


def changed(content, path):
    """The model file with another value in one place, and without the probe rows that would tell."""
    crafted = Crafted(content)
    root = crafted.model
    for step in path[:-1]:
        root = root[step]
    value = root[path[-1]]
    if isinstance(value, dict) and list(value) == ["array"]:
        crafted.arrays[value["array"]] = other(crafted.arrays[value["array"]])
    else:
        root[path[-1]] = other(value)
    return crafted.content()


def named(path, checks):
    """Whether a failed check says where the other value is, or that last digits are others."""
    spelled = "model" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    shown = [
        word
        for check in checks
        if not check.passed or check.what == "refit, last digits"
        for word in re.findall(r"model\.[^\s,]+", check.detail)
    ]
    return any(spelled == word or spelled.startswith((f"{word}[", f"{word}.")) for word in shown)


def test_every_other_value_is_refused_or_named(model, tmp_path):
    clf, given = model
    clf.save(tmp_path / "model.certivote")
    content = (tmp_path / "model.certivote").read_bytes()
    found = [path for path in leaves(Crafted(content).model) if path[0] not in ("probe", "probe_votes")]
    found = [path for path in found if path[-2:] not in (("classes", 0), ("labels", 0))]  # how wide texts are
    silent = []
    for path in found if ALL else [found[place] for place in np.linspace(0, len(found) - 1, SOME).astype(int)]:
        (tmp_path / "other.certivote").write_bytes(changed(content, path))
        try:
            opened = load(tmp_path / "other.certivote", tiny.TRUSTED)
            checks = verify(opened.certificate_, opened, **given, refit=True)
        except (ModelFileError, ValueError):  # whatever brought classifiers cannot answer
            continue
        # Parameters, of which the family of the voters is one, are those of the record, which a new fit also has.
        by_the_record = path[0] in ("parameters", "voter_set") and any(not check.passed for check in checks)
        if not (named(path, checks) or by_the_record):
            silent.append(path)
    assert silent == []

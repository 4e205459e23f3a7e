"""Model files of format version 3, whose trees say where every node leads: they open, and vote as they did."""

import json
from pathlib import Path

import numpy as np
import pytest
import tiny
from fuzz import members_of, packed

from certivote import load, verify
from certivote.io import ModelFileError

HERE = Path(__file__).parent
VOTES = {
    "mixed": "f9328d4f968612e85adda9d34f68f05475a9e9cfbf8f986e0913e14ae52240e5",
    "forest": "495251e645f4058b88f6328c392b4d0478a0061a28290146fb009daab2e0ab49",
}
"""Digests of the votes on 160 rows, from the version that wrote the files."""


def stored(kind):
    return HERE / f"model_version_3_{kind}.certivote"


@pytest.mark.parametrize("kind", VOTES)
def test_voters_vote_as_they_did(kind, tmp_path):
    clf = load(stored(kind))
    X, _ = tiny.rows(160)
    assert clf.voters_.votes(X).digest(plain=True) == VOTES[kind]
    clf.save(tmp_path / "model.certivote")
    again = load(tmp_path / "model.certivote")
    assert again.voters_.votes(X).digest(plain=True) == VOTES[kind]
    assert again.certificate_ == clf.certificate_


def test_a_certificate_can_be_checked_with_its_model():
    clf = load(stored("forest"))
    assert [str(check) for check in verify(clf.certificate_, clf, *tiny.rows(160)) if not check.passed] == []


def rewritten(change):
    """The bytes of the stored forest after a change of the arrays of its trees, without probe rows."""
    members = members_of(stored("forest").read_bytes())
    header, model = json.loads(members["certivote.json"]), json.loads(members["model.json"])
    fields = model["voters"]["fields"]
    numbers = {name: node["array"] for name, node in fields["trees"]["fields"].items()}
    numbers["leaf_votes"] = fields["leaf_votes"]["array"]
    arrays = {}
    for name, number in numbers.items():
        kind, shape = header["arrays"][number]
        arrays[name] = np.frombuffer(members[f"arrays/{number}"], kind).reshape(shape).copy()
    for name, array in change(arrays).items():
        header["arrays"][numbers[name]] = [array.dtype.str, list(array.shape)]
        members[f"arrays/{numbers[name]}"] = array.tobytes()
    members |= {"certivote.json": header, "model.json": {**model, "probe": None, "probe_votes": ""}}
    return packed(members)


def at(name, place, value):
    def change(arrays):
        arrays[name][place] = value
        return arrays

    return change


def leaf_that_leads_on(arrays):
    arrays["right"][np.flatnonzero(arrays["left"] == -1)[0]] = 2
    return arrays


def two_ways_to_one_node(arrays):
    """A tree that would double with every level."""
    arrays["right"][0] = arrays["left"][0]
    return arrays


DAMAGES = {
    "a column that there is not": at("feature", 0, 4),
    "a negative column": at("feature", 0, -2),
    "no threshold": at("threshold", 0, np.nan),
    "a node far away": at("left", 0, 2_000_000_000),
    "a node of another tree": lambda arrays: at("right", 0, arrays["starts"][1])(arrays),
    "a circle": at("left", 0, 0),
    "a negative child": at("left", 0, -3),
    "one side only": at("right", 0, -1),
    "a leaf that leads on": leaf_that_leads_on,
    "two ways to one node": two_ways_to_one_node,
    "starts that go back": at("starts", 1, 10**6),
    "a negative start": at("starts", 0, -1),
    "no trees": lambda arrays: {**arrays, "starts": np.zeros(1, dtype=np.int64)},
    "fewer nodes": lambda arrays: {**arrays, "left": arrays["left"][:-1]},
    "nodes in two directions": lambda arrays: {**arrays, "left": arrays["left"][None]},
    "votes of another type": lambda arrays: {**arrays, "leaf_votes": arrays["leaf_votes"].astype(np.int64)},
    "fewer votes": lambda arrays: {**arrays, "leaf_votes": arrays["leaf_votes"][:-1]},
    "votes for a class that is not": lambda arrays: {**arrays, "leaf_votes": arrays["leaf_votes"] + 5},
    "truth values that are none": lambda arrays: {**arrays, "missing_left": arrays["missing_left"].view(np.uint8) + 2},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_trees_that_are_none_are_refused(damage, tmp_path):
    path = tmp_path / "model.certivote"
    path.write_bytes(rewritten(lambda arrays: arrays))
    assert load(path).voters_.n_voters == 5
    path.write_bytes(rewritten(DAMAGES[damage]))
    with pytest.raises(ModelFileError) as refused:
        load(path)
    assert "model.certivote" in str(refused.value)


def test_trees_of_one_format_are_refused_in_the_other(files, tmp_path):
    for content, version in ((stored("forest").read_bytes(), 4), (files["forest"], 3)):
        members = members_of(content)
        header = {**json.loads(members["certivote.json"]), "format_version": version}
        (tmp_path / "model.certivote").write_bytes(packed({**members, "certivote.json": header}))
        with pytest.raises(ModelFileError):
            load(tmp_path / "model.certivote")

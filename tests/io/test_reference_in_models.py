"""What new rows are compared with, in model files: it comes back as it was, and what cannot be true is refused."""

import numpy as np
import pytest
import tiny
from crafted import Crafted, refusal

from certivote import load
from certivote.io import ModelFileError


@pytest.mark.parametrize("kind", tiny.MODELS)
def test_it_is_as_it_was(kind, tmp_path):
    clf = tiny.MODELS[kind]()
    clf.save(tmp_path / "model.certivote")
    own, again = clf.reference_, load(tmp_path / "model.certivote", tiny.TRUSTED).reference_
    assert np.array_equal(own.masses, again.masses)
    assert own.masses.dtype == again.masses.dtype
    assert len(own.columns) == len(again.columns) == clf.n_features_in_
    for one, other in zip(own.columns, again.columns, strict=True):
        assert (one.name, one.words) == (other.name, other.words)
        assert (one.edges is None) == (other.edges is None)
        assert one.edges is None or np.array_equal(one.edges, other.edges)
        assert np.array_equal(one.seen, other.seen)


def test_a_model_without_it_is_refused(files, tmp_path):
    crafted = Crafted(files["forest"])
    del crafted.model["reference"]
    (tmp_path / "model.certivote").write_bytes(crafted.content())
    with pytest.raises(ModelFileError, match="it lacks reference"):
        load(tmp_path / "model.certivote")


def put(name, value):
    def change(crafted, known):
        known[name] = crafted.put(value)

    return change


def element(name, place, value):
    def change(crafted, known):
        crafted.arrays[known[name]["array"]][place] = value

    return change


def column(place, **changes):
    def change(_, known):
        for name, value in changes.items():
            known["columns"][place][["name", "edges", "words"].index(name)] = value

    return change


ATTACKS = {
    "no masses": put("masses", np.zeros(0, dtype=np.uint16)),
    "too many masses": put("masses", np.zeros(10_001, dtype=np.uint16)),
    "masses of another type": put("masses", np.zeros(5)),
    "masses in two directions": put("masses", np.zeros((5, 5), dtype=np.uint16)),
    "masses out of order": element("masses", 0, 4096),
    "a mass above one": element("masses", -1, 4097),
    "edges out of order": element("edges", 0, 1e9),
    "edges that are no numbers": element("edges", 3, np.nan),
    "edges of another type": put("edges", np.zeros(3, dtype=np.float32)),
    "more edges than columns have": put("edges", np.arange(500.0)),
    "a negative number of rows": element("seen", 0, -1),
    "more rows than there can be": element("seen", 0, 1 << 62),
    "no rows": lambda crafted, known: crafted.arrays[known["seen"]["array"]].fill(0),
    "counts of another type": put("seen", np.ones(19 * 4)),
    "counts of fewer columns": put("seen", np.ones(3, dtype=np.int64)),
    "fewer columns": lambda _, known: known["columns"].pop(),
    "columns that are none": lambda _, known: known.update(columns=7),
    "a column that is none": lambda _, known: known["columns"].__setitem__(0, {}),
    "a name that is a number": column(0, name=3),
    "a name with half a character": column(0, name="\ud800"),
    "edges that are true": column(0, edges=True),
    "edges without end": column(0, edges=10**9),
    "fewer edges": column(0, edges=1),
    "words beside edges": column(0, words=["a"]),
    "words that are numbers": column(0, words=[1]),
    "words of no end": column(0, edges=None, words=["a" * 1000]),
    "a word twice": column(0, edges=None, words=["a"] * 15),
    "another entry": lambda _, known: known.update(more=1),
    "an array that is not there": lambda _, known: known.update(masses={"array": 999}),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_cannot_be_is_refused(attack, files, tmp_path):
    crafted = Crafted(files["forest"])
    ATTACKS[attack](crafted, crafted.model["reference"])
    refusal(tmp_path / "model.certivote", crafted.content())


@pytest.mark.parametrize("value", [7, [], "reference", {}])
def test_something_else_in_its_place_is_refused(value, files, tmp_path):
    crafted = Crafted(files["forest"])
    crafted.model["reference"] = value
    refusal(tmp_path / "model.certivote", crafted.content())

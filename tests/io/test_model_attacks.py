"""Model files of an enemy who has the source at hand: nothing is run, nothing dies, and memory stays in proportion."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny
from crafted import Crafted, refusal
from sklearn.linear_model import LogisticRegression
from thorough import ALL

from certivote import CertifiedVoteClassifier, load

HERE = Path(__file__).parent
MANY = {"forest": 3000, "random stumps": 3000, "table": 2500, "mixed": 1000, "brought": 600}
CASES = MANY if ALL else {kind: count // 10 for kind, count in MANY.items()}
"""Changed copies of each model: more than 10,000 in all with ``make attacks``, a tenth of them in every run."""


@pytest.mark.parametrize("kind", tiny.MODELS)
def test_what_is_taken_apart_and_put_together_still_votes(kind, files, tmp_path):
    """Or the attacks below would be refused for nothing."""
    (tmp_path / "model.certivote").write_bytes(Crafted(files[kind]).content())
    clf = load(tmp_path / "model.certivote", tiny.TRUSTED)
    assert len(clf.classes_) >= 2


# Fuzzing -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CASES)
def test_changed_files_are_refused_or_predict(kind, files, tmp_path):
    """In a process of its own: it says which case it was that killed it, what was called, and what memory it took."""
    path = tmp_path / "model.certivote"
    path.write_bytes(files[kind])
    command = [sys.executable, HERE / "fuzz.py", path, str(CASES[kind]), "certivote"]
    done = subprocess.run(command + list(tiny.TRUSTED) * (kind == "brought"), capture_output=True, text=True)
    assert done.returncode == 0, f"died in case {done.stderr[-500:]}"
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["refused"] + found["loaded"] == CASES[kind]
    assert found["refused"] > CASES[kind] / 10
    assert found["loaded"] > CASES[kind] / 100
    assert found["megabytes"] < 100


@pytest.mark.parametrize("kind", ["forest", "brought"])
def test_files_that_were_cut_off_are_refused(kind, files, tmp_path):
    content = files[kind]
    for part in range(50):
        refusal(tmp_path / "model.certivote", content[: len(content) * part // 50], tiny.TRUSTED)


# Voters --------------------------------------------------------------------------------------------------------------


def at(*names, **changes):
    """A change of some elements of an array of the voters."""
    places = {int(place.removeprefix("at")): value for place, value in changes.items()}

    def change(crafted):
        array = crafted.array(crafted.voters, *names)
        for place, value in places.items():
            array.flat[place] = value

    return change


def put(*names, value):
    """Another array in the place of one of the voters."""

    def change(crafted):
        fields = crafted.voters
        for name in names[:-1]:
            fields = fields[name]["fields"]
        fields[names[-1]] = crafted.put(value)

    return change


def leaf_that_asks(crafted):
    feature = crafted.array(crafted.voters, "trees", "feature")
    feature[np.flatnonzero(feature == -1)[0]] = 2_000_000_000


def last_leaf_that_asks(crafted):
    """Then the last tree has no end, and everything else is as long as it was."""
    feature = crafted.array(crafted.voters, "trees", "feature")
    feature[0], feature[-1] = -1, 0


def set_model(**values):
    def change(crafted):
        for name, value in values.items():
            crafted.model[name] = crafted.put(value) if isinstance(value, np.ndarray) else value

    return change


FORESTS = {
    "feature 2e9": at("trees", "feature", at0=2_000_000_000),
    "feature one too large": at("trees", "feature", at0=4),
    "negative feature": at("trees", "feature", at0=-2),
    "leaf that asks for a column": leaf_that_asks,
    "node that leads nowhere": last_leaf_that_asks,
    "one node": put("trees", "feature", value=np.array([0], dtype=np.int32)),
    "no node": put("trees", "feature", value=np.zeros(0, dtype=np.int32)),
    "nodes in two directions": lambda crafted: put(
        "trees", "feature", value=crafted.array(crafted.voters, "trees", "feature")[None]
    )(crafted),
    "threshold is no number": at("trees", "threshold", at0=np.nan),
    "thresholds for other nodes": put("trees", "threshold", value=np.zeros(3, dtype=np.float32)),
    "gaps for other nodes": put("trees", "missing_left", value=np.zeros(3, dtype=bool)),
    "thresholds of another type": put("trees", "threshold", value=np.zeros(3)),
    "votes for other leaves": put("leaf_votes", value=np.zeros(3, dtype=np.int32)),
    "features of another type": put("trees", "feature", value=np.zeros(3)),
    "vote for a class that is not": at("leaf_votes", at0=3),
    "vote for a negative class": at("leaf_votes", at0=-1),
    "trees without weight": put("trees", "feature", value=np.full(1000, -1, dtype=np.int32)),
    "more classes": lambda crafted: crafted.voters.update(n_classes=4),
    "whole numbers as text": lambda crafted: crafted.voters.update(n_classes="3"),
    "another field": lambda crafted: crafted.voters.update(n_jobs=10**6),
    "fewer columns": set_model(n_features=1),
    "no columns": set_model(n_features=0),
    "columns are true": set_model(n_features=True),
    "names of other columns": set_model(feature_names=["a"]),
    "weights of another type": set_model(weights=np.ones(3, dtype=np.float32)),
    "weights for others": set_model(weights=np.ones(2)),
    "negative weights": set_model(weights=np.array([-1.0, 1.0, 1.0])),
    "weights are no numbers": set_model(weights=np.array([np.nan, 0.5, 0.5])),
    "voters twice": set_model(kept=np.array([0, 0, 1])),
    "voters that were not certified": set_model(kept=np.array([0, 1, 3])),
    "negative voters": set_model(kept=np.array([-1, 0, 1])),
    "negative rows": lambda crafted: crafted.arrays[crafted.model["parts"][0]["train"]["array"]].put(0, -1),
    "rows that are no whole numbers": lambda crafted: crafted.model["parts"][0].update(train=crafted.put(np.ones(3))),
    "more parts": set_model(parts=[]),
    "weights that are drawn": set_model(hyper_posterior=np.ones(3)),
    "negative seed": set_model(prediction_seed=-1),
    "huge seed": set_model(prediction_seed=2**64),
    "classes out of order": set_model(classes=["i8", [1, 0, 2]]),
    "classes twice": set_model(classes=["i8", [0, 1, 1]]),
    "other classes": set_model(classes=["i8", [0, 1, 3]]),
    "classes of several types": set_model(classes=["u1,(9999)u8", [0, 1, 2]]),
    "classes of no type": set_model(classes=["O", [0, 1, 2]]),
    "classes with half a character": set_model(classes=["object", ["0", "1", "\ud800"]]),
    "another family": set_model(voter_set={"recipe": "Stumps", "parameters": {}}),
    "a family that is none": set_model(voter_set={"recipe": "Preprocessed", "parameters": {"transformer": 3}}),
    "a parameter that is none": lambda crafted: crafted.model["parameters"].update(delta=7.0),
    "a parameter too large": lambda crafted: crafted.model["parameters"].update(
        method={"recipe": "DisV", "parameters": {"order": 10**400}}
    ),
    "nested parameters": lambda crafted: crafted.model["parameters"].update(prior=nested(60)),
    "an array that is not there": set_model(weights={"array": 99}),
    "an array twice": set_model(weights={"array": 4}, kept={"array": 4}),
    "probe rows of other columns": set_model(probe={"pairs": [["rows", {"array": 2}]]}),
    "sparse probe rows with bad columns": lambda crafted: crafted.model.update(
        probe=sparse_rows(crafted, [0, 99], [0, 2], [1, 4])
    ),
    "sparse probe rows with bad rows": lambda crafted: crafted.model.update(
        probe=sparse_rows(crafted, [0, 1], [0, 10**9], [1, 4])
    ),
}


def nested(depth):
    return [] if not depth else [nested(depth - 1)]


def sparse_rows(crafted, indices, starts, shape):
    arrays = (np.ones(2), np.array(indices, dtype=np.int32), np.array(starts, dtype=np.int32))
    return {"pairs": [["sparse", {"tuple": [crafted.put(array) for array in arrays]}], ["shape", shape]]}


@pytest.mark.parametrize("attack", FORESTS)
def test_trees_and_what_belongs_to_them(attack, files, tmp_path):
    crafted = Crafted(files["forest"])
    FORESTS[attack](crafted)
    refusal(tmp_path / "model.certivote", crafted.content())


LINEAR = 1
"""The place of the linear models among the members."""


def member(kind, place=0):
    """A member of the mixed vote that is no forest."""
    number = ["boosting", "linear", "kernel", "gaussian", "neighbours", "oblivious"].index(kind)

    def find(crafted):
        found = crafted.voters["members"][number]["fields"]
        return found["models"][place]["fields"] if "models" in found else found

    return find


def inside(kind, change):
    """A change of the fields of a member, given as the file and the fields."""
    return lambda crafted: change(crafted, member(kind)(crafted))


def element(*names, place=0, value):
    def change(crafted, fields):
        crafted.array(fields, *names).flat[place] = value

    return change


def replaced(*names, value):
    def change(crafted, fields):
        for name in names[:-1]:
            fields = fields[name]["fields"]
        fields[names[-1]] = crafted.put(value) if isinstance(value, np.ndarray) else value

    return change


def many_edges(crafted, fields):
    """Places among them are counted in single precision."""
    starts, own = crafted.array(fields, "edge_starts"), crafted.array(fields, "edges")
    more = 1 << 17
    last = int(starts[-1])
    fields["edges"] = crafted.put(np.append(own, (own[-1] if last else 0.0) + np.arange(1.0, more + 1)))
    fields["edge_starts"] = crafted.put(np.append(starts[:-1], last + more))


def many_stages(crafted):
    folded = crafted.voters["members"][LINEAR]["fields"]
    folded["models"] = [{"kind": "Always", "fields": {"code": 0, "n_stages": 60_000}}]
    folded["n_groups"] = 60_000


def large_tree(crafted, fields):
    """A tree of 40 leaves in place of the first one."""
    trees = fields["trees"]["fields"]
    feature = crafted.array(trees, "feature")
    end = feature_end(feature)
    gone = int(np.count_nonzero(feature[:end] >= 0))

    def put(where, name, first, rest):
        crafted.arrays[where[name]["array"]] = np.concatenate([first, rest]).astype(rest.dtype)

    put(trees, "feature", [0] * 39 + [-1] * 40, feature[end:])
    put(trees, "threshold", [0.0] * 39, crafted.array(trees, "threshold")[gone:])
    put(trees, "missing_left", [False] * 39, crafted.array(trees, "missing_left")[gone:])
    put(fields, "values", [0.0] * 40, crafted.array(fields, "values")[gone + 1 :])


def deep_trees(crafted, fields):
    """Of nine levels, whose answers are more bits than a byte has."""
    fields["columns"] = crafted.put(np.zeros((3, 9), dtype=np.int32))
    fields["borders"] = crafted.put(np.zeros((3, 9), dtype=np.float32))
    fields["values"] = crafted.put(np.zeros((3, 512, 3), dtype=np.float32))


def no_trees(crafted, fields):
    fields["columns"] = crafted.put(np.zeros((0, 2), dtype=np.int32))
    fields["borders"] = crafted.put(np.zeros((0, 2), dtype=np.float32))
    fields["values"] = crafted.put(np.zeros((0, 4, 3), dtype=np.float32))


def feature_end(feature):
    """Where the first tree ends."""
    return int(np.argmax(np.cumsum(np.where(feature < 0, -1, 1)) < 0)) + 1


MIXED = {
    "stage 0": inside("boosting", element("stages", value=0)),
    "stage after the last": inside("boosting", element("stages", value=3)),
    "edges go back": inside("boosting", element("edge_starts", place=1, value=10**9)),
    "edges of more columns": inside("boosting", replaced("edge_starts", value=np.zeros(7, dtype=np.int64))),
    "more edges than single precision can count": inside("boosting", many_edges),
    "edges are no numbers": inside("boosting", element("edges", value=np.nan)),
    "boosting asks for a column": inside("boosting", element("trees", "feature", value=4)),
    "boosting that leads nowhere": inside("boosting", element("trees", "feature", place=-1, value=0)),
    "boosting has a threshold too many": inside("boosting", element("trees", "threshold", value=1000.0)),
    "boosting has a negative threshold": inside("boosting", element("trees", "threshold", value=-1.0)),
    "boosting has half a threshold": inside("boosting", element("trees", "threshold", value=0.5)),
    "boosting has an infinite threshold": inside("boosting", element("trees", "threshold", value=np.inf)),
    "edges that fall": inside("boosting", element("edges", value=1e9)),
    "a large tree of boosting": inside("boosting", large_tree),
    "values for other leaves": inside("boosting", replaced("values", value=np.zeros(2))),
    "boosting of other classes": inside("boosting", element("classes", place=2, value=3)),
    "boosting of a class twice": inside("boosting", element("classes", place=1, value=0)),
    "more scores": inside("boosting", replaced("baseline", value=np.zeros(2))),
    "oblivious trees of a column": inside("oblivious", element("columns", value=4)),
    "oblivious trees of a negative column": inside("oblivious", element("columns", value=-1)),
    "oblivious trees without borders": inside("oblivious", element("borders", value=np.nan)),
    "oblivious trees with other borders": inside("oblivious", replaced("borders", value=np.zeros((3, 1), dtype="f4"))),
    "oblivious trees that add infinities": inside("oblivious", element("values", value=np.inf)),
    "oblivious trees with other leaves": inside("oblivious", replaced("values", value=np.zeros((3, 2, 3), dtype="f4"))),
    "oblivious trees with other scores": inside("oblivious", replaced("baseline", value=np.zeros(1))),
    "oblivious trees that begin with infinities": inside("oblivious", element("baseline", value=np.inf)),
    "oblivious trees of other classes": inside("oblivious", element("classes", place=2, value=3)),
    "oblivious trees of a class twice": inside("oblivious", element("classes", place=1, value=0)),
    "oblivious trees after which none is left": inside("oblivious", element("stages", value=4)),
    "oblivious trees before the first": inside("oblivious", element("stages", value=0)),
    "oblivious trees too deep": inside("oblivious", deep_trees),
    "oblivious trees in one direction": inside("oblivious", replaced("columns", value=np.zeros(6, dtype=np.int32))),
    "oblivious trees that are none": inside("oblivious", no_trees),
    "linear model of other classes": inside("linear", element("classes", value=-1)),
    "linear model of a class twice": inside("linear", element("classes", place=1, value=0)),
    "other coefficients": inside("linear", replaced("coefficients", value=np.zeros((2, 3)))),
    "a column that is not": inside("linear", element("encoding", "numbers", value=4)),
    "a negative column": inside("linear", element("encoding", "coded", value=-1)),
    "a column twice": inside("linear", element("encoding", "numbers", place=1, value=0)),
    "codes that do not divide": inside("linear", element("encoding", "level_starts", place=1, value=-1)),
    "division by zero": inside("linear", element("encoding", "scale", value=0.0)),
    "mean is no number": inside("linear", element("encoding", "mean", value=np.nan)),
    "normal distributions of other classes": inside("gaussian", element("classes", place=2, value=3)),
    "normal distributions of another width": inside("gaussian", replaced("whiteners", value=np.zeros((3, 4, 3)))),
    "means of another width": inside("gaussian", replaced("means", value=np.zeros((3, 5)))),
    "other offsets": inside("gaussian", replaced("offsets", value=np.zeros(2))),
    "gamma is infinite": inside("kernel", replaced("gamma", value={"float": "inf"})),
    "gamma is true": inside("kernel", replaced("gamma", value=True)),
    "points of other classes": inside("kernel", element("counts", value=-1)),
    "other intercepts": inside("kernel", replaced("intercepts", value=np.zeros(2))),
    "neighbours of other classes": inside("neighbours", element("labels", value=3)),
    "neighbours of negative classes": inside("neighbours", element("labels", value=-1)),
    "neighbours off the grid": inside("neighbours", element("points", value=-(2**31))),
    "neighbours of two labels": inside("neighbours", replaced("labels", value=np.zeros((30, 2), dtype=np.int64))),
    "no neighbours": inside("neighbours", replaced("points", value=np.zeros((0, 4), dtype=np.int32))),
    "many stages of nothing": many_stages,
    "no models": lambda crafted: crafted.voters["members"][LINEAR]["fields"].update(models=[]),
    "columns of a model that are not": lambda crafted: crafted.voters["members"][LINEAR]["fields"].update(
        columns=[crafted.put(np.array([0, 1, 2, 4]))]
    ),
    "columns of a model twice": lambda crafted: crafted.voters["members"][LINEAR]["fields"].update(
        columns=[crafted.put(np.array([0, 1, 2, 2]))]
    ),
    "no voters": lambda crafted: crafted.voters.update(forests=[], members=[]),
}


@pytest.mark.parametrize("attack", MIXED)
def test_models_of_other_kinds(attack, files, tmp_path):
    crafted = Crafted(files["mixed"])
    MIXED[attack](crafted)
    refusal(tmp_path / "model.certivote", crafted.content())


def encoder(**changes):
    def change(crafted):
        columns = crafted.voters["transformer"]["columns"]
        for name, value in changes.items():
            columns[name] = value(crafted, columns[name])

    return change


def place_of(crafted, known, value):
    crafted.arrays[known[2]["array"]][0] = value
    return known


ENCODERS = {
    "a kind that is none": encoder(kinds=lambda _, known: [*known[:2], "pickle"]),
    "a kind that is a list": encoder(kinds=lambda _, known: [*known[:2], ["category"]]),
    "fewer kinds": encoder(kinds=lambda _, known: known[:2]),
    "categories of a number": encoder(categories=lambda _, known: [["a"], *known[1:]]),
    "no categories": encoder(categories=lambda _, known: [None] * 3),
    "categories that are numbers": encoder(categories=lambda _, known: [None, None, [1, 2, 3, 4]]),
    "fewer places": encoder(places=lambda crafted, known: [*known[:2], crafted.put(np.zeros(2))]),
    "places of another type": encoder(places=lambda crafted, known: [*known[:2], crafted.put(np.zeros(4, dtype=int))]),
    "infinite places": encoder(places=lambda crafted, known: place_of(crafted, known, np.inf)),
    "places that are no numbers": encoder(places=lambda crafted, known: place_of(crafted, known, np.nan)),
    "fewer medians": encoder(medians=lambda crafted, _: crafted.put(np.zeros(2))),
    "infinite medians": encoder(medians=lambda crafted, _: crafted.put(np.array([0.0, np.inf, 0.0]))),
    "other names": encoder(names=lambda _, known: ["\x1b[2J", *known[1:]]),
    "no names": encoder(names=lambda *_: None),
    "other parameters": encoder(parameters=lambda _, known: {**known, "fit": "x"}),
    "parameters that are none": encoder(parameters=lambda _, known: {**known, "fill": [1, 2]}),
    "more columns": lambda crafted: crafted.voters.update(width=4),
    "a family that is none": lambda crafted: crafted.voters.update(
        family={"recipe": "Classifiers", "parameters": {"classifiers": []}}
    ),
}


@pytest.mark.parametrize("attack", ENCODERS)
def test_encoders_of_columns(attack, files, tmp_path):
    crafted = Crafted(files["table"])
    ENCODERS[attack](crafted)
    refusal(tmp_path / "model.certivote", crafted.content())


def test_a_random_vote_draws_by_what_was_certified(files, tmp_path):
    crafted = Crafted(files["random stumps"])
    crafted.model["hyper_posterior"] = None
    assert "another kind of vote" in refusal(tmp_path / "model.certivote", crafted.content())
    crafted.model["hyper_posterior"] = crafted.put(-np.ones(8))
    assert "not the certified one" in refusal(tmp_path / "model.certivote", crafted.content())


def test_an_answer_that_is_no_class_is_not_counted_beyond_the_last(files, tmp_path):
    """It would be written past the end of the votes."""
    X, y = tiny.rows()
    clf = CertifiedVoteClassifier("dis-b", [LogisticRegression()], random_state=0).fit(X, y)
    clf.voters_.classifiers[0].classes_ = np.array(["a", "b", "z"])
    with pytest.raises(ValueError, match="an answer that is none of the classes"):
        clf.predict(X)

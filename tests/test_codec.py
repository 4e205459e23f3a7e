"""Whatever anyone has written is read alike: certificates, model files, states of monitors and counts.

What only one of them can tell, such as evidence against counts, is tested where it lives.
"""

import copy
import dataclasses
import hashlib
import json
import math
import tracemalloc
import zipfile
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from thorough import ALL

from certivote import Certificate, CertifiedVoteClassifier, Monitor, PredictionCounts, count_predictions, load
from certivote.codec import (
    CodecError,
    Count,
    FileError,
    Longest,
    Names,
    Share,
    Within,
    any_value,
    at,
    parse,
    printable,
    read,
    write,
)
from certivote.io import ModelFileError
from certivote.monitor import StateFileError
from certivote.theory.methods import METHODS
from certivote.voters import Forest

# The four kinds -------------------------------------------------------------------------------------------------------


@cache
def model():
    forest = Forest(RandomForestClassifier(3, max_depth=3))
    return CertifiedVoteClassifier("dis-b", forest, random_state=0).fit(*load_iris(return_X_y=True))


class Certificates:
    """The text of a certificate."""

    error = ValueError

    def written(self, path):
        return json.loads(model().certificate_.to_json())

    def open(self, text, path):
        return Certificate.from_json(text)


class Models:
    """The plain data in a model file."""

    error = ModelFileError

    def written(self, path):
        model().save(path)
        with zipfile.ZipFile(path) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}
        # Without probe rows nothing but the reader tells that something is wrong.
        return json.loads(self.members["model.json"]) | {"probe": None, "probe_votes": ""}

    def open(self, text, path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, content in (self.members | {"model.json": text.encode(errors="surrogatepass")}).items():
                archive.writestr(name, content)
        return load(path)


class States:
    """What the state file of a monitor holds."""

    error = StateFileError

    def written(self, path):
        monitor, y = Monitor(model().certificate_, watch="all"), model().classes_
        monitor.update(np.repeat(y, 20), np.roll(np.repeat(y, 20), 3), ids=range(60), when="once")
        monitor.save(path)
        return json.loads(path.read_text())["content"]

    def open(self, text, path):
        digest = ""
        if len(text) < 1 << 20:
            with suppress(RecursionError, ValueError):  # otherwise it has none
                plain = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
                digest = hashlib.sha256(plain.encode()).hexdigest()
        envelope = {"format": "certivote monitor", "schema_version": 1, "kind": "outcomes", "digest": digest}
        path.write_text(json.dumps(envelope)[:-1] + f', "content": {text}}}', errors="surrogatepass")
        return Monitor.load(path)


class PartCounts:
    """The text of counts."""

    error = ValueError

    def written(self, path):
        return json.loads(count_predictions(["a", "b"] * 20, ["a", "a"] * 20).to_json())

    def open(self, text, path):
        return PredictionCounts.from_json(text)


KINDS = {"certificate": Certificates, "model": Models, "state": States, "counts": PartCounts}


@pytest.fixture(scope="module", params=KINDS)
def kind(request, tmp_path_factory):
    """What opens a text, and the record of one that is as it should be."""
    made, path = KINDS[request.param](), tmp_path_factory.mktemp(request.param) / "file"
    made.record, made.path = made.written(path), path
    return made


def refusal(kind, text):
    """What is said of a text that must be refused."""
    with pytest.raises(kind.error) as refused:
        kind.open(text, kind.path)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 1000
    return str(refused.value)


FREE = {"parameters", "voter_set"}
"""What these hold is as the user's estimator has it."""


def places(node, path=()):
    """All places of a record, of a list the first and the last one."""
    names = list(node) if isinstance(node, dict) else sorted({0, len(node) - 1}) if isinstance(node, list) else ()
    for name in names:
        if node and name not in FREE:
            yield node[name], (*path, name)
            yield from places(node[name], (*path, name))


def changed(record, path, value):
    """The text of the record with something else in one place."""
    *before, last = path
    found = node = copy.deepcopy(record)
    for name in before:
        node = node[name]
    node[last] = value
    return json.dumps(found)


def test_what_is_as_it_should_be_is_read(kind):
    """Or all below would be refused for nothing."""
    assert kind.open(json.dumps(kind.record), kind.path) is not None


# Texts ----------------------------------------------------------------------------------------------------------------

DEEP = ("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000)


@pytest.mark.parametrize("text", DEEP, ids=["lists", "closed lists", "objects", "closed objects"])
def test_what_is_too_deep_is_refused(kind, text):
    assert "nested too deeply" in refusal(kind, text)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", "3", "1" * 10_000, '"x"', "\ud800", "\x1b[2J"])
def test_other_texts_are_refused(kind, text):
    refusal(kind, text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400, "9" * 5000])
def test_what_is_no_number_is_refused_wherever_it_stands(kind, number):
    numbers = [path for value, path in places(kind.record) if type(value) in (int, float)]
    for path in numbers[:: 1 if ALL else 5]:
        refusal(kind, changed(kind.record, path, "HERE").replace('"HERE"', number))


def test_keys_that_are_repeated_are_refused(kind):
    text = json.dumps(kind.record)
    assert "more than once" in refusal(kind, '{"more": 1, "more": 1, ' + text[1:])


def test_long_lists_are_refused_before_they_take_memory(kind):
    text = "[" + "0," * (1 << 25) + "0]"
    tracemalloc.start()
    try:
        refusal(kind, text)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 6 * len(text)


# Values ---------------------------------------------------------------------------------------------------------------


def test_what_is_missing_or_too_much_is_refused_wherever_it_is(kind):
    objects = [((), kind.record), *((path, value) for value, path in places(kind.record) if isinstance(value, dict))]
    for path, value in objects:
        more = {**value, "more": 1}
        refusal(kind, changed(kind.record, path, more) if path else json.dumps(more))
        for name in set(value) - FREE:
            less = {other: each for other, each in value.items() if other != name}
            refusal(kind, changed(kind.record, path, less) if path else json.dumps(less))


def test_values_of_other_types_are_refused_wherever_they_stand(kind):
    """But for a label of counts, which may be a text, a number or a truth value."""
    others = {bool: (1, "x"), int: (True, 0.5, "x"), float: (True, "x"), str: (3, []), list: ({}, 3), dict: ([], "x")}
    for value, path in places(kind.record):
        if {"true", "said"} & set(path[:-1]):
            continue
        for other in others.get(type(value), ()):
            refusal(kind, changed(kind.record, path, other))


def test_halves_of_characters_are_refused_wherever_they_stand(kind):
    for value, path in places(kind.record):
        if isinstance(value, str):
            refusal(kind, changed(kind.record, path, "\ud800"))


STRANGE = [None, True, -1, 0, 1, 10**30, 0.5, 1e308, -1e308, "", "x" * 100_000, "\x1b[2J", [], {}, [[]], [None], [1, 2]]


def test_strange_values_are_refused_or_harmless(kind):
    """Some or all of the places, each with some other value: a refusal, or something that can be shown."""
    rng, found, refused = np.random.default_rng(0), list(places(kind.record)), []
    for _ in range(3000 if ALL else 150):
        _, path = found[int(rng.integers(len(found)))]
        text = changed(kind.record, path, STRANGE[int(rng.integers(len(STRANGE)))])
        try:
            assert str(kind.open(text, kind.path))
        except kind.error as error:
            refused.append(str(error))
    assert all(said.isprintable() and len(said) < 1000 for said in refused)
    assert refused


def test_a_name_is_known_as_soon_as_it_is_registered(monkeypatch):
    """It is read, and what has that name is not asked for anything."""
    text = model().certificate_.to_json().replace('"method": "dis-b"', '"method": "mine"')
    with pytest.raises(ValueError, match=r"method must be one of dis-b, .*; got 'mine'"):
        Certificate.from_json(text)
    monkeypatch.setitem(METHODS, "mine", METHODS["dis-r"])
    assert Certificate.from_json(text).method == "mine"


# The reader itself ----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Inner:
    n: Count
    content: bytes = b""
    unread: int = dataclasses.field(default=7, metadata={"stored": False})


@dataclasses.dataclass(frozen=True)
class Outer:
    name: Annotated[str, Longest(5), printable]
    kind: Literal["a", "b"]
    share: Annotated[float, Within(0, 1, closed="right")]
    inner: tuple[Inner, ...]
    pair: tuple[int, str]
    either: str | bool | int | float | None
    free: dict[str, Any]
    chosen: Annotated[str, Names({"x": 1, "y": 2})] = "x"

    def check(self):
        if self.pair[0] > len(self.inner):
            with at(".pair"):
                raise CodecError("is more than there is")


GOOD = {
    "name": "é",
    "kind": "a",
    "share": 1,
    "inner": [{"n": 3, "content": "YWJj"}],
    "pair": [1, "x"],
    "either": None,
    "free": {"deep": [[{"a": 0.5}]]},
    "chosen": "y",
}


def test_a_record_is_read_by_its_annotations():
    made = read(Outer, GOOD)
    assert made == Outer("é", "a", 1.0, (Inner(3, b"abc"),), (1, "x"), None, {"deep": [[{"a": 0.5}]]}, "y")
    assert type(made.share) is float
    assert read(Outer, parse(write(made))) == made


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 3}, "name must be a text; got 3"),
        ({"name": "abcdef"}, "name must have a length of at most 5; got 6"),
        ({"name": "a\n"}, r"name must be a printable text; got 'a\\n'"),
        ({"name": "\udfff"}, "name holds half of a surrogate pair"),
        ({"kind": "c"}, "kind must be one of a, b; got 'c'"),
        ({"share": 0}, r"share must be in \(0, 1\]; got 0.0"),
        ({"share": True}, "share must be a finite number; got True"),
        ({"share": math.inf}, "share must be a finite number; got inf"),
        ({"share": 10**400}, "share must be a finite number; got 1000"),
        ({"inner": {}}, "inner must be a list; got {}"),
        ({"inner": [{"n": 1, "content": ""}, {"n": 1}]}, r"inner\[1\] lacks content"),
        ({"inner": [{"n": 1, "content": "", "unread": 1}]}, r"inner\[0\] has unknown fields, such as 'unread'"),
        ({"inner": [{"n": 1, "content": "a"}]}, r"inner\[0\].content must be bytes as base64"),
        ({"inner": [{"n": 1.0, "content": ""}]}, r"inner\[0\].n must be a whole number; got 1.0"),
        ({"inner": [{"n": 2**60, "content": ""}]}, r"inner\[0\].n must be in \[0, "),
        ({"pair": [1]}, "pair must be a list of 2 values"),
        ({"pair": [1, 2]}, r"pair\[1\] must be a text; got 2"),
        ({"pair": [2, ""]}, "pair is more than there is"),
        ({"either": []}, "either must be a text; got"),
        ({"free": [1]}, "free must be an object"),
        ({"free": {"a": 10**400}}, r"free\['a'\] must be a number that a float can be"),
        ({"free": {"a": json.loads("[" * 30 + "]" * 30)}}, r"free\['a'\] is nested too deeply"),
        ({"free": {"\ud800": 1}}, r"free\['\\ud800'\] holds half"),
        ({"chosen": "z"}, "chosen must be one of x, y, or registered by the module that defines it; got 'z'"),
        ({"more": 1}, "it has unknown fields, such as 'more'"),
    ],
)
def test_what_is_refused_is_named(change, message):
    with pytest.raises(CodecError, match=f"^{message}"):
        read(Outer, {**GOOD, **change})


@pytest.mark.parametrize("value", ["a", True, False, 3, 3.0, 0.5, None])
def test_of_a_union_the_first_that_fits_is_read(value):
    found = read(Outer, {**GOOD, "either": value}).either
    assert (type(found), found) == (type(value), value)


@given(st.text(max_size=4), st.floats(0, 1), st.binary(max_size=9), st.one_of(st.text(), st.integers(), st.none()))
def test_what_is_written_is_read(name, share, content, either):
    text = write(Inner(3, content), indent=2)
    assert read(Inner, parse(text.encode())) == Inner(3, content)
    made = dataclasses.replace(read(Outer, GOOD), name="", share=share or 0.5, either=either, free={name: [share]})
    assert read(Outer, parse(write(made, ensure_ascii=True))) == made


def test_what_json_does_not_have_is_neither_written_nor_read():
    with pytest.raises(TypeError, match="JSON has no set"):
        write(Inner({1}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        write([math.nan])
    odd = dataclasses.make_dataclass("Odd", [("values", set[int])])
    with pytest.raises(TypeError, match="There is no reader for"):
        read(odd, {"values": []})


def test_texts_are_bounded():
    assert parse(b"[1, 2]", longest=6, most_values=2) == [1, 2]
    with pytest.raises(CodecError, match="it has 6 characters, and at most 5 are read"):
        parse("[1, 2]", longest=5)
    with pytest.raises(CodecError, match="it has more than 1 values"):
        parse("[1, 2]", most_values=1)
    with pytest.raises(CodecError, match="can't decode"):
        parse(b"\xff")


def test_a_number_is_in_an_interval_with_or_without_its_ends():
    inside = {"both": (0, 1), "left": (0,), "right": (1,), "neither": ()}
    for closed, ends in inside.items():
        within = Within(0, 1, closed=closed)
        for value in (-1e-300, 0, 1e-300, 0.5, 1 - 1e-15, 1, 1 + 1e-15):
            if 0 < value < 1 or value in ends:
                within(value)
            else:
                with pytest.raises(CodecError, match="must be in"):
                    within(value)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_any_value_is_one_that_others_can_work_with(value):
    try:
        assert any_value(value) is value
    except CodecError:
        return
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def test_what_is_said_of_a_file_can_be_shown():
    assert str(FileError("a\x1b[2J" + "x" * 20_000)).startswith(r"a\x1b[2Jxxx")
    assert len(str(FileError("x" * 20_000))) == 10_000


def test_shares_are_between_0_and_1():
    share = dataclasses.make_dataclass("S", [("value", Share)])
    with pytest.raises(CodecError, match=r"value must be in \[0.0, 1.0\]; got 1.5"):
        read(share, {"value": 1.5})

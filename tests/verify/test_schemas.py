"""The JSON Schemas that the package brings say what the readers read, no less and hardly more."""

import importlib.resources
import importlib.util
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from forging import forgeries, text
from kinds import GIVEN, SETTINGS, case
from thorough import ALL

from certivote import Certificate, DriftMonitor, Monitor
from certivote.codec import CodecError, Reader
from certivote.monitor import _drift_state, _monitor_state

SCRIPT = Path(__file__).parents[2] / "docs" / "schemas.py"
NAMES = ("certificate.schema.json", "monitor.schema.json")


def committed(name):
    return (importlib.resources.files("certivote") / "schemas" / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def validators():
    jsonschema = pytest.importorskip("jsonschema")
    found = {}
    for name in NAMES:
        schema = json.loads(committed(name))
        jsonschema.Draft202012Validator.check_schema(schema)
        found[name] = jsonschema.Draft202012Validator(schema)
    return found


def test_the_schemas_are_those_of_the_annotations():
    """Written by ``python docs/schemas.py``."""
    spec = importlib.util.spec_from_file_location("schemas", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    made = script.schemas()
    assert tuple(made) == NAMES
    for name, schema in made.items():
        assert committed(name) == script.written(schema), "run python docs/schemas.py"


@pytest.mark.parametrize("name", [*SETTINGS, *GIVEN])
def test_certificates_of_all_kinds_are_valid(name, validators):
    validators[NAMES[0]].validate(json.loads(text(name)))


def states(name, folder):
    """The states of both monitors of a model, as they are written."""
    given = case(name)
    X, y = given.X[:20], given.y[:20]
    monitor = Monitor(given.model)
    monitor.update(y, given.model.predict(X), ids=np.arange(20), table=X, scores=given.model.predict_proba(X))
    drift = DriftMonitor(given.model)
    drift.update(X)
    for kind, each in (("outcomes", monitor), ("rows", drift)):
        path = folder / f"{kind}.json"
        each.save(path)
        yield json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["dis-b", "dis-b of three classes", "dis-b with promises", "fo"])
def test_states_of_monitors_are_valid(name, validators, tmp_path):
    found = list(states(name, tmp_path))
    assert [state["kind"] for state in found] == ["outcomes", "rows"]
    for state in found:
        validators[NAMES[1]].validate(state)


def whole_as_a_fraction(record, accepted):
    """Whether the two differ only in how a whole number is written: 3.0 is one for a schema."""

    def rewritten(value):
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, list):
            return [rewritten(each) for each in value]
        return {key: rewritten(each) for key, each in value.items()} if isinstance(value, dict) else value

    return accepted(rewritten(record))


def agreement(honest, kind, valid, step, into=lambda root: root):
    """How many changed records both refuse and both accept; the reader is asked for types, names and ranges alone."""
    reader = Reader().reader(kind)

    def accepted(record):
        try:
            reader(into(record))
        except CodecError:
            return False
        return True

    counts = {True: 0, False: 0}
    for path, what, forge in itertools.islice(forgeries(honest), step // 2, None, step):
        record = json.loads(json.dumps(honest))
        forge(record)
        said, own = valid(record), accepted(record)
        assert said == own or (said and whole_as_a_fraction(record, accepted)), (path, what, said, own)
        counts[own] += 1
    return counts


@pytest.mark.parametrize("name", ["dis-b with promises", "given models", "dis-r across"])
def test_what_a_schema_of_certificates_refuses_the_reader_refuses_and_the_other_way_round(name, validators):
    counts = agreement(json.loads(text(name)), Certificate, validators[NAMES[0]].is_valid, 1 if ALL else 40)
    assert min(counts.values()) > 5


def test_the_same_of_monitors(validators, tmp_path):
    schema = validators[NAMES[1]]
    for state, kind in zip(
        states("dis-b", tmp_path), (_monitor_state.MonitorState, _drift_state.DriftState), strict=True
    ):
        valid = lambda content, state=state: schema.is_valid({**state, "content": content})  # noqa: E731
        counts = agreement(state["content"], kind, valid, 1 if ALL else 15)
        assert min(counts.values()) > 5

"""The record of where a certificate comes from: the file, the parameters, and what JSON may hold of it."""

import json
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from fits import fitted
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from certivote import Certificate
from certivote.certificate import recorded_parameters
from certivote.methods import DisB
from certivote.splits import Cross
from certivote.voters import Stumps

DIGEST = sha256(b"rows").hexdigest()


def certificate():
    return fitted("dis-b").certificate_


# The file


@pytest.mark.parametrize("name", ["rows.csv", "data/rows.csv", "/home/someone/rows.csv", "C:\\data\\rows.csv"])
def test_of_a_path_only_the_name_is_kept(name):
    made = certificate().with_source(name, DIGEST)
    assert (made.provenance.source, made.provenance.source_digest) == ("rows.csv", DIGEST)
    assert made != certificate()
    assert Certificate.from_json(made.to_json()) == made
    assert (made.parts, made.bound) == (certificate().parts, certificate().bound)
    assert "someone" not in made.to_json()


@pytest.mark.parametrize(
    ("name", "digest", "message"),
    [
        ("", DIGEST, "name must be the name of a file"),
        ("data/", DIGEST, "name must be the name of a file"),
        ("rows.csv", DIGEST[:-1], "digest must be a SHA-256"),
        ("rows.csv", DIGEST.upper(), "digest must be a SHA-256"),
        ("rows.csv", DIGEST + "\n", "digest must be a SHA-256"),
        ("rows.csv", "", "digest must be a SHA-256"),
    ],
)
def test_what_is_no_file_or_digest_is_refused(name, digest, message):
    with pytest.raises(ValueError, match=message):
        certificate().with_source(name, digest)


# Parameters


def test_parameters_become_json():
    given = {
        "method": DisB(n_draws=np.int64(3), price_list=[(5.0, np.float64(0.9))]),
        "delta": np.float64(0.1),
        "prior": np.array([1.0, 2.0]),
        "voters": pd.Series([1.5, 2.0]),
        "split": Cross(tau=0.3),
        "loss": None,
        "together": float("inf"),
        "random_state": 0,
        "verbose": True,
    }
    recorded = dict(recorded_parameters(given))
    assert {name: json.loads(text) for name, text in recorded.items()} == {
        "method": {
            "name": "dis-b",
            "constant": "exact",
            "family": "dirichlet",
            "n_draws": 3,
            "price_list": [[5.0, 0.9]],
            "solver": "lbfgs",
        },
        "delta": 0.1,
        "prior": [1.0, 2.0],
        "voters": [1.5, 2.0],
        "split": {"name": "cross", "tau": 0.3, "train_share": 0.5},
        "loss": None,
        "together": "inf",
    }


def recorded_voters(voters):
    return json.loads(dict(recorded_parameters({"voters": voters}))["voters"])


def test_voters_are_described():
    assert recorded_voters("mixed") == "mixed"
    assert recorded_voters(Stumps(n_thresholds=3)) == "Stumps(n_thresholds=3)"
    listed = [LogisticRegression(C=2.0), make_pipeline(LogisticRegression())]
    assert (
        recorded_voters(listed)
        == "[LogisticRegression(C=2.0), Pipeline(steps=[('logisticregression', LogisticRegression())])]"
    )


def test_a_description_has_no_address_and_an_end():
    one, two = (FunctionTransformer(lambda X: X) for _ in range(2))
    assert repr(one) != repr(two)
    assert recorded_voters([one]) == recorded_voters([two])
    assert " at 0x" not in recorded_voters(one)
    assert len(recorded_voters([LogisticRegression(C=float(k)) for k in range(1, 999)])) == 2000


# JSON


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda made: made.pop("entropy"), "provenance lacks entropy"),
        (lambda made: made.update(owner="me"), "provenance has unknown fields, such as 'owner'"),
        (lambda made: made.update(created=3), "provenance.created must be a text"),
        (lambda made: made.update(entropy=[-1]), r"provenance.entropy\[0\] must be in .* got -1"),
        (lambda made: made.update(entropy=[0.5]), r"provenance.entropy\[0\] must be a whole number"),
        (lambda made: made.update(class_counts=[-3]), r"provenance.class_counts\[0\] must be in .* got -3"),
        (lambda made: made.update(n_rows=None), "provenance.n_rows must be a whole number"),
        (lambda made: made.update(versions=[["numpy"]]), r"provenance.versions\[0\] must be a list of 2 values; got "),
        (
            lambda made: made.update(versions=[["a", "b", "c"]]),
            r"provenance.versions\[0\] must be a list of 2 values; got ",
        ),
        (lambda made: made.update(parameters=[["a", 3]]), r"provenance.parameters\[0\]\[1\] must be a text"),
        (lambda made: made.update(columns="age"), "provenance.columns must be a list"),
    ],
)
def test_a_damaged_provenance_is_refused_with_a_reason(change, message):
    record = json.loads(certificate().to_json())
    change(record["provenance"])
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(record))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.update(provenance=None), "provenance must be an object"),
        (
            lambda record: record["parts"][0]["majority"].update(bound=4.1),
            r"parts\[0\].majority.bound must be in .* got 4.1",
        ),
        (
            lambda record: record["parts"][0]["majority"].update(errors=-1),
            r"parts\[0\].majority.errors must be in .* got -1",
        ),
        (
            lambda record: record["parts"][0]["holdout"].update(errors=None),
            r"parts\[0\].holdout.errors must be a number",
        ),
        (lambda record: record["parts"][0].pop("majority"), r"parts\[0\] lacks majority"),
    ],
)
def test_a_record_without_an_origin_is_refused_with_a_reason(change, message):
    record = json.loads(certificate().to_json())
    change(record)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(record))

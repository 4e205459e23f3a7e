"""Values that the encoder of columns cannot read count as missing, which is said in Python as on the command line."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from typer.testing import CliRunner

from certivote import CertifiedVoteClassifier, DriftMonitor, certify
from certivote.cli import app
from certivote.voters import ColumnEncoder, Preprocessed, UnreadWarning

RNG = np.random.default_rng(0)


def rows(n):
    return pd.DataFrame(
        {
            "mass": RNG.normal(50, 5, n).round(1).astype(str),
            "since": RNG.choice(["2024-01-01", "2024-02-01", "2025-01-01"], n),
            "site": RNG.choice(["n", "s"], n),
            "size": RNG.normal(size=n),
        }
    )


def odd(n=40):
    """With values of each kind that cannot be read."""
    given = rows(n)
    given.loc[[3, 5], "mass"] = ["46,2", "70 kg"]
    given.loc[7, "since"] = "31.01.2024"
    given.loc[[1, 2, 4], "site"] = ["N", "west", "N"]
    return given


SAID = [
    "X, column 'mass': 2 values are not numbers, such as '46,2'; counted as missing.",
    "X, column 'since': 1 value is not a date as in training: '31.01.2024'; counted as missing.",
    "X, column 'site': 3 values were not seen in training, such as 'N'; counted as missing.",
]


def fitted(transformer):
    X = rows(300)
    y = np.where(X["mass"].astype(float) + 5 * (X["site"] == "n") > 52, "ill", "well")
    return CertifiedVoteClassifier("dis-b", Preprocessed(transformer, "forest"), random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def clf():
    return fitted(ColumnEncoder())


@pytest.mark.parametrize(
    "use",
    [
        lambda clf: clf.predict(odd()),
        lambda clf: clf.predict_proba(odd()),
        lambda clf: certify(clf, odd(), ["ill", "well"] * 20),
        lambda clf: DriftMonitor(clf).update(odd()),
    ],
)
def test_each_call_warns_once_for_each_column(use, clf):
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            use(clf)
        told = [str(each.message) for each in caught if each.category is UnreadWarning]
        assert told == SAID


def test_strict_refuses_the_first(clf, monkeypatch):
    monkeypatch.setattr(clf.voters_.encoder, "strict", True)
    for use in (clf.predict, clf.predict_proba):
        with pytest.raises(ValueError, match=r"^strict=True: column 'mass': 2 values are not numbers, such as '46"):
            use(odd())


def test_what_can_be_read_is_not_warned_of(clf):
    given = rows(40)
    given.loc[3, ["mass", "since", "site"]] = ["NA", None, ""]
    given.loc[4, "size"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = clf.predict(given).tolist()
        plain = given.assign(mass=pd.to_numeric(given["mass"].replace("NA", None)))
        assert clf.predict(plain).tolist() == expected


def test_an_encoder_at_the_beginning_of_a_pipeline_is_one_too():
    clf = fitted(make_pipeline(ColumnEncoder(fill=True), FunctionTransformer()))
    with pytest.warns(UnreadWarning, match="column 'mass': 2 values are not numbers"):
        clf.predict(odd())


def test_the_command_line_says_the_same_once(clf, tmp_path):
    clf.save(tmp_path / "m.certivote")
    odd().to_csv(tmp_path / "new.csv", index=False, sep=";")
    files = [str(tmp_path / "m.certivote"), str(tmp_path / "new.csv"), "--decimal", "."]
    for verb in (["predict"], ["monitor", "--state", str(tmp_path / "s.json")]):
        result = CliRunner().invoke(app, [verb[0], *files, *verb[1:]])
        assert result.exit_code == 0, result.output
        told = [line for line in result.stderr.splitlines() if "counted as missing" in line]
        assert told == [f"certivote: warning: {tmp_path / 'new.csv'}: {text[3:]}" for text in SAID]
    result = CliRunner().invoke(app, ["predict", *files, "--strict"])
    assert result.exit_code == 1
    assert "column 'mass': 2 values are not numbers, such as '46,2'; column 'since'" in result.stderr


def test_a_category_that_no_file_could_hold_is_refused_before_a_file_is_written(tmp_path):
    X = pd.DataFrame({"site": pd.Series(["\ud800", "s"] * 100, dtype=object), "size": RNG.normal(size=200)})
    y = np.where(X["size"] > 0, "ill", "well")
    clf = CertifiedVoteClassifier("dis-b", Preprocessed(ColumnEncoder(), "forest"), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"No file could hold the text .*ud800.* of a model"):
        clf.save(tmp_path / "m.certivote")
    assert list(tmp_path.iterdir()) == []

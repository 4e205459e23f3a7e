"""Names that other packages add, and what happens to a certificate whose method only its author has."""

import json
from dataclasses import replace

import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from certivote import Certificate, CertifiedVoteClassifier, certify_predictions, verify
from certivote.certificate import PromiseRecord
from certivote.cli import app
from certivote.promises import PROMISES, Precision
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.theorems import Ratio

OWN = replace(METHODS["dis-r"], name="own-bound", theorem=Ratio("a theorem of this test", "its average"))
MODULE = """
from dataclasses import replace
from certivote.theory.methods import METHODS
from certivote.theory.theorems import Ratio

METHODS.register(replace(METHODS["dis-r"], name="own-bound", theorem=Ratio("a theorem of this test", "its average")))
"""


@pytest.fixture
def certificate():
    METHODS.register(OWN)
    X, y = (array[:120] for array in load_breast_cancer(return_X_y=True))
    yield CertifiedVoteClassifier("own-bound", "forest", random_state=0).fit(X, y).certificate_
    METHODS.forget("own-bound")


def test_a_name_is_given_once():
    METHODS.register(OWN)
    METHODS.register(OWN)  # as a cell that is run twice does
    with pytest.raises(ValueError, match="'own-bound' is taken"):
        METHODS.register(replace(OWN, colour="#000000"))
    METHODS.forget("own-bound")
    METHODS.forget("own-bound")
    assert "own-bound" not in METHODS


@pytest.mark.parametrize("name", ["auto", "dis-v"])
def test_names_of_ours_stay(name):
    with pytest.raises(ValueError, match="is taken"):
        METHODS.register(OWN, name)


@pytest.mark.parametrize("registry", [METHODS, FAMILIES, PROMISES], ids=["methods", "families", "promises"])
def test_ours_are_not_forgotten(registry):
    for name in registry:
        with pytest.raises(ValueError, match="certivote's own"):
            registry.forget(name)


@pytest.mark.parametrize("name", ["Own", "own bound", "own\x1b", "", "-own", 3])
def test_names_can_be_typed(name):
    with pytest.raises(ValueError, match="small letters, digits and hyphens"):
        METHODS.register(OWN, name)


def test_without_a_verifier_nothing_is_said_to_be_proved(certificate):
    (check,) = verify(certificate)
    assert (check.what, check.passed, check.unknown) == ("method", False, True)
    assert str(check).startswith("?     method: no verifier for it: 'own-bound'")


def test_a_promise_without_a_verifier_is_named_and_the_rest_is_proved():
    made = certify_predictions(["ill", "well"] * 40, ["ill", "well"] * 40, promises=[Precision()], random_state=0)
    own = replace(made.promises[1], name="own-promise")
    assert isinstance(own, PromiseRecord)
    checks = verify(replace(made, promises=(made.promises[0], own)))
    assert {check.what: check.unknown for check in checks}["promise 2"]
    assert next(check for check in checks if check.what == "part, bound").passed


def test_who_has_not_registered_it_is_told_so(certificate):
    METHODS.forget("own-bound")
    with pytest.raises(ValueError, match="registered by the module that defines it; got 'own-bound'"):
        Certificate.from_json(certificate.to_json())


@pytest.fixture
def files(certificate, tmp_path):
    METHODS.forget("own-bound")
    (tmp_path / "own.py").write_text(MODULE)
    (tmp_path / "certificate.json").write_text(certificate.to_json())
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    METHODS.forget("own-bound")
    return result


def test_the_command_line_runs_a_module_first(files):
    path = files / "certificate.json"
    result = run("verify", path)
    assert result.exit_code == 1
    assert "registered by the module" in result.output
    result = run("--extension", files / "own.py", "verify", path)
    assert result.exit_code == 1  # which says that all is proved, is 0
    assert "neither proved nor refuted" in result.output
    assert "FAILED" not in result.output
    result = run("--extension", files / "own.py", "verify", path, "--json")
    assert json.loads(result.stdout)["unknown"] == 1
    result = run("--extension", files / "own.py", "report", path, "--out", files / "page.html")
    assert result.exit_code == 0, result.output
    assert "shown unchecked" in result.output
    assert "a theorem of this test" in (files / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["absent.py", "no_such_module", "broken.py"])
def test_a_module_that_cannot_be_run_ends_in_a_line(name, files, monkeypatch):
    monkeypatch.chdir(files)
    (files / "broken.py").write_text("1 / 0")
    result = run("--extension", name, "verify", "certificate.json")
    assert result.exit_code == 1
    assert f"--extension {name}: " in result.output

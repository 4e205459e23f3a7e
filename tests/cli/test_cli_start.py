"""What starts quickly does so because heavy packages are imported only by what needs them."""

import json
import subprocess
import sys

import pytest

HEAVY = ("pandas", "sklearn", "joblib", "matplotlib", "jinja2", "pyarrow", "flint", "skops")
"""Packages that cost more than all else that a command needs to begin."""
PARTS = ("scipy.special", "scipy.sparse", "scipy.optimize", "scipy.interpolate", "scipy.stats", "scipy.linalg")

WATCHED = """
import json, sys
try:
    {code}
finally:
    print("\\n" + json.dumps(sorted(sys.modules)))
"""


def imported(code):
    """The modules that a new Python has after this line."""
    run = [sys.executable, "-c", WATCHED.format(code=code)]
    result = subprocess.run(run, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stdout.splitlines()[-1]))


def after(*arguments):
    """The same after a command."""
    return imported(f"sys.argv = {['certivote', *arguments]!r}; from certivote.cli import app; app()")


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"]], ids=" ".join)
def test_help_needs_no_heavy_package(arguments):
    seen = after(*arguments)
    assert "certivote.cli" in seen
    assert not seen & {*HEAVY, *PARTS}


def test_the_calculator_needs_one_part_of_scipy():
    seen = after("bound", "--errors", "12", "--n", "500", "--target", "0.05", "--shift-kl", "0.01")
    assert not seen & set(HEAVY)
    assert seen & set(PARTS) == imported("import scipy.special") & set(PARTS)


def test_the_package_itself_imports_no_heavy_package():
    assert not imported("import certivote") & {*HEAVY, *PARTS}


def test_what_is_asked_for_is_imported_then():
    assert "sklearn" in imported("import certivote; certivote.CertifiedVoteClassifier")
    # Of the other ways it is enough to see that they try.
    for code in ("import certivote; certivote.voters.Stumps", "from certivote import *; CertifiedVoteClassifier"):
        blocked = "import pytest; sys.modules['sklearn'] = None"
        assert "pytest" in imported(f"{blocked}; pytest.raises(ImportError, exec, {code!r}).match('sklearn')")


def test_the_function_verify_is_not_hidden_by_its_module():
    """They have one name: whoever imports the module first, the package offers the function."""
    line = "from certivote.verify import Check; import certivote.verify; assert callable(certivote.verify)"
    assert "certivote.verify" in imported(line)


def test_a_pickle_that_names_the_package_finds_what_is_imported_late():
    line = "import pickle; assert callable(pickle.loads(b'ccertivote\\nCertifiedVoteClassifier\\n.'))"
    assert "certivote.estimator" in imported(line)

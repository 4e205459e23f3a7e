"""Which tests `make fast` runs for a change."""

import subprocess
import sys
from pathlib import Path

import changed
import pytest


@pytest.fixture
def root(tmp_path):
    """A small house: maths, which votes imports, which voters imports; and their tests."""
    files = {
        "src/certivote/__init__.py": "from certivote.voters import a",
        "src/certivote/maths/__init__.py": "",
        "src/certivote/maths/beta.py": "",
        "src/certivote/codec.py": "import json",
        "src/certivote/votes/_base.py": "from certivote.maths import beta",
        "src/certivote/voters/_a.py": "def f():\n    import certivote.votes._base",
        "tests/maths/test_beta.py": "from certivote.maths import beta",
        "tests/votes/test_base.py": "import made_data",
        "tests/voters/test_a.py": "from made_data import rows",
        "tests/test_codec.py": "",
        "tests/test_layers.py": "",
        "tests/made_data.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


BETA, BASE, LAYERS = "src/certivote/maths/beta.py", "src/certivote/votes/_base.py", "tests/test_layers.py"


@pytest.mark.parametrize(
    ("names", "tests"),
    [
        ([], []),
        (["README.md"], [["tests/test_docs.py", LAYERS]]),
        (["Makefile"], [[LAYERS]]),
        ([BETA], [["tests/maths", BETA, LAYERS], ["tests/votes"]]),
        (["src/certivote/codec.py"], [["tests/test_codec.py", "src/certivote/codec.py", LAYERS]]),
        (["tests/made_data.py"], [["tests/voters/test_a.py", "tests/votes/test_base.py", LAYERS]]),
        ([BASE, "tests/test_codec.py"], [["tests/test_codec.py", "tests/votes", BASE, LAYERS], ["tests/voters"]]),
    ],
)
def test_the_nearest_tests_come_first(names, tests, root):
    assert changed.chosen(names, root) == tests


def test_what_changed_is_what_git_says(tmp_path, monkeypatch):
    def git(*arguments):
        who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(changed, "ROOT", tmp_path)
    git("init", "-q", "-b", "main")
    for name in ("same", "edited", "committed", "gone"):
        (tmp_path / name).write_text("1")
    git("add", ".")
    git("commit", "-qm", "all")
    git("checkout", "-qb", "branch")
    (tmp_path / "committed").write_text("2")
    git("commit", "-qam", "one")
    (tmp_path / "edited").write_text("2")
    (tmp_path / "new").write_text("1")
    (tmp_path / "gone").unlink()
    assert changed.changed() == ["committed", "edited", "new"]


@pytest.mark.parametrize(("end", "said"), [("0", "1 skipped"), ("9e99", "1 passed")])
def test_no_test_begins_when_time_is_up(end, said, tmp_path):
    (tmp_path / "test_one.py").write_text("def test_it():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "changed", "-p", "no:cacheprovider", str(tmp_path)]
    path = str(Path(changed.__file__).parent)
    environment = {**changed.os.environ, "PYTHONPATH": path, changed._END: end}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert said in done.stdout, done.stdout + done.stderr

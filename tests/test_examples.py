"""Every example runs without arguments, says something and draws its figure."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.name not in ("demo.py", "figures.py"))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of its own to run in, as the shell would; in this process, which has loaded the libraries already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    registers = METHODS, FAMILIES
    before = [dict(register) for register in registers]
    with mpl.rc_context():
        yield tmp_path
    for register, own in zip(registers, before, strict=True):  # what an example has registered
        for name in set(register) - set(own):
            register.forget(name)


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_example_runs_and_draws(script, place, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    (figure,) = place.glob("*.png")
    assert figure.name in capsys.readouterr().out
    assert figure.stat().st_size > 10_000


def test_an_example_runs_from_the_shell(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(EXAMPLES / "rows_needed.py"), "--figure", "here.png"]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "here.png" in result.stdout
    assert (tmp_path / "here.png").exists()


def test_there_are_four_examples_or_more_and_the_gallery_has_all():
    gallery = (EXAMPLES.parent / "docs" / "examples.md").read_text(encoding="utf-8")
    assert len(SCRIPTS) >= 4
    for script in SCRIPTS:
        assert f"python examples/{script.name}" in gallery
        picture = EXAMPLES.parent / "docs" / "img" / f"example-{script.stem.replace('_', '-')}.png"
        assert picture.name in gallery
        assert picture.stat().st_size < 150_000


def test_own_ensemble_does_without_lightgbm(place, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # importing it fails, as where it is not installed
    members = runpy.run_path(str(EXAMPLES / "own_ensemble.py"))["ensemble"]()
    assert "LightGBM is not installed" in capsys.readouterr().out
    assert "weak tree 20" in members
    assert not any("LightGBM" in name for name in members)

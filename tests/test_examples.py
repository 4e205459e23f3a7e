"""Every example runs without arguments, says something and draws its figure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.name not in ("demo.py", "figures.py"))


def run(script, folder, *, path=""):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, *sys.path]))}
    return subprocess.run(
        [sys.executable, str(script)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_example_runs_and_draws(script, tmp_path):
    result = run(script, tmp_path)
    assert result.returncode == 0, result.stderr
    (figure,) = tmp_path.glob("*.png")
    assert figure.name in result.stdout
    assert figure.stat().st_size > 10_000


def test_there_are_four_examples_or_more_and_the_gallery_has_all():
    gallery = (EXAMPLES.parent / "docs" / "examples.md").read_text(encoding="utf-8")
    assert len(SCRIPTS) >= 4
    for script in SCRIPTS:
        assert f"python examples/{script.name}" in gallery
        picture = EXAMPLES.parent / "docs" / "img" / f"example-{script.stem.replace('_', '-')}.png"
        assert picture.name in gallery
        assert picture.stat().st_size < 150_000


def test_own_ensemble_does_without_lightgbm(tmp_path):
    (tmp_path / "lightgbm.py").write_text("raise ImportError('no such library')\n")
    result = run(EXAMPLES / "own_ensemble.py", tmp_path, path=str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert "LightGBM is not installed" in result.stdout

"""What the package says of itself, and the lowest versions that it is tested with."""

import os
import re
import sys
import tomllib
from pathlib import Path

import pytest
import pythons
import yaml
from jinja2 import Template
from lowest import constraints

from certivote import __version__

ROOT = Path(__file__).resolve().parent.parent
PROJECT = """
[project]
name = "p"
dependencies = ["a>=1.4", "b-c>=2.2.2"]
[project.optional-dependencies]
x = ["d>=3"]
all = ["p[x]", "a>=1.4"]
"""


def test_lowest_versions_are_those_of_dependencies_and_extras():
    assert list(constraints(PROJECT)) == ["a==1.4", "b-c==2.2.2", "d==3"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("d>=3", "d", "'d' names no lowest version"),
        ("d>=3", "d<4", "'d<4' names no lowest version"),
        ("d>=3", "a>=1.5", r"a is asked for twice, from 1\.4 and from 1\.5"),
    ],
)
def test_a_dependency_without_one_lowest_version_is_refused(old, new, complaint):
    with pytest.raises(ValueError, match=complaint):
        list(constraints(PROJECT.replace(old, new)))


def test_every_dependency_of_this_package_has_a_lowest_version(pyproject):
    names = {line.partition("==")[0] for line in constraints(pyproject)}
    assert {"numpy", "scikit-learn", "typer", "skops", "jinja2", "pytest"} <= names


def test_the_metadata_name_licence_authors_and_pythons(pyproject):
    project = tomllib.loads(pyproject)["project"]
    assert project["license"] == "BSD-3-Clause"
    assert [author["name"] for author in project["authors"]] == ["the certivote developers"]
    pythons = [text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r"Python :: 3\.\d+$", text)]
    assert pythons == [f"3.{minor}" for minor in range(11, 14)]
    assert project["requires-python"] == f">={pythons[0]}"
    assert "Operating System :: OS Independent" in project["classifiers"]
    assert any(text.startswith("Development Status :: ") for text in project["classifiers"])


def workflows():
    """The workflows of the forge, by name."""
    folder = ROOT / ".github" / "workflows"
    return {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.yml"))}


def test_the_conda_recipe_is_of_this_version_and_its_dependencies(pyproject):
    text = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8")
    recipe, own = yaml.safe_load(Template(text).render(PYTHON="python")), tomllib.loads(pyproject)
    assert recipe["package"] == {"name": own["project"]["name"], "version": __version__}
    python, *run = recipe["requirements"]["run"]
    assert python == f"python {own['project']['requires-python']}"
    assert [package.replace(" ", "") for package in run] == sorted(own["project"]["dependencies"])
    assert own["build-system"]["requires"][0].partition(">")[0] in recipe["requirements"]["host"]


def test_workflows_try_all_pythons_on_three_systems(pyproject):
    classifiers = tomllib.loads(pyproject)["project"]["classifiers"]
    pythons = {text.rpartition(" ")[2] for text in classifiers if re.search(r"Python :: 3\.\d+$", text)}
    systems = workflows()["tests"]["jobs"]["systems"]
    matrix = systems["strategy"]["matrix"]
    assert len(matrix["system"]) == 3
    assert set(matrix["python"]) >= pythons
    tried = set(re.findall(r"3\.\d+", systems["continue-on-error"]))
    assert tried == set(matrix["python"]) - pythons, "what is named must pass, and what is not named may fail"
    assert set(workflows()["release"]["jobs"]["installed"]["strategy"]["matrix"]["python"]) == pythons


def test_workflows_may_do_no_more_than_they_must():
    """They read; only one job publishes, and by trust of the index in the workflow, so that there is no secret."""
    publishing = []
    for name, workflow in workflows().items():
        assert workflow["permissions"] == {"contents": "read"}, name
        for job, what in workflow["jobs"].items():
            assert "timeout-minutes" in what, (name, job)
            publishing += [(name, job)] if what.get("permissions", {}).get("id-token") == "write" else []
    assert publishing == [("docs", "publish"), ("release", "build"), ("release", "publish")]
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "attestations: true" in text


def test_workflows_call_what_the_makefile_has():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    steps = [step for flow in workflows().values() for job in flow["jobs"].values() for step in job["steps"]]
    called = {step["run"].removeprefix("make ") for step in steps if step.get("run", "").startswith("make ")}
    assert called == {"test", "test-lowest", "docs", "dist"}
    assert called <= targets


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """One that has, besides this Python, 3.98 and 3.99 of pyenv, and a 3.97 that cannot make environments."""
    versions = {"3.98.2": "3.98", "3.98.10": "3.98", "3.99.0": "3.99", "3.99.0rc1": "3.99", "3.97.1": None}
    for folder, version in versions.items():
        python = tmp_path / "versions" / folder / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\n{f'echo {version}' if version else 'exit 1'}\n", encoding="utf-8")
        python.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr(pythons.shutil, "which", lambda name: None)
    return tmp_path / "versions"


@pytest.mark.skipif(os.name == "nt", reason="runs shell scripts")
def test_other_pythons_are_found_and_chosen(machine, pyproject):
    versions = ["3.99", "3.98", "3.97", "3.96", pythons.OWN]
    newest = {
        name: str(machine / folder / "bin" / "python") for name, folder in [("3.99", "3.99.0"), ("3.98", "3.98.10")]
    }
    assert pythons.chosen([], versions) == {**newest, pythons.OWN: sys.executable}
    assert pythons.chosen(["another"], versions) == {"3.99": newest["3.99"]}
    assert pythons.chosen(["3.98"], versions) == {"3.98": newest["3.98"]}
    older = str(machine / "3.98.2" / "bin" / "python")
    assert pythons.chosen([older, "3.99"], versions) == {"3.98": older, "3.99": newest["3.99"]}
    for name in ("3.97", "no-such-python"):
        with pytest.raises(SystemExit, match=rf"(There is no Python {name} here|{name} is no Python)"):
            pythons.chosen([name], versions)
    assert pythons.supported(pyproject) == ["3.13", "3.12", "3.11"]


def test_without_another_python_it_is_said_and_nothing_fails(monkeypatch, capsys):
    monkeypatch.setattr(pythons, "candidates", lambda version: iter(()))
    pythons.main(["another", "--", "tests"])
    assert f"no other Python here than {pythons.OWN}: NOTHING WAS TESTED" in capsys.readouterr().out

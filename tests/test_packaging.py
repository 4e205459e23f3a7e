"""What the package says of itself, and the lowest versions that it is tested with."""

import re
import tomllib

import pytest
from lowest import constraints

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


@pytest.fixture
def pyproject(request):
    return (request.config.rootpath / "pyproject.toml").read_text(encoding="utf-8")


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

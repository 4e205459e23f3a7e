"""Changes of formulas: which are made, and that texts and messages are left alone."""

import ast

import mutants
import pytest

SOURCE = '''
"""Of 3 or more."""
from typing import TYPE_CHECKING
LEAST: tuple[int, 3] = 3
"""At least 3."""

if TYPE_CHECKING:
    import a

def f(x: "1 + 1", y=2):
    """Adds 1."""
    if x < 1:
        raise ValueError(f"{x + 1} is below {3 * y}")
    z = -x if not y else f"{x - 1}"
    return max(x, y) + 0.5 ** z and True
'''


@pytest.fixture
def found(tmp_path):
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    return mutants.mutants_of(tmp_path / "a.py", "a.py")


def test_every_change_of_a_formula_is_made_and_no_other(found):
    changes = sorted((mutant.change, mutant.before) for mutant in found)
    assert changes == [
        ("comparison", "x < 1"),
        ("condition", "-x if not y else f'{x - 1}'"),
        ("condition", "if x < 1: raise ValueError(f'{x + 1} is below {3 * y}')"),
        ("name", "max"),
        ("negation", "not y"),
        ("number", "0.5"),
        ("number", "1"),
        ("number", "2"),
        ("number", "3"),
        ("operator", "0.5 ** z"),
        ("operator", "max(x, y) + 0.5 ** z"),
        ("operator", "max(x, y) + 0.5 ** z and True"),
        ("sign", "-x"),
        ("truth", "True"),
    ]


def test_a_mutant_differs_in_one_place(found):
    honest = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant in found:
        lines = mutants.mutated(SOURCE, mutant).splitlines()
        assert 1 <= len(set(honest) ^ set(lines)) <= 2, mutant


def test_the_seed_chooses_the_same_ones_from_every_room():
    few = mutants.chosen(60, 1)
    assert few == mutants.chosen(60, 1) != mutants.chosen(60, 2)
    assert {mutant.file.split("/")[1] for mutant in few} == set(mutants.ROOMS)
    assert len({mutant.key for mutant in few}) == 60


def test_what_was_tried_is_written_down(tmp_path, monkeypatch):
    """And is not tried again."""
    tried = []
    monkeypatch.setattr(mutants, "RESULTS", tmp_path / "mutants.csv")
    monkeypatch.setattr(mutants, "COPY", tmp_path / "copy")
    monkeypatch.setattr(mutants, "run", lambda name: tried.append(name) or ("noticed", "test_it", 1.0))
    monkeypatch.setattr("sys.argv", ["mutants.py", "--count", "5"])
    mutants.main()
    mutants.main()
    assert len(tried) == len(mutants.known()) == 5
    assert {row["outcome"] for row in mutants.known()} == {"noticed"}

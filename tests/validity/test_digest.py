"""The digest of the code behind the counts: it sees what could change them, and nothing else."""

from pathlib import Path

import digest as module
import pytest
from digest import APART, ROOMS, SIMULATIONS, bare, digest, source_digest

import certivote

CODE = '''"""What it is for."""

LIMIT = 3  # of something
"""How many."""


class Thing:
    """A thing, with a “quote”."""

    ü = "a"; "standing alone behind code"  # é

    def twice(self, x):
        """Two of it."""
        # A remark.
        text = """not
        # a docstring"""
        return x + len(text) - LIMIT

    def nothing(self): "only words"
'''
BARE = '''LIMIT = 3
class Thing:
    ü = "a";
    def twice(self, x):
        text = """not
        # a docstring"""
        return x + len(text) - LIMIT
    def nothing(self):'''


def test_only_code_is_left():
    assert bare(CODE) == BARE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# A remark.", "# Another remark, which is longer."),
        ("        # A remark.\n", ""),
        ("  # of something", "    # of something"),
        ('"""Two of it."""', "'''Twice the thing.\n\n        In more words.\n        '''"),
        ('    """A thing, with a “quote”."""\n', ""),
        ('"""How many."""', ""),
        ("\n\n\n", "\n"),
        ("# é", "# e"),
    ],
)
def test_words_and_blank_lines_do_not_matter(old, new):
    assert CODE.count(old) >= 1
    assert digest([("a.py", CODE.replace(old, new))]) == digest([("a.py", CODE)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + len", "x - len"),
        ("LIMIT = 3", "LIMIT = 4"),
        ("# a docstring", "# no docstring"),
        ("        return x", "    return x"),
        ('ü = "a"', 'ü = "b"'),
    ],
)
def test_code_matters(old, new):
    assert digest([("a.py", CODE.replace(old, new))]) != digest([("a.py", CODE)])


def test_names_of_files_matter():
    assert digest([("a.py", CODE)]) != digest([("b.py", CODE)])


def test_all_rooms_and_simulations_are_there_and_enter(monkeypatch):
    library, here = Path(certivote.__file__).parent, Path(module.__file__).parent
    assert all((library / room).is_dir() for room in ROOMS)
    assert all((library / name).is_file() for name in APART)
    others = {"counting.py", "digest.py", "exact.py", "figure.py", "page.py", "planted.py", "run.py", "store.py"}
    found = {path.name for path in here.glob("*.py") if not path.name.startswith("test_")}
    assert found == {*SIMULATIONS, *others}
    seen = []
    monkeypatch.setattr(module, "bare", lambda text: seen.append(text) or "")
    source_digest.__wrapped__()
    assert len(seen) == sum(len(list((library / room).rglob("*.py"))) for room in ROOMS) + len(SIMULATIONS) - len(APART)

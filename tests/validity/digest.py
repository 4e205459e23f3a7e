"""A digest of the code that decides the counts: the rooms of the library that make a certificate, and the simulations.

It does not depend on comments, docstrings and blank lines, nor on the version of Python.
"""

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import certivote

ROOMS = ("maths", "votes", "voters", "theory", "certificate", "promises", "pipeline")
APART = ("certificate/_reading.py",)
"""Of these rooms, what only reads a finished certificate."""
SIMULATIONS = (
    "adversaries.py",
    "arranged.py",
    "automatic.py",
    "broken.py",
    "chosen.py",
    "compared.py",
    "given.py",
    "grouped.py",
    "grouped_worlds.py",
    "honest.py",
    "plan.py",
    "promised.py",
    "promised_breaches.py",
    "promised_worlds.py",
    "study.py",
    "tallies.py",
    "timed.py",
    "worlds.py",
)


@cache
def source_digest() -> str:
    """Stands for all code that decides the counts."""
    library = Path(certivote.__file__).parent
    found = [path for room in ROOMS for path in library.joinpath(room).rglob("*.py")]
    files = {path.relative_to(library).as_posix(): path for path in found}
    files |= {f"validity/{name}": Path(__file__).with_name(name) for name in SIMULATIONS}
    kept = sorted((name, path.read_text(encoding="utf-8")) for name, path in files.items() if name not in APART)
    return digest(kept)


def digest(files: Iterable[tuple[str, str]]) -> str:
    """Of the names and the bare code of some files."""
    parts = [part for name, text in files for part in (name, bare(text))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def bare(text: str) -> str:
    """Source code without comments, docstrings and blank lines."""
    lines = text.split("\n")
    for (row, column), (end_row, end_column) in sorted(_left_out(text, lines), reverse=True):
        rest = lines[end_row][end_column:]
        lines[row : end_row + 1] = [lines[row][:column] + rest] + [""] * (end_row - row)
    return "\n".join(line.rstrip() for line in lines if line.strip())


Place = tuple[int, int]
"""Line and column, both counted from 0."""


def _left_out(text: str, lines: list[str]) -> Iterable[tuple[Place, Place]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield (token.start[0] - 1, token.start[1]), (token.end[0] - 1, token.end[1])
    for node in ast.walk(ast.parse(text)):
        # Strings that stand alone: those below an assignment describe it.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield _place(lines, node.lineno, node.col_offset), _place(lines, node.end_lineno, node.end_col_offset)


def _place(lines: list[str], line: int, offset: int) -> Place:
    """The syntax tree counts bytes."""
    return line - 1, len(lines[line - 1].encode()[:offset].decode())

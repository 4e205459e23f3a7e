"""Which changes of a formula no test notices: ``python tests/mutants.py`` (`make mutants`).

Of all small changes of the code of some rooms (an operator, a comparison, a number, a condition that is left out), some
are chosen by the recorded seed. Texts, messages, docstrings, annotations and what is raised are left alone. Each mutant
is made in a copy of the source, and the tests of its room run against it until one fails: those of the file itself
first. Results are appended to benchmarks/results/mutants.csv; the same command goes on where it was interrupted. What
survives is noticed by a new test, or explained in EXPLAINED.
"""

import argparse
import ast
import copy
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE, COPY = ROOT / "src", ROOT / "build" / "mutants"
RESULTS = ROOT / "benchmarks" / "results" / "mutants.csv"
ROOMS = ("theory", "promises", "verify")
SEED, COUNT, HOURS = 20261119, 600, 3.0
LONGEST = 900
"""Seconds of one mutant; longer is noticed too, as a test that never ends."""
FIELDS = ("file", "line", "column", "change", "before", "after", "outcome", "noticed_by", "seconds", "seed")

EXPLAINED = {
    ("theory/blocks.py", "0", "1"): "of gradients only the shape is taken, which all have",
    ("theory/blocks.py", "n_threads <= 1", "n_threads < 1"): "one thread of joblib's computes the same, later",
    ("theory/blocks.py", "if len(blocks) == 1: return make(votes, labels, shares)"): "one block has the weight 1",
    ("theory/bounds.py", "abs(math.fsum(weights) - 1.0) > 1e-12"): "the limit of a check of rounding itself",
    ("theory/calculator.py", "bound(errors, n) <= target"): "a bound that is the target to the last digit",
    ("theory/calculator.py", "9", "10"): "the largest size that is looked for",
    ("theory/families/_categorical.py", "1.0", "2.0"): "where training starts, up to a factor that the softmax removes",
    ("theory/families/_base.py", "0.01", "1.01"): "where training starts; every end of it has a bound that holds",
}
"""Of survivors that are no gap in the tests, by file and text, why they are as good as what they replace."""

SWAPS: dict[type, type] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult},
    **{ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot},
    **{ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And},
}
NAMES = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """One change: where it is, what it was and what it becomes, both as text, and the number of its node."""

    file: str
    line: int
    column: int
    change: str
    before: str
    after: str
    node: int

    @property
    def key(self) -> tuple[str, ...]:
        """What it is known by, wherever other changes of the file have moved it."""
        return self.file, str(self.column), self.change, self.before, self.after

    def rank(self, seed: int) -> bytes:
        """A random number that is its own: those that are chosen stay chosen when others come or go."""
        return hashlib.sha256(repr((seed, *self.key)).encode()).digest()


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Every change of a node: what is done, and another one in its place."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        yield "operator", _with(node, op=SWAPS[type(node.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield "comparison", _with(node, ops=[SWAPS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "sign" if isinstance(node.op, ast.USub) else "negation", node.operand
    elif isinstance(node, ast.IfExp):
        yield "condition", _with(node, test=ast.Constant(True))
    elif isinstance(node, ast.If):
        yield "condition", _with(node, test=ast.Constant(False))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "truth", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "number", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Name | ast.Attribute):
        field = "id" if isinstance(node, ast.Name) else "attr"
        if getattr(node, field) in NAMES and isinstance(node.ctx, ast.Load):
            yield "name", _with(node, **{field: NAMES[getattr(node, field)]})


def _with(node: Any, **changes: Any) -> Any:
    found = copy.copy(node)
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def formulas(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are no texts, messages, annotations, imports, or parts of them, in the order of the source."""
    skipped = ast.JoinedStr | ast.Raise | ast.Assert | ast.Import | ast.ImportFrom
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue  # of zip: a check that lengths agree
            if isinstance(child, ast.AST) and not isinstance(child, skipped):
                yield child
                yield from formulas(child)


def mutants_of(path: Path, name: str) -> list[Mutant]:
    """All of a file; a condition for type checkers is none."""
    found = []
    for number, node in enumerate(formulas(ast.parse(path.read_text(encoding="utf-8")))):
        for change, other in changed(node):
            shown = [" ".join(ast.unparse(ast.fix_missing_locations(each)).split())[:100] for each in (node, other)]
            if "TYPE_CHECKING" not in shown[0]:
                found.append(Mutant(name, node.lineno, node.col_offset, change, *shown, number))
    return found


def chosen(count: int, seed: int) -> list[Mutant]:
    """As many of all rooms, room by room."""
    paths = [path for room in ROOMS for path in sorted((SOURCE / "certivote" / room).rglob("*.py"))]
    everything = [mutant for path in paths for mutant in mutants_of(path, path.relative_to(SOURCE).as_posix())]
    some = {mutant.key: mutant for mutant in sorted(everything, key=lambda mutant: mutant.rank(seed), reverse=True)}
    kept = set(sorted(some.values(), key=lambda mutant: mutant.rank(seed))[:count])
    return [mutant for mutant in everything if mutant in kept]


def mutated(text: str, mutant: Mutant) -> str:
    """The source with this change."""
    tree = ast.parse(text)
    target = next(node for number, node in enumerate(formulas(tree)) if number == mutant.node)
    ((_, other),) = changed(target)

    class Change(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return ast.copy_location(other, node) if node is target else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Change().visit(tree)))


def tests_for(name: str) -> list[str]:
    """The tests of the room of a file: its examples and those that name it first."""
    room, stem = name.split("/")[1], Path(name).stem
    files = sorted((ROOT / "tests" / room).glob("test_*.py"))
    words = re.compile(rf"\b{stem}\b")
    near = [path for path in files if stem.strip("_") in path.stem or words.search(path.read_text(encoding="utf-8"))]
    return [str(path) for path in [COPY / name, *near, *(path for path in files if path not in near)]]


def run(name: str) -> tuple[str, str, float]:
    """Whether the tests notice what is in the copy, which of them, and how long it took."""
    environment = {**os.environ, "PYTHONPATH": str(COPY), "OMP_NUM_THREADS": "1", "CI": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *tests_for(name)]
    start = time.time()
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return "noticed", "it did not end", time.time() - start
    first = re.search(r"^(?:FAILED|ERROR) (?:\S*/)?(\S+(?: .*)?)", done.stdout, re.MULTILINE)
    if done.returncode and not first:
        sys.exit(f"The tests could not be run: {done.stdout[-500:]}{done.stderr[-500:]}")
    return "noticed" if first else "survived", first[1][:100] if first else "", time.time() - start


def known() -> list[dict[str, str]]:
    """The results so far."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_explained(row: dict[str, str]) -> bool:
    """Whether there is a reason for a survivor."""
    own = (row["file"].removeprefix("certivote/"), row["before"], row["after"])
    return any(own[: len(key)] == key for key in EXPLAINED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=COUNT, help="how many are chosen")
    parser.add_argument("--seed", type=int, default=SEED, help="what chooses them")
    parser.add_argument("--hours", type=float, default=HOURS, help="none begins after so many")
    given = parser.parse_args()
    end, wanted = time.time() + 3600 * given.hours, chosen(given.count, given.seed)
    done = {tuple(row[field] for field in ("file", *FIELDS[2:6])) for row in known()}
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(SOURCE / "certivote", COPY / "certivote", ignore=shutil.ignore_patterns("__pycache__"))
    new = not RESULTS.exists()
    with RESULTS.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(FIELDS)
        for mutant in wanted:
            if mutant.key in done or time.time() > end:
                continue
            honest = (SOURCE / mutant.file).read_text(encoding="utf-8")
            (COPY / mutant.file).write_text(mutated(honest, mutant), encoding="utf-8")
            outcome, by, seconds = run(mutant.file)
            (COPY / mutant.file).write_text(honest, encoding="utf-8")
            writer.writerow([*mutant[:6], outcome, by, f"{seconds:.0f}", given.seed])
            file.flush()
    rows = [row for row in known() if row["seed"] == str(given.seed)]
    survived = [row for row in rows if row["outcome"] == "survived"]
    open_ones = [row for row in survived if not is_explained(row)]
    print(f"{len(rows)} of {len(wanted)} tried, {len(survived)} survived, {len(open_ones)} not explained: {RESULTS}")
    for row in open_ones:
        print(f"{row['file']}:{row['line']}: {row['before']}  ->  {row['after']}")


if __name__ == "__main__":
    main()

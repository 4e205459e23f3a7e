"""Data flows one way: a module imports only from modules above it in this list."""

import ast
from pathlib import Path

import certivote

ORDER = [
    "_version",
    "files",
    "text_columns",
    "maths",
    "split",
    "votes",
    "voters",
    "risks",
    "bounds",
    "forms",
    "methods",
    "learn",
    "evidence",
    "records",
    "record_json",
    "wording",
    "breakdown",
    "report",
    "notebook",
    "certificate",
    "by_class",
    "checks",
    "ball_maths",
    "recompute",
    "persist",
    "certify",
    "informed",
    "teach_share",
    "priors",
    "calculator",
    "progress",
    "prepare",
    "estimator",
    "recount",
    "audit",
    "compare",
    "figure_style",
    "plots",
    "tables",
    "datasets",
    "experiments",
    "cli",
    "__main__",
]
SOURCE = Path(certivote.__file__).parent


def layer(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_layers(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "certivote":
            names = node.module.split(".")[1:2] or [alias.name for alias in node.names]
            yield from names


def test_every_module_has_a_place():
    assert {layer(path) for path in SOURCE.rglob("*.py")} - {"__init__"} == set(ORDER)


def test_no_module_imports_from_below():
    for path in SOURCE.rglob("*.py"):
        if layer(path) == "__init__":
            continue
        for name in imported_layers(path):
            assert ORDER.index(name) <= ORDER.index(layer(path)), f"{path.name} imports {name}"


def test_files_stay_short():
    lengths = {path.name: len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert max(lengths.values()) < 400, lengths

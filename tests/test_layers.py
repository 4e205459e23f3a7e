"""The plan of the house: rooms import one way only, see nothing private of one another, and share one vocabulary."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import certivote
from certivote import CertifiedVoteClassifier
from certivote.pipeline import make_plan
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.theory.predictors import PREDICTORS

ROOMS = [
    "_version",
    "_late",
    "_warn",
    "registry",
    "frames",
    "maths",
    "votes",
    "voters",
    "theory",
    "codec",
    "certificate",
    "promises",
    "methods",
    "splits",
    "remarks",
    "pipeline",
    "verify",
    "verify_certificate",
    "io",
    "monitor",
    "present",
    "estimator",
    "dask",
    "paper",
    "cli",
    "__main__",
]
"""A room imports only from rooms above it in this list."""
UPWARD = {
    ("certificate/_views.py", "present"),
    ("certificate/_differences.py", "present"),
    ("certificate/_statements.py", "present"),
    ("certificate/_provenance.py", "present"),
    ("certificate/_records.py", "present"),
    ("monitor/_views.py", "present"),
}
"""But for these: the methods of a certificate or a monitor that show it ask the room of views, when they are called."""
SHARED = [["_version", "__version__"], ["_late", "late_names"], ["_warn", "warn"]]
"""The three private names that every room may import."""
ALONE = {"verify": {"certificate"}, "verify_certificate": set()}
"""Rooms that import from these and no others, whatever is above them."""

SOURCE = Path(certivote.__file__).parent
FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}
INSIDE = [name for name in FILES if name != "__init__.py"]
ROOMS_WITH_FILES = sorted({name.split("/")[0] for name in FILES if "/" in name})


def room_of(name):
    return name.split("/")[0].removesuffix(".py")


def imports_of(tree):
    """Every import from this package: its dotted path below ``certivote``, and whether it is made in a function."""
    found = []

    def visit(node, in_function):
        if isinstance(node, ast.Import):
            found.extend((alias.name.split(".")[1:], in_function) for alias in node.names if is_ours(alias.name))
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports within the package are absolute"
            if is_ours(node.module):
                path = node.module.split(".")[1:]
                found.extend(([*path, alias.name], in_function) for alias in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child, in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))

    visit(tree, False)
    return found


def is_ours(module):
    return module.split(".")[0] == "certivote"


def test_imports_are_found_wherever_they_are():
    text = """
import numpy, certivote.io
from certivote.votes import a, b
class C:
    from certivote import voters
    def f(self):
        if self:
            from certivote.present._plots import _c
"""
    assert imports_of(ast.parse(text)) == [
        (["io"], False),
        (["votes", "a"], False),
        (["votes", "b"], False),
        (["voters"], False),
        (["present", "_plots", "_c"], True),
    ]


@pytest.fixture(scope="module")
def foreign():
    """Of every file, what it imports from other rooms."""
    return {
        name: [(path, inner) for path, inner in imports_of(TREES[name]) if path[0] != room_of(name)] for name in INSIDE
    }


def test_every_room_has_a_place():
    assert {room_of(name) for name in INSIDE} == set(ROOMS)


def test_no_room_imports_from_below(foreign):
    below = {
        (name, path[0])
        for name, imports in foreign.items()
        for path, _ in imports
        if ROOMS.index(path[0]) > ROOMS.index(room_of(name))
    }
    assert below == UPWARD


def test_the_exceptions_are_made_where_they_are_needed_and_not_before(foreign):
    for name, room in UPWARD:
        inner = [in_function for path, in_function in foreign[name] if path[0] == room]
        assert inner
        assert all(inner)


def test_some_rooms_import_from_few_others(foreign):
    for room, allowed in ALONE.items():
        seen = {path[0] for name, imports in foreign.items() if room_of(name) == room for path, _ in imports}
        assert seen == allowed


def test_the_estimator_imports_what_it_says(foreign):
    assert {path[0] for path, _ in foreign["estimator.py"]} == {
        "certificate",
        "frames",
        "io",
        "methods",
        "pipeline",
        "present",
        "promises",
        "splits",
        "theory",
        "voters",
        "votes",
    }


def test_nobody_looks_into_another_room(foreign):
    private = {
        (name, ".".join(path))
        for name, imports in foreign.items()
        for path, _ in imports
        if path not in SHARED and any(part.startswith("_") for part in path)
    }
    assert private == set()


def test_the_package_itself_offers_what_rooms_offer():
    """Its own imports are public names of rooms, but for what all rooms share."""
    for path, _ in imports_of(TREES["__init__.py"]):
        assert path in SHARED or not any(part.startswith("_") for part in path), path


@pytest.mark.parametrize("room", ROOMS_WITH_FILES)
def test_every_room_says_what_lives_in_it(room):
    text = ast.get_docstring(TREES[f"{room}/__init__.py"])
    assert text is not None
    assert len(text.splitlines()) >= 3


def test_what_a_room_imports_is_offered(foreign):
    """It is a public module of another room, or in the ``__all__`` of one."""
    for name, imports in foreign.items():
        for path, _ in imports:
            module = __import__(".".join(["certivote", *path[:-1]]), fromlist=[path[-1]])
            is_module = inspect.ismodule(getattr(module, path[-1]))
            assert path[0] in ("_version", "_warn") or is_module or path[-1] in module.__all__, f"{name} imports {path}"


# Packages import some names when they are first asked for; type checkers and these tests see them as plain imports.

LATE = [name for name in FILES if "late_names(" in FILES[name].read_text(encoding="utf-8") and name != "_late.py"]


def late_of(name):
    """The package of an ``__init__.py``, the imports that it makes for type checkers, and those it makes late."""
    package = ".".join(["certivote", *name.split("/")[:-1]])
    (choice,) = [node for node in TREES[name].body if isinstance(node, ast.If)]
    assert ast.unparse(choice.test) == "TYPE_CHECKING"
    typed = {(node.module, alias.name) for node in choice.body for alias in node.names}
    modules = ast.literal_eval(choice.orelse[0].value.args[1])
    return package, typed, {(f"{package}.{module}", found) for module, names in modules.items() for found in names}


@pytest.mark.parametrize("name", LATE)
def test_names_that_are_imported_late_are_those_that_type_checkers_see(name):
    package, typed, late = late_of(name)
    modules = {found for module, found in typed if module == package}
    assert {(module, found) for module, found in typed if module != package} == late
    offered = importlib.import_module(package)
    for module, found in late:
        assert getattr(offered, found) is getattr(importlib.import_module(module), found)
    for module in modules:
        assert getattr(offered, module) is importlib.import_module(f"{package}.{module}")
    assert set(offered.__all__) <= set(dir(offered))
    assert {found for _, found in typed} <= set(offered.__all__)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        getattr(offered, "non" + "sense")


def test_some_packages_import_names_late():
    assert set(LATE) == {
        "__init__.py",
        "io/__init__.py",
        "paper/__init__.py",
        "present/__init__.py",
        "voters/__init__.py",
    }


def test_files_stay_short():
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in FILES.items()}
    assert max(lengths.values()) <= 500, lengths


# What methods, families and predictors differ in is in their tables, so nobody else asks for them by name.


def words_of(tree):
    """Every text that is no docstring: where it stands (in a function or at a name), itself, and if it is a default."""
    found = []

    def visit(node, place, defaults):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append((place, node.value, node in defaults))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            place, defaults = node.name, {*node.args.defaults, *node.args.kw_defaults}
        elif isinstance(node, ast.Assign | ast.AnnAssign) and place == "":
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            place = target.id if isinstance(target, ast.Name) else ""
        for child in ast.iter_child_nodes(node):
            visit(child, place, defaults)

    visit(tree, "", set())
    return found


def test_words_are_found_where_they_stand():
    text = """
\"\"\"dis-b\"\"\"
A = ("a",)
\"\"\"of A\"\"\"
def f(x="b", *, y="c"):
    \"\"\"of f\"\"\"
    return x == "d" or f"{x} e"
g("h")
"""
    assert set(words_of(ast.parse(text))) == {
        ("A", "a", False),
        ("f", "b", True),
        ("f", "c", True),
        ("f", "d", False),
        ("f", " e", False),
        ("", "h", False),
    }


def asked_by_name(names, knows):
    """Where texts are names of these parts, in files that do not ``know`` them."""
    return {
        (file, place, text, is_default)
        for file, tree in TREES.items()
        if not file.startswith(knows)
        for place, text, is_default in words_of(tree)
        if text in names
    }


def test_predictors_are_not_asked_for_by_name():
    assert asked_by_name(PREDICTORS, ("theory/", "verify")) == set()
    mentioned = re.compile("|".join(map(re.escape, PREDICTORS)))
    for file, tree in TREES.items():
        if not file.startswith(("theory/", "verify")):
            assert not [text for _, text, _ in words_of(tree) if mentioned.search(text)], file


def test_families_are_not_asked_for_by_name():
    """But for the default, and what models had before there was a choice."""
    assert asked_by_name(FAMILIES, ("theory/", "verify")) == {
        ("methods.py", "__init__", "dirichlet", True),
        ("cli/_learning.py", "family", "dirichlet", False),
    }


def test_methods_are_not_asked_for_by_name():
    """But for defaults, what ``"auto"`` and given models stand for, and the choice of the paper."""
    asked = asked_by_name(METHODS, ("theory/", "verify", "methods.py"))
    by_place = {}
    for file, place, method, _ in asked:
        by_place.setdefault((file, place), set()).add(method)
    assert by_place == {
        ("pipeline/_compare.py", "compare"): {"dis-r"},
        ("pipeline/_matrix.py", "learn"): {"dis-r"},
        ("pipeline/_answers.py", "given_plan"): {"dis-b"},
        ("pipeline/_plan.py", "ways"): {"holdout"},
        ("paper/_protocol.py", "PAPER_METHODS"): {"fo", "so", "bin", "smv-exact", "smv-mc", "dis-v", "dis-r"},
        ("paper/_protocol.py", "run_unit"): {"dis-r"},
        ("paper/_figures.py", "_TIMED"): {"smv-exact", "smv-mc", "dis-v", "dis-r"},
    }


@pytest.mark.parametrize("name", [name for name in INSIDE if not name.startswith("verify")])
def test_no_part_of_a_method_is_compared_by_name(name):
    """Nowhere outside the auditor, whatever else a file may name."""
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Compare | ast.MatchValue):
            texts = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
            assert not texts & {*METHODS, *PREDICTORS, *FAMILIES}, ast.unparse(node)


# One set of defaults


def test_the_defaults_of_the_estimator_are_those_of_a_plan():
    estimator, plan = (inspect.signature(function).parameters for function in (CertifiedVoteClassifier, make_plan))
    assert list(estimator) == [*plan, "n_jobs", "verbose"]
    for name, parameter in plan.items():
        assert estimator[name].default == parameter.default, name
        assert estimator[name].kind == parameter.kind, name
    assert (estimator["n_jobs"].default, estimator["verbose"].default) == (None, False)

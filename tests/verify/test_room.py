"""The auditor shares nothing with the maker, and asks for python-flint only when it is called."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import certivote
from certivote.certificate import __all__ as public_names

ROOM = Path(certivote.__file__).parent / "verify"
LIBRARIES = {"numpy", "pandas", "scipy", "sklearn", "flint"}


def imports(path):
    """Every module that a file imports from, whether at its top or inside a function, and the names it takes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", sorted(ROOM.rglob("*.py")), ids=lambda path: path.name)
def test_of_all_rooms_only_the_certificate_is_imported(path):
    for module, name in imports(path):
        room = module.split(".")
        if room[0] != "certivote":
            assert room[0] in LIBRARIES | set(sys.stdlib_module_names), f"{path.name} imports {module}"
        elif module == "certivote.certificate":
            assert name in public_names, f"{path.name} imports {name} from {module}"
        else:
            assert room[:2] == ["certivote", "verify"], f"{path.name} imports {name} from {module}"


def test_the_check_above_sees_imports_inside_functions():
    found = {module for module, _ in imports(ROOM / "_levels.py")}
    assert {"certivote.certificate", "certivote.verify._check", "certivote.verify._data"} <= found


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_flint_is_imported_by_the_call_only():
    assert run("import sys; import certivote.verify; assert 'flint' not in sys.modules").returncode == 0


def test_a_missing_flint_is_named():
    done = run("import sys; sys.modules['flint'] = None; from certivote.verify import verify; verify(None)")
    assert "ImportError: Verifying needs the package python-flint: install certivote[verify]." in done.stderr

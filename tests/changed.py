"""Run the tests of what changed since main, the nearest first, while there is time: ``python tests/changed.py``.

What changed is what git says of commits since the branch left main, of the working tree and of new files. Nearest are
tests that changed, and those that import what changed in ``tests``; then those of the rooms that changed (a room of
``src/certivote`` has its tests in the folder of ``tests`` with its name, or in ``tests/test_NAME.py``), their examples,
and the plan of the house; then, room by room, those of the rooms that import from these. What has not begun after
SECONDS is not run, and is said. `make test` runs all.
"""

import ast
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE, TESTS = "src/certivote/", "tests/"
ALWAYS = ("tests/test_layers.py", "tests/test_packaging.py")
"""Tests of what every change may break."""
SECONDS = 45
_END = "CERTIVOTE_TESTS_END"


def changed(base: str = "main") -> list[str]:
    """The files that differ from those that the branch began with, and new ones."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    since = git("merge-base", base, "HEAD").strip()
    names = git("diff", "--name-only", since) + git("ls-files", "--others", "--exclude-standard")
    return sorted({name for name in names.splitlines() if (ROOT / name).exists()})


def room_of(name: str) -> str:
    """The room of a file of the package: its folder, or the file itself."""
    return name.removeprefix(SOURCE).split("/")[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """The dotted names of all that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def importing(rooms: set[str], root: Path) -> set[str]:
    """The rooms that import from these."""
    wanted = tuple(f"certivote.{room}" for room in rooms)
    found = set()
    for path in (root / SOURCE).rglob("*.py"):
        room = room_of(path.relative_to(root).as_posix())
        if any(name == each or name.startswith(f"{each}.") for name in imports(path) for each in wanted):
            found.add(room)
    return found - rooms - {"__init__"}


def tests_of(rooms: Iterable[str], root: Path) -> Iterator[str]:
    """Where the tests of rooms are, if they have any."""
    for room in sorted(rooms):
        for place in (f"{TESTS}{room}", f"{TESTS}test_{room}.py"):
            if (root / place).exists():
                yield place


def chosen(names: Iterable[str], root: Path = ROOT) -> list[list[str]]:
    """Tests to run for these changed files: all that is near, and then one room after another."""
    names = list(names)
    if not names:
        return []
    files = {path.relative_to(root).as_posix(): path for path in sorted((root / TESTS).rglob("test_*.py"))}
    helpers = {Path(name).stem for name in names if name.startswith(TESTS) and name.endswith(".py")} - {"conftest"}
    own = [name for name, path in files.items() if name in names or imports(path) & helpers]
    sources = [name for name in names if name.startswith(SOURCE) and name.endswith(".py")]
    rooms = {room_of(name) for name in sources}
    if any(name.endswith(".md") for name in names):
        own.append("tests/test_docs.py")
    near = [*own, *tests_of(rooms, root), *sources, *(name for name in ALWAYS if (root / name).exists())]
    return [list(dict.fromkeys(near)), *([place] for place in tests_of(importing(rooms, root), root))]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """In the processes of the tests: none begins when time is up."""
    if time.time() > float(os.environ.get(_END, "inf")):
        pytest.skip("no time left")


def main(arguments: list[str]) -> int:
    """Run them; arguments go to pytest."""
    groups = chosen(changed())
    path = os.pathsep.join([str(ROOT / TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, _END: str(time.time() + SECONDS), "PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "changed", "-n", "2", "--dist", "worksteal", *arguments]
    while groups and time.time() < float(environment[_END]):
        tests = groups.pop(0)
        print(f"Tests: {' '.join(tests)}", flush=True)
        if (code := subprocess.run([*command, *tests], cwd=ROOT, env=environment).returncode) not in (0, 5):
            return code
    left = " ".join(tests[0] for tests in groups)
    print(f"Not run: what was skipped, {left or 'and nothing else'}; make test runs all.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

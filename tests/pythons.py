"""Run tests on other Pythons of this machine, each with the newest packages: ``pythons.py [PYTHON...] -- TESTS...``.

Every PYTHON is a version such as 3.12, a command or a path; ``another`` is the newest one that is found besides that of
this process. Without any, all that are found are taken: of the versions that pyproject.toml names, those on the path
and those of pyenv. The environments are made in build/pythons, anew when pyproject.toml has changed.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / "build" / "pythons"
OWN = "{}.{}".format(*sys.version_info)
ASKED = "import ensurepip, sys, venv; print('{}.{}'.format(*sys.version_info))"
"""Says the version, and fails where no environment could be made."""


def supported(pyproject: str) -> list[str]:
    """The versions that the text of a pyproject.toml names, the newest first."""
    classifiers = tomllib.loads(pyproject)["project"]["classifiers"]
    minors = [int(found[1]) for text in classifiers if (found := re.search(r"Python :: 3\.(\d+)$", text))]
    return [f"3.{minor}" for minor in sorted(minors, reverse=True)]


def candidates(version: str) -> Iterator[str]:
    """Where a Python of this version may be; what stands there may be none."""
    if version == OWN:
        yield sys.executable
    yield from filter(None, [shutil.which(f"python{version}")])
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    patches = [patch for path in pyenv.glob(f"{version}.*") if (patch := path.suffix[1:]).isdecimal()]
    yield from (
        str(pyenv / f"{version}.{patch}" / "bin" / "python") for patch in sorted(patches, key=int, reverse=True)
    )


def version_of(python: str) -> str | None:
    """The version of a Python that runs and can make environments; None of anything else."""
    try:
        answer = subprocess.run([python, "-c", ASKED], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def found(versions: Sequence[str]) -> dict[str, str]:
    """A Python of each of these versions that the machine has."""
    pythons = {}
    for version in versions:
        python = next((path for path in candidates(version) if version_of(path) == version), None)
        if python is not None:
            pythons[version] = python
    return pythons


def chosen(wanted: Sequence[str], versions: Sequence[str]) -> dict[str, str]:
    """The Pythons to run the tests on, by version."""
    if not wanted:
        return found(versions)
    pythons = {}
    for name in wanted:
        if name == "another":
            pythons.update(list(found([version for version in versions if version != OWN]).items())[:1])
        elif re.fullmatch(r"3\.\d+", name):
            own = found([name])
            if not own:
                raise SystemExit(f"There is no Python {name} here, neither on the path nor among pyenv's.")
            pythons.update(own)
        elif version := version_of(name):
            pythons[version] = name
        else:
            raise SystemExit(f"{name} is no Python that can make an environment.")
    return pythons


def environment(version: str, python: str) -> Path:
    """The Python of an environment with the newest packages, made where it is absent or out of date."""
    folder = ENVIRONMENTS / version
    own, done = folder / "bin" / "python", folder / "installed.txt"
    state = f"{python}\n{(ROOT / 'pyproject.toml').read_text(encoding='utf-8')}"
    if not done.exists() or done.read_text(encoding="utf-8") != state:
        print(f"Python {version}, {python}: installing the newest packages", flush=True)
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([own, "-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[test]"], check=True)
        done.write_text(state, encoding="utf-8")
    return own


def main(arguments: Sequence[str]) -> None:
    place = list(arguments).index("--")
    pythons = chosen(arguments[:place], supported((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    if not pythons:
        print(f"There is no other Python here than {OWN}: NOTHING WAS TESTED on another one.", flush=True)
    failed = []
    for version, python in pythons.items():
        own = environment(version, python)
        print(f"Python {version}, {python}", flush=True)
        if subprocess.run([own, "-m", "pytest", *arguments[place + 1 :]], cwd=ROOT).returncode:
            failed.append(version)
    if failed:
        sys.exit(f"Tests failed on Python {', '.join(failed)}.")


if __name__ == "__main__":
    main(sys.argv[1:])

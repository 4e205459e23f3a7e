"""Write models in every environment, open them in every other, and record what came of it: ``make compat``.

An environment has a version of scikit-learn and the libraries of its time; the newest is the one that runs this file,
and there is one with the newest libraries on every other Python of this machine, which ``make test-pythons`` shares.
The newest also opens everything as another processor would, with instructions switched off in numpy and OpenBLAS, and
with trees that are walked without scikit-learn's compiled ones. The outcomes go to ``benchmarks/results/compat.csv``,
and the table that a page shows is made from it: ``all_pairs.py --table`` does only that.
"""

import csv
import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from outcomes_table import table

sys.path.append(str(Path(__file__).resolve().parent.parent))
from pythons import OWN, environment, found, supported

Reader = tuple[str, str, tuple[str, ...], Mapping[str, str]]
"""Its libraries, the way to compute, and for that arguments and settings of its process."""

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
ENVIRONMENTS = ROOT / "build" / "compat"
RESULTS = ROOT / "benchmarks" / "results" / "compat.csv"
FIELDS = ("writer", "written_on", "reader", "read_on", "libraries", "processor", "kind", "brought", "result", "reason")
PINNED = (
    "scikit-learn==1.6.1 numpy==2.1.3 scipy==1.14.1 pandas==2.2.3 skops==0.13.0",
    "scikit-learn==1.7.2 numpy==2.3.3 scipy==1.16.2 pandas==2.3.2 skops==0.13.0",
    "scikit-learn==1.8.0 numpy==2.3.5 scipy==1.16.3 pandas==2.3.3 skops==0.13.0",
)
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
LIBRARIES = """
import sys
from importlib.metadata import version
libraries = [f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "scipy", "pandas", "skops")]
print(*libraries, "Python {}.{}".format(*sys.version_info), sep=", ")
"""
INSTRUCTIONS = """
import numpy
print(*numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", ()))
"""


def installed(pins: str) -> Path:
    """The Python of an environment with these versions, made where it is absent."""
    folder = ENVIRONMENTS / pins.split()[0].replace("==", "-")
    python, done = folder / "bin" / "python", folder / "installed.txt"
    if not done.exists() or done.read_text() != pins:
        print(f"installing {pins}", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        install = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--editable",
            f"{ROOT}[boost,persist,verify]",
            *pins.split(),
        ]
        subprocess.run(install, check=True)
        done.write_text(pins)
    return python


def asked(python: Path, *arguments: str, **settings: str) -> str:
    """What a process of an environment prints."""
    command = [str(python), "-W", "ignore", *arguments]
    surroundings = {**os.environ, **ONE_THREAD, **settings}
    return subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def name_of(libraries: str) -> tuple[str, str]:
    """The version of scikit-learn, and that of Python."""
    words = libraries.replace(",", "").split()
    return words[1], words[-1]


def processors(python: Path) -> dict[str, tuple[tuple[str, ...], Mapping[str, str]]]:
    """Other ways to compute the same, each with arguments of the reader and settings of its process."""
    found = asked(python, "-c", INSTRUCTIONS).split()
    widest = [name for name in found if name.startswith("AVX512") or name == "X86_V4"]
    return {
        "AVX2": ((), {"NPY_DISABLE_CPU_FEATURES": " ".join(widest), "OPENBLAS_CORETYPE": "Haswell"}),
        "SSE": ((), {"NPY_DISABLE_CPU_FEATURES": " ".join(found), "OPENBLAS_CORETYPE": "Nehalem"}),
        "AMD": ((), {"NPY_DISABLE_CPU_FEATURES": " ".join(widest), "OPENBLAS_CORETYPE": "Zen"}),
        "trees walked": (("--walk",), {}),
    }


def measured() -> list[dict[str, str]]:
    """Every model opened by every reader, a row each."""
    versions = [
        version for version in supported((ROOT / "pyproject.toml").read_text(encoding="utf-8")) if version != OWN
    ]
    others = [environment(version, python) for version, python in found(versions).items()]
    pythons = [*map(installed, PINNED), Path(sys.executable), *reversed(others)]
    libraries = {asked(python, "-c", LIBRARIES): python for python in pythons}
    newest = list(libraries)[len(PINNED)]
    folders = {text: str(ENVIRONMENTS / "models" / "_".join(name_of(text))) for text in libraries}
    readers = [(text, "", (), {}) for text in libraries]
    readers += [(newest, name, *how) for name, how in processors(libraries[newest]).items()]

    def write(text: str) -> None:
        asked(libraries[text], str(HERE / "store_models.py"), folders[text])
        print(f"written with {text}", flush=True)

    def read(reader: Reader) -> list[dict[str, str]]:
        text, processor, arguments, settings = reader
        answer = asked(libraries[text], str(HERE / "open_models.py"), *arguments, *folders.values(), **settings)
        print(f"opened with {text}{', ' if processor else ''}{processor}", flush=True)
        reader, read_on = name_of(text)
        common = {"reader": reader, "read_on": read_on, "libraries": text, "processor": processor}
        return [common | row for row in json.loads(answer)]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(write, libraries))
        return [row for rows in pool.map(read, readers) for row in rows]


def main(table_only: bool) -> None:
    if not table_only:
        rows = measured()
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    with RESULTS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    text = table(rows)
    RESULTS.with_suffix(".md").write_text(text, encoding="utf-8")
    if table_only:
        return
    print(text)
    wrong = [row for row in rows if row["result"] not in ("same", "same answers", "same votes", "refused")]
    wrong += [row for row in rows if row["result"] == "refused" and not row["brought"] and not row["processor"]]
    if wrong:
        sys.exit(f"{len(wrong)} models of {len(rows)} do not vote as they did, or cannot be opened.")


if __name__ == "__main__":
    main("--table" in sys.argv[1:])

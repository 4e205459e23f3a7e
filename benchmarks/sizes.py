"""What the package and each extra take on the disk: ``python benchmarks/sizes.py`` writes it to results/sizes.csv.

Of every distribution that an extra needs, directly or not, and the plain install does not: the sizes of its files, as
they are installed here. Other systems and versions differ. With ``--tables``, nothing is measured, and the table of the
page is made.
"""

import csv
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).parent / "results" / "sizes.csv"
FOR_USERS = ("data", "parquet", "excel", "verify", "persist", "report", "reproduce", "dask", "fast", "boost")


def needed(requirements: list[str], known: set[str]) -> set[str]:
    """The distributions that requirements lead to, besides those that are known."""
    found = set(known)
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in found:
            continue
        found.add(name)
        for text in metadata.requires(name) or []:
            inner = Requirement(text)
            extras = wanted.extras or {""}
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(inner)
    return found - known


def megabytes(names: set[str]) -> float:
    """The sizes of the files of distributions."""
    paths = {path.locate() for name in names for path in metadata.files(name) or []}
    return sum(Path(path).stat().st_size for path in paths if Path(path).is_file()) / 1e6


def measure() -> None:
    """Write what is installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = sum(path.stat().st_size for path in (ROOT / "src" / "certivote").rglob("*.*") if path.suffix != ".pyc") / 1e6
    plain = needed(project["dependencies"], set())
    rows = [("certivote itself", set[str](), own), ("what it always needs", plain, megabytes(plain))]
    for extra in FOR_USERS:
        more = needed(project["optional-dependencies"][extra], plain)
        rows.append((f"`{extra}`", more, megabytes(more)))
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("install", "packages", "megabytes"))
        writer.writerows((name, " ".join(sorted(packages)), f"{size:.1f}") for name, packages, size in rows)


def make_table() -> None:
    """The table of the page on what to install."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        rows = [(row["install"], len(row["packages"].split()), row["megabytes"]) for row in csv.DictReader(file)]
    lines = [
        "| | packages | MB |",
        "|---|--:|--:|",
        *(f"| {name} | {count or ''} | {size} |" for name, count, size in rows),
    ]
    RESULTS.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--tables" not in sys.argv:
        measure()
    make_table()

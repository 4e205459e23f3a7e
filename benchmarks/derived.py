"""Make what pages show of the measurements: tables, figures and the page on validity, from benchmarks/results/*.csv.

Nothing is measured here, and no data are needed. ``make docs`` runs it before the site is built. Tables are copied into
the pages, between ``<!-- table: NAME -->`` and ``<!-- end of table -->``, so that pages can be read in the repository.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMANDS = (
    ("-m", "certivote", "reproduce", "--tables", "--out", "benchmarks/results"),
    ("benchmarks/tightness.py", "--tables"),
    ("benchmarks/tightness.py", "--keel", "--tables"),
    ("benchmarks/auto.py", "--tables"),
    ("benchmarks/bounds.py", "--tables"),
    ("benchmarks/rivals.py", "--tables"),
    ("benchmarks/entities.py", "--tables"),
    ("benchmarks/monitoring.py", "--tables"),
    ("benchmarks/labels.py", "--tables"),
    ("benchmarks/abstention.py", "--tables"),
    ("benchmarks/streams.py", "--tables"),
    ("benchmarks/learning.py", "--tables"),
    ("benchmarks/scale.py", "--tables"),
    ("benchmarks/sizes.py", "--tables"),
    ("tests/validity/run.py", "--page-only"),
    ("tests/compat/all_pairs.py", "--table"),
)
TABLE = re.compile(r"(?<=<!-- table: )([\w/-]+)(?:, without notes)? -->\n.*?(?=<!-- end of table -->)", re.DOTALL)
"""In a page: where a table stands, and which."""
NOTES = "What to know of the data"
"""What is below some tables."""


def with_tables(page: str) -> str:
    """The page with its tables as they are in ``benchmarks/results``."""
    return TABLE.sub(_table, page)


def _table(found: re.Match[str]) -> str:
    text = (ROOT / "benchmarks" / "results" / f"{found[1]}.md").read_text(encoding="utf-8")
    heading, _, _ = found[0].partition("\n")
    return f"{heading}\n\n{text.partition(NOTES)[0] if 'without notes' in heading else text}".rstrip() + "\n\n"


def main() -> None:
    # The simulations find what they share with other tests in the folder of these.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(["tests", os.environ.get("PYTHONPATH", "")])}
    for command in COMMANDS:
        subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
    for path in sorted((ROOT / "docs").glob("*.md")):
        page = path.read_text(encoding="utf-8")
        if page != with_tables(page):
            path.write_text(with_tables(page), encoding="utf-8")


if __name__ == "__main__":
    main()

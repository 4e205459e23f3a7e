"""Make what pages show of the measurements: tables, figures and the page on validity, from benchmarks/results/*.csv.

Nothing is measured here, and no data are needed. ``make docs`` runs it before the site is built.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMANDS = (
    ("-m", "certivote", "reproduce", "--tables", "--out", "benchmarks/results"),
    ("benchmarks/tightness.py", "--tables"),
    ("benchmarks/tightness.py", "--keel", "--tables"),
    ("benchmarks/auto.py", "--tables"),
    ("benchmarks/entities.py", "--tables"),
    ("benchmarks/monitoring.py", "--tables"),
    ("benchmarks/abstention.py", "--tables"),
    ("benchmarks/streams.py", "--tables"),
    ("benchmarks/learning.py", "--tables"),
    ("benchmarks/scale.py", "--tables"),
    ("tests/validity/run.py", "--page-only"),
    ("tests/compat/all_pairs.py", "--table"),
)


def main() -> None:
    for command in COMMANDS:
        subprocess.run([sys.executable, *command], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()

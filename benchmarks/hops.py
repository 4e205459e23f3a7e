"""How much of the library a default fit runs through: files and functions of ours, and the way to the bound's formula.

``python benchmarks/hops.py [--list]``
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_breast_cancer

import certivote
from certivote import CertifiedVoteClassifier

SOURCE = Path(certivote.__file__).parent


def functions_of(action: Any) -> dict[str, set[str]]:
    """By file, the functions of the library that are called while ``action`` runs in this thread."""
    found: dict[str, set[str]] = defaultdict(set)

    def seen(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Bodies of modules and classes are imports, and inner functions belong to the one around them.
        if event == "call" and code.co_flags & 2 and not code.co_name.startswith("<"):
            path = Path(code.co_filename)
            if path.is_relative_to(SOURCE):
                found[path.relative_to(SOURCE).as_posix()].add(code.co_qualname.split(".<locals>")[0])

    sys.setprofile(seen)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="also print every file with its functions")
    arguments = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True)
    CertifiedVoteClassifier(random_state=0).fit(X[:100], y[:100])  # what is imported when first needed
    found = functions_of(lambda: CertifiedVoteClassifier(random_state=0).fit(X, y))
    if arguments.list:
        for file, names in sorted(found.items()):
            print(f"{file:40} {len(names):3}  {', '.join(sorted(names))}")
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file, names in found.items():
        rooms[file.split("/")[0]][0] += 1
        rooms[file.split("/")[0]][1] += len(names)
    for room, (files, functions) in sorted(rooms.items(), key=lambda item: -item[1][1]):
        print(f"{room:20} {files:3} files {functions:4} functions")
    print(f"{'all':20} {len(found):3} files {sum(map(len, found.values())):4} functions")


if __name__ == "__main__":
    main()

"""Finished runs in a CSV file: each is added when it is done, and none is repeated."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["read", "record"]


def read(path: Path) -> list[dict[str, str]]:
    """All runs; none if there is no file yet."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def record(path: Path, fields: Sequence[str], *rows: Mapping[str, Any]) -> None:
    """Add runs, below a line with the names of the fields."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(rows)

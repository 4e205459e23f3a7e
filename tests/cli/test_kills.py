"""Killed at any moment, a monitor forgets nothing and counts nothing twice."""

import runpy
from pathlib import Path


def test_nothing_is_lost_or_repeated_if_it_is_killed(tmp_path):
    """At random moments, in a copy of this process; ``python benchmarks/kills.py`` kills 500."""
    kill_updates = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "kills.py"))["kill_updates"]
    found = kill_updates(tmp_path, 20, 0)
    assert found["killed before the change"] + found["killed after it"] == 20

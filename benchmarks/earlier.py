"""The package as it was at an earlier commit, so that old and new code are measured on one machine in one run."""

import os
import subprocess
import tarfile
import tempfile
from functools import cache
from io import BytesIO
from pathlib import Path

__all__ = ["environment", "source"]

ROOT = Path(__file__).parents[1]


@cache
def source(commit: str) -> Path:
    """The folder with the package of that commit; unpacked once, and kept for the next run in the temporary folder."""
    full = _git("rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()
    folder = Path(tempfile.gettempdir()) / f"certivote-{full[:12]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent) as unpacked:
            with tarfile.open(fileobj=BytesIO(_git("archive", full))) as archive:
                archive.extractall(unpacked, filter="data")
            try:
                Path(unpacked, "src").rename(folder)  # all at once: another run may be doing the same
            except OSError:
                if not folder.exists():
                    raise
    return folder


def environment(commit: str) -> dict[str, str]:
    """The environment of a process that imports the package of that commit."""
    return {**os.environ, "PYTHONPATH": str(source(commit))}


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout

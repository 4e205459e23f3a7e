"""Versions of libraries other than those that a certificate was made with."""

import platform
from importlib.metadata import PackageNotFoundError, version

from certivote.certificate import Certificate


def other_versions(c: Certificate) -> str:
    """What may be the reason for a difference besides a forgery; empty if all versions are the recorded ones."""
    other = []
    for name, recorded in c.provenance.versions:
        try:
            here = platform.python_version() if name == "python" else version(name)
        except PackageNotFoundError:
            here = "not installed"
        if here != recorded:
            other.append(f"{name} {recorded:.20} recorded, {here} here")
    return f" (the difference may come from other versions: {'; '.join(other)})" if other else ""

"""The lowest versions that pyproject.toml declares, as constraints for pip: ``make test-lowest`` installs them."""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path


def constraints(text: str) -> Iterator[str]:
    """Of all packages that the text of a pyproject.toml asks for, with those of its extras."""
    project = tomllib.loads(text)["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    lowest: dict[str, str] = {}
    for requirement in wanted:
        if requirement.startswith(f"{project['name']}["):
            continue  # the extras of this package, which are among these
        found = re.fullmatch(r"([\w.-]+)>=([\d.]+)", requirement)
        if not found:
            raise ValueError(f"{requirement!r} names no lowest version: write name>=version.")
        name, version = found.groups()
        if lowest.setdefault(name, version) != version:
            raise ValueError(
                f"{name} is asked for twice, from {lowest[name]} and from {version}: write the same version."
            )
    yield from (f"{name}=={version}" for name, version in sorted(lowest.items()))


if __name__ == "__main__":
    print("\n".join(constraints(Path(sys.argv[1]).read_text(encoding="utf-8"))))

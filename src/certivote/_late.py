"""What a package offers without importing it yet, so that whatever does not need it starts quickly."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["late_names"]


def late_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package that imports names when they are first asked for.

    Python calls them by these names if the package has them (PEP 562).

    Parameters
    ----------
    package : str
        Its ``__name__``.
    modules : mapping of sequences of str
        Modules of the package, and the names in each that the package offers too.

    Examples
    --------
    >>> import xml
    >>> xml.__getattr__, xml.__dir__ = late_names("xml", {"sax": ["parseString"]})
    >>> "parseString" in dir(xml), "parseString" in vars(xml)
    (True, False)
    >>> xml.parseString is xml.sax.parseString, "parseString" in vars(xml)
    (True, True)
    >>> del xml.__getattr__, xml.__dir__, xml.parseString
    """
    module_of = {name: module for module, names in modules.items() for name in names}
    known = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        known[name] = getattr(import_module(f"{package}.{module_of[name]}"), name)
        return known[name]

    def listed() -> list[str]:
        return sorted({*known, *modules, *module_of})

    return get, listed

"""Names that stand for methods, families of distributions, voters and promises, to which other packages may add."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

__all__ = ["Registry"]

T = TypeVar("T")

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Registry(dict[str, T]):
    """What stands for what, by name.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from certivote.theory.methods import METHODS
    >>> from certivote.theory.theorems import Ratio
    >>> METHODS.register(replace(METHODS["dis-r"], name="my-bound", theorem=Ratio("My theorem"))).name
    'my-bound'
    >>> METHODS.forget("my-bound")
    """

    def __init__(self, own: Mapping[str, T]) -> None:
        super().__init__(own)
        self._own = frozenset(own)

    def register(self, thing: Any, name: str | None = None) -> Any:
        """Add something under its ``name``, or under another, and return it, so that this may decorate a class.

        A name is never given twice: certificates are read by it.
        """
        name = thing.name if name is None else name
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"name must be small letters, digits and hyphens, such as 'my-bound'; got {name!r:.200}.")
        if name == "auto" or dict.get(self, name, thing) is not thing:
            raise ValueError(f"The name {name!r} is taken. Choose another, or forget what has it first.")
        self[name] = thing
        return thing

    def forget(self, name: str) -> None:
        """Remove what was registered, as when a notebook cell defines it again."""
        if name in self._own:
            raise ValueError(f"{name!r} is certivote's own, and stays.")
        self.pop(name, None)

"""Groups of options that verbs share: a verb takes a dataclass, and the command line has its fields as options."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, get_type_hints


@dataclass(frozen=True, kw_only=True)
class Options:
    """A group: fields are annotated as typer wants the parameters of a verb to be, and named like the options."""

    def given(self) -> dict[str, Any]:
        """What was given, by the names of the options: all that is not the default."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        defaults = {field.name: field.default for field in fields(self)}
        # Of an option that may be repeated and was not given, some versions of typer make an empty list.
        return {option_name(name): value for name, value in values.items() if value not in (defaults[name], [])}


def option_name(name: str) -> str:
    """How the option of a parameter is spelled."""
    return f"--{name.replace('_', '-')}"


def grouped(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as typer sees it: in place of each group, the options that are its fields.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Size(Options):
    ...     width: int = 80
    ...     height: int = 25
    >>> @grouped
    ... def show(name: str, size: Size):
    ...     print(name, size.width, size.height, size.given())
    >>> inspect.signature(show)
    <Signature (*, name: str, width: int = 80, height: int = 25)>
    >>> show(name="page", width=80, height=50)
    page 80 50 {'--height': 50}
    """
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    shown = []
    for name, parameter in inspect.signature(verb).parameters.items():
        if name not in groups:
            shown.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))
            continue
        own = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            shown.append(
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=own[field.name]
                )
            )

    @functools.wraps(verb)
    def called(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        verb(**given, **made)

    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in shown}
    return called

"""How verbs say their options: parameters that are explained in the docstring, and groups that several verbs share.

A group is a dataclass. A verb takes it as one parameter, and the command line has its fields as options.
"""

import difflib
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import typer


@dataclass(frozen=True, kw_only=True)
class Options:
    """A group. Its docstring explains the fields, under "Attributes"; a subclass explains only what it adds."""

    panel: ClassVar[str | None] = None
    """Heading of the options in the help, if they have one of their own."""

    def given(self) -> dict[str, Any]:
        """What was given, by the names of the options: all that is not the default."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        defaults = {field.name: field.default for field in fields(self)}
        # Of an option that may be repeated and was not given, some versions of typer make an empty list.
        return {option_name(name): value for name, value in values.items() if value not in (defaults[name], [])}


def option_name(name: str) -> str:
    """How the option of a parameter is spelled."""
    return f"--{name.replace('_', '-')}"


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """The function as typer sees it: groups are replaced by their fields, and help is what docstrings say.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Size(Options):
    ...     width: int = 80
    ...     height: int = 25
    >>> @verb
    ... def show(name: str, size: Size):
    ...     print(name, size.width, size.height, size.given())
    >>> list(inspect.signature(show).parameters)
    ['name', 'width', 'height']
    >>> show(name="page", width=80, height=50)
    page 80 50 {'--height': 50}
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    text, explained = _explained(function.__doc__)
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            shown += _of_group(groups[name])
        else:
            shown.append(_parameter(name, hints[name], parameter.default, explained.get(name)))

    @functools.wraps(function)
    def called(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        function(**given, **made)

    called.__doc__ = text
    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in shown}
    return called


def _of_group(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    explained: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        explained |= _explained(each.__doc__)[1]
    return [
        _parameter(
            field.name,
            hints[field.name],
            inspect.Parameter.empty if field.default is MISSING else field.default,
            explained.get(field.name),
            kind.panel,
        )
        for field in fields(kind)
    ]


def _parameter(name: str, hint: Any, default: Any, text: str | None, panel: str | None = None) -> inspect.Parameter:
    """With the settings that its annotation has; without any, it is an argument if it has no default."""
    kind, settings = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, None)
    if settings is not None:
        settings = copy(settings)
    elif kind is bool:
        settings = typer.Option(option_name(name))  # by this name alone: there is no --no-...
    else:
        settings = typer.Argument() if default is inspect.Parameter.empty else typer.Option()
    settings.help = text.replace("{names}", settings.help or "") if text else settings.help
    settings.rich_help_panel = panel or settings.rich_help_panel
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, settings]
    )


def _explained(doc: str | None) -> tuple[str, dict[str, str]]:
    """A docstring without its last section, and what that says about each parameter."""
    text, *section = re.split(r"\n\n(?:Parameters|Attributes)\n-+\n", inspect.cleandoc(doc or ""), maxsplit=1)
    found = {}
    for entry in re.split(r"\n(?=\S)", section[0]) if section else ():
        name, *lines = entry.splitlines()
        said = " ".join(line.strip() for line in lines)
        found[name] = said.replace(" [default: ", "  [default: ")  # as typer writes its own
    return text, found


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence with the names that may be meant; empty if none is near."""
    close = difflib.get_close_matches(name.lower(), list(known), cutoff=0.5)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def share(text: Any) -> float:
    """A parser for an option that is a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise typer.BadParameter(f"{text!r} is not a number between 0 and 1, such as 0.02 or 0.95.")
    return value


def name_option(metavar: str, names: Callable[[], Iterable[str]]) -> Any:
    """An option that takes a name from a table, which is read anew whenever the option is.

    ``{names}`` in what the docstring says of the option stands for all of them.
    """

    def parse(text: str) -> str:
        if text not in names():
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(names())}.{suggestion(text, names())}")
        return text

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return typer.Option(metavar=metavar, parser=parse, autocompletion=complete, help=", ".join(names()))


Delta = Annotated[float, typer.Option(help="Probability with which a certificate may fail.")]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Seed of all randomness. By default a fresh one from the system, which is printed. Keeping the best of "
        "several seeds voids the certificate.",
    ),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="CERTIVOTE_DATA",
        exists=True,
        file_okay=False,
        help="Folder of the data files. Files that it lacks are looked for in the cache folder, and downloaded to it.",
    ),
]

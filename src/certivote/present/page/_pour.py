"""Contents poured into a template, and the page written when it is complete."""

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import ModuleType
from typing import Any

_ROOM = "certivote.present"


def write_page(path: str | os.PathLike[str], template: str, given: Mapping[str, Any]) -> None:
    """Write a page as one HTML file, which replaces an existing one when it is complete.

    Parameters
    ----------
    path : path
    template : str
        Its file, from the folder of this room on.
    given : mapping
        What the template shows: ``title`` and ``what``, the kind of page, and its own contents.
    """
    from certivote.io import write_atomically  # here, since only writing needs that room

    write_atomically(path, _poured(template, given).encode())


def _file(name: str) -> str:
    """A template, a style or a script of this room."""
    return resources.files(_ROOM).joinpath(name).read_text(encoding="utf-8")


def _poured(template: str, given: Mapping[str, Any]) -> str:
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("The report needs the package jinja2: install certivote[report].") from error
    page: str = _environment(jinja2).get_template(template).render(file=lambda name: Markup(_file(name)), **given)
    # A number and its per cent sign stay on one line.
    return page.replace(" %", "\u00a0%")


@cache
def _environment(jinja2: ModuleType) -> Any:
    """What compiles the templates, once a process: it takes about as long as all the rest of a report."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

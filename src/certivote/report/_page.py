"""The page: the contents poured into the template, everything that comes from data escaped."""

import hashlib
from importlib import resources
from typing import Any

from certivote.records import Record
from certivote.report import _contents as contents
from certivote.report._contents import FreshRows
from certivote.wording import percent_up, promise

__all__ = ["render"]


def render(record: Record, record_json: str, *, title: str, command: str, test: FreshRows | None = None) -> str:
    """The report as HTML.

    Parameters
    ----------
    record : Record
    record_json : str
        The certificate as it is kept, whose digest ties the page to it.
    title : str
    command : str
        How to verify the certificate, a line each.
    test : FreshRows, optional
        Answers on rows that neither taught nor certified.
    """
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("The report needs the package jinja2: install certivote[report].") from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_file("page.html.jinja"))
    glance, glance_axis = contents.at_a_glance(record, test)
    origin, origin_axis = contents.origin(record)
    delta_curve, lookup = contents.delta_curve(record)
    data_curve, data_place, targets, floor = contents.data_needed(record)
    heights, shares, each = contents.weights(record)
    given: dict[str, Any] = {
        "c": record,
        "part": record.deployed_part,
        "title": title,
        "promise": promise(record),
        "bound": percent_up(min(record.bound, 1.0)),
        "confidence": f"{100 * (1 - record.delta):g} %",
        "one": record.certified != "the random vote",
        "glance": glance,
        "glance_axis": glance_axis,
        "test_note": None if test is None else contents.comparison_note(record, test),
        "origin": origin,
        "origin_axis": origin_axis,
        "delta_curve": delta_curve,
        "lookup": lookup,
        "data_curve": data_curve,
        "data_place": data_place,
        "targets": targets,
        "floor": floor,
        "heights": heights,
        "shares": shares,
        "each": each,
        "classes": contents.by_class(record, test),
        "tested": test is not None,
        "premises": contents.premises(record),
        "commands": [line.split(" ") for line in command.splitlines()],
        "digest": hashlib.sha256(record_json.encode()).hexdigest(),
        "style": Markup(_file("style.css")),
        # Numbers and percentages only; tojson escapes what would end the script.
        "script": Markup(_file("slider.js")),
    }
    # A number and its per cent sign stay on one line.
    return template.render(given).replace(" %", "\u00a0%")


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")

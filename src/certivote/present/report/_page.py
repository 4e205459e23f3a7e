"""The page: the contents poured into the template, everything that comes from data escaped."""

import hashlib
import os
from importlib import resources
from typing import Any

from certivote.certificate import Certificate
from certivote.present._cautions import cautions
from certivote.present._plain import plain_text, printable
from certivote.present._provenance import provenance_facts
from certivote.present._wording import majority, percent_up, promise
from certivote.present.report import _contents as contents
from certivote.present.report._contents import TestRows
from certivote.theory.methods import METHODS

__all__ = ["write_report"]


def write_report(
    certificate: Certificate,
    path: str | os.PathLike[str],
    *,
    title: str,
    command: str,
    test: TestRows | None = None,
) -> None:
    """Write the report as one HTML file, which replaces an existing one when it is complete.

    Parameters
    ----------
    certificate : Certificate
    path : path
    title : str
    command : str
        How to verify the certificate, one line per command.
    test : TestRows, optional
        Answers on rows used neither for training nor for certification.
    """
    from certivote.io import write_atomically  # here, since only writing needs that room

    write_atomically(path, _render(certificate, title, command, test).encode())


def _render(certificate: Certificate, title: str, command: str, test: TestRows | None) -> str:
    """The report as HTML."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("The report needs the package jinja2: install certivote[report].") from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_file("page.html.jinja"))
    digest = hashlib.sha256(certificate.to_json().encode()).hexdigest()
    certificate = printable(certificate)
    part = certificate.deployed_part
    glance, glance_axis = contents.at_a_glance(certificate, test)
    origin, origin_axis = contents.origin(certificate)
    delta_curve, lookup = contents.delta_curve(certificate)
    data_curve, data_place, targets, floor = contents.data_needed(certificate)
    heights, shares, each = contents.weights(certificate)
    given: dict[str, Any] = {
        "c": certificate,
        "part": part,
        "title": plain_text(title),
        "promise": promise(certificate),
        "cautions": cautions(certificate),
        "provenance": provenance_facts(certificate, whole=True),
        "remarks": contents.remarks(certificate),
        "bound": percent_up(min(certificate.bound, 1.0)),
        "confidence": f"{100 * (1 - certificate.delta):g} %",
        "random": METHODS[certificate.method].predictor.is_random,
        "glance": glance,
        "glance_axis": glance_axis,
        "majority": majority(part) if part.majority_class else "",
        "test_used": test is not None and not test.is_test,
        "test_note": None if test is None else contents.comparison_note(certificate, test),
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
        "classes": contents.by_class(certificate, test),
        "premises": contents.premises(certificate),
        "commands": [plain_text(line).split(" ") for line in command.splitlines()],
        "digest": digest,
        "style": Markup(_file("style.css")),
        # Numbers and percentages only; tojson escapes what would end the script.
        "script": Markup(_file("slider.js")),
    }
    # A number and its per cent sign stay on one line.
    return template.render(given).replace(" %", "\u00a0%")


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")

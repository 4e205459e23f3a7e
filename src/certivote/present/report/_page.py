"""The page: the contents poured into the template, everything that comes from data escaped."""

import os
from typing import Any

from certivote.certificate import Certificate, confidence, method_of, percent_up, units
from certivote.present._candidates import candidate_lines, candidates_note
from certivote.present._cautions import other_remarks, sentence
from certivote.present._plain import plain_text, printable
from certivote.present._premises import premises
from certivote.present._promises import promises_note
from certivote.present._provenance import provenance_facts
from certivote.present._sections import headline
from certivote.present._subject import is_one_model
from certivote.present._wording import cases, drift_text, majority, plain_holdout, split_words
from certivote.present.page import write_page
from certivote.present.report._bars import at_a_glance, origin
from certivote.present.report._curves import data_needed, delta_curve
from certivote.present.report._decisions import cards, ledger_rows, shifts
from certivote.present.report._difference_card import differences_card
from certivote.present.report._test_rows import TestRows, comparison_note
from certivote.present.report._thousand import thousand
from certivote.present.report._weights import weights

_CLAIMS = 4
"""Numbers of promises in the header."""
_FACTS = ("baseline", "models", "data")
"""Lines of the headline that stand below numbers of promises."""
_SHOWN = 1
"""Promises before the details."""


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
    digest = certificate.digest
    certificate = printable(certificate)
    part = certificate.deployed_part
    glance, glance_axis = at_a_glance(certificate, test)
    steps, steps_axis = origin(certificate)
    curve, lookup = delta_curve(certificate)
    promises, said = cards(certificate, test), headline(certificate)
    asked = [card for card in promises[:-1] if card.tiles]
    given: dict[str, Any] = {
        "what": "Certificate of error",
        "c": certificate,
        "part": part,
        "title": plain_text(title),
        "headline": said,
        "facts": [row for row in said.rows if row[0] in _FACTS or not asked],
        "claims": [tile for card in asked for tile in card.tiles[:2]][:_CLAIMS],
        "thousand": thousand(certificate),
        "shown": _SHOWN,
        "one_model": is_one_model(certificate),
        "given": certificate.is_given,
        "cases": cases(part),
        "units": units(),
        "provenance": provenance_facts(certificate, whole=True),
        "remarks": other_remarks(certificate),
        "bound": percent_up(min(certificate.bound, 1.0)),
        "confidence": confidence(certificate.delta),
        "random": method_of(certificate).predictor.is_random,
        "glance": glance,
        "glance_axis": glance_axis,
        "split": split_words(certificate),
        "drifts": [drift_text(drift) for drift in part.drift],
        "majority": majority(part),
        "test_used": test is not None and not test.is_test,
        "test_note": None if test is None else comparison_note(certificate, test),
        "candidates": candidate_lines(certificate),
        "candidates_note": sentence(candidates_note(certificate)),
        "differences": differences_card(certificate),
        "origin": steps,
        "weights_before": plain_holdout(certificate),
        "origin_axis": steps_axis,
        "delta_curve": curve,
        "lookup": lookup | {"choices": [card.choice.lookup for card in promises if card.choice]},
        "growth": data_needed(certificate),
        "weights": None if is_one_model(certificate) else weights(certificate),
        "cards": promises,
        "promises_note": sentence(promises_note(certificate, "δ")) if promises else "",
        "ledger": ledger_rows(certificate),
        "shifts": shifts(certificate),
        "premises": premises(certificate),
        "commands": [plain_text(line).split(" ") for line in command.splitlines()],
        "digest": digest,
    }
    write_page(path, "report/page.html.jinja", given)

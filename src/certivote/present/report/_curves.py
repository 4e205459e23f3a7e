"""Curves of the report: what another delta, or more data, would do to the bound."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from certivote.certificate import Certificate, percent_down, percent_up
from certivote.present._breakdown import bound_at, cases_needed, growth, least_bound, places_bets
from certivote.present._subject import is_one_model
from certivote.present.page import Curve, axis, small

_DELTAS = np.geomspace(1e-6, 0.5, 201)
_EVERY, _MANY = (1, 2, 4, 8, 20, 25), 300
"""Bets on many groups take their time: of which deltas every so many-th is shown, for so many times more groups."""
_LEAST = 1e-4
"""The least that is shown, 0.01 %."""
_TARGETS = tuple(k * 10.0**e for e in (-1, -2, -3, -4) for k in (9, 8, 7, 6, 5, 4, 3, 2.5, 2, 1.5, 1.2, 1))


def delta_curve(certificate: Certificate) -> tuple[Curve, dict[str, Any]]:
    """The bound as a function of delta, and what the slider looks up."""
    size = certificate.deployed_part.size if places_bets(certificate) else 1
    step = next((step for step in _EVERY if size <= step * _MANY), _EVERY[-1])
    deltas = np.unique(np.append(_DELTAS[::step], certificate.delta))
    values = [min(bound_at(certificate, delta=float(delta)), 1.0) for delta in deltas]
    top, ticks = axis(values)
    low, span = math.log(deltas[0]), math.log(deltas[-1] / deltas[0])
    points = tuple(((math.log(d) - low) / span, v / top) for d, v in zip(deltas.tolist(), values, strict=True))
    marks = (1e-6, 1e-4, 0.01, 0.5)
    across = tuple(((math.log(mark) - low) / span, small(mark)) for mark in marks)
    recorded = int(np.flatnonzero(deltas == certificate.delta)[0])
    shown = [percent_up(value) for value in values]
    shown[recorded] = percent_up(min(certificate.bound, 1.0))
    lookup = {
        "x": [round(100 * x, 3) for x, _ in points],
        "y": [round(100 * y, 3) for _, y in points],
        "delta": [small(d) if d != certificate.delta else f"{d:g}" for d in deltas.tolist()],
        "bound": shown,
        "recorded": recorded,
    }
    return Curve(points, across, ticks), lookup


@dataclass(frozen=True)
class Growth:
    """What more data would do.

    Attributes
    ----------
    curve : Curve
        The bound as rows, or groups, grow.
    place : (float, float)
        Where it is now, as shares of the axes.
    targets : list of (bound, cases, times as many as now)
        What a few targets would take.
    cases : str
        What there would be more of.
    assumed : str
        What the estimate assumes.
    floor : str
        What more data alone cannot do, if anything.
    """

    curve: Curve
    place: tuple[float, float]
    targets: list[tuple[str, str, str]]
    cases: str
    assumed: str
    floor: str


def data_needed(certificate: Certificate) -> Growth:
    """The bound as the rows grow, or the groups that they belong to."""
    part, least, bets = certificate.deployed_part, least_bound(certificate), places_bets(certificate)
    more = "groups" if part.entities else "rows"
    cases = f"certified {more}" if part.entities else f"certification {more}"
    possible = [target for target in _TARGETS if least * 1.01 < target < certificate.bound]
    chosen = np.unique(np.linspace(0, len(possible) - 1, min(len(possible), 4)).round().astype(int))
    found = growth(certificate)
    table = []
    for target in (possible[k] for k in chosen):
        needed = cases_needed(certificate, target, found)
        if needed is None:
            table.append((f"{100 * target:g} %", f"over {found[-1][0]:,}" if bets else "over a billion", ""))
        else:
            shown = f"{_round_up(needed, 2 if bets else 3):,}"
            table.append((f"{100 * target:g} %", shown, f"{needed / part.size:,.1f} times"))
    numbers, values = [n for n, _ in found], [min(bound, 1.0) for _, bound in found]
    top, ticks = axis(values)
    low, span = math.log(numbers[0]), math.log(numbers[-1] / numbers[0])
    points = tuple(((math.log(n) - low) / span, v / top) for n, v in zip(numbers, values, strict=True))
    marks = [10**k for k in range(12) if numbers[0] <= 10**k <= numbers[-1]]
    marks = marks if len(marks) > 1 else [numbers[0], numbers[-1]]
    across = tuple(((math.log(mark) - low) / span, f"{mark:,}") for mark in marks)
    return Growth(
        curve=Curve(points, across, ticks),
        place=points[numbers.index(part.size)],
        targets=table,
        cases=cases,
        assumed=_assumed(certificate),
        floor=_floor(least, more),
    )


def _floor(least: float, more: str) -> str:
    """What more data cannot do; nothing where no error was seen, since the bound then goes to nought."""
    if least < _LEAST:
        return ""
    return f"With this error rate no number of {more} would bring the bound below {percent_down(min(least, 1.0))}."


def _assumed(certificate: Certificate) -> str:
    learned = "" if is_one_model(certificate) else " and the same penalty (the nats paid for what was learned)"
    if places_bets(certificate):
        return (
            "An estimate that assumes the same groups again and again, with the same losses in the same order"
            f"{learned}. Numbers between whole repetitions are interpolated and rounded."
        )
    return f"An estimate that assumes the same error rate{learned}."


def _round_up(number: int, digits: int) -> int:
    unit: int = 10 ** max(len(str(number)) - digits, 0)
    return -(-number // unit) * unit

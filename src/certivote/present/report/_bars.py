"""Bars of the report: the bound beside what was seen, and the steps that lead up to it."""

from certivote.certificate import Certificate, confidence, percent_up, plain_percent
from certivote.present._breakdown import observed_rate, steps
from certivote.present._subject import noun
from certivote.present._wording import observed
from certivote.present.page import Bar, axis
from certivote.present.report._test_rows import TestRows, use


def at_a_glance(certificate: Certificate, test: TestRows | None) -> tuple[list[Bar], tuple[tuple[float, str], ...]]:
    """The bound beside what was observed, and the axis."""
    part, rate = certificate.deployed_part, observed_rate(certificate)
    rows = [("Seen on certification rows", rate, plain_percent(rate), observed(part.statement), "observed")]
    if test is not None:
        share = test.errors / test.n
        told = f", {use(test)}" if test.is_test else f": this is no test ({use(test)})"
        note = f"{test.errors:,} of {test.n:,} rows{told}"
        if certificate.groups:
            note += "; a share of these rows, not a mean over groups"
        name = "Seen on test rows" if test.is_test else "Seen on rows it was made from"
        rows.append((name, share, plain_percent(share), note, "test" if test.is_test else "pale"))
    note = f"with {confidence(certificate.delta)} confidence; {certificate.method}, {certificate.theorem}"
    if certificate.groups:
        note += "; the error on a random row of a new group"
    rows.append(("Certified: at most", certificate.bound, percent_up(certificate.bound), note, "bound"))
    if certificate.average_bound is not None:
        average = certificate.average_bound
        note = f"average over the votes of all {len(certificate.parts)} parts; one of them is deployed"
        rows.append(("Average of all votes: at most", average, percent_up(average), note, "pale"))
    top, ticks = axis(value for _, value, _, _, _ in rows)
    bars = [Bar(name, figure, note, kind, 0.0, min(value / top, 1.0)) for name, value, figure, note, kind in rows]
    return bars, ticks


_STEP_WORDS = {
    "observed": ("Observed error rate", "what the {noun} gets wrong on the certification rows{means}"),
    "surrogate": ("Surrogate", "this method bounds a larger quantity than the error itself"),
    "confidence": ("Confidence, sample size", "to hold with the stated probability{candidates}, on this many {cases}"),
    "rest": ("Confidence, constant, size", "to hold with the stated probability{candidates}, on this many {cases}"),
    "constant": ("Constant", "what the theorem adds whatever was learned"),
    "grid": ("Choices", "for the choice among several draws or Rényi orders"),
    "prior": ("Hyper-prior", "for choosing it among several"),
    "draw": ("Draw", "for weights that were drawn after learning from the certification rows"),
    "weights": ("Weights", "for weights that were learned from the certification rows"),
}


def origin(certificate: Certificate) -> tuple[list[Bar], tuple[tuple[float, str], ...]]:
    """Where the bound comes from, in nats and in percentage points, and the axis."""
    found = steps(certificate)
    top, ticks = axis(step.end for step in found)
    part, n_models = certificate.deployed_part, len(certificate.candidates)
    words = {
        "noun": noun(certificate),
        "means": ", in the mean over groups" if part.losses else "",
        "candidates": f" (δ divided among {n_models} models and the vote of them)" if n_models else "",
        "cases": "groups" if part.entities else "rows",
    }
    bars = []
    for step in found:
        name, note = _STEP_WORDS.get(step.what, (step.what, ""))
        note = note.format_map(words)
        points = 100 * (step.end - step.start)
        figure = f"{points:+.2f} points" if step.what != "observed" else plain_percent(step.end)
        if step.nats is not None:
            note = f"{step.nats:.2f} nats: {note}"
        low, high = sorted((min(step.start / top, 1.0), min(step.end / top, 1.0)))
        bars.append(Bar(name, figure, note, "observed" if step.what == "observed" else "step", low, high))
    total = f"{sum(each.nats for each in certificate.payments):.2f} nats in all, on {part.size:,} {words['cases']}"
    bars.append(Bar("Bound", percent_up(certificate.bound), total, "bound", 0.0, min(certificate.bound / top, 1.0)))
    return bars, ticks

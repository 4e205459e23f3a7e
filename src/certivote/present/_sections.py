"""What views show of a certificate, as one list that text, notebook, model card and page render.

The headline is what everybody reads: the promise in a sentence, the numbers beside it, and where the rest is. The
sections after it are the details, each under a title of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from certivote.certificate import Certificate, PromiseRecord, percent_up, plain_percent
from certivote.present._candidates import candidate_lines, candidates_note, candidates_text
from certivote.present._cautions import cautions, is_evaluation, no_better_than_majority, other_remarks
from certivote.present._differences import difference_line, differences_note, headline_differences
from certivote.present._ledger import ledger, ledger_text
from certivote.present._premises import premises
from certivote.present._promise import promise, unchecked
from certivote.present._promises import is_known, promise_lines, promises_note
from certivote.present._provenance import data_line, provenance_facts
from certivote.present._statements import rate
from certivote.present._wording import computed, origin_facts, rate_and_counts

Rows = tuple[tuple[str, str], ...]
"""Names and what they name; of a list, the name stands at its first line."""

_PROMISES = 3
"""Lines of the headline about promises."""


@dataclass(frozen=True)
class Headline:
    """What stands first.

    Attributes
    ----------
    promise : str
        What is promised, of which cases, and how sure that is.
    cautions : tuple of str
        What must be said beside it.
    rows : tuple of (str, str)
        The bound beside what was observed, the baseline, what else is promised, the data, and what to do next.
    """

    promise: str
    cautions: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True)
class Section:
    """Details under a title."""

    title: str
    rows: Rows


def headline(certificate: Certificate) -> Headline:
    """The promise, what to be cautious about, and at most eight lines."""
    unknown = unchecked(certificate)
    warned = [f"Not checked: {unknown}"] if unknown else []
    warned += [f"Caution: {text}" for text in cautions(certificate)]
    return Headline(promise(certificate), tuple(warned), tuple(_first_rows(certificate)))


def sections(certificate: Certificate) -> list[Section]:
    """All details, without the sections that would be empty."""
    found = [
        Section("The bound", tuple(computed(certificate))),
        Section("The models" if certificate.is_given else "The vote", tuple(origin_facts(certificate))),
        Section("All models that were certified", tuple(_candidates(certificate))),
        Section("Differences of the models", tuple(_differences(certificate))),
        Section("Promises", tuple(_promises(certificate))),
        Section("How delta is divided", tuple(("", line) for line in ledger_text(ledger(certificate)))),
        Section("The data", tuple(_data(certificate))),
        Section("What it rests on", tuple(_premises(certificate))),
    ]
    return [section for section in found if section.rows]


# The headline


def _first_rows(certificate: Certificate) -> Iterator[tuple[str, str]]:
    part = certificate.deployed_part
    bound, base = percent_up(min(certificate.bound, 1.0)), part.majority
    yield "error", f"at most {bound}; observed {rate_and_counts(part.statement)}"
    seen = plain_percent(rate(base) or 0.0)
    judged = is_evaluation(certificate)
    if not judged:
        yield "baseline", f"at most {percent_up(base.bound)}; observed {seen}: always answering '{base.label}'"
    if certificate.candidates:
        yield "models", _models(certificate)
    asked = [record for record in certificate.promises if record.name != "by class"]
    if not asked and not judged:
        asked = list(certificate.promises)
    # Models take a line too, and the promise about groups takes one more.
    most = _PROMISES - bool(certificate.candidates) - bool(certificate.groups)
    shown = asked if len(asked) <= most else asked[: most - 1]
    for record in shown:
        yield record.name if is_known(record) else "unknown", promise_lines(record)[0]
    if len(asked) > len(shown):
        more = f"and {len(asked) - len(shown)} more promises"
        yield ("", more) if shown else ("promises", f"{len(asked)}, all of them in the details")
    yield "data", data_line(certificate)
    yield "next", _next(certificate)


def _models(certificate: Certificate) -> str:
    """Who is told apart from whom, and how near the next best is."""
    lines = sorted(candidate_lines(certificate), key=lambda line: not line.chosen)
    rest = "; ".join(f"'{line.name}' {line.bound}" for line in lines[1:3])
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    about = headline_differences(certificate) if certificate.differences else f"this is '{lines[0].name}'"
    return f"{about}; the others, at most: {rest}{more}"


def _next(certificate: Certificate) -> str:
    """What a reader can do."""
    more = "certificate.details() or --details"
    if certificate.vacuous or no_better_than_majority(certificate):
        return f"more labelled rows, or another model; {more}"
    unmet = [record.name for record in certificate.promises if is_known(record) and _is_unmet(record)]
    if unmet:
        return f"{unmet[0]}: give more rows, or ask for less; {more}"
    return f"{more}; certificate.report('page.html')"


def _is_unmet(record: PromiseRecord) -> bool:
    """Whether a target that was asked for could not be shown."""
    target = next((text for name, text in record.parameters if name in ("max_error", "at_least")), "null")
    return record.chosen is None and target != "null"


# The details


def _candidates(certificate: Certificate) -> Iterator[tuple[str, str]]:
    if certificate.candidates:
        yield "", candidates_note(certificate)
        for line in candidates_text(certificate):
            yield "", line


def _differences(certificate: Certificate) -> Iterator[tuple[str, str]]:
    if certificate.differences:
        yield "", differences_note(certificate)
        for difference in certificate.differences:
            yield "", difference_line(difference)


def _promises(certificate: Certificate) -> Iterator[tuple[str, str]]:
    if certificate.promises:
        yield "", promises_note(certificate)
    for record in certificate.promises:
        name = record.name if is_known(record) else "unknown"
        for number, line in enumerate(promise_lines(record)):
            yield "" if number else name, line


def _data(certificate: Certificate) -> Iterator[tuple[str, str]]:
    yield from provenance_facts(certificate)
    for remark in other_remarks(certificate):
        yield "note", remark


def _premises(certificate: Certificate) -> Iterator[tuple[str, str]]:
    for text, status, known in premises(certificate):
        yield status, f"{text} {known}"

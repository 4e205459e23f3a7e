"""Promises with a row per class: errors and false alarms, and how often an answer is right."""

from certivote.certificate import Certificate, PromiseRecord, Statement
from certivote.present.page import axis
from certivote.present.report._cards import Card, Row, at_least, at_most
from certivote.present.report._test_rows import TestRows

_MARK = "The blue mark is what was seen on the certification rows."


def by_class(certificate: Certificate, record: PromiseRecord, test: TestRows | None) -> Card:
    """One row per class. Among two classes, the false alarms of one are the errors within the other."""
    top, _ = axis([0.0, *(entry.bound for entry in record.statements)])
    errors, alarms = _two(record, "error", "false alarm")

    def tested(entry: Statement) -> str:
        if test is None:
            return ""
        wrong, n = test.of_class(entry.label, entry.kind)
        return f"; in the {'test' if test.is_test else 'rows given'}: {wrong:,} of {n:,}"

    rows = []
    for label, entry in errors.items():
        cells = [entry, alarms[label]] if label in alarms else [entry]
        rows.append(Row(label, tuple(at_most(each, top, tested(each)) for each in cells)))
    missed = "gets another answer" if certificate.loss == "plurality" else "has half of the weight or more against it"
    head = ["Class", f"Errors: a case of this class {missed}"]
    notes = []
    if alarms:
        head.append("False alarms: a case of another class gets this answer")
    else:
        notes.append("The theorem of this method has no statistic for false alarms among more than two classes.")
    words = f"How often a case of each class is missed, and how often its name is given to others. {_MARK}"
    if certificate.groups:
        words += (
            " They are means over groups: of each new group that has such cases, the share of these that are "
            "wrong. They are not the error on a random case of the class."
        )
    return Card("by-class", "Class by class", "", [words], head=tuple(head), rows=rows, notes=notes)


def precision(certificate: Certificate, record: PromiseRecord, test: TestRows | None) -> Card:
    """One row per class that is answered. Among two, what is not answered one is answered the other."""
    wrong, omitted = _two(record, "imprecision", "omission")
    top, _ = axis([0.0, *(entry.bound for entry in omitted.values())])
    rows = []
    for label, entry in wrong.items():
        cells = [at_least(entry)]
        if label in omitted:
            cells.append(at_most(omitted[label], top))
        rows.append(Row(label, tuple(cells)))
    head = ["Answer", "Precision: such an answer is right"]
    if omitted:
        head.append("Omissions: another answer should have been this one")
    words = f"How far an answer can be trusted, by what the answer is. {_MARK}"
    return Card("precision", "How far each answer can be trusted", "", [words], head=tuple(head), rows=rows)


def _two(record: PromiseRecord, first: str, second: str) -> tuple[dict[str, Statement], dict[str, Statement]]:
    """Statements of both kinds by label; among two classes those of the second kind are the other class's."""
    one, other = ({entry.label: entry for entry in record.statements if entry.kind == kind} for kind in (first, second))
    if len(one) == 2 and not other:
        a, b = one
        other = {a: one[b], b: one[a]}
    return one, other

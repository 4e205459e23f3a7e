"""Promises with a threshold: answering only where it is sure, finding most of a class, sets that hold the true one."""

from certivote.certificate import Certificate, PromiseRecord, counted, number_down, number_up, percent_down, percent_up
from certivote.maths.rounding import all_but
from certivote.present._statements import Pair, curve_points, parameter, rate
from certivote.present._subject import noun
from certivote.present.page import Curve, axis
from certivote.present.report._cards import (
    Card,
    Choice,
    Row,
    Tile,
    asked,
    at_least,
    at_most,
    guide_note,
    happened,
    seen,
)
from certivote.present.report._test_rows import TestRows

_ANY = "any"
"""Stands for the threshold at which every case is answered."""


def abstention(certificate: Certificate, record: PromiseRecord, test: TestRows | None) -> Card:
    """Answers where it is sure enough: to meet a target, or as a curve to choose from."""
    return _curve(certificate, record) if parameter(record, "curve") else _target(certificate, record)


def _what_score(certificate: Certificate) -> str:
    if certificate.is_given and noun(certificate) == "model":
        return "Every answer has a score that says how sure the model is: larger for surer."
    return (
        "Every answer has a score that says how sure the vote is: the weight behind the answer minus the weight behind "
        "the next best, from 0 (a tie) to 1 (all agree)."
    )


def _target(certificate: Certificate, record: PromiseRecord) -> Card:
    title, target = "Answer only when sure", asked(float(parameter(record, "max_error")))
    words = [
        f"{_what_score(certificate)} Where the score is too low, a case gets no answer and should go to a person or to "
        f"another test. Asked for: among the answers given, at most {target} wrong."
    ]
    tested = [entry for entry in record.statements if entry.kind == "error when answered"]
    thresholds = _thresholds(record)
    if record.chosen is None or record.value is None:
        return Card("abstention", title, "", words, notes=guide_note(record, "Thresholds were"))
    chosen = record.statements[record.chosen]
    silent = [entry for entry in record.statements if entry.kind == "unanswered"][-1]
    answered = at_least(silent)
    tiles = [
        Tile("Wrong among the answers given", "at most", asked(record.value), seen(chosen)),
        Tile("Cases that get an answer", "at least", answered.figure, answered.seen),
        Tile("It answers where the score is", "at least", number_up(record.thresholds[0])),
    ]
    if record.thresholds[0] == thresholds[-1]:
        tiles[1:] = [Tile("It answers", "", "every case")]
    how = (
        f"{counted(len(tested), 'threshold')} of {len(thresholds):,} were tested one after another, from the surest "
        "answers on, each with the same δ, until one failed"
    )
    if tested[-1] is not chosen:
        at = number_up(tested[-1].threshold or 0.0)
        how += f": at {at} the error is only known to be at most {percent_up(min(tested[-1].bound, 1.0))}"
    notes = [f"{how}. What is promised is the target, not a smaller number."]
    return Card("abstention", title, "", words, tiles, notes=notes + guide_note(record, "Thresholds were"))


def _thresholds(record: PromiseRecord) -> tuple[float, ...]:
    """All that were fixed beforehand; the last of them is below every score."""
    return next(each for each in record.fixed if each.what == "thresholds").numbers


def _curve(certificate: Certificate, record: PromiseRecord) -> Card:
    words = [
        f"{_what_score(certificate)} Give an answer only where the score is at least a threshold: the higher it "
        "is, the fewer cases get an answer and the fewer of the answers are wrong. All points of this "
        "curve hold at once, so you may look first and choose afterwards."
    ]
    return Card(
        "abstention-curve",
        "How sure to be before answering",
        "",
        words,
        choice=_choice(curve_points(record), _thresholds(record)[-1]),
        notes=guide_note(record, "Thresholds were"),
    )


def _choice(pairs: list[Pair], last: float) -> Choice:
    """Error against coverage, certified and seen, from the largest threshold to the last, at which all is answered."""
    covered = [1.0 if wrong.threshold == last else all_but(silent.bound) for wrong, silent in pairs]
    bounds = [min(wrong.bound, 1.0) for wrong, _ in pairs]
    top, ticks = axis(bounds)
    points = tuple(zip(covered, (bound / top for bound in bounds), strict=True))
    observed = []
    for wrong, silent in pairs:
        error, gone = rate(wrong), rate(silent)
        if error is not None and gone is not None:
            observed.append((1.0 - gone, min(error / top, 1.0)))
    across = tuple((k / 4, f"{25 * k} %") for k in range(5))
    table = tuple(
        (
            _ANY if wrong.threshold == last else number_up(wrong.threshold or 0.0),
            percent_down(share),
            percent_up(bound),
            happened(silent, not_so=True),
            seen(wrong).removeprefix("seen: "),
        )
        for (wrong, silent), share, bound in zip(pairs, covered, bounds, strict=True)
    )
    lookup = {
        "x": [round(100 * x, 3) for x, _ in points],
        "y": [round(100 * y, 3) for _, y in points],
        "threshold": [f"where the score is at least {row[0]}" if row[0] != _ANY else "every case" for row in table],
        "answered": [row[1] for row in table],
        "wrong": [row[2] for row in table],
        "seen": [f"Seen: {row[3]} answered, {row[4]} of these wrong." for row in table],
        "start": len(table) // 2,
    }
    return Choice(Curve(points, across, ticks, tuple(observed)), lookup, table)


def sensitivity(certificate: Certificate, record: PromiseRecord, test: TestRows | None) -> Card:
    """A threshold from which on cases are flagged, so that most of a class are."""
    label = next(each for each in record.fixed if each.what == "label").words[0]
    missed, *alarms = record.statements
    title = f"Find the cases of '{label}'"
    words = [
        f"A case is flagged as '{label}' where the {_mass(certificate)} '{label}' is at least a threshold, which is "
        "chosen as large as the target allows: most of these cases are found, and as few of the others as possible are "
        "flagged with them."
    ]
    if record.value is None or not alarms:
        return Card("sensitivity", title, "", words)
    found, alarm = at_least(missed), at_most(alarms[0])
    tiles = [
        Tile(f"Of the cases of '{label}', flagged", "at least", asked(record.value), found.seen),
        Tile("Of all other cases, flagged by mistake", alarm.limit, alarm.figure, alarm.seen),
        Tile(f"It flags where the {_mass(certificate)} '{label}' is", "at least", number_down(record.thresholds[0])),
    ]
    if not record.thresholds[0]:
        tiles[-1] = Tile("It flags", "", "every case")
    return Card("sensitivity", title, "", words, tiles, notes=guide_note(record, "The threshold was"))


def prediction_sets(certificate: Certificate, record: PromiseRecord, test: TestRows | None) -> Card:
    """Sets of classes that hold the true one."""
    words = [
        "Instead of one answer, a case may get all classes that cannot be excluded: those where the "
        f"{_mass(certificate)} the class is at least a threshold, and always the answer itself. A set with one class "
        "is a clear answer; a larger one says that it is not sure."
    ]
    least, notes = asked(record.value or 0.0), guide_note(record, "Thresholds were")
    title = "Sets that hold the true class"
    if len(record.statements) == 1:
        (entry,) = record.statements
        from_mass = "of the weight, or more" if noun(certificate) == "vote" else "probability or more"
        tiles = [
            Tile("The true class is in the set", "at least", least, seen(entry, not_so=True)),
            Tile("A class is in the set from", "", number_down(record.thresholds[0]), from_mass),
        ]
        return Card("sets", title, "", words, tiles, notes=notes)
    rows = [
        Row(entry.label, (at_least(entry, f"; in the set from {number_down(threshold)} on"),))
        for entry, threshold in zip(record.statements, record.thresholds, strict=True)
    ]
    head = ("Class", "Cases of this class whose set holds it")
    tiles = [Tile("Within each class, the true class is in the set", "at least", least)]
    return Card("sets", title, "", words, tiles, head=head, rows=rows, notes=notes)


def _mass(certificate: Certificate) -> str:
    """What is compared with a threshold."""
    return "model's probability of" if noun(certificate) == "model" else "share of the weight for"

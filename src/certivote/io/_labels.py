"""True classes and answers as a table has them, made comparable: numbers by value, truth values, and text."""

from collections.abc import Iterable, Sequence
from typing import Any

from certivote._warn import warn
from certivote.io._decimal_marks import with_points
from certivote.io._side_columns import SideColumn, as_value, warn_of_spellings
from certivote.io._table_files import TableError

_TRUTH = {"true": True, "false": False}
Labels = list[Any]


def true_and_predicted(truth: SideColumn, predicted: Sequence[SideColumn]) -> tuple[Any, dict[str, Any]]:
    """The true classes, and the answers in other columns, as series of values that are equal if they mean the same.

    Columns of whole numbers are numbers (``1``, ``1.0`` and ``01`` are one), those of nothing but ``TRUE`` and
    ``FALSE``, in any case, are truth values, and all others are text. Where only one of two columns is text, what it
    has in common with the other counts by value all the same.

    Raises
    ------
    TableError
        If a value is missing; if one column writes a number in two ways, since they may be two names; if answers look
        like scores, or have nothing in common with the true classes.
    """
    truth.check_complete("the true class", " Remove such rows only if they are missing at random.", one="class")
    for column in predicted:
        column.check_complete(
            "the answer", " Every row needs one: leaving out rows without answers voids a certificate.", one="class"
        )
    classes, answered = classes_and_answers(truth, predicted)
    y = truth.replaced(classes)
    answers = {column.name: column.replaced(answered[column.name]) for column in predicted}
    _warn_of_total(truth, y, answers)
    return y, answers


def classes_and_answers(truth: SideColumn, predicted: Sequence[SideColumn]) -> tuple[Labels, dict[str, Labels]]:
    """What the texts of the columns stand for; no value is missing."""
    truth.check_classes("the column", "is another one meant? A certificate is about answers that are classes.")
    classes = _values(truth)
    answers: dict[str, Labels] = {}
    named = [(truth, label) for label in classes]
    for column in predicted:
        labels = _comparable(_values(column), classes)
        _check_scores(column, labels, classes)
        column.check_classes("the column", "are these scores? A certificate is about answers that are classes.")
        _check_common(column, labels, truth, classes)
        answers[column.name] = labels
        named += [(column, label) for label in labels]
    warn_of_spellings([(column, label) for column, label in named if isinstance(label, str)])
    return classes, answers


def same_labels(texts: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """For each text, the known one that means the same; or itself, if none does or it is not certain which.

    Examples
    --------
    >>> same_labels(["1.0", "TRUE", "other"], ["0", "1", "True"])
    {'1.0': '1', 'TRUE': 'True', 'other': 'other'}
    """
    means: dict[tuple[type, Any], list[str]] = {}
    for label in known:
        means.setdefault(_sort_and_meaning(label), []).append(label)
    return {
        text: found[0] if len(found := means.get(_sort_and_meaning(text), [])) == 1 and text not in found else text
        for text in texts
    }


def _sort_and_meaning(text: str) -> tuple[type, Any]:
    meaning = _meaning(text)
    return type(meaning) if isinstance(meaning, bool | str) else float, meaning


def _values(column: SideColumn) -> Labels:
    """What the texts of a column stand for."""
    texts = with_points(column.file, column.name, column.texts)
    if all(text.lower() in _TRUTH for text in texts):
        return [_TRUTH[text.lower()] for text in texts]
    values = [as_value(text) for text in texts]
    numbers = [value for value in values if not isinstance(value, str)]
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        ways = [
            text for text, value in zip(texts, values, strict=True) if not isinstance(value, str) and value == twice
        ]
        raise TableError(
            f"{column.where_first(column.texts[texts.index(ways[1])])}: the column {column.name!r} holds {ways[0]!r} "
            f"and {ways[1]!r}, which are one number but may be two names; write one class in one way."
        )
    if len(numbers) < len(values) or not all(float(number).is_integer() for number in numbers):
        return list(texts)
    return numbers if all(isinstance(number, int) for number in numbers) else [float(number) for number in numbers]


def _comparable(labels: Labels, classes: Labels) -> Labels:
    """Labels with those that equal a class by value replaced by that class, where one of the two is text."""
    known = {_meaning(label): label for label in classes}
    is_text = isinstance(labels[0], str), isinstance(classes[0], str)
    return [known.get(_meaning(label), label) for label in labels] if any(is_text) else labels


def _meaning(label: Any) -> Any:
    """What two labels have in common if they mean the same."""
    if not isinstance(label, str):
        return label
    return _TRUTH[label.lower()] if label.lower() in _TRUTH else as_value(label)


def _check_scores(column: SideColumn, labels: Labels, classes: Labels) -> None:
    known = set(classes)
    for text, label in zip(column.texts, labels, strict=True):
        value = as_value(label) if isinstance(label, str) else label
        if isinstance(value, float) and not value.is_integer() and label not in known:
            raise TableError(
                f"{column.where_first(text)}: the column {column.name!r} holds {text!r}, which is no class: these look "
                "like probabilities or scores. Make a column of answers of them first, by a threshold that was chosen "
                "on other rows."
            )


def _check_common(column: SideColumn, labels: Labels, truth: SideColumn, classes: Labels) -> None:
    if not set(labels) & set(classes):
        raise TableError(
            f"{column.file}: the column {column.name!r} never holds a class that {truth.name!r} has: it holds "
            f"{_few(column.texts)}, and {truth.name!r} holds {_few(truth.texts)}. Write classes alike in both."
        )


def _warn_of_total(truth: SideColumn, y: Any, answers: dict[str, Any]) -> None:
    """Say so, if the last row has a class that occurs nowhere else, as a line of totals would."""
    last = y.iloc[-1]
    if len(y) > 2 and (y == last).sum() == 1 and not any((said == last).any() for said in answers.values()):
        warn(
            f"{truth.where(len(y) - 1)}: the class {truth.texts[truth.codes[-1]]!r} stands in the last row only, and "
            "is never answered; if that row is a total or a note, remove it, and certify again."
        )


def _few(texts: Sequence[str]) -> str:
    return ", ".join(f"{text!r:.40}" for text in texts[:5]) + (", ..." if len(texts) > 5 else "")

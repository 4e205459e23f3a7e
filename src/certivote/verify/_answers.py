"""The answers of models that were given, and the true labels: matched by value, as codes among the classes."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from certivote.certificate import Certificate
from certivote.verify._simulation import Array, Labels
from certivote.verify._values import values_of


@dataclass(frozen=True)
class Answers:
    """Codes of true labels and answers.

    Attributes
    ----------
    labels : array of int
    codes : array of int of shape (n_rows, n_models)
        The models in the order of the certificate.
    truth : list
        The true labels.
    tables : list of tuple
        The answers to each row.
    absent : tuple of str
        Classes of the certificate that neither rows nor answers have.
    places : dict
        The number of the class that each label stands for.
    """

    labels: Labels
    codes: Labels
    truth: list[Any]
    tables: list[tuple[Any, ...]]
    absent: tuple[str, ...]
    places: dict[Any, int]


def listed(given: Any) -> tuple[list[Any], list[str]]:
    """Models or answers one by one, and their names where they came with some."""
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        return [given[name] for name in given], [str(name) for name in given]
    if _is_model(given):
        return [given], []
    if isinstance(given, list | tuple) and given and all(_is_model(each) or np.ndim(each) >= 1 for each in given):
        return list(given), []
    values = np.asarray(given)
    if values.ndim == 2:
        return [values[:, column] for column in range(values.shape[1])], []
    name = getattr(given, "name", None)
    return [given], [] if name is None else [str(name)]


def _is_model(given: Any) -> bool:
    return hasattr(given, "predict") or callable(given)


def asked(model: Any, X: Any) -> Any:
    """What a model says of rows."""
    predict = getattr(model, "predict", None)
    return predict(X) if callable(predict) else model(X)


def probabilities(c: Certificate, model: Any, X: Any, places: dict[Any, int]) -> Array | None:
    """What a model says of the probability of each class of the certificate; None if it says nothing."""
    predict, classes = getattr(model, "predict_proba", None), getattr(model, "classes_", None)
    if not callable(predict) or classes is None:
        return None
    found, masses = np.asarray(predict(X), dtype=float), np.zeros((np.shape(X)[0], len(c.classes)))
    labels = np.asarray(classes).tolist()
    if found.shape != (len(masses), len(labels)):
        return None
    for column, label in enumerate(labels):
        place = places.get(label, c.classes.index(str(label)) if str(label) in c.classes else None)
        if place is not None:
            masses[:, place] = found[:, column]
    return masses


def read_answers(c: Certificate, y: Any, answers: list[Any]) -> Answers:
    """Codes of labels and answers among the certificate's classes.

    Labels are the same if they are equal as values (1, 1.0 and True are), and are called as the rows write them.

    Raises
    ------
    ValueError
        If there is not one label for each row, it is none of the classes, or two labels look alike.
    """
    truth = _labels(y, None, "y")
    columns = [_labels(given, len(truth), "answers") for given in answers]
    written: dict[Any, str] = {}
    values: dict[str, Any] = {}
    for label in truth + [label for column in columns for label in column]:
        text = str(label)
        written.setdefault(label, text)
        if values.setdefault(text, label) != label:
            raise ValueError(f"two labels are equal as text and not as values: {values[text]!r:.80} and {label!r:.80}")
    places = {name: place for place, name in enumerate(c.classes)}
    unknown = [text for text in written.values() if text not in places]
    if unknown:
        raise ValueError(f"the class {unknown[0]:.80} is none of the certificate's")
    if not _ascend(written, places):
        raise ValueError("the certificate's classes are not in ascending order")
    code = {label: places[text] for label, text in written.items()}
    return Answers(
        labels=np.array([code[label] for label in truth], dtype=np.intp),
        codes=np.array([[code[label] for label in column] for column in columns], dtype=np.intp).T,
        truth=truth,
        tables=list(zip(*columns, strict=True)),
        absent=tuple(name for name in c.classes if name not in set(written.values())),
        places=code,
    )


def _ascend(written: dict[Any, str], places: dict[str, int]) -> bool:
    """Whether classes are numbered in ascending order of their values; labels of several types have none."""
    try:
        ordered = sorted(written)
    except TypeError:
        return True
    return all(one < other for one, other in pairwise([places[written[label]] for label in ordered]))


def _labels(given: Any, n_rows: int | None, what: str) -> list[Any]:
    found = values_of(given, what)
    if n_rows is not None and len(found) != n_rows:
        raise ValueError(f"{what}: one label for each of {n_rows:,} rows needed, got {len(found):,}")
    return found

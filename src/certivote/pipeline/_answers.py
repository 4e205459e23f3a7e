"""What given models say of given rows: their answers, checked, matched with the true labels by value, and certified.

A given model is a fixed vote: nothing trains it and nothing is learned, so its rows are one part, and all of them
certify. Of several models, a vote of them is learned like any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import validate_parameter_constraints

from certivote.certificate import Finding, Subject, check_aligned, missing_places
from certivote.pipeline._division import PartRows
from certivote.pipeline._duplicates import Duplicates
from certivote.pipeline._grouping import Grouping
from certivote.pipeline._input import plain_values
from certivote.pipeline._plan import PARAMETER_CONSTRAINTS, Plan, make_plan
from certivote.pipeline._progress import Stage
from certivote.pipeline._promises import PromiseData
from certivote.pipeline._record import Outcome
from certivote.pipeline._reference import KeptRows
from certivote.pipeline._rows import CertificationRows, Division, RowsWithVotes, Table
from certivote.pipeline._streams import Seed, Streams
from certivote.pipeline.run import certify_votes, prepare
from certivote.promises import Columns, Promise, Repeats
from certivote.theory.methods import GIVEN_MODEL
from certivote.theory.predictors import RANDOM
from certivote.voters import FittedVoters
from certivote.votes import build_votes

Labels = list[Any]
Codes = NDArray[np.intp]
Array = NDArray[np.float64]
Probable = tuple[Labels, Array]
"""Classes, and what a model says of the probability of each, row by row."""


def named_models(model: Any) -> dict[str, Any]:
    """Models by name, whether one, a list, or a dictionary was given."""
    if isinstance(model, Mapping):
        models = by_name(model)
    else:
        several = model if isinstance(model, list | tuple) else [model]
        models = {}
        for each in several:
            name = _name(each)
            taken = sum(other == name or other.startswith(f"{name} (") for other in models)
            models[f"{name} ({taken + 1})" if taken else name] = each
    if not models:
        raise ValueError("model is empty; give a fitted classifier, a function of rows that gives labels, or several.")
    for name, each in models.items():
        if isinstance(each, type) or not (callable(each) or callable(getattr(each, "predict", None))):
            raise TypeError(
                "model must be a fitted classifier with a predict method, or a function of rows that gives labels; "
                f"got {name} = {each!r:.200}."
            )
        if getattr(getattr(each, "certificate_", None), "certified", "") == RANDOM.name:
            raise ValueError(
                f"{name} draws a new vote for every case: there is no one classifier to certify. Fit it with a method "
                "that has one, such as dis-b."
            )
    return models


def by_name(several: Any) -> dict[str, Any]:
    """A dictionary or a data frame with names as text, no two of them equal."""
    names = [str(name) for name in several]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"Names of models must differ; {', '.join(map(repr, twice))} occurs more than once.")
    return dict(zip(names, (several[name] for name in several), strict=True))


def named_answers(y_pred: Any) -> dict[str, Any]:
    """The answers of each model by its name; of one without a name, ``model``."""
    if isinstance(y_pred, Mapping) or hasattr(y_pred, "columns"):
        return by_name(y_pred)
    return {"model" if getattr(y_pred, "name", None) is None else str(y_pred.name): y_pred}


def _name(model: Any) -> str:
    """What to call a model that came without a name."""
    own = getattr(model, "__name__", None) if not hasattr(model, "predict") else type(model).__name__
    return own if isinstance(own, str) and own != "<lambda>" else "model"


def ask(name: str, model: Any, X: Any, n_rows: int) -> Labels:
    """One label for each row."""
    predict = getattr(model, "predict", None)
    said = predict(X) if callable(predict) else model(X)
    check_aligned(X=X, **{f"{name}.predict(X)" if callable(predict) else f"{name}(X)": said})
    return checked_labels(name, said, n_rows)


def checked_labels(name: str, given: Any, n_rows: int | None = None) -> Labels:
    """One label for each row, as Python has it, none missing."""
    shape = np.shape(given)
    if len(shape) == 2 and shape[1] != 1:
        raise ValueError(
            f"{name} must give one label for each row; got an array of shape {shape}. If these are probabilities, give "
            "a function that makes labels of them, such as lambda X: labels[model.predict(X).argmax(axis=1)]; if they "
            "are the answers of several models, give a dictionary with a name for each."
        )
    values = plain_values(given, name)
    if n_rows is not None and len(values) != n_rows:
        raise ValueError(f"{name} must give one label for each of the {n_rows:,} rows; got {len(values):,}.")
    missing = missing_places(values)
    if missing:
        raise ValueError(f"{name} has no label in {len(missing):,} rows, the first of them row {missing[0]}.")
    parts = next((value for value in values if isinstance(value, float) and not value.is_integer()), None)
    if parts is not None:
        raise ValueError(
            f"{name} must give labels; got numbers such as {parts!r}. If these are probabilities or scores, give a "
            "function that makes labels of them, such as lambda X: (model.predict(X) > 0.5).astype(int)."
        )
    return values


def probabilities(name: str, model: Any, X: Any, n_rows: int) -> Probable | None:
    """What a model says of the probability of each class; None if it says nothing."""
    predict, classes = getattr(model, "predict_proba", None), getattr(model, "classes_", None)
    if not callable(predict) or classes is None:
        return None
    said = predict(X)
    check_aligned(X=X, **{f"{name}.predict_proba(X)": said})
    found, labels = np.asarray(said, dtype=float), np.asarray(classes).tolist()
    if found.shape != (n_rows, len(labels)) or not np.all((found >= 0.0) & (found <= 1.0)):
        raise ValueError(
            f"predict_proba of {name} must give numbers between 0 and 1, one row for each of the {n_rows:,} rows and a "
            f"column for each of its {len(labels)} classes; got an array of shape {found.shape}."
        )
    return labels, found


def by_class(probable: Probable, classes: Labels) -> Array:
    """The probabilities in the order of all classes; 0 for those that the model does not know."""
    labels, found = probable
    masses = np.zeros((len(found), len(classes)))
    for place, label in enumerate(labels):
        if label in classes:
            masses[:, classes.index(label)] = found[:, place]
    return masses


def checked_scores(scores: Any, n_rows: int, n_models: int) -> Array:
    """How sure one model is of each answer."""
    if n_models > 1:
        raise ValueError(f"scores are those of one model, and y_pred has the answers of {n_models}: give one of them.")
    values = plain_values(scores, "scores")
    try:
        found = np.array(values, dtype=float)
    except (OverflowError, TypeError, ValueError):
        raise ValueError("scores must hold numbers, larger for surer answers.") from None
    if len(found) != n_rows or not np.all(np.isfinite(found)):
        raise ValueError(
            f"scores must hold one finite number for each of the {n_rows:,} rows; got {len(found):,}, "
            f"{np.count_nonzero(~np.isfinite(found)):,} of them missing or infinite."
        )
    return found


def match(truth: Labels, answers: Sequence[Labels], known: Sequence[Any], names: Sequence[str]) -> Labels:
    """All classes in ascending order, as the truth writes them: labels are the same if they are equal (1, 1.0, True).

    Parameters
    ----------
    truth : list
        The true labels.
    answers : sequence of lists
        Those of each model.
    known : sequence
        Of each model, the labels that it says it can give, or an empty list.
    names : sequence of str
        Of the models.
    """
    true = set(truth)
    for name, given, can_give in zip(names, answers, known, strict=True):
        if not true & {*given, *can_give}:
            texts = {str(label) for label in true} & {str(label) for label in given}
            hint = " They are equal as text: convert one of the two, for instance by y.astype(str)." if texts else ""
            raise ValueError(
                f"{name} never gives a label that the rows have: it says {_few(given)}, and the rows have "
                f"{_few(truth)}. Translate its answers by a function of rows that gives labels.{hint}"
            )
    _refuse_twins([*true, *(label for given in (*answers, *known) for label in set(given))])
    labels: dict[Any, None] = dict.fromkeys(truth)
    for given in (*answers, *known):
        labels.update(dict.fromkeys(label for label in given if label not in labels))
    if len(labels) < 2:
        raise ValueError(
            f"All rows and all answers have the one label {truth[0]!r}: there is nothing to tell apart. Give rows of "
            "at least two classes."
        )
    try:
        return sorted(labels)
    except TypeError:  # text and numbers, of which no one comes first
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def _refuse_twins(labels: Labels) -> None:
    """Labels that differ but are written the same, such as 1 and "1", would be one class in a certificate."""
    written: dict[str, Any] = {}
    for label in labels:
        other = written.setdefault(str(label), label)
        if other != label:
            raise ValueError(
                f"The labels {other!r} and {label!r} differ and are written the same: convert all labels to one type, "
                "for instance by y.astype(str)."
            )


def true_labels(y: Any, name: str = "y") -> Labels:
    """The true labels, checked."""
    if not np.size(y):
        raise ValueError(f"{name} is empty; a certificate needs rows with known labels.")
    return checked_labels(name, y)


def codes_of(labels: Labels, classes: Labels) -> NDArray[np.intp]:
    """The places of labels among the classes."""
    places = {label: place for place, label in enumerate(classes)}
    return np.array([places[label] for label in labels], dtype=np.intp)


def as_written(classes: Labels) -> NDArray[Any]:
    """The classes as text."""
    return np.array([str(label) for label in classes], dtype=object)


def _few(labels: Labels) -> str:
    distinct = list(dict.fromkeys(labels))
    return ", ".join(f"{label!r:.40}" for label in distinct[:5]) + (", ..." if len(distinct) > 5 else "")


@dataclass(frozen=True)
class AnsweredRows:
    """Rows that given models have answered, as a run asks for them; see :class:`certivote.pipeline.Rows`.

    Attributes
    ----------
    classes : array of str
        All of them, in ascending order.
    labels : array of int
        The true class of each row, by its place among them.
    table, grouping, subject
        As for :class:`~certivote.pipeline.Rows`.
    streams : Streams
        What is random depends on these rows.
    digests, duplicates, repeats, votes_digest
        As for :class:`~certivote.pipeline.RowsWithVotes`.
    n_train : int
        How many training rows were shown to compare.
    found : tuple of Finding
        What the rows show about rows that belong together.
    answers : array of int of shape (n_rows, n_models)
        By their places among the classes.
    data : PromiseData
    """

    classes: NDArray[Any]
    labels: Codes
    table: Table
    grouping: Grouping
    streams: Streams
    digests: tuple[str, str]
    subject: Subject
    duplicates: Duplicates = (0, 0)
    n_train: int = 0
    found: tuple[Finding, ...] = ()
    repeats: Repeats | None = None
    votes_digest: str = ""
    answers: Codes = field(default_factory=lambda: np.empty((0, 0), dtype=np.intp))
    data: PromiseData = field(default_factory=lambda: PromiseData(answers_only=True))

    @classmethod
    def of(
        cls, truth: Labels, classes: Labels, target: str, columns: tuple[str, ...], n_columns: int, **facts: Any
    ) -> "AnsweredRows":
        """Of true labels; ``target``, ``columns`` and ``n_columns`` are as a certificate records them."""
        labels = codes_of(truth, classes)
        counts = np.bincount(labels, minlength=len(classes))
        table = Table(target, columns, n_columns, tuple(counts.tolist()))
        return cls(as_written(classes), labels, table, **facts)

    @property
    def columns(self) -> Columns | None:
        return self.data.columns

    def digest(self) -> str:
        return self.streams.digest

    def divide(self, plan: Plan, streams: Streams, stage: Stage) -> Division:
        return Division((self,), "none")

    @property
    def rows(self) -> PartRows:
        return PartRows(np.arange(0), np.arange(len(self.labels)))

    @property
    def training_labels(self) -> Codes:
        return self.labels[:0]

    def training(self) -> None:
        return None

    def fit(self, training: Any, rng: Any) -> FittedVoters:
        return cast(FittedVoters, _GivenModels(self.answers.shape[1]))

    def vote(self, voters: FittedVoters) -> RowsWithVotes:
        return RowsWithVotes(
            votes=build_votes(codes=self.answers, n_classes=len(self.classes)),
            labels=self.labels,
            digests=self.digests,
            duplicates=self.duplicates,
            entities=self.grouping.of(self.rows.certify),
            times=self.grouping.times,
            repeats=self.repeats,
            votes_digest=self.votes_digest,
        )

    def findings(self) -> tuple[Finding, ...]:
        return self.found

    def promise_data(self, voters: FittedVoters) -> PromiseData:
        return self.data

    def kept(self, certification: CertificationRows) -> KeptRows:
        return KeptRows()


@dataclass(frozen=True)
class _GivenModels:
    """Their answers are known, and nobody asks for others."""

    n_voters: int


def given_plan(delta: float, promises: Sequence[Promise], together: bool, random_state: Any) -> Plan:
    """What is done with the answers of given models, the parameters checked."""
    given = {"delta": delta, "promises": promises, "together": together, "random_state": random_state}
    validate_parameter_constraints({name: PARAMETER_CONSTRAINTS[name] for name in given}, given, "certify")
    return make_plan("dis-b", split="none", **given)


def for_models(plan: Plan, names: Sequence[str], subject: Subject, seed: Seed, margin: float | None = None) -> Plan:
    """The plan for so many models: of several, delta is divided among them and their vote.

    Where answers are all that there is, an enemy who knows the seed could arrange them for bets in order.
    """
    given = {
        "models": list(names),
        "delta": plan.delta,
        "promises": plan.given["promises"],
        "together": plan.together,
        "margin": margin,
    }
    in_order = seed.fresh or subject == "models"
    return replace(plan, n_candidates=len(names) + (len(names) > 1), given=given, in_order=in_order)


def certify_vote(plan: Plan, rows: AnsweredRows, answers: Codes, data: PromiseData) -> Outcome:
    """Certify a vote of several models, which is learned."""
    return certify_votes(plan, prepare(plan, replace(rows, answers=answers, data=data), streams=rows.streams))


def certify_alone(plan: Plan, rows: AnsweredRows, answers: Codes, data: PromiseData) -> Outcome:
    """Certify one model by itself."""
    alone = replace(plan, method=GIVEN_MODEL, family=GIVEN_MODEL.family, prior=1.0)
    return certify_vote(alone, rows, answers[:, None], data)

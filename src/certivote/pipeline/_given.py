"""Certificates for what people already have: fitted models, or just their answers to rows that they have not seen."""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certivote.certificate import (
    Candidate,
    Certificate,
    Finding,
    Subject,
    as_rows,
    check_aligned,
    data_digest,
    part_digest,
    row_keys,
    used_rows,
)
from certivote.pipeline._answers import (
    Probable,
    ask,
    by_class,
    by_name,
    checked_labels,
    checked_scores,
    codes_of,
    match,
    named_models,
    probabilities,
    true_labels,
)
from certivote.pipeline._given_rows import GivenRows, alone, certified, checked_plan, for_models
from certivote.pipeline._plan import Plan
from certivote.pipeline._promises import Sight, check_promises, check_sight, columns_of
from certivote.pipeline._seeds import Streams, seed_of
from certivote.pipeline._shown import Shown
from certivote.pipeline._split import Duplicates, PartRows, count_duplicates
from certivote.pipeline._unit_remarks import unit_findings
from certivote.pipeline._units import Units, make_units, units_again
from certivote.pipeline._values import check_held, column_name
from certivote.promises import Promise
from certivote.voters import reachable


def certify(
    model: Any,
    X: Any,
    y: ArrayLike,
    delta: float = 0.05,
    groups: ArrayLike | Literal[False] | None = None,
    *,
    order: ArrayLike | Literal[False] | None = None,
    training: Any = None,
    promises: Sequence[Promise] = (),
    together: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Certificate:
    """Certify a model that is fitted already, on labelled rows that it has never seen.

    The bound is that of Clopper and Pearson: nothing is paid for priors or for learning. It holds if these rows had no
    part in training the model, in tuning it or in choosing its threshold, which nothing can check.

    Parameters
    ----------
    model : classifier, function of rows that gives labels, or several of them
        Anything fitted with a ``predict`` method that gives labels (scikit-learn, XGBoost, LightGBM, CatBoost, a
        pipeline, a certivote model); or a function of ``X``, for models that give scores. A list or a dictionary of
        several divides ``delta`` among them and a weighted vote of them, which is learned on these rows: the
        certificate is about the one with the smallest bound, and ``candidates`` has the bounds of all, which hold
        together.
    X : rows
        As the model takes them.
    y : array-like
        The true labels. Those of the model are matched with them by value.
    delta : float in (0, 1), default=0.05
        Probability with which the certificate may fail.
    groups : array-like, optional
        What each row belongs to, such as a patient: see :meth:`certivote.CertifiedVoteClassifier.fit`. A certivote
        model that was certified with groups is certified with them; False leaves them out on purpose.
    order : array-like, optional
        When each row was taken: the certificate then says whether errors grew within these rows. As for groups.
    training : rows, optional
        Those that the model was trained on, to count how many of ``X`` are among them. If all are, ``X`` is refused,
        unless rows repeat so often by themselves that this may be chance.
    promises, together
        What else shall be said of the model: see :class:`certivote.CertifiedVoteClassifier`. How sure it is, is what
        its ``predict_proba`` says; a promise that must choose thresholds or groups sets a fifth of the rows aside.
    random_state : int, RandomState instance or None, default=None
        Of the order in which bets are placed on groups or costs, of the weights that are drawn for a vote of several
        models, and of the rows that promises set aside. None takes fresh numbers from the system, which the
        certificate records: prefer it. With a number the promise holds on average over such numbers.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import train_test_split
    >>> from certivote import certify
    >>> X, X_new, y, y_new = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    >>> certificate = certify(RandomForestClassifier(random_state=0).fit(X, y), X_new, y_new)
    >>> certificate.deployed_part.errors, certificate.deployed_part.n, round(certificate.bound, 4)
    (4, 143, 0.0629)
    """
    plan = checked_plan(delta, promises, together, random_state)
    check_aligned(X=X, y=y, groups=groups, order=order)
    models, truth = named_models(model), true_labels(y)
    groups, order = units_again((own for own in reachable(models) if isinstance(own, Certificate)), groups, order)
    units, table = make_units(len(truth), groups, order), _table(X, len(truth), "X")
    _check_fresh(models, table)
    keys, everything = row_keys(table), PartRows(np.arange(0), np.arange(len(truth)))
    streams = Streams(seed_of(random_state), data_digest(_rows_digest(keys, truth), units.beside))
    units = units.shuffled(streams)
    shown = None if training is None else Shown.beside(table, _table(training, None, "training"))
    rows = _Rows(
        truth=truth,
        target=column_name(y),
        keys=keys,
        training=shown,
        columns=tuple(map(str, getattr(X, "columns", ()))),
        n_columns=np.shape(table)[1] if len(np.shape(table)) == 2 else 1,
        units=units,
        duplicates=(count_duplicates(keys, everything)[0], shown.again if shown else 0),
        findings=_findings(units, everything, table, streams.digest),
        table=table,
        streams=streams,
    )
    # Only now: a model may change the rows that it is asked about.
    answers = {name: ask(name, each, X, len(truth)) for name, each in models.items()}
    sure = [probabilities(name, each, X, len(truth)) for name, each in models.items()] if promises else []
    return _certificate(answers, [_known(each) for each in models.values()], rows, plan, sure)


def certify_predictions(
    y_true: ArrayLike,
    y_pred: Any,
    delta: float = 0.05,
    groups: ArrayLike | None = None,
    *,
    order: ArrayLike | None = None,
    table: Any = None,
    scores: ArrayLike | None = None,
    promises: Sequence[Promise] = (),
    together: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Certificate:
    """Certify a model by its answers to rows that it has never seen, wherever they come from.

    Parameters
    ----------
    y_true : array-like
        The true labels.
    y_pred : array-like, or dictionary or data frame of several
        The answers of the model; or, by name, of several models: see :func:`certify`.
    delta, groups, order, promises, together, random_state
        As for :func:`certify`.
    table : data frame, optional
        Other columns of these rows. They are looked at for rows that seem to belong together, and by promises that are
        about columns.
    scores : array-like, optional
        How sure the model is of each answer, larger for surer: for promises that ask for it.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from certivote import certify_predictions
    >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
    >>> print(f"{certificate.bound:.4f}")
    0.0235
    """
    plan = checked_plan(delta, promises, together, random_state)
    check_aligned(y_true=y_true, y_pred=y_pred, groups=groups, order=order, table=table, scores=scores)
    truth = true_labels(y_true, "y_true")
    if isinstance(y_pred, Mapping) or hasattr(y_pred, "columns"):
        columns = by_name(y_pred)
    else:
        columns = {"model" if getattr(y_pred, "name", None) is None else str(y_pred.name): y_pred}
    if not columns:
        raise ValueError("y_pred is empty; give the answers of a model, or of several by name.")
    answers = {name: checked_labels(name, given, len(truth)) for name, given in columns.items()}
    said = np.empty((len(truth), len(answers)), dtype=object)
    said[:] = list(zip(*answers.values(), strict=True))
    keys, units, seed = row_keys(said), make_units(len(truth), groups, order), seed_of(random_state)
    looked = None if table is None else _table(table, len(truth), "table")
    sure = None if scores is None else checked_scores(scores, len(truth), len(answers))
    beside = dict(units.beside)
    # What promises look at, as the record shows: where it stands must not be arranged for the rows that are set aside.
    if sure is not None and any(promise.needs == "scores" for promise in plan.promises):
        beside["scores"] = sure
    column = columns_of(looked, tuple(map(str, getattr(looked, "columns", ()))), np.arange(len(truth)))
    if column is not None:
        beside |= {f"column {name}": column(name) for promise in plan.promises for name in promise.column_names}
    streams = Streams(seed, data_digest(_rows_digest(keys, truth), beside))
    if seed.fresh:  # otherwise bets need no order
        units = units.shuffled(streams)
    everything = PartRows(np.arange(0), np.arange(len(truth)))
    rows = _Rows(
        truth=truth,
        target=column_name(y_true),
        keys=keys,
        training=None,
        columns=tuple(answers),
        n_columns=len(answers),
        units=units,
        duplicates=(0, 0),  # answers alone do not tell
        findings=_findings(units, everything, looked, streams.digest),
        subject="answers",
        table=looked,
        scores=sure,
        streams=streams,
    )
    return _certificate(answers, [[]] * len(answers), rows, plan, [])


@dataclasses.dataclass(frozen=True)
class _Rows:
    """What is known of the rows besides the answers to them."""

    truth: list[Any]
    target: str
    keys: Sequence[bytes]
    training: Shown | None
    columns: tuple[str, ...]
    n_columns: int
    units: Units
    duplicates: Duplicates
    findings: tuple[Finding, ...]
    streams: Streams
    subject: Subject = "models"
    table: Any = None
    scores: NDArray[np.float64] | None = None

    def digests(self) -> tuple[str, str]:
        """Of these rows with their labels, and of the training rows."""
        return _rows_digest(self.keys, self.truth), self.training.digest if self.training else ""

    def sight(self, probable: Probable | None, classes: list[Any], alone: bool) -> Sight:
        """What promises may see of one model, or of a vote of several."""
        names = tuple(map(str, getattr(self.table, "columns", ())))
        columns = columns_of(self.table, names, np.arange(len(self.truth)))
        return Sight(columns, is_given=alone, masses=probable and by_class(probable, classes), scores=self.scores)

    def among(self, classes: list[Any]) -> GivenRows:
        """The same with labels as codes."""
        return GivenRows(
            classes=classes,
            labels=codes_of(self.truth, classes),
            target=self.target,
            columns=self.columns,
            n_columns=self.n_columns,
            units=self.units,
            streams=self.streams,
            digests=self.digests(),
            training_rows=self.training.n if self.training else 0,
            duplicates=self.duplicates,
            findings=self.findings,
            subject=self.subject,
        )


def _certificate(
    answers: dict[str, list[Any]], known: Sequence[Any], rows: _Rows, usual: Plan, sure: Sequence[Probable | None]
) -> Certificate:
    """The certificate of the best candidate."""
    classes = match(rows.truth, list(answers.values()), known, list(answers))
    given = rows.among(classes)
    codes = np.stack([codes_of(said, classes) for said in answers.values()], axis=1)
    plan = for_models(usual, list(answers), rows.subject, rows.streams.seed)
    sights = [rows.sight(probable, classes, alone=True) for probable in sure or [None] * len(answers)]
    check_promises(plan.promises, np.array(list(map(str, classes))), sights[0].columns)
    check_sight(plan.promises, sights, list(answers))
    # A vote of several is drawn first: all certificates then say where randomness came from, whichever is the best.
    vote = certified(plan, codes, given, rows.sight(None, classes, alone=False)) if len(answers) > 1 else None
    each = [certified(alone(plan), codes[:, [j]], given, sight).certificate for j, sight in enumerate(sights)]
    best = min(range(len(each)), key=lambda j: each[j].bound)
    certificate, weights = each[best], np.eye(len(each))[best]
    if vote is None:
        return certificate
    if vote.certificate.bound < certificate.bound:
        certificate, weights = vote.certificate, vote.deployed.vote.weights
    candidates = [
        Candidate(name, dataclasses.replace(own.deployed_part.statement, kind="candidate"), own is certificate, weight)
        for name, own, weight in zip(answers, each, weights.tolist(), strict=True)
    ]
    return dataclasses.replace(certificate, candidates=tuple(candidates))


def _check_fresh(models: dict[str, Any], X: Any) -> None:
    """Refuse rows that a certivote model, or one inside another model, was made from."""
    for name, model in models.items():
        used = used_rows(model, X)
        if used is None or used.none_found:
            continue
        if not used.found:
            warnings.warn(f"Whether {name} was made from these rows was {used}.", UserWarning, stacklevel=3)
            continue
        raise ValueError(
            f"X has rows that {name} was made from: {used}. Its own certificate is about these; another needs rows "
            "that it has never seen."
        )


def _rows_digest(keys: Sequence[bytes], truth: list[Any]) -> str:
    labels = np.empty(len(truth), dtype=object)
    labels[:] = truth
    return part_digest(keys, labels, np.arange(len(truth)))


def _findings(units: Units, rows: PartRows, table: Any, digest: str) -> tuple[Finding, ...]:
    """What the rows show about rows that belong together, where there is a table of them."""
    if len(np.shape(table)) != 2:
        return ()
    return unit_findings(units, rows, table, tuple(map(str, getattr(table, "columns", ()))), digest)


def _known(model: Any) -> list[Any]:
    """The labels that a model says it can give."""
    classes = getattr(model, "classes_", None)
    found = np.asarray([] if classes is None else classes)
    return list(found.tolist()) if found.ndim == 1 else []


def _table(X: Any, n_rows: int | None, name: str) -> Any:
    """Rows that can be read one by one."""
    check_held(**{name: X})
    rows = as_rows(X)
    shape = np.shape(rows)
    if not shape or (n_rows is not None and shape[0] != n_rows):
        wanted = "case" if n_rows is None else f"of the {n_rows:,} labels"
        raise ValueError(f"{name} must be a table with one row for each {wanted}; got an array of shape {shape}.")
    return rows

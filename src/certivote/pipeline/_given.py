"""Certificates for what people already have: fitted models, or just their answers to rows that they have not seen."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from certivote._warn import warn
from certivote.certificate import (
    Candidate,
    Certificate,
    Finding,
    as_rows,
    check_aligned,
    data_digest,
    part_digest,
    row_keys,
    used_rows,
)
from certivote.pipeline._answers import (
    AnsweredRows,
    Codes,
    ask,
    by_class,
    certify_alone,
    certify_vote,
    checked_labels,
    checked_scores,
    codes_of,
    for_models,
    given_plan,
    match,
    named_answers,
    named_models,
    probabilities,
    true_labels,
)
from certivote.pipeline._differences import check_margin, make_differences
from certivote.pipeline._division import PartRows
from certivote.pipeline._duplicates import TrainingOverlap, count_duplicates
from certivote.pipeline._grouping import Grouping, make_grouping, required_grouping
from certivote.pipeline._input import check_held, column_name
from certivote.pipeline._plan import Plan
from certivote.pipeline._promises import PromiseData, check_promise_data, check_promises, columns_of
from certivote.pipeline._streams import Streams, seed_of
from certivote.promises import Columns, Promise
from certivote.remarks import related_rows
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
    margin: float | None = None,
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
        together. Of up to ten, ``differences`` has limits for the error of one minus that of another, for all pairs at
        once: with a ``delta`` of their own like any promise, so that they do not widen the bounds.
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
    margin : float in (0, 1), optional
        Of several models, by how much the error of one may be larger than that of another and still count as not worse.
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
    plan = given_plan(delta, promises, together, random_state)
    check_aligned(X=X, y=y, groups=groups, order=order)
    models, truth = named_models(model), true_labels(y)
    margin = check_margin(margin, len(models))
    groups, order = required_grouping((own for own in reachable(models) if isinstance(own, Certificate)), groups, order)
    grouping, table = make_grouping(len(truth), groups, order), _table(X, len(truth), "X")
    check_fresh(models, table)
    keys = row_keys(table)
    digest = _rows_digest(keys, truth)
    streams = Streams(seed_of(random_state), data_digest(digest, grouping.beside))
    grouping = grouping.shuffled(streams)
    overlap = None if training is None else TrainingOverlap.of(table, _table(training, None, "training"))
    facts: dict[str, Any] = {
        "target": column_name(y),
        "columns": tuple(map(str, getattr(X, "columns", ()))),
        "n_columns": np.shape(table)[1] if len(np.shape(table)) == 2 else 1,
        "grouping": grouping,
        "streams": streams,
        "digests": (digest, overlap.digest if overlap else ""),
        "subject": "models",
        "duplicates": (
            count_duplicates(keys, PartRows(np.arange(0), np.arange(len(truth))))[0],
            overlap.duplicates if overlap else 0,
        ),
        "n_train": overlap.n if overlap else 0,
        "found": _findings(grouping, table, streams.digest),
    }
    # Only now: a model may change the rows that it is asked about.
    answers = {name: ask(name, each, X, len(truth)) for name, each in models.items()}
    sure = [probabilities(name, each, X, len(truth)) if promises else None for name, each in models.items()]
    classes = match(truth, list(answers.values()), [_known(each) for each in models.values()], list(answers))
    columns = _columns(table)
    data = [PromiseData(columns, answers_only=True, masses=said and by_class(said, classes)) for said in sure]
    codes = {name: codes_of(said, classes) for name, said in answers.items()}
    return _best(plan, AnsweredRows.of(truth, classes, **facts), codes, data, margin)


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
    margin: float | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Certificate:
    """Certify a model by its answers to rows that it has never seen, wherever they come from.

    Parameters
    ----------
    y_true : array-like
        The true labels.
    y_pred : array-like, or dictionary or data frame of several
        The answers of the model; or, by name, of several models: see :func:`certify`.
    delta, groups, order, promises, together, margin, random_state
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
    plan = given_plan(delta, promises, together, random_state)
    check_aligned(y_true=y_true, y_pred=y_pred, groups=groups, order=order, table=table, scores=scores)
    truth = true_labels(y_true, "y_true")
    given = named_answers(y_pred)
    if not given:
        raise ValueError("y_pred is empty; give the answers of a model, or of several by name.")
    margin = check_margin(margin, len(given))
    answers = {name: checked_labels(name, said, len(truth)) for name, said in given.items()}
    said = np.empty((len(truth), len(answers)), dtype=object)
    said[:] = list(zip(*answers.values(), strict=True))
    digest, grouping, seed = (
        _rows_digest(row_keys(said), truth),
        make_grouping(len(truth), groups, order),
        seed_of(random_state),
    )
    looked = None if table is None else _table(table, len(truth), "table")
    sure = None if scores is None else checked_scores(scores, len(truth), len(answers))
    beside = dict(grouping.beside)
    # What promises look at, as the record shows: where it stands must not be arranged for the rows that are set aside.
    if sure is not None and any(promise.needs == "scores" for promise in plan.promises):
        beside["scores"] = sure
    column = _columns(looked)
    if column is not None:
        beside |= {f"column {name}": column(name) for promise in plan.promises for name in promise.column_names}
    streams = Streams(seed, data_digest(digest, beside))
    if seed.fresh:  # otherwise bets need no order
        grouping = grouping.shuffled(streams)
    classes = match(truth, list(answers.values()), [[]] * len(answers), list(answers))
    rows = AnsweredRows.of(
        truth,
        classes,
        target=column_name(y_true),
        columns=tuple(answers),
        n_columns=len(answers),
        grouping=grouping,
        streams=streams,
        digests=(digest, ""),
        subject="answers",  # which do not tell whether rows are equal
        found=_findings(grouping, looked, streams.digest),
    )
    codes = {name: codes_of(given, classes) for name, given in answers.items()}
    return _best(plan, rows, codes, [PromiseData(column, answers_only=True, scores=sure)] * len(answers), margin)


def _best(
    plan: Plan, rows: AnsweredRows, answers: Mapping[str, Codes], data: Sequence[PromiseData], margin: float | None
) -> Certificate:
    """The certificate of the best candidate: one of the models, or a vote of them."""
    plan, names = for_models(plan, list(answers), rows.subject, rows.streams.seed, margin), list(answers)
    check_promises(plan.promises, rows.classes, data[0].columns)
    check_promise_data(plan.promises, data, names)
    # A vote of several is drawn first: all certificates then say where randomness came from, whichever is the best.
    vote = None
    if len(names) > 1:
        codes = np.stack(list(answers.values()), axis=1)
        vote = certify_vote(plan, rows, codes, dataclasses.replace(data[0], answers_only=False, masses=None))
    each = [certify_alone(plan, rows, answers[name], own).certificate for name, own in zip(names, data, strict=True)]
    best = min(range(len(each)), key=lambda j: each[j].bound)
    certificate, weights = each[best], np.eye(len(each))[best]
    if vote is None:
        return certificate
    if vote.certificate.bound < certificate.bound:
        certificate, weights = vote.certificate, vote.deployed.vote.weights
    candidates = [
        Candidate(name, dataclasses.replace(own.deployed_part.statement, kind="candidate"), own is certificate, weight)
        for name, own, weight in zip(names, each, weights.tolist(), strict=True)
    ]
    wrong = {name: codes != rows.labels for name, codes in answers.items()}
    differences = make_differences(plan, wrong, rows.grouping.of(rows.rows.certify), margin)
    return dataclasses.replace(certificate, candidates=tuple(candidates), differences=differences)


def check_fresh(models: dict[str, Any], X: Any) -> None:
    """Refuse rows that a certivote model, or one inside another model, was made from."""
    for name, model in models.items():
        used = used_rows(model, X)
        if used is None or used.none_found:
            continue
        if not used.found:
            warn(f"Whether {name} was made from these rows was {used}.")
            continue
        raise ValueError(
            f"X has rows that {name} was made from: {used}. Its own certificate is about these; another needs rows "
            "that it has never seen."
        )


def _rows_digest(keys: Sequence[bytes], truth: list[Any]) -> str:
    labels = np.empty(len(truth), dtype=object)
    labels[:] = truth
    return part_digest(keys, labels, np.arange(len(truth)))


def _findings(grouping: Grouping, table: Any, digest: str) -> tuple[Finding, ...]:
    """What the rows show about rows that belong together, where there is a table of them."""
    if len(np.shape(table)) != 2 or grouping.entities is not None:
        return ()
    names, every = tuple(map(str, getattr(table, "columns", ()))), np.arange(np.shape(table)[0])
    return related_rows(table, every[:0], every, names, digest=digest, in_time=bool(grouping.order))


def _columns(table: Any) -> Columns | None:
    """What promises see of a table."""
    return columns_of(
        table, tuple(map(str, getattr(table, "columns", ()))), np.arange(np.shape(table)[0] if np.shape(table) else 0)
    )


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

"""Hold a certificate of given models against their answers: match them by value, count again, compare the digests."""

import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from certivote.certificate import Certificate, as_rows, part_digest, row_keys, used_rows
from certivote.verify._check import Check, trusted
from certivote.verify._data import check_data_digest, check_majority
from certivote.verify._differences import check_counts
from certivote.verify._methods import GIVEN, method_of
from certivote.verify._promises import RULES, PromiseData
from certivote.verify._recount import check_prior_vote, prior_votes, recount, tally, unknown_vote
from certivote.verify._simulation import Array, Labels, mistakes
from certivote.verify._units import OTHER_LOSSES, Grouping, columns_of, entity_losses, values_of

# --- Answers, as codes among the classes.


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
    truth = _column(y, None, "y")
    columns = [_column(given, len(truth), "answers") for given in answers]
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


def _column(given: Any, n_rows: int | None, what: str) -> list[Any]:
    found = values_of(given, what)
    if n_rows is not None and len(found) != n_rows:
        raise ValueError(f"{what}: one label for each of {n_rows:,} rows needed, got {len(found):,}")
    return found


# --- Rows that the models were trained on.


def rows_among(X: Any, training: Any) -> int:
    """How many rows of ``X`` are training rows too, by their values: columns by name, numbers whatever their type.

    Numbers of single precision on either side are compared so: that they were rounded cannot be undone.

    Raises
    ------
    ValueError
        If the training rows have not the columns of ``X``.
    """
    if hasattr(X, "columns") and hasattr(training, "columns"):
        absent = [str(name) for name in X.columns if name not in training.columns]
        if absent:
            raise ValueError(f"they have no column {', '.join(absent):.200}")
        places = range(X.shape[1])
        tables = [table.set_axis(places, axis=1) for table in (X, training[list(X.columns)])]
        single = [place for place in places if any(table[place].dtype == np.float32 for table in tables)]
        tables = [table.astype(dict.fromkeys(single, np.float32)) for table in tables]
    else:
        if np.shape(X)[1:] != np.shape(training)[1:]:
            raise ValueError(f"they have the shape {np.shape(training)}, and the rows {np.shape(X)}")
        types = [list(table.dtypes) if hasattr(table, "columns") else [table.dtype] for table in (X, training)]
        kinds = [*types[0], *types[1]]
        both = sparse.issparse(X) and sparse.issparse(training)
        tables = [table if both else _dense(table) for table in (X, training)]
        if np.float32 in kinds and all(kind.kind in "biuf" for kind in kinds):
            tables = [table.astype(np.float32) for table in tables]
    certify, trained = map(row_keys, tables)
    known = set(trained)
    return sum(key in known for key in certify)


def _dense(table: Any) -> Any:
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


# --- The audit.


class _Votes:
    """The answers of models as votes."""

    def __init__(self, codes: Labels, n_classes: int):
        self._codes, self._n_classes = codes, n_classes
        self.n_voters = codes.shape[1]

    def masses(self, weights: Array) -> Array:
        """Weight behind each class at each row."""
        behind = [(self._codes == code) @ weights for code in range(self._n_classes)]
        return np.stack(behind, axis=1)

    def digest(self) -> str:
        """What tells these votes from others: shape, number of classes, and the codes.

        Codes are one byte where that suffices, and 4,096 rows have a digest of their own.
        """
        (n_rows, n_voters), n_classes = self._codes.shape, self._n_classes
        rows = [row.tobytes() for row in self._codes.astype("u1" if n_classes < 256 else "<u4")]
        leaves = [hashlib.sha256(b"".join(rows[at : at + 4096])).digest() for at in range(0, n_rows, 4096)]
        what = repr((n_rows, repr(((n_voters,), n_classes)).encode())).encode()
        return hashlib.sha256(what + hashlib.sha256(b"".join(leaves)).digest()).hexdigest()


class _AllRows:
    """No row trains, all certify."""

    def __init__(self, n_rows: int):
        self.train, self.certify = np.arange(0), np.arange(n_rows)


def check_names(parameters: dict[str, Any] | None, given: Any) -> Check:
    """Whether models, or answers, are as many as recorded and have the recorded names, where they have any."""
    wanted = _names(parameters)
    several, names = listed(given)
    right = len(several) == len(wanted) and (not names or sorted(names) == sorted(wanted))
    shown = ", ".join(names) if names else f"{len(several)} without names"
    return Check("models", right, f"{shown:.200} given, {', '.join(wanted):.200} recorded")


def _names(parameters: dict[str, Any] | None) -> list[str]:
    return list(parameters["voters"]) if parameters else []


def against_answers(
    c: Certificate,
    parameters: dict[str, Any] | None,
    model: Any,
    X: Any,
    y: Any,
    predictions: Any,
    training: Any,
    units: Grouping,
    scores: Any,
    table: Any,
) -> Iterator[Check]:
    """Whether these are the rows and the answers, and the counts are those recorded."""
    yield from units.checks
    try:
        wanted = _names(parameters)
        by_models = None if model is None or X is None else [asked(each, X) for each in _ordered(wanted, model)]
        answers = read_answers(c, y, _ordered(wanted, predictions) if predictions is not None else by_models or [])
        if predictions is not None and by_models is not None:
            same = np.array_equal(read_answers(c, y, by_models).codes, answers.codes)
            yield Check("answers of the models", same, f"{'as' if same else 'OTHER than'} the predictions have them")
    except ValueError as error:
        yield Check("answers", False, str(error))
        return
    part, n_rows = c.deployed_part, len(answers.labels)
    right = n_rows == c.provenance.n_rows == part.n
    yield Check("rows", right, f"{n_rows:,} given, {part.n:,} recorded")
    if not right:
        return
    yield from _check_fresh(model, None if X is None else as_rows(X))
    yield from _check_classes(c, answers, model)
    yield from units.check_parts(c, parameters, [_AllRows(n_rows)], n_rows)
    yield from _check_rows(c, parameters, answers, X, training)
    entities, times = units.of_rows(np.arange(n_rows))
    yield check_majority(c, part, np.zeros(len(c.classes), dtype=np.int64), answers.labels, entities, "")
    yield from _check_candidates(c, answers, entities)
    yield from check_counts(c, answers.labels, answers.codes, entities)
    votes = _Votes(_certified(c, answers), len(c.classes))
    same = votes.digest() == part.votes_digest
    yield Check("voters", same, f"{votes.n_voters:,} answer {'as they did' if same else 'OTHER than they did'}")
    wrong = [mistakes(votes.masses(each), answers.labels, c.loss) for each in prior_votes(part, votes.n_voters)]
    yield check_prior_vote(part, votes.n_voters, wrong, entities)
    sight = yield from _sight(c, parameters, answers, model, X, scores, table)
    yield from _check_data(c, parameters, X, units, sight)
    weights = _weights(c)
    problem = unknown_vote(c, votes.n_voters, len(weights))
    if problem:
        yield Check("vote", False, problem)
        return
    yield from recount(c, tally(c, votes, weights, answers.labels), weights, entities, times, sight)


def _sight(
    c: Certificate,
    parameters: dict[str, Any] | None,
    answers: Answers,
    model: Any,
    X: Any,
    scores: Any,
    table: Any,
) -> Generator[Check, None, PromiseData]:
    """What is known of the rows besides: how sure the certified model is, and columns."""
    n_rows, masses, given = len(answers.labels), None, None
    column = columns_of(as_rows(X if table is None else table)) if X is not None or table is not None else None
    if column is not None and np.shape(X if table is None else table)[0] != n_rows:
        yield Check("table", False, f"{np.shape(X if table is None else table)[0]:,} rows for {n_rows:,} labels")
        column = None
    alone = method_of(c).predictor == GIVEN
    if scores is not None:
        try:
            given = np.array(values_of(scores, "scores"), dtype=float)
            right = alone and len(given) == n_rows and bool(np.all(np.isfinite(given)))
            detail = f"{len(given):,} for {n_rows:,} answers of {'a model' if alone else 'SEVERAL models'}"
        except (TypeError, ValueError) as error:
            right, detail = False, str(error)
        yield Check("scores", right, detail)
        given = given if right else None
    answers_only = c.subject == "answers"
    if alone and given is None and not answers_only and model is not None and X is not None and len(c.promises) > 1:
        chosen = next((number for number, candidate in enumerate(c.candidates) if candidate.chosen), 0)
        masses = probabilities(c, _ordered(_names(parameters), model)[chosen], X, answers.places)
    return PromiseData(masses, given, column)


def _check_fresh(model: Any, X: Any) -> Iterator[Check]:
    """Whether a model that carries a certificate of its own, or holds one that does, was made from these rows."""
    if model is None or X is None:
        return
    for each in listed(model)[0]:
        used, what = used_rows(each, X), "rows that the model was made from"
        if used is not None:
            known = used.found or used.none_found
            yield Check(what, not used.found, str(used)) if known else trusted(what, str(used))


def _ordered(wanted: Sequence[str], given: Any) -> list[Any]:
    """Models or answers in the order of the certificate."""
    several, names = listed(given)
    if len(several) != len(wanted):
        raise ValueError(f"those of {len(wanted)} models are needed, {len(several)} given")
    if not names:
        return several
    if sorted(names) != sorted(wanted):
        raise ValueError(f"those of {', '.join(wanted):.200} are needed, {', '.join(names):.200} given")
    return [several[names.index(name)] for name in wanted]


def _check_classes(c: Certificate, answers: Answers, model: Any) -> Iterator[Check]:
    known = set() if model is None else {str(label) for each in listed(model)[0] for label in _known(each)}
    absent = [name for name in answers.absent if name not in known]
    if absent and model is None:
        why = f"no row and no answer has class {', '.join(absent):.200}; the models may know it"
        yield trusted("classes", why, "classes")
    else:
        detail = f"no row, answer or model has class {', '.join(absent):.200}" if absent else f"{len(c.classes)}"
        yield Check("classes", not absent, detail)
    counts = np.bincount(answers.labels, minlength=len(c.classes)).tolist()
    same = tuple(counts) == c.provenance.class_counts
    yield Check("class counts of the data", same, f"{', '.join(map(str, counts[:9]))} counted")


def _known(model: Any) -> list[Any]:
    """Labels that a model says it can give."""
    labels = np.asarray(getattr(model, "classes_", ()))
    found: list[Any] = labels.tolist() if labels.ndim == 1 else []
    return found


def _check_rows(
    c: Certificate, parameters: dict[str, Any] | None, answers: Answers, X: Any, training: Any
) -> Iterator[Check]:
    """The digest of the rows, or of the answers where these are all that was certified; columns and duplicates."""
    part = c.deployed_part
    answers_only = c.subject == "answers"
    if not answers_only and X is None:
        return
    keys = row_keys(np.array(answers.tables, dtype=object) if answers_only else as_rows(X))
    if len(keys) != part.n:
        yield Check("certification rows", False, f"{len(keys):,} rows for {part.n:,} labels")
        return
    labels = np.array(answers.truth, dtype=object)
    same = part_digest(keys, labels, np.arange(part.n)) == part.certification_digest
    what = "answers" if answers_only else "rows"
    detail = f"{len(keys):,} {what} and labels, digest {'as recorded' if same else 'OTHER than recorded'}"
    yield Check("certification rows", same, detail)
    if answers_only:
        return
    names, shape = tuple(map(str, getattr(X, "columns", ()))), np.shape(as_rows(X))
    same = (names, shape[1] if len(shape) == 2 else 1) == (c.provenance.columns, c.provenance.n_columns)
    yield Check("columns of the rows", same, f"{c.provenance.n_columns:,}, {'as' if same else 'OTHER than'} recorded")
    doubles = len(keys) - len(set(keys))
    yield Check(
        "duplicates counted", doubles == part.duplicates, f"{doubles:,} counted, {_told(part.duplicates)} recorded"
    )
    if training is not None:
        yield from _check_training(c, as_rows(X), as_rows(training))


def _check_data(
    c: Certificate, parameters: dict[str, Any] | None, X: Any, units: Grouping, sight: PromiseData
) -> Iterator[Check]:
    """Whether random numbers depended on these data: on all that losses are computed from."""
    answers_only = c.subject == "answers"
    if not c.provenance.entropy or (X is None and not answers_only):
        return
    beside, promises = dict(units.beside), [each for each in c.promises if each.name in RULES] if answers_only else []
    for promise in promises:
        needs = RULES[promise.name].needs
        known = {"scores": sight.scores, "columns": sight.column}.get(needs, True)
        if known is None:
            wanted = "scores=" if needs == "scores" else "table="
            yield trusted("digest of the data", f"{wanted} is needed too", "provenance.data_digest")
            return
        if needs == "scores":
            beside["scores"] = sight.scores
        elif needs == "columns" and sight.column is not None:
            try:
                beside |= {f"column {fixed.what}": sight.column(fixed.what) for fixed in promise.fixed}
            except ValueError as error:
                yield Check("digest of the data", False, str(error))
                return
    yield check_data_digest(c, c.deployed_part.certification_digest, beside)


def _told(count: int | None) -> str:
    return "none" if count is None else f"{count:,}"


def _check_training(c: Certificate, X: Any, training: Any) -> Iterator[Check]:
    """The rows that the models were trained on, and how many of the certification rows are among them."""
    part, shown = c.deployed_part, row_keys(training)
    nothing = np.full(len(shown), "", dtype=object)
    same = part_digest(shown, nothing, np.arange(len(shown))) == part.training_digest
    detail = f"{len(shown):,} rows, digest {'as recorded' if same else 'OTHER than recorded'}"
    yield Check("training rows", same and len(shown) == part.training_rows, detail)
    try:
        both, recorded = rows_among(X, training), part.duplicates_of_training_rows
    except ValueError as error:
        yield Check("training rows among these", False, f"the training rows cannot be compared: {error}")
        return
    yield Check("training rows among these", both == recorded, f"{both:,} counted, {_told(recorded)} recorded")


def _check_candidates(c: Certificate, answers: Answers, entities: Labels | None) -> Iterator[Check]:
    """Errors and losses of each of several models."""
    for number, candidate in enumerate(c.candidates):
        wrong = answers.codes[:, number] != answers.labels
        errors = int(np.count_nonzero(wrong))
        right = errors == candidate.errors
        detail = f"{errors:,} errors counted, {candidate.errors:,} recorded"
        if right and entities is not None:
            right = entity_losses(wrong, entities) == candidate.statement.losses
            detail += "" if right else OTHER_LOSSES
        yield Check(f"candidate {candidate.name}, errors", right, detail)


def _certified(c: Certificate, answers: Answers) -> Labels:
    """The answers that the certificate is about: of one model, or of all that vote."""
    if method_of(c).predictor != GIVEN or not c.candidates:
        return answers.codes
    chosen = [number for number, candidate in enumerate(c.candidates) if candidate.chosen]
    return answers.codes[:, chosen[:1]]


def _weights(c: Certificate) -> Array:
    """Those of the vote, in fixed point as they are deployed."""
    if method_of(c).predictor == GIVEN:
        return np.array(c.deployed_part.alpha)
    return np.array([candidate.weight for candidate in c.candidates])

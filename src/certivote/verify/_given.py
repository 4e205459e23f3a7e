"""Hold a certificate of given models against their answers: count again, and compare the digests."""

import hashlib
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np

from certivote.certificate import Certificate, as_rows, part_digest, row_keys, used_rows
from certivote.verify._against import check_data_digest, check_majority
from certivote.verify._answers import Answers, asked, listed, probabilities, read_answers
from certivote.verify._check import Check, trusted
from certivote.verify._entities import OTHER_LOSSES, entity_losses
from certivote.verify._methods import GIVEN, method_of
from certivote.verify._promises import RULES, Sight
from certivote.verify._recount import check_prior_vote, recount
from certivote.verify._simulation import Array, Labels, mistakes
from certivote.verify._tally import prior_votes, tally, unknown_vote
from certivote.verify._training import rows_among
from certivote.verify._units import Units
from certivote.verify._values import columns_of, values_of


class _Votes:
    """The answers of models as votes."""

    def __init__(self, codes: Labels, n_classes: int):
        self._codes, self._n_classes = codes, n_classes
        self.n_voters = codes.shape[1]

    def masses(self, weights: Array) -> Array:
        """Weight behind each class at each row."""
        behind = [(self._codes == code) @ weights for code in range(self._n_classes)]
        return np.stack(behind, axis=1)

    def row_masses(self, weights: Array) -> Array:
        """The same where each row has weights of its own."""
        behind = [((self._codes == code) * weights).sum(axis=1) for code in range(self._n_classes)]
        return np.stack(behind, axis=1)

    def take(self, rows: Labels) -> "_Votes":
        """The votes on some of the rows."""
        return _Votes(self._codes[rows], self._n_classes)

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
    units: Units,
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
) -> Generator[Check, None, Sight]:
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
            told = f"{len(given):,} for {n_rows:,} answers of {'a model' if alone else 'SEVERAL models'}"
        except (TypeError, ValueError) as error:
            right, told = False, str(error)
        yield Check("scores", right, told)
        given = given if right else None
    answers_only = c.subject == "answers"
    if alone and given is None and not answers_only and model is not None and X is not None and len(c.promises) > 1:
        chosen = next((number for number, candidate in enumerate(c.candidates) if candidate.chosen), 0)
        masses = probabilities(c, _ordered(_names(parameters), model)[chosen], X, answers.places)
    return Sight(masses, given, column)


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
        told = f"no row, answer or model has class {', '.join(absent):.200}" if absent else f"{len(c.classes)}"
        yield Check("classes", not absent, told)
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
    told = f"{len(keys):,} {what} and labels, digest {'as recorded' if same else 'OTHER than recorded'}"
    yield Check("certification rows", same, told)
    if answers_only:
        return
    names, shape = tuple(map(str, getattr(X, "columns", ()))), np.shape(as_rows(X))
    same = (names, shape[1] if len(shape) == 2 else 1) == (c.provenance.columns, c.provenance.n_columns)
    yield Check("columns of the rows", same, f"{c.provenance.n_columns:,}, {'as' if same else 'OTHER than'} recorded")
    doubles = len(keys) - len(set(keys))
    yield Check("duplicates counted", doubles == part.duplicates, f"{doubles:,} counted, {part.duplicates:,} recorded")
    if training is not None:
        yield from _check_training(c, as_rows(X), as_rows(training))


def _check_data(
    c: Certificate, parameters: dict[str, Any] | None, X: Any, units: Units, sight: Sight
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


def _check_training(c: Certificate, X: Any, training: Any) -> Iterator[Check]:
    """The rows that the models were trained on, and how many of the certification rows are among them."""
    part, shown = c.deployed_part, row_keys(training)
    nothing = np.full(len(shown), "", dtype=object)
    same = part_digest(shown, nothing, np.arange(len(shown))) == part.training_digest
    told = f"{len(shown):,} rows, digest {'as recorded' if same else 'OTHER than recorded'}"
    yield Check("training rows", same and len(shown) == part.training_rows, told)
    try:
        both, recorded = rows_among(X, training), part.duplicates_of_training_rows
    except ValueError as error:
        yield Check("training rows among these", False, f"the training rows cannot be compared: {error}")
        return
    yield Check("training rows among these", both == recorded, f"{both:,} counted, {recorded:,} recorded")


def _check_candidates(c: Certificate, answers: Answers, entities: Labels | None) -> Iterator[Check]:
    """Errors and losses of each of several models."""
    for number, candidate in enumerate(c.candidates):
        wrong = answers.codes[:, number] != answers.labels
        errors = int(np.count_nonzero(wrong))
        right = errors == candidate.errors
        told = f"{errors:,} errors counted, {candidate.errors:,} recorded"
        if right and entities is not None:
            right = entity_losses(wrong, entities) == candidate.statement.losses
            told += "" if right else OTHER_LOSSES
        yield Check(f"candidate {candidate.name}, errors", right, told)


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
